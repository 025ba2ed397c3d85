"""Bodies that nothing touches: free fall, momenta, the gas law, and the order of the time integration."""

import numpy as np
import pytest
import shapes
from scenes import (
    BASKETBALL,
    GRAVITY,
    Ball,
    advance,
    angular_momentum,
    ball_world,
    centre,
    inflate,
    masses,
    played,
    spin,
    unrest,
    velocity,
)
from softpressure_ext.core import ModelBuilder, World
from validation import validated


@pytest.mark.parametrize("inflated", [True, False])
def test_free_fall(inflated, frame_rate=24.0):
    world = ball_world(floor=False, velocity=(1.0, -2.0, 3.0), frame_rate=frame_rate)
    if inflated:
        inflate(world, BASKETBALL)
    start, speed = centre(world), velocity(world)
    for frame in played(world, int(frame_rate)):
        t = frame / frame_rate
        fallen = start + speed * t + 0.5 * t * t * np.array([0.0, 0.0, -GRAVITY])
        validated(
            "centre of a falling ball", room="solvers/explicit", measured=centre(world), expected=fallen, unit="m",
            abs=1e-9, source="x0 + v0 t + g t²/2",
            reason="exact for constant acceleration but for rounding",
        )  # fmt: skip
    if inflated:  # falling does not shake it: the facets ring as they do without weight
        other = ball_world(floor=False, gravity=(0.0, 0.0, 0.0), frame_rate=frame_rate)
        inflate(other, BASKETBALL)
        advance(other, int(frame_rate))
        assert unrest(world) == pytest.approx(unrest(other), rel=1e-3)


@pytest.mark.parametrize("rate", [9.0, 20.0])
def test_a_spinning_body_keeps_its_energy_and_tumbles(rate):
    """A long ring spun about its middle axis turns over (Dzhanibekov), and keeps energy and momentum."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.torus(0.2, 0.06, 24, 12)
    builder.add_membrane(
        "ring", x * [1.6, 1.0, 1.0], triangles, mass=0.5, gauge_pressure=5e4, stretch_modulus=2e5, damping=20.0
    )
    world = World(builder.build(), frame_rate=60.0, substeps=4, threads=1, solver="EXPLICIT")
    advance(world, 60)  # it swells and comes to rest
    x, m = world.positions(0), masses(world)
    r = x - m @ x / m.sum()
    _, axes = np.linalg.eigh(np.einsum("i,ij,ik->jk", m, r, r))
    spin(world, rate * (axes[:, 1] + 0.02 * axes[:, 0]))
    turn, energy = angular_momentum(world), world.diagnostics().bodies[0].kinetic_energy
    axis, along = axes[:, 1], []
    for _ in played(world, 90):
        x = world.positions(0)
        r = x - m @ x / m.sum()
        now = np.linalg.eigh(np.einsum("i,ij,ik->jk", m, r, r))[1][:, 1]
        axis = now * np.sign(now @ axis)  # the same end of it
        along.append(float(turn @ axis) / np.linalg.norm(turn))
    np.testing.assert_allclose(angular_momentum(world), turn, rtol=0, atol=1e-6 * np.linalg.norm(turn))
    validated(
        "kinetic energy of a ring that turns over (Dzhanibekov)", room="solvers/explicit",
        measured=world.diagnostics().bodies[0].kinetic_energy, expected=energy, unit="J", rel=0.01,
        source="conserved by a rigid body", reason="it stretches a little as it turns, which damping takes",
    )  # fmt: skip
    assert along[0] > 0.99 and min(along) < -0.9


def test_time_integration_converges():
    """A heavy ball under tension, released from an egg's shape, for about half a period of its slowest wobble.

    The dashpots, whose ratio at the highest frequency is constant, and velocities half a step late are of first order.
    """
    heavy = Ball(0.2, 2.0, 2e4, 5e3)

    def wobbled(count):
        world = ball_world(heavy, 2, floor=False, gravity=(0.0, 0.0, 0.0), frame_rate=50.0 * count, solver="EXPLICIT")
        assert world.steps_per_frame == 1  # a frame is shorter than a step may be
        inflate(world, heavy)
        middle = centre(world)
        world.set_positions(0, middle + (world.positions(0) - middle) * [1.05, 1.0, 0.95])
        advance(world, count)
        return world.positions(0)

    results = [wobbled(count) for count in (128, 256, 512, 1024)]
    errors = [np.linalg.norm(a - b) for a, b in zip(results[:-1], results[1:], strict=True)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    validated(
        "order of the time integration", room="solvers/explicit", measured=orders, expected=1.0, abs=0.2,
        source="leapfrog with dashpots", reason="1 in the limit",
    )  # fmt: skip
