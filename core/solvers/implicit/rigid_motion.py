"""The rigid motion of a body as a row of 15 numbers; of a membrane, the one with its momentum and angular momentum.

Centre [m], velocity [m/s], angular velocity [1/s], inverse inertia [1/(kg m^2)] as xx, yy, zz, xy, xz, yz.
"""

import numpy as np

from ...bodies.rigid.motion import turned_tensors
from ...jit import kernel
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


@kernel
def rigid_motions(x, v, mass, body_point_start, motion):
    """Centre [m], velocity [m/s], angular velocity [1/s] and inverse inertia [1/(kg m^2)] of each membrane."""
    for body in range(motion.shape[0]):
        first, last = body_point_start[body], body_point_start[body + 1]
        m = 0.0
        cx = cy = cz = 0.0
        ux = uy = uz = 0.0
        for i in range(first, last):
            w = mass[i]
            m += w
            cx += w * (x[i, 0] - x[first, 0])
            cy += w * (x[i, 1] - x[first, 1])
            cz += w * (x[i, 2] - x[first, 2])
            ux += w * v[i, 0]
            uy += w * v[i, 1]
            uz += w * v[i, 2]
        cx, cy, cz = x[first, 0] + cx / m, x[first, 1] + cy / m, x[first, 2] + cz / m
        ux, uy, uz = ux / m, uy / m, uz / m
        lx = ly = lz = 0.0
        xx = yy = zz = xy = xz = yz = 0.0
        for i in range(first, last):
            w = mass[i]
            rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
            sx, sy, sz = v[i, 0] - ux, v[i, 1] - uy, v[i, 2] - uz
            lx += w * (ry * sz - rz * sy)
            ly += w * (rz * sx - rx * sz)
            lz += w * (rx * sy - ry * sx)
            xx += w * (ry * ry + rz * rz)
            yy += w * (rx * rx + rz * rz)
            zz += w * (rx * rx + ry * ry)
            xy -= w * rx * ry
            xz -= w * rx * rz
            yz -= w * ry * rz
        # a body compressed to a line has no inertia about it: a little is added
        extra = 1e-13 * (xx + yy + zz)
        xx, yy, zz = xx + extra, yy + extra, zz + extra
        ixx, iyy, izz = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
        ixy, ixz, iyz = xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - yz * xx
        inverse = 1.0 / (xx * ixx + xy * ixy + xz * ixz)
        ixx, iyy, izz = ixx * inverse, iyy * inverse, izz * inverse
        ixy, ixz, iyz = ixy * inverse, ixz * inverse, iyz * inverse
        row = motion[body]
        row[0], row[1], row[2] = cx, cy, cz
        row[3], row[4], row[5] = ux, uy, uz
        row[6] = ixx * lx + ixy * ly + ixz * lz
        row[7] = ixy * lx + iyy * ly + iyz * lz
        row[8] = ixz * lx + iyz * ly + izz * lz
        row[9], row[10], row[11], row[12], row[13], row[14] = ixx, iyy, izz, ixy, ixz, iyz
