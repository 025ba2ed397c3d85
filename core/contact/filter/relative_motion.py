"""How far the points of a body have moved relative to its common motion: the distance that self-contact has to cover.

Translation, rotation and uniform growth of the body bring no two points nearer, and are subtracted.
"""

import math

import numpy as np

from ...jit import kernel
from ...model import FloatArray


def relative_distance(before: FloatArray, after: FloatArray, first: int, last: int) -> float:
    """Largest distance [m] of points first .. last - 1 from where the motion of the whole nearest to theirs takes them.

    Positions [m], shape (point_count, 3). Rotation and growth are those of Umeyama 1991; what is not finite gives NaN
    or inf.
    """
    sums = np.zeros((6, 3))
    correlate(before, after, first, last, sums)
    if not np.isfinite(sums).all():
        return math.inf
    u, size, vt = np.linalg.svd(sums[2:5])
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(u) * np.linalg.det(vt)) or 1.0])
    growth = max(1.0, float(size @ signs) / sums[5, 0]) if sums[5, 0] > 0.0 else 1.0
    turn = growth * vt.T @ np.diag(signs) @ u.T
    return float(farthest(before, after, first, last, sums, turn))


@kernel
def correlate(before, after, first, last, sums):
    """Centres before and after [m], sums of products of the distances from them [m^2], and of squares of the first."""
    sums[:] = 0.0
    for i in range(first, last):
        for k in range(3):
            sums[0, k] += before[i, k] - before[first, k]
            sums[1, k] += after[i, k] - after[first, k]
    for k in range(3):
        sums[0, k] = before[first, k] + sums[0, k] / (last - first)
        sums[1, k] = after[first, k] + sums[1, k] / (last - first)
    for i in range(first, last):
        for j in range(3):
            a = before[i, j] - sums[0, j]
            sums[5, 0] += a * a
            for k in range(3):
                sums[2 + j, k] += a * (after[i, k] - sums[1, k])


@kernel
def farthest(before, after, first, last, sums, turn):
    """Largest distance [m] between the points and the turned ones."""
    most = 0.0
    for i in range(first, last):
        ax, ay, az = before[i, 0] - sums[0, 0], before[i, 1] - sums[0, 1], before[i, 2] - sums[0, 2]
        dx = after[i, 0] - sums[1, 0] - (turn[0, 0] * ax + turn[0, 1] * ay + turn[0, 2] * az)
        dy = after[i, 1] - sums[1, 1] - (turn[1, 0] * ax + turn[1, 1] * ay + turn[1, 2] * az)
        dz = after[i, 2] - sums[1, 2] - (turn[2, 0] * ax + turn[2, 1] * ay + turn[2, 2] * az)
        most = max(most, dx * dx + dy * dy + dz * dz)
    return math.sqrt(most)


@kernel
def rigid_part(x, move, first, last, out):
    """Part of the moves [m] of points first .. last - 1 in which the whole moves, into `out`; returns its turn [rad].

    x [m] is where they start: c + w x (x - centre) + growth (x - centre), of the same momenta, growth not below 0.
    """
    count = last - first
    cx = cy = cz = 0.0
    ux = uy = uz = 0.0
    for i in range(first, last):
        cx, cy, cz = cx + x[i, 0] - x[first, 0], cy + x[i, 1] - x[first, 1], cz + x[i, 2] - x[first, 2]
        ux, uy, uz = ux + move[i, 0], uy + move[i, 1], uz + move[i, 2]
    cx, cy, cz = x[first, 0] + cx / count, x[first, 1] + cy / count, x[first, 2] + cz / count
    ux, uy, uz = ux / count, uy / count, uz / count
    lx = ly = lz = along = 0.0
    xx = yy = zz = xy = xz = yz = 0.0
    for i in range(first, last):
        rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
        sx, sy, sz = move[i, 0] - ux, move[i, 1] - uy, move[i, 2] - uz
        lx, ly, lz = lx + ry * sz - rz * sy, ly + rz * sx - rx * sz, lz + rx * sy - ry * sx
        along += rx * sx + ry * sy + rz * sz
        xx, yy, zz = xx + rx * rx, yy + ry * ry, zz + rz * rz
        xy, xz, yz = xy - rx * ry, xz - rx * rz, yz - ry * rz
    size = xx + yy + zz
    wx = wy = wz = growth = 0.0
    if size > 0.0:
        # points on a line have no inertia about it: a little is added
        extra = size * (1.0 + 1e-9)
        xx, yy, zz = extra - xx, extra - yy, extra - zz
        ixx, iyy, izz = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
        ixy, ixz, iyz = xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - yz * xx
        inverse = 1.0 / (xx * ixx + xy * ixy + xz * ixz)
        wx = inverse * (ixx * lx + ixy * ly + ixz * lz)
        wy = inverse * (ixy * lx + iyy * ly + iyz * lz)
        wz = inverse * (ixz * lx + iyz * ly + izz * lz)
        growth = max(0.0, along / size)
    for i in range(first, last):
        rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
        out[i, 0] = ux + wy * rz - wz * ry + growth * rx
        out[i, 1] = uy + wz * rx - wx * rz + growth * ry
        out[i, 2] = uz + wx * ry - wy * rx + growth * rz
    return math.sqrt(wx * wx + wy * wy + wz * wz)
