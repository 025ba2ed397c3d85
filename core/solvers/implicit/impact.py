"""Limits contact impulses in the explicit half of a step.

The second stage of a substep starts from the velocity v0 + (h - tau) A1. At an impact, A1 stops a vertex within tau, and
applying it for h - tau would reflect the vertex with up to 1.4 times its speed and gain energy. So each contact's
impulse in that half step is cut such that the velocity does not overshoot that of the first, fully implicit stage. Both
sides of the contact change by opposite impulses: momentum is conserved.
"""

from math import sqrt

import numpy as np

from ...contact.coulomb import cone_share
from ...contact.inverse_mass import InverseMass, inverse_mass_along, push_sides, relative_step
from ...jit import kernel
from ...model import FloatArray
from .stage_energy import StageEnergy

#: Contacts agree on their impulses when a pass changes none by more than this share of the largest change. Vertices of
#: skins hardly feel each other's; a rigid body's corners must share theirs evenly, or they turn it.
PASS_TOLERANCE = 0.05
RIGID_PASS_TOLERANCE = 1e-3
MOST_PASSES = 50
#: Share of that limit by which a contact's impulse may be wrong before it is asked again.
RECHECK_SHARE = 0.25

# Places in a row of what `cut` knows of a contact; the weights come first, as the functions of `mobility` read them.
WEIGHT, SHARE, NORMAL, TAKEN, SLIP, DRAG = 0, 4, 8, 11, 14, 17
SLIPS, MOST, FRICTION, STIFF, SOFT, PATH, ROW_SIZE = 20, 21, 22, 23, 24, 25, 26


def overshoot(
    energy: StageEnergy, mobility: InverseMass, v1: FloatArray, v_ahead: FloatArray, slip: FloatArray, time: float
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
        RIGID_PASS_TOLERANCE if len(mobility.unknown) else PASS_TOLERANCE, excess, taken,
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
    body's four corners share what one pass takes from the first). A contact of vertices is asked again only when what
    it sees has changed by so much that its impulse might change by RECHECK_SHARE of the limit. Serial, so that the result
    is one.
    """
    # what presses, row by row: one place in memory per contact
    pressing = np.flatnonzero(normal_force[:count] > 0.0)
    row_of, ends = np.empty(len(pressing), np.int32), np.empty((len(pressing), 4), np.int32)
    known = np.empty((len(pressing), ROW_SIZE))
    size = 0
    for c in pressing:
        size += record_contact(
            c, size, points, weights, normal, normal_force, force, friction, slip, mobility, time, row_of, ends, known
        )
    way = np.zeros(excess.shape[0])  # no less than how far each vertex's excess has gone so far
    largest = 0.0
    for turn in range(MOST_PASSES):
        change = 0.0
        slight = RECHECK_SHARE * agreed * largest
        for k in range(size):
            row = k if turn % 2 == 0 else size - 1 - k
            if known[row, SOFT] == 0.0:
                change = max(change, cut_rigid(row, ends, known, mobility, excess))
            elif turn == 0 or known[row, STIFF] * (excess_path(row, ends, known, way) - known[row, PATH]) > slight:
                change = max(change, cut(row, ends, known, excess, way))
        largest = max(largest, change)
        if change <= agreed * largest:
            break
    for row in range(size):
        for axis in range(3):
            taken[row_of[row], axis] = known[row, TAKEN + axis]


@kernel
def excess_path(row, ends, known, way):
    """No less than how far what a contact of vertices sees has gone so far."""
    seen = 0.0
    for slot in range(4):
        seen += abs(known[row, WEIGHT + slot]) * way[ends[row, slot]]
    return seen


@kernel
def record_contact(
    c, row, points, weights, normal, normal_force, force, friction, slip, mobility, time, row_of, ends, known
):
    """Write what `cut` must know of contact c to a row; returns whether the contact can give way at all."""
    yielding = inverse_mass_along(c, points, weights, normal[c, 0], normal[c, 1], normal[c, 2], mobility)
    if yielding == 0.0:
        return False
    row_of[row] = c
    vertex_count = mobility.inverse_mass.shape[0]
    soft = True
    for slot in range(4):
        i, w = points[c, slot], weights[c, slot]
        soft = soft and not (w != 0.0 and vertex_count <= i < vertex_count + mobility.unknown.shape[0])
        ends[row, slot], known[row, WEIGHT + slot], known[row, SHARE + slot] = i, w, 0.0
        if i < vertex_count:
            known[row, SHARE + slot] = w * mobility.inverse_mass[i]
    if soft:  # what is given does not move
        for slot in range(4):
            if points[c, slot] >= vertex_count:
                ends[row, slot], known[row, WEIGHT + slot] = 0, 0.0
    most = time * normal_force[c]
    square = 0.0
    for axis in range(3):
        known[row, NORMAL + axis] = normal[c, axis]
        known[row, SLIP + axis] = slip[c, axis]
        known[row, DRAG + axis] = time * force[c, axis] - most * normal[c, axis]
        known[row, TAKEN + axis] = 0.0
        square += slip[c, axis] * slip[c, axis]
    known[row, SLIPS] = 1.0 / square if square > 0.0 else 0.0
    known[row, MOST], known[row, FRICTION] = most, friction[c]
    known[row, STIFF], known[row, SOFT] = 1.0 / yielding, 1.0 if soft else 0.0
    return True


@kernel
def cut(row, ends, known, excess, way):
    """Bring a contact of vertices to the impulse that its own excess asks for; returns the size of the change [N s]."""
    dx = dy = dz = 0.0
    for slot in range(4):
        i, w = ends[row, slot], known[row, WEIGHT + slot]
        dx, dy, dz = dx + w * excess[i, 0], dy + w * excess[i, 1], dz + w * excess[i, 2]
    along, tx, ty, tz = split(row, known, dx, dy, dz)
    # vertices give way alike along any direction
    cx, cy, cz = change_impulse(row, known, along, tx, ty, tz, known[row, STIFF])
    size = sqrt(cx * cx + cy * cy + cz * cz)
    for slot in range(4):
        i, share = ends[row, slot], known[row, SHARE + slot]
        excess[i, 0] -= share * cx
        excess[i, 1] -= share * cy
        excess[i, 2] -= share * cz
        way[i] += abs(share) * size
    known[row, PATH] = excess_path(row, ends, known, way)
    return size


@kernel
def cut_rigid(row, ends, known, mobility, excess):
    """`cut` for a contact with a rigid body."""
    dx, dy, dz = relative_step(row, ends, known, mobility, excess)
    along, tx, ty, tz = split(row, known, dx, dy, dz)
    size, stiff = sqrt(tx * tx + ty * ty + tz * tz), 0.0
    if size > 0.0:
        stiff = 1.0 / inverse_mass_along(row, ends, known, tx / size, ty / size, tz / size, mobility)
    cx, cy, cz = change_impulse(row, known, along, tx, ty, tz, stiff)
    push_sides(row, ends, known, -cx, -cy, -cz, mobility, excess)
    return sqrt(cx * cx + cy * cy + cz * cz)


@kernel
def split(row, known, dx, dy, dz):
    """Of the excess of a contact's sides the part along its normal, and what friction is to stop of the rest [m/s]."""
    nx, ny, nz = known[row, NORMAL], known[row, NORMAL + 1], known[row, NORMAL + 2]
    along = dx * nx + dy * ny + dz * nz
    tx, ty, tz = dx - along * nx, dy - along * ny, dz - along * nz
    inverse = known[row, SLIPS]
    if inverse > 0.0:
        sx, sy, sz = known[row, SLIP], known[row, SLIP + 1], known[row, SLIP + 2]
        turned = min(1.0 + inverse * (tx * sx + ty * sy + tz * sz), 0.0)
        return along, turned * sx, turned * sy, turned * sz
    return along, tx, ty, tz


@kernel
def change_impulse(row, known, along, tx, ty, tz, stiff):
    """Take an excess back, as far as the contact can; `stiff` [kg] along t. Returns the change of its impulse [N s]."""
    nx, ny, nz = known[row, NORMAL], known[row, NORMAL + 1], known[row, NORMAL + 2]
    bx, by, bz = known[row, TAKEN], known[row, TAKEN + 1], known[row, TAKEN + 2]
    held = bx * nx + by * ny + bz * nz
    most = known[row, MOST]
    push = min(max(held + known[row, STIFF] * along, 0.0), most)
    # what is left of friction [N s] is at most what is left of the normal impulse can hold
    wx, wy, wz = known[row, DRAG], known[row, DRAG + 1], known[row, DRAG + 2]
    rx, ry, rz = wx - bx + held * nx - stiff * tx, wy - by + held * ny - stiff * ty, wz - bz + held * nz - stiff * tz
    share = cone_share(sqrt(rx * rx + ry * ry + rz * rz), known[row, FRICTION] * (most - push))
    rx, ry, rz = share * rx, share * ry, share * rz
    jx, jy, jz = push * nx + wx - rx, push * ny + wy - ry, push * nz + wz - rz
    known[row, TAKEN], known[row, TAKEN + 1], known[row, TAKEN + 2] = jx, jy, jz
    return jx - bx, jy - by, jz - bz
