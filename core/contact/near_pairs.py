"""Pairs of a point and a triangle, then pairs of edges, with gap, normal and weights at given positions.

A pair is a gap between two sides, each a weighted mean of points. To first order the gap is
`normal . sum(weights[s] * x[points[s]])`; its gradient with respect to point `s` is `weights[s] * normal`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..array_types import FloatArray, IntArray
from ..model import Model

NO_FOURS = np.zeros((0, 4), np.int32)


class NearPairs(NamedTuple):
    """Pairs as a struct of arrays, shape (count, ...): first those of points, by point, then those of edges."""

    edge_start: int  # number of the first pair of edges
    points: IntArray  # a point and the corners of a triangle, or the ends of two edges, shape (count, 4)
    triangle: IntArray  # of a point on the wrong side: through which it leaves, else -1
    apex: IntArray  # of edges: the corners opposite the first and the second one, -1 for none, shape (count, 4)
    bodies: IntArray  # of the point or first edge, of the triangle or second edge, shape (count, 2)
    thickness: FloatArray  # of both bodies together [m]
    side: NDArray[np.int8]  # 1, or -1 for a point on the wrong side, and for edges that cross
    facing: NDArray[np.int8]  # for side -1: 1 if the right side is the one the triangle's normal points to, else -1
    local: NDArray[np.int8]  # scratch
    weights: FloatArray  # of the points, positive for the first body's; those of each body sum to 1 or -1
    normal: FloatArray  # unit, from the triangle towards the right side, from the second edge to the first
    distance: FloatArray  # [m]
    gap: FloatArray  # the same, signed for side -1; infinite where another pair has the contact [m]
    feature: NDArray[np.int8]  # of the triangle: 0 the face, 1-3 edge (k - 1, k), 4-6 corner k - 4
    target_weight: FloatArray  # of edges: weight of the contact, 0 to 1

    def only(self, kept: NDArray[np.bool_]) -> "NearPairs":
        """The pairs that are kept, shape (count,)."""
        rows: Any = (values[kept] for values in self[1:])
        return NearPairs(int(np.count_nonzero(kept[: self.edge_start])), *rows)


def near_pairs(
    model: Model, points: IntArray, triangle: IntArray, facing: NDArray[np.int8], ends: IntArray = NO_FOURS,
    apex: IntArray = NO_FOURS,
) -> NearPairs:  # fmt: skip
    """Pairs without gaps yet.

    points: a point and three corners of each pair, sorted by point; triangle, facing: of points on the wrong side,
    facing 0 of others; ends, apex: of each pair of edges.
    """
    fours = np.ascontiguousarray(np.concatenate([points, ends]), np.int32)
    count, edge_count = len(fours), len(ends)
    bodies = np.ascontiguousarray(model.point_body[fours[:, [0, 2]]], np.int32)
    facing = np.concatenate([facing, np.zeros(edge_count, np.int8)]).astype(np.int8)
    no_triangle = np.full(edge_count, -1)
    return NearPairs(
        len(points), fours, np.concatenate([triangle, no_triangle]).astype(np.int32),
        np.concatenate([np.full((len(points), 4), -1), apex]).astype(np.int32), bodies,
        model.thickness[bodies].sum(axis=1), np.where(facing == 0, 1, -1).astype(np.int8), facing,
        np.zeros(count, np.int8), np.zeros((count, 4)), np.zeros((count, 3)), np.full(count, np.inf),
        np.full(count, np.inf), np.zeros(count, np.int8), np.zeros(count),
    )  # fmt: skip


NO_PAIRS = NearPairs(
    0, NO_FOURS, np.zeros(0, np.int32), NO_FOURS, np.zeros((0, 2), np.int32), np.zeros(0), np.zeros(0, np.int8),
    np.zeros(0, np.int8), np.zeros(0, np.int8), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0), np.zeros(0),
    np.zeros(0, np.int8), np.zeros(0),
)  # fmt: skip
