"""Impulses on points that move as one, as those of jets and of liquids that slosh: rigid changes of velocities.

On few points alone they would be blows, which the skin around them could not pass on within a tick.
"""

import numpy as np

from .array_types import FloatArray
from .jit import lean_kernel


def moved_as_one(x: FloatArray, mass: FloatArray, places: FloatArray, impulses: FloatArray) -> FloatArray:
    """Change of velocity [m/s] of points of a rigid body by impulses [N s] at places [m], shape (point_count, 3)."""
    change = np.empty((len(x), 3))
    x, mass, places, impulses = (np.ascontiguousarray(each, float) for each in (x, mass, places, impulses))
    move_as_one(x, mass, places, impulses, change)
    return change


@lean_kernel
def move_as_one(x, mass, places, impulses, change):
    """Fill in the changes of velocity; a singular tensor of inertia does not turn."""
    total = cx = cy = cz = 0.0
    for i in range(x.shape[0]):
        total += mass[i]
        cx += mass[i] * x[i, 0]
        cy += mass[i] * x[i, 1]
        cz += mass[i] * x[i, 2]
    cx, cy, cz = cx / total, cy / total, cz / total
    xx = yy = zz = xy = xz = yz = 0.0
    for i in range(x.shape[0]):
        rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
        xx += mass[i] * (ry * ry + rz * rz)
        yy += mass[i] * (rx * rx + rz * rz)
        zz += mass[i] * (rx * rx + ry * ry)
        xy -= mass[i] * rx * ry
        xz -= mass[i] * rx * rz
        yz -= mass[i] * ry * rz
    px = py = pz = 0.0
    tx = ty = tz = 0.0
    for i in range(places.shape[0]):
        rx, ry, rz = places[i, 0] - cx, places[i, 1] - cy, places[i, 2] - cz
        jx, jy, jz = impulses[i, 0], impulses[i, 1], impulses[i, 2]
        px, py, pz = px + jx, py + jy, pz + jz
        tx, ty, tz = tx + ry * jz - rz * jy, ty + rz * jx - rx * jz, tz + rx * jy - ry * jx
    # solve the tensor times the spin = the torque by cofactors
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    determinant = xx * a + xy * b + xz * c
    share = 1.0 / determinant if determinant > 0.0 else 0.0
    wx, wy, wz = (
        share * (a * tx + b * ty + c * tz), share * (b * tx + d * ty + e * tz), share * (c * tx + e * ty + f * tz),
    )  # fmt: skip
    for i in range(x.shape[0]):
        rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
        change[i, 0] = px / total + wy * rz - wz * ry
        change[i, 1] = py / total + wz * rx - wx * rz
        change[i, 2] = pz / total + wx * ry - wy * rx


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
