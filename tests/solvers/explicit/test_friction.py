"""Coulomb friction under explicit steps: rolling, and a stack that comes to rest; slopes: `physics/test_slopes.py`."""

import numpy as np
import pytest
import reference
import shapes
from explicit_scene import FRAME_RATE, fastest, run, world_of
from rigid_scene import block
from scenes import BASKETBALL, GRAVITY, add_ball, inflate, masses, velocity
from softpressure_ext.core import ModelBuilder
from validation import validated


@pytest.mark.parametrize("subdivisions", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_ball_rolls_down_a_slope(subdivisions: int) -> None:
    """A thin sphere rolls with 3/5 g sin a, its surface as fast as its centre.

    Bounciness below 1 would resist the rolling: it takes from the force where the skin leaves the floor. So nothing
    ends a bounce, and a ball that bounces slips in the air: it starts in its equilibrium, as low as it can.
    """
    tilt = np.radians(10.0)
    builder = ModelBuilder(gravity=(GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt)))
    start = (0.0, 0.0, BASKETBALL.radius + 0.001)
    add_ball(builder, BASKETBALL, subdivisions, start, friction=0.8, bounciness=1.0, damping=5.0)
    builder.add_collider("floor", *shapes.grid(20.0), friction=0.8, bounciness=1.0)
    world = world_of(builder)
    inflate(world, BASKETBALL)
    run(world, 12)
    before, speeds, spins = velocity(world)[0], [], []
    for _ in range(24):
        run(world, 1)
        _, speed, spin = reference.rigid_motion(world.positions(0), world.velocities(0), masses(world))
        speeds.append(speed[0])
        spins.append(spin[1])
    radius = BASKETBALL.radius * (1.0 + BASKETBALL.strain)
    validated(
        "mean surface speed of a rolling ball", room="solvers/explicit", measured=np.mean(spins) * radius,
        expected=np.mean(speeds), unit="m/s", rel=0.03, source="ω r = v of its centre",
        reason="it hops over its facets: equal on average only",
    )  # fmt: skip
    validated(
        "speed gained by a ball that rolls for 1 s", room="solvers/explicit", measured=speeds[-1] - before,
        expected=0.6 * GRAVITY * np.sin(tilt), unit="m/s", rel=0.03,
        source="thin sphere: 3/5 g sin a t", reason="it hops over its facets, and its skin gives way",
    )  # fmt: skip


def test_a_stack_of_soft_and_rigid_bodies_comes_to_rest() -> None:
    """Box, ring, plate and ring, on each other, each dropped by a centimetre: 3 s after they have landed.

    Rings, since a plate on a ball falls over, and a ball on a plate rolls.
    """
    builder = ModelBuilder()
    surface = {"friction": 0.8, "bounciness": 0.3}
    skin = {"gauge_pressure": 5e3, "stretch_modulus": 2e4, "damping": 20.0, "self_collision": True} | surface
    builder.add_rigid("box", *block((0.6, 0.6, 0.2), (0.0, 0.0, 0.11)), mass=5.0, **surface)
    builder.add_membrane("ring", *shapes.torus(0.2, 0.08, 32, 16, (0.0, 0.0, 0.31)), mass=1.0, **skin)
    builder.add_rigid("plate", *block((0.5, 0.5, 0.1), (0.0, 0.0, 0.46)), mass=0.5, **surface)
    builder.add_membrane("small ring", *shapes.torus(0.15, 0.06, 24, 12, (0.0, 0.0, 0.59)), mass=0.3, **skin)
    builder.add_collider("floor", *shapes.grid(8.0), **surface)
    world = world_of(builder)
    run(world, round(3.2 * FRAME_RATE))  # 0.2 s to fall by four centimetres and land
    assert fastest(world) < 5e-3  # m/s
    heights = [world.rigid_positions(0), world.positions(0), world.rigid_positions(1), world.positions(1)]
    for low, high in zip(heights[:-1], heights[1:], strict=True):  # each still on the one below
        assert low[:, 2].max() < high[:, 2].min() + 1e-3
        assert np.abs(high.mean(axis=0)[:2]).max() < 0.02
