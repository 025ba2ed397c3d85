"""Rigid bodies in flight, and their velocities as rows of unknowns."""

import numpy as np

from ...contact.inverse_mass import InverseMass
from ...model import FloatArray, RigidBodies
from ...state import RigidMotion
from .motion import free_flight


def fly(
    poses: FloatArray, velocity: FloatArray, angular_momentum: FloatArray, bodies: RigidBodies, time: float
) -> FloatArray:
    """Poses after a time [s] without forces: straight, with constant angular momentum."""
    after = poses.copy()
    after[:, :3] += time * velocity
    free_flight(poses, angular_momentum, bodies.inverse_inertia, time, after)
    return after


def velocity_rows(v: FloatArray, rigid: RigidMotion, mobility: InverseMass) -> FloatArray:
    """Velocities of vertices [m/s], then velocity and angular velocity [1/s] of each rigid body: rows of unknowns."""
    rows = np.empty((len(v) + 2 * len(rigid.pose), 3))
    rows[: len(v)] = v
    rows[len(v) :: 2] = rigid.velocity
    rows[len(v) + 1 :: 2] = np.einsum("bij,bj->bi", mobility.rigid_inverse_inertia, rigid.angular_momentum)
    return rows
