"""Care at impacts: what an explicit half step must not add.

The second stage of a substep starts from the velocity v0 + (h - tau) A1. Where a vertex has just hit something,
A1 has stopped it within tau, and going on with it for h - tau would throw it back at up to 1.4 times its speed,
out of nothing. So each contact's impulse in that half step is cut to what does not overshoot the velocity that the
first, fully implicit stage has found. Both sides of the contact change by opposite impulses: momentum stays.
"""

from math import sqrt

import numpy as np

from ..collide.mobility import Mobility, mobility_along, push_sides, relative_step
from ..jit import kernel
from ..model import FloatArray
from .energy import StageEnergy


def overshoot(
    energy: StageEnergy, mobility: Mobility, v1: FloatArray, v_ahead: FloatArray, time: float
) -> tuple[FloatArray, FloatArray]:
    """What `v_ahead` [m/s, 1/s] has to change by, shape (unknown_count, 3), and what that takes from each contact's
    normal impulse [N s], shape (contact_count,).

    `v1` are the velocities of the first stage; `time` = h - tau [s] is what `v_ahead` looks ahead.
    """
    contacts = energy.contacts
    ahead = v_ahead - v1
    excess, taken = ahead.copy(), np.zeros(contacts.count)
    cut_impulses(
        contacts.count, contacts.points, contacts.weights, contacts.normal, energy.pressing,
        contacts.friction, mobility, time, excess, taken,
    )  # fmt: skip
    return excess - ahead, taken


@kernel
def cut_impulses(count, points, weights, normal, normal_force, friction, mobility, time, excess, taken):
    """Take each contact's overshoot out of `excess`, the velocities beyond the first stage's; and the normal impulses
    [N s] that this takes back.

    Serial, in contact order; each contact sees what those before it have taken, so that the many contacts of a rigid
    body do not all take the same overshoot back.
    """
    for c in range(count):
        if normal_force[c] <= 0.0:
            continue
        nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
        yielding = mobility_along(c, points, weights, nx, ny, nz, mobility)
        if yielding == 0.0:
            continue
        dx, dy, dz = relative_step(c, points, weights, mobility, excess)
        along = dx * nx + dy * ny + dz * nz
        most = time * normal_force[c]
        cut = min(max(along, 0.0) / yielding, most)
        taken[c] = cut
        jx, jy, jz = cut * nx, cut * ny, cut * nz
        tx, ty, tz = dx - along * nx, dy - along * ny, dz - along * nz
        slip = sqrt(tx * tx + ty * ty + tz * tz)
        if slip > 0.0:
            tx, ty, tz = tx / slip, ty / slip, tz / slip
            slip_cut = min(slip / mobility_along(c, points, weights, tx, ty, tz, mobility), friction[c] * most)
            jx, jy, jz = jx + slip_cut * tx, jy + slip_cut * ty, jz + slip_cut * tz
        push_sides(c, points, weights, -jx, -jy, -jz, mobility, excess)
