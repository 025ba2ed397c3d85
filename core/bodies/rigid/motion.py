"""Poses of rigid bodies: rotation vectors, quaternions, points, and flight without forces.

A pose is a row of seven numbers: the centre of mass [m] and a unit quaternion (w, x, y, z) that turns the start
orientation into the present one. A step of a body is two rows: its translation [m] and a rotation vector [rad] in
world axes, applied after the present rotation.
"""

import math

import numpy as np

from ...array_types import FloatArray
from ...jit import kernel

#: Largest angle [rad] that a single step of `free_flight` turns by; its error is about this to the fifth / 120.
FLIGHT_ANGLE = 0.05
#: Most steps of `free_flight` in one call, for speeds that make no physical sense.
MOST_FLIGHT_STEPS = 10_000


def start_poses(centres: FloatArray) -> FloatArray:
    """Poses of bodies that are not turned, from their centres of mass [m], shape (body_count, 3)."""
    poses = np.zeros((len(centres), 7))
    poses[:, :3] = centres
    poses[:, 3] = 1.0
    return poses


def turns(poses: FloatArray) -> FloatArray:
    """Rotation matrices of poses, shape (body_count, 3, 3)."""
    w, axis = poses[:, 3], poses[:, 4:]
    cross = np.zeros((len(poses), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -axis[:, 2], axis[:, 1], -axis[:, 0]
    cross -= cross.transpose(0, 2, 1)
    return np.asarray(np.eye(3) + 2.0 * w[:, None, None] * cross + 2.0 * cross @ cross)


@kernel
def multiply_quaternions(aw, ax, ay, az, bw, bx, by, bz):
    """The rotation b, then a."""
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@kernel
def turn_pose(row, tx, ty, tz, out):
    """Quaternion of `row` turned by a rotation vector [rad], into `out`; the centre is left."""
    angle = math.sqrt(tx * tx + ty * ty + tz * tz)
    # sin(angle / 2) / angle without dividing by a small angle
    share = 0.5 - angle * angle / 48.0 if angle < 1e-4 else math.sin(0.5 * angle) / angle
    w, x, y, z = multiply_quaternions(
        math.cos(0.5 * angle), share * tx, share * ty, share * tz, row[3], row[4], row[5], row[6]
    )
    length = math.sqrt(w * w + x * x + y * y + z * z)
    out[3], out[4], out[5], out[6] = w / length, x / length, y / length, z / length


@kernel
def turn_between(first, second):
    """Rotation vector [rad], at most half a turn, that leads from the first pose's orientation to the second's."""
    w, x, y, z = multiply_quaternions(
        second[3], second[4], second[5], second[6], first[3], -first[4], -first[5], -first[6]
    )
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    share = 2.0 if sine < 1e-8 else 2.0 * math.atan2(sine, w) / sine
    return share * x, share * y, share * z


@kernel
def set_matrix(row, matrix):
    """Rotation matrix (3, 3) of a pose."""
    w, x, y, z = row[3], row[4], row[5], row[6]
    matrix[0, 0], matrix[0, 1], matrix[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    matrix[1, 0], matrix[1, 1], matrix[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    matrix[2, 0], matrix[2, 1], matrix[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)


@kernel
def set_matrices(poses, matrices):
    """Rotation matrices of all poses, shape (body_count, 3, 3)."""
    for body in range(poses.shape[0]):
        set_matrix(poses[body], matrices[body])


@kernel
def move_poses(poses, step, scale, out):
    """Poses after a share `scale` of a step, shape (2 * body_count, 3): translation and rotation vector of each."""
    for body in range(poses.shape[0]):
        for axis in range(3):
            out[body, axis] = poses[body, axis] + scale * step[2 * body, axis]
        t = step[2 * body + 1]
        turn_pose(poses[body], scale * t[0], scale * t[1], scale * t[2], out[body])


@kernel
def steps_between(first, second, step):
    """The step that leads from the first poses to the second."""
    for body in range(first.shape[0]):
        for axis in range(3):
            step[2 * body, axis] = second[body, axis] - first[body, axis]
        tx, ty, tz = turn_between(first[body], second[body])
        step[2 * body + 1, 0], step[2 * body + 1, 1], step[2 * body + 1, 2] = tx, ty, tz


@kernel
def place_points(poses, rest_arm, point_start, x):
    """Positions x [m] of the bodies' points in the poses; body b has the points point_start[b] .. of x.

    `rest_arm`: arms in the start orientation [m], shape (rigid_point_count, 3).
    """
    matrix = np.empty((3, 3))
    for body in range(poses.shape[0]):
        set_matrix(poses[body], matrix)
        for i in range(point_start[body], point_start[body + 1]):
            r = rest_arm[i - point_start[0]]
            for axis in range(3):
                turned = matrix[axis, 0] * r[0] + matrix[axis, 1] * r[1] + matrix[axis, 2] * r[2]
                x[i, axis] = poses[body, axis] + turned


@kernel
def turned_tensors(poses, tensors, out):
    """Tensors of the start orientation, shape (body_count, 3, 3), in the present one: R T R'."""
    matrix = np.empty((3, 3))
    half = np.empty((3, 3))
    for body in range(poses.shape[0]):
        set_matrix(poses[body], matrix)
        for i in range(3):
            for j in range(3):
                half[i, j] = 0.0
                for k in range(3):
                    half[i, j] += matrix[i, k] * tensors[body, k, j]
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += half[i, k] * matrix[j, k]
                out[body, i, j] = total


@kernel
def spin_velocity(row, angular_momentum, inverse_inertia, matrix):
    """Angular velocity [1/s] in world axes of an angular momentum [kg m^2/s]; `matrix` (3, 3) is scratch."""
    set_matrix(row, matrix)
    lx = ly = lz = 0.0
    for k in range(3):
        lx += matrix[k, 0] * angular_momentum[k]
        ly += matrix[k, 1] * angular_momentum[k]
        lz += matrix[k, 2] * angular_momentum[k]
    inverse = inverse_inertia
    bx = inverse[0, 0] * lx + inverse[0, 1] * ly + inverse[0, 2] * lz
    by = inverse[1, 0] * lx + inverse[1, 1] * ly + inverse[1, 2] * lz
    bz = inverse[2, 0] * lx + inverse[2, 1] * ly + inverse[2, 2] * lz
    return (
        matrix[0, 0] * bx + matrix[0, 1] * by + matrix[0, 2] * bz,
        matrix[1, 0] * bx + matrix[1, 1] * by + matrix[1, 2] * bz,
        matrix[2, 0] * bx + matrix[2, 1] * by + matrix[2, 2] * bz,
    )


@kernel
def free_flight(poses, angular_momentum, inverse_inertia, time, out):
    """Orientations after a time [s] with constant angular momentum [kg m^2/s], shape (body_count, 3), into `out`.

    Runge and Kutta's fourth-order method on rotation vectors (Munthe-Kaas 1998) in short steps, so that the gyroscopic
    torque is right for all that matters (a tumbling body keeps energy and |L|). Centres are left. `inverse_inertia`
    [1/(kg m^2)] is that of the start orientation.
    """
    matrix = np.empty((3, 3))
    trial = np.empty(7)
    for body in range(poses.shape[0]):
        here = out[body]
        here[3], here[4], here[5], here[6] = poses[body, 3], poses[body, 4], poses[body, 5], poses[body, 6]
        momentum, inverse = angular_momentum[body], inverse_inertia[body]
        wx, wy, wz = spin_velocity(here, momentum, inverse, matrix)
        angle = math.sqrt(wx * wx + wy * wy + wz * wz) * time
        count = 1 + int(min(angle / FLIGHT_ANGLE, MOST_FLIGHT_STEPS))
        h = time / count
        for _ in range(count):
            ax, ay, az = spin_velocity(here, momentum, inverse, matrix)
            turn_pose(here, 0.5 * h * ax, 0.5 * h * ay, 0.5 * h * az, trial)
            bx, by, bz = spin_velocity(trial, momentum, inverse, matrix)
            bx, by, bz = inverse_tangent(0.5 * h * ax, 0.5 * h * ay, 0.5 * h * az, bx, by, bz)
            turn_pose(here, 0.5 * h * bx, 0.5 * h * by, 0.5 * h * bz, trial)
            cx, cy, cz = spin_velocity(trial, momentum, inverse, matrix)
            cx, cy, cz = inverse_tangent(0.5 * h * bx, 0.5 * h * by, 0.5 * h * bz, cx, cy, cz)
            turn_pose(here, h * cx, h * cy, h * cz, trial)
            dx, dy, dz = spin_velocity(trial, momentum, inverse, matrix)
            dx, dy, dz = inverse_tangent(h * cx, h * cy, h * cz, dx, dy, dz)
            turn_pose(
                here,
                h * (ax + 2.0 * bx + 2.0 * cx + dx) / 6.0,
                h * (ay + 2.0 * by + 2.0 * cy + dy) / 6.0,
                h * (az + 2.0 * bz + 2.0 * cz + dz) / 6.0,
                here,
            )


@kernel
def inverse_tangent(tx, ty, tz, wx, wy, wz):
    """Rate of a rotation vector t [rad] that gives the angular velocity w [1/s]: w - t x w / 2 + t x (t x w) / 12."""
    cx, cy, cz = ty * wz - tz * wy, tz * wx - tx * wz, tx * wy - ty * wx
    dx, dy, dz = ty * cz - tz * cy, tz * cx - tx * cz, tx * cy - ty * cx
    return wx - 0.5 * cx + dx / 12.0, wy - 0.5 * cy + dy / 12.0, wz - 0.5 * cz + dz / 12.0
