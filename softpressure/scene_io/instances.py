"""Colliders made of instances: a Collection Instance, or a mesh whose node tree instances others."""

import contextlib
from collections.abc import Iterator

import bpy
import numpy as np

from . import mesh_io
from .mesh_io import Float32Array, FloatArray, IntArray


def is_collection(obj: bpy.types.Object) -> bool:
    """Whether an object is a Collection Instance that has something to instance."""
    return obj.type == "EMPTY" and obj.instance_type == "COLLECTION" and obj.instance_collection is not None


def can_collide(obj: bpy.types.Object) -> bool:
    """Whether an object can be a collider."""
    return obj.type == "MESH" or is_collection(obj)


def may_have_any(obj: bpy.types.Object) -> bool:
    """Whether what is seen of an object may hold instances."""
    return is_collection(obj) or any(each.type == "NODES" and each.node_group is not None for each in obj.modifiers)


def members(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that a Collection Instance is made of, in the order of their names; none of any other object."""
    found = obj.instance_collection.all_objects if is_collection(obj) and obj.instance_collection else ()
    return sorted(found, key=lambda each: each.name_full)


def read_local(
    obj: bpy.types.Object, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> tuple[Float32Array, IntArray]:
    """Vertices in an object's space and triangles, counter-clockwise from outside in world space, of all that is seen.

    That is the evaluated mesh itself, if it is one, and every mesh that the object instances.
    """
    world = mesh_io.world_matrix(evaluated)
    points, faces, count = [np.empty((0, 3), np.float32)], [np.empty((0, 3), np.int32)], 0
    for mesh, matrix in _parts(obj, evaluated, depsgraph, world):
        points.append(_in_space_of(world, mesh, matrix))
        faces.append(mesh_io.read_triangles(mesh, matrix) + np.int32(count))
        count += len(points[-1])
    return np.concatenate(points), np.concatenate(faces)


def read_points(obj: bpy.types.Object, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Float32Array:
    """The vertices alone, as in each frame."""
    world = mesh_io.world_matrix(evaluated)
    points = [_in_space_of(world, mesh, matrix) for mesh, matrix in _parts(obj, evaluated, depsgraph, world)]
    return np.concatenate([np.empty((0, 3), np.float32), *points])


def _in_space_of(world: FloatArray, mesh: bpy.types.Mesh, matrix: FloatArray) -> Float32Array:
    local = mesh_io.read_local(mesh)
    return local if matrix is world else mesh_io.to_local(world, mesh_io.to_world(matrix, local))


def _parts(
    obj: bpy.types.Object, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph, world: FloatArray
) -> Iterator[tuple[bpy.types.Mesh, FloatArray]]:
    """The meshes, each with its world matrix; each is valid until the next one."""
    if isinstance(evaluated.data, bpy.types.Mesh):
        yield evaluated.data, world
    if not may_have_any(obj):
        return
    for instance in depsgraph.object_instances:
        if not instance.is_instance or instance.parent is None or instance.parent.original != obj:
            continue
        matrix, shown = np.array(instance.matrix_world, dtype=float), instance.object
        if shown is None or np.linalg.det(matrix[:3, :3]) == 0.0:
            continue
        if isinstance(shown.data, bpy.types.Mesh):  # of a node tree it is not the mesh of the object that is named
            if len(shown.data.polygons):
                yield shown.data, matrix
            continue
        with contextlib.suppress(RuntimeError):  # an empty, a light: has no surface
            mesh = shown.to_mesh()
            if mesh is not None and len(mesh.polygons):
                yield mesh, matrix
            shown.to_mesh_clear()
