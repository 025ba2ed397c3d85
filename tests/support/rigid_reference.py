"""Slow twins for rigid bodies: clouds of mass points, textbook rotations."""

import numpy as np
from scipy.spatial.transform import Rotation


def inertia_tensor(points, masses):
    """About the centre of mass [kg m^2], by its definition."""
    centre = masses @ points / masses.sum()
    return sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points - centre, strict=True))


def matrix(pose):
    """Rotation matrix of a pose (centre, w, x, y, z)."""
    return Rotation.from_quat(np.roll(pose[3:], -1)).as_matrix()


def quaternion(rotation):
    """(w, x, y, z) of a scipy rotation."""
    return np.roll(rotation.as_quat(), 1)


def random_poses(rng, count, spread=1.0):
    """Poses anywhere within `spread` [m], turned at random."""
    turns = Rotation.random(count, random_state=int(rng.integers(1 << 30)))
    return np.concatenate([rng.normal(0, spread, (count, 3)), np.roll(turns.as_quat(), 1, axis=1)], axis=1)


def moved(pose, step, share=1.0):
    """A pose after a share of a step: translation, then a rotation vector in world axes."""
    turn = Rotation.from_rotvec(share * step[1]) * Rotation.from_quat(np.roll(pose[3:], -1))
    return np.concatenate([pose[:3] + share * step[0], quaternion(turn)])
