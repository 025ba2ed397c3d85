"""Hinges as constraints, from the very energy of `forces/bend.py`.

    E = k/2 |r|^2,  C = |r|,  compliance 1 / k,  F = -k C dC/dx
    lambda = -C / (S + 1 / (k h^2)),  S = sum w |dC/dx|^2    =>   x_i += w_i F_i / (sum w |F|^2 / (2 E) + 1 / h^2)

No constant of the energy is left in this form: it holds for any E = k C^2 / 2. The four forces of a hinge have neither
a resultant nor a torque, so momentum and angular momentum stay.
"""

from typing import Any, NamedTuple

from ...forces.bend import hinge_energy
from ...jit import kernel


class HingeRows(NamedTuple):
    """Hinges in the order of projection."""

    order: Any  # numbers of the hinges, shape (hinge_count,)
    task_start: Any  # see `colours.Schedule`
    launch_start: Any


@kernel
def project_hinges(first, last, order, x, inverse_mass, hinges, inverse_time2, turn, force):
    """Project the hinges at the places first .. last - 1 of `order`, one after the other."""
    for place in range(first, last):
        h = order[place]
        energy = hinge_energy(h, x, hinges, turn, force)
        steepness = 0.0
        for slot in range(4):
            fx, fy, fz = force[h, slot, 0], force[h, slot, 1], force[h, slot, 2]
            steepness += inverse_mass[hinges.points[h, slot]] * (fx * fx + fy * fy + fz * fz)
        if not energy > 1e-200:  # at rest: no force
            continue
        move = 1.0 / (0.5 * steepness / energy + inverse_time2)
        for slot in range(4):
            i = hinges.points[h, slot]
            w = move * inverse_mass[i]
            x[i, 0] += w * force[h, slot, 0]
            x[i, 1] += w * force[h, slot, 1]
            x[i, 2] += w * force[h, slot, 2]


@kernel
def project_bend(x, inverse_mass, hinges, rows, time, turn, force):
    """Project all hinges once; `turn` and `force` are scratch of `forces.bend`, `time` the substep [s]."""
    inverse_time2 = 1.0 / (time * time)
    for launch in range(rows.launch_start.shape[0] - 1):
        first = rows.launch_start[launch]
        count = rows.launch_start[launch + 1] - first
        if count == 1:
            project_hinges(
                rows.task_start[first], rows.task_start[first + 1], rows.order, x, inverse_mass, hinges, inverse_time2,
                turn, force,
            )  # fmt: skip
        else:
            for task in range(count):
                project_hinges(
                    rows.task_start[first + task], rows.task_start[first + task + 1], rows.order, x, inverse_mass,
                    hinges, inverse_time2, turn, force,
                )  # fmt: skip
