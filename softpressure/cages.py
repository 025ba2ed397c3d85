"""Cages: closed bodies of few vertices that move a mesh of many by Blender's Surface Deform modifier.

The cage is the body. The visible mesh keeps its data and takes no part. The binding is stored in its modifier, so it
plays without the extension. It presumes that the two objects keep their places relative to each other: a cage that is
made here is a child of the visible mesh.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..core import MeshError, SoftPressureError
from . import bodies, cage_shape, copying, mesh_io, playback, session, stages, taking_part
from .blender_types import DataBlock, Mesh
from .mesh_io import FloatArray, IntArray

#: Name of the modifier that binds a mesh to its cage.
MODIFIER = "SP Cage"
#: The rig: modifiers in front of the binding that move the cage instead, so that it starts and is pinned in its pose.
_RIG = {"ARMATURE", "CURVE", "LATTICE"}
#: Modifiers that refine a mesh, as they often do last: the binding comes in front of these.
_REFINING = {
    *("BEVEL", "CORRECTIVE_SMOOTH", "DISPLACE", "EDGE_SPLIT", "LAPLACIANSMOOTH", "MULTIRES", "SMOOTH", "SOLIDIFY"),
    *("SUBSURF", "TRIANGULATE", "WIREFRAME", *stages.PASSIVE),
}
#: An interpolated weight from here on is 1: rounding would make a vertex that is held one that is pulled.
_WHOLE = 1.0 - 1e-4


def binding(obj: bpy.types.Object) -> Any:
    """The modifier that binds a mesh to its cage; None if there is none."""
    modifier: Any = obj.modifiers.get(MODIFIER)
    return modifier if modifier is not None and modifier.type == "SURFACE_DEFORM" else None


def cage_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The cage of a mesh, if it has one."""
    modifier = binding(obj)
    return None if modifier is None else modifier.target


def bound_to(cage: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that a cage moves."""
    return [obj for obj in bpy.data.objects if obj.type == "MESH" and cage_of(obj) == cage]


def add_all(objects: Iterable[bpy.types.Object], vertex_count: int) -> tuple[list[str], list[str]]:
    """Give each mesh a cage of about this many vertices, a soft body. Returns notes and refusals, a sentence each."""
    notes, refusals = [], []
    for obj in objects:
        try:
            notes.append(add(obj, vertex_count))
        except SoftPressureError as error:
            refusals.append(str(error))
    return notes, refusals


def add(obj: bpy.types.Object, vertex_count: int) -> str:
    """Give a mesh a cage, which takes its part in the simulation; returns what was done.

    Settings of a body go to the cage; vertex groups and the rig are copied. Raises `SoftPressureError` and changes
    nothing if that cannot be.
    """
    _check(obj)
    matrix = mesh_io.world_matrix(obj)
    with _at_rest(obj) as mesh:
        # as large in all directions as it is in the world, so that triangles are even there
        positions = mesh_io.read_local(mesh).astype(float) @ matrix[:3, :3].T
        x, triangles, reach = cage_shape.around(obj.name, positions, mesh, vertex_count)
        if np.linalg.det(matrix[:3, :3]) < 0.0:
            triangles = triangles[:, ::-1]
        cage = _cage_object(obj, x @ np.linalg.inv(matrix[:3, :3]).T, triangles)
        try:
            _copy_groups(obj, cage)
            bodies.check(cage, "SOFT")
            _bind(obj, cage)
        except SoftPressureError:
            _delete(cage)
            raise
    _copy_rig(obj, cage)
    _take_part(obj, cage)
    return (
        f"{obj.name}: has a cage of {len(x)} vertices for its {len(positions)}, 95 % of which lie within "
        f"{reach:.2g} of it. The cage is the body now"
    )


def bind_all(objects: Iterable[bpy.types.Object], cage: bpy.types.Object) -> tuple[list[str], list[str]]:
    """Bind meshes to a soft body as their cage. Returns notes and refusals, a sentence each."""
    notes, refusals = [], []
    for obj in objects:
        try:
            _check(obj)
            with _at_rest(obj), _unposed(cage):
                _bind(obj, cage)
            _remember_kind(obj)
            if obj.parent is None:
                obj.parent = cage
                obj.matrix_parent_inverse = cage.matrix_world.inverted()
            notes.append(f"{obj.name}: follows {cage.name}")
        except SoftPressureError as error:
            refusals.append(str(error))
    for scene in cage.users_scene:
        playback.show_again(scene)
    return notes, refusals


def concerned(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """The meshes with a cage among these objects, and those that the cages among them move."""
    found = [mesh for obj in objects for mesh in ((obj,) if binding(obj) else bound_to(obj))]
    return list(dict.fromkeys(found))


def remove(obj: bpy.types.Object) -> None:
    """Unbind a mesh and make it the body that it was; delete the cage if it was made for it and moves nothing else."""
    cage, settings = cage_of(obj), obj.softpressure
    obj.modifiers.remove(binding(obj))
    kind, settings.kind_before_cage = settings.kind_before_cage, "NONE"
    if kind != "NONE":
        settings.kind = kind
    if cage is None:
        return
    if obj.parent == cage:
        place = obj.matrix_world.copy()
        obj.parent = None
        obj.matrix_world = place
    if cage.softpressure.is_cage and not bound_to(cage):
        if kind == "SOFT":
            copying.copy_to(cage, [obj])
        _redirect(cage, obj)
        _delete(cage)
    session.mark_all()


def _check(obj: bpy.types.Object) -> None:
    """Raise if an object cannot be bound."""
    bodies.check_object(obj, "COLLIDER")  # any mesh can be one, but in Edit Mode or scaled to nothing
    if obj.library is not None or obj.override_library is not None:
        raise MeshError(f"{obj.name}: is linked from another file. Make it local (Object > Relations).")
    if binding(obj) is not None:
        raise SoftPressureError(f"{obj.name}: has a cage already. Press Remove Cage first.")
    if bound_to(obj):
        raise SoftPressureError(f"{obj.name}: is a cage itself. Select the mesh that it moves.")
    if obj.softpressure.is_baked:
        raise SoftPressureError(f"{obj.name}: is baked. Free the bake before it gets a cage.")


def place_of(obj: bpy.types.Object) -> int:
    """Where the binding comes in the stack of modifiers: in front of those at its end that refine the mesh."""
    modifiers = [modifier.type for modifier in obj.modifiers]
    while modifiers and modifiers[-1] in _REFINING:
        modifiers.pop()
    return len(modifiers)


@contextmanager
def _at_rest(obj: bpy.types.Object) -> Iterator[Mesh]:
    """A mesh as the binding finds it, but for its rig, evaluated; for a while."""
    place = place_of(obj)
    with _unposed(obj, place):
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        if not evaluated.is_evaluated:
            raise taking_part.not_evaluated(obj)
        mesh = bpy.data.meshes.new_from_object(evaluated)
        try:
            yield mesh
        finally:
            bpy.data.meshes.remove(mesh)


@contextmanager
def _unposed(obj: bpy.types.Object, place: int | None = None) -> Iterator[None]:
    """Switch off an object's rig, what simulates it, and modifiers from a place on; for a while."""
    if obj.softpressure.kind == "SOFT":
        stages.show(obj, stages.Stage.REST)
    before = [(each.name, each.show_viewport) for each in obj.modifiers]
    for number, modifier in enumerate(obj.modifiers):
        if modifier.type in _RIG or (place is not None and number >= place):
            modifier.show_viewport = False
    bpy.context.view_layer.update()
    try:
        yield
    finally:
        for name, is_shown in before:
            obj.modifiers[name].show_viewport = is_shown
        bpy.context.view_layer.update()


def _cage_object(obj: bpy.types.Object, x: FloatArray, triangles: IntArray) -> Any:
    """An object of this surface at the place of another, drawn as wire, hidden in renders."""
    name = f"{obj.name} Cage"
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(x.tolist(), [], triangles.tolist())
    cage: DataBlock = bpy.data.objects.new(name, mesh)
    for collection in obj.users_collection:
        collection.objects.link(cage)
    cage.parent = obj
    cage.display_type, cage.hide_render = "WIRE", True
    cage.softpressure.is_cage = True
    bpy.context.view_layer.update()
    return cage


def _copy_groups(obj: bpy.types.Object, cage: Any) -> None:
    """Give a cage the vertex groups of its mesh, interpolated at the nearest point of a face."""
    if not len(obj.vertex_groups):
        return
    for group in obj.vertex_groups:
        cage.vertex_groups.new(name=group.name)
    names: dict[str, Any] = {
        "object": obj,
        "active_object": obj,
        "selected_objects": [cage],
        "selected_editable_objects": [cage],
    }
    with bpy.context.temp_override(**names):
        bpy.ops.object.data_transfer(
            data_type="VGROUP_WEIGHTS", vert_mapping="POLYINTERP_NEAREST", layers_select_src="ALL",
            layers_select_dst="NAME", use_create=True,
        )  # fmt: skip
    for vertex in cage.data.vertices:
        for membership in vertex.groups:
            if membership.weight > _WHOLE:
                membership.weight = 1.0


def _copy_rig(obj: bpy.types.Object, cage: bpy.types.Object) -> None:
    """Let what poses a mesh in front of its binding pose its cage."""
    for modifier in obj.modifiers:
        if modifier.name == MODIFIER:
            return
        if modifier.type in _RIG:
            copy = cage.modifiers.new(modifier.name, modifier.type)
            for prop in modifier.bl_rna.properties:
                if not prop.is_readonly and prop.identifier not in {"name", "is_active"}:
                    setattr(copy, prop.identifier, getattr(modifier, prop.identifier))


def _bind(obj: bpy.types.Object, cage: bpy.types.Object) -> None:
    """Add the modifier and bind it; both objects must show their rest shape."""
    place = place_of(obj)
    modifier: Any = obj.modifiers.new(MODIFIER, "SURFACE_DEFORM")
    obj.modifiers.move(len(obj.modifiers) - 1, place)
    modifier.target = cage
    reason = ""
    with bpy.context.temp_override(object=obj, active_object=obj):
        try:
            bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
        except RuntimeError as error:
            reason = f" ({str(error).strip()})"
    if not modifier.is_bound:
        obj.modifiers.remove(modifier)
        raise SoftPressureError(
            f"{obj.name}: Blender's Surface Deform cannot bind it to {cage.name}{reason}. "
            "Triangulate the cage, and let every edge of it have at most two faces."
        )


def _remember_kind(obj: bpy.types.Object) -> None:
    """Take a mesh out of the simulation until its cage is removed."""
    kind = obj.softpressure.kind
    obj.softpressure.kind_before_cage = kind
    session.tried.pop(obj.session_uid, None)
    if kind != "NONE":
        bodies.remove(obj)


def _take_part(obj: bpy.types.Object, cage: bpy.types.Object) -> None:
    """Make a cage the soft body that its mesh was, or a new one."""
    was_soft = obj.softpressure.kind == "SOFT"
    if was_soft and obj.softpressure.body_type not in {"MEMBRANE", "TRUSS", "SOLID"}:
        obj.softpressure.body_type = "MEMBRANE"
    if was_soft:
        copying.copy_to(obj, [cage])
    else:
        bodies.add(cage, "SOFT")
    _remember_kind(obj)
    _redirect(obj, cage)


def _redirect(before: bpy.types.Object, after: bpy.types.Object) -> None:
    """Let attachments to one object hold to another."""
    for other in bpy.data.objects:
        if other.softpressure.attach_to == before:
            other.softpressure.attach_to = after


def _delete(cage: bpy.types.Object) -> None:
    mesh: Mesh = cage.data
    bpy.data.objects.remove(cage)
    bpy.data.meshes.remove(mesh)
