"""Search for pairs of rigid bodies and colliders, by the boxes of the contact set."""

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...contact.crossings import passes
from ...contact.near_pairs import NO_PAIRS, NearPairs, near_pairs
from ...jit import lean_kernel
from ...model import Model
from ...simd import load4
from ..explicit.arrays import Candidates, bodies_of, boxes_of, candidates_of, points_of
from ..explicit.layout import lay_out
from ..explicit.own import apart
from ..explicit.search import MOST_OF_A_PAIR, between_bodies, fit_patches, predict_flight
from ..explicit.shape import shape_of

#: Candidates for which there is room at the start; it doubles.
START_ROOM = MOST_OF_A_PAIR + 1024


class ColliderSearch:
    """Finds the vertices near triangles, and the edges near edges, of rigid bodies and colliders."""

    def __init__(self, model: Model) -> None:
        self._model, surfaces = model, model.surfaces
        self._numbering, patches = lay_out(model)
        self._bodies = bodies_of(model, self._numbering)
        self._points = points_of(model, np.zeros(model.point_count), self._numbering)
        start = model.rest_positions[self._numbering.point]
        self._boxes = boxes_of(patches, shape_of(patches, start, np.zeros(model.body_count)))
        self._found = candidates_of(START_ROOM), candidates_of(START_ROOM)
        self._x, self._still = np.zeros((2, 4 * model.point_count))
        self._slack = np.full(model.body_count, np.nan)  # of each body in the last search [m]
        self._bodies.crosses[:] = model.ignores
        self._edge_keys = self._keys(surfaces.edges)

    def find(self, x: FloatArray, reach: FloatArray, left_out: BoolArray, behind: IntArray, exits: IntArray,
             facing: NDArray[np.int8]) -> NearPairs:  # fmt: skip
        """Pairs at x [m] that may come within their thickness while points move by the reach of their bodies [m].

        left_out: rigid bodies without contacts. behind: (point, body) pairs on the wrong side, sorted by point, which
        get one pair with the triangles `exits` and sides `facing` in place of their ordinary ones. No gaps yet.
        """
        model, bodies, surfaces = self._model, self._bodies, self._model.surfaces
        resting = reach + model.thickness == self._slack
        self._slack = reach + model.thickness
        take_points(x, self._numbering.point, self._points.body, self._x, resting)
        self._boxes.slack[:] = (reach + model.thickness)[self._boxes.patches.body]  # all of it, see `shape.pad`
        count = np.zeros(2, np.int64)
        while not find_given(
            self._x, self._still, (model.membrane_count, model.moving_count), left_out, resting, bodies, self._points,
            self._boxes, *self._found, count,
        ):  # fmt: skip
            room, resting[model.moving_count :] = 2 * len(self._found[0].reach), True
            self._found = candidates_of(room), candidates_of(room)
        if not count.any() and not len(behind):
            return NO_PAIRS
        corners, ends = map(self._fours, self._found, count.tolist())
        corners = corners[~self.is_listed(corners[:, 0], model.point_body[corners[:, 1]], behind)]
        triangle, side = np.full(len(corners), -1), np.zeros(len(corners), np.int8)
        corners = np.concatenate([corners, np.column_stack([behind[:, 0], surfaces.triangles[exits]])])
        triangle, side = np.concatenate([triangle, exits]), np.concatenate([side, facing])
        order, edge_order = np.lexsort(corners.T[::-1]), np.lexsort(ends.T[::-1])
        ends = ends[edge_order]
        number = np.searchsorted(self._edge_keys, self._keys(ends.reshape(-1, 2)))
        apex = surfaces.edge_apex[number].reshape(-1, 4)
        return near_pairs(model, corners[order], triangle[order], side[order], ends, apex)

    def is_listed(self, points: IntArray, bodies: IntArray, behind: IntArray) -> BoolArray:
        """Which points are listed with these bodies in `behind`, shape (n, 2)."""
        count = self._model.body_count
        return np.isin(points * count + bodies, behind[:, 0] * count + behind[:, 1])

    def _keys(self, edges: IntArray) -> IntArray:
        """A number for each edge, in the order of `Surfaces.edges`."""
        low, high = np.sort(edges.astype(np.int64), axis=1).T
        return low * self._model.point_count + high

    def _fours(self, found: Candidates, count: int) -> IntArray:
        """The points of the first candidates, numbered as in the model, shape (count, 4)."""
        return self._numbering.point[found.points[: 4 * count].reshape(-1, 4) >> 2].astype(np.int64)


def crossing_edges(x: FloatArray, pairs: NearPairs, behind: BoolArray) -> BoolArray:
    """Which pairs of edges cross: one passes through a triangle at the other, or an end is `behind` the other's body.

    behind: of each of their points.
    """
    points, apex = pairs.points[pairs.edge_start :], pairs.apex[pairs.edge_start :]
    edges = points[:, :2], points[:, 2:]
    ends = np.concatenate([edges[k] for k in (0, 0, 1, 1)])
    corners = np.concatenate([np.column_stack([edges[1 - k // 2], apex[:, (2, 3, 0, 1)[k]]]) for k in range(4)])
    passing = (corners[:, 2] >= 0) & ~np.isnan(passes(x, ends, corners))
    return np.asarray(behind.any(axis=1) | passing.reshape(4, -1).any(axis=0))


@lean_kernel
def take_points(positions, point, body, x, resting):
    """Take the positions [m] of all points in the order of the search; clears `resting` of bodies that have moved."""
    for i in range(point.shape[0]):
        for axis in range(3):
            if x[4 * i + axis] != positions[point[i], axis]:
                x[4 * i + axis] = positions[point[i], axis]
                resting[body[i]] = False


@lean_kernel
def find_given(x, still, ends, left_out, resting, bodies, points, boxes, corners, sides, count):
    """Candidates of rigid bodies, from the first number in `ends` on, and colliders, from the second on.

    Colliders that are `resting` keep their boxes of the last search. Returns whether there is room for all.
    """
    (first, end), body_count = ends, bodies.kind.shape[0]
    count[0] = count[1] = 0
    for b in range(first, body_count):
        if b < end or not resting[b]:
            predict_flight(b, x, still, 0.0, True, bodies, points, boxes)
            fit_patches(b, points, boxes)
    for a in range(first, end):
        if left_out[a - first]:
            continue
        low, high = load4(bodies.low, 4 * a), load4(bodies.high, 4 * a)
        for b in range(end, body_count):
            if bodies.crosses[a, b] or apart(low, high, load4(bodies.low, 4 * b), load4(bodies.high, 4 * b)):
                continue
            if not between_bodies(a, b, 0.0, 0.0, still, bodies, points, boxes, corners, sides, count):
                return False
    return True
