"""Removes from a displacement the part that closes a gap, to first order.

A Newton step sees only the contacts that are active where it starts. Vertices that come into contact during the step
would pass through the surface, and the line search would shorten the whole step because of them. Here their normal
displacement is limited; the tangential one stays.
"""

from math import sqrt

import numpy as np

from ...jit import kernel
from ...model import FloatArray
from ...tiny import ROUNDING
from ..contacts import Contacts
from ..inverse_mass import InverseMass, inverse_mass_along, push_sides, relative_step

#: Part of the gap (or of the thickness, if less) that a step must leave [1].
KEPT_SHARE = 0.75
#: Gauss-Seidel passes at most [1], and their tolerance as a fraction of the gap to be left [1].
PASSES, LEFT_OVER = 20, 0.01


def remove_closing(step: FloatArray, mobility: InverseMass, contacts: Contacts) -> None:
    """Correct a step of the unknowns, shape (unknown_count, 3), in place, for the gaps last evaluated.

    Pinned vertices and colliders do not move.
    """
    if contacts.count:
        correct_step(
            contacts.count, contacts.points, contacts.weights, contacts.normal, contacts.gap, contacts.thickness,
            contacts.side, mobility, step,
        )  # fmt: skip


@kernel
def correct_step(count, points, weights, normal, gap, thickness, side, mobility, step):
    """Gauss-Seidel passes over the contacts in their order; serial, so that the result is deterministic."""
    # neither side closes a gap by more than the longest displacement of a vertex
    longest = 0.0 if mobility.unknown.shape[0] == 0 else np.inf
    for i in range(mobility.inverse_mass.shape[0]):
        longest = max(longest, row_length(step, i))
    for _ in range(PASSES):
        again = False
        for c in range(count):
            kept = KEPT_SHARE * min(gap[c], thickness[c])
            # both sides may move by the longest displacement, also where another row owns the pair
            if not gap[c] - kept <= 2.0 * (1.0 + ROUNDING) * longest and side[c] > 0:
                continue
            if not gap[c] < 1e300:
                continue
            nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
            ux, uy, uz = relative_step(c, points, weights, mobility, step)
            closing = -(nx * ux + ny * uy + nz * uz)
            lack = kept - (gap[c] - closing)
            if closing <= 0.0 or lack <= 0.0:
                continue
            yielding = inverse_mass_along(c, points, weights, nx, ny, nz, mobility)
            if yielding > 0.0:
                again |= lack > LEFT_OVER * kept
                push = lack / yielding
                push_sides(c, points, weights, push * nx, push * ny, push * nz, mobility, step)
                for slot in range(4):
                    if points[c, slot] < mobility.inverse_mass.shape[0]:
                        longest = max(longest, row_length(step, points[c, slot]))
        if not again:
            return


@kernel
def row_length(step, i):
    """Length of row i."""
    return sqrt(step[i, 0] * step[i, 0] + step[i, 1] * step[i, 1] + step[i, 2] * step[i, 2])
