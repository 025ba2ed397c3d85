"""Care at impacts: what an explicit half step must not add.

The second stage of a substep starts from the velocity v0 + (h - tau) A1. Where a vertex has just hit something,
A1 has stopped it within tau, and going on with it for h - tau would throw it back at up to 1.4 times its speed,
out of nothing. So each contact's impulse in that half step is cut to what does not overshoot the velocity that the
first, fully implicit stage has found. Both sides of the contact change by opposite impulses: momentum stays.
"""

from math import sqrt

import numpy as np

from ..jit import kernel
from ..model import FloatArray
from .energy import StageEnergy


def overshoot(energy: StageEnergy, v1: FloatArray, v_ahead: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
    """What `v_ahead` [m/s] has to change by, shape (vertex_count, 3), and what that takes from each contact's normal
    impulse [N s], shape (contact_count,).

    `v1` are the velocities of the first stage; `time` = h - tau [s] is what `v_ahead` looks ahead.
    """
    contacts = energy.contacts
    change, taken = np.zeros_like(v_ahead), np.zeros(contacts.count)
    cut_impulses(
        contacts.count, contacts.points, contacts.weights, contacts.normal, energy.normal_force,
        contacts.friction, energy.model.vertex_mass, energy.model.pinned, v1, v_ahead, time, change, taken,
    )  # fmt: skip
    return change, taken


@kernel
def cut_impulses(
    count, points, weights, normal, normal_force, friction, mass, pinned, v1, v_ahead, time, change, taken
):
    """Velocity changes [m/s] that take each contact's overshoot back, and the normal impulses [N s] that make them.

    Serial, in contact order.
    """
    vertex_count = mass.shape[0]
    for c in range(count):
        if normal_force[c] <= 0.0:
            continue
        dx = dy = dz = 0.0
        mobility = 0.0
        for slot in range(4):
            i = points[c, slot]
            if i < vertex_count and not pinned[i]:
                w = weights[c, slot]
                dx += w * (v_ahead[i, 0] - v1[i, 0])
                dy += w * (v_ahead[i, 1] - v1[i, 1])
                dz += w * (v_ahead[i, 2] - v1[i, 2])
                mobility += w * w / mass[i]
        if mobility == 0.0:
            continue
        nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
        along = dx * nx + dy * ny + dz * nz
        tx, ty, tz = dx - along * nx, dy - along * ny, dz - along * nz
        slip = sqrt(tx * tx + ty * ty + tz * tz)
        most = time * normal_force[c] * mobility
        cut = min(max(along, 0.0), most)
        slip_cut = min(slip, friction[c] * most) / slip if slip > 0.0 else 0.0
        taken[c] = cut / mobility
        ix = (cut * nx + slip_cut * tx) / mobility
        iy = (cut * ny + slip_cut * ty) / mobility
        iz = (cut * nz + slip_cut * tz) / mobility
        for slot in range(4):
            i = points[c, slot]
            if i < vertex_count and not pinned[i]:
                share = weights[c, slot] / mass[i]
                change[i, 0] -= share * ix
                change[i, 1] -= share * iy
                change[i, 2] -= share * iz
