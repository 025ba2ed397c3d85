"""Ideal gas inside a skin: (p_gauge + p_base) V^k = nRT V_rest^(k-1) (Martin 2009, 3.1.3; Mesit 2007, eq. 8-14).

    E = -nRT ln(V / V_rest) + p_base (V - V_rest),   force = (nRT / V - p_base) dV/dx   at k = 1

k = 1, p_base = p_ambient holds the amount of gas at constant temperature, k = 1.4 without exchange of heat (air), k = 0
the pressure. A bulk modulus as p_base, k = 1, holds the volume (`bodies/gas_laws.py`). nRT is that at rest volume.

dV/dx_i = sum over the triangles at i of x_j cross x_k / 6: exact for a closed surface, so the net force and the
net torque vanish.
Below a twentieth of the rest volume the logarithm is continued by its parabola, so that a body turned inside out
(V < 0) is pushed back with a finite force instead of failing.
"""

from math import log

from ..jit import kernel, lean_inline_kernel

#: Volume below which the gas law is continued as a parabola [rest volume]: keeps the pressure finite.
SMALLEST_VOLUME_SHARE = 0.05


@lean_inline_kernel
def gauge_pressure(volume, rest_volume, gas, base, exponent):
    """Gauge pressure [Pa] of `gas` = nRT [J]; below SMALLEST_VOLUME_SHARE it is continued along its tangent."""
    smallest = SMALLEST_VOLUME_SHARE * rest_volume
    if exponent == 1.0:
        if volume >= smallest:
            return gas / volume - base
        return gas / smallest * (2.0 - volume / smallest) - base
    if volume >= smallest:
        return gas / rest_volume * (rest_volume / volume) ** exponent - base
    most = gas / rest_volume * SMALLEST_VOLUME_SHARE**-exponent
    return most * (1.0 + exponent * (1.0 - volume / smallest)) - base


@kernel
def gas_law(volume, rest_volume, gas, base, exponent):
    """Gauge pressure [Pa], stiffness -dp/dV [Pa/m^3], and energy [J] of `gas` = nRT [J]."""
    pressure = gauge_pressure(volume, rest_volume, gas, base, exponent)
    smallest = SMALLEST_VOLUME_SHARE * rest_volume
    lack, outside = smallest - volume, base * (volume - rest_volume)
    if exponent == 1.0:
        if volume >= smallest:
            return pressure, gas / (volume * volume), -gas * log(volume / rest_volume) + outside
        fall = gas / (smallest * smallest)
        energy = -gas * log(SMALLEST_VOLUME_SHARE) + gas / smallest * lack + 0.5 * fall * lack * lack
        return pressure, fall, energy + outside
    power = 1.0 - exponent
    if volume >= smallest:
        energy = -gas * ((volume / rest_volume) ** power - 1.0) / power
        return pressure, exponent * (pressure + base) / volume, energy + outside
    most = gas / rest_volume * SMALLEST_VOLUME_SHARE**-exponent
    fall = exponent * most / smallest
    energy = -gas * (SMALLEST_VOLUME_SHARE**power - 1.0) / power + most * lack + 0.5 * fall * lack * lack
    return pressure, fall, energy + outside
