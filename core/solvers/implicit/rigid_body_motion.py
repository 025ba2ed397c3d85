"""Rigid bodies as rows of `solvers/rigid_motion.py`."""

import numpy as np

from ...bodies.rigid.motion import turned_tensors
from ...model import FloatArray, RigidBodies
from ...state import RigidMotion


def rigid_body_motions(rigid: RigidMotion, bodies: RigidBodies, motion: FloatArray) -> None:
    """Rows of the rigid bodies, shape (rigid_count, 15)."""
    if len(motion) == 0:
        return
    inverse = np.empty((len(motion), 3, 3))
    turned_tensors(rigid.pose, bodies.inverse_inertia, inverse)
    motion[:, :3] = rigid.pose[:, :3]
    motion[:, 3:6] = rigid.velocity
    motion[:, 6:9] = np.einsum("bij,bj->bi", inverse, rigid.angular_momentum)
    for column, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)), start=9):
        motion[:, column] = inverse[:, i, j]


def set_rigid_body_motions(motion: FloatArray, bodies: RigidBodies, rigid: RigidMotion) -> None:
    """Give rigid bodies the velocities and angular velocities of their rows."""
    if len(motion) == 0:
        return
    inertia = np.empty((len(motion), 3, 3))
    turned_tensors(rigid.pose, bodies.inertia, inertia)
    rigid.velocity[:] = motion[:, 3:6]
    rigid.angular_momentum[:] = np.einsum("bij,bj->bi", inertia, motion[:, 6:9])
