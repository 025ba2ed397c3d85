"""A floor below bodies, for *Quick Soft Body*."""

from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Vector

from ..state import sessions
from . import setup

#: Size of the floor, and how far below the bodies it lies, as shares of their common size.
_FLOOR, _BELOW = 8.0, 0.75


def add_floor(context: bpy.types.Context, objects: Sequence[bpy.types.Object]) -> bpy.types.Object | None:
    """A square collider below these objects; None where the scene has a collider already."""
    scene = context.scene
    assert scene is not None
    if sessions.objects(scene, "COLLIDER"):
        return None
    corners = np.array([obj.matrix_world @ Vector(corner) for obj in objects for corner in obj.bound_box])
    low, high = corners.min(axis=0), corners.max(axis=0)
    size = float((high - low).max())
    half = 0.5 * _FLOOR * size
    mesh = bpy.data.meshes.new("Floor")
    mesh.from_pydata([(x * half, y * half, 0.0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))], [], [(0, 1, 2, 3)])
    floor = bpy.data.objects.new("Floor", mesh)
    floor.location = (*(0.5 * (low + high))[:2], low[2] - _BELOW * size)
    context.collection.objects.link(floor)
    context.view_layer.update()
    setup.add(floor, "COLLIDER")
    return floor
