"""Gas that streams out of a tank through an orifice, and its thrust, in closed form."""

import math

import pytest
from softpressure_ext.core.flow.orifice import AIR, CHOKED, DISCHARGE, GAMMA, flow, jet_speed, left_after
from validation import validated


def emptied(amount, volume, outside, area, time, ticks):
    for _ in range(ticks):
        amount = left_after(amount, volume, outside, area, time / ticks)
    return amount


def test_a_tank_empties_into_empty_space_exponentially():
    """Choked: the flow is proportional to the pressure."""
    psi = math.sqrt(GAMMA) * (2.0 / (GAMMA + 1.0)) ** ((GAMMA + 1.0) / (2.0 * (GAMMA - 1.0)))
    rate = DISCHARGE * 1e-4 * math.sqrt(AIR) * psi / 0.03
    expected = 3e3 * math.exp(-0.5 * rate)
    validated(
        "gas left in a tank in empty space", room="flow", measured=emptied(3e3, 0.03, 0.0, 1e-4, 0.5, 240),
        expected=expected, unit="J", rel=1e-5, source="exp(-C A sqrt(R T) psi t / V)", reason="midpoint rule",
    )  # fmt: skip


def test_a_tank_at_low_pressure_empties_as_torricelli_says():
    """The root of the gauge pressure falls evenly, and it is empty at a finite time."""
    outside, gauge, volume, area = 1e5, 100.0, 0.03, 1e-5
    fall = DISCHARGE * area * math.sqrt(2.0 * AIR * outside) / (2.0 * volume)
    end = math.sqrt(gauge) / fall
    for share in (0.2, 0.5, 0.9):
        left = emptied((outside + gauge) * volume, volume, outside, area, share * end, 100) / volume - outside
        # compressibility changes the flow by the pressure's share of 1e-3
        assert math.sqrt(left) == pytest.approx(math.sqrt(gauge) * (1.0 - share), rel=2e-3)
    assert emptied((outside + gauge) * volume, volume, outside, area, 1.01 * end, 100) == pytest.approx(
        outside * volume, rel=1e-9
    )


def test_air_streams_into_a_tank_of_lower_pressure_and_never_beyond_it():
    lower = emptied(5e4 * 0.03, 0.03, 1e5, 1e-4, 0.1, 48)
    assert 5e4 * 0.03 < lower < 1e5 * 0.03
    assert emptied(5e4 * 0.03, 0.03, 1e5, 1e-2, 10.0, 10) == pytest.approx(1e5 * 0.03, rel=1e-9)
    assert left_after(0.0, 0.03, 0.0, 1.0, 1.0) == 0.0
    assert flow(1e5, 0.0) == flow(1e5, CHOKED * 1e5)
    assert flow(1e5, 9e4) == -flow(9e4, 1e5)


def test_the_jet_pushes_with_its_mass_flow_times_its_speed():
    """Bernoulli's speed at low pressure, and the closed form of a choked orifice in empty space."""
    gauge, outside = 200.0, 1e5
    density = outside / AIR
    assert jet_speed(outside + gauge, outside) == pytest.approx(math.sqrt(2.0 * gauge / density), rel=2e-3)
    thrust = flow(outside + gauge, outside) / AIR * jet_speed(outside + gauge, outside)
    validated(
        "thrust of a hole over its area at 200 Pa", room="flow", measured=thrust,
        expected=2.0 * DISCHARGE * gauge, unit="Pa", rel=2e-3, source="2 C (p - q)", reason="compressibility",
    )  # fmt: skip
    sonic = math.sqrt(2.0 * GAMMA / (GAMMA + 1.0) * AIR)
    choked = flow(1e5, 0.0) / AIR * jet_speed(1e5, 0.0)
    assert choked == pytest.approx(flow(1e5, 0.0) / AIR * sonic + DISCHARGE * CHOKED * 1e5, rel=1e-12)
    assert jet_speed(0.0, 0.0) == 0.0
