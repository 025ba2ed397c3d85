"""The pruned pair list (Verlet list): the contacts of a search that may touch soon.

A search must reach as far as bodies may move, and finds all pairs within the sum of two such distances. But bodies in
contact move together: their relative displacement is far smaller. After displacements u of its points, a pair that was
at distance d has a distance of at least

    d - L,   L = max |u_i - u_j|,   i over the points of one side, j over those of the other.

So a pair may be left out as long as d - L is no less than its thickness. L is convex in u: a bound that holds at both
ends of a straight path holds along it. Short lists pruned from long ones are known from molecular dynamics (the dual
pair list of Pall et al. 2020).
"""

import math

import numpy as np

from ...jit import inline_kernel, kernel
from ...model import FloatArray
from ...tiny import ROUNDING
from ..contacts import EDGE_EDGE, Contacts
from ..narrow_phase.closest_points import closest_on_edges_of, closest_on_triangle_of_row, closing

#: A pair is left out if its slack exceeds the relative displacement of the current step by this factor [1],
SPARE_MOVES = 1.4
#: and this fraction of the reach of both its bodies [1]: else it would soon be needed again.
SPARE_REACH = 0.3
#: Where this fraction of all pairs would be kept [1], all are: pruning would save too little.
MOST_KEPT = 0.6


class PrunedPairs:
    """Prunes a contact set of a model with `point_count` points, and tests how long none of the others can touch."""

    def __init__(self, point_count: int) -> None:
        self._x = np.zeros((point_count, 3))  # positions at the last pruning [m]
        self._move = np.zeros((point_count, 3))
        self._seen = np.zeros((point_count, 3))  # positions at the last check of the rows left out [m]
        self._room = np.full(point_count, np.inf)  # displacement of each point from there that needs no check [m]
        self._left = 0  # rows left out
        self._points = np.zeros((0, 4), np.int32)  # of these
        self._spare = np.zeros(0)  # relative displacement since the last pruning that they admit [m]
        self._split = np.zeros(0, np.int8)  # slot at which their second side begins
        self._slack = np.zeros(0)  # `measure_slack` of all rows [m]

    def choose(
        self, x: FloatArray, trial: FloatArray, wide: Contacts, near: Contacts, reach: FloatArray, own_reach: FloatArray
    ) -> None:
        """Copy the rows of `wide` to `near` that may come within their thickness on the path from x to `trial` [m].

        Or on a somewhat longer one. x, trial: all points. Rows with side -1 are always copied. reach, own_reach: those
        of the search that found `wide` [m], shape (body_count,).
        """
        if len(self._spare) < wide.count:
            room = wide.capacity
            self._points, self._spare = np.zeros((room, 4), np.int32), np.zeros(room)
            self._split, self._slack = np.zeros(room, np.int8), np.zeros(room)
        self._x[:] = x
        np.subtract(trial, x, out=self._move)
        measure_slack(
            x, self._move, wide.count, wide.points, wide.kind, wide.side, wide.bodies, wide.thickness,
            SPARE_REACH * reach, SPARE_REACH * own_reach, self._slack,
        )  # fmt: skip
        keep = ~(self._slack[: wide.count] >= 0.0)
        if np.count_nonzero(keep) > MOST_KEPT * wide.count:
            keep[:] = True
        rows, left = np.flatnonzero(keep), np.flatnonzero(~keep)
        self._left = len(left)
        self._points[: len(left)], self._spare[: len(left)] = wide.points[left], self._slack[left]
        self._split[: len(left)] = np.where(left < wide.edge_start, 1, 2)
        self._room[:] = -1.0
        near.copy_rows(wide, rows)

    @property
    def left(self) -> int:
        """Number of rows left out."""
        return self._left

    def forget(self) -> None:
        """Note that no row is left out."""
        self._left = 0

    def valid(self, x: FloatArray) -> bool:
        """Whether no row left out can be within its thickness at x [m], all points."""
        if self._left == 0 or within_room(x, self._seen, self._room):
            return True
        np.subtract(x, self._x, out=self._move)
        self._seen[:] = x
        if check_left_out(self._left, self._points, self._split, self._spare, self._move, self._room):
            return True
        self._room[:] = -1.0
        return False


@inline_kernel
def box_distance(x, points, row, split):
    """Square of the distance of the boxes around both sides of a row [m^2]: a lower bound for the sides."""
    total = 0.0
    for axis in range(3):
        low = high = x[points[row, 0], axis]
        for i in range(1, split):
            low, high = min(low, x[points[row, i], axis]), max(high, x[points[row, i], axis])
        other_low = other_high = x[points[row, 3], axis]
        for j in range(split, 3):
            other_low = min(other_low, x[points[row, j], axis])
            other_high = max(other_high, x[points[row, j], axis])
        apart = max(0.0, max(low - other_high, other_low - high))
        total += apart * apart
    return total


@kernel
def measure_slack(x, move, count, points, kind, side, bodies, thickness, least, own_least, slack):
    """Slack of each row: distance less thickness [m]; -1 where it is too small to leave the row out.

    Needed are `least` (self-contact: `own_least`) of both bodies [m], and SPARE_MOVES times the relative displacement.
    """
    for row in range(count):
        slack[row] = -1.0
        if side[row] <= 0:
            continue
        edge = kind[row] == EDGE_EDGE
        most = closing(move, points, row, 2) if edge else closing(move, points, row, 1)
        a, b = bodies[row, 0], bodies[row, 1]
        spare = 2.0 * own_least[a] if a == b else least[a] + least[b]
        radius = thickness[row] + max(SPARE_MOVES * math.sqrt(most), spare)
        square = box_distance(x, points, row, 2) if edge else box_distance(x, points, row, 1)
        if square <= radius * radius:
            if edge:
                square = closest_on_edges_of(x, points[row, 0], points[row, 1], points[row, 2], points[row, 3])[5]
            else:
                square = closest_on_triangle_of_row(x, points, row)[3]
        if square > radius * radius:
            slack[row] = (1.0 - ROUNDING) * (math.sqrt(square) - thickness[row])


@kernel
def check_left_out(count, points, split, spare, move, room):
    """Whether no row left out has used up its slack by the displacements since the last pruning [m].

    room: output, further displacement of each point that needs no new check [m].
    """
    room[:] = np.inf
    for row in range(count):
        square = closing(move, points, row, 2) if split[row] == 2 else closing(move, points, row, 1)
        if not square <= spare[row] * spare[row]:
            return False
        rest = 0.5 * (1.0 - ROUNDING) * (spare[row] - math.sqrt(square))
        for slot in range(4):
            if rest < room[points[row, slot]]:
                room[points[row, slot]] = rest
    return True


@kernel
def within_room(x, seen, room):
    """Whether no point has moved farther than its room since the last check [m]."""
    for i in range(room.shape[0]):
        dx, dy, dz = x[i, 0] - seen[i, 0], x[i, 1] - seen[i, 1], x[i, 2] - seen[i, 2]
        if room[i] < 0.0 or not dx * dx + dy * dy + dz * dz <= room[i] * room[i]:
            return False
    return True
