"""The points on the wrong side of a surface: the direction in which each returns, and its release."""

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...jit import kernel
from ...model import Model
from ...topology import face_vectors
from ..box_tree import Trees
from ..kept_distance import RECOVERY_SHARE
from ..narrow_phase.closest_points import unit_normal
from ..narrow_phase.nearest_triangle import ALL, STACK_SIZE, choose_exit
from ..narrow_phase.vertex_triangle import evaluate_rows
from ..near_pairs import near_pairs
from .self_overlap import nearest_exits, self_exits, self_wrong_side

#: Least length of the mean unit normal of the surface on the wrong side (1: flat) that gives a direction [1].
CLEAR_DIRECTION = 0.05


class WrongSide:
    """List of (point, body) pairs whose point is behind the body's surface, sorted.

    pairs: shape (n, 2); facing: +1 where the right side is the one the triangles' normals point to, else -1,
    shape (n,); body: second column of pairs;
    own: whether body is the point's own, shape (n,);
    exit: the triangle through which a point leaves the body, as last searched, shape (n,).
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.set(np.zeros((0, 2), np.int32), np.zeros(0, np.int8))

    def __len__(self) -> int:
        return len(self.pairs)

    def set(self, pairs: IntArray, facing: NDArray[np.int8]) -> None:
        """Replace the list."""
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        self.pairs: IntArray = np.ascontiguousarray(pairs[order], np.int32)
        self.facing: NDArray[np.int8] = np.ascontiguousarray(facing[order], np.int8)
        self.body: IntArray = np.ascontiguousarray(self.pairs[:, 1])
        self.own: BoolArray = self._model.point_body[self.pairs[:, 0]] == self.body
        self.exit: IntArray = np.full(len(order), -1, np.int32)

    def release(self, x: FloatArray, trees: Trees) -> None:
        """Remove points that are back on the right side from the list, and set the directions of the others.

        Self-crossing skins are searched anew, as their points may pass through other parts on the way out.
        x: positions [m], shape (point_count, 3), which the trees must fit.
        """
        model = self._model
        inside = self._update_self_crossings(x, trees)
        body = model.point_body[self.pairs[:, 0]]
        way = np.full(len(self), -1, np.int32)
        way[self.own] = self_exits(model, trees, x, self.pairs[self.own])
        gap = signed_gaps(model, trees, x, self.pairs, self.facing, way)
        enough = RECOVERY_SHARE * (model.thickness[body] + model.thickness[self.body])
        behind = ~((gap > 0.0) & (gap >= enough)) | inside
        behind &= ~(self.own & (way < 0))
        self.set(self.pairs[behind], self.facing[behind])
        self.exit = way[behind]
        triangles = model.surfaces.triangles
        choose_exits(x, self.pairs, self.own, self.facing, self._directions(x), triangles, trees, ALL, self.exit)

    def _update_self_crossings(self, x: FloatArray, trees: Trees) -> BoolArray:
        """Add other points on the wrong side of self-crossing bodies to the list; returns which pairs are on it now."""
        kept = ~self.own
        pairs, facing = [self.pairs[kept]], [self.facing[kept]]
        inside = [np.zeros(int(kept.sum()), bool)]
        for body in np.unique(self.body[self.own]).tolist():
            rows = np.flatnonzero(self.own & (self.body == body))
            wrong, side = self_wrong_side(self._model, trees, x, body)
            points = np.union1d(self.pairs[rows, 0], wrong).astype(np.int32)
            known = np.isin(points, self.pairs[rows, 0])
            listed = np.isin(points, wrong)
            now = np.zeros(len(points), np.int8)
            now[known] = self.facing[rows]
            now[listed] = side
            pairs.append(np.stack([points, np.full_like(points, body)], axis=1))
            facing.append(now)
            inside.append(listed)
        joined = np.concatenate(pairs)
        order = np.lexsort((joined[:, 1], joined[:, 0]))
        self.set(joined, np.concatenate(facing))
        return np.asarray(np.concatenate(inside)[order])

    def _directions(self, x: FloatArray) -> FloatArray:
        """Unit vectors along which the points move out, against the mean normal of the surface on the wrong side.

        The area vector of a piece of surface depends on its rim only, where the bodies cross, and not on how deep the
        piece is. Both bodies of a pair get opposite directions. Zero where unknown, shape (n, 3).
        """
        model, surfaces, direction = self._model, self._model.surfaces, np.zeros((len(self), 3))
        body = model.point_body[self.pairs[:, 0]]
        keys = set(zip(np.minimum(body, self.body).tolist(), np.maximum(body, self.body).tolist(), strict=True))
        for low, high in sorted(keys):
            if low == high:
                continue  # pieces of a self-crossing skin leave through `exit`
            vector, area = np.zeros(3), 0.0
            for a, b, sign in ((low, high, -1.0), (high, low, 1.0)):
                listed = (body == a) & (self.body == b)
                if a >= model.moving_count or not listed.any():
                    continue  # colliders may be wound in any way
                wrong = np.zeros(model.point_count, bool)
                wrong[self.pairs[listed, 0]] = True
                first, last = surfaces.body_triangle_start[a], surfaces.body_triangle_start[a + 1]
                corners = surfaces.triangles[first:last]
                share = wrong[corners].mean(axis=1)
                corners, share = corners[share > 0.0], share[share > 0.0]
                normal = face_vectors(x, corners)
                vector += sign * (share[:, None] * normal).sum(axis=0)
                area += float((share * np.linalg.norm(normal, axis=1)).sum())
            length = float(np.linalg.norm(vector))
            if length > CLEAR_DIRECTION * area:
                direction[(body == low) & (self.body == high)] = vector / length
                direction[(body == high) & (self.body == low)] = -vector / length
        return direction


def signed_gaps(
    model: Model, trees: Trees, x: FloatArray, pairs: IntArray, facing: NDArray[np.int8], way: IntArray
) -> FloatArray:
    """Signed gap [m] of each (point, body) pair to the nearest triangle of the body: negative behind it.

    way: the triangle to use instead, or -1. The trees must fit x; shape of the result: (pair_count,).
    """
    surfaces, triangle = model.surfaces, way.copy()
    for body in np.unique(pairs[way < 0, 1]).tolist():
        rows = np.flatnonzero((way < 0) & (pairs[:, 1] == body))
        triangle[rows] = nearest_exits(x, pairs[rows, 0], body, surfaces.triangles, trees, ALL)
    near = near_pairs(model, np.column_stack([pairs[:, 0], surfaces.triangles[triangle]]), triangle, facing)
    near.bodies[:, 1] = -1  # also of one body, by the true distance
    evaluate_rows(x, (surfaces.triangles, surfaces.triangle_neighbour), near.thickness, near)
    return near.gap


@kernel
def choose_exits(x, pairs, own, facing, direction, triangles, trees, choice, out):
    """Write the exit triangle of each pair of a point and another body."""
    stack = np.empty(STACK_SIZE, np.int32)
    for row in range(pairs.shape[0]):
        if not own[row]:
            out[row] = choose_exit(
                x, pairs[row, 0], pairs[row, 1], facing[row], direction[row], triangles, trees, choice, stack
            )


@kernel
def find_through(x, pairs, above):
    """Mark pairs whose point has passed through the triangle's face by +-2 in `above`; returns their number.

    above: +1 or -1 for the side of the triangle's plane on which the point was, 0 for unknown; updated. Beside the face
    the side may change: the point passes around an edge.
    """
    found = 0
    for row in range(pairs.edge_start):
        p, a = pairs.points[row, 0], pairs.points[row, 1]
        nx, ny, nz = unit_normal(x, a, pairs.points[row, 2], pairs.points[row, 3])
        height = (x[p, 0] - x[a, 0]) * nx + (x[p, 1] - x[a, 1]) * ny + (x[p, 2] - x[a, 2]) * nz
        here = 1 if height > 0.0 else -1
        if pairs.side[row] > 0 and pairs.feature[row] == 0 and above[row] == -here:
            above[row] *= 2
            found += 1
        else:
            above[row] = here
    return found
