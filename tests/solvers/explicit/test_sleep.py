"""Bodies that have come to rest under explicit steps stay exactly where they are, until something is given."""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from explicit_scene import FRAME_RATE, run, world_of
from rigid_scene import block
from scenes import assert_continues, energy, played
from softpressure_ext.core import FrameInput, ModelBuilder, Pull, World


def ring_under_a_box() -> World:
    """A box on a ring on a floor, dropped by 2 cm; the floor is given."""
    builder = ModelBuilder()
    surface = {"friction": 0.8, "bounciness": 0.3}
    builder.add_membrane(
        "ring", *shapes.torus(0.2, 0.08, 24, 12, (0.0, 0.0, 0.1)), mass=0.5, gauge_pressure=5e3, stretch_modulus=2e4,
        damping=20.0, **surface,
    )  # fmt: skip
    builder.add_rigid("box", *block((0.5, 0.5, 0.1), (0.0, 0.0, 0.26)), mass=0.5, **surface)
    builder.add_collider("floor", *shapes.grid(4.0), **surface)
    return world_of(builder)


def moves(world: World, given: FrameInput | None = None) -> bool:
    """Whether anything that moves by itself is elsewhere after a frame."""
    before, count = world.save().positions, world.model.moving_point_count
    world.advance_frame(given)
    return not np.array_equal(before[:count], world.save().positions[:count])


@pytest.fixture
def asleep() -> World:
    world = ring_under_a_box()
    run(world, round(3.0 * FRAME_RATE))
    return world


def test_a_stack_sleeps_within_three_seconds(asleep: World) -> None:
    for _ in range(5):
        assert not moves(asleep)
    assert not asleep.save().velocities.any()


def test_a_pressure_or_a_collider_that_changes_wakes_it(asleep: World) -> None:
    floor = asleep.model.body_point_start[2:4]
    state = asleep.save()
    assert moves(asleep, FrameInput(gauge_pressure={0: 6e3}))
    asleep.load(state)
    lifted = state.positions[floor[0] : floor[1]] + (0.0, 0.0, 1e-3)
    assert moves(asleep, FrameInput(collider_positions={0: lifted}))


def test_bodies_that_gain_speed_slowly_fall() -> None:
    """As in a scene of millimeters under Blender's gravity, or where bodies are a kilometer large."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -0.005))
    builder.add_membrane("ball", *shapes.icosphere(2, 0.2), mass=0.5, gauge_pressure=2e3)
    builder.add_solid("jelly", *shapes.box(0.4, 1, (1.0, 0.0, 0.0)), mass=10.0, modulus=1e5)
    builder.add_rigid("torus", *shapes.torus(0.2, 0.08, 24, 12, (2.0, 0.0, 0.0)), mass=1.0)
    world = world_of(builder)
    start, before = world.model.body_point_start[:-1], world.save().positions
    run(world, round(2.0 * FRAME_RATE))
    fallen = np.add.reduceat(before - world.save().positions, start)[:, 2] / np.diff(world.model.body_point_start)
    np.testing.assert_allclose(fallen, 0.5 * 0.005 * 2.0**2, rtol=0.02)


def test_bodies_in_flight_do_not_sleep() -> None:
    """At the top of its flight a ball is slow for a moment, not for a quarter of a second."""
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(2, 0.2), mass=0.5, velocity=(0.0, 0.0, 1.0))
    world = world_of(builder)
    for _ in range(24):
        assert moves(world)


# --- beside what moves ------------------------------------------------------------------------------------------------

BALL = {"mass": 1.0, "gauge_pressure": 2e3, "stretch_modulus": 2e4, "damping": 10.0, "bounciness": 0.0}
ROLLS = {"mass": 0.5, "gauge_pressure": 1e4, "stretch_modulus": 5e4, "friction": 0.3}


def rolling(speed: float, y: float, threads: int = 1) -> World:
    """A ball on a jelly and a box on another, at rest from the start; a ball rolls by, at a distance y [m]."""
    builder = ModelBuilder()
    builder.add_solid("jelly", *shapes.box(0.4, 1, (0.0, 0.0, 0.203)), mass=10.0, modulus=1e5, damping=20.0)
    builder.add_membrane("ball", *shapes.icosphere(2, 0.15, (0.0, 0.0, 0.56)), **BALL)
    builder.add_solid("bed", *shapes.box(0.4, 1, (1.2, 0.0, 0.203)), mass=10.0, modulus=1e5, damping=20.0)
    builder.add_membrane("rolls", *shapes.icosphere(2, 0.15, (-1.5, y, 0.153)), velocity=(speed, 0.0, 0.0), **ROLLS)
    builder.add_rigid("box", *block((0.2, 0.2, 0.1), (1.2, 0.0, 0.457)), mass=1.0)
    builder.add_collider("floor", *shapes.grid(30.0), friction=0.5)
    return world_of(builder, threads=threads)


def sleeping(world: World) -> list[bool]:
    """Which soft bodies slept in the last frame."""
    return world._solver.space.losses.asleep.tolist()


def test_what_lies_sleeps_beside_a_ball_that_rolls_by() -> None:
    world = rolling(0.5, 3.0)
    run(world, 48)
    assert sleeping(world) == [True, True, True, False]
    lying = slice(0, world.model.body_point_start[3])
    before, box = world.save(), world.save().rigid.pose.copy()
    run(world, 12)
    np.testing.assert_array_equal(world.save().positions[lying], before.positions[lying])
    np.testing.assert_allclose(world.save().rigid.pose, box, atol=1e-6)
    assert not world.save().velocities[lying].any()
    steps = {body: report.steps for report in world.reports() for body in report.bodies}
    assert [steps[body] > 0 for body in range(5)] == [False, False, False, True, False]
    rolled = (
        world.positions(3).mean(axis=0)[0] - before.positions[slice(*world.model.body_point_start[3:5])].mean(axis=0)[0]
    )
    assert rolled > 0.1


def test_it_wakes_before_it_is_hit() -> None:
    """The ball rolls into the jelly after it has fallen asleep: that takes part of its momentum."""
    world = rolling(1.2, 0.0)
    start, slept, woke = energy(world), False, False
    shapes_seen = set[bytes]()
    for _ in played(world, 60):
        assert energy(world) <= start * 1.001
        assert_nothing_crosses(world)
        slept |= sleeping(world)[0]
        woke |= slept and not sleeping(world)[0]
        if slept:
            shapes_seen.add(world.positions(0).tobytes())
    assert slept and woke
    assert world.velocities(3).mean(axis=0)[0] < 0.6  # stopped or thrown back
    assert len(shapes_seen) > 1  # the same while it slept


def test_a_hit_is_that_of_bodies_that_never_slept(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for time in (0.25, 1e9):
        monkeypatch.setattr("softpressure_ext.core.solvers.explicit.sleep.STILL_TIME", time)
        monkeypatch.setattr("softpressure_ext.core.solvers.explicit.solver.STILL_TIME", time)
        world = rolling(1.2, 0.0)
        run(world, 48)
        ends.append(np.array([world.positions(body).mean(axis=0) for body in range(4)]))
    assert np.abs(ends[0] - ends[1]).max() < 5e-3


def test_it_continues_with_the_same_bits_while_some_sleep() -> None:
    assert_continues(lambda: rolling(1.2, 0.0), 40, 15, 25, 33, fresh=lambda: rolling(1.2, 0.0, 2))


def test_a_floor_that_moves_wakes_what_lies_on_it() -> None:
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(2, 0.15, (0.0, 0.0, 0.153)), **BALL)
    builder.add_membrane("rolls", *shapes.icosphere(2, 0.15, (8.0, 0.0, 0.153)), velocity=(0.0, 0.7, 0.0), **ROLLS)
    plate = block((1.0, 1.0, 0.1), (0.0, 0.0, -0.05))
    builder.add_collider("plate", *plate)
    builder.add_collider("floor", *shapes.grid(30.0), friction=0.5)
    world = world_of(builder)
    run(world, 48)
    assert sleeping(world) == [True, False]
    top = world.positions(0)[:, 2].min()
    world.advance_frame(FrameInput(collider_positions={0: plate[0] + (0.0, 0.0, 0.01)}))
    assert not sleeping(world)[0]
    assert world.positions(0)[:, 2].min() > top + 0.005


def test_a_pull_wakes_what_it_pulls_and_nothing_else() -> None:
    world = rolling(0.5, 3.0)
    run(world, 48)
    bed, jelly = world.positions(2), world.positions(0)
    pull = Pull(world.handle(2, (1.2, 0.2, 0.2)), force=np.array([0.0, 5.0, 0.0]))
    for _ in played(world, 3, pulls=(pull,)):
        assert sleeping(world) == [True, True, False, False]
    assert world.positions(2)[:, 1].max() > bed[:, 1].max()
    np.testing.assert_array_equal(world.positions(0), jelly)
