"""Makes objects bodies, and removes them."""

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ...core import MeshError, SoftPressureError, check_closed_surface
from ...core.bodies.flat.outline import is_flat, outline_of
from ..scene_io import baked, flat_shape, live_key, mesh_io, own_mesh, rigid_pose, simulation_mesh_choice
from ..state import sessions, status_bar, versions
from . import materials, object_checks, sizes, wording

#: The default of soft bodies and colliders is that of balls; boxes that bounce like balls look wrong.
RIGID_BOUNCINESS = 0.2
_NOUNS = {"SOFT": "soft body", "RIGID": "rigid body", "COLLIDER": "collider"}


def add(obj: bpy.types.Object, kind: str, body_type: str = "") -> str:
    """Make an object a body; raises `MeshError` and changes nothing if it cannot be one.

    `body_type`: of a soft body; empty for that which suits the mesh. Returns what of its settings was fitted to its
    size; empty if nothing.
    """
    wanted = body_type if kind == "SOFT" else ""
    body_type = wanted or (suited_type(obj) if kind == "SOFT" else "")
    object_checks.check(obj, kind, body_type)
    if wanted and (wanted != obj.softpressure.body_type or obj.softpressure.kind != kind):
        materials.begin(obj, wanted)
    elif body_type and obj.softpressure.body_type != body_type:
        obj.softpressure.body_type = body_type
    fitted = "" if kind == "COLLIDER" else sizes.fit(obj, kind)
    if obj.softpressure.kind != kind:
        obj.softpressure.kind = kind  # its update calls `on_kind_change`
    else:
        on_kind_change(obj)
    return fitted


def remove(obj: bpy.types.Object) -> None:
    """Restore an object from before `add`; its settings stay for the next time. Raises `MeshError` in Edit Mode."""
    if mesh_io.is_edited(obj):
        raise MeshError(f"{obj.name}: is in Edit Mode, where its mesh is not restored. Leave it (Tab).")
    obj.softpressure.kind = "NONE"


def add_all(
    scene: bpy.types.Scene, objects: Iterable[bpy.types.Object], kind: str, body_type: str = ""
) -> tuple[list[str], list[str]]:
    """Add each object that can be a body. Returns what was done and why not the rest, one sentence per object."""
    notes, refusals = [], []
    for obj in objects:
        had = getattr(obj.data, "name", "")
        try:
            fitted = add(obj, kind, body_type)
        except SoftPressureError as error:
            sessions.refused_kinds[obj.session_uid] = kind
            refusals.append(wording.of(error))
        else:
            made_of = _of_flat(scene, obj) or _of_open(obj)
            is_copy = getattr(obj.data, "name", "") != had
            own = f", with a mesh of its own: {had} has other users, too" if is_copy else ""
            notes.append(f"{obj.name}: added as a {_NOUNS[kind]}{made_of}{own}{fitted and f'; {fitted}'}")
    if notes and not scene.render.use_lock_interface:
        scene.render.use_lock_interface = True
        # in the same report: Blender's status bar shows the last one only
        notes[-1] += ". Render > Lock Interface is now on, as rendering while the viewport plays can crash Blender"
    return notes, refusals


def _of_flat(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Addition to the report on a new body: how a flat one moves; empty for any other."""
    if not flat_shape.is_flat_object(obj):
        return ""
    settings = obj.softpressure
    type_name = settings.bl_rna.properties["body_type"].enum_items[settings.body_type].name
    sentence = f" of type {type_name}, which moves within its own plane only"
    if flat_shape.is_out_of_gravity(scene, obj):
        sentence += "; gravity does not act in that plane. Turn it upright, or press Inflate to make it a cushion"
    return sentence


def _of_open(obj: bpy.types.Object) -> str:
    """Addition to the report on a new body: that its mesh is not simulated as it is drawn, but closed."""
    if obj.softpressure.kind != "SOFT" or not simulation_mesh_choice.may_be_even(obj):
        return ""
    matrix = mesh_io.world_matrix(obj)
    try:
        check_closed_surface(obj.name, flat_shape.rest_positions(obj), mesh_io.read_triangles(obj.data, matrix))
    except MeshError:
        return "; it is not one closed surface, and simulated as if it were"
    return ""


def inflate(obj: bpy.types.Object) -> tuple[list[str], list[str]]:
    """Make a flat soft body a cushion: a closed skin with gas in it. Returns what was done, or why not.

    `can_inflate` must hold.
    """
    remove(obj)
    try:
        flat_shape.give_back(obj)
    except MeshError as error:
        obj.softpressure.kind = "SOFT"
        return [], [wording.of(error)]
    obj.softpressure.body_type = "MEMBRANE"
    add(obj, "SOFT")
    return [f"{obj.name}: is a cushion now"], []


def can_inflate(obj: bpy.types.Object) -> bool:
    """Whether `inflate` may succeed."""
    return flat_shape.is_flat_object(obj) and len(obj.data.polygons) > 0 and not obj.softpressure.is_baked


def remove_all(objects: Iterable[bpy.types.Object]) -> tuple[list[str], list[str]]:
    """Remove each object that is a body. Returns what was done and why not the rest."""
    notes, refusals = [], []
    for obj in objects:
        if obj.softpressure.kind == "NONE":
            continue
        try:
            remove(obj)
        except MeshError as error:
            refusals.append(wording.of(error))
        else:
            notes.append(f"{obj.name}: is no longer a body")
    return notes, refusals


def on_kind_change(obj: bpy.types.Object) -> None:
    """Update an object's data after its kind was set, if it can be a body of that kind."""
    sessions.mark_all()
    for scene in obj.users_scene:
        versions.stamp(scene)
    settings = obj.softpressure
    if settings.is_baked and settings.kind != baked.baked_kind(obj):
        baked.free_object(obj)
    if settings.kind != "SOFT" and mesh_io.live_key(obj) is not None:
        own_mesh.ensure(obj)
        live_key.remove(obj)
    if settings.kind != "RIGID":
        rigid_pose.remove(obj)
    _choose_bounciness(settings)
    try:
        object_checks.check(obj, settings.kind)
    except SoftPressureError:
        return  # it takes no part, and the panel asks why
    if settings.kind == "SOFT" and not settings.is_baked:
        own_mesh.ensure(obj)
        live_key.ensure(obj)
    if settings.kind == "RIGID" and not settings.is_baked:
        rigid_pose.ensure(obj)


def part_meshes(scene: bpy.types.Scene) -> None:
    """Give soft bodies that share a mesh, such as linked duplicates, one each, and report it."""
    for obj in sessions.objects(scene, "SOFT"):
        if sentence := own_mesh.ensure(obj):
            sessions.mark_all()
            status_bar.announce(sentence)


def prepare(objects: Iterable[bpy.types.Object]) -> None:
    """Make data that bodies need and lack: a script may have set their kind too early, or a person deleted it."""
    for obj in objects:
        on_kind_change(obj)


def on_type_change(obj: bpy.types.Object) -> None:
    """Store the problems of a soft body after its type was set."""
    if obj.softpressure.kind == "SOFT":
        on_kind_change(obj)
    else:
        sessions.mark_all()


def suited_type(obj: bpy.types.Object) -> str:
    """The type for a new soft body: Outline for a flat mesh or edges alone, Lattice for one with inner vertices.

    A type that was chosen stays; other meshes keep the default, as do flat ones of faces without one closed outline.
    """
    settings, mesh = obj.softpressure, obj.data
    chosen = str(settings.body_type)
    if obj.type != "MESH" or mesh_io.is_edited(obj) or settings.is_property_set("body_type") or not len(mesh.edges):
        return chosen
    local = mesh_io.read_local(mesh)
    positions, outline = mesh_io.to_world(mesh_io.world_matrix(obj), local), mesh_io.read_outline(mesh)
    if len(mesh.polygons) and simulation_mesh_choice.may_be_even(obj):
        if not is_flat(mesh_io.to_world(mesh_io.world_matrix(obj), _as_seen(obj, local))):
            return chosen
        try:
            outline_of(obj.name, positions, outline)
        except MeshError:
            return chosen
    elif len(mesh.polygons) and not is_flat(positions):
        return chosen
    return "LOOP" if len(np.unique(outline)) == len(mesh.vertices) else "TRUSS"


def _as_seen(obj: bpy.types.Object, local: mesh_io.Float32Array) -> mesh_io.Float32Array:
    """Local vertices of an object with its modifiers, as far as it is evaluated; else `local`."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()) if obj.modifiers else obj
    return mesh_io.read_local(evaluated.data) if obj.modifiers and evaluated.is_evaluated else local


def _choose_bounciness(settings: Any) -> None:
    """Give a rigid body less bounciness than a ball, unless it was set; restore it when it is no longer rigid."""
    if settings.kind == "RIGID" and not settings.is_property_set("bounciness"):
        settings.bounciness = RIGID_BOUNCINESS
        settings.has_rigid_bounciness = True
    elif settings.kind != "RIGID" and settings.has_rigid_bounciness:
        settings.has_rigid_bounciness = False
        if settings.bounciness == np.float32(RIGID_BOUNCINESS):
            settings.property_unset("bounciness")
