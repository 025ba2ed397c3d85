"""Rigid bodies in flight, their velocities as rows of unknowns, and inverse masses as contacts need them."""

from typing import Any, NamedTuple

import numpy as np

from ..array_types import FloatArray
from ..bodies.rigid.motion import free_flight
from ..model import RigidBodies
from ..state import RigidMotion


class InverseMass(NamedTuple):
    """Inverse masses and inertias of vertices and rigid bodies."""

    inverse_mass: Any  # of each vertex, 0 if pinned [1/kg], shape (vertex_count,)
    unknown: Any  # first row of unknowns of each rigid point's body, shape (rigid_point_count,)
    arm: Any  # of each rigid point from its body's centre [m], shape (rigid_point_count, 3)
    rigid_inverse_mass: Any  # [1/kg], shape (rigid_count,)
    rigid_inverse_inertia: Any  # in world axes [1/(kg m^2)], shape (rigid_count, 3, 3)


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
