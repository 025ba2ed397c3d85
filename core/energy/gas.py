"""Ideal gas inside a skin: (p_gauge + p_ambient) V = nRT (Martin 2009, 3.1.3; Mesit 2007, eq. 8-14).

    E = -nRT ln(V / V_rest) + p_ambient (V - V_rest),   force = (nRT / V - p_ambient) dV/dx

dV/dx_i = sum over the triangles at i of x_j cross x_k / 6: exact for a closed surface, so the net force and the
net torque vanish. Hessian: nRT / V^2 (dV/dx)(dV/dx)', one rank per body; the term of d2V is left out (it is
indefinite, and inertia dominates it at the step lengths used).
Below a twentieth of the rest volume the logarithm is continued by its parabola, so that a body turned inside out
(V < 0) is pushed back with a finite force instead of failing.
"""

from math import log

import numpy as np

from ..jit import kernel, lean_inline_kernel
from ..simd import lane, load3, rotated, spread, store3, sum_spread

#: Volume below which the gas law is continued as a parabola [rest volume]: keeps the pressure finite.
SMALLEST_VOLUME_SHARE = 0.05


@kernel
def volume_gradient(x, body_point_start, fans, chunks, gradient, chunk_volume):
    """Write dV/dx [m^2] to `gradient`, shape (vertex_count, 3), and each chunk's part of the volume [m^3].

    Positions are relative to the body's first vertex: accurate far from the origin.
    """
    for c in range(chunks.body.shape[0]):
        origin = load3(x, 3 * body_point_start[chunks.body[c]])
        volume = spread(0.0)
        for i in range(chunks.start[c], chunks.start[c + 1]):
            total = spread(0.0)
            for q in range(np.uint64(fans.vertex_start[i]), np.uint64(fans.vertex_start[i + 1])):
                a = load3(x, 3 * fans.corners[q, 0]) - origin
                b = load3(x, 3 * fans.corners[q, 1]) - origin
                total = total + (a * rotated(b) - rotated(a) * b)
            total = rotated(total) / 6.0
            store3(gradient, 3 * i, total)
            volume = volume + (load3(x, 3 * i) - origin) * total
        chunk_volume[c] = lane(sum_spread(volume), 0) / 3.0


@lean_inline_kernel
def gauge_pressure(volume, rest_volume, gas, ambient):
    """Gauge pressure [Pa] of `gas` = nRT [J]; below SMALLEST_VOLUME_SHARE it is continued along its tangent."""
    smallest = SMALLEST_VOLUME_SHARE * rest_volume
    if volume >= smallest:
        return gas / volume - ambient
    return gas / smallest * (2.0 - volume / smallest) - ambient


@kernel
def gas_law(volume, rest_volume, gas, ambient):
    """Gauge pressure [Pa], stiffness -dp/dV [Pa/m^3], and energy [J] of `gas` = nRT [J]."""
    pressure = gauge_pressure(volume, rest_volume, gas, ambient)
    smallest = SMALLEST_VOLUME_SHARE * rest_volume
    if volume >= smallest:
        energy = -gas * log(volume / rest_volume) + ambient * (volume - rest_volume)
        return pressure, gas / (volume * volume), energy
    fall = gas / (smallest * smallest)
    lack = smallest - volume
    energy = -gas * log(SMALLEST_VOLUME_SHARE) + gas / smallest * lack + 0.5 * fall * lack * lack
    return pressure, fall, energy + ambient * (volume - rest_volume)


@kernel
def evaluate_gas(chunk_volume, chunks, rest_volume, gas, ambient, volume, pressure, stiffness, energy):
    """Volume [m^3], gauge pressure [Pa], gas stiffness [Pa/m^3] and energy [J] of each membrane's gas; 0 without.

    Returns the sum of the energies.
    """
    for body in range(volume.shape[0]):
        if rest_volume[body] == 0.0:
            volume[body] = pressure[body] = stiffness[body] = energy[body] = 0.0
            continue
        total = 0.0
        for chunk in range(chunks.body_start[body], chunks.body_start[body + 1]):
            total += chunk_volume[chunk]
        volume[body] = total
        pressure[body], stiffness[body], energy[body] = gas_law(total, rest_volume[body], gas[body], ambient)
    return energy.sum()
