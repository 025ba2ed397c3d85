"""Inertia of a rigid body in a time stage, as an energy of its mass points' distance from their free flight.

    E = 1/2 M |c - c_y|^2 / tau^2 + sum m |(R - R_y) r|^2 / (2 tau^2)

with the centre c and orientation R, and c_y, R_y those of free flight. The second sum is (tr S - tr B) / tau^2 with
S = sum m r r' and B = R S R_y'; its torque is the axial vector of B - B', its Hessian near R_y the inertia tensor. It
is the inertia of a membrane's vertices, summed over a rigid body: exact for large rotations.
"""

import numpy as np

from ..bodies.rigid.motion import set_matrix
from ..jit import kernel


@kernel
def evaluate_rigid_inertia(poses, target, mass, second_moment, time, force):
    """E [J]; writes force and torque [N, N m] to rows 2 b and 2 b + 1 of `force`, shape (2 * body_count, 3)."""
    total = 0.0
    here, there = np.empty((3, 3)), np.empty((3, 3))
    turned, b = np.empty((3, 3)), np.empty((3, 3))
    scale = 1.0 / (time * time)
    for body in range(poses.shape[0]):
        m = mass[body] * scale
        for axis in range(3):
            away = poses[body, axis] - target[body, axis]
            total += 0.5 * m * away * away
            force[2 * body, axis] = -m * away
        set_matrix(poses[body], here)
        set_matrix(target[body], there)
        # sum over (R - R_y) S (R - R_y)': differences first, as tr S - tr B would lose all digits
        for i in range(3):
            for j in range(3):
                turned[i, j] = 0.0
                for k in range(3):
                    turned[i, j] += here[i, k] * second_moment[body, k, j]
        for i in range(3):
            for j in range(3):
                b[i, j] = 0.0
                for k in range(3):
                    # R S (R_y - R)': R S R' is symmetric and has no axial vector
                    b[i, j] += turned[i, k] * (there[j, k] - here[j, k])
        for i in range(3):
            for j in range(3):
                away = 0.0
                for k in range(3):
                    away += (here[i, k] - there[i, k]) * second_moment[body, k, j]
                total += 0.5 * scale * away * (here[i, j] - there[i, j])
        force[2 * body + 1, 0] = scale * (b[1, 2] - b[2, 1])
        force[2 * body + 1, 1] = scale * (b[2, 0] - b[0, 2])
        force[2 * body + 1, 2] = scale * (b[0, 1] - b[1, 0])
    return total
