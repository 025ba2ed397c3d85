"""Hinges as constraints, from the energy of `energy/bend.py`.

    E = k/2 |r|^2,  C = |r|,  compliance 1 / k,  F = -k C dC/dx
    lambda = -C / (S + 1 / (k h^2)),  S = sum w |dC/dx|^2    =>   x_i += w_i F_i / (sum w |F|^2 / (2 E) + 1 / h^2)

No constant of the energy is left in this form: it holds for any E = k C^2 / 2. The four forces of a hinge have neither
a resultant nor a torque, so momentum and angular momentum are conserved.
"""

from ...energy.bend import hinge_energy
from ...jit import lean_kernel


@lean_kernel
def project_bend(x, inverse_mass, hinges, order, time, force):
    """Project all hinges once, one after the other; `order` as in `colours.Schedule`, `time` the substep [s].

    x [m], shape (vertex_count, 3 or more).
    `force` is scratch of `energy.bend`.
    """
    inverse_time2 = 1.0 / (time * time)
    for h in order:
        energy = hinge_energy(h, x, hinges, force)
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
