"""Crossings of surfaces: edges that pierce triangles, from positions alone, as a check of what contact has to prevent.

Nothing is taken from the contact set. Signed volumes tell on which side of a plane a point lies and on which side of an
edge another edge passes; what is nearer to zero than rounding can tell counts as zero. An edge that touches a triangle
pierces it; one that lies in its plane does not, nor does anything pierce a triangle without area.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..array_types import BoolArray, FloatArray, IntArray
from ..jit import kernel, lean_kernel
from ..model import Model

LongArray = NDArray[np.int64]
Numbers = NDArray[np.integer[Any]]
#: Rounding of a difference of two coordinates, in units of the largest one: a few units in the last place.
ROUNDING = 16.0 * float(np.finfo(float).eps)
#: Pairs for which there is room at the start; it doubles.
START_ROOM = 64


class Surfaces(NamedTuple):
    """Triangles and edges of all bodies."""

    triangles: LongArray  # shape (triangle_count, 3)
    edges: LongArray  # shape (edge_count, 2)
    triangle_body: LongArray
    edge_body: LongArray
    given: BoolArray  # bodies that never are pairs with each other, as colliders
    own: BoolArray  # bodies whose edges may pierce their own triangles, where these share no vertex


class Rows(NamedTuple):
    """Triangles of one size, sorted in rows of a width along one axis, and within a row along another one."""

    triangle: LongArray  # their numbers
    low: FloatArray  # their boxes [m], shape (count, 3)
    high: FloatArray
    start: LongArray  # of each row, CSR
    across: int  # the axis on which rows follow each other
    along: int  # the axis in a row
    first: float  # where the first row begins [m]
    width: float  # of a row [m]


def crossing_pairs(
    positions: FloatArray,
    triangles: Numbers,
    edges: Numbers,
    triangle_body: Numbers,
    edge_body: Numbers,
    *,
    given: BoolArray | None = None,
    own: BoolArray | None = None,
) -> IntArray:
    """Every edge with every triangle that it pierces, shape (count, 2), sorted.

    `given`, `own`: see `Surfaces`; by default none and all.
    """
    bodies = 1 + int(max(triangle_body.max(initial=-1), edge_body.max(initial=-1)))
    x = np.ascontiguousarray(positions, dtype=float)
    given = np.zeros(bodies, bool) if given is None else np.array(given, bool)
    there = _meeting(x, (triangles, given[triangle_body]), (edges, given[edge_body]))
    near = _meeting(x, (edges, given[edge_body]), (triangles[there], given[triangle_body[there]]))
    surfaces = Surfaces(
        triangles=np.ascontiguousarray(triangles[there], np.int64),
        edges=np.ascontiguousarray(edges[near], np.int64),
        triangle_body=np.ascontiguousarray(triangle_body[there], np.int64),
        edge_body=np.ascontiguousarray(edge_body[near], np.int64),
        given=given,
        own=np.ones(bodies, bool) if own is None else np.array(own, bool),
    )
    corners, ends = x[surfaces.triangles], x[surfaces.edges]
    low, high = corners.min(axis=1), corners.max(axis=1)
    boxes = ends.min(axis=1), ends.max(axis=1)
    noise = ROUNDING * float(np.abs(x).max(initial=0.0))
    found = [np.zeros((0, 2), np.int64)]
    for group in _of_one_size(high - low):
        rows = _rows_of(group, low, high)
        pairs = np.empty((START_ROOM, 2), np.int64)
        while (count := pierced(x, surfaces, rows, *boxes, noise, pairs)) > len(pairs):
            pairs = np.empty((count, 2), np.int64)
        found.append(pairs[:count])
    edge, triangle = np.concatenate(found).T
    order = np.lexsort((triangle, edge))
    return np.stack([near[edge[order]], there[triangle[order]]], axis=1).astype(np.int32)


def _meeting(x: FloatArray, own: tuple[Numbers, BoolArray], other: tuple[Numbers, BoolArray]) -> LongArray:
    """Numbers of the triangles or edges whose boxes meet the box around all of the others; each with its points, and
    whether it is of a given body. What is given need not be near others that are.
    """
    points, is_given = own
    others, are_given = other
    if not is_given.any():
        return np.flatnonzero(_meets(x, points, others))
    found = _meets(x, points, others[~are_given])  # of a landscape, hardly any
    found[~is_given] = _meets(x, points[~is_given], others)
    return np.flatnonzero(found)


def _meets(x: FloatArray, points: Numbers, others: Numbers) -> BoolArray:
    """Which boxes meet the box around all of the others."""
    used = np.zeros(len(x), bool)
    used[others.ravel()] = True
    there = x[used]
    return meets_box(x, points, there.min(axis=0, initial=np.inf), there.max(axis=0, initial=-np.inf))


def meets_box(x: FloatArray, points: Numbers, low: FloatArray, high: FloatArray) -> BoolArray:
    """Which boxes around points of each triangle or edge meet a box.

    By outcodes (Cohen and Sutherland): a bit for each side of the box that a point lies beyond.
    """
    beyond = np.packbits(np.concatenate([x < low, x > high], axis=1), axis=1)[:, 0]
    return np.asarray(np.bitwise_and.reduce(beyond[points.T], axis=0) == 0)


def passes(x: FloatArray, ends: IntArray, corners: IntArray) -> FloatArray:
    """Parameter from 0 to 1 at which each edge passes its triangle, NaN where it does not.

    ends: shape (count, 2); corners: shape (count, 3). A point in the plane, to rounding, counts as in front: an edge
    that only touches from there does not pass, and one through a corner passes some triangle at it.
    """
    u, w, corner = x[ends[:, 0]], x[ends[:, 1]], np.moveaxis(x[corners], 1, 0)
    start, end = _volumes(u, *corner), _volumes(w, *corner)
    size = np.maximum(np.abs(x[ends] - x[corners[:, :1]]).max(axis=(1, 2)), np.ptp(corner, axis=0).max(axis=1))
    flat = -ROUNDING * np.abs(x).max(initial=0.0) * size**2
    turns = np.sign([_volumes(u, w, corner[k], corner[(k + 1) % 3]) for k in range(3)])
    inside = (turns.min(axis=0) >= 0.0) | (turns.max(axis=0) <= 0.0)
    passing = ((start < flat) != (end < flat)) & ((start < 0.0) != (end < 0.0)) & inside
    return np.divide(start, start - end, out=np.full(len(ends), np.nan), where=passing)


def _volumes(o: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Six times the volumes of tetrahedra [m^3]."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (a - o).T, (b - o).T, (c - o).T  # np.cross takes far longer
    return np.asarray(ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx))


def model_crossings(model: Model, positions: FloatArray) -> IntArray:
    """`crossing_pairs` of a model: not of colliders with each other, of a body with itself where it asks for that."""
    surfaces = model.surfaces
    return crossing_pairs(
        positions, surfaces.triangles, surfaces.edges, surfaces.triangle_body, surfaces.edge_body,
        given=np.arange(model.body_count) >= model.moving_count, own=model.self_collision,
    )  # fmt: skip


def crossings_by_bodies(model: Model, positions: FloatArray) -> dict[tuple[int, int], int]:
    """How often an edge of the first body pierces a triangle of the second one."""
    edge, triangle = model_crossings(model, positions).T
    pairs = np.stack([model.surfaces.edge_body[edge], model.surfaces.triangle_body[triangle]], axis=1)
    found, count = np.unique(pairs, axis=0, return_counts=True)
    return {(int(a), int(b)): int(number) for (a, b), number in zip(found, count, strict=True)}


def _of_one_size(extent: FloatArray) -> list[LongArray]:
    """Numbers of the triangles by the octave of their longest side: a sweep over all would be as wide as the widest."""
    octave = np.frexp(extent.max(axis=1, initial=0.0))[1]
    return [np.flatnonzero(octave == size) for size in np.unique(octave)]


def _rows_of(group: LongArray, low: FloatArray, high: FloatArray) -> Rows:
    """Rows across the axis on which the triangles are spread the most, each in ascending order along another one."""
    across, along = (int(axis) for axis in np.argsort(np.ptp(low[group], axis=0))[1:])
    spread = float(np.ptp(low[group, across]))
    width = 1.001 * max(float((high - low)[group, across].max()), 1e-3 * spread, 1e-300)
    first = float(low[group, across].min())
    row = ((low[group, across] - first) / width).astype(np.int64)
    order = np.lexsort((low[group, along], row))
    group, row = group[order], row[order]
    start = np.searchsorted(row, np.arange(row[-1] + 2))
    return Rows(group.astype(np.int64), low[group], high[group], start, across, along, first, width)


@kernel
def pierced(x, surfaces, rows, edge_low, edge_high, noise, pairs):
    """Write the edges and the triangles of `rows` that they pierce; how many there are, also if there is no room."""
    triangles, edges = surfaces.triangles, surfaces.edges
    across, along = rows.across, rows.along
    count, longest = 0, 0.0
    for t in range(rows.triangle.shape[0]):
        longest = max(longest, rows.high[t, along] - rows.low[t, along])
    last = rows.start.shape[0] - 1
    for e in range(edges.shape[0]):
        a, b, body = edges[e, 0], edges[e, 1], surfaces.edge_body[e]
        # a box of the row before may reach into this one
        lowest = max(np.floor((edge_low[e, across] - rows.first) / rows.width) - 1.0, 0.0)
        highest = min(np.floor((edge_high[e, across] - rows.first) / rows.width), last - 1.0)
        for row in range(int(min(lowest, last)), int(max(highest, -1.0)) + 1):
            begin, end = rows.start[row], rows.start[row + 1]
            place, beyond = begin, end  # by halves: numpy's search would take ten kernels
            while place < beyond:
                half = (place + beyond) // 2
                if rows.low[half, along] < edge_low[e, along] - longest:
                    place = half + 1
                else:
                    beyond = half
            while place < end and rows.low[place, along] <= edge_high[e, along]:
                near = True
                for axis in range(3):
                    near &= rows.high[place, axis] >= edge_low[e, axis] and rows.low[place, axis] <= edge_high[e, axis]
                t = rows.triangle[place]
                place += 1
                other = surfaces.triangle_body[t]
                if not near or (surfaces.given[body] and surfaces.given[other]):
                    continue
                if body == other and not surfaces.own[body]:
                    continue
                i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                if a in (i, j, k) or b in (i, j, k) or not pierces(x, a, b, i, j, k, noise):
                    continue
                if count < pairs.shape[0]:
                    pairs[count, 0], pairs[count, 1] = e, t
                count += 1
    return count


@lean_kernel
def pierces(x, a, b, i, j, k, noise):
    """Whether the segment ab meets the triangle ijk and does not lie in its plane."""
    u, w = side_of(x, i, j), side_of(x, i, k)
    flat = noise * length_of(u) * length_of(w)
    first, second = volume_of(side_of(x, i, a), u, w), volume_of(side_of(x, i, b), u, w)
    if (first > flat) == (second > flat) and (first < -flat) == (second < -flat):
        return False
    # Where the line meets the plane; of an edge that is almost in it the signs of lines about lines tell nothing.
    share = min(max(first / (first - second), 0.0), 1.0)
    p, way = side_of(x, i, a), side_of(x, a, b)
    there = (p[0] + share * way[0], p[1] + share * way[1], p[2] + share * way[2])
    return holds_point(u, w, there, noise)


@lean_kernel
def holds_point(u, w, p, noise):
    """Whether a triangle holds a point p, which lies in its plane; all from its first corner, u and w to the others."""
    normal, third = cross(u, w), (w[0] - u[0], w[1] - u[1], w[2] - u[2])
    from_u, flat = (p[0] - u[0], p[1] - u[1], p[2] - u[2]), noise * length_of(normal)
    return (
        volume_of(normal, u, p) >= -flat * max(length_of(u), length_of(p))
        and volume_of(normal, third, from_u) >= -flat * max(length_of(third), length_of(from_u))
        and volume_of(normal, p, w) >= -flat * max(length_of(w), length_of(p))
    )


@lean_kernel
def side_of(x, a, b):
    """From point a to point b."""
    return x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]


@lean_kernel
def cross(p, q):
    """p x q."""
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]


@lean_kernel
def volume_of(p, q, r):
    """Six times the volume that three sides span, positive where they turn right-handed."""
    n = cross(q, r)
    return p[0] * n[0] + p[1] * n[1] + p[2] * n[2]


@lean_kernel
def length_of(p):
    """|p|."""
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
