"""Rebound of a dropped ball, and the effect of its settings."""

import numpy as np
import pytest
from scenes import BASKETBALL, GRAVITY, ball_world, centre, gas_law_error, inflate, lowest


def rebound(drop, *, subdivisions=3, substeps=4, **options):
    """Height [m] to which the basketball comes back from its equilibrium shape, `drop` above the floor."""
    world = ball_world(BASKETBALL, subdivisions, drop=drop, substeps=substeps, **options)
    inflate(world, BASKETBALL)
    gas, rest = float(world.save().gas[0]), centre(world)[2] - drop
    heights = []
    for _ in range(int(60 * (2.1 * np.sqrt(2 * drop / GRAVITY) + 0.1))):
        world.advance_frame()
        heights.append(centre(world)[2] - rest)
        assert lowest(world) > 0.0 and gas_law_error(world, gas) < 1e-12
    turn = int(np.argmax(np.diff(heights) > 0.0))  # the first time it goes up
    fall = np.flatnonzero(np.diff(heights[turn:]) < 0.0)
    return heights[turn + fall[0]] if len(fall) else heights[-1]


@pytest.mark.parametrize("drop", [0.1, 1.0])
def test_rebound_at_the_default_substep_is_near_its_limit(drop):
    # second order: the error falls by four from 1/480 to 1/960 s; the last value stands for the limit
    limit = rebound(drop, substeps=16)
    assert rebound(drop, substeps=4) == pytest.approx(limit, rel=0.15)
    assert limit < drop  # what is missing is in the skin's vibrations


@pytest.mark.parametrize("finest", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_resolutions_bounce_alike(finest):
    heights = [rebound(0.3, subdivisions=subdivisions) for subdivisions in range(3, finest + 1)]
    assert max(heights) < 1.05 * min(heights), heights


def test_rebound_falls_with_damping():
    # 10 ms of contact: 5 /s take 2 mm of 0.27 m, 320 /s a tenth
    heights = [rebound(0.3, damping=damping) for damping in (0.0, 5.0, 20.0, 80.0, 320.0)]
    assert (np.diff(heights) < 0.0).all(), heights
    assert heights[-1] < 0.95 * heights[0]
