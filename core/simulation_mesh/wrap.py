"""Wrap: a closed surface around any triangles, at a small distance from them.

Distances from the triangles on a grid; what cannot be reached from outside without coming closer than the distance is
inside. The border has a vertex in each cell that it passes and a quadrilateral across each edge of the grid between in-
and outside (surface nets; Gibson 1998).
"""

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..contact.narrow_phase.closest_points import closest_on_corners
from ..jit import kernel, lean_kernel
from ..union_find import islands_of_grid
from .surface import Numbers

#: Cells along the longest side of a whole mesh: finer grids let the outside in through narrow gaps.
CELLS = 110
#: Distance of the wrap [cells]: more than half the diagonal of a cell, or sheets would get holes. Parts that are nearer
#: to each other than twice the second one are wrapped at that, which closes the gap: remeshing needs a wider one.
DISTANCE, CLOSING = 0.9, 1.65
#: Cells of nothing around.
MARGIN = 3


def wrap(x: FloatArray, triangles: Numbers, size: float, distance: float) -> tuple[FloatArray, Numbers]:
    """Positions and triangles of the wrap of triangles, a distance of so many cells of this `size` away from them.

    Parts of it may still touch in single vertices.
    """
    low, high = (bound(x[triangles], axis=(0, 1)) for bound in (np.min, np.max))
    low -= MARGIN * size
    shape = np.ceil((high - low) / size).astype(np.int64) + MARGIN + 1
    value = np.full(tuple(shape), distance + 1.0)
    set_distances((x - low) / size, triangles.astype(np.int64), distance + 1.0, value)
    value -= distance
    inside = _unreached(value > 0.0)
    while close_checkerboards(inside, value):
        pass
    inside = _unreached(~inside)  # what that has cut off would be bubbles
    place, corners = _net(inside, np.maximum(np.abs(value), 1e-3))
    return low + size * place, corners


def _unreached(passable: BoolArray) -> BoolArray:
    """Nodes that are not reached from outside, where the first one is, through those that let pass."""
    return np.asarray(islands_of_grid(passable) > 0)


def _net(inside: BoolArray, value: FloatArray) -> tuple[FloatArray, Numbers]:
    """Positions [cells] and triangles of the border between in- and outside; `value`: distances from it."""
    stride = np.array([inside.shape[1] * inside.shape[2], inside.shape[2], 1])
    quads, crossings = list[Numbers](), list[FloatArray]()
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        a, b = np.moveaxis(inside, axis, 0)[:-1], np.moveaxis(inside, axis, 0)[1:]
        found = np.argwhere(a != b)
        node = np.empty_like(found)
        node[:, [axis, *(k for k in range(3) if k != axis)]] = found  # moveaxis keeps the order of the others
        number = node @ stride
        here, there = value.ravel()[number], value.ravel()[number + stride[axis]]
        crossing = node.astype(float)
        crossing[:, axis] += here / (here + there)
        quad = number[:, None] - np.array([0, stride[u], stride[u] + stride[v], stride[v]])
        is_out = inside.ravel()[number]  # the border faces along the axis
        # cells around the edge as seen from its end run clockwise from the one below both, so turn them for an exit
        quads.append(np.where(is_out[:, None], quad[:, ::-1], quad)[:, ::-1])
        crossings.append(crossing)
    quad, crossing = np.concatenate(quads), np.repeat(np.concatenate(crossings), 4, axis=0)
    _, corner = np.unique(quad, return_inverse=True)
    corner = corner.ravel()
    count = np.bincount(corner)
    place = np.stack([np.bincount(corner, crossing[:, axis]) / count for axis in range(3)], axis=1)
    q = corner.reshape(-1, 4)
    is_long = np.linalg.norm(place[q[:, 0]] - place[q[:, 2]], axis=1) > np.linalg.norm(
        place[q[:, 1]] - place[q[:, 3]], axis=1
    )
    q = np.where(is_long[:, None], np.roll(q, 1, axis=1), q)
    return place, np.ascontiguousarray(np.concatenate([q[:, [0, 1, 2]], q[:, [0, 2, 3]]]))


@lean_kernel
def close_checkerboards(inside, value):
    """Take a node in where in- and outside alternate on a face of a cell: four faces of the border would meet there.

    Returns how many were taken.
    """
    count = 0
    for axis in range(3):
        di, dj, dk = int(axis != 0), int(axis == 0), 0  # the two axes of the face
        ei, ej, ek = 0, int(axis == 2), int(axis != 2)
        for i in range(inside.shape[0] - di - ei):
            for j in range(inside.shape[1] - dj - ej):
                for k in range(inside.shape[2] - dk - ek):
                    a, c = inside[i, j, k], inside[i + di + ei, j + dj + ej, k + dk + ek]
                    b, d = inside[i + di, j + dj, k + dk], inside[i + ei, j + ej, k + ek]
                    if a != c or b != d or a == b:
                        continue
                    count += 1
                    if a:
                        if value[i + di, j + dj, k + dk] <= value[i + ei, j + ej, k + ek]:
                            inside[i + di, j + dj, k + dk] = True
                        else:
                            inside[i + ei, j + ej, k + ek] = True
                    elif value[i, j, k] <= value[i + di + ei, j + dj + ej, k + dk + ek]:
                        inside[i, j, k] = True
                    else:
                        inside[i + di + ei, j + dj + ej, k + dk + ek] = True
    return count


@kernel
def set_distances(x, triangles, reach, value):
    """Distance [cells] of each node from the triangles that are within `reach` of it."""
    p, low, high = np.empty((1, 3)), np.empty(3, np.int64), np.empty(3, np.int64)
    n, at = np.empty(3), np.empty(3, np.int64)
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        for axis in range(3):
            low[axis] = max(0, int(np.ceil(min(x[a, axis], x[b, axis], x[c, axis]) - reach)))
            top = max(x[a, axis], x[b, axis], x[c, axis]) + reach
            high[axis] = min(value.shape[axis] - 1, int(np.floor(top)))
        for axis in range(3):
            i, j = (axis + 1) % 3, (axis + 2) % 3
            n[axis] = (x[b, i] - x[a, i]) * (x[c, j] - x[a, j]) - (x[b, j] - x[a, j]) * (x[c, i] - x[a, i])
        length = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        k = 0 if abs(n[0]) >= abs(n[1]) and abs(n[0]) >= abs(n[2]) else (1 if abs(n[1]) >= abs(n[2]) else 2)
        i, j = (k + 1) % 3, (k + 2) % 3
        for u in range(low[i], high[i] + 1):
            for v in range(low[j], high[j] + 1):
                first, last = low[k], high[k]
                if length > 0.0:  # only nodes near the plane
                    middle = x[a, k] - (n[i] * (u - x[a, i]) + n[j] * (v - x[a, j])) / n[k]
                    half = reach * length / abs(n[k])
                    first, last = max(first, int(np.ceil(middle - half))), min(last, int(np.floor(middle + half)))
                for w in range(first, last + 1):
                    at[i], at[j], at[k] = u, v, w
                    p[0, i], p[0, j], p[0, k] = u, v, w
                    d = np.sqrt(closest_on_corners(p, 0, x, a, b, c)[6])
                    if d < value[at[0], at[1], at[2]]:
                        value[at[0], at[1], at[2]] = d
