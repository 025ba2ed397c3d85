"""Whether an object can be a body, judging by its own mesh and transform: a sentence if it cannot."""

import math

import bpy
import numpy as np

from ...core import MeshError, SoftPressureError, check_closed_surface
from ...core.bodies.flat.outline import check_loop, is_flat, outline_of
from ...core.topology import check_extent, check_surface, triangle_areas
from ..scene_io import (
    digests,
    flat_shape,
    instances,
    mesh_io,
    modifier_stack,
    node_trees,
    rigid_shape,
    rotations,
    simulation_mesh_choice,
)
from ..scene_io.blender_types import Mesh
from ..state import sessions
from . import wording

#: A scale below this share of the largest one counts as zero: it could not be undone exactly.
_SMALLEST_SCALE_SHARE = 1e-6
#: These may close a mesh, but come after the live shape key.
_CLOSING_MODIFIERS = {"MIRROR", "SOLIDIFY", "WELD", "NODES"}
#: Cosine between two axes of a world matrix from which on it counts as sheared; rounding makes 1e-6.
_SHEARED = 1e-4
#: Smallest extent of a body that changes its shape, and of a collider [m]: below, the search for contacts fails.
_SMALLEST = 1e-9


def check(obj: bpy.types.Object, kind: str, body_type: str = "") -> None:
    """Raise `MeshError` if an object cannot be a body of this kind, judging by its own mesh.

    `body_type`: of a soft body; empty for its present one.
    """
    if kind != "NONE":
        check_object(obj, kind)
        check_shape(obj, kind, body_type)


def can_be(obj: bpy.types.Object, body_type: str) -> bool:
    """Whether the mesh of an object can be a soft body of a type."""
    try:
        check(obj, "SOFT", body_type)
    except SoftPressureError:
        return False
    return True


def check_shape(obj: bpy.types.Object, kind: str, body_type: str = "") -> None:
    """Raise `MeshError` if the shape of an object's own mesh cannot be a body of this kind; cached."""
    if kind == "COLLIDER" and instances.may_have_any(obj):
        return  # it is read evaluated when it starts
    scales = mesh_io.world_matrix(obj)[:3, :3]
    # the same however it is turned, as that is no matter
    size = np.round(scales.T @ scales / max(float(np.abs(scales).max()) ** 2, 1e-300), 4)
    mirrored = bool(np.linalg.det(scales) < 0.0)
    closing = closing_modifier(obj)
    made_of = [kind, body_type or obj.softpressure.body_type, obj.softpressure.rigid_shape, bool(obj.modifiers)]
    made_of += [kind == "SOFT" and simulation_mesh_choice.may_be_even(obj, body_type)]
    made_of += [modifier_stack.first_repeating(obj)]
    made_of += [node_trees.mesh_maker(obj)]
    name = digests.of_arrays([digests.of_mesh(obj), obj.name, size, mirrored, closing, *made_of])
    if obj.session_uid not in sessions.shape_checks or sessions.shape_checks[obj.session_uid][0] != name:
        sentence = ""
        try:
            _check_shape(obj, kind, body_type)
        except MeshError as error:
            sentence = wording.of(error)
        sessions.shape_checks[obj.session_uid] = name, sentence
    sentence = sessions.shape_checks[obj.session_uid][1]
    if sentence:
        raise MeshError(sentence)


def _check_shape(obj: bpy.types.Object, kind: str, body_type: str) -> None:
    mesh: Mesh = obj.data
    if kind == "RIGID":
        if is_as_drawn(obj):  # else it is read evaluated when it starts
            rigid_shape.read(obj.name, mesh, mesh_io.world_matrix(obj), obj.softpressure.rigid_shape)
        return
    maker = node_trees.mesh_maker(obj)
    if maker:
        raise MeshError(
            f"{obj.name}: its mesh comes from the node tree of the modifier {maker}, which would not see the "
            "simulation. Apply the modifier."
        )
    triangles = mesh_io.read_triangles(mesh, mesh_io.world_matrix(obj))
    check_surface_of(obj, kind, flat_shape.rest_positions(obj), triangles, mesh, body_type)


def closing_modifier(obj: bpy.types.Object) -> str:
    """The name of the first modifier that may close a mesh, but follows the simulation; empty if there is none."""
    return next((modifier.name for modifier in obj.modifiers if modifier.type in _CLOSING_MODIFIERS), "")


def is_as_drawn(obj: bpy.types.Object) -> bool:
    """Whether the simulation reads an object's own mesh: no modifier or key changes it before the start."""
    if obj.modifiers or obj.type != "MESH":
        return False
    return not modifier_stack.mixed_keys(obj) if obj.softpressure.kind == "SOFT" else obj.data.shape_keys is None


def check_object(obj: bpy.types.Object, kind: str) -> None:
    """Raise `MeshError` if an object cannot be a body of this kind, whatever the shape of its mesh."""
    if obj.type != "MESH" and not (kind == "COLLIDER" and instances.is_collection(obj)):
        raise MeshError(f"{obj.name}: a {obj.type.lower()} object; only meshes can be bodies. Convert it to a mesh.")
    if mesh_io.is_edited(obj):
        raise MeshError(f"{obj.name}: is in Edit Mode, so its shape is not settled. Leave Edit Mode (Tab).")
    check_scale(obj)
    check_ownership(obj, kind)
    if kind == "SOFT":
        check_keys(obj)
    if kind == "RIGID":
        check_motion(obj)


def check_surface_of(
    obj: bpy.types.Object,
    kind: str,
    positions: mesh_io.FloatArray,
    triangles: mesh_io.IntArray,
    mesh: Mesh,
    body_type: str = "",
) -> None:
    """Raise `MeshError` unless the surface captured of a mesh can be a body of this kind."""
    check_extent(obj.name, positions)
    if kind == "COLLIDER":
        used, kept = usable_part(positions, triangles)
        if np.isfinite(positions).all() and len(triangles) and not len(kept):
            raise MeshError(f"{obj.name}: all {len(triangles)} faces have zero area. Scale it or rebuild its faces.")
        check_surface(obj.name, positions[used] if len(kept) else positions, kept if len(kept) else triangles)
        return
    body_type = body_type or obj.softpressure.body_type
    if flat_shape.is_flat_body(body_type, positions):
        (check_loop if body_type == "LOOP" else outline_of)(obj.name, positions, mesh_io.read_outline(mesh))
        return
    follows = kind == "SOFT" and simulation_mesh_choice.may_be_even(obj, body_type)
    if follows and len(triangles):
        if not np.isfinite(positions).all():
            check_surface(obj.name, positions, triangles)
        if not modifier_stack.first_repeating(obj):
            return  # whatever it is like: an even mesh is made of it
    try:
        check_closed_surface(obj.name, positions, triangles)
    except MeshError as error:
        if follows and (name := modifier_stack.first_repeating(obj)):
            raise MeshError(
                f"{obj.name}: what its modifier {name} shows cannot follow. Apply the modifier, or remove it."
            ) from None
        if len(mesh_io.read_outline(mesh)) and is_flat(positions):
            raise MeshError(f"{obj.name}: is flat. Choose the type Flat Outline (with gas) or Lattice.") from None
        closing = closing_modifier(obj)
        if closing and error.flaw == "OPEN":
            raise MeshError(
                f"{wording.of(error)} The modifier {closing} follows the simulation: apply it first."
            ) from None
        raise


def check_left(name: str, vertex_count: int) -> None:
    """Raise `MeshError` if nothing is left of a mesh as it is seen."""
    if not vertex_count:
        raise MeshError(
            f"{name}: its modifiers leave no mesh; instances, curves and points do not count. Remove the modifier, or "
            "make a mesh of them and apply it."
        )


def check_size(name: str, positions: mesh_io.FloatArray) -> None:
    """Raise `MeshError` if a mesh, in metres, is too small to be simulated."""
    extent = float(np.ptp(positions, axis=0).max())
    if extent < _SMALLEST:
        raise MeshError(f"{name}: is {extent:.2g} m wide, which is too small to be simulated. Scale it up.")


def usable_part(
    positions: mesh_io.FloatArray, triangles: mesh_io.IntArray
) -> tuple[mesh_io.IntArray, mesh_io.IntArray]:
    """Of a collider: the vertices of faces that have an area, and those faces in the numbers of these vertices."""
    size = float(np.ptp(positions, axis=0).max()) if len(positions) else 0.0
    kept = triangles[triangle_areas(positions, triangles) > 1e-14 * size * size]
    used, renumbered = np.unique(kept, return_inverse=True)
    return used.astype(np.int32), renumbered.reshape(-1, 3).astype(np.int32)


def check_scale(obj: bpy.types.Object) -> None:
    """Raise `MeshError` if the object's world matrix flattens it."""
    matrix = mesh_io.world_matrix(obj)[:3, :3]
    if not np.isfinite(matrix).all():
        raise MeshError(f"{obj.name}: its transform holds NaN or infinity. Clear it (Object > Clear).")
    stretches = np.linalg.svd(matrix, compute_uv=False)
    if stretches[2] <= _SMALLEST_SCALE_SHARE * stretches[0]:
        scale = ", ".join(f"{value:g}" for value in obj.matrix_world.to_scale())
        raise MeshError(f"{obj.name}: scale ({scale}) flattens it. Set a scale without zero, of its parents too.")


def check_motion(obj: bpy.types.Object) -> None:
    """Raise `MeshError` unless an object can be moved as a whole, and the motion written as location and rotation."""
    if obj.parent is not None and obj.parent_type != "OBJECT":
        raise MeshError(
            f"{obj.name}: its parent {obj.parent.name} is of type {obj.parent_type.title()}, which cannot be undone. "
            "Clear the parent (Alt P, Keep Transformation)."
        )
    other = obj.rigid_body
    if other is not None and other.type == "ACTIVE" and not other.kinematic:
        raise MeshError(
            f"{obj.name}: is an active rigid body of Blender, too, which moves it. Remove that (Object > Rigid Body > "
            "Remove), or set it to Animated."
        )
    shear = rotations.shear(mesh_io.world_matrix(obj))
    if shear > _SHEARED:
        raise MeshError(
            f"{obj.name}: is sheared by {math.degrees(math.asin(min(1.0, shear))):.2g} degrees, as its parents are "
            "scaled unevenly. Apply their scale (Ctrl A), or clear the parent."
        )


def check_ownership(obj: bpy.types.Object, kind: str) -> None:
    """Raise `MeshError` if an object is of another file, where nothing can be written; overrides keep what is theirs.

    A collider of that file is only read.
    """
    if obj.library is not None and (kind != "COLLIDER" or obj.softpressure.kind != kind):
        raise MeshError(
            f"{obj.name}: is linked from {obj.library.filepath}, where nothing of a simulation is kept. "
            "Make an override (Object > Library Override > Make)."
        )


def check_keys(obj: bpy.types.Object) -> None:
    """Raise `MeshError` if the mesh has shape keys that no other can be added to."""
    keys = obj.data.shape_keys
    if keys is not None and not keys.use_relative and len(keys.key_blocks) > 1 and not obj.softpressure.is_baked:
        raise MeshError(
            f"{obj.name}: its shape keys are absolute, which cannot be mixed with the simulated shape. "
            "Switch on Relative (Object Data > Shape Keys)."
        )
