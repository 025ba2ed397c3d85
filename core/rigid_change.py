"""Impulses on points that move as one, as those of jets and of liquids that slosh: rigid changes of velocities.

On few points alone they would be blows, which the skin around them could not pass on within a tick.
"""

import numpy as np

from .array_types import FloatArray


def moved_as_one(x: FloatArray, mass: FloatArray, places: FloatArray, impulses: FloatArray) -> FloatArray:
    """Change of velocity [m/s] of points of a rigid body by impulses [N s] at places [m], shape (point_count, 3)."""
    centre, arm, inertia = _moments(x, mass)
    turn = np.cross(places - centre, impulses).sum(axis=0)
    spin = (turn[:, None] * inverse(inertia)).sum(axis=0)
    return np.asarray(impulses.sum(axis=0) / mass.sum() + np.cross(spin, arm))


def arm_mobility(x: FloatArray, mass: FloatArray, place: FloatArray, axis: FloatArray) -> float:
    """What turning adds to the inverse mass of a rigid body at a place [m], mean across a unit axis [1/kg]."""
    centre, _, inertia = _moments(x, mass)
    # columns: torques of unit forces at the place
    torques = np.cross(place - centre, np.eye(3)).T
    mobility = torques.T @ inverse(inertia) @ torques
    return 0.5 * float(np.trace(mobility) - axis @ mobility @ axis)


def _moments(x: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centre of mass [m], arms of the points from it, tensor of inertia [kg m^2]."""
    centre = (mass[:, None] * x).sum(axis=0) / mass.sum()
    arm = x - centre
    moment = (mass[:, None, None] * arm[:, :, None] * arm[:, None, :]).sum(axis=0)
    return centre, arm, np.trace(moment) * np.eye(3) - moment


def inverse(tensor: FloatArray) -> FloatArray:
    """Inverses of symmetric tensors by cofactors, 0 of singular ones, shape (..., 3, 3)."""
    cofactors = np.cross(tensor[..., [1, 2, 0], :], tensor[..., [2, 0, 1], :])
    determinant = (tensor[..., 0, :] * cofactors[..., 0, :]).sum(axis=-1)[..., None, None]
    return np.asarray(np.divide(cofactors, determinant, out=np.zeros_like(cofactors), where=determinant > 0.0))
