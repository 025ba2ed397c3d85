"""Volumes of the tetrahedra of solids as constraints (the XPBD page; Macklin, Müller, Chentanez 2016, eq. 18).

    C = V - V0,   compliance V0 / K,   lambda = -C / (sum w_i |dV/dx_i|^2 + V0 / (K h^2)),   x_i += w_i lambda dV/dx_i

with K of `forces.tetrahedra`. V keeps its sign: a tetrahedron turned inside out is pushed back. The gradients sum to
zero and have no moment: momentum and angular momentum stay.
"""

from typing import Any, NamedTuple

from ...forces.tetrahedra import tetrahedron_gradient
from ...jit import kernel


class TetrahedronRows(NamedTuple):
    """Tetrahedra in the order of projection (`colours.Schedule`)."""

    order: Any
    task_start: Any
    launch_start: Any


@kernel
def project_tetrahedra(first, last, order, x, inverse_mass, tetrahedra, inverse_time2, gradient):
    """Project the tetrahedra at the places first .. last - 1 of `order`, one after the other."""
    for place in range(first, last):
        t = order[place]
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


@kernel
def project_volumes(x, inverse_mass, tetrahedra, rows, time, gradient):
    """Project all tetrahedra once; `gradient` is scratch, shape (count, 4, 3), `time` the substep [s]."""
    inverse_time2 = 1.0 / (time * time)
    for launch in range(rows.launch_start.shape[0] - 1):
        first = rows.launch_start[launch]
        count = rows.launch_start[launch + 1] - first
        if count == 1:
            project_tetrahedra(
                rows.task_start[first], rows.task_start[first + 1], rows.order, x, inverse_mass, tetrahedra,
                inverse_time2, gradient,
            )  # fmt: skip
        else:
            for task in range(count):
                project_tetrahedra(
                    rows.task_start[first + task], rows.task_start[first + task + 1], rows.order, x, inverse_mass,
                    tetrahedra, inverse_time2, gradient,
                )  # fmt: skip
