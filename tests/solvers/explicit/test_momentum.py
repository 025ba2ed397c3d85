"""Explicit steps keep momentum and angular momentum to rounding, and never gain mechanical energy."""

import numpy as np
import pytest
import shapes
from explicit_scene import FRAME_RATE, momenta, motion, world_of
from scenes import BASKETBALL, BEACH_BALL, add_ball, energy, played, spin
from softpressure_ext.core import ModelBuilder, World
from validation import validated

#: A step rounds each vertex's impulse to 1e-16 of itself; some ten thousand steps, all of them alike, add up to 1e-12.
ROUNDING = 1e-11
WEIGHTLESS = (0.0, 0.0, 0.0)


def kept(world: World, frames: int, *, about: float = 1.0) -> int:
    """Advance and compare momenta and energy with those of the start on every frame; frames in which something touched.

    `about`: how far the bodies are from the origin at most [m].
    """
    push, turn = momenta(world)
    size, reach = motion(world)
    touched, energies = 0, [energy(world)]
    for _ in played(world, frames):
        energies.append(energy(world))
        assert energies[-1] <= energies[0] + ROUNDING * max(np.abs(energies)), world.frame
        touched += world.diagnostics().contact_count > 0
        size = max(size, motion(world)[0])
        reach = max(reach, about * size)
        now, turned = momenta(world)
        validated(
            "momentum", room="solvers/explicit", measured=now, expected=push, unit="kg m/s", abs=ROUNDING * size,
            source="conserved", reason="rounding of some ten thousand steps",
        )  # fmt: skip
        validated(
            "angular momentum", room="solvers/explicit", measured=turned, expected=turn, unit="kg m²/s",
            abs=ROUNDING * reach, source="conserved", reason="rounding of some ten thousand steps",
        )  # fmt: skip
    return touched


@pytest.mark.parametrize("bend_modulus", [0.0, 0.05])
@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_a_spinning_ball_that_swells_keeps_its_momenta(bend_modulus: float, damping: float) -> None:
    """It starts without strain, so it rings; damping spares what is rigid."""
    builder = ModelBuilder(gravity=WEIGHTLESS)
    add_ball(builder, BASKETBALL, damping=damping, bend_modulus=bend_modulus)
    world = world_of(builder)
    spin(world, (2.0, -4.0, 8.0), (1.0, 0.5, 0.0))
    assert kept(world, 24) == 0


def test_a_dented_ring_keeps_its_momenta() -> None:
    """Neither round nor at rest: sheared, spun, with bending."""
    builder = ModelBuilder(gravity=WEIGHTLESS)
    builder.add_membrane(
        "ring", *shapes.torus(0.2, 0.08, 24, 12), mass=0.5, gauge_pressure=1e4, stretch_modulus=2e4, bend_modulus=0.02,
        damping=2.0,
    )  # fmt: skip
    world = world_of(builder)
    x = world.positions(0)
    world.set_positions(0, x + 0.2 * x[:, [1, 2, 0]])
    spin(world, (6.0, 3.0, -9.0))
    kept(world, 24)


def two_balls(friction: float, bounciness: float = 1.0, damping: float = 0.0) -> World:
    """A basketball that flies against a beach ball, off its middle."""
    builder = ModelBuilder(gravity=WEIGHTLESS)
    options = {"friction": friction, "bounciness": bounciness, "damping": damping}
    add_ball(builder, BASKETBALL, velocity=(2.0, 0.0, 0.0), **options)
    add_ball(builder, BEACH_BALL, centre=(0.4, 0.1, 0.05), name="beach ball", velocity=(-1.0, 0.0, 0.0), **options)
    return world_of(builder, frame_rate=96.0)


@pytest.mark.parametrize(
    ("friction", "bounciness", "damping"), [(0.0, 1.0, 0.0), (0.5, 1.0, 0.0), (0.5, 0.4, 0.0), (0.5, 1.0, 5.0)]
)
def test_two_balls_collide_and_keep_their_momenta(friction: float, bounciness: float, damping: float) -> None:
    world = two_balls(friction, bounciness, damping)
    before = world.velocities(1).mean(axis=0)
    assert kept(world, 48, about=0.6) > 0
    assert np.linalg.norm(world.velocities(1).mean(axis=0) - before) > 1.0  # they did collide
    assert world.diagnostics().contact_count == 0  # and have parted


@pytest.mark.parametrize("bend_modulus", [0.0, 5.0])
def test_a_ball_that_bounces_for_long_never_gains_energy(bend_modulus: float) -> None:
    """No damping, all of the speed given back: what it loses are waves of the skin that no mesh resolves."""
    builder = ModelBuilder()
    add_ball(builder, BASKETBALL, centre=(0.0, 0.0, 0.42), bounciness=1.0, bend_modulus=bend_modulus)
    builder.add_collider("floor", *shapes.grid(4.0), bounciness=1.0)
    world = world_of(builder)
    found = [energy(world)]
    for _ in played(world, round(3.0 * FRAME_RATE)):
        found.append(energy(world))
        assert found[-1] <= found[0] + ROUNDING * max(np.abs(found)), world.frame
