"""Coulomb friction: a body on a slope stays up to the angle whose tangent is the coefficient."""

import numpy as np
import pytest
import shapes
from scenes import GRAVITY, centre, lowest, unrest, velocity
from softpressure_ext.core import ModelBuilder, World


def ring_on_a_slope(degrees, friction):
    """An inflated ring, which cannot roll, on a floor; gravity is tilted instead of the floor."""
    tilt = np.radians(degrees)
    builder = ModelBuilder(gravity=(GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt)))
    builder.add_membrane(
        "ring", *shapes.torus(0.2, 0.08, 24, 12, (0.0, 0.0, 0.0795)), mass=0.5, gauge_pressure=1e4, stretch_modulus=2e4,
        friction=friction, damping=10.0, bounciness=0.5, thickness=2e-3,
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(20.0, 2), friction=friction, bounciness=0.5)
    return World(builder.build(), frame_rate=60.0, substeps=4, threads=1, solver="IMPLICIT")


@pytest.mark.parametrize("friction", [0.2, 0.5, 1.0])
def test_slide_angle(friction):
    angle = np.degrees(np.arctan(friction))
    above, below = ring_on_a_slope(angle + 1.0, friction), ring_on_a_slope(angle - 1.0, friction)
    for world in (above, below):
        for _ in range(120):  # it swells, hops and settles
            world.advance_frame()
    speed, place = velocity(above)[0], centre(below)[0]
    for _ in range(30):
        above.advance_frame()
        below.advance_frame()
        assert lowest(above) > 0.0 and lowest(below) > 0.0
    tilt = np.radians(angle + 1.0)
    gained = GRAVITY * (np.sin(tilt) - friction * np.cos(tilt))
    # gained over half a second: at 1 degree a small difference of two large forces, so 10 % of it are 0.1 degrees
    assert velocity(above)[0] - speed == pytest.approx(0.5 * gained, rel=0.10)
    # it sticks: what is left is the solver's rest, not creep
    assert abs(centre(below)[0] - place) < 1e-4
    assert np.linalg.norm(velocity(below)) < 1e-3 and unrest(below) < 1e-3


def test_no_friction_takes_no_speed():
    world = ring_on_a_slope(5.0, 0.0)
    for _ in range(60):
        world.advance_frame()
    # momentum counts every force, however small; what is left is how the ring swells: 3e-4 measured
    assert velocity(world)[0] == pytest.approx(GRAVITY * np.sin(np.radians(5.0)), rel=0.002)
