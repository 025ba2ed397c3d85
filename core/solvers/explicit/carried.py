"""Points of rigid bodies and of colliders: from poses, and along straight lines.

Only points that are part of a contact are placed in every step; all are placed where a search needs them. The state of
a rigid body is its angular momentum; the angular velocity follows from it and from the orientation.
"""

from math import sqrt

import numpy as np

from ...bodies.rigid.motion import free_flight, set_matrix
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import lane, load4, store4
from .arrays import CARRIED_COUNT, RIGID


@lean_kernel
def start_bodies(rigid):
    """Rotation matrices, inverse inertia in world axes and angular velocities, from poses and momenta."""
    for q in range(rigid.inverse_mass.shape[0]):
        set_matrix(rigid.pose[q], rigid.matrix[q])
        refresh(rigid, q)


@lean_inline_kernel
def refresh(rigid, q):
    """Inverse inertia in world axes and angular velocity of body q, from its rotation matrix."""
    turn, rest, tensor = rigid.matrix[q], rigid.inverse_inertia[q], rigid.tensor[q]
    for i in range(3):
        a0 = turn[i, 0] * rest[0, 0] + turn[i, 1] * rest[1, 0] + turn[i, 2] * rest[2, 0]
        a1 = turn[i, 0] * rest[0, 1] + turn[i, 1] * rest[1, 1] + turn[i, 2] * rest[2, 1]
        a2 = turn[i, 0] * rest[0, 2] + turn[i, 1] * rest[1, 2] + turn[i, 2] * rest[2, 2]
        for j in range(3):
            tensor[i, j] = a0 * turn[j, 0] + a1 * turn[j, 1] + a2 * turn[j, 2]
    respin(rigid, q)


@lean_inline_kernel
def respin(rigid, q):
    """Angular velocity of body q from its angular momentum."""
    tensor, momentum = rigid.tensor[q], rigid.momentum[q]
    for i in range(3):
        rigid.spin[q, i] = tensor[i, 0] * momentum[0] + tensor[i, 1] * momentum[1] + tensor[i, 2] * momentum[2]


@lean_kernel
def try_move(rigid, q, h):
    """Pose of body q after a time h [s], into `trial`."""
    for axis in range(3):
        rigid.trial[q, axis] = rigid.pose[q, axis] + h * rigid.velocity[q, axis]
    free_flight(
        rigid.pose[q : q + 1], rigid.momentum[q : q + 1], rigid.inverse_inertia[q : q + 1], h, rigid.trial[q : q + 1]
    )
    set_matrix(rigid.trial[q], rigid.trial_matrix[q])


@lean_kernel
def place_point(contact, i, y):
    """Point i at the trial pose of its body, into y, if that is rigid."""
    rigid, b = contact.rigid, contact.points.body[i]
    if contact.bodies.kind[b] != RIGID:
        return
    q = b - rigid.first_body[0]
    turn, pose = rigid.trial_matrix[q], rigid.trial[q]
    a = 4 * (i - rigid.first_point[0])
    rx, ry, rz = rigid.arm[a], rigid.arm[a + 1], rigid.arm[a + 2]
    for axis in range(3):
        y[4 * i + axis] = pose[axis] + turn[axis, 0] * rx + turn[axis, 1] * ry + turn[axis, 2] * rz


@lean_kernel
def place_all(rigid, bodies, x, velocity):
    """Positions and velocities of all points of the rigid bodies."""
    for q in range(rigid.inverse_mass.shape[0]):
        body = q + rigid.first_body[0]
        turn, pose, v, w = rigid.matrix[q], rigid.pose[q], rigid.velocity[q], rigid.spin[q]
        for i in range(bodies.point_start[body], bodies.point_start[body + 1]):
            a = 4 * (i - rigid.first_point[0])
            rx, ry, rz = rigid.arm[a], rigid.arm[a + 1], rigid.arm[a + 2]
            cx = turn[0, 0] * rx + turn[0, 1] * ry + turn[0, 2] * rz
            cy = turn[1, 0] * rx + turn[1, 1] * ry + turn[1, 2] * rz
            cz = turn[2, 0] * rx + turn[2, 1] * ry + turn[2, 2] * rz
            p = 4 * i
            x[p], x[p + 1], x[p + 2] = pose[0] + cx, pose[1] + cy, pose[2] + cz
            velocity[p] = v[0] + w[1] * cz - w[2] * cy
            velocity[p + 1] = v[1] + w[2] * cx - w[0] * cz
            velocity[p + 2] = v[2] + w[0] * cy - w[1] * cx


@lean_kernel
def copy_pose(pose, matrix, to_pose, to_matrix):
    """Copy pose and matrix of a body."""
    for k in range(7):
        to_pose[k] = pose[k]
    for i in range(3):
        for j in range(3):
            to_matrix[i, j] = matrix[i, j]


@lean_kernel
def begin_flight(rigid):
    """Store pose and velocities at the start of an epoch."""
    for q in range(rigid.inverse_mass.shape[0]):
        copy_pose(rigid.pose[q], rigid.matrix[q], rigid.begin[q], rigid.begin_matrix[q])
        for axis in range(3):
            rigid.begin_velocity[q, axis] = rigid.velocity[q, axis]
            rigid.begin_spin[q, axis] = rigid.spin[q, axis]


@lean_kernel
def rigid_deviation(rigid, q, time):
    """Bound on how far any point of body q is from its predicted flight at the end of the step [m].

    The prediction for a point at r from the centre is begin + time (v + w x r), so the deviation is a translation and a
    matrix times r. `time`: since the epoch began [s].
    """
    way = 0.0
    for axis in range(3):
        way += (rigid.trial[q, axis] - rigid.begin[q, axis] - time * rigid.begin_velocity[q, axis]) ** 2
    turn, at, w = rigid.begin_matrix[q], rigid.trial_matrix[q], rigid.begin_spin[q]
    bent = 0.0
    for k in range(3):
        bent += (at[0, k] - turn[0, k] - time * (w[1] * turn[2, k] - w[2] * turn[1, k])) ** 2
        bent += (at[1, k] - turn[1, k] - time * (w[2] * turn[0, k] - w[0] * turn[2, k])) ** 2
        bent += (at[2, k] - turn[2, k] - time * (w[0] * turn[1, k] - w[1] * turn[0, k])) ** 2
    return sqrt(way) + sqrt(bent) * rigid.radius[q]


@lean_kernel
def accept(rigid, h):
    """Take over the trial poses as the poses; idle bodies fly on for the time h [s]."""
    for q in range(rigid.inverse_mass.shape[0]):
        if rigid.asleep[q]:
            continue
        if rigid.idle[q]:
            for axis in range(3):
                rigid.pose[q, axis] += h * rigid.velocity[q, axis]
            rigid.late[q] += h
            continue
        copy_pose(rigid.trial[q], rigid.trial_matrix[q], rigid.pose[q], rigid.matrix[q])
        refresh(rigid, q)


@lean_inline_kernel
def middle(contact, x, contacts, c, weight, side):
    """Weighted mean of the points on a side of contact c, whose sides are different bodies [m]."""
    px = py = pz = 0.0
    body, sign = contact.points.body[contacts.points[4 * c + 3 * side] >> 2], 1.0 - 2.0 * side
    for k in range(4):
        i, w = contacts.points[4 * c + k], sign * lane(weight, k)
        if contact.points.body[i >> 2] == body:
            px, py, pz = px + w * x[i], py + w * x[i + 1], pz + w * x[i + 2]
    return px, py, pz


@lean_inline_kernel
def contact_point(contact, x, contacts, c):
    """The point where contact c acts, on both sides [m]: the one of side A, so that impulses have no net torque."""
    return middle(contact, x, contacts, c, load4(contacts.weight, 4 * c), 0)


@lean_inline_kernel
def pair_of(contact, contacts, c):
    """Numbers of the bodies on both sides of contact c."""
    body = contact.points.body
    return body[contacts.points[4 * c] >> 2], body[contacts.points[4 * c + 3] >> 2]


@lean_kernel
def side_body(contact, contacts, c, side):
    """Number of the rigid body on a side of contact c, -1 if that side is not rigid."""
    b = contact.points.body[contacts.points[4 * c + 3 * side] >> 2]
    return b if contact.bodies.kind[b] == RIGID else -1


@lean_inline_kernel
def carried_velocity(contact, x, contacts, c):
    """Contribution of rigid sides to the relative velocity at contact c [m/s]."""
    ux = uy = uz = 0.0
    for side in range(2):
        b = side_body(contact, contacts, c, side)
        if b >= 0:
            px, py, pz = contact_point(contact, x, contacts, c)
            vx, vy, vz = velocity_at(contact.rigid, b - contact.rigid.first_body[0], px, py, pz)
            sign = 1.0 - 2.0 * side
            ux, uy, uz = ux + sign * vx, uy + sign * vy, uz + sign * vz
    return ux, uy, uz


@lean_kernel
def carried_inverse_mass(contact, x, contacts, c, nx, ny, nz):
    """Contribution of rigid sides to the inverse mass along a unit vector at contact c [1/kg]."""
    total = 0.0
    for side in range(2):
        b = side_body(contact, contacts, c, side)
        if b >= 0:
            px, py, pz = contact_point(contact, x, contacts, c)
            total = answer(contact.rigid, b - contact.rigid.first_body[0], px, py, pz, nx, ny, nz, total)
    return total


@lean_inline_kernel
def push_carried(contact, x, contacts, c, jx, jy, jz):
    """Apply an impulse [N s] to side A of contact c and the opposite one to side B, where they are rigid."""
    for side in range(2):
        b = side_body(contact, contacts, c, side)
        if b >= 0:
            px, py, pz = contact_point(contact, x, contacts, c)
            sign = 1.0 - 2.0 * side
            push_body(contact.rigid, b - contact.rigid.first_body[0], px, py, pz, sign * jx, sign * jy, sign * jz)


@lean_kernel
def push_body(rigid, q, px, py, pz, jx, jy, jz):
    """Apply an impulse [N s] to rigid body q at a point [m]."""
    share = rigid.inverse_mass[q]
    rigid.velocity[q, 0] += share * jx
    rigid.velocity[q, 1] += share * jy
    rigid.velocity[q, 2] += share * jz
    rx, ry, rz = px - rigid.pose[q, 0], py - rigid.pose[q, 1], pz - rigid.pose[q, 2]
    rigid.momentum[q, 0] += ry * jz - rz * jy
    rigid.momentum[q, 1] += rz * jx - rx * jz
    rigid.momentum[q, 2] += rx * jy - ry * jx
    respin(rigid, q)


@lean_inline_kernel
def cofactors(xx, yy, zz, xy, xz, yz):
    """Cofactors of a symmetric tensor, its determinant and the cube of its trace."""
    cxx, cyy, czz = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
    cxy, cxz, cyz = xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - yz * xx
    return cxx, cyy, czz, cxy, cxz, cyz, xx * cxx + xy * cxy + xz * cxz, (xx + yy + zz) ** 3


@lean_inline_kernel
def turned_by(xx, yy, zz, xy, xz, yz, tx, ty, tz, flat):
    """Angular velocity of an inertia (xx ... yz) and an angular momentum t; whether the inertia is regular.

    `flat`: determinant of the inertia over the cube of its trace, below which the points are collinear.
    """
    cxx, cyy, czz, cxy, cxz, cyz, determinant, cube = cofactors(xx, yy, zz, xy, xz, yz)
    if not determinant > flat * cube:
        return False, 0.0, 0.0, 0.0
    return (
        True,
        (cxx * tx + cxy * ty + cxz * tz) / determinant,
        (cxy * tx + cyy * ty + cyz * tz) / determinant,
        (cxz * tx + cyz * ty + czz * tz) / determinant,
    )


@lean_inline_kernel
def mover(contact, i):
    """The point that stands for what moves point i: the first one of a rigid body, else itself."""
    b = contact.points.body[i]
    return np.int64(contact.bodies.point_start[b]) if contact.bodies.kind[b] == RIGID else np.int64(i)


@lean_inline_kernel
def moves(contact, i):
    """Whether point i is free to move: not given."""
    return contact.points.inverse_mass[i] > 0.0 or contact.bodies.kind[contact.points.body[i]] == RIGID


@lean_inline_kernel
def set_velocity(velocity, x, y, h, i, v):
    """Give soft point i a velocity."""
    store4(velocity, 4 * i, v)
    store4(y, 4 * i, load4(x, 4 * i) + v * h)


@lean_kernel
def place_carried(contact, y):
    """Place the points of contacts at the trial poses of their rigid bodies."""
    for k in range(contact.run.state[CARRIED_COUNT]):
        place_point(contact, contact.run.carried[k], y)


@lean_kernel
def answer(rigid, q, px, py, pz, nx, ny, nz, other):
    """Velocity along n that point p of rigid body q gets from a unit impulse n there, and an `other` one [1/kg]."""
    rx, ry, rz = px - rigid.pose[q, 0], py - rigid.pose[q, 1], pz - rigid.pose[q, 2]
    tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
    m = rigid.tensor[q]
    return (
        other
        + rigid.inverse_mass[q]
        + tx * (m[0, 0] * tx + m[0, 1] * ty + m[0, 2] * tz)
        + ty * (m[1, 0] * tx + m[1, 1] * ty + m[1, 2] * tz)
        + tz * (m[2, 0] * tx + m[2, 1] * ty + m[2, 2] * tz)
    )


@lean_inline_kernel
def velocity_at(rigid, q, px, py, pz):
    """Velocity of point p of rigid body q [m/s]."""
    rx, ry, rz = px - rigid.pose[q, 0], py - rigid.pose[q, 1], pz - rigid.pose[q, 2]
    v, w = rigid.velocity[q], rigid.spin[q]
    return v[0] + w[1] * rz - w[2] * ry, v[1] + w[2] * rx - w[0] * rz, v[2] + w[0] * ry - w[1] * rx
