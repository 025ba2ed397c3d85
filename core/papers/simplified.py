"""The simplified implicit steps of Mesit 2007: no system is solved, each vertex is divided by its own springs.

Implicit Euler reads (1 - h^2 H / m) dv = (F + H v h) h / m (eq. 19) with the approximate Jacobian of the springs
H_ij = k_ij, H_ii = -K_i, K_i = sum of the springs at i. What the neighbours' changes dv_j would be is guessed from
those of the step before, turned along the forces of now:

    IMPLICIT_KANG    dv_i = (F_i h + h^2 sum_j k_ij |dv_j| F_j / |F_j|) / (m_i + h^2 K_i)      eq. 21 (Kang et al. 2000)
    IMPLICIT_MESIT   dv_i = (F_i h + h^2 K_i |dv_i| F_i / |F_i|) / (m_i + h^2 K_i)             eq. 24

with x' = x + h (v + dv) (eq. 9). The print has one k for all springs, so k n_i for K_i; in eq. 24 both dv bear the
same name, but the one on the right is that of the step before.
From eq. 20 on the print has lost H v h. It has not gone: the damping of eq. 12, h sum_j k_ij (v_j - v_i), is the very
term, and F contains it. Without it both steps are less stable than the explicit one.
"""

from math import sqrt

import numpy as np

from ..array_types import FloatArray
from ..jit import kernel
from ..model import Edges


def stiffness_at_vertices(edges: Edges, vertex_count: int) -> FloatArray:
    """K_i: sum of the spring constants at each vertex [N/m]."""
    return np.asarray(np.bincount(edges.points.ravel(), np.repeat(edges.stiffness, 2), vertex_count), float)


@kernel
def add_spring_damping(v, edges, h, force):
    """Add eq. 12, h sum_j k_ij (v_j - v_i) [N], to the force on every vertex; v velocities [m/s]."""
    for e in range(edges.points.shape[0]):
        i, j = edges.points[e, 0], edges.points[e, 1]
        for axis in range(3):
            pull = h * edges.stiffness[e] * (v[j, axis] - v[i, axis])
            force[i, axis] += pull
            force[j, axis] -= pull


@kernel
def kang_change(force, earlier, mass, stiffness, edges, h, change):
    """dv of eq. 21 [m/s], shape (vertex_count, 3); `earlier` = |dv| of the step before [m/s], shape (vertex_count,)."""
    change[:] = 0.0
    for e in range(edges.points.shape[0]):
        for side in range(2):
            i, j = edges.points[e, side], edges.points[e, 1 - side]
            size = sqrt(force[j, 0] * force[j, 0] + force[j, 1] * force[j, 1] + force[j, 2] * force[j, 2])
            if size > 0.0:
                for axis in range(3):
                    change[i, axis] += edges.stiffness[e] * earlier[j] / size * force[j, axis]
    for i in range(mass.shape[0]):
        slowed = 1.0 / (mass[i] + h * h * stiffness[i])
        for axis in range(3):
            change[i, axis] = (force[i, axis] * h + h * h * change[i, axis]) * slowed


@kernel
def mesit_change(force, earlier, mass, stiffness, h, change):
    """dv of eq. 24 [m/s], shape (vertex_count, 3); `earlier` = |dv| of the step before [m/s], shape (vertex_count,)."""
    for i in range(mass.shape[0]):
        fx, fy, fz = force[i, 0], force[i, 1], force[i, 2]
        size = sqrt(fx * fx + fy * fy + fz * fz)
        scale = 0.0
        if size > 0.0:
            scale = h * (size + h * stiffness[i] * earlier[i]) / (size * (mass[i] + h * h * stiffness[i]))
        change[i, 0], change[i, 1], change[i, 2] = scale * fx, scale * fy, scale * fz
