"""Crossings of surfaces: edges that pierce triangles, from positions alone.

Nothing is taken from the core but the numbers of points. Signed volumes tell on which side of a plane a point lies and
on which side of an edge another edge passes; what is nearer to zero than rounding can tell counts as zero. An edge that
touches a triangle pierces it; one that lies in its plane does not, nor does anything pierce a triangle without area.
"""

from collections import Counter

import numpy as np
from contact_reference import inside
from numba import njit
from numpy.typing import NDArray
from softpressure_ext.core import World
from softpressure_ext.core.model import Model

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]

#: Rounding of a difference of two coordinates, in units of the largest one: a few units in the last place.
ROUNDING = 16.0 * np.finfo(float).eps


def crossing_pairs(
    positions: FloatArray,
    triangles: IntArray,
    edges: IntArray,
    triangle_body: IntArray,
    edge_body: IntArray,
    *,
    given: BoolArray | None = None,
    own: BoolArray | None = None,
) -> IntArray:
    """Every edge with every triangle that it pierces, shape (count, 2), sorted.

    `given`: bodies that never are pairs with each other, as colliders; `own`: bodies whose edges may pierce their own
    triangles, where these share no vertex; by default none and all.
    """
    bodies = 1 + int(max(triangle_body.max(initial=-1), edge_body.max(initial=-1)))
    given = np.zeros(bodies, bool) if given is None else np.asarray(given)
    own = np.ones(bodies, bool) if own is None else np.asarray(own)
    x = np.ascontiguousarray(positions, dtype=float)
    triangles, edges = (np.ascontiguousarray(part, np.int64) for part in (triangles, edges))
    triangle_body, edge_body = (np.ascontiguousarray(part, np.int64) for part in (triangle_body, edge_body))
    corners, ends = x[triangles], x[edges]
    low, high = corners.min(axis=1), corners.max(axis=1)
    edge_low, edge_high = ends.min(axis=1), ends.max(axis=1)
    noise = ROUNDING * float(np.abs(x).max(initial=0.0))
    found = [np.zeros((0, 2), np.int64)]
    for group in _of_one_size(high - low):
        # rows across the axis on which they are spread the most, each in ascending order along it
        across, along = np.argsort(np.ptp(low[group], axis=0))[1:]
        wide = 1.001 * max(float((high - low)[group, across].max()), 1e-3 * float(np.ptp(low[group, across])), 1e-300)
        first = float(low[group, across].min())
        row = ((low[group, across] - first) / wide).astype(np.int64)
        order = np.lexsort((low[group, along], row))
        group, row = group[order], row[order]
        starts = np.searchsorted(row, np.arange(row[-1] + 2))
        found.append(_pierced(
            x, triangles, edges, triangle_body, edge_body, given, own, low[group], high[group], edge_low, edge_high,
            group, starts, along, across, first, wide, noise,
        ))  # fmt: skip
    pairs = np.concatenate(found)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].astype(np.int32)


def model_crossings(model: Model, positions: FloatArray) -> IntArray:
    """`crossing_pairs` of a model: not of colliders with each other, of a body with itself where it asks for that."""
    surfaces = model.surfaces
    return crossing_pairs(
        positions, surfaces.triangles, surfaces.edges, surfaces.triangle_body, surfaces.edge_body,
        given=np.arange(model.body_count) >= model.moving_count, own=model.self_collision,
    )  # fmt: skip


def world_crossings(world: World) -> int:
    """How often an edge pierces a triangle now."""
    return len(model_crossings(world.model, world.save().positions))


def crossings_by_bodies(world: World) -> dict[tuple[str, str], int]:
    """How often an edge of the first body pierces a triangle of the second one now."""
    model = world.model
    edge, triangle = model_crossings(model, world.save().positions).T
    pairs = zip(model.surfaces.edge_body[edge].tolist(), model.surfaces.triangle_body[triangle].tolist(), strict=True)
    return dict(Counter((model.body_names[a], model.body_names[b]) for a, b in pairs))


def swallowed_bodies(world: World) -> list[tuple[str, str]]:
    """Bodies that lie inside another one, both by name: what has passed through whole crosses nothing any more.

    One point of each is asked, so this tells all only where nothing crosses. A surface with a border holds nothing.
    """
    model, x = world.model, world.save().positions
    start, triangles = model.surfaces.body_triangle_start, model.surfaces.triangles
    shapes = [triangles[start[body] : start[body + 1]] for body in range(model.body_count)]
    closed = [
        bool((model.surfaces.triangle_neighbour[a:b] >= 0).all()) for a, b in zip(start[:-1], start[1:], strict=True)
    ]
    found = []
    for body, shape in enumerate(shapes):
        point = x[shape[:1, 0]]
        for other, around in enumerate(shapes):
            if body == other or not closed[other] or min(body, other) >= model.moving_count:
                continue
            corners = x[around.ravel()]
            if ((point > corners.min(axis=0)) & (point < corners.max(axis=0))).all() and inside(point, x, around)[0]:
                found.append((model.body_names[body], model.body_names[other]))
    return found


def assert_nothing_crosses(world: World) -> None:
    """No edge pierces a triangle, no body has got into another one whole, and all positions are finite."""
    assert np.isfinite(world.save().positions).all(), f"frame {world.frame}: positions are not finite"
    crossings = crossings_by_bodies(world)
    assert not crossings, f"frame {world.frame}, edges of the first that pierce the second: {crossings}"
    swallowed = swallowed_bodies(world)
    assert not swallowed, f"frame {world.frame}, the first inside the second: {swallowed}"


def _of_one_size(extent: FloatArray) -> list[NDArray[np.int64]]:
    """Numbers of the triangles by the octave of their longest side: a sweep over all would be as wide as the widest."""
    longest = extent.max(axis=1, initial=0.0)
    octave = np.frexp(longest)[1]
    return [np.flatnonzero(octave == size) for size in np.unique(octave)]


@njit(cache=True)
def _pierced(
    x, triangles, edges, triangle_body, edge_body, given, own, low, high, edge_low, edge_high, group, starts, along,
    across, first, wide, noise,
):  # fmt: skip
    """Pairs of edges and triangles of a group, which lies in rows of a width, the first from `first` on.

    `starts`: where each row begins; `low`, `high`: boxes in this order, ascending along an axis within a row.
    """
    found, count = np.empty((64, 2), np.int64), 0
    rows = starts.shape[0] - 1
    longest = 0.0
    for t in range(group.shape[0]):
        longest = max(longest, high[t, along] - low[t, along])
    for e in range(edges.shape[0]):
        a, b, body = edges[e, 0], edges[e, 1], edge_body[e]
        # a box of the row before may reach into this one
        lowest = max(np.floor((edge_low[e, across] - first) / wide) - 1.0, 0.0)
        highest = min(np.floor((edge_high[e, across] - first) / wide), rows - 1.0)
        for row in range(int(min(lowest, rows)), int(max(highest, -1.0)) + 1):
            begin, end = starts[row], starts[row + 1]
            place = begin + np.searchsorted(low[begin:end, along], edge_low[e, along] - longest)
            while place < end and low[place, along] <= edge_high[e, along]:
                near = (
                    high[place, 0] >= edge_low[e, 0] and low[place, 0] <= edge_high[e, 0]
                    and high[place, 1] >= edge_low[e, 1] and low[place, 1] <= edge_high[e, 1]
                    and high[place, 2] >= edge_low[e, 2] and low[place, 2] <= edge_high[e, 2]
                )  # fmt: skip
                t = group[place]
                place += 1
                other = triangle_body[t]
                if not near or (given[body] and given[other]) or (body == other and not own[body]):
                    continue
                i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                if a in (i, j, k) or b in (i, j, k) or not _pierces(x, a, b, i, j, k, noise):
                    continue
                if count == found.shape[0]:
                    longer = np.empty((2 * count, 2), np.int64)
                    longer[:count] = found
                    found = longer
                found[count, 0], found[count, 1] = e, t
                count += 1
    return found[:count]


@njit(cache=True)
def _pierces(x, a, b, i, j, k, noise):
    """Whether the segment ab meets the triangle ijk and does not lie in its plane."""
    u, w = _side(x, i, j), _side(x, i, k)
    flat = noise * _length(u) * _length(w)
    first, second = _volume(_side(x, i, a), u, w), _volume(_side(x, i, b), u, w)
    if _sign(first, flat) == _sign(second, flat):
        return False
    if _sign(first, flat) == 0 or _sign(second, flat) == 0:  # an end lies in the plane, and the line might, almost
        return _holds(x, i, j, k, a if _sign(first, flat) == 0 else b, noise)
    # the line passes all three sides of the triangle the same way round
    along, p, q, r = _side(x, a, b), _side(x, a, i), _side(x, a, j), _side(x, a, k)
    size = max(_length(p), _length(q), _length(r), _length(along))
    flat = noise * size * size
    s, t, v = _sign(_volume(along, p, q), flat), _sign(_volume(along, q, r), flat), _sign(_volume(along, r, p), flat)
    return (min(s, t, v) >= 0) != (max(s, t, v) <= 0)


@njit(cache=True)
def _holds(x, i, j, k, a, noise):
    """Whether the triangle ijk holds the point a, which lies in its plane."""
    normal = _cross(_side(x, i, j), _side(x, i, k))
    for p, q in ((i, j), (j, k), (k, i)):
        side, way = _side(x, p, q), _side(x, p, a)
        if _volume(normal, side, way) < -noise * _length(normal) * max(_length(side), _length(way)):
            return False
    return True


@njit(cache=True)
def _side(x, a, b):
    """From point a to point b."""
    return x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]


@njit(cache=True)
def _cross(p, q):
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]


@njit(cache=True)
def _volume(p, q, r):
    """Six times the volume that three sides span, positive where they turn right-handed."""
    n = _cross(q, r)
    return p[0] * n[0] + p[1] * n[1] + p[2] * n[2]


@njit(cache=True)
def _length(p):
    return np.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])


@njit(cache=True)
def _sign(value, flat):
    """-1, 0 or 1; 0 within `flat` of 0."""
    if value > flat:
        return 1
    return -1 if value < -flat else 0
