"""How far the points of a body have moved apart from a rigid motion of the whole: what self-contact has to cover."""

import math

import numpy as np

from ..jit import kernel
from ..model import FloatArray


def own_distance(before: FloatArray, after: FloatArray, first: int, last: int) -> float:
    """Largest distance [m] of points first .. last - 1 from where the rigid motion nearest to theirs takes them.

    Positions [m], shape (point_count, 3). The rotation is that of Kabsch 1976; what is not finite gives NaN or inf.
    """
    sums = np.zeros((5, 3))
    correlate(before, after, first, last, sums)
    if not np.isfinite(sums).all():
        return math.inf
    u, _, vt = np.linalg.svd(sums[2:])
    turn = vt.T @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u) * np.linalg.det(vt)) or 1.0]) @ u.T
    return float(farthest(before, after, first, last, sums, turn))


@kernel
def correlate(before, after, first, last, sums):
    """Centres before and after [m], and the sum of the products of both distances from them [m^2]."""
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


def rigid_part(x: FloatArray, move: FloatArray, first: int, last: int, out: FloatArray) -> float:
    """Rigid part of the moves [m] of points first .. last - 1 into `out`; returns how far it turns [rad].

    Linear in the moves, x [m] being where they start: c + w x (x - centre), of the same momenta.
    """
    r = x[first:last] - x[first:last].mean(axis=0)
    c = move[first:last].mean(axis=0)
    s = move[first:last] - c
    square = np.einsum("ij,ik->jk", r, r)
    inertia = np.eye(3) * np.trace(square) * (1.0 + 1e-9) - square
    if not np.trace(square) > 0.0:
        out[first:last] = c
        return 0.0
    w = np.linalg.solve(inertia, np.cross(r, s).sum(axis=0))
    out[first:last] = c + np.cross(w, r)
    return float(np.linalg.norm(w))
