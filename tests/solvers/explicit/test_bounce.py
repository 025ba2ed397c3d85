"""Rebound of balls under explicit steps, and restitution."""

from functools import cache

import numpy as np
import pytest
import rigid_scenes
import shapes
from explicit_scene import FRAME_RATE, SOLVER, world_of
from scenes import BASKETBALL, GRAVITY, ball_world, centre, inflate, lowest, played, velocity
from softpressure_ext.core import ModelBuilder
from validation import validated

DROP = 0.1
#: Longest contact of the basketball [s]: half a period of its mass on its patch takes 10 ms.
CONTACT = 0.02


@cache
def rebound(subdivisions: int, bounciness: float, damping: float = 2.0) -> float:
    """Height [m] that the basketball reaches after 0.1 m, in its equilibrium shape.

    A centre in free flight will reach, or has reached, z + v^2 / 2g; in a contact this is less.
    """
    world = ball_world(
        BASKETBALL, subdivisions, drop=DROP, frame_rate=FRAME_RATE, substeps=10, solver=SOLVER, damping=damping,
        bounciness=bounciness,
    )  # fmt: skip
    inflate(world, BASKETBALL)
    rest = centre(world)[2] - DROP
    parted = np.sqrt(2.0 * DROP / GRAVITY) + CONTACT
    heights = []
    for frame in played(world, 11):
        assert lowest(world) > 0.0
        if frame > parted * FRAME_RATE:
            heights.append(centre(world)[2] - rest + velocity(world)[2] ** 2 / (2.0 * GRAVITY))
    return max(heights)


@pytest.mark.parametrize("subdivisions", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_basketball_comes_back_as_high_as_in_the_limit_of_short_steps(subdivisions: int) -> None:
    """0.095 m; what is missing is in the skin's vibrations. See "Why this scheme" in the core's README."""
    validated(
        "rebound of a basketball from 0.1 m", room="solvers/explicit", measured=rebound(subdivisions, 1.0),
        expected=0.095, unit="m", rel=0.03, source="limit of short steps",
        reason="the limit has two digits, and meshes differ",
    )  # fmt: skip


@pytest.mark.parametrize("bounciness", [0.2, 0.5, 0.85])
def test_bounciness_is_the_ratio_of_the_speeds(bounciness: float) -> None:
    """On top of what the vibrations take; heights go with the square of the speed."""
    validated(
        "speed after an impact, without what vibrations take", room="solvers/explicit",
        measured=np.sqrt(rebound(3, bounciness) / rebound(3, 1.0)), expected=bounciness, abs=0.05,
        source="coefficient of restitution e", reason="impacts of a skin last for 10 ms, in which it vibrates",
    )  # fmt: skip


def test_rebound_falls_with_damping() -> None:
    """In 10 ms of contact 20 /s take a little, 640 /s a twentieth and more."""
    heights = [rebound(3, 1.0, damping) for damping in (2.0, 20.0, 80.0, 640.0)]
    assert (np.diff(heights) < 0.0).all(), heights
    assert heights[-1] < 0.95 * heights[0]


def test_no_bounciness_gives_nothing_back() -> None:
    assert rebound(3, 0.0) < 0.1**2 * DROP  # a tenth of the speed


@pytest.mark.parametrize("bounciness", [0.0, 0.2, 0.5, 0.85, 1.0])
def test_a_rigid_ball_bounces_as_newtons_law_of_impact_says(bounciness: float) -> None:
    """From 5 cm, however few steps its contact takes; a body so round has its contacts in the steps."""
    builder = ModelBuilder()
    builder.add_rigid("ball", *shapes.icosphere(2, 0.1, (0.0, 0.0, 0.15)), mass=1.0, bounciness=bounciness)
    builder.add_collider("floor", *shapes.grid(4.0, 2), bounciness=bounciness)
    world = world_of(builder, frame_rate=240.0)
    speeds = [rigid_scenes.velocity(world)[2] for _ in played(world, 40)]
    validated(
        "speed of a rigid ball that fell 0.05 m", room="solvers/explicit", measured=-min(speeds),
        expected=np.sqrt(2.0 * GRAVITY * 0.05), unit="m/s", rel=0.03, source="sqrt(2 g s)",
        reason="read once per 1/240 s, in which it gains 0.04 m/s",
    )  # fmt: skip
    validated(
        "speed after over speed before the impact of a rigid ball", room="solvers/explicit",
        measured=max(speeds) / -min(speeds), expected=bounciness, abs=0.02, source="Newton's law of impact",
        reason="read once per 1/240 s",
    )  # fmt: skip


def test_bodies_that_start_too_close_do_not_jump() -> None:
    """Half a centimetre from the floor, where solids of this size keep more: they widen the gap slowly."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_solid("cube", *shapes.box(0.5, 1, (0.0, 0.0, 0.255)), cell_size=0.25, mass=5.0, modulus=5e4)
    builder.add_collider("floor", *shapes.grid(4.0, 2))
    world, fastest = world_of(builder, frame_rate=240.0), 0.0
    for _ in played(world, 60):
        fastest = max(fastest, world.velocities(0)[:, 2].mean())
    assert 0.0 < fastest < 0.3
    assert lowest(world) > 0.8 * world.model.thickness.sum()
