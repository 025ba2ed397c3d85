"""Rays through a grid of triangles: how thick the body is, and where an edge is sharp at the scale of the mesh."""

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray
from ..jit import kernel, lean_kernel
from .surface import Numbers

#: Rays start this share of their length off the surface.
LIFT = 1e-5
#: Tilted rays: cosine and sine of 26 degrees.
TILT = (0.9, 0.436)
#: A surface goes on flat beside an edge where it stays within this share of the reach.
FLAT = 0.4
#: Cells per side of the grid, at most.
MOST_CELLS = 100


class Grid(NamedTuple):
    """Triangles by the cells of a grid that they pass."""

    x: FloatArray  # positions, shape (vertex_count, 3)
    triangles: Numbers
    low: FloatArray  # corner of the grid, shape (3,)
    size: FloatArray  # of a cell, shape (1,)
    shape: Numbers  # cells along each axis, shape (3,)
    start: Numbers  # triangles of each cell, as compressed lists
    entry: Numbers


def grid_of(x: FloatArray, triangles: Numbers, size: float) -> Grid:
    """A grid with cells of at least this size."""
    size = max(size, float(np.ptp(x, axis=0).max()) / MOST_CELLS)
    low = x.min(axis=0) - 1e-3 * size
    shape = (np.ptp(x, axis=0) / size).astype(np.int64) + 2
    count = np.zeros(int(np.prod(shape)), np.int64)
    empty = Grid(x, triangles, low, np.array([size]), shape, count, np.zeros(0, np.int64))
    fill_cells(empty)
    start = np.concatenate([[0], np.cumsum(count)])
    grid = empty._replace(start=start[:-1].copy(), entry=np.zeros(int(start[-1]), np.int64))
    fill_cells(grid)
    return grid._replace(start=start)


@lean_kernel
def fill_cells(grid):
    """Add each triangle to the cells that its box and its plane touch; `start` counts them, or moves past them."""
    x, size = grid.x, grid.size[0]
    for t in range(grid.triangles.shape[0]):
        a, b, c = grid.triangles[t, 0], grid.triangles[t, 1], grid.triangles[t, 2]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        within = 0.87 * size * np.sqrt(nx * nx + ny * ny + nz * nz)  # half the diagonal of a cell
        for i in range(first_cell(grid, a, b, c, 0), last_cell(grid, a, b, c, 0) + 1):
            dx = nx * (grid.low[0] + (i + 0.5) * size - x[a, 0])
            for j in range(first_cell(grid, a, b, c, 1), last_cell(grid, a, b, c, 1) + 1):
                dy = ny * (grid.low[1] + (j + 0.5) * size - x[a, 1])
                for k in range(first_cell(grid, a, b, c, 2), last_cell(grid, a, b, c, 2) + 1):
                    dz = nz * (grid.low[2] + (k + 0.5) * size - x[a, 2])
                    if abs(dx + dy + dz) <= within:
                        cell = (i * grid.shape[1] + j) * grid.shape[2] + k
                        if grid.entry.shape[0] > 0:
                            grid.entry[grid.start[cell]] = t
                        grid.start[cell] += 1


@lean_kernel
def first_cell(grid, a, b, c, axis):
    """Lowest cell of a triangle along an axis."""
    return int((min(grid.x[a, axis], grid.x[b, axis], grid.x[c, axis]) - grid.low[axis]) / grid.size[0])


@lean_kernel
def last_cell(grid, a, b, c, axis):
    """Highest cell of a triangle along an axis."""
    return int((max(grid.x[a, axis], grid.x[b, axis], grid.x[c, axis]) - grid.low[axis]) / grid.size[0])


@kernel
def ray_length(grid, origin, direction, far):
    """Distance along a ray to the first triangle, at most `far` (Amanatides and Woo 1987)."""
    at, step = np.empty(3, np.int64), np.empty(3, np.int64)
    border, width = np.empty(3), np.empty(3)
    size = grid.size[0]
    for axis in range(3):
        at[axis] = int(np.floor((origin[axis] - grid.low[axis]) / size))
        if at[axis] < 0 or at[axis] >= grid.shape[axis]:
            return far
        step[axis] = 1 if direction[axis] > 0.0 else -1
        slope = max(abs(direction[axis]), 1e-12)
        edge = grid.low[axis] + (at[axis] + (1 if direction[axis] > 0.0 else 0)) * size
        border[axis], width[axis] = abs(edge - origin[axis]) / slope, size / slope
    best = far
    while True:
        cell = (at[0] * grid.shape[1] + at[1]) * grid.shape[2] + at[2]
        for i in range(grid.start[cell], grid.start[cell + 1]):
            best = min(best, to_triangle(grid, grid.entry[i], origin, direction, best))
        axis = 0 if border[0] <= border[1] and border[0] <= border[2] else (1 if border[1] <= border[2] else 2)
        if border[axis] > best:
            return best
        at[axis] += step[axis]
        border[axis] += width[axis]
        if at[axis] < 0 or at[axis] >= grid.shape[axis]:
            return best


@lean_kernel
def to_triangle(grid, t, o, d, far):
    """Distance along a ray to a triangle, `far` if it misses (Moeller and Trumbore 1997)."""
    x, a, b, c = grid.x, grid.triangles[t, 0], grid.triangles[t, 1], grid.triangles[t, 2]
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    px, py, pz = d[1] * vz - d[2] * vy, d[2] * vx - d[0] * vz, d[0] * vy - d[1] * vx
    det = ux * px + uy * py + uz * pz
    if abs(det) < 1e-18:
        return far
    sx, sy, sz = o[0] - x[a, 0], o[1] - x[a, 1], o[2] - x[a, 2]
    u = (sx * px + sy * py + sz * pz) / det
    if u < 0.0 or u > 1.0:
        return far
    qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
    v = (d[0] * qx + d[1] * qy + d[2] * qz) / det
    if v < 0.0 or u + v > 1.0:
        return far
    length = (vx * qx + vy * qy + vz * qz) / det
    return length if length > 1e-9 else far


@kernel
def set_thickness(grid, points, normals, stride, with_gaps, far, thickness):
    """Thickness of the body at each point, or, `with_gaps`, of the gap outside where that is less, at most `far`.

    Five rays inwards, four of them tilted, and one outwards, for every `stride`-th point; the next ones get the same.
    """
    e, b, origin, d = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(0, points.shape[0], stride):
        n = normals[i]
        e[:] = 0.0
        e[0 if abs(n[0]) < 0.6 else 1] = 1.0
        along = e[0] * n[0] + e[1] * n[1] + e[2] * n[2]
        e -= along * n
        e /= np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
        b[0], b[1], b[2] = n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2], n[0] * e[1] - n[1] * e[0]
        origin[:] = points[i] + LIFT * far * n
        d[:] = n
        best = ray_length(grid, origin, d, far) if with_gaps else far
        origin[:] = points[i] - LIFT * far * n
        for turn in range(5):
            straight, across = (1.0, 0.0) if turn == 0 else TILT
            angle = 0.5 * np.pi * turn
            d[:] = -straight * n + across * (np.cos(angle) * e + np.sin(angle) * b)
            best = min(best, straight * ray_length(grid, origin, d, far))
        for j in range(i, min(i + stride, points.shape[0])):
            thickness[j] = best


@kernel
def set_flat_beside(grid, twin, normals, edges, reach, flat):
    """Of each sharp edge: whether the surface goes on flat on both sides as far as `reach`."""
    x, f = grid.x, grid.triangles
    t, origin = np.empty(3), np.empty(3)
    for i in range(edges.shape[0]):
        flat[i] = True
        for side in range(2):
            h = edges[i] if side == 0 else twin[edges[i]]
            a, b, n = x[f[h // 3, h % 3]], x[f[h // 3, (h + 1) % 3]], normals[h // 3]
            d = b - a
            t[0], t[1], t[2] = n[1] * d[2] - n[2] * d[1], n[2] * d[0] - n[0] * d[2], n[0] * d[1] - n[1] * d[0]
            t /= max(np.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]), 1e-30)
            origin[:] = 0.5 * (a + b) + reach * t - 0.5 * FLAT * reach * n
            if ray_length(grid, origin, n, reach) > FLAT * reach:
                flat[i] = False
