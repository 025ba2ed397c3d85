"""Gas that flows between bodies: hoses, pumps and leaks against closed forms, and amounts that are conserved."""

import math

import numpy as np
import pytest
import scenes
import shapes
from scipy.linalg import expm
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World, nrt
from softpressure_ext.core.flow.orifice import left_after
from validation import validated

RATE = 24.0
SOLVERS = ("EXPLICIT", "XPBD")
CUSHION = scenes.Ball(0.2, 0.1, 800.0, 2e4)


def tanks(pressures, hoses, solver="EXPLICIT", sizes=None, **options):
    """Boxes whose vertices are all pinned, so of constant volume, in a row."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for number, pressure in enumerate(pressures):
        x, triangles = shapes.box(0.2 if sizes is None else sizes[number], 2)
        builder.add_membrane(
            f"tank {number}", x + (0.5 * number, 0.0, 0.0), triangles, gauge_pressure=pressure,
            pinned=range(len(x)), **options,
        )  # fmt: skip
    for one, other, conductance in hoses:
        builder.add_hose(one, other, conductance=conductance)
    return World(builder.build(), frame_rate=RATE, substeps=10, threads=1, solver=solver)


def gauges(world):
    return np.array([body.gauge_pressure for body in world.diagnostics().bodies])


def amounts(world):
    return np.array([body.gas for body in world.diagnostics().bodies])


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_tanks_equalise_exponentially(solver):
    world = tanks((2000.0, 0.0), [(0, 1, 0.01)], solver)
    volume = world.model.rest_volume[0]
    scenes.advance(world, 6)
    time, gap = 6.0 / RATE, gauges(world)
    validated(
        f"difference of pressures of two tanks, {solver}", room="flow", measured=gap[0] - gap[1],
        expected=2000.0 * math.exp(-2.0 * 0.01 * time / volume), unit="Pa", rel=1e-9,
        source="exp(-2 G t / V)", reason="exact for one hose",
    )  # fmt: skip
    assert gap.sum() == pytest.approx(2000.0, abs=1e-8)


def test_tanks_of_two_sizes_meet_at_the_pressure_of_all_their_gas_whatever_the_conductance():
    for conductance in (1.0, 1e3, 1e12):
        world = tanks((3000.0, -500.0), [(0, 1, conductance)], sizes=(0.2, 0.3))
        before, volume = amounts(world), world.model.rest_volume
        scenes.advance(world, 24)
        expected = before.sum() / volume.sum() - world.model.ambient_pressure
        np.testing.assert_allclose(gauges(world), expected, atol=1e-6)
        assert (gauges(world) <= 3000.0).all()


def ten(hoses):
    pressures = [4500.0, 0.0, 300.0, 2000.0, 50.0, 900.0, -400.0, 3000.0, 0.0, 1200.0]
    return tanks(pressures, hoses, sizes=[0.1 + 0.02 * number for number in range(10)])


def chain(conductance):
    links = [(number, number + 1, conductance * 10.0 ** (number / 8.0)) for number in range(9)]
    return [*links, (0, 9, conductance), (2, 6, conductance)]


def test_a_network_of_ten_follows_its_differential_equation():
    world = ten(chain(2e-3))
    start, volume = amounts(world), world.model.rest_volume
    rates = np.zeros((10, 10))
    for one, other, conductance in chain(2e-3):
        for here, there in ((one, other), (other, one)):
            rates[here, here] -= conductance / volume[here]
            rates[here, there] += conductance / volume[there]
    scenes.advance(world, 6)
    exact = expm(6.0 / RATE * rates) @ start
    moved = np.abs(exact - start).max()
    assert np.abs(amounts(world) - exact).max() < 1e-3 * moved


def test_a_network_of_ten_conserves_its_gas_and_ends_at_one_pressure():
    for conductance in (0.05, 1e6):
        world = ten(chain(conductance))
        before = amounts(world).sum()
        scenes.advance(world, 48)
        assert abs(amounts(world).sum() - before) < 1e-13 * before
        assert np.ptp(gauges(world)) < 1e-3


def test_the_order_of_hoses_does_not_matter_to_second_order_in_the_tick():
    worlds = [ten(hoses) for hoses in (chain(2e-3), chain(2e-3)[::-1])]
    for world in worlds:
        scenes.advance(world, 6)
    found = [amounts(world) for world in worlds]
    start = amounts(ten([]))
    assert np.abs(found[0] - found[1]).max() < 1e-3 * np.abs(found[0] - start).max()


def test_nothing_flows_through_a_closed_valve_and_half_as_much_through_one_that_is_half_open():
    moved = []
    for valve in (0.0, 0.5, 1.0):
        world = tanks((1000.0, 0.0), [(0, 1, 1e-5)])
        before = amounts(world)
        scenes.advance(world, 4, valves={0: valve})
        moved.append(before[0] - amounts(world)[0])
    assert moved[0] == 0.0
    assert moved[1] == pytest.approx(0.5 * moved[2], rel=1e-2)
    assert moved[2] > 0.0
    world.advance_frame()  # stays as it was turned
    assert world.save().valves.tolist() == [1.0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_pressing_one_cushion_swells_the_other(solver):
    """A plate comes down on one of two linked balls; closed off, the other one stays as it is."""
    volumes = {}
    for valve in (0.0, 1.0):
        builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
        for place in (0.0, 1.0):
            scenes.add_ball(
                builder, CUSHION, 2, (place, 0.0, 0.0), name=f"ball {place}", damping=5.0, pressure_at="REST",
                drawn_shape="INFLATED",
            )  # fmt: skip
        builder.add_hose(0, 1, conductance=0.2, valve=valve)
        plates = [shapes.box(0.6, 1, (0.0, 0.0, height))[0] for height in (0.51, -0.51)]
        faces = shapes.box(0.6, 1)[1]
        for number, plate in enumerate(plates):
            builder.add_collider(f"plate {number}", plate, faces)
        world = World(builder.build(), frame_rate=RATE, substeps=20, threads=1, solver=solver)
        before, total = [body.volume for body in world.diagnostics().bodies], amounts(world).sum()
        for number in range(18):
            down = 0.15 * min(1.0, (number + 1) / 12.0)
            world.advance_frame(FrameInput(collider_positions={0: plates[0] - (0.0, 0.0, down)}))
        after = [body.volume for body in world.diagnostics().bodies]
        volumes[valve] = [now / then for now, then in zip(after, before, strict=True)]
        assert abs(amounts(world).sum() - total) < 1e-13 * total
    assert volumes[1.0][0] < volumes[0.0][0] - 0.01
    assert abs(volumes[0.0][1] - 1.0) < 0.02
    assert volumes[1.0][1] > volumes[0.0][1] + 0.02


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_pump_fills_a_tank_evenly_and_empties_it_no_further_than_to_nothing(solver):
    world = tanks((0.0,), [], solver)
    before = amounts(world)[0]
    scenes.advance(world, 12, values={0: {"pump_rate": 0.02}})
    validated(
        f"gas that a pump brings in half a second, {solver}", room="flow", measured=amounts(world)[0] - before,
        expected=nrt(0.02 * 12 / RATE), unit="J", rel=1e-9, source="rate times time", reason="rounding",
    )  # fmt: skip
    scenes.advance(world, 6, values={0: {"pump_rate": 0.0}})
    assert amounts(world)[0] == pytest.approx(before + nrt(0.02 * 12 / RATE), rel=1e-12)
    scenes.advance(world, 12, values={0: {"pump_rate": -10.0}})
    assert abs(amounts(world)[0]) < 1e-9 * before


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_leak_empties_a_tank_as_an_orifice_does(solver):
    world = tanks((5000.0,), [], solver, leak_diameter=0.005)
    left, volume = amounts(world)[0], float(world.model.rest_volume[0])
    scenes.advance(world, 6)
    for _ in range(120):
        left = left_after(left, volume, world.model.ambient_pressure, math.pi * 0.0025**2, 1.0 / 480.0)
    assert 1000.0 < gauges(world)[0] < 4500.0
    assert amounts(world)[0] == pytest.approx(left, rel=1e-7)


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_a_continued_run_with_hoses_has_the_same_bits(solver):
    def world():
        builder = ModelBuilder()
        for number in range(3):
            scenes.add_ball(builder, CUSHION.like(gauge_pressure=500.0 * (number + 1)), 2, (0.5 * number, 0.0, 0.0),
                            name=f"ball {number}", damping=2.0, pump_rate=0.01 * number)  # fmt: skip
        builder.add_hose(0, 1, conductance=0.05)
        builder.add_hose(1, 2, conductance=0.1, valve=0.5)
        return World(builder.build(), frame_rate=RATE, substeps=20, threads=1, solver=solver)

    def given(frame):
        return FrameInput(valves={1: 0.25} if frame < 3 else {})

    scenes.assert_continues(world, 6, 3, given=given)


def test_hoses_that_cannot_be_are_refused():
    builder = ModelBuilder()
    x, triangles = shapes.box(0.2, 2)
    for number in range(2):
        builder.add_membrane(f"tank {number}", x, triangles)
    builder.add_solid("jelly", x, triangles)
    with pytest.raises(ParameterError, match="tank 1: a hose to itself"):
        builder.add_hose(1, 1, conductance=1.0)
    with pytest.raises(ParameterError, match="jelly: a hose; a lattice has no gas"):
        builder.add_hose(0, 2, conductance=1.0)
    with pytest.raises(ParameterError, match="hose from tank 0 to tank 1: conductance -1"):
        builder.add_hose(0, 1, conductance=-1.0)
    builder.add_hose(0, 1, conductance=1.0)
    world = World(builder.build(), solver="EXPLICIT")
    with pytest.raises(ParameterError, match="hose from tank 0 to tank 1: valve 2; give a number from 0 to 1"):
        world.advance_frame(FrameInput(valves={0: 2.0}))
    with pytest.raises(ParameterError, match="hose: 1; the model has 1"):
        world.advance_frame(FrameInput(valves={1: 0.5}))
