"""Removes from a displacement the part that closes a gap, to first order.

A Newton step knows only the contacts that are active where it starts. Vertices that come into contact during the step
would be sent through the surface, and the line search would shorten the whole step for their sake. Here each of them
stops just inside the thickness; tangential motion stays.
"""

from math import sqrt

import numpy as np

from ...jit import kernel
from ...model import FloatArray
from ..contacts import EDGE_EDGE, POINT_TRIANGLE, Contacts
from ..inverse_mass import InverseMass, inverse_mass_along, push_sides, relative_step
from ..narrow_phase.closest_points import closest_on_edges_of

#: Share of the gap (or of the thickness, if less) that a single move must leave, and of the distance of a pair whose
#: contact another pair owns.
KEPT_SHARE, KEPT_UNOWNED = 0.75, 0.12
#: Gauss-Seidel passes at most; what closes less than this share of what is kept is left.
PASSES, LEFT_OVER = 20, 0.01
#: By how many times the longest step of a vertex a gap may close at most: both sides, and rounding.
CLOSING = 2.0 + 1e-9


def remove_closing(x: FloatArray, step: FloatArray, mobility: InverseMass, contacts: Contacts) -> None:
    """Correct a step of the unknowns, shape (unknown_count, 3), in place, for the gaps last evaluated, at x [m].

    What is given (pinned vertices, colliders) does not move.
    """
    if contacts.count:
        correct_step(
            x, contacts.first_attachment, contacts.points, contacts.kind, contacts.weights, contacts.normal,
            contacts.gap, contacts.distance, contacts.thickness, contacts.side, mobility, step,
        )  # fmt: skip


@kernel
def correct_step(x, count, points, kind, weights, normal, gap, distance, thickness, side, mobility, step):
    """Gauss-Seidel passes over the contacts in their order; serial, so that the result is one."""
    # no side of a pair closes a gap by more than the longest step of a vertex
    longest = 0.0 if mobility.unknown.shape[0] == 0 else np.inf
    for i in range(mobility.inverse_mass.shape[0]):
        longest = max(longest, size_of(step, i))
    measured = np.zeros(count, np.bool_)  # edges without a share have no weights and no normal yet
    for _ in range(PASSES):
        again = False
        for c in range(count):
            d = gap[c]
            owned = d < np.inf
            kept = KEPT_SHARE * min(d, thickness[c])
            if not owned:
                if side[c] < 0 or not (kind[c] == POINT_TRIANGLE or kind[c] == EDGE_EDGE):
                    continue
                d = distance[c]
                kept = KEPT_UNOWNED * d
            if not d - kept <= CLOSING * longest and side[c] > 0:
                continue
            if not owned and kind[c] == EDGE_EDGE:
                if not measured[c]:
                    measured[c] = True
                    measure_edges(x, points, c, weights, normal, distance)
                d = distance[c]
                kept = KEPT_UNOWNED * d
            nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
            ux, uy, uz = relative_step(c, points, weights, mobility, step)
            closing = -(nx * ux + ny * uy + nz * uz)
            lack = kept - (d - closing)
            if closing <= 0.0 or lack <= 0.0:
                continue
            yielding = inverse_mass_along(c, points, weights, nx, ny, nz, mobility)
            if yielding > 0.0:
                again |= lack > LEFT_OVER * kept
                push = lack / yielding
                push_sides(c, points, weights, push * nx, push * ny, push * nz, mobility, step)
                for slot in range(4):
                    if points[c, slot] < mobility.inverse_mass.shape[0]:
                        longest = max(longest, size_of(step, points[c, slot]))
        if not again:
            return


@kernel
def measure_edges(x, points, c, weights, normal, distance):
    """Weights, normal and distance [m] of a row of two edges at x [m]."""
    s, t, nx, ny, nz, dd = closest_on_edges_of(x, points[c, 0], points[c, 1], points[c, 2], points[c, 3])
    weights[c, 0], weights[c, 1], weights[c, 2], weights[c, 3] = 1.0 - s, s, t - 1.0, -t
    distance[c] = d = sqrt(dd)
    scale = 1.0 / d if d > 0.0 else 0.0
    normal[c, 0], normal[c, 1], normal[c, 2] = scale * nx, scale * ny, scale * nz


@kernel
def size_of(step, i):
    """Length of a row."""
    return sqrt(step[i, 0] * step[i, 0] + step[i, 1] * step[i, 1] + step[i, 2] * step[i, 2])
