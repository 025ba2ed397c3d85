"""Bodies that have come to rest under explicit steps stay exactly where they are, until something is given."""

import numpy as np
import pytest
import shapes
from explicit_scene import FRAME_RATE, run, world_of
from rigid_scene import block
from softpressure_ext.core import FrameInput, ModelBuilder, World


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


def test_bodies_in_flight_do_not_sleep() -> None:
    """At the top of its flight a ball is slow for a moment, not for a quarter of a second."""
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(2, 0.2), mass=0.5, velocity=(0.0, 0.0, 1.0))
    world = world_of(builder)
    for _ in range(24):
        assert moves(world)
