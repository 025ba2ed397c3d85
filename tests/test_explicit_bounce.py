"""How high balls come back under explicit steps, and what bounciness takes of their speed."""

from functools import cache

import numpy as np
import pytest
from explicit_scene import FRAME_RATE, SOLVER
from scenes import BASKETBALL, GRAVITY, ball_world, centre, inflate, lowest, velocity

DROP = 0.1
#: Longest contact of the basketball [s]: half a period of its mass on its patch takes 10 ms.
CONTACT = 0.02


@cache
def rebound(subdivisions: int, bounciness: float) -> float:
    """Height [m] that the basketball reaches after 0.1 m, in its equilibrium shape and with damping 2 /s.

    A centre in free flight will reach, or has reached, z + v^2 / 2g; in a contact this is less.
    """
    world = ball_world(
        BASKETBALL, subdivisions, drop=DROP, frame_rate=FRAME_RATE, substeps=10, solver=SOLVER, damping=2.0,
        bounciness=bounciness,
    )  # fmt: skip
    inflate(world, BASKETBALL)
    rest = centre(world)[2] - DROP
    parted = np.sqrt(2.0 * DROP / GRAVITY) + CONTACT
    heights = []
    for frame in range(1, 12):
        world.advance_frame()
        assert lowest(world) > 0.0
        if frame > parted * FRAME_RATE:
            heights.append(centre(world)[2] - rest + velocity(world)[2] ** 2 / (2.0 * GRAVITY))
    return max(heights)


@pytest.mark.parametrize("subdivisions", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_basketball_comes_back_as_high_as_in_the_limit_of_short_steps(subdivisions: int) -> None:
    """0.095 m; what is missing is in the skin's vibrations. See "Why this scheme" in the core's README."""
    assert rebound(subdivisions, 1.0) == pytest.approx(0.095, rel=0.03)


@pytest.mark.parametrize("bounciness", [0.2, 0.5, 0.85])
def test_bounciness_is_the_share_of_the_speed_that_comes_back(bounciness: float) -> None:
    """On top of what the vibrations take; heights go with the square of the speed."""
    share = np.sqrt(rebound(3, bounciness) / rebound(3, 1.0))
    assert share == pytest.approx(bounciness, abs=0.05)


def test_no_bounciness_gives_nothing_back() -> None:
    assert rebound(3, 0.0) < 0.1**2 * DROP  # a tenth of the speed
