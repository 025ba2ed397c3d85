"""Conversion between Blender's meshes and world-space arrays."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from .blender_types import Mesh

Float32Array = NDArray[np.float32]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

#: Shape key that shows the simulated shape; the rest shape stays in the Basis.
LIVE_KEY = "SP Live"
#: Names of baked shape keys and actions start with this.
BAKE_KEY = "SP Bake"


def world_matrix(obj: bpy.types.Object) -> FloatArray:
    """World from local matrix, shape (4, 4)."""
    return np.array(obj.matrix_world, dtype=float)


def to_world(matrix: FloatArray, local: NDArray[Any]) -> FloatArray:
    """Points [m], shape (n, 3), from an object's space to the world's."""
    return local.astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def determinant(matrix: FloatArray) -> float:
    """Determinant of a 3x3 matrix."""
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    return float(a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g))


def inverse_of(matrix: FloatArray) -> FloatArray:
    """Inverse of a 3x3 matrix, by cofactors; raises `LinAlgError` where there is none, as numpy's does.

    numpy's waits for its own threads: 4 ms in each frame where other programs use the processor, too.
    """
    size = determinant(matrix)
    if size == 0.0:
        raise np.linalg.LinAlgError("Singular matrix")
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    rows = [[e * i - f * h, c * h - b * i, b * f - c * e], [f * g - d * i, a * i - c * g, c * d - a * f],
            [d * h - e * g, b * g - a * h, a * e - b * d]]  # fmt: skip
    return np.array(rows) / size


def to_local(matrix: FloatArray, world: NDArray[Any]) -> Float32Array:
    """Points from world space to an object's, shape (n, 3), as Blender stores them."""
    inverse = inverse_of(matrix[:3, :3])
    return np.ascontiguousarray((world.astype(float) - matrix[:3, 3]) @ inverse.T, dtype=np.float32)


def is_edited(obj: bpy.types.Object) -> bool:
    """Whether the mesh of an object is in Edit Mode, at this object or at another one that has the same mesh."""
    return bool(getattr(obj.data, "is_editmode", False))


def read_local(mesh: Mesh) -> Float32Array:
    """Vertex positions in object space, shape (vertex_count, 3). Not for meshes in edit mode."""
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    if not len(flat):  # a mesh without vertices has no attribute either
        return flat.reshape(-1, 3)
    mesh.attributes["position"].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


def read_triangles(mesh: Mesh, matrix: FloatArray) -> IntArray:
    """Triangles of all faces, counter-clockwise from outside in world space, shape (triangle_count, 3).

    The mesh itself is not triangulated. An object of negative scale is mirrored: its triangles are turned. Faces are
    split along diagonals that no other face has as a side or a diagonal, where there is a choice.
    """
    mesh.calc_loop_triangles()
    flat = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", flat)
    triangles = flat.reshape(-1, 3)
    if len(triangles) > len(mesh.polygons):
        face = np.empty(len(triangles), np.int32)
        mesh.loop_triangles.foreach_get("polygon_index", face)
        ends = np.empty(2 * len(mesh.edges), np.int32)
        mesh.edges.foreach_get("vertices", ends)
        triangles = with_own_diagonals(triangles, face, ends.reshape(-1, 2), len(mesh.vertices))
    if determinant(matrix[:3, :3]) < 0.0:
        triangles = np.ascontiguousarray(triangles[:, ::-1])
    return triangles


def read_faces(mesh: Mesh) -> tuple[IntArray, IntArray]:
    """Vertices of all faces in a row, and where each face begins, and the end of the last."""
    corners, start = np.empty(len(mesh.loops), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    mesh.polygons.foreach_get("loop_start", start)
    return corners, np.append(start, len(corners)).astype(np.int32)


def crossing_triangles(local: NDArray[Any], triangles: IntArray) -> list[int]:
    """Numbers of the triangles that cross another one of the same surface, but for neighbours, ascending."""
    tree = BVHTree.FromPolygons(local.tolist(), triangles.tolist(), all_triangles=True)
    pairs = np.array(tree.overlap(tree), np.int64).reshape(-1, 2)
    one, other = triangles[pairs[:, 0]], triangles[pairs[:, 1]]
    are_apart = (one[:, :, None] != other[:, None, :]).all(axis=(1, 2))
    found: list[int] = np.unique(pairs[are_apart]).tolist()
    return found


def with_own_diagonals(triangles: IntArray, face: IntArray, edges: IntArray, vertex_count: int) -> IntArray:
    """Triangles of faces, one of `face` each, whose diagonals are neither edges of the mesh nor those of other faces.

    Else two faces that share two opposite corners could get a common diagonal, an edge of four triangles, which the
    mesh does not have. A diagonal that is taken is flipped, unless the other one is taken, too.
    """
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2).astype(np.int64))
    key = sides[:, 0] * vertex_count + sides[:, 1]
    order = np.lexsort((np.repeat(face, 3), key))
    is_same = np.flatnonzero((np.diff(key[order]) == 0) & (np.diff(np.repeat(face, 3)[order]) == 0))
    pairs = np.stack([order[is_same], order[is_same + 1]], axis=1)  # the two sides that are one diagonal
    ends = np.sort(edges.astype(np.int64))
    diagonal, known = key[pairs[:, 0]], ends[:, 0] * vertex_count + ends[:, 1]
    _, first = np.unique(diagonal, return_index=True)
    is_taken = np.isin(diagonal, known)
    is_taken[np.setdiff1d(np.arange(len(diagonal)), first)] = True
    if not is_taken.any():
        return triangles
    triangles, taken = triangles.copy(), {*known.tolist(), *diagonal.tolist()}
    for one, other in pairs[is_taken].tolist():
        start, end, left = np.roll(triangles[one // 3], -(one % 3)).tolist()
        right = int(np.roll(triangles[other // 3], -(other % 3))[2])
        low, high = sorted((left, right))
        if low * vertex_count + high in taken:
            continue
        taken.add(low * vertex_count + high)
        triangles[one // 3], triangles[other // 3] = (start, right, left), (right, end, left)
    return triangles


def read_edges(mesh: Mesh) -> IntArray:
    """Vertices of the edges, shape (edge_count, 2)."""
    edges = np.empty(2 * len(mesh.edges), np.int32)
    if len(edges):
        mesh.attributes[".edge_verts"].data.foreach_get("value", edges)
    return edges.reshape(-1, 2)


def read_outline(mesh: Mesh) -> IntArray:
    """Edges that belong to one face or none: the outline of a flat mesh, with faces or without, shape (n, 2)."""
    corners = np.empty(len(mesh.loops), np.int32)
    if len(corners):
        mesh.attributes[".corner_edge"].data.foreach_get("value", corners)
    return read_edges(mesh)[np.bincount(corners, minlength=len(mesh.edges)) < 2]


def read_key(key: bpy.types.ShapeKey) -> Float32Array:
    """Points of a shape key in object space, shape (vertex_count, 3)."""
    flat = np.empty(3 * len(key.points), np.float32)
    key.points.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def read_rest(obj: bpy.types.Object) -> Float32Array:
    """Rest shape of a body in object space, shape (vertex_count, 3); not in edit mode."""
    mesh: Mesh = obj.data
    return read_local(mesh) if live_key(obj) is None else read_key(mesh.shape_keys.reference_key)


def write_key(key: bpy.types.ShapeKey, local: Float32Array) -> None:
    """Set the points of a shape key, object space. The caller tags the mesh."""
    key.points.foreach_set("co", np.ascontiguousarray(local, np.float32).ravel())


def live_key(obj: bpy.types.Object) -> bpy.types.ShapeKey | None:
    """The shape key that shows the simulation, None if the object has none."""
    mesh: Mesh = obj.data
    return None if getattr(mesh, "shape_keys", None) is None else mesh.shape_keys.key_blocks.get(LIVE_KEY)


def group_vertices(obj: bpy.types.Object, group_name: str) -> IntArray:
    """Vertices whose weight in the group is above 0.5, ascending; none if there is no such group."""
    return np.array(list(_members(obj, group_name)), np.int32)


def group_weights(obj: bpy.types.Object, group_name: str) -> tuple[IntArray, FloatArray]:
    """Vertices of a group, ascending, and their weights; none if there is no such group."""
    found = list(_weights(obj, group_name))
    return np.array([vertex for vertex, _ in found], np.int32), np.array([weight for _, weight in found], float)


def has_group_vertices(obj: bpy.types.Object, group_name: str) -> bool:
    """Whether there is any such vertex; far quicker than all of them."""
    return any(True for _ in _members(obj, group_name))


def _members(obj: bpy.types.Object, group_name: str) -> Iterator[int]:
    return (vertex for vertex, weight in _weights(obj, group_name) if weight > 0.5)


def _weights(obj: bpy.types.Object, group_name: str) -> Iterator[tuple[int, float]]:
    if group_name not in obj.vertex_groups:
        return
    number = obj.vertex_groups[group_name].index
    mesh: Mesh = obj.data
    for vertex in mesh.vertices:
        for group in vertex.groups:
            if group.group == number:
                yield vertex.index, group.weight
