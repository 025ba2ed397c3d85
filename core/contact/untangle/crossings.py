"""Which points are on the wrong side of a surface, of other bodies and of their own, and where each one returns."""

import numpy as np
from numpy.typing import NDArray

from ...array_types import FloatArray, IntArray
from ...inside_out import is_inside_out
from ...model import Model
from ..box_tree import build_trees
from ..kept_distance import REST_SHARE
from ..narrow_phase.nearest_triangle import ALL
from ..narrow_phase.vertex_triangle import evaluate_rows, set_plane_weights
from ..near_pairs import NearPairs, near_pairs
from .overlap import NO_BODIES, Overlaps, edge_rows, find_overlaps
from .recovery import WrongSide
from .self_overlap import nearest_exits, self_exits, self_wrong_side


class Crossings:
    """The bodies of one model that cross each other or themselves.

    `suspended`: bodies that are inside out, or whose edges alone cross them, so that it is not known which side is the
    wrong one, ascending.
    """

    def __init__(self, model: Model) -> None:
        surfaces = model.surfaces
        self._model = model
        self._trees = build_trees(model.rest_positions, surfaces.triangles, surfaces.body_triangle_start)
        self._wrong = WrongSide(model)
        has_triangles = self._trees.depth >= 0
        self._own: IntArray = np.flatnonzero(model.self_collision & has_triangles).astype(np.int32)
        self.suspended: IntArray = NO_BODIES
        self._edges_alone: list[tuple[int, int]] = []

    @property
    def pairs(self) -> IntArray:
        """(point, body) pairs whose point lies behind the body's surface, maybe its own, sorted, shape (n, 2)."""
        return self._wrong.pairs

    def find(self, x: FloatArray, kept: NDArray[np.int32] = NO_BODIES, *, own_sides: bool = True) -> Overlaps:
        """Find bodies that cross each other or themselves at x [m], and list the points on the wrong side.

        `kept`: bodies whose crossings with themselves do not count. The result is for reports. `own_sides`: whether to
        list points on the wrong side of their own body.
        """
        bodies = np.setdiff1d(self._own, kept)
        overlaps = find_overlaps(self._model, x, bodies)
        pairs, facing = [overlaps.pairs], [overlaps.facing]
        crossing = overlaps.bodies[overlaps.bodies[:, 0] == overlaps.bodies[:, 1], 0]
        waiting = []
        if not own_sides:
            bodies = NO_BODIES
        if len(bodies):
            self._fit(x)
        for body in bodies.tolist():
            points, side = self_wrong_side(self._model, self._trees, x, body)
            if is_inside_out(self._model, x, body) or (len(points) == 0 and body in crossing):
                waiting.append(body)
            else:
                pairs.append(np.stack([points, np.full_like(points, body)], axis=1))
                facing.append(side)
        self._wrong.set(np.concatenate(pairs), np.concatenate(facing))
        self.suspended = np.array(waiting, np.int32)
        self._edges_alone = overlaps.edges_alone(self._model.point_body)
        return overlaps

    def _fit(self, x: FloatArray) -> None:
        """Fit the trees to x [m]."""
        self._trees.refit(x, self._model.surfaces.triangles)

    def listed(self) -> IntArray:
        """(point, body, facing) of the points behind a body's surface, shape (wrong_count, 3), as a state keeps them.

        Facing 0: the first point of a suspended body. Of bodies whose edges alone cross it is the first point of one.
        """
        own = self.suspended
        bodies = np.stack([self._model.body_point_start[own], own, np.zeros_like(own)], axis=1)
        listed = np.concatenate([self._wrong.pairs, self._wrong.facing[:, None]], axis=1)
        return np.concatenate([listed, bodies, edge_rows(self._model, self._edges_alone)]).astype(np.int32)

    def relist(self, listed: IntArray) -> None:
        """Set the list and the suspended bodies from a state."""
        waits = listed[:, 2] == 0
        self._wrong.set(listed[~waits, :2], listed[~waits, 2].astype(np.int8))
        self.suspended = listed[waits, 1].astype(np.int32)

    def gaps(self, x: FloatArray) -> NearPairs:
        """A pair for each point on the wrong side at x [m], with the triangle through which it leaves.

        Points that are back on the right side are taken from the list.
        """
        wrong = self._wrong
        self._fit(x)
        wrong.release(x, self._trees)
        pairs = self._pairs(wrong.pairs[:, 0], wrong.exit, wrong.facing)
        set_plane_weights(x, np.flatnonzero(wrong.own), pairs)
        return self._measured(x, pairs)

    def gaps_near(self, x: FloatArray, overlaps: Overlaps) -> NearPairs:
        """A pair for each corner of triangles that cross, with the nearest triangle of the other body at x [m].

        Of a body that crosses itself, the nearest one that is not adjacent. For surfaces whose edges alone cross.
        """
        model, surfaces = self._model, self._model.surfaces
        self._fit(x)
        corners = np.unique(surfaces.triangles[overlaps.crossing_triangles])
        body = model.point_body[corners]
        points, triangles = [NO_BODIES], [NO_BODIES]
        for a, b in np.unique(np.concatenate([overlaps.bodies, overlaps.bodies[:, ::-1]]), axis=0).tolist():
            own = corners[body == a]
            if a == b:
                found = self_exits(model, self._trees, x, np.stack([own, np.full_like(own, a)], axis=1))
            else:
                found = nearest_exits(x, own, b, surfaces.triangles, self._trees, ALL)
            points.append(own[found >= 0])
            triangles.append(found[found >= 0])
        self._wrong.set(np.zeros((0, 2), np.int32), np.zeros(0, np.int8))
        point, triangle = np.concatenate(points), np.concatenate(triangles)
        order = np.argsort(point, kind="stable")
        return self._measured(x, self._pairs(point[order], triangle[order], np.zeros(len(order), np.int8)))

    def _pairs(self, points: IntArray, triangles: IntArray, facing: NDArray[np.int8]) -> NearPairs:
        """Pairs of these points, in ascending order, and triangles."""
        corners = self._model.surfaces.triangles[triangles]
        return near_pairs(self._model, np.column_stack([points, corners]), triangles, facing)

    def _measured(self, x: FloatArray, pairs: NearPairs) -> NearPairs:
        """The pairs with their gaps at x [m]; features of one body keep no more than half of their distance at rest."""
        own = pairs.bodies[:, 0] == pairs.bodies[:, 1]
        surface = self._model.surfaces.triangles, self._model.surfaces.triangle_neighbour
        if own.any():
            kept = pairs.side.copy(), pairs.weights.copy(), pairs.normal.copy()
            pairs.side[:] = 1
            evaluate_rows(self._model.rest_positions, surface, pairs.thickness, pairs)
            pairs.thickness[own] = np.minimum(pairs.thickness[own], REST_SHARE * pairs.distance[own])
            pairs.side[:], pairs.weights[:], pairs.normal[:] = kept
        evaluate_rows(x, surface, pairs.thickness, pairs)
        return pairs
