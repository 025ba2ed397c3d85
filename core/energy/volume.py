"""Volumes of tetrahedra: the volume energy of a soft solid, besides its springs (Macklin et al. 2016; the XPBD page).

    E = K / 2 (V - V0)^2 / V0,   V = (x1 - x0) . (x2 - x0) cross (x3 - x0) / 6,   C = V - V0 (not 6 V as in its text)

K [Pa] is the bulk stiffness of the solid less that of its springs (`bodies.lattice.springs`). V keeps its sign,
so a tetrahedron that is flat or turned inside out is pushed back with a finite force. Hessian: K / V0 (dV/dx)(dV/dx)',
positive semi-definite; the term of d2V is neglected, as in `gas.py`.
"""

import numpy as np

from ..jit import kernel
from ..model import FloatArray, IntArray, Tetrahedra

#: Volume of a tetrahedron over its triple product [1].
SIXTH = 1.0 / 6.0


@kernel
def tetrahedron_gradient(t, points, x, gradient):
    """V [m^3] of tetrahedron t; writes dV/dx [m^2] of its four points to `gradient[t]`."""
    i, j, k, m = points[t, 0], points[t, 1], points[t, 2], points[t, 3]
    ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    cx, cy, cz = x[m, 0] - x[i, 0], x[m, 1] - x[i, 1], x[m, 2] - x[i, 2]
    ux, uy, uz = SIXTH * (by * cz - bz * cy), SIXTH * (bz * cx - bx * cz), SIXTH * (bx * cy - by * cx)
    vx, vy, vz = SIXTH * (cy * az - cz * ay), SIXTH * (cz * ax - cx * az), SIXTH * (cx * ay - cy * ax)
    wx, wy, wz = SIXTH * (ay * bz - az * by), SIXTH * (az * bx - ax * bz), SIXTH * (ax * by - ay * bx)
    gradient[t, 1, 0], gradient[t, 1, 1], gradient[t, 1, 2] = ux, uy, uz
    gradient[t, 2, 0], gradient[t, 2, 1], gradient[t, 2, 2] = vx, vy, vz
    gradient[t, 3, 0], gradient[t, 3, 1], gradient[t, 3, 2] = wx, wy, wz
    gradient[t, 0, 0], gradient[t, 0, 1], gradient[t, 0, 2] = -ux - vx - wx, -uy - vy - wy, -uz - vz - wz
    return ax * ux + ay * uy + az * uz


@kernel
def evaluate_tetrahedra(x, tetrahedra, pressure, gradient, energy):
    """Add the energy [J] of the tetrahedra to `energy` per chunk.

    `pressure` K (1 - V / V0) [Pa], shape (tetrahedron_count,); `gradient` dV/dx [m^2], shape
    (tetrahedron_count, 4, 3).
    """
    for chunk in range(tetrahedra.chunk_start.shape[0] - 1):
        total = 0.0
        for t in range(tetrahedra.chunk_start[chunk], tetrahedra.chunk_start[chunk + 1]):
            volume = tetrahedron_gradient(t, tetrahedra.points, x, gradient)
            lack = tetrahedra.rest_volume[t] - volume
            stiffness = tetrahedra.stiffness[t]
            pressure[t] = stiffness * lack
            total += 0.5 * stiffness * lack * lack
        energy[chunk] += total


@kernel
def tetrahedron_force(i, vertex_start, vertex_entry, pressure, gradient):
    """Force on vertex i [N]; with `squeeze_tetrahedra` instead of the pressure minus row i of the Hessian product."""
    fx = fy = fz = 0.0
    for q in range(vertex_start[i], vertex_start[i + 1]):
        t = vertex_entry[q] >> 2
        slot = vertex_entry[q] & 3
        p = pressure[t]
        fx += p * gradient[t, slot, 0]
        fy += p * gradient[t, slot, 1]
        fz += p * gradient[t, slot, 2]
    return fx, fy, fz


@kernel
def squeeze_tetrahedra(first, last, points, stiffness, gradient, p, squeeze):
    """Change of the pressure [Pa] of the tetrahedra first .. last - 1 for a displacement p: product, step one."""
    for t in range(first, last):
        swept = 0.0
        for slot in range(4):
            i = points[t, slot]
            swept += gradient[t, slot, 0] * p[i, 0] + gradient[t, slot, 1] * p[i, 1] + gradient[t, slot, 2] * p[i, 2]
        squeeze[t] = -stiffness[t] * swept


def tetrahedron_couplings(tetrahedra: Tetrahedra, x: FloatArray) -> tuple[IntArray, FloatArray]:
    """Pairs of vertices, and minus a third of the trace of the Hessian's block between them at x [N/m]."""
    points = tetrahedra.points
    gradient = np.empty((len(points), 4, 3))
    for slot in range(4):
        a, b, c = (x[points[:, (slot + k) % 4]] for k in (1, 2, 3))
        gradient[:, slot] = (1.0 if slot % 2 else -1.0) * np.cross(b - a, c - a) / 6.0
    pairs = [(p, q) for p in range(4) for q in range(p)]
    weight = [np.einsum("ij,ij->i", gradient[:, p], gradient[:, q]) * tetrahedra.stiffness for p, q in pairs]
    return np.concatenate([points[:, pair] for pair in pairs]), -np.concatenate(weight) / 3.0
