"""Finds the vertices on the wrong side where bodies intersect at the start.

Two surfaces intersect if and only if an edge of one passes through a triangle of the other. Cutting those edges
divides a body's edge graph into parts; the triangles' normals at the cuts give the side of each part.

* Membrane: the part inside it is on the wrong side.
* Closed collider: likewise, unless nearly the whole body is inside: then the collider is a container.
* Open collider (a floor, a wall): the smaller part is on the wrong side.

A body wholly inside another intersects nothing, so a ball in a balloon or in a room stays there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...model import Model
from ...topology import face_vectors
from ...union_find import islands_of
from ..crossings import crossing_pairs, passes

#: Fraction of a body's vertices inside a closed collider above which it is a container [1].
CONTAINER_SHARE = 0.75
#: Distance from its plane at which a flat body's edges are tested, as a fraction of half its depth [1]: more than
#: rounding.
NEAR_PLANE = 1e-3
#: Share of the parts of a sum below which it is rounding.
ROUNDED = 1e-9
NO_BODIES: IntArray = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class Overlaps:
    """Points on the wrong side, and triangles that cross."""

    pairs: IntArray  # (point, body behind whose surface it is), shape (pair_count, 2)
    facing: NDArray[np.int8]  # +1: the right side is where the body's normals point to, else -1, (pair_count,)
    crossing_triangles: IntArray  # ascending, shape (crossing_triangle_count,)
    bodies: IntArray  # of each crossing edge and triangle, once, shape (crossing_pair_count, 2)
    counts: tuple[int, ...]  # of triangles that cross, of both bodies in each row of `bodies`

    def edges_alone(self, owner: IntArray) -> list[tuple[int, int]]:
        """Pairs of bodies of which edges cross, but no point is on the wrong side; `owner`: body of each point."""
        listed = np.sort(np.stack([owner[self.pairs[:, 0]], self.pairs[:, 1]], axis=1), axis=1)
        crossing = np.unique(np.sort(self.bodies, axis=1), axis=0)
        known = set(map(tuple, listed.tolist()))
        return [(a, b) for a, b in crossing.tolist() if a != b and (a, b) not in known]

    def with_colliders(self, model: Model) -> IntArray:
        """Rows of `State.wrong_side` of rigid bodies that cross colliders: points behind a surface, and edges alone."""
        first, given = model.membrane_count, model.moving_count
        sides = np.stack([model.point_body[self.pairs[:, 0]], self.pairs[:, 1]], axis=1)
        kept = (sides.min(axis=1) >= first) & (sides.max(axis=1) >= given)
        rows = np.column_stack([self.pairs, self.facing])[kept]
        rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        alone = [(a, b) for a, b in self.edges_alone(model.point_body) if a >= first and b >= given]
        return np.concatenate([rows, edge_rows(model, alone)]).astype(np.int32)

    @property
    def crossing_triangle_count(self) -> int:
        """Number of triangles, of all bodies, that cross another body's surface or their own."""
        return int(self.crossing_triangles.shape[0])


def find_overlaps(model: Model, x: FloatArray, own: IntArray = NO_BODIES) -> Overlaps:
    """Find the points on the wrong side of another body's surface at positions x [m], shape (point_count, 3).

    own: bodies whose self-crossings are counted as well. Crossings of attached bodies at their attachments are ignored.
    """
    surfaces = model.surfaces
    edge, triangle, share = _crossings(model, x, own)
    loose = ~_glued_together(model, surfaces.edges[edge], surfaces.triangles[triangle])
    edge, triangle, share = edge[loose], triangle[loose], share[loose]
    pairs: list[IntArray] = []
    facings: list[NDArray[np.int8]] = []
    counts: list[int] = []
    body, other = surfaces.edge_body[edge], surfaces.triangle_body[triangle]
    bodies = np.unique(np.stack([body, other], axis=1), axis=0)
    for a, b in bodies.tolist():
        rows = np.flatnonzero((body == a) & (other == b))
        both = np.union1d(rows, np.flatnonzero((body == b) & (other == a)))
        counts.append(len(_triangles_at(model, edge[both], triangle[both])))
        if a == b:
            continue  # `self_exits`
        points, facing = _wrong_side(model, x, a, b, edge[rows], triangle[rows], share[rows])
        pairs.append(np.stack([points, np.full_like(points, b)], axis=1))
        facings.append(np.full(len(points), facing, np.int8))
    return Overlaps(
        pairs=np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int32),
        facing=np.concatenate(facings) if facings else np.zeros(0, np.int8),
        crossing_triangles=_triangles_at(model, edge, triangle),
        bodies=bodies,
        counts=tuple(counts),
    )


def _glued_together(model: Model, edge_points: IntArray, corners: IntArray) -> BoolArray:
    """Whether a point of each edge is attached to the body of the triangle beside it, or the other way round.

    Attached surfaces may cross there: they have no contact.
    """
    glued = np.full(model.point_count, -1, np.int32)
    glued[model.attachments.points[:, 0]] = model.attachments.body
    one, other = model.point_body[edge_points[:, :1]], model.point_body[corners[:, :1]]
    return np.asarray((glued[edge_points] == other).any(axis=1) | (glued[corners] == one).any(axis=1))


def edge_rows(model: Model, pairs: list[tuple[int, int]]) -> IntArray:
    """(first point, other body, 1) of bodies whose edges alone cross, as rows of `State.wrong_side` that are moved."""
    return np.array([(model.body_point_start[a], b, 1) for a, b in pairs], np.int32).reshape(-1, 3)


def ways_out(model: Model, x: FloatArray) -> tuple[IntArray, FloatArray]:
    """Pairs of bodies that cross, the lower one first, and the direction in which it leaves the other one fastest.

    The volume in common changes with its displacement by the vector area of the part of its surface inside the other
    one. That is 1/2 sum r x dr along the curve in which both surfaces cross: a segment for each pair of triangles.
    """
    surfaces = model.surfaces
    edge, triangle, share = _crossings(model, x, NO_BODIES)
    start, end = x[surfaces.edges[edge, 0]], x[surfaces.edges[edge, 1]]
    rows, beside = _triangles_beside(model, edge)
    point = (start + share[:, None] * (end - start))[rows]
    pair = np.sort(np.stack([beside, triangle[rows]], axis=1), axis=1)
    _, first, of, count = np.unique(pair, axis=0, return_index=True, return_inverse=True, return_counts=True)
    of = of.ravel()
    last = np.zeros(len(first), np.int64)
    last[of] = np.arange(len(of))
    whole = count == 2  # both ends of a segment
    pair, begin, end = pair[first[whole]], point[first[whole]], point[last[whole]]
    one, other = (face_vectors(x, surfaces.triangles[side]) for side in pair.T)
    bodies, of = np.unique(surfaces.triangle_body[pair], axis=0, return_inverse=True)
    of = of.ravel()
    middle = np.zeros((len(bodies), 3))
    np.add.at(middle, of, 0.5 * (begin + end))
    middle /= np.maximum(np.bincount(of, minlength=len(bodies)), 1)[:, None]
    along = np.sign(np.einsum("ij,ij->i", end - begin, np.cross(one, other)))
    parts = along[:, None] * np.cross(begin - middle[of], end - middle[of])
    area, total = np.zeros((len(bodies), 3)), np.bincount(of, np.linalg.norm(parts, axis=1), len(bodies))
    np.add.at(area, of, parts)
    size = np.linalg.norm(area, axis=1)
    is_known = size > ROUNDED * total  # not where one goes in and out again
    return bodies[is_known], -area[is_known] / size[is_known, None]


def _triangles_beside(model: Model, edge: IntArray) -> tuple[IntArray, IntArray]:
    """Triangles at some edges: the place of its edge for each, and the triangle."""
    weights, sides = np.array([model.point_count, 1]), model.surfaces.triangles.astype(np.int64)
    key = np.sort(np.stack([sides, np.roll(sides, -1, axis=1)], axis=2), axis=2).reshape(-1, 2) @ weights
    order = np.argsort(key)
    wanted = model.surfaces.edges[edge].astype(np.int64) @ weights
    first, last = (np.searchsorted(key[order], wanted, side) for side in ("left", "right"))
    rows = np.repeat(np.arange(len(edge)), last - first)
    within = np.arange(len(rows)) - np.searchsorted(rows, rows)
    return rows, order[first[rows] + within] // 3


def crosses_itself(model: Model, x: FloatArray, own: IntArray, among: BoolArray | None = None) -> bool:
    """Whether any of the bodies `own` crosses itself at x [m].

    `among`: points of which a crossing edge or its triangle must have one, shape (point_count,); by default all.
    """
    edge, triangle, _ = _crossings(model, x, own, among)
    return bool((model.surfaces.edge_body[edge] == model.surfaces.triangle_body[triangle]).any())


def _crossings(
    model: Model, x: FloatArray, own: IntArray, among: BoolArray | None = None
) -> tuple[IntArray, IntArray, FloatArray]:
    """(edge, triangle, parameter of the intersection on the edge, 0 to 1) of every crossing."""
    surfaces, bodies = model.surfaces, np.arange(model.body_count)
    places, x = _edges_near_planes(model, surfaces.edges, x)
    edges, triangles = np.arange(len(surfaces.edges)), np.arange(len(surfaces.triangles))
    searched = [(edges, triangles)]
    if among is not None:
        has, holds = (among[corners].any(axis=1) for corners in (surfaces.edges, surfaces.triangles))
        searched = [(edges[has], triangles), (edges[~has], triangles[holds])]
    found = []
    for edges, triangles in searched:
        pairs = crossing_pairs(
            x, surfaces.triangles[triangles], places[edges], surfaces.triangle_body[triangles],
            surfaces.edge_body[edges], given=bodies >= model.moving_count, own=np.isin(bodies, own),
        )  # fmt: skip
        found.append((edges[pairs[:, 0]], triangles[pairs[:, 1]]))
    edge, triangle = (np.concatenate(parts) for parts in zip(*found, strict=True))
    share = passes(x, places[edge], surfaces.triangles[triangle])
    adjacent = (surfaces.edges[edge][:, :, None] == surfaces.triangles[triangle][:, None]).any(axis=(1, 2))
    ignored = model.ignores[surfaces.edge_body[edge], surfaces.triangle_body[triangle]]
    kept = ~np.isnan(share) & ~adjacent & ~ignored
    return edge[kept], triangle[kept], share[kept]


def _edges_near_planes(model: Model, edge_points: IntArray, x: FloatArray) -> tuple[IntArray, FloatArray]:
    """Rows of x at which edges are tested, and x with rows added: flat bodies are tested near their plane.

    The outlines of two flat bodies of equal depth would cross where their surfaces end: rounding would decide.
    """
    pairs = model.flat.pairs
    if not len(pairs):
        return edge_points, x
    middle, half = 0.5 * (x[pairs[:, 0]] + x[pairs[:, 1]]), 0.5 * (x[pairs[:, 0]] - x[pairs[:, 1]])
    place = np.arange(model.point_count, dtype=np.int32)
    place[pairs] = model.point_count + np.arange(2 * len(pairs), dtype=np.int32).reshape(-1, 2)
    near = np.stack([middle + NEAR_PLANE * half, middle - NEAR_PLANE * half], axis=1).reshape(-1, 3)
    return np.ascontiguousarray(place[edge_points]), np.concatenate([x, near])


def _triangles_at(model: Model, edge: IntArray, triangle: IntArray) -> IntArray:
    """Triangles that an edge passes through, and triangles of such edges."""
    triangles = model.surfaces.triangles
    keys = model.surfaces.edges[np.unique(edge)].astype(np.int64) @ np.array([model.point_count, 1])
    found = np.zeros(len(triangles), bool)
    found[triangle] = True
    for k in range(3):
        side = np.sort(triangles[:, [k, (k + 1) % 3]], axis=1).astype(np.int64)
        found |= np.isin(side @ np.array([model.point_count, 1]), keys)
    return np.flatnonzero(found).astype(np.int32)


def _wrong_side(
    model: Model, x: FloatArray, a: int, b: int, edge: IntArray, triangle: IntArray, share: FloatArray
) -> tuple[IntArray, int]:
    """Points of body a behind the surface of body b, and the facing of the right side.

    edge, triangle, share: the crossings of edges of a with triangles of b.
    """
    first, last = int(model.body_point_start[a]), int(model.body_point_start[a + 1])
    edges = model.surfaces.edges
    own = np.flatnonzero(model.surfaces.edge_body == a)
    part = islands_of(last - first, *(edges[own[~np.isin(own, edge)]] - first).T)

    # The crossing nearest to each end of a cut edge gives its side.
    normal = face_vectors(x, model.surfaces.triangles[triangle])
    along = x[edges[edge, 1]] - x[edges[edge, 0]]
    sign = np.sign(np.einsum("ij,ij->i", normal, along))
    vote = np.zeros(last - first)
    for end, order in ((0, np.lexsort((share, edge))), (1, np.lexsort((-share, edge)))):
        nearest = order[np.unique(edge[order], return_index=True)[1]]
        np.add.at(vote, part[edges[edge[nearest], end] - first], sign[nearest] * (1.0 if end else -1.0))
    # A part that touches no cut (another island of the mesh) stays where it is.
    side = np.sign(vote)[part]

    in_front, behind = int((side > 0).sum()), int((side < 0).sum())
    facing = 1
    if b >= model.moving_count:
        start, stop = model.surfaces.body_triangle_start[b], model.surfaces.body_triangle_start[b + 1]
        closed = bool((model.surfaces.triangle_neighbour[start:stop] >= 0).all())
        limit = CONTAINER_SHARE if closed else 0.5
        if behind > limit * (in_front + behind):
            facing = -1
    wrong = first + np.flatnonzero(side == -facing)
    return wrong.astype(np.int32), facing
