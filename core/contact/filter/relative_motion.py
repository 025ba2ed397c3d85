"""Displacement of a body's points relative to its common motion, which a search for self-contact must cover.

The common motion (translation, rotation, uniform growth) brings no two points nearer and is subtracted.
"""

import math

import numpy as np

from ...jit import kernel
from ...model import FloatArray


def relative_distance(before: FloatArray, after: FloatArray, first: int, last: int) -> float:
    """Largest distance [m] of points first .. last - 1 from where their best-fitting common motion takes them.

    Positions [m], shape (point_count, 3). Least squares fit of rotation and growth by Umeyama 1991. Positions that are
    not finite give NaN or inf.
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
    """Centres before and after [m], the correlation matrix of the arms about them [m^2], the variance before [m^2]."""
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
    """Largest distance [m] between the points after and the transformed points before."""
    most = 0.0
    for i in range(first, last):
        ax, ay, az = before[i, 0] - sums[0, 0], before[i, 1] - sums[0, 1], before[i, 2] - sums[0, 2]
        dx = after[i, 0] - sums[1, 0] - (turn[0, 0] * ax + turn[0, 1] * ay + turn[0, 2] * az)
        dy = after[i, 1] - sums[1, 1] - (turn[1, 0] * ax + turn[1, 1] * ay + turn[1, 2] * az)
        dz = after[i, 2] - sums[1, 2] - (turn[2, 0] * ax + turn[2, 1] * ay + turn[2, 2] * az)
        most = max(most, dx * dx + dy * dy + dz * dz)
    return math.sqrt(most)
