"""Coulomb friction: a body on a slope stays up to the angle whose tangent is the coefficient."""

import numpy as np
import pytest
import shapes
from scenes import GRAVITY, centre, lowest, unrest, velocity
from softpressure_ext.core import ModelBuilder, World
from validation import validated


def ring_on_a_slope(degrees, friction):
    """An inflated ring, which cannot roll, on a floor; gravity is tilted instead of the floor."""
    tilt = np.radians(degrees)
    builder = ModelBuilder(gravity=(GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt)))
    builder.add_membrane(
        "ring", *shapes.torus(0.2, 0.08, 24, 12, (0.0, 0.0, 0.0795)), mass=0.5, gauge_pressure=1e4, stretch_modulus=2e4,
        friction=friction, damping=10.0, bounciness=0.5, thickness=2e-3,
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(20.0, 2), friction=friction, bounciness=0.5)
    return World(builder.build(), frame_rate=60.0, substeps=4, threads=1, solver="EXPLICIT")


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
    validated(
        "speed gained in 0.5 s, 1 degree above the critical slope", room="solvers/explicit",
        measured=velocity(above)[0] - speed, expected=0.5 * gained, unit="m/s", rel=0.10,
        source="g (sin a - μ cos a) t", reason="a small difference of two large forces: 10 % of it are 0.1 degrees",
    )  # fmt: skip
    validated(
        "way in 0.5 s, 1 degree below the critical slope", room="solvers/explicit",
        measured=centre(below)[0] - place, expected=0.0, unit="m", abs=1e-4, source="Coulomb: tan a < μ holds",
        reason="the ring still comes to rest; it does not creep",
    )  # fmt: skip
    assert np.linalg.norm(velocity(below)) < 1e-3 and unrest(below) < 1e-3


def test_no_friction_takes_no_speed():
    world = ring_on_a_slope(5.0, 0.0)
    for _ in range(60):
        world.advance_frame()
    validated(
        "speed after 1 s on a slope of 5 degrees without friction", room="solvers/explicit",
        measured=velocity(world)[0], expected=GRAVITY * np.sin(np.radians(5.0)), unit="m/s", rel=0.002,
        source="g sin a t", reason="momentum counts every force, however small; the ring swells meanwhile",
    )  # fmt: skip
