"""Cells of a flat truss: squares that fill an outline, snapped to it, with both diagonals (Kurmaly & Wu 2021).

As in `bodies.lattice.cells`, one dimension less: the grid is laid along the main directions of the sides, into the box
around the outline, so that a rectangle is filled exactly. Cells are kept whose centre is inside, and those of parts too
thin for that, so that all are one piece joined by sides. The outer vertices are moved to the nearest points of the
outline, as far as each corner of a cell keeps the share `LEAST_VOLUME` of its area, and the inner ones make room.

Springs: a spring of the constant k along the unit vector d, L long, resists a strain e with k L^2 (d'e d)^2 / 2. A
sheet in plane stress of the modulus E whose springs are alone (Cauchy's relation, C_1122 = C_1212) has Poisson's ratio
1/3 and C_1111 = 3 mu, C_1122 = mu with mu = 3/8 E. Cells of a x b, D deep, meet that where

    each diagonal   k = mu D (a^2 + b^2) / (2 a b)            (two; both copies together)
    edges along a   k = mu D (3 - a^2 / b^2) b / a / 2        of each cell; two cells share an inner edge

so a straight bar of any number of cells, h wide and L long, has the stiffness E h D / L.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...errors import ParameterError
from ...jit import kernel
from ...topology import grouped
from ..lattice.cells import (
    CELL_LIMIT,
    HALVINGS,
    LEAST_VOLUME,
    RAY_OFFSET,
    SWEEPS,
    grid_counts,
)
from ..lattice.thin_parts import SPACING, fill_thin
from .outline import boundary

#: mu of the springs over Young's modulus.
MU_SHARE = 3.0 / 8.0
#: Least constant of an edge in units of mu D: cells may be too long for any.
LEAST_EDGE = 0.01
#: Corners of a cell, counter-clockwise.
CORNERS = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])


class FlatCells(NamedTuple):
    """The cells of one flat truss, in the coordinates of its plane."""

    points: FloatArray  # [m], shape (vertex_count, 2)
    corners: IntArray  # vertices of each cell, counter-clockwise, shape (cell_count, 4)
    sides: IntArray  # border, the inside on the left, shape (side_count, 2)
    place: IntArray  # of each cell in the grid, shape (cell_count, 2)
    origin: FloatArray  # lowest corner of the grid [m], shape (2,)
    size: FloatArray  # of a cell before snapping [m], shape (2,)


def fill_flat(name: str, outline: FloatArray, cell_size: float) -> FlatCells:
    """Cells of about `cell_size` [m] that fill an outline [m], counter-clockwise, shape (corner_count, 2)."""
    low, extent = outline.min(axis=0), np.ptp(outline, axis=0)
    if cell_size > 1.0001 * extent.min():
        raise ParameterError(
            f"{name}: cell size {cell_size:g} m, but the outline is only {extent.min():.3g} m wide. "
            f"Give at most {extent.min():.3g} m."
        )
    count = np.maximum(1, extent / cell_size)
    if count.prod() > CELL_LIMIT:
        enough = cell_size * np.sqrt(count.prod() / CELL_LIMIT)
        raise ParameterError(
            f"{name}: cell size {cell_size:g} m makes {count.prod():.0f} cells, more than {CELL_LIMIT}. "
            f"Give at least {1.1 * enough:.2g} m."
        )
    count = grid_counts(extent, cell_size)
    size = extent / count
    middle = np.indices(tuple(count)).reshape(2, -1).T + 0.5 + np.array(RAY_OFFSET)
    kept = inside(outline, low + middle * size).reshape((*count, 1))
    if kept.any():
        spots = (_outline_samples(outline, SPACING * float(size.min())) - low) / size
        fill_thin(kept, np.column_stack([spots, np.full(len(spots), 0.5)]), np.zeros(len(spots), int))
    place = np.argwhere(kept[:, :, 0]).astype(np.int32)
    if len(place) == 0:
        raise ParameterError(
            f"{name}: cell size {cell_size:g} m; no cell fits into the outline. Give about {cell_size / 3:.2g} m."
        )
    spots = place[:, None, :] + CORNERS
    used, corners = np.unique(spots[:, :, 0] * (count[1] + 1) + spots[:, :, 1], return_inverse=True)
    points = low + np.stack([used // (count[1] + 1), used % (count[1] + 1)], axis=1) * size
    corners = corners.reshape(-1, 4).astype(np.int32)
    sides = boundary(corners)
    target = np.full(points.shape, np.nan)
    outer = np.unique(sides)
    target[outer] = nearest_on_outline(outline, points[outer])[0]
    start, entry = grouped(corners.ravel(), len(points))
    snap_corners(
        points, target, corners, start, entry, LEAST_VOLUME * float(size.prod()), SWEEPS, 1e-6 * float(size.min())
    )
    return FlatCells(points, corners, sides, place, low, size)


def inside(outline: FloatArray, p: FloatArray) -> BoolArray:
    """Whether points are inside an outline: a ray to the right crosses it an odd number of times."""
    odd = np.zeros(len(p), bool)
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if a[1] == b[1]:
            continue
        rows = np.flatnonzero((p[:, 1] > min(a[1], b[1])) & (p[:, 1] <= max(a[1], b[1])))
        cut = a[0] + (p[rows, 1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
        odd[rows] ^= p[rows, 0] < cut
    return odd


def nearest_on_outline(outline: FloatArray, p: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Nearest points of an outline to p, the sides they lie on, and how far along these, 0 to 1."""
    d = np.roll(outline, -1, axis=0) - outline
    length2 = np.einsum("ij,ij->i", d, d)
    found, side, share = np.empty_like(p), np.empty(len(p), np.int32), np.empty(len(p))
    for i, spot in enumerate(p):
        t = np.clip(np.einsum("ij,ij->i", spot - outline, d) / length2, 0.0, 1.0)
        near = outline + t[:, None] * d
        best = int(np.argmin(((near - spot) ** 2).sum(axis=1)))
        found[i], side[i], share[i] = near[best], best, t[best]
    return found, side, share


def _outline_samples(outline: FloatArray, spacing: float) -> FloatArray:
    """Points of an outline [m], nearer to each other than `spacing`."""
    d = np.roll(outline, -1, axis=0) - outline
    count = np.maximum(np.ceil(np.linalg.norm(d, axis=1) / spacing), 1).astype(int)
    side = np.repeat(np.arange(len(outline)), count)
    along = (np.arange(len(side)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[side]
    return outline[side] + along[:, None] * d[side]


def cell_springs(cells: FlatCells, modulus: float, depth: float) -> tuple[IntArray, FloatArray]:
    """Springs of both copies together: pairs of vertices and constants [N/m]; see the top of the file."""
    a, b = cells.size
    mu = MU_SHARE * modulus
    p = cells.points[cells.corners]
    area = cell_areas(cells)
    pairs = [(0, 1), (3, 2), (1, 2), (0, 3), (0, 2), (1, 3)]
    # k L^2 over area and depth
    along_a, along_b = max(3.0 - a * a / b**2, 2.0 * LEAST_EDGE), max(3.0 - b * b / a**2, 2.0 * LEAST_EDGE)
    across = (a * a + b * b) ** 2 / (2.0 * a * a * b * b)
    strength = mu * depth * np.array([0.5 * along_a, 0.5 * along_a, 0.5 * along_b, 0.5 * along_b, across, across])
    ends = np.sort(np.concatenate([cells.corners[:, pair] for pair in pairs]), axis=1).astype(np.int64)
    length2 = np.concatenate([((p[:, i] - p[:, j]) ** 2).sum(axis=1) for i, j in pairs])
    constant = np.repeat(strength, len(area)) * np.tile(area, len(pairs)) / length2
    key, entry = np.unique(ends[:, 0] * len(cells.points) + ends[:, 1], return_inverse=True)
    found = np.stack([key // len(cells.points), key % len(cells.points)], axis=1).astype(np.int32)
    return found, np.asarray(np.bincount(entry.ravel(), constant, len(key)), dtype=float)


def cell_areas(cells: FlatCells) -> FloatArray:
    """Areas of the cells [m^2]."""
    p = cells.points[cells.corners]
    d, e = p[:, 2] - p[:, 0], p[:, 3] - p[:, 1]
    areas: FloatArray = 0.5 * (d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0])
    return areas


def follow_cells(cells: FlatCells, p: FloatArray) -> tuple[IntArray, FloatArray]:
    """Three vertices that each point p follows, and their weights: of the triangle it is least outside of.

    Both of shape (n, 3); the triangles are halves of the cells.
    """
    triangles = cells.corners[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    o = cells.points[triangles[:, 0]]
    u, v = cells.points[triangles[:, 1]] - o, cells.points[triangles[:, 2]] - o
    area2 = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    points, weights = np.empty((len(p), 3), np.int32), np.empty((len(p), 3))
    for i, spot in enumerate(p):
        d = spot - o
        s = (d[:, 0] * v[:, 1] - d[:, 1] * v[:, 0]) / area2
        t = (u[:, 0] * d[:, 1] - u[:, 1] * d[:, 0]) / area2
        best = int(np.argmax(np.minimum(np.minimum(s, t), 1.0 - s - t)))
        points[i], weights[i] = triangles[best], (1.0 - s[best] - t[best], s[best], t[best])
    return points, weights


@kernel
def snap_corners(x, target, corners, start, entry, least, sweeps, slight):
    """Move each vertex towards its target, or to the middle of its neighbours where that is NaN, in place.

    One after the other, in sweeps; a move is halved until every corner of the cells at the vertex spans at least the
    area `least` [m^2]. Moves below `slight` [m] are not made. `start`, `entry`: the cells' corners at each vertex.
    """
    for _ in range(sweeps):
        for v in range(x.shape[0]):
            first, last = start[v], start[v + 1]
            ox, oy = x[v, 0], x[v, 1]
            if np.isnan(target[v, 0]):
                mx = my = 0.0
                for q in range(first, last):
                    cell, slot = entry[q] // 4, entry[q] % 4
                    for k in (1, 3):
                        other = corners[cell, (slot + k) % 4]
                        mx, my = mx + x[other, 0] - ox, my + x[other, 1] - oy
                mx, my = mx / (2.0 * (last - first)), my / (2.0 * (last - first))
            else:
                mx, my = target[v, 0] - ox, target[v, 1] - oy
            if mx * mx + my * my < slight * slight:
                continue
            share = 1.0
            for _ in range(HALVINGS):
                x[v, 0], x[v, 1] = ox + share * mx, oy + share * my
                if smallest_corner(x, corners, entry, first, last) >= least:
                    break
                x[v, 0], x[v, 1] = ox, oy
                share *= 0.5


@kernel
def smallest_corner(x, corners, entry, first, last):
    """Least area [m^2] that the sides of a corner span, of the cells at a vertex."""
    smallest = np.inf
    for q in range(first, last):
        cell = entry[q] // 4
        for k in range(4):
            a, o, b = corners[cell, (k + 3) % 4], corners[cell, k], corners[cell, (k + 1) % 4]
            ux, uy = x[b, 0] - x[o, 0], x[b, 1] - x[o, 1]
            wx, wy = x[a, 0] - x[o, 0], x[a, 1] - x[o, 1]
            smallest = min(smallest, ux * wy - uy * wx)
    return smallest
