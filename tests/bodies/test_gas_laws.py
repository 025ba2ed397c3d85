"""What the gas of a skin holds: amount, pressure or volume, and its inflation, against closed forms."""

import pytest
import shapes
from scenes import AMBIENT, advance, played, virial_pressure
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World

#: XPBD holds amounts alone, and its springs are not in balance: `solvers/xpbd/test_gas.py` has its law.
SOLVERS = ("EXPLICIT", "RK4")
PRESSURE = 20e3


def ball_world(solver="EXPLICIT", *, plates=False, **options):
    """A slack ball that grows by about a seventh under its gas; or between two plates."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    positions, triangles = shapes.icosphere(2, 0.15)
    given = {"mass": 2.0, "gauge_pressure": PRESSURE, "stretch_modulus": 5e3, "damping": 40.0} | options
    builder.add_membrane("ball", positions, triangles, **given)
    if plates:
        flat, faces = shapes.grid(0.6)
        builder.add_collider("lower", flat - [0.0, 0.0, 0.152], faces)
        builder.add_collider("upper", flat + [0.0, 0.0, 0.152], faces[:, ::-1])
    return World(builder.build(), frame_rate=24, substeps=60 if solver == "RK4" else 10, solver=solver)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("exponent", [1.0, 1.4, 5.0 / 3.0])
def test_the_tension_of_the_skin_balances_the_pressure_after_adiabatic_growth(solver, exponent):
    world = ball_world(solver, gas_exponent=exponent)
    advance(world, 24)
    found, drawn = world.diagnostics().bodies[0], world.model.drawn_volume[0]
    assert found.volume > 1.05 * drawn
    expected = (PRESSURE + AMBIENT) * (drawn / found.volume) ** exponent - AMBIENT
    assert found.gauge_pressure == pytest.approx(expected, rel=1e-9)
    assert virial_pressure(world) == pytest.approx(expected, rel=5e-3)
    assert found.temperature_ratio == pytest.approx((drawn / found.volume) ** (exponent - 1.0), rel=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_held_pressure_stays_and_follows_its_key(solver):
    world = ball_world(solver, gas_hold="PRESSURE", gauge_pressure=5e3)
    for pressure in (5e3, 8e3):
        advance(world, 24, gauge_pressure={0: pressure})
        assert world.diagnostics().bodies[0].gauge_pressure == pytest.approx(pressure, rel=1e-9)
        assert virial_pressure(world) == pytest.approx(pressure, rel=5e-3)


def test_a_held_volume_stays_within_a_thousandth_whatever_the_pressure():
    world = ball_world(gas_hold="VOLUME", pressure_at="REST", drawn_shape="INFLATED")
    advance(world, 24)
    found = world.diagnostics().bodies[0]
    assert found.volume == pytest.approx(world.model.rest_volume[0], rel=1e-3)
    assert found.gauge_pressure == pytest.approx(PRESSURE, rel=0.01)
    assert virial_pressure(world) == pytest.approx(found.gauge_pressure, rel=5e-3)


def test_plates_compress_a_gas_but_not_a_liquid_and_a_held_pressure_does_not_rise():
    """Pressed to three quarters of its height between plates."""
    found = {}
    for hold, exponent in (("AMOUNT", 1.0), ("AMOUNT", 1.4), ("PRESSURE", 1.0), ("VOLUME", 1.0)):
        world = ball_world(
            plates=True, gas_hold=hold, gas_exponent=exponent, pressure_at="REST", drawn_shape="INFLATED",
            stretch_modulus=3e4,
        )  # fmt: skip
        flat = shapes.grid(0.6)[0]
        for frame in range(24):
            height = 0.152 - 0.04 * min((frame + 1) / 18.0, 1.0)
            world.advance_frame(
                FrameInput(collider_positions={0: flat - [0.0, 0.0, height], 1: flat + [0.0, 0.0, height]})
            )
        body = world.diagnostics().bodies[0]
        found[hold, exponent] = body.volume_ratio, body.gauge_pressure
        if hold == "AMOUNT":
            law = (PRESSURE + AMBIENT) * body.volume_ratio**-exponent - AMBIENT
            assert body.gauge_pressure == pytest.approx(law, rel=1e-9)
    slow, fast, pump, liquid = found.values()
    assert liquid[0] == pytest.approx(1.0, abs=1e-3)
    assert pump[1] == pytest.approx(PRESSURE, rel=1e-9)
    assert pump[0] < slow[0] < fast[0] < liquid[0]
    assert pump[1] < slow[1] < fast[1] < liquid[1]


@pytest.mark.parametrize("hold", ["AMOUNT", "PRESSURE", "VOLUME"])
def test_gas_flows_in_evenly_over_the_inflation_time(hold):
    world = ball_world(gas_hold=hold, inflation_time=0.5, stretch_modulus=1e6)
    model, final = world.model, world.save().final_gas[0]
    empty = model.gas_base[0] * model.start_volume[0]
    assert world.diagnostics().bodies[0].gauge_pressure == pytest.approx(0.0, abs=1e-6)
    for frame in played(world, 14):
        share = min(frame / 12.0, 1.0)
        assert world.diagnostics().bodies[0].gas == pytest.approx(empty + share * (final - empty), rel=1e-12)
    if hold == "PRESSURE":
        assert world.diagnostics().bodies[0].gauge_pressure == pytest.approx(PRESSURE, rel=1e-9)


def test_a_held_volume_does_not_leak_through_tears():
    with pytest.raises(ParameterError, match="Hold the amount"):
        ball_world(gas_hold="VOLUME", tear_strain=0.5)


def test_xpbd_refuses_to_hold_more_than_an_amount():
    with pytest.raises(ParameterError, match="ball: a held pressure; the method XPBD holds amounts"):
        ball_world("XPBD", gas_hold="PRESSURE")
