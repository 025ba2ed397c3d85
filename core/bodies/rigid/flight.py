"""Rigid bodies in a time stage: free flight, and the angular momentum that contacts gave."""

import numpy as np

from ...contact.inverse_mass import InverseMass
from ...model import FloatArray, RigidBodies
from ...state import RigidMotion
from .motion import free_flight, steps_between, turned_tensors


def fly(
    poses: FloatArray, velocity: FloatArray, angular_momentum: FloatArray, bodies: RigidBodies, time: float
) -> FloatArray:
    """Poses after a time [s] without forces: straight, with constant angular momentum."""
    after = poses.copy()
    after[:, :3] += time * velocity
    free_flight(poses, angular_momentum, bodies.inverse_inertia, time, after)
    return after


def shifted(poses: FloatArray, move: FloatArray) -> FloatArray:
    """Poses moved by `move` [m], one for all or one per body."""
    after = poses.copy()
    after[:, :3] += move
    return after


def pushed(target: FloatArray, reached: FloatArray, bodies: RigidBodies, time: float) -> FloatArray:
    """Angular momentum [kg m^2/s] that contacts gave in a stage [s] whose free flight ends at `target`."""
    steps = np.zeros((2 * len(target), 3))
    steps_between(target, reached, steps)
    inertia = np.empty((len(target), 3, 3))
    turned_tensors(reached, bodies.inertia, inertia)
    return np.asarray(np.einsum("bij,bj->bi", inertia, steps[1::2]) / time)


def velocity_rows(v: FloatArray, rigid: RigidMotion, mobility: InverseMass) -> FloatArray:
    """Velocities of vertices [m/s], then velocity and angular velocity [1/s] of each rigid body: rows of unknowns."""
    rows = np.empty((len(v) + 2 * len(rigid.pose), 3))
    rows[: len(v)] = v
    rows[len(v) :: 2] = rigid.velocity
    rows[len(v) + 1 :: 2] = np.einsum("bij,bj->bi", mobility.rigid_inverse_inertia, rigid.angular_momentum)
    return rows
