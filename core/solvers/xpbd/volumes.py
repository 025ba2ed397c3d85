"""Volumes of the cells of solids as constraints (the XPBD page; Macklin, Müller, Chentanez 2016, eq. 18).

    C = V - V0,   compliance 1 / k,   lambda = -C / (sum w_i |dV/dx_i|^2 + 1 / (k h^2)),   x_i += w_i lambda dV/dx_i

with the stiffness k of `energy.volume`: first the sum of a cell's corners, then one corner after the other. V keeps its
sign: a corner turned inside out is pushed back. The gradients sum to zero and have no moment: momentum and angular
momentum are conserved.
"""

import numpy as np

from ...energy.volume import corner_volume, sum_gradient, volume_gradient
from ...jit import inline_kernel, kernel


@kernel
def project_volumes(x, inverse_mass, tetrahedra, order, time):
    """Project the volumes of all cells once, one after the other; `order` as in `colours.Schedule`.

    `time`: of the substep [s].
    """
    points, gradient, inverse_time2 = tetrahedra.points, np.empty((8, 3)), 1.0 / (time * time)
    for cell in order:
        first = 8 * cell
        for t in range(first, first + 8):
            for slot in range(4):
                gradient[slot] = volume_gradient(t, slot, points, x)
            lack = tetrahedra.rest_volume[t] - corner_volume(t, points, x)
            push(x, inverse_mass, points[t], gradient, lack, inverse_time2 / tetrahedra.stiffness[t])
        if tetrahedra.sum_stiffness[cell] > 0.0:
            lack = 0.0
            for corner in range(8):
                lack += tetrahedra.rest_volume[first + corner] - corner_volume(first + corner, points, x)
                gradient[corner] = sum_gradient(cell, corner, points, x)
            compliance = inverse_time2 / tetrahedra.sum_stiffness[cell]
            push(x, inverse_mass, points[first : first + 8, 0], gradient, lack, compliance)


@inline_kernel
def push(x, inverse_mass, points, gradient, lack, compliance):
    """Move points along the gradient of a volume that lacks something [m^3]; `compliance` over h^2 [m^4/kg]."""
    steepness = compliance
    for slot in range(points.shape[0]):
        gx, gy, gz = gradient[slot, 0], gradient[slot, 1], gradient[slot, 2]
        steepness += inverse_mass[points[slot]] * (gx * gx + gy * gy + gz * gz)
    share = lack / steepness
    for slot in range(points.shape[0]):
        i = points[slot]
        w = share * inverse_mass[i]
        x[i, 0] += w * gradient[slot, 0]
        x[i, 1] += w * gradient[slot, 1]
        x[i, 2] += w * gradient[slot, 2]
