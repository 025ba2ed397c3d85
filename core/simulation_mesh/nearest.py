"""Nearest triangle of a surface to points, among those whose normals agree."""

import numpy as np

from ..array_types import FloatArray
from ..contact.narrow_phase.closest_points import closest_on_corners
from ..jit import kernel
from ..topology import face_normals
from .rays import grid_of
from .surface import Numbers

#: What a full turn of the normal costs, in squared lengths of the search.
TURN_COST = 1.0


def nearest_triangles(
    points: FloatArray, normals: FloatArray, x: FloatArray, triangles: Numbers, length: float
) -> tuple[Numbers, FloatArray]:
    """Triangle of each point and the weights of its corners at the nearest point of it, shape (point_count, 3).

    length: within which a triangle that faces the other way loses against one that faces the same way.
    """
    triangles = triangles.astype(np.int64)
    unit = face_normals(x, triangles)
    face, weights = np.zeros(len(points), np.int64), np.zeros((len(points), 3))
    grid = grid_of(x, triangles, length)
    find_nearest(grid, unit, np.ascontiguousarray(points), normals, TURN_COST * length * length, face, weights)
    return face, weights


@kernel
def find_nearest(grid, unit, points, normals, turn_cost, face, weights):
    """Search the cells around each point, ring by ring, until no nearer triangle can be farther out."""
    size = grid.size[0]
    home, first, last = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3, np.int64)
    widest = max(grid.shape[0], grid.shape[1], grid.shape[2])
    for i in range(points.shape[0]):
        away = 0.0  # distance of the point from the grid
        for axis in range(3):
            cell = int(np.floor((points[i, axis] - grid.low[axis]) / size))
            home[axis] = min(max(cell, 0), grid.shape[axis] - 1)
            over = max(
                grid.low[axis] - points[i, axis], points[i, axis] - grid.low[axis] - grid.shape[axis] * size, 0.0
            )
            away += over * over
        best = np.inf
        for ring in range(widest):
            reach = (ring - 1) * size
            if reach > 0.0 and away + reach * reach > best:
                break
            for axis in range(3):
                first[axis], last[axis] = max(0, home[axis] - ring), min(grid.shape[axis] - 1, home[axis] + ring)
            for a in range(first[0], last[0] + 1):
                for b in range(first[1], last[1] + 1):
                    is_rim = abs(a - home[0]) == ring or abs(b - home[1]) == ring
                    for c in range(first[2], last[2] + 1):
                        if not is_rim and abs(c - home[2]) != ring:
                            continue
                        cell = (a * grid.shape[1] + b) * grid.shape[2] + c
                        for q in range(grid.start[cell], grid.start[cell + 1]):
                            t = grid.entry[q]
                            f = grid.triangles[t]
                            r, s, w, _, _, _, cost, _ = closest_on_corners(points, i, grid.x, f[0], f[1], f[2])
                            along = unit[t, 0] * normals[i, 0] + unit[t, 1] * normals[i, 1] + unit[t, 2] * normals[i, 2]
                            cost += turn_cost * max(0.0, -along)
                            if cost < best or (cost == best and t < face[i]):
                                best, face[i] = cost, t
                                weights[i, 0], weights[i, 1], weights[i, 2] = r, s, w
