"""Coulomb friction as a smooth dissipation potential (Li et al. 2020, IPC, section 5).

    D = mu N f(|u_t|),  u_t the tangential slip of a contact during the time stage

N, the normal and the weights are those of the last accepted iterate ("lagged"). f is |u_t| - e/3 beyond the slip
e = `STICK_SPEED` * tau and a cubic inside, so a sticking contact creeps at less than that speed.
Hessian: mu N (f'/|u| (1 - d d') + f'' d d'), f'' >= 0.
"""

from math import sqrt
from typing import Any, NamedTuple

from numba import prange

from ..jit import kernel, parallel_kernel
from .contact import BLOCK_SIZE

#: Slip speed up to which a contact counts as sticking [m/s].
STICK_SPEED = 1e-3


@kernel
def slip_potential(slip, width):
    """f [m], f'/slip [1/m] and f'' [1/m] at a slip [m]; `width` = e."""
    if slip >= width:
        return slip - width / 3.0, 1.0 / slip, 0.0
    y = slip / width
    return slip * y * (1.0 - y / 3.0), (2.0 - y) / width, 2.0 * (1.0 - y) / width


class FrictionLag(NamedTuple):
    """What friction keeps of the last accepted iterate, one row per contact."""

    points: Any  # shape (contact_count, 4)
    weights: Any  # shape (contact_count, 4)
    normal: Any  # shape (contact_count, 3)
    limit: Any  # friction coefficient times normal force [N], shape (contact_count,)


@parallel_kernel
def friction_energy(count, x, base, lag, width, energy):
    """Dissipated energy [J] per block of contacts for positions x, with the slip taken from `base`."""
    for block in prange((count + BLOCK_SIZE - 1) // BLOCK_SIZE):
        total = 0.0
        for c in range(block * BLOCK_SIZE, min(count, (block + 1) * BLOCK_SIZE)):
            if lag.limit[c] > 0.0:
                ux, uy, uz = slip_vector(c, x, base, lag)
                value, _, _ = slip_potential(sqrt(ux * ux + uy * uy + uz * uz), width)
                total += lag.limit[c] * value
        energy[block] = total


@kernel
def slip_vector(c, x, base, lag):
    """Tangential slip of contact c since the base of the time stage [m]."""
    ux = uy = uz = 0.0
    for slot in range(4):
        i = lag.points[c, slot]
        w = lag.weights[c, slot]
        ux += w * (x[i, 0] - base[i, 0])
        uy += w * (x[i, 1] - base[i, 1])
        uz += w * (x[i, 2] - base[i, 2])
    nx, ny, nz = lag.normal[c, 0], lag.normal[c, 1], lag.normal[c, 2]
    un = ux * nx + uy * ny + uz * nz
    return ux - un * nx, uy - un * ny, uz - un * nz


@parallel_kernel
def evaluate_friction(count, x, base, lag, stiffness, normal_force, width, active, force, matrix, energy):
    """Total contact force [N] on the point's side and its 3 x 3 stiffness [N/m] (xx, yy, zz, xy, xz, yz), and the
    friction energy [J] per block.

    `stiffness` and `normal_force` are those of `evaluate_contact` at the same x.
    """
    for block in prange((count + BLOCK_SIZE - 1) // BLOCK_SIZE):
        total = 0.0
        for c in range(block * BLOCK_SIZE, min(count, (block + 1) * BLOCK_SIZE)):
            n = normal_force[c]
            active[c] = n > 0.0
            if n <= 0.0:
                continue
            nx, ny, nz = lag.normal[c, 0], lag.normal[c, 1], lag.normal[c, 2]
            ux, uy, uz = slip_vector(c, x, base, lag)
            slip = sqrt(ux * ux + uy * uy + uz * uz)
            value, pull, bend = slip_potential(slip, width)
            limit = lag.limit[c]
            total += limit * value
            a, b = limit * pull, limit * bend
            force[c, 0] = n * nx - a * ux
            force[c, 1] = n * ny - a * uy
            force[c, 2] = n * nz - a * uz
            # stiffness n n' + a (1 - n n' - d d') + b d d', d the slip direction
            inverse = 1.0 / slip if slip > 0.0 else 0.0
            dx, dy, dz = ux * inverse, uy * inverse, uz * inverse
            along = (b - a) if slip > 0.0 else 0.0
            k = stiffness[c] - a
            matrix[c, 0] = a + k * nx * nx + along * dx * dx
            matrix[c, 1] = a + k * ny * ny + along * dy * dy
            matrix[c, 2] = a + k * nz * nz + along * dz * dz
            matrix[c, 3] = k * nx * ny + along * dx * dy
            matrix[c, 4] = k * nx * nz + along * dx * dz
            matrix[c, 5] = k * ny * nz + along * dy * dz
        energy[block] = total
