"""Contact points of rigid bodies as rows for the impulse solver: where, which way, how far apart, how heavy."""

import math
from typing import NamedTuple

import numpy as np

from ...jit import kernel
from ...model import BoolArray, FloatArray, IntArray

#: Gap at which two surfaces rest, as a share of the thickness of both.
RESTING_GAP = 0.5
#: The same for a point that comes back from behind a surface: a little more than what lets it go (`RECOVERY_SHARE`).
RECOVERED_GAP = 0.8


class Rows(NamedTuple):
    """One row per contact point. Directions lead from the first body to the second; the first one always moves."""

    body: IntArray  # numbers of rigid bodies, the second -1 where it is a collider, shape (capacity, 2)
    arm: FloatArray  # from both centres to the point [m], shape (capacity, 2, 3)
    axes: FloatArray  # unit normal, then two unit vectors along the surface, shape (capacity, 3, 3)
    gap: FloatArray  # beyond the resting gap [m], shape (capacity,)
    thickness: FloatArray  # of both surfaces [m], shape (capacity,)
    given: FloatArray  # velocity of a collider's point [m/s], shape (capacity, 3)
    friction: FloatArray  # shape (capacity,)
    bounciness: FloatArray  # shape (capacity,)
    # What the two bodies set against an impulse [kg]: along the normal; along the surface at least, in any direction;
    # along the surface as a symmetric matrix (xx, xy, yy); shape (capacity, 5)
    mass: FloatArray
    impulse: FloatArray  # along each axis, on the second body [N s], shape (capacity, 3)
    load: FloatArray  # normal impulse that a row started from [N s], shape (capacity,)
    closing: FloatArray  # speed of approach before the step [m/s], shape (capacity,)
    source: IntArray  # pair and point it comes from; -1 and row of the contact record, shape (capacity, 2)
    speed_limit: FloatArray  # at which what is too near is pushed apart [m/s], shape (capacity,)


def new_rows(capacity: int) -> Rows:
    """Room for rows."""
    n = capacity
    return Rows(
        np.zeros((n, 2), np.int32), np.zeros((n, 2, 3)), np.zeros((n, 3, 3)), np.zeros(n), np.zeros(n),
        np.zeros((n, 3)), np.zeros(n), np.zeros(n), np.zeros((n, 5)), np.zeros((n, 3)), np.zeros(n), np.zeros(n),
        np.zeros((n, 2), np.int32), np.zeros(n),
    )  # fmt: skip


class Solids(NamedTuple):
    """Rigid bodies while their impulses are sought, shape (rigid_count, ...)."""

    velocity: FloatArray  # [m/s]
    spin: FloatArray  # angular velocity [1/s]
    inverse_mass: FloatArray  # [1/kg], 0 for a body that sleeps
    inverse_inertia: FloatArray  # in world axes [1/(kg m^2)]
    radius: FloatArray  # [m]
    awake: BoolArray


@kernel
def set_axes(nx, ny, nz, axes):
    """A unit normal and two unit vectors across it; which ones depends smoothly on the normal (Duff et al. 2017)."""
    sign = 1.0 if nz >= 0.0 else -1.0
    a = -1.0 / (sign + nz)
    b = nx * ny * a
    axes[0, 0], axes[0, 1], axes[0, 2] = nx, ny, nz
    axes[1, 0], axes[1, 1], axes[1, 2] = 1.0 + sign * nx * nx * a, sign * b, -sign * nx
    axes[2, 0], axes[2, 1], axes[2, 2] = b, sign + ny * ny * a, -ny


@kernel
def turn_of(arm, axis, inverse):
    """Angular velocity that a unit impulse along `axis` at `arm` gives, and arm x axis."""
    tx = arm[1] * axis[2] - arm[2] * axis[1]
    ty = arm[2] * axis[0] - arm[0] * axis[2]
    tz = arm[0] * axis[1] - arm[1] * axis[0]
    return (
        inverse[0, 0] * tx + inverse[0, 1] * ty + inverse[0, 2] * tz,
        inverse[1, 0] * tx + inverse[1, 1] * ty + inverse[1, 2] * tz,
        inverse[2, 0] * tx + inverse[2, 1] * ty + inverse[2, 2] * tz,
        tx, ty, tz,
    )  # fmt: skip


@kernel
def relative_velocity(row, rows, solids):
    """Velocity of the second body's point against the first one's [m/s]."""
    a, b = rows.body[row, 0], rows.body[row, 1]
    v, w, r = solids.velocity[a], solids.spin[a], rows.arm[row, 0]
    x = -v[0] - w[1] * r[2] + w[2] * r[1]
    y = -v[1] - w[2] * r[0] + w[0] * r[2]
    z = -v[2] - w[0] * r[1] + w[1] * r[0]
    if b < 0:
        g = rows.given[row]
        return x + g[0], y + g[1], z + g[2]
    v, w, r = solids.velocity[b], solids.spin[b], rows.arm[row, 1]
    return (
        x + v[0] + w[1] * r[2] - w[2] * r[1],
        y + v[1] + w[2] * r[0] - w[0] * r[2],
        z + v[2] + w[0] * r[1] - w[1] * r[0],
    )


@kernel
def push(row, rows, solids, jx, jy, jz):
    """An impulse [N s] on the second body of a row, and its opposite on the first."""
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


@kernel
def finish(row, rows, solids, ix, iy, iz, push_share):
    """Masses of a row whose bodies, arms and normal are set, and the impulse it starts from, split along its axes."""
    axes = rows.axes[row]
    a, b = rows.body[row, 0], rows.body[row, 1]
    normal = solids.inverse_mass[a]
    if b >= 0:
        normal += solids.inverse_mass[b]
    xx, xy, yy = normal, 0.0, normal
    for side in range(2):
        body = rows.body[row, side]
        if body < 0:
            continue
        inverse = solids.inverse_inertia[body]
        wx, wy, wz, tx, ty, tz = turn_of(rows.arm[row, side], axes[0], inverse)
        normal += wx * tx + wy * ty + wz * tz
        wx, wy, wz, tx, ty, tz = turn_of(rows.arm[row, side], axes[1], inverse)
        ux, uy, uz, sx, sy, sz = turn_of(rows.arm[row, side], axes[2], inverse)
        xx += wx * tx + wy * ty + wz * tz
        xy += wx * sx + wy * sy + wz * sz
        yy += ux * sx + uy * sy + uz * sz
    largest, across = 0.5 * (xx + yy + math.sqrt((xx - yy) * (xx - yy) + 4.0 * xy * xy)), xx * yy - xy * xy
    mass = rows.mass[row]
    mass[0] = mass[1] = mass[2] = mass[3] = mass[4] = 0.0
    if normal > 0.0 and across > 0.0:
        mass[0], mass[1] = 1.0 / normal, 1.0 / largest
        mass[2], mass[3], mass[4] = yy / across, -xy / across, xx / across
    for k in range(3):
        rows.impulse[row, k] = ix * axes[k, 0] + iy * axes[k, 1] + iz * axes[k, 2]
    rows.impulse[row, 0] = rows.load[row] = max(rows.impulse[row, 0], 0.0)
    x, y, z = relative_velocity(row, rows, solids)
    rows.closing[row] = -(x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2])
    radius = solids.radius[a]
    if b >= 0:
        radius = min(radius, solids.radius[b])
    rows.speed_limit[row] = push_share * radius


@kernel
def manifold_rows(pair, count, owner, anchor, normal, impulse, reach, poses, matrices, thickness, friction, bounciness,
                  solids, push_share, rows):  # fmt: skip
    """Rows of all pairs in which a body is awake; returns their number, which may exceed the room."""
    n = 0
    for p in range(pair.shape[0]):
        if count[p] == 0:
            continue
        a, b = pair[p, 0], pair[p, 1]
        if not (solids.awake[a] or solids.awake[b]):
            continue
        m = matrices[b] if owner[p] == 1 else matrices[a]
        u = normal[p]
        nx = m[0, 0] * u[0] + m[0, 1] * u[1] + m[0, 2] * u[2]
        ny = m[1, 0] * u[0] + m[1, 1] * u[1] + m[1, 2] * u[2]
        nz = m[2, 0] * u[0] + m[2, 1] * u[1] + m[2, 2] * u[2]
        near = thickness[a] + thickness[b]
        rough = math.sqrt(friction[a] * friction[b])
        lively = math.sqrt(bounciness[a] * bounciness[b])
        for k in range(count[p]):
            q, r = anchor[p, k, 0], anchor[p, k, 1]
            m, v = matrices[a], matrices[b]
            gap = 0.0
            if n < rows.gap.shape[0]:
                for axis in range(3):
                    first = m[axis, 0] * q[0] + m[axis, 1] * q[1] + m[axis, 2] * q[2]
                    second = v[axis, 0] * r[0] + v[axis, 1] * r[1] + v[axis, 2] * r[2]
                    across = poses[b, axis] + second - poses[a, axis] - first
                    along = nx if axis == 0 else (ny if axis == 1 else nz)
                    gap += across * along
                    # both push at the same point, halfway: what turns one turns the other back
                    rows.arm[n, 0, axis] = first + 0.5 * across
                    rows.arm[n, 1, axis] = second - 0.5 * across
                if gap < near + reach[p]:
                    rows.body[n, 0], rows.body[n, 1] = a, b
                    set_axes(nx, ny, nz, rows.axes[n])
                    rows.gap[n], rows.thickness[n] = gap - RESTING_GAP * near, near
                    rows.friction[n], rows.bounciness[n] = rough, lively
                    rows.source[n, 0], rows.source[n, 1] = p, k
                    finish(n, rows, solids, impulse[p, k, 0], impulse[p, k, 1], impulse[p, k, 2], push_share)
                else:
                    impulse[p, k, 0] = impulse[p, k, 1] = impulse[p, k, 2] = 0.0
                    continue
            n += 1
    return n


@kernel
def given_rows(
    first_row, count, points, weights, normal, gap, side, bodies, thickness, speculation, x, x_velocity, membrane_count,
    moving_count, poses, matrices, friction, bounciness, held_start, held_anchor, held_impulse, near, solids,
    push_share, rows, local,
):  # fmt: skip
    """Rows of the contact record between bodies and colliders, from `first_row` on; returns the number of all rows.

    `speculation` [m], per body: how far beyond the thickness a contact is of interest. held_*: what the contacts of
    each body carried in the last step, in CSR; taken over by what is nearer than `near` [m]. `local`: output, the
    point of each row in its body's frame.
    """
    n = first_row
    for c in range(count):
        own = 0 if bodies[c, 0] < moving_count else 1
        body, other = bodies[c, own], bodies[c, 1 - own]
        a = body - membrane_count
        if other < moving_count or not solids.awake[a] or not gap[c] < thickness[c] + speculation[a]:
            continue
        if n < rows.gap.shape[0]:
            sign = -1.0 if own == 0 else 1.0
            rows.body[n, 0], rows.body[n, 1] = a, -1
            set_axes(sign * normal[c, 0], sign * normal[c, 1], sign * normal[c, 2], rows.axes[n])
            for axis in range(3):
                here = there = given = 0.0
                for slot in range(4):
                    w = weights[c, slot]
                    if (w > 0.0) == (own == 0):
                        here += abs(w) * x[points[c, slot], axis]
                    else:
                        there += abs(w) * x[points[c, slot], axis]
                        given += abs(w) * x_velocity[points[c, slot], axis]
                rows.arm[n, 0, axis] = 0.5 * (here + there) - poses[a, axis]
                rows.given[n, axis] = given
            m = matrices[a]
            for axis in range(3):
                r = rows.arm[n, 0]
                local[n, axis] = m[0, axis] * r[0] + m[1, axis] * r[1] + m[2, axis] * r[2]
            rows.thickness[n] = thickness[c]
            rows.gap[n] = gap[c] - (RECOVERED_GAP if side[c] < 0 else RESTING_GAP) * thickness[c]
            rows.friction[n] = math.sqrt(friction[body] * friction[other])
            rows.bounciness[n] = math.sqrt(bounciness[body] * bounciness[other])
            rows.source[n, 0], rows.source[n, 1] = -1, c
            best, square = -1, near[a] * near[a]
            for k in range(held_start[a], held_start[a + 1]):
                away = 0.0
                for axis in range(3):
                    away += (held_anchor[k, axis] - local[n, axis]) ** 2
                if away < square:
                    best, square = k, away
            if best >= 0:
                j = held_impulse[best]
                finish(n, rows, solids, j[0], j[1], j[2], push_share)
                held_anchor[best, 0] = math.inf
            else:
                finish(n, rows, solids, 0.0, 0.0, 0.0, push_share)
        n += 1
    return n


@kernel
def mark_pressing(count, body, impulse, touching):
    """Mark the bodies that a row pushes."""
    for row in range(count):
        if impulse[row, 0] > 0.0:
            for side in range(2):
                if body[row, side] >= 0:
                    touching[body[row, side]] = True


@kernel
def keep_impulses(count, impulse, axes, source, kept):
    """Write the impulses of the first `count` rows [N s], in world axes, to the pairs and points they come from."""
    for row in range(count):
        pair, point = source[row, 0], source[row, 1]
        for axis in range(3):
            kept[pair, point, axis] = (
                impulse[row, 0] * axes[row, 0, axis]
                + impulse[row, 1] * axes[row, 1, axis]
                + impulse[row, 2] * axes[row, 2, axis]
            )
