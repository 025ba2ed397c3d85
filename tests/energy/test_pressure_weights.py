"""Weights of the gas pressure: the resultant that they leave, the tension in balance, what stays as it was."""

import numpy as np
import pytest
import shapes
from scenes import advance, momenta, virial_pressure
from softpressure_ext.core import ModelBuilder, ParameterError, World

SOLVERS = ("EXPLICIT", "RK4")
PRESSURE = 20e3
SIDE, FRAMES, RATE = 0.2, 4, 240


def box_world(solver, weigh=None, **options):
    """A heavy cube of skin with 1 kPa held, free and without gravity; `weigh` tells the weights of its vertices."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    positions, triangles = shapes.box(SIDE, 4)
    given = {"mass": 100.0, "gauge_pressure": 1e3, "gas_hold": "PRESSURE", "stretch_modulus": 1e5, "damping": 40.0}
    builder.add_membrane("box", positions, triangles, **given | options)
    if weigh is not None:
        weights = weigh(positions)
        builder.weigh_pressure(0, np.arange(len(weights)), weights)
    return World(builder.build(), frame_rate=RATE, substeps=10 if solver == "RK4" else 1, threads=1, solver=solver)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_on_one_side_turn_the_body_by_their_torque(solver):
    """Force and torque of w p dV/dx at the drawn vertices, where w falls off along the lid from one edge of it."""
    top = 0.5 * SIDE - 1e-9

    def weigh(x):
        return np.where(x[:, 2] > top, 0.5 + x[:, 0] / SIDE, 1.0)

    world = box_world(solver, weigh)
    advance(world, FRAMES)
    x, triangles = shapes.box(SIDE, 4)
    corner = x[triangles]
    third = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]) / 6.0
    force = np.zeros_like(x)
    for slot in range(3):
        np.add.at(force, triangles[:, slot], 1e3 * third)
    force *= weigh(x)[:, None]
    time, (push, turn) = FRAMES / RATE, momenta(world)
    np.testing.assert_allclose(push, time * force.sum(axis=0), rtol=2e-3, atol=1e-4)
    torque = np.cross(x, force).sum(axis=0)
    assert abs(torque[1]) > 0.2  # N m
    np.testing.assert_allclose(turn, time * torque, rtol=5e-3, atol=2e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_skin_with_half_the_weight_carries_half_the_pressure(solver):
    """The tension in balance, from the springs alone; the gas keeps its law."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    positions, triangles = shapes.icosphere(2, 0.15)
    builder.add_membrane(
        "ball", positions, triangles, mass=2.0, gauge_pressure=PRESSURE, stretch_modulus=5e3, damping=40.0
    )
    builder.weigh_pressure(0, np.arange(len(positions)), 0.5)
    world = World(builder.build(), frame_rate=24, substeps=60 if solver == "RK4" else 10, solver=solver)
    advance(world, 24)
    found = world.diagnostics().bodies[0]
    assert found.gauge_pressure == pytest.approx(found.gas / found.volume - world.model.ambient_pressure, rel=1e-9)
    assert virial_pressure(world) == pytest.approx(0.5 * found.gauge_pressure, rel=5e-3)
    push, _ = momenta(world)
    np.testing.assert_allclose(push, 0.0, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_side_of_a_loop_that_feels_no_pressure_drives_it(solver):
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    corners = shapes.upright([(0.0, 0.0), (SIDE, 0.0), (SIDE, SIDE), (0.0, SIDE)])
    builder.add_loop(
        "loop", corners, [(0, 1), (1, 2), (2, 3), (3, 0)], mass=25.0, gauge_pressure=1e3, gas_hold="PRESSURE",
        stretch_modulus=1e5, damping=40.0,
    )  # fmt: skip
    builder.weigh_pressure(0, [0, 1])
    world = World(builder.build(), frame_rate=RATE, substeps=10 if solver == "RK4" else 1, solver=solver)
    advance(world, FRAMES)
    expected = -1e3 * SIDE * world.model.flat.depth[0] * FRAMES / RATE
    push, _ = momenta(world)
    np.testing.assert_allclose(push, [0.0, 0.0, expected], rtol=2e-3, atol=1e-3 * abs(expected))


def test_what_cannot_be_weighted_is_refused():
    builder = ModelBuilder()
    builder.add_solid("jelly", *shapes.box(0.2, 2))
    with pytest.raises(ParameterError, match="jelly: weights of the pressure; a lattice has no gas"):
        builder.weigh_pressure(0, [0])
    builder.add_membrane("ball", *shapes.icosphere(1, 0.1))
    with pytest.raises(ParameterError, match="ball: weights of vertices under pressure; give numbers from 0 to 1"):
        builder.weigh_pressure(1, [0], -0.5)
    with pytest.raises(ParameterError, match="ball: vertices under pressure; give numbers from 0 to 41"):
        builder.weigh_pressure(1, [42])
    with pytest.raises(ParameterError, match="box: weights of the pressure; the method XPBD"):
        box_world("XPBD", lambda x: np.zeros(len(x)), gas_hold="AMOUNT")
