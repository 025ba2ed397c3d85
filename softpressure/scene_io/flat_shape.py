"""Soft bodies in a plane: which they are, whether gravity acts within the plane, and how they become cushions."""

from typing import Any

import bmesh
import bpy
import numpy as np

from ...core import MeshError, check_closed_surface
from ...core.bodies.flat.outline import is_flat
from . import mesh_io
from .mesh_io import FloatArray

#: Sine of the angle between gravity and a plane's normal below which gravity has no part in the plane.
_UPRIGHT = 1e-3
#: Thickness of a cushion made of a flat mesh, as a share of the square root of its area.
_CUSHION = 0.1


def is_flat_body(body_type: str, positions: FloatArray) -> bool:
    """Whether a soft body of this type and shape [m] stays in a plane: outlines, and lattices of flat meshes."""
    return body_type == "LOOP" or (body_type == "TRUSS" and is_flat(positions))


def is_flat_object(obj: bpy.types.Object) -> bool:
    """Whether an object is a soft body that stays in a plane, judging by its own mesh; not in edit mode."""
    body_type = obj.softpressure.body_type
    if obj.softpressure.kind != "SOFT" or body_type not in {"LOOP", "TRUSS"} or mesh_io.is_edited(obj):
        return False
    return is_flat_body(body_type, rest_positions(obj))


def is_out_of_gravity(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Whether a scene has gravity, but no component of it within the plane of a flat soft body."""
    gravity = np.array(scene.gravity[:]) if scene.use_gravity else np.zeros(3)
    strength = float(np.linalg.norm(gravity))
    if not strength:
        return False
    in_plane = _axes(rest_positions(obj))[:2] @ gravity
    return float(np.linalg.norm(in_plane)) < _UPRIGHT * strength


def give_back(obj: bpy.types.Object) -> None:
    """Make a flat mesh of faces, which is no body, a closed one: a second side, and a rim between both.

    Its middle stays where it was. Raises `MeshError`, and changes nothing, if that does not close it, or would cross.
    """
    mesh: Any = obj.data
    local = mesh_io.read_local(mesh).astype(float)
    axes, middle = _axes(local), local.mean(axis=0)
    shape = bmesh.new()
    try:
        shape.from_mesh(mesh)
        thickness = _CUSHION * sum(face.calc_area() for face in shape.faces) ** 0.5
        bmesh.ops.solidify(shape, geom=list(shape.faces), thickness=thickness)
        bmesh.ops.recalc_face_normals(shape, faces=list(shape.faces))
        heights = [float(axes[2] @ (np.array(vertex.co) - middle)) for vertex in shape.verts]
        shift = -0.5 * (min(heights) + max(heights)) * axes[2]
        bmesh.ops.translate(shape, verts=list(shape.verts), vec=shift.tolist())
        shape.verts.index_update()
        positions = np.array([vertex.co[:] for vertex in shape.verts])
        corners = [[loop.vert.index for loop in each] for each in shape.calc_loop_triangles()]
        triangles = np.array(corners, np.int32)
        check_closed_surface(obj.name, positions, triangles)
        if count := len(mesh_io.crossing_triangles(positions, triangles)):
            raise MeshError(
                f"{obj.name}: lies on itself, so that {count} faces of a cushion would cross. Move its parts apart."
            )
        shape.to_mesh(mesh)
    finally:
        shape.free()
    mesh.update()


def rest_positions(obj: bpy.types.Object) -> FloatArray:
    """World positions [m] of the rest shape, shape (vertex_count, 3)."""
    return mesh_io.to_world(mesh_io.world_matrix(obj), mesh_io.read_rest(obj))


def _axes(positions: FloatArray) -> FloatArray:
    """Unit vectors along the largest to the smallest extent of a flat shape, the normal last, shape (3, 3)."""
    away = positions - positions.mean(axis=0)
    axes: FloatArray = np.linalg.eigh(away.T @ away)[1].T[::-1]
    return axes
