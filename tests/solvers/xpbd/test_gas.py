"""The gas of XPBD: a closed form against its implicit equation."""

import math

import numpy as np
import pytest
from softpressure_ext.core.energy.gas import gas_law
from softpressure_ext.core.solvers.xpbd.gas import gas_impulse
from validation import validated

REST, AMBIENT = 0.03, 101_325.0


def bisected(volume, steepness, gas, ambient, exponent, time):
    """lambda = h^2 p(V + lambda S) with the pressure of `energy.gas`, which falls: one root."""

    def rest(impulse):
        return impulse - time**2 * gas_law(volume + impulse * steepness, REST, gas, ambient, exponent)[0]

    low, high = -1.0, 1.0
    while rest(low) > 0.0:
        low *= 2.0
    while rest(high) < 0.0:
        high *= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rest(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)


@pytest.mark.parametrize("exponent", [1.0, 1.4])
@pytest.mark.parametrize("time", [1 / 60, 1 / 1200])
@pytest.mark.parametrize("ambient", [0.0, AMBIENT])
@pytest.mark.parametrize("gauge", [0.0, 10.0, 5e4, 1e6])
@pytest.mark.parametrize("volume", [1.5 * REST, REST, 0.1 * REST, 0.01 * REST, 0.0, -0.5 * REST])
def test_closed_form_solves_the_implicit_equation(volume, gauge, ambient, time, exponent):
    gas = (gauge + ambient) * REST
    for steepness in (1e-6, 1e-2, 10.0):  # heavy to light skins: S = sum of area^2 / mass
        found = gas_impulse(volume, steepness, REST, gas, ambient, exponent, time)
        expected = bisected(volume, steepness, gas, ambient, exponent, time)
        size = time**2 * (gas / max(volume, 0.05 * REST) + ambient) + 1e-3 * abs(volume) / steepness + 1e-30
        validated(
            "λ of the gas in a substep", room="solvers/xpbd", measured=found, expected=expected, unit="N s² / m²",
            rel=1e-9, abs=1e-12 * size, source="root of λ = h² p(V + λ S) by bisection",
            reason="a difference of h² p and what the volume gives way, both known to rounding",
        )  # fmt: skip


def test_light_skins_end_where_the_pressure_is_that_outside():
    """However light the skin and long the step: never beyond the volume at which gas and air balance."""
    gas = (1e6 + AMBIENT) * REST
    for steepness in 10.0 ** np.arange(0, 16):
        reached = REST + steepness * gas_impulse(REST, steepness, REST, gas, AMBIENT, 1.0, 1 / 60)
        assert math.isfinite(reached) and REST < reached <= gas / AMBIENT * (1.0 + 1e-12)
