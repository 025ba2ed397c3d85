"""Coulomb friction on slopes under every solver: boxes and soft rings a degree to either side of the critical angle."""

import numpy as np
import pytest
import rigid_scenes
import shapes
from rigid_scene import block
from scenes import GRAVITY, advance, centre, velocity
from softpressure_ext.core import ModelBuilder, World
from validation import validated

#: By solver and body: the part of the core that has the contacts (a box alone takes impulses), and how exactly it gains
#: speed above the angle, and stays where it is below [m].
CASES = {
    ("EXPLICIT", "box"): ("solvers/rigid", 1e-3, 1e-9), ("EXPLICIT", "ring"): ("solvers/explicit", 0.1, 1e-4),
    ("XPBD", "box"): ("solvers/xpbd", 1e-3, 1e-6), ("XPBD", "ring"): ("solvers/xpbd", 0.1, 1e-4),
    ("EXPLICIT_EULER", "box"): ("papers", 1e-3, 1e-4),
}  # fmt: skip


def on_slope(solver, kind, degrees, friction):
    """A rigid box, or an inflated ring, which cannot roll, on a floor; gravity is tilted, so that it slides along x."""
    tilt = np.radians(degrees)
    builder = ModelBuilder(gravity=(GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt)))
    if kind == "box":
        builder.add_rigid("box", *block((0.2, 0.2, 0.1), (0.0, 0.0, 0.0515)), friction=friction)
    else:
        builder.add_membrane(
            "ring", *shapes.torus(0.2, 0.08, 24, 12, (0.0, 0.0, 0.081)), mass=0.5, gauge_pressure=1e4,
            stretch_modulus=2e4, friction=friction, damping=10.0, bounciness=0.5, thickness=2e-3,
        )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(20.0, 2), friction=friction, bounciness=0.5)
    return World(builder.build(), frame_rate=24.0, substeps=25, threads=1, solver=solver)


def along(world):
    """Place [m] and speed [m/s] along the slope of the only body."""
    if world.model.rigid_count:
        return rigid_scenes.centre(world)[0], rigid_scenes.velocity(world)[0]
    return centre(world)[0], velocity(world)[0]


@pytest.mark.parametrize("friction", [0.2, 0.5, 1.0])
@pytest.mark.parametrize(("solver", "kind"), CASES)
def test_a_body_stays_below_the_angle_of_friction_and_slides_above(solver, kind, friction):
    """One degree to either side; a ring swells, hops and settles first."""
    angle, (room, share, way) = np.degrees(np.arctan(friction)), CASES[solver, kind]
    below, above = (on_slope(solver, kind, angle + more, friction) for more in (-1.0, 1.0))
    for world in (below, above):
        advance(world, 48)
    place, speed = along(below)[0], along(above)[1]
    for world in (below, above):
        advance(world, 12)
    tilt = np.radians(angle + 1.0)
    gained = GRAVITY * (np.sin(tilt) - friction * np.cos(tilt))
    validated(
        "speed gained in 0.5 s, 1 degree above the critical slope", room=room, measured=along(above)[1] - speed,
        expected=0.5 * gained, unit="m/s", rel=share, source="g (sin a - μ cos a) t",
        reason="a small difference of two large forces: 10 % of it are 0.1 degrees",
    )  # fmt: skip
    validated(
        "way in 0.5 s, 1 degree below the critical slope", room=room, measured=along(below)[0] - place, expected=0.0,
        unit="m", abs=way, source="Coulomb: tan a < μ holds",
        reason="a box sleeps, or creeps as sweeps end at a remainder; a ring still comes to rest, and does not creep",
    )  # fmt: skip
    assert abs(along(below)[1]) < 10.0 * way


@pytest.mark.parametrize("kind", ["box", "ring"])
def test_without_friction_a_body_slides_as_it_falls(kind):
    world = on_slope("EXPLICIT", kind, 5.0, 0.0)
    advance(world, 24)
    validated(
        "speed after 1 s on a slope of 5 degrees without friction", room=CASES["EXPLICIT", kind][0],
        measured=along(world)[1], expected=GRAVITY * np.sin(np.radians(5.0)), unit="m/s", rel=0.002,
        source="g sin a t", reason="momentum counts every force, however small; the ring swells meanwhile",
    )  # fmt: skip
