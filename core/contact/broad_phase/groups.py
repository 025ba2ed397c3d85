"""Vertices of all bodies in compact groups: the units of the contact search."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...jit import kernel
from .box_tree import median_order

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

GROUP_SIZE = 16  # a group holds GROUP_SIZE / 2 to GROUP_SIZE points, which walk the trees together


@dataclass(frozen=True, slots=True)
class Groups:
    """Points that are corners of triangles, in runs of neighbours. A group has points of one body."""

    points: IntArray  # all grouped points, shape (grouped_count,)
    start: IntArray  # first place in points of each group, shape (group_count + 1,)
    body: IntArray  # shape (group_count,)
    box: FloatArray  # lower corner, upper corner [m], of positions as last fitted, shape (group_count, 6)


def build_groups(
    rest_positions: FloatArray, triangles: IntArray, body_triangle_start: IntArray, body_point_start: IntArray
) -> Groups:
    """Group the points of each body along median splits of their rest positions."""
    used = np.zeros(rest_positions.shape[0], bool)
    used[triangles.ravel()] = True
    points: list[NDArray[np.int64]] = []
    starts: list[int] = [0]
    bodies: list[int] = []
    for body in range(body_triangle_start.shape[0] - 1):
        first = int(body_point_start[body])
        own = first + np.flatnonzero(used[first : int(body_point_start[body + 1])])
        if own.size == 0:
            continue
        parts = 1
        while own.size > GROUP_SIZE * parts:
            parts *= 2
        points.append(own[median_order(rest_positions[own], parts)])
        offset = starts[-1]
        starts += [offset + (k + 1) * int(own.size) // parts for k in range(parts)]
        bodies += [body] * parts
    return Groups(
        points=np.concatenate(points).astype(np.int32) if points else np.zeros(0, np.int32),
        start=np.array(starts, np.int32),
        body=np.array(bodies, np.int32),
        box=np.zeros((len(bodies), 6)),
    )


@kernel
def fit_groups(x, points, start, box):
    """Boxes of all groups for positions x [m], shape (point_count, 3)."""
    for group in range(box.shape[0]):
        lx = ly = lz = np.inf
        ux = uy = uz = -np.inf
        for place in range(start[group], start[group + 1]):
            point = points[place]
            px, py, pz = x[point, 0], x[point, 1], x[point, 2]
            lx, ly, lz = min(lx, px), min(ly, py), min(lz, pz)
            ux, uy, uz = max(ux, px), max(uy, py), max(uz, pz)
        box[group, 0], box[group, 1], box[group, 2] = lx, ly, lz
        box[group, 3], box[group, 4], box[group, 5] = ux, uy, uz


@kernel
def any_moved(x, x_searched, reach, body_point_start):
    """Whether a point is farther than its body's reach from where it was searched, not finite, or its reach below 0."""
    for body in range(reach.shape[0]):
        if not reach[body] >= 0.0:
            return True
        limit = reach[body] * reach[body]
        for point in range(body_point_start[body], body_point_start[body + 1]):
            dx = x[point, 0] - x_searched[point, 0]
            dy = x[point, 1] - x_searched[point, 1]
            dz = x[point, 2] - x_searched[point, 2]
            if not dx * dx + dy * dy + dz * dz <= limit:
                return True
    return False
