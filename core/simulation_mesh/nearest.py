"""Nearest triangle of a surface to points, among those whose normals agree."""

import numpy as np

from ..array_types import FloatArray
from ..contact.box_tree import tree_of
from ..contact.narrow_phase.closest_points import closest_on_corners
from ..contact.narrow_phase.nearest_triangle import ALL, STACK_SIZE, nearest_triangle
from ..jit import kernel
from ..topology import face_normals
from .surface import Numbers

#: What a full turn of the normal costs, in squared lengths of the search.
TURN_COST = 1.0


def nearest_triangles(
    points: FloatArray, normals: FloatArray, x: FloatArray, triangles: Numbers, length: float
) -> tuple[Numbers, FloatArray]:
    """Triangle of each point and the weights of its corners at the nearest point of it, shape (point_count, 3).

    length: within which a triangle that faces the other way loses against one that faces the same way.
    """
    faces, places = triangles.astype(np.int32), np.ascontiguousarray(points)
    choice = ALL._replace(unit=face_normals(x, faces), normals=normals, turn_cost=TURN_COST * length * length)
    face, weights = np.zeros(len(points), np.int64), np.zeros((len(points), 3))
    find_nearest(places, x, faces, tree_of(x, faces), choice, face, weights)
    return face, weights


@kernel
def find_nearest(points, x, triangles, trees, choice, face, weights):
    """The nearest triangle of each point, and the weights of its corners there."""
    stack = np.empty(STACK_SIZE, np.int32)
    for i in range(points.shape[0]):
        face[i] = nearest_triangle(points, i, np.inf, x, 0, triangles, trees, choice, stack)
        f = triangles[face[i]]
        weights[i, 0], weights[i, 1], weights[i, 2] = closest_on_corners(points, i, x, f[0], f[1], f[2])[:3]
