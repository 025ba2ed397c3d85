"""Limits contact impulses in the explicit half of a step.

The second stage of a substep starts from the velocity v0 + (h - tau) A1. At an impact A1 stops a vertex within tau;
applied for h - tau it would reflect the vertex with up to 1.4 times its speed and gain energy. So each contact's
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

#: Passes end when none changes an impulse by more than this fraction of the largest change [1]. Vertices of soft bodies
#: are hardly coupled; uneven impulses at the corners of a rigid body would turn it.
PASS_TOLERANCE = 0.05
RIGID_PASS_TOLERANCE = 1e-3
#: Passes at most.
MOST_PASSES = 50
#: Estimated error of a contact's impulse above which it is computed again [tolerance of the passes].
RECHECK_SHARE = 0.25

# Columns of the data of a contact; the weights come first, as the functions of `inverse_mass.py` read them.
WEIGHT, SHARE, NORMAL, TAKEN, SLIP, DRAG = 0, 4, 8, 11, 14, 17
SLIPS, MOST, FRICTION, STIFF, SOFT, PATH, ROW_SIZE = 20, 21, 22, 23, 24, 25, 26


def overshoot(
    energy: StageEnergy, mobility: InverseMass, v1: FloatArray, v_ahead: FloatArray, slip: FloatArray, time: float
) -> tuple[FloatArray, FloatArray]:
    """Correction of `v_ahead` [m/s, 1/s], shape (unknown_count, 3), and the normal impulses that it removes [N s].

    `v_ahead`: start velocities of the second stage; `v1`: velocities of the first stage; `slip`: slip velocities of its
    contacts [m/s], zero where they stick, shape (contact_count, 3); `time` = h - tau [s]. The impulses have shape
    (contact_count,).
    """
    contacts = energy.contacts
    ahead = v_ahead - v1
    ahead[: len(mobility.inverse_mass)][mobility.inverse_mass == 0.0] = 0.0  # pinned vertices are kinematic
    excess, taken = ahead.copy(), np.zeros((contacts.count, 3))
    cut_impulses(
        contacts.count, contacts.points, contacts.weights, contacts.normal, energy.pressing,
        energy.force, contacts.friction, slip, mobility, time,
        RIGID_PASS_TOLERANCE if len(mobility.unknown) else PASS_TOLERANCE, excess, taken,
    )  # fmt: skip
    return excess - ahead, np.einsum("ci,ci->c", taken, contacts.normal[: contacts.count])


@kernel
def cut_impulses(
    count, points, weights, normal, normal_force, force, friction, slip, mobility, time, agreed, excess, taken
):  # fmt: skip
    """Remove each contact's overshoot from `excess`, the velocities relative to the first stage's [m/s, 1/s].

    `taken`: output, impulses removed [N s], shape (count, 3), zero at first. `force`: total forces of contacts [N].
    The normal impulse is reduced to 0 at most. Friction stops all excess of a contact that sticks; of one that slips
    only the part that would reverse the slip, and the part that the remaining normal impulse does not admit.
    Gauss-Seidel passes in alternating order until the impulses converge (one pass alone would load the four corners of
    a rigid body unevenly). A contact of vertices is computed again only where its excess has changed by so much that
    its impulse may change by RECHECK_SHARE of the tolerance. Serial, so that the result is deterministic.
    """
    # contacts with a normal force, one contiguous row of data each
    pressing = np.flatnonzero(normal_force[:count] > 0.0)
    row_of, ends = np.empty(len(pressing), np.int32), np.empty((len(pressing), 4), np.int32)
    known = np.empty((len(pressing), ROW_SIZE))
    size = 0
    for c in pressing:
        size += record_contact(
            c, size, points, weights, normal, normal_force, force, friction, slip, mobility, time, row_of, ends, known
        )
    way = np.zeros(excess.shape[0])  # upper bound of the path length of each vertex's excess so far [m/s]
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
    """Upper bound of the path length of the excess that a contact of vertices sees [m/s]."""
    seen = 0.0
    for slot in range(4):
        seen += abs(known[row, WEIGHT + slot]) * way[ends[row, slot]]
    return seen


@kernel
def record_contact(
    c, row, points, weights, normal, normal_force, force, friction, slip, mobility, time, row_of, ends, known
):
    """Write the data of contact c to a row; returns whether one of its sides can move."""
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
    if soft:  # kinematic points do not move
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
    """Set a contact of vertices to the impulse for its present excess; returns the size of the change [N s]."""
    dx = dy = dz = 0.0
    for slot in range(4):
        i, w = ends[row, slot], known[row, WEIGHT + slot]
        dx, dy, dz = dx + w * excess[i, 0], dy + w * excess[i, 1], dz + w * excess[i, 2]
    along, tx, ty, tz = split(row, known, dx, dy, dz)
    # the inverse mass of vertices is isotropic
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
    """Normal part of a contact's excess, and the tangential part that friction must stop [m/s]."""
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
    """Remove an excess within the contact's limits; `stiff`: effective mass along t [kg]. Returns the impulse [N s]."""
    nx, ny, nz = known[row, NORMAL], known[row, NORMAL + 1], known[row, NORMAL + 2]
    bx, by, bz = known[row, TAKEN], known[row, TAKEN + 1], known[row, TAKEN + 2]
    held = bx * nx + by * ny + bz * nz
    most = known[row, MOST]
    push = min(max(held + known[row, STIFF] * along, 0.0), most)
    # the remaining friction [N s] is bounded by the remaining normal impulse
    wx, wy, wz = known[row, DRAG], known[row, DRAG + 1], known[row, DRAG + 2]
    rx, ry, rz = wx - bx + held * nx - stiff * tx, wy - by + held * ny - stiff * ty, wz - bz + held * nz - stiff * tz
    share = cone_share(sqrt(rx * rx + ry * ry + rz * rz), known[row, FRICTION] * (most - push))
    rx, ry, rz = share * rx, share * ry, share * rz
    jx, jy, jz = push * nx + wx - rx, push * ny + wy - ry, push * nz + wz - rz
    known[row, TAKEN], known[row, TAKEN + 1], known[row, TAKEN + 2] = jx, jy, jz
    return jx - bx, jy - by, jz - bz
