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

#: Contacts agree on their impulses when a pass changes none by more than this share of the largest change. Vertices of
#: skins hardly feel each other's; a rigid body's corners must share theirs evenly, or they turn it.
AGREED = 0.05
AGREED_OF_SOLIDS = 1e-3
MOST_PASSES = 50


def overshoot(
    energy: StageEnergy, mobility: Mobility, v1: FloatArray, v_ahead: FloatArray, slip: FloatArray, time: float
) -> tuple[FloatArray, FloatArray]:
    """What `v_ahead` [m/s, 1/s] has to change by, shape (unknown_count, 3), and what that takes from each contact's
    normal impulse [N s], shape (contact_count,).

    `v1` are the velocities of the first stage, and `slip` those of its contacts along the surface, zero where they
    stick, shape (contact_count, 3); `time` = h - tau [s] is what `v_ahead` looks ahead.
    """
    contacts = energy.contacts
    ahead = v_ahead - v1
    ahead[: len(mobility.inverse_mass)][mobility.inverse_mass == 0.0] = 0.0  # pinned vertices go where they are given
    excess, taken = ahead.copy(), np.zeros((contacts.count, 3))
    cut_impulses(
        contacts.count, contacts.points, contacts.weights, contacts.normal, energy.pressing,
        energy.terms.force, contacts.friction, slip, mobility, time,
        AGREED_OF_SOLIDS if len(mobility.unknown) else AGREED, excess, taken,
    )  # fmt: skip
    return excess - ahead, np.einsum("ci,ci->c", taken, contacts.normal[: contacts.count])


@kernel
def cut_impulses(
    count, points, weights, normal, normal_force, force, friction, slip, mobility, time, agreed, excess, taken
):  # fmt: skip
    """Take each contact's overshoot out of `excess`, the velocities beyond the first stage's; `taken` are the impulses
    [N s] that this takes back, shape (count, 3), zero at first.

    Of the normal impulse at most all. Of friction all excess of a contact that sticks, but of one that slips only what
    would turn its slip round; and what the normal impulse that is left cannot hold.
    `force` are the contacts' whole forces [N]. Gauss-Seidel passes to and fro, until the contacts agree (a rigid
    body's four corners share what one pass takes from the first). Serial, so that the result is one.
    """
    largest = 0.0
    for turn in range(MOST_PASSES):
        change = 0.0
        for k in range(count):
            c = k if turn % 2 == 0 else count - 1 - k
            if normal_force[c] > 0.0:
                most = time * normal_force[c]
                change = max(
                    change,
                    cut(c, points, weights, normal, most, time, force, friction[c], slip, mobility, excess, taken),
                )
        largest = max(largest, change)
        if change <= agreed * largest:
            break


@kernel
def cut(c, points, weights, normal, most, time, force, friction, slip, mobility, excess, taken):
    """Bring one contact's impulse to what its own excess asks for; returns the size of its change [N s]."""
    nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
    yielding = mobility_along(c, points, weights, nx, ny, nz, mobility)
    if yielding == 0.0:
        return 0.0
    ax, ay, az = taken[c, 0], taken[c, 1], taken[c, 2]
    held = ax * nx + ay * ny + az * nz
    ax, ay, az = ax - held * nx, ay - held * ny, az - held * nz
    dx, dy, dz = relative_step(c, points, weights, mobility, excess)
    along = dx * nx + dy * ny + dz * nz
    push = min(max(held + along / yielding, 0.0), most)
    tx, ty, tz = dx - along * nx, dy - along * ny, dz - along * nz
    sx, sy, sz = slip[c, 0], slip[c, 1], slip[c, 2]
    speed2 = sx * sx + sy * sy + sz * sz
    if speed2 > 0.0:
        turned = min(1.0 + (tx * sx + ty * sy + tz * sz) / speed2, 0.0)
        tx, ty, tz = turned * sx, turned * sy, turned * sz
    size = sqrt(tx * tx + ty * ty + tz * tz)
    if size > 0.0:
        share = 1.0 / mobility_along(c, points, weights, tx / size, ty / size, tz / size, mobility)
        ax, ay, az = ax + share * tx, ay + share * ty, az + share * tz
    # what is left of friction [N s] is at most what is left of the normal impulse can hold
    wx, wy, wz = time * force[c, 0] - most * nx, time * force[c, 1] - most * ny, time * force[c, 2] - most * nz
    rx, ry, rz = wx - ax, wy - ay, wz - az
    size = sqrt(rx * rx + ry * ry + rz * rz)
    limit = friction * (most - push)
    if size > limit:
        rx, ry, rz = rx * limit / size, ry * limit / size, rz * limit / size
    jx, jy, jz = push * nx + wx - rx, push * ny + wy - ry, push * nz + wz - rz
    cx, cy, cz = jx - taken[c, 0], jy - taken[c, 1], jz - taken[c, 2]
    taken[c, 0], taken[c, 1], taken[c, 2] = jx, jy, jz
    push_sides(c, points, weights, -cx, -cy, -cz, mobility, excess)
    return sqrt(cx * cx + cy * cy + cz * cz)
