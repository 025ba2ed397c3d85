"""Goals: springs towards given places, closed forms."""

import math

import numpy as np
import pytest
import shapes
from scenes import advance, assert_continues, played
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World
from validation import validated

MASS, RATE = 1.5, 24.0
SOLVERS = ("EXPLICIT", "XPBD")


def goal_world(
    solver, *, subdivisions=1, weights=1.0, stiffness=60.0, damping=0.0, velocity=(0.0, 0.0, 0.0), pinned=None
):
    """A ball of 1.5 kg and 0.3 m, all of whose vertices have goals; no gravity."""
    made = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.icosphere(subdivisions, 0.3)
    ball = made.add_membrane(
        "ball", x, triangles, mass=MASS, gauge_pressure=2e3, stretch_modulus=2e4, drawn_shape="INFLATED",
        pressure_at="REST", velocity=velocity, pinned=pinned,
    )  # fmt: skip
    made.add_goals(ball, np.arange(len(x)), weights, stiffness=stiffness, damping=damping)
    return World(made.build(), frame_rate=RATE, substeps=10, threads=1, solver=solver)


def centre(world):
    """Centre of mass [m]."""
    model = world.model
    return model.vertex_mass @ world.save().positions[: model.vertex_count] / model.vertex_mass.sum()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_body_swings_on_its_goals_with_the_frequency_of_stiffness_over_mass(solver):
    world, weight = goal_world(solver, weights=0.5, velocity=(0.4, 0.0, 0.0)), 0.5
    rate = math.sqrt(weight * 60.0 / MASS)
    found = [centre(world)[0] for _ in played(world, 36)]
    expected = 0.4 / rate * np.sin(rate * np.arange(1, 37) / RATE)
    validated(
        "place of a body that swings on its goals", room="impulses", measured=found, expected=expected, unit="m",
        abs=0.01 * 0.4 / rate, source="v0 / ω sin ω t, ω² = w k / m", reason="the body deforms as it swings",
    )  # fmt: skip


@pytest.mark.parametrize("subdivisions", [1, 2])
def test_how_it_swings_does_not_depend_on_the_mesh(subdivisions):
    world = goal_world("EXPLICIT", subdivisions=subdivisions, velocity=(0.4, 0.0, 0.0))
    advance(world, 12)
    rate = math.sqrt(60.0 / MASS)
    validated(
        "place of a body that swings on its goals, for two meshes", room="impulses", measured=centre(world)[0],
        expected=0.4 / rate * math.sin(rate * 0.5), unit="m", abs=0.01 * 0.4 / rate,
        source="v0 / ω sin ω t, ω² = k / m", reason="the body deforms as it swings",
    )  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
def test_damping_is_relative_to_moving_goals(solver):
    world, x = goal_world(solver, stiffness=0.0, damping=3.0), shapes.icosphere(1, 0.3)[0]
    for frame in range(1, 13):
        world.advance_frame(FrameInput(goal_positions={0: x + (0.6 * frame / RATE, 0.0, 0.0)}))
    time = 12 / RATE
    expected = 0.6 * (time - (1.0 - math.exp(-3.0 * time)) / 3.0)
    validated(
        "way of a body that is damped towards moving goals", room="impulses", measured=centre(world)[0],
        expected=expected, unit="m", rel=1e-4, source="u (t - (1 - exp(-d t)) / d)",
        reason="velocities of goals are constant within a frame",
    )  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("stiffness", [1e5, 1e9])
def test_stiff_goals_are_followed_and_never_blow_up(solver, stiffness):
    world, x = goal_world(solver, stiffness=stiffness, damping=5.0), shapes.icosphere(1, 0.3)[0]
    for frame in range(1, 25):
        turned = x @ shapes.rotation((0.0, 0.0, 1.0), 0.05 * frame).T + (0.02 * frame, 0.0, 0.0)
        world.advance_frame(FrameInput(goal_positions={0: turned}))
    off = np.linalg.norm(world.positions(0) - turned, axis=1)
    assert off.max() < (5e-3 if solver == "XPBD" else 2e-3)  # XPBD holds less of the pressure than was drawn


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_continued_run_has_the_same_bits(solver):
    x = shapes.icosphere(1, 0.3)[0]

    def given(frame):
        return FrameInput(goal_positions={0: x + (0.0, 0.03 * (frame + 1) ** 2, 0.0)})

    assert_continues(lambda: goal_world(solver, weights=0.7), 6, 3, given=given)


def test_goals_do_not_move_pins():
    world = goal_world("EXPLICIT", pinned=[3], stiffness=1e4)
    before = world.positions(0)[3]
    advance(world, 3, goal_positions={0: shapes.icosphere(1, 0.3)[0] + 0.1})
    assert (world.positions(0)[3] == before).all()


def jelly(kind):
    """A block or a flat one on goals, its vertices, and their corner positions."""
    made = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    if kind == "SOLID":
        x, triangles = shapes.box(0.4, 3)
        made.add_solid("jelly", x, triangles, cell_size=0.1, mass=MASS, modulus=5e4)
    else:
        x = shapes.upright(shapes.ring(24, 0.3))
        if kind == "LOOP":
            made.add_loop("loop", x, depth=0.1, mass=MASS, gauge_pressure=2e3, drawn_shape="INFLATED")
        else:
            made.add_flat_truss("truss", x, cell_size=0.15, mass=MASS, modulus=5e4)
    made.add_goals(0, np.arange(len(x)), 0.8, stiffness=400.0, damping=8.0)
    return World(made.build(), frame_rate=RATE, substeps=10, threads=1, solver="EXPLICIT"), x


@pytest.mark.parametrize("kind", ["SOLID", "LOOP", "TRUSS"])
def test_vertices_that_follow_a_lattice_come_to_their_goals(kind):
    world, x = jelly(kind)
    turn = shapes.rotation((0.0, 1.0, 0.0), 0.4)
    target = (x - x.mean(axis=0)) @ turn.T + x.mean(axis=0) + (0.2, 0.0, 0.1)
    for frame in range(1, 61):
        share = min(frame / 24.0, 1.0)
        world.advance_frame(FrameInput(goal_positions={0: x + share * (target - x)}))
    assert np.linalg.norm(world.positions(0) - target, axis=1).max() < 0.02
    assert np.linalg.norm(world.velocities(0), axis=1).max() < 0.02


def test_wrong_goals_are_refused():
    made = ModelBuilder()
    made.add_membrane("ball", *shapes.icosphere(1, 0.3))
    with pytest.raises(ParameterError, match=r"ball: goal weights from 2 to 2; give 0 to 1"):
        made.add_goals(0, [1], [2.0], stiffness=1.0)
    with pytest.raises(ParameterError, match=r"ball: goals; give vertices from 0 to 41"):
        made.add_goals(0, [42], stiffness=1.0)
    with pytest.raises(ParameterError, match=r"ball: goal stiffness -1 N/m"):
        made.add_goals(0, [1], stiffness=-1.0)
    with pytest.raises(ParameterError, match=r"ball: goal positions of shape"):
        goal_world("EXPLICIT").advance_frame(FrameInput(goal_positions={0: np.zeros((3, 3))}))
