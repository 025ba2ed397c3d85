"""Bodies that cross at the start, with explicit steps and XPBD."""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from rigid_scene import block
from scenes import BEACH_BALL, LIVELY, add_ball, momentum
from softpressure_ext.core import ModelBuilder, World

SOLVERS = ["EXPLICIT", "XPBD"]


def made(builder, solver):
    return World(builder.build(), frame_rate=24.0, substeps=20, solver=solver)


def crossed(other, solver, gravity=-9.81):
    """A ball over a floor and, 5 cm deep in it, another one or a box."""
    builder = ModelBuilder(gravity=(0.0, 0.0, gravity))
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.25), **LIVELY)
    if other == "ball":
        add_ball(builder, BEACH_BALL, 2, (0.02, 0.01, 0.6), **LIVELY)
    else:
        builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.02, 0.01, 0.5)), mass=0.3)
    builder.add_collider("floor", *shapes.grid(20.0, 2))
    return made(builder, solver)


def fastest(world):
    """Speed of the fastest vertex [m/s]."""
    return max(np.linalg.norm(world.velocities(n), axis=1).max() for n in range(world.model.membrane_count))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("other", ["ball", "box"])
def test_bodies_that_cross_are_counted_and_come_apart(other, solver):
    world = crossed(other, solver)
    assert world.crossing_triangle_count > 20 and len(world.save().wrong_side) > 0
    for _ in range(36):
        world.advance_frame()
        assert fastest(world) < 5.0
    assert len(world.save().wrong_side) == 0
    assert_nothing_crosses(world)


@pytest.mark.parametrize("solver", SOLVERS)
def test_separating_bodies_conserve_momentum(solver):
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.0), **LIVELY)
    add_ball(builder, BEACH_BALL, 2, (0.02, 0.01, 0.35), **LIVELY)
    world = made(builder, solver)
    for _ in range(12):
        world.advance_frame()
    np.testing.assert_allclose(momentum(world), 0.0, atol=1e-12)


@pytest.mark.parametrize(("solver", "frame"), [("EXPLICIT", 1), ("XPBD", 1), ("XPBD", 8)])
def test_a_saved_state_comes_apart_with_the_same_bits(solver, frame):
    one, again = crossed("box", solver), crossed("box", solver)
    for _ in range(frame):
        one.advance_frame()
    saved = one.save()
    assert len(saved.wrong_side) > 0
    again.load(saved)
    for _ in range(12):
        one.advance_frame()
        again.advance_frame()
    first, second = one.save(), again.save()
    np.testing.assert_array_equal(first.positions, second.positions)
    np.testing.assert_array_equal(first.velocities, second.velocities)
    np.testing.assert_array_equal(first.wrong_side, second.wrong_side)


def test_a_skin_that_crosses_itself_comes_apart():
    """A ball whose top is pressed through its bottom."""
    x, triangles = shapes.icosphere(3, 0.2, (0.0, 0.0, 0.3))
    away = np.hypot(x[:, 0], x[:, 1])
    dent = (x[:, 2] > 0.3) & (away < 0.15)
    x[dent, 2] -= 0.45 * np.cos(away[dent] / 0.15 * np.pi / 2)
    builder = ModelBuilder()
    builder.add_membrane(
        "ball", x, triangles, mass=0.5, gauge_pressure=500.0, stretch_modulus=2e4, damping=5.0, self_collision=True
    )
    world = made(builder, "XPBD")
    assert world.crossing_triangle_count > 20
    for _ in range(12):
        world.advance_frame()
        assert np.isfinite(world.positions(0)).all()
    assert len(world.save().wrong_side) == 0
