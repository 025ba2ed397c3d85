"""Contact points of rigid bodies as rows for the impulse solver: position, axes, gap, effective masses."""

import math
from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...contact.kept_distance import RECOVERED_SHARE, RESTING_SHARE
from ...contact.mixing import mixed_kernel
from ...contact.narrow_phase.manifolds import nearest_anchor
from ...jit import inline_kernel, kernel

#: Cosine of the angle between two normals from which on contacts face each other [1].
FACING = -0.9
#: Largest speed at which penetrations are pushed apart, in radii per second.
PUSH = 2.0
#: Impulses go over to contact points within this share of the body's radius.
SAME_POINT = 0.1


class Rows(NamedTuple):
    """One row per contact point. Directions lead from the first body to the second; the first one always moves."""

    body: IntArray  # numbers of rigid bodies, the second -1 where it is a collider, shape (capacity, 2)
    arm: FloatArray  # from both centres to the point [m], shape (capacity, 2, 3)
    axes: FloatArray  # unit normal, then two unit vectors along the surface, shape (capacity, 3, 3)
    gap: FloatArray  # beyond the resting gap [m], shape (capacity,)
    bend: FloatArray  # second derivative of the gap as both bodies turn, at most 0 [m/s^2], shape (capacity,)
    thickness: FloatArray  # of both surfaces [m], shape (capacity,)
    given: FloatArray  # velocity of a collider's point [m/s], shape (capacity, 3)
    friction: FloatArray  # shape (capacity,)
    bounciness: FloatArray  # shape (capacity,)
    # Effective masses [kg]: along the normal; the least one along the surface; along the surface as a symmetric
    # matrix (xx, xy, yy); shape (capacity, 5)
    mass: FloatArray
    impulse: FloatArray  # along each axis, on the second body [N s], shape (capacity, 3)
    load: FloatArray  # normal impulse that a row started from [N s], shape (capacity,)
    closing: FloatArray  # speed of approach before the step [m/s], shape (capacity,)
    source: IntArray  # pair and point it comes from; -1 and row of the contact set, shape (capacity, 2)
    speed_limit: FloatArray  # largest speed at which a penetration is pushed apart [m/s], shape (capacity,)


def new_rows(capacity: int) -> Rows:
    """Empty arrays for `capacity` rows."""
    n = capacity
    return Rows(
        np.zeros((n, 2), np.int32), np.zeros((n, 2, 3)), np.zeros((n, 3, 3)), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros((n, 3)), np.zeros(n), np.zeros(n), np.zeros((n, 5)), np.zeros((n, 3)), np.zeros(n), np.zeros(n),
        np.zeros((n, 2), np.int32), np.zeros(n),
    )  # fmt: skip


class Solids(NamedTuple):
    """Rigid bodies during the iteration, shape (rigid_count, ...)."""

    velocity: FloatArray  # [m/s]
    spin: FloatArray  # angular velocity [1/s]
    inverse_mass: FloatArray  # [1/kg], 0 for a body that sleeps
    inverse_inertia: FloatArray  # in world axes [1/(kg m^2)]
    radius: FloatArray  # [m]
    awake: BoolArray


@inline_kernel
def set_axes(nx, ny, nz, row, axes):
    """A unit normal and two unit vectors across it; which ones depends smoothly on the normal (Duff et al. 2017)."""
    sign = 1.0 if nz >= 0.0 else -1.0
    a = -1.0 / (sign + nz)
    b = nx * ny * a
    axes[row, 0, 0], axes[row, 0, 1], axes[row, 0, 2] = nx, ny, nz
    axes[row, 1, 0], axes[row, 1, 1], axes[row, 1, 2] = 1.0 + sign * nx * nx * a, sign * b, -sign * nx
    axes[row, 2, 0], axes[row, 2, 1], axes[row, 2, 2] = b, sign + ny * ny * a, -ny


@kernel
def turned(body, inverse, x, y, z, ax, ay, az, bx, by, bz):
    """Angular part of the velocity along b per unit impulse along a, both at the arm (x, y, z) [1/kg]."""
    tx, ty, tz = y * az - z * ay, z * ax - x * az, x * ay - y * ax
    sx, sy, sz = y * bz - z * by, z * bx - x * bz, x * by - y * bx
    return (
        sx * (inverse[body, 0, 0] * tx + inverse[body, 0, 1] * ty + inverse[body, 0, 2] * tz)
        + sy * (inverse[body, 1, 0] * tx + inverse[body, 1, 1] * ty + inverse[body, 1, 2] * tz)
        + sz * (inverse[body, 2, 0] * tx + inverse[body, 2, 1] * ty + inverse[body, 2, 2] * tz)
    )


@kernel
def relative_velocity(row, rows, solids):
    """Velocity of the second body's point against the first one's [m/s]."""
    a, b = rows.body[row, 0], rows.body[row, 1]
    v, w, arm = solids.velocity, solids.spin, rows.arm
    rx, ry, rz = arm[row, 0, 0], arm[row, 0, 1], arm[row, 0, 2]
    x = -v[a, 0] - w[a, 1] * rz + w[a, 2] * ry
    y = -v[a, 1] - w[a, 2] * rx + w[a, 0] * rz
    z = -v[a, 2] - w[a, 0] * ry + w[a, 1] * rx
    if b < 0:
        return x + rows.given[row, 0], y + rows.given[row, 1], z + rows.given[row, 2]
    rx, ry, rz = arm[row, 1, 0], arm[row, 1, 1], arm[row, 1, 2]
    return (
        x + v[b, 0] + w[b, 1] * rz - w[b, 2] * ry,
        y + v[b, 1] + w[b, 2] * rx - w[b, 0] * rz,
        z + v[b, 2] + w[b, 0] * ry - w[b, 1] * rx,
    )


@kernel
def push(row, rows, solids, jx, jy, jz):
    """Apply an impulse [N s] to the second body of a row, and its opposite to the first."""
    for side in range(2):
        body = rows.body[row, side]
        if body < 0:
            continue
        sign = 1.0 if side == 1 else -1.0
        share = sign * solids.inverse_mass[body]
        v, w, r, inverse = solids.velocity[body], solids.spin[body], rows.arm[row, side], solids.inverse_inertia[body]
        v[0] += share * jx
        v[1] += share * jy
        v[2] += share * jz
        tx, ty, tz = r[1] * jz - r[2] * jy, r[2] * jx - r[0] * jz, r[0] * jy - r[1] * jx
        for axis in range(3):
            w[axis] += sign * (inverse[axis, 0] * tx + inverse[axis, 1] * ty + inverse[axis, 2] * tz)


@inline_kernel
def centripetal(spin, body, x, y, z, nx, ny, nz):
    """Acceleration along n of a point at an arm (x, y, z) as its body turns: n . w x (w x r) [m/s^2]."""
    wx, wy, wz = spin[body, 0], spin[body, 1], spin[body, 2]
    about, square = wx * x + wy * y + wz * z, wx * wx + wy * wy + wz * wz
    return about * (wx * nx + wy * ny + wz * nz) - square * (x * nx + y * ny + z * nz)


@inline_kernel
def finish(row, rows, solids, frame, ix, iy, iz):
    """Effective masses of a row whose bodies, arms and normal are set, and its start impulse, split along its axes.

    frame: the body with which the normal turns, -1 for none.
    """
    a, b = rows.body[row, 0], rows.body[row, 1]
    arm, axes, mass, given = rows.arm, rows.axes, rows.mass, rows.given
    velocity, spin, inverse_mass, inverse = solids.velocity, solids.spin, solids.inverse_mass, solids.inverse_inertia
    nx, ny, nz = axes[row, 0, 0], axes[row, 0, 1], axes[row, 0, 2]
    fx, fy, fz = axes[row, 1, 0], axes[row, 1, 1], axes[row, 1, 2]
    gx, gy, gz = axes[row, 2, 0], axes[row, 2, 1], axes[row, 2, 2]
    x, y, z = arm[row, 0, 0], arm[row, 0, 1], arm[row, 0, 2]
    xx = yy = lightest = inverse_mass[a]
    normal = lightest + turned(a, inverse, x, y, z, nx, ny, nz, nx, ny, nz)
    xx += turned(a, inverse, x, y, z, fx, fy, fz, fx, fy, fz)
    xy = turned(a, inverse, x, y, z, fx, fy, fz, gx, gy, gz)
    yy += turned(a, inverse, x, y, z, gx, gy, gz, gx, gy, gz)
    size = solids.radius[a]
    ux = -velocity[a, 0] - spin[a, 1] * z + spin[a, 2] * y
    uy = -velocity[a, 1] - spin[a, 2] * x + spin[a, 0] * z
    uz = -velocity[a, 2] - spin[a, 0] * y + spin[a, 1] * x
    bent = -centripetal(spin, a, x, y, z, nx, ny, nz)
    if b >= 0:
        x, y, z = arm[row, 1, 0], arm[row, 1, 1], arm[row, 1, 2]
        lightest = inverse_mass[b]
        normal += lightest + turned(b, inverse, x, y, z, nx, ny, nz, nx, ny, nz)
        xx += lightest + turned(b, inverse, x, y, z, fx, fy, fz, fx, fy, fz)
        xy += turned(b, inverse, x, y, z, fx, fy, fz, gx, gy, gz)
        yy += lightest + turned(b, inverse, x, y, z, gx, gy, gz, gx, gy, gz)
        size = min(size, solids.radius[b])
        ux += velocity[b, 0] + spin[b, 1] * z - spin[b, 2] * y
        uy += velocity[b, 1] + spin[b, 2] * x - spin[b, 0] * z
        uz += velocity[b, 2] + spin[b, 0] * y - spin[b, 1] * x
        bent += centripetal(spin, b, x, y, z, nx, ny, nz)
    else:
        ux, uy, uz = ux + given[row, 0], uy + given[row, 1], uz + given[row, 2]
    if frame >= 0:  # what slides along a face that turns: 2 (w x n) . u
        wx, wy, wz = spin[frame, 0], spin[frame, 1], spin[frame, 2]
        bent += 2.0 * ((wy * nz - wz * ny) * ux + (wz * nx - wx * nz) * uy + (wx * ny - wy * nx) * uz)
    rows.bend[row] = min(bent, 0.0)
    largest, across = 0.5 * (xx + yy + math.sqrt((xx - yy) * (xx - yy) + 4.0 * xy * xy)), xx * yy - xy * xy
    if normal > 0.0 and across > 0.0:
        mass[row, 0], mass[row, 1] = 1.0 / normal, 1.0 / largest
        across = 1.0 / across
        mass[row, 2], mass[row, 3], mass[row, 4] = yy * across, -xy * across, xx * across
    else:
        mass[row, 0] = mass[row, 1] = mass[row, 2] = mass[row, 3] = mass[row, 4] = 0.0
    start = max(ix * nx + iy * ny + iz * nz, 0.0)
    rows.impulse[row, 0], rows.load[row] = start, start
    rows.impulse[row, 1] = ix * fx + iy * fy + iz * fz
    rows.impulse[row, 2] = ix * gx + iy * gy + iz * gz
    rows.closing[row] = -(ux * nx + uy * ny + uz * nz)
    rows.speed_limit[row] = PUSH * size


@kernel
def manifold_rows(found, pose):
    """Rows of all pairs with an awake body; returns their number, which may exceed the capacity."""
    bodies, rows, solids, matrices = found.step.bodies, found.step.rows, found.step.solids, found.step.matrices
    m, awake, n = found.pairs, solids.awake, 0
    for p in range(m.pair.shape[0]):
        if m.point_count[p] == 0:
            continue
        a, b = m.pair[p, 0], m.pair[p, 1]
        if not (awake[a] or awake[b]):
            continue
        frame = b if m.owner[p] == 1 else a
        ux, uy, uz = m.normal[p, 0], m.normal[p, 1], m.normal[p, 2]
        nx = matrices[frame, 0, 0] * ux + matrices[frame, 0, 1] * uy + matrices[frame, 0, 2] * uz
        ny = matrices[frame, 1, 0] * ux + matrices[frame, 1, 1] * uy + matrices[frame, 1, 2] * uz
        nz = matrices[frame, 2, 0] * ux + matrices[frame, 2, 1] * uy + matrices[frame, 2, 2] * uz
        near = bodies.thickness[a] + bodies.thickness[b]
        rough = mixed_kernel(bodies.friction[bodies.first + a], bodies.friction[bodies.first + b])
        lively = mixed_kernel(bodies.bounciness[bodies.first + a], bodies.bounciness[bodies.first + b])
        for k in range(m.point_count[p]):
            if n >= rows.gap.shape[0]:
                n += 1
                continue
            qx, qy, qz = m.anchor[p, k, 0, 0], m.anchor[p, k, 0, 1], m.anchor[p, k, 0, 2]
            rx, ry, rz = m.anchor[p, k, 1, 0], m.anchor[p, k, 1, 1], m.anchor[p, k, 1, 2]
            gap = 0.0
            for axis in range(3):
                first = matrices[a, axis, 0] * qx + matrices[a, axis, 1] * qy + matrices[a, axis, 2] * qz
                second = matrices[b, axis, 0] * rx + matrices[b, axis, 1] * ry + matrices[b, axis, 2] * rz
                across = pose[b, axis] + second - pose[a, axis] - first
                gap += across * (nx if axis == 0 else (ny if axis == 1 else nz))
                # both impulses act at one point, halfway: their torques cancel
                rows.arm[n, 0, axis] = first + 0.5 * across
                rows.arm[n, 1, axis] = second - 0.5 * across
            j = m.impulse[p, k]
            if gap < near + m.reach[p]:
                rows.body[n, 0], rows.body[n, 1] = a, b
                set_axes(nx, ny, nz, n, rows.axes)
                rows.gap[n], rows.thickness[n] = gap - RESTING_SHARE * near, near
                rows.friction[n], rows.bounciness[n] = rough, lively
                rows.source[n, 0], rows.source[n, 1] = p, k
                finish(n, rows, solids, frame, j[0], j[1], j[2])
                n += 1
            else:
                j[0] = j[1] = j[2] = 0.0
    return n


@kernel
def given_rows(first_row, found, pose, x, v):
    """Rows of the pairs with colliders, from `first_row` on; returns the number of all rows.

    x, v: of all points [m, m/s]. A row takes over the impulse of the nearest held contact.
    """
    bodies, rows, solids, near, held = found.step.bodies, found.step.rows, found.step.solids, found.near, found.held
    n, contacts = first_row, near.pairs
    anchor = held.anchor[: held.start[held.start.shape[0] - 1]].copy()  # infinite once its impulse is taken
    for c in range(contacts.gap.shape[0]):
        own = 0 if contacts.bodies[c, 0] < bodies.end else 1
        body, other = contacts.bodies[c, own], contacts.bodies[c, 1 - own]
        a, thickness, gap = body - bodies.first, contacts.thickness[c], contacts.gap[c]
        if other < bodies.end or not solids.awake[a] or not gap < thickness + near.speculation[a]:
            continue
        if n < rows.gap.shape[0]:
            place_given(n, c, own, a, found, pose, x, v)
            rows.thickness[n] = thickness
            rows.gap[n] = gap - kept_share(contacts.side[c]) * thickness
            rows.friction[n] = mixed_kernel(bodies.friction[body], bodies.friction[other])
            rows.bounciness[n] = mixed_kernel(bodies.bounciness[body], bodies.bounciness[other])
            rows.source[n, 0], rows.source[n, 1] = -1, c
            frame = a if own == 1 and c < contacts.edge_start else -1  # the triangle is the body's
            best = nearest_anchor(
                anchor, held.start[a], held.start[a + 1], held.local[n], SAME_POINT * solids.radius[a]
            )
            if best >= 0:
                j = held.impulse[best]
                finish(n, rows, solids, frame, j[0], j[1], j[2])
                anchor[best, 0] = math.inf
            else:
                finish(n, rows, solids, frame, 0.0, 0.0, 0.0)
        n += 1
    return n


@inline_kernel
def kept_share(side):
    """Gap that a contact with a collider keeps, over the thickness [1]; more on the wrong side (-1)."""
    return RECOVERED_SHARE if side < 0 else RESTING_SHARE


@kernel
def place_given(n, c, own, a, found, pose, x, v):
    """Bodies, axes, arm and the collider's velocity of row n, from contact c, of which side `own` is rigid body a."""
    rows, contacts = found.step.rows, found.near.pairs
    sign = -1.0 if own == 0 else 1.0
    rows.body[n, 0], rows.body[n, 1] = a, -1
    normal = contacts.normal[c]
    set_axes(sign * normal[0], sign * normal[1], sign * normal[2], n, rows.axes)
    r = rows.arm[n, 0]
    for axis in range(3):
        here = there = given = 0.0
        for slot in range(4):
            w, point = contacts.weights[c, slot], contacts.points[c, slot]
            if (w > 0.0) == (own == 0):
                here += abs(w) * x[point, axis]
            else:
                there += abs(w) * x[point, axis]
                given += abs(w) * v[point, axis]
        r[axis] = 0.5 * (here + there) - pose[a, axis]
        rows.given[n, axis] = given
    m = found.step.matrices[a]
    for axis in range(3):
        found.held.local[n, axis] = m[0, axis] * r[0] + m[1, axis] * r[1] + m[2, axis] * r[2]


@kernel
def share_room(first, count, side, rows):
    """Let the resting gaps of rows first .. count - 1, with colliders, give way where two of a body face each other.

    The thickness is a margin, not a part of the shapes: a box drawn with 0.1 mm of play in a tunnel slides through it.
    Neither of two such contacts keeps more than half of their gaps together: pushed to more, they would press the body
    from both sides, harder in each step. Where the body itself has no room they do, so such contacts begin without
    impulses. side: of each contact with a collider, as in `colliders.Near`.
    """
    bodies = 0
    for row in range(first, count):
        bodies = max(bodies, rows.body[row, 0] + 1)
    newest, older, gap = np.full(bodies, -1, np.int32), np.empty(count - first, np.int32), np.empty(count - first)
    for row in range(first, count):
        gap[row - first] = rows.gap[row] + kept_share(side[rows.source[row, 1]]) * rows.thickness[row]
        older[row - first] = newest[rows.body[row, 0]]
        newest[rows.body[row, 0]] = row
    for row in range(first, count):
        n, other = rows.axes[row, 0], newest[rows.body[row, 0]]
        while other >= 0:
            m = rows.axes[other, 0]
            if n[0] * m[0] + n[1] * m[1] + n[2] * m[2] < FACING:
                rows.gap[row] = max(rows.gap[row], 0.5 * (gap[row - first] - gap[other - first]))
                if gap[row - first] + gap[other - first] < 0.0:
                    rows.impulse[row], rows.load[row] = 0.0, 0.0
            other = older[other - first]


@kernel
def mark_pressing(count, body, impulse, touching):
    """Mark the bodies that a row pushes."""
    for row in range(count):
        if impulse[row, 0] > 0.0:
            for side in range(2):
                if body[row, side] >= 0:
                    touching[body[row, side]] = True


@kernel
def forget_unmet(count, rows, solids, time, slow):
    """Forget the impulses of rows that still approach faster than `slow` [m/s], into what they keep free.

    Where there is no room, as in a press, no impulses are enough: those of the next steps would grow without end.
    """
    for row in range(count):
        x, y, z = relative_velocity(row, rows, solids)
        axes = rows.axes[row]
        speed = x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2]
        if speed < -slow and rows.gap[row] + time * speed < 0.0:
            rows.impulse[row] = 0.0


@kernel
def keep_impulses(count, impulse, axes, source, kept):
    """Store the impulses of the first `count` rows [N s], in world axes, with the pairs and points they come from."""
    for row in range(count):
        pair, point = source[row, 0], source[row, 1]
        for axis in range(3):
            kept[pair, point, axis] = (
                impulse[row, 0] * axes[row, 0, axis]
                + impulse[row, 1] * axes[row, 1, axis]
                + impulse[row, 2] * axes[row, 2, axis]
            )
