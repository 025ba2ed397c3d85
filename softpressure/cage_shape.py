"""The shape of a cage: a closed surface of few, even triangles along a mesh of any kind.

Voxel remeshing makes it: overlapping parts unite, hollows that nothing leads to fill, and nothing crosses. Holes are
filled first. What has no inside, like a sheet, gets walls around it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bmesh
import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ..core import MeshError, check_closed_surface
from . import mesh_io
from .blender_types import Mesh
from .mesh_io import FloatArray, IntArray

#: Triangles lower than this share of a voxel come from two walls of a sheet that lie on each other.
_FLAT = 1e-3
#: Share of such triangles from which on a mesh holds sheets; voxels that meet by chance make a few.
_SHEETS = 0.005
#: Walls around a sheet, in voxels: each side is a voxel away, which voxels can tell apart.
_WALL = 2.0
#: Rounds of smoothing, which even out the triangles.
_SMOOTHING = 2
#: Points of the mesh at which its distance from the cage is measured.
_SAMPLES = 5000


def around(name: str, positions: FloatArray, mesh: Mesh, vertex_count: int) -> tuple[FloatArray, IntArray, float]:
    """A closed surface of about `vertex_count` vertices along a mesh whose vertices lie at `positions`, shape (n, 3).

    Returns its vertices in the same space, its triangles, and the distance that 95 % of the mesh keeps within. Raises
    `MeshError` with `name` where the mesh has no faces, or no such surface is found.
    """
    if not len(mesh.polygons):
        raise MeshError(f"{name}: has no faces, so no cage fits it. Give it faces, or choose a mesh that has some.")
    if not np.isfinite(positions).all():
        raise MeshError(f"{name}: holds vertices at NaN or infinity. Delete them before a cage is made.")
    middle = 0.5 * (positions.min(axis=0) + positions.max(axis=0))
    with _copy_of(mesh, positions - middle) as source:
        areas = np.empty(len(mesh.polygons), np.float32)
        source.data.polygons.foreach_get("area", areas)
        area = float(areas.sum(dtype=float))
        if not area > 0.0:
            raise MeshError(f"{name}: has no area, so no cage fits it. Scale it, or rebuild its faces.")
        size = float(np.sqrt(area / vertex_count))
        with _copy_of(mesh, positions - middle) as filled:
            _fill_holes(filled.data)
            x, triangles, size = _counted(filled, size, vertex_count)
        if _share_of_flat(x, triangles, size) > _SHEETS:
            solidify: Any = source.modifiers.new("Walls", "SOLIDIFY")
            solidify.solidify_mode = "NON_MANIFOLD"
            solidify.nonmanifold_thickness_mode = "FIXED"
            solidify.thickness, solidify.offset = _WALL * size, 0.0
            x, triangles, size = _counted(source, size, vertex_count)
        samples = (positions - middle)[:: max(1, len(positions) // _SAMPLES)]
        x, reach = _fitted(x, triangles, samples, 0.5 * size)
    check_closed_surface(f"{name}: the cage", x, triangles)
    return x + middle, triangles, reach


@contextmanager
def _copy_of(mesh: Mesh, positions: FloatArray) -> Iterator[Any]:
    """An object of the faces of a mesh at other positions, for a while."""
    work: Mesh = mesh.copy()
    work.materials.clear()
    work.attributes["position"].data.foreach_set("vector", positions.astype(np.float32).ravel())
    work.update()
    obj = bpy.data.objects.new(work.name, work)
    bpy.context.scene.collection.objects.link(obj)
    try:
        yield obj
    finally:
        bpy.data.objects.remove(obj)
        bpy.data.meshes.remove(work)


def _fill_holes(mesh: Mesh) -> None:
    """Close the holes of a mesh with faces."""
    work = bmesh.new()
    try:
        work.from_mesh(mesh)
        rim = [edge for edge in work.edges if edge.is_boundary]
        if rim:
            bmesh.ops.holes_fill(work, edges=rim, sides=0)
            work.to_mesh(mesh)
    finally:
        work.free()


def _counted(obj: bpy.types.Object, size: float, vertex_count: int) -> tuple[FloatArray, IntArray, float]:
    """Vertices and triangles of a remeshed object, about so many vertices, and the size of their voxels.

    `size` is a first guess: the number follows the area, which parts inside each other do not add to.
    """
    x, triangles = _remeshed(obj, size)
    if len(x):
        size *= float(np.sqrt(len(x) / vertex_count))
        x, triangles = _remeshed(obj, size)
    return x, triangles, size


def _remeshed(obj: bpy.types.Object, size: float) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles of an object's mesh after its modifiers, in voxels of this size; may be none."""
    stack: Any = obj.modifiers
    voxels, smooth = stack.new("Voxels", "REMESH"), stack.new("Smooth", "SMOOTH")
    voxels.mode, voxels.voxel_size = "VOXEL", size
    smooth.factor, smooth.iterations = 0.5, _SMOOTHING
    bpy.context.view_layer.update()
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    found = mesh_io.read_local(mesh).astype(float), mesh_io.read_triangles(mesh, np.eye(4))
    stack.remove(voxels)
    stack.remove(smooth)
    return found


def _share_of_flat(x: FloatArray, triangles: IntArray, size: float) -> float:
    """The share of the triangles that have no height to speak of; 1 if there are none."""
    if not len(triangles):
        return 1.0
    a, b, c = (x[triangles[:, corner]] for corner in range(3))
    longest = np.max([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)], axis=0)
    heights = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.maximum(longest, 1e-300)
    return float(np.mean(heights < _FLAT * size))


def _fitted(x: FloatArray, triangles: IntArray, samples: FloatArray, most: float) -> tuple[FloatArray, float]:
    """The surface moved along its normals, by at most `most`, to the middle of the samples; and how near they lie."""
    if not len(triangles):
        return x, 0.0
    a, b, c = (x[triangles[:, corner]] for corner in range(3))
    normals = np.zeros_like(x)
    for corner in range(3):
        np.add.at(normals, triangles[:, corner], np.cross(b - a, c - a))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    fitted = x + float(np.clip(np.median(_heights(x, triangles, samples)), -most, most)) * normals
    return fitted, float(np.percentile(np.abs(_heights(fitted, triangles, samples)), 95.0))


def _heights(x: FloatArray, triangles: IntArray, samples: FloatArray) -> FloatArray:
    """Distance of points from a surface, positive outside, shape (n,)."""
    tree = BVHTree.FromPolygons(x.tolist(), triangles.tolist(), all_triangles=True)
    found = np.zeros(len(samples))
    for number, sample in enumerate(samples.tolist()):
        nearest: Any = tree.find_nearest(sample)
        point, normal, _, distance = nearest
        found[number] = np.copysign(distance, (Vector(sample) - point).dot(normal))
    return found
