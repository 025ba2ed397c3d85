"""Prediction and velocities of the skins.

    x = x0 + h v + f h^2 g  ...projections...   v = (x - x0) / h + (1 - f) h g + w x (x - c)

f = 1/2 for a body that nothing touched in the substep before: free fall is then exact. f = 1 for one that lies on
something: there gravity and contact cancel within the substep, and what lies still has no velocity. w and c are those
of `spin.py`.
"""

import numpy as np
from numba import prange

from ...jit import kernel, parallel_kernel


@kernel
def predict(first, last, x, v, inverse_mass, fall, time, lies, start):
    """Keep x in `start` and move it, for the vertices first .. last - 1 that are not pinned; `fall` is g [m/s^2]."""
    share = time if lies else 0.5 * time
    fx, fy, fz = share * fall[0], share * fall[1], share * fall[2]
    for vertex in range(first, last):
        i = np.uint32(vertex)
        if inverse_mass[i] != 0.0:
            start[i, 0], start[i, 1], start[i, 2] = x[i, 0], x[i, 1], x[i, 2]
            x[i, 0] += time * (v[i, 0] + fx)
            x[i, 1] += time * (v[i, 1] + fy)
            x[i, 2] += time * (v[i, 2] + fz)


@parallel_kernel
def set_velocities(x, start, inverse_mass, fall, time, chunks, lying, spin, v):
    """v from where the vertices went; `lying` as at the prediction, `spin` of each body from `lacking_spin`."""
    for c in prange(chunks.body.shape[0]):
        body = chunks.body[c]
        share = 0.0 if lying[body] else 0.5
        fx, fy, fz = share * time * fall[0], share * time * fall[1], share * time * fall[2]
        cx, cy, cz = spin[body, 0], spin[body, 1], spin[body, 2]
        wx, wy, wz = spin[body, 3], spin[body, 4], spin[body, 5]
        inverse = 1.0 / time
        for vertex in range(chunks.start[c], chunks.start[c + 1]):
            i = np.uint32(vertex)
            if inverse_mass[i] != 0.0:
                rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
                v[i, 0] = inverse * (x[i, 0] - start[i, 0]) + fx + wy * rz - wz * ry
                v[i, 1] = inverse * (x[i, 1] - start[i, 1]) + fy + wz * rx - wx * rz
                v[i, 2] = inverse * (x[i, 2] - start[i, 2]) + fz + wx * ry - wy * rx
