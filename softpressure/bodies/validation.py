"""Objects that take part in a simulation, and why the others do not.

Problems are computed from the present file, not stored, so they end with their cause: by undo, by deleting the object,
by repairing the mesh. Problems found at a start only (evaluated meshes, the solver) hold for the inputs of that start.
"""

from collections.abc import Iterator
from functools import partial

import bpy

from ...core import MeshError, SoftPressureError
from ..scene_io import mesh_io
from ..state import sessions, snapshot
from . import object_checks, setup, wording


def problems(scene: bpy.types.Scene) -> dict[int, str]:
    """Known reasons why bodies of a scene take no part, a sentence each by `session_uid`."""
    session = sessions.of(scene)
    static = static_problems(scene)
    late = session.refusals.of_objects if session.refusals.started_from == session.inputs(scene) else {}
    known = {obj.session_uid for obj in sessions.objects(scene, "SOFT", "RIGID", "COLLIDER")}
    return static | {uid: sentence for uid, sentence in late.items() if uid in known and uid not in static}


def static_problems(scene: bpy.types.Scene) -> dict[int, str]:
    """The same from the file alone. Computed after a change only, so cheap enough to draw."""
    return dict(sessions.memo.get(("static problems", scene.session_uid), lambda: _static_problems(scene)))


def _static_problems(scene: bpy.types.Scene) -> dict[int, str]:
    found, known = {}, sessions.of_objects(scene)
    graphs = [layer.depsgraph for layer in scene.view_layers if layer.depsgraph is not None]
    for obj in sessions.objects(scene, "SOFT", "RIGID", "COLLIDER"):
        if graphs and not any(obj.evaluated_get(graph).is_evaluated for graph in graphs):
            found[obj.session_uid] = wording.of(not_evaluated(obj))  # its modifiers and animation would be ignored
        elif sentence := known.get(scene, ("problem", obj.session_uid), partial(_problem, scene, obj)):
            found[obj.session_uid] = sentence
    _spread(scene, found)
    return found


def _problem(scene: bpy.types.Scene, obj: bpy.types.Object) -> tuple[str, set[bpy.types.Object]]:
    """Why a body takes no part, empty if it does, and the objects that this depends on."""
    read = {obj, obj.softpressure.attach_to, obj.softpressure.cage_object, *_parents(obj)} - {None}
    try:
        check(scene, obj)
    except SoftPressureError as error:
        return wording.of(error), read
    return "", read


def _spread(scene: bpy.types.Scene, found: dict[int, str]) -> None:
    """Add the bodies that are attached to refused ones."""
    soft = sessions.objects(scene, "SOFT")
    while True:
        before = len(found)
        for obj in soft:
            target = obj.softpressure.attach_to
            if target is not None and target.session_uid in found and obj.session_uid not in found:
                found[obj.session_uid] = snapshot.glued_text(obj.name, target.name)
        if len(found) == before:
            return


def sees_bodies(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a view layer holds all bodies that take part."""
    if len(scene.view_layers) == 1:
        return True
    refused = problems(scene)
    found = [obj for obj in sessions.objects(scene, "SOFT", "RIGID", "COLLIDER") if obj.session_uid not in refused]
    return all(obj.evaluated_get(depsgraph).is_evaluated for obj in found)


def graph_of_bodies(scene: bpy.types.Scene) -> bpy.types.Depsgraph:
    """The evaluated view layer that has all bodies, else the last one."""
    graphs = [layer.depsgraph for layer in scene.view_layers if layer.depsgraph is not None]
    return next((graph for graph in graphs if sees_bodies(scene, graph)), graphs[-1])


def refusal(obj: bpy.types.Object) -> str:
    """Why an object without a kind cannot become the body that it was last tried to be; empty if it can."""
    kind = sessions.refused_kinds.get(obj.session_uid, "NONE")
    try:
        object_checks.check(obj, kind, setup.suited_type(obj) if kind == "SOFT" else "")
    except SoftPressureError as error:
        return wording.of(error)
    return ""


def check(scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    """Raise `SoftPressureError` if a body cannot take part, judging by the file without evaluating it."""
    settings, kind = obj.softpressure, obj.softpressure.kind
    object_checks.check_object(obj, kind)
    if kind != "RIGID":
        _check_parents(obj)
    if kind == "SOFT" and not settings.is_baked:
        if mesh_io.live_key(obj) is None:
            _check_closed(obj)
            raise MeshError(f"{obj.name}: has lost its shape key {mesh_io.LIVE_KEY}. Press Reset to make it again.")
        for what in ("pin", "goal", "weak", "pressure", "tie"):
            group = getattr(settings, f"{what}_group")
            if group and group not in obj.vertex_groups:
                raise MeshError(
                    f"{obj.name}: has no vertex group {group}. Choose an existing {what} group or clear the field."
                )
        _check_attachment(scene, obj)
        _check_cage(obj)
    _check_closed(obj)


def _check_closed(obj: bpy.types.Object) -> None:
    """Check the surface of a body that is not baked."""
    if not obj.softpressure.is_baked:
        object_checks.check_shape(obj, obj.softpressure.kind)


def not_evaluated(obj: bpy.types.Object) -> SoftPressureError:
    """Error for an object that is not evaluated."""
    return SoftPressureError(
        f"{obj.name}: is not evaluated: it (or its collection) is disabled in viewports or not in the view layer. "
        "Enable it, or remove it from the simulation."
    )


def _check_parents(obj: bpy.types.Object) -> None:
    """Raise if an object is a child of a rigid body, which is moved after its children were read."""
    for parent in _parents(obj):
        if parent.type == "MESH" and parent.softpressure.kind == "RIGID":
            remedy = "attach it instead" if obj.softpressure.kind == "SOFT" else "make it part of that mesh"
            raise MeshError(
                f"{obj.name}: its parent {parent.name} is a rigid body. "
                f"Clear the parent (Alt P, Keep Transformation) and {remedy}."
            )


def _parents(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    while (parent := obj.parent) is not None:
        yield parent
        obj = parent


def _check_cage(obj: bpy.types.Object) -> None:
    """Raise if a soft body is to simulate a cage that is none."""
    cage = obj.softpressure.cage_object
    if obj.softpressure.simulation_mesh != "CUSTOM":
        return
    if cage is None or cage.type != "MESH":
        raise MeshError(f"{obj.name}: has no cage to simulate. Choose one, or another simulation mesh.")
    if cage.softpressure.kind != "NONE":
        raise MeshError(f"{obj.name}: its cage {cage.name} is a body itself. Remove that body, or choose another cage.")
    if mesh_io.is_edited(cage):
        raise MeshError(f"{cage.name}: is in Edit Mode, so its shape is not settled. Leave Edit Mode (Tab).")


def _check_attachment(scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    """Raise if a soft body is attached to an object that cannot hold it, or without vertices of a group."""
    target, group = obj.softpressure.attach_to, obj.softpressure.attach_group
    if target is None:
        return
    if target == obj:
        raise MeshError(f"{obj.name}: is attached to itself. Choose another body or clear Attach To.")
    kind = target.softpressure.kind
    if kind == "COLLIDER":
        raise MeshError(
            f"{obj.name}: is attached to {target.name}, a collider. Attach it to a soft or rigid body; "
            "to follow an animated object, parent it to that and pin the group."
        )
    if kind == "NONE" or target.type != "MESH" or scene.objects.get(target.name) != target:
        raise MeshError(
            f"{obj.name}: is attached to {target.name}, which is not a soft or rigid body of this scene. "
            "Add that as a body or clear Attach To."
        )
    if not group:
        raise MeshError(
            f"{obj.name}: is attached to {target.name} without an attach group. Choose the group of vertices to glue."
        )
    if group not in obj.vertex_groups:
        raise MeshError(f"{obj.name}: has no vertex group {group}. Choose an existing attach group or clear Attach To.")
    if not mesh_io.has_group_vertices(obj, group):
        raise MeshError(
            f"{obj.name}: no vertex weighs more than 0.5 in the attach group {group}. Assign some with weight 1."
        )
