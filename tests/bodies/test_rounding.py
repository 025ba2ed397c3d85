"""Bodies far from the origin: they rest as at the origin, or are refused with a sentence."""

import numpy as np
import pytest
import shapes
from softpressure_ext.core import ModelBuilder, ParameterError, World
from softpressure_ext.core.bodies.rounding import LARGEST_SHARE


def scene(away: float, kind: str = "soft") -> ModelBuilder:
    """A ball just over a floor, both so far along x [m]."""
    builder, shift = ModelBuilder(), np.array([away, 0.0, 0.0])
    x, faces = shapes.icosphere(2, 0.5, (0.0, 0.0, 0.52))
    if kind == "soft":
        builder.add_membrane("ball", x + shift, faces, mass=0.2, gauge_pressure=1_000.0, damping=5.0)
    else:
        builder.add_rigid("ball", x + shift, faces, mass=0.2)
    floor, tiles = shapes.grid(4.0)
    builder.add_collider("floor", floor + shift, tiles)
    return builder


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_a_ball_far_away_rests_as_at_the_origin(solver: str) -> None:
    """At 10^12 m numbers are a sixtieth of the ball's thickness apart."""
    heights = []
    for away in (0.0, 1e12):
        world = World(scene(away).build(), solver=solver)
        thickness = world.model.thickness[0]
        for _ in range(72):
            world.advance_frame()
        heights.append(world.positions(0)[:, 2].min())
    assert np.spacing(1e12) < LARGEST_SHARE * thickness
    assert abs(heights[1] - heights[0]) < 0.5 * thickness


@pytest.mark.parametrize("kind", ["soft", "rigid"])
def test_a_ball_too_far_away_is_refused(kind: str) -> None:
    with pytest.raises(
        ParameterError,
        match=r"^ball: at coordinates of up to 1e\+13 m numbers are 0\.002 m apart, too far for a thickness of "
        r"0\.00\d+ m\. Move it to the origin, scale it down, or give a larger thickness\.$",
    ):
        scene(1e13, kind).build()


def test_a_ball_too_large_for_its_thickness_is_refused() -> None:
    x, faces = shapes.icosphere(2, 1e9)
    builder = ModelBuilder()
    builder.add_membrane("world", x, faces)  # with an automatic thickness, which grows with it
    builder.build()
    builder.add_membrane("egg", x, faces, thickness=1e-6)
    with pytest.raises(ParameterError, match=r"^egg: at coordinates of up to 1e\+09 m numbers are 1\.2e-07 m apart"):
        builder.build()


def test_a_far_collider_needs_no_thickness() -> None:
    builder = scene(0.0)
    x, faces = shapes.grid(4.0)
    builder.add_collider("moon", x + [1e15, 0.0, 0.0], faces)
    builder.build()
