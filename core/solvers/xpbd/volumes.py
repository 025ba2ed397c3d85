"""Volumes of the tetrahedra of solids as constraints (the XPBD page; Macklin, Müller, Chentanez 2016, eq. 18).

    C = V - V0,   compliance V0 / K,   lambda = -C / (sum w_i |dV/dx_i|^2 + V0 / (K h^2)),   x_i += w_i lambda dV/dx_i

with K of `energy.volume`. V keeps its sign: a tetrahedron turned inside out is pushed back. The gradients sum to zero
and have no moment: momentum and angular momentum are conserved.
"""

from ...energy.volume import tetrahedron_gradient
from ...jit import kernel


@kernel
def project_volumes(x, inverse_mass, tetrahedra, order, time, gradient):
    """Project all tetrahedra once, one after the other; `order` as in `colours.Schedule`, `time` the substep [s].

    `gradient` is scratch, shape (count, 4, 3).
    """
    inverse_time2 = 1.0 / (time * time)
    for t in order:
        lack = tetrahedra.rest_volume[t] - tetrahedron_gradient(t, tetrahedra.points, x, gradient)
        steepness = inverse_time2 / tetrahedra.stiffness[t]
        for slot in range(4):
            gx, gy, gz = gradient[t, slot, 0], gradient[t, slot, 1], gradient[t, slot, 2]
            steepness += inverse_mass[tetrahedra.points[t, slot]] * (gx * gx + gy * gy + gz * gz)
        push = lack / steepness
        for slot in range(4):
            i = tetrahedra.points[t, slot]
            w = push * inverse_mass[i]
            x[i, 0] += w * gradient[t, slot, 0]
            x[i, 1] += w * gradient[t, slot, 1]
            x[i, 2] += w * gradient[t, slot, 2]
