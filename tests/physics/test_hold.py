"""A ball at rest on a floor: it holds its pressure, at any resolution, and stands on the patch it needs."""

from functools import cache

import numpy as np
import pytest
import reference
from scenes import (
    AMBIENT,
    BASKETBALL,
    BEACH_BALL,
    GRAVITY,
    LIVELY,
    METRE_BALL,
    SOFT_BALL,
    Ball,
    ball_world,
    gas_law_error,
    inflate,
    lowest,
    masses,
    nudged,
    played,
    sag,
    unrest,
)
from softpressure_ext.core import World
from validation import validated


def settled(world, seconds):
    """Advance, and check on every frame what must always hold; returns the world."""
    gas = float(world.save().gas[0])
    for _ in played(world, round(seconds * world.frame_rate)):
        validated(
            "(p + pa) V / nRT - 1 of a ball on a floor", room="solvers/explicit", measured=gas_law_error(world, gas),
            expected=0.0, abs=1e-12, source="ideal gas", reason="rounding",
        )  # fmt: skip
        assert lowest(world) > 0.0
    return world


@pytest.mark.parametrize(
    ("ball", "subdivisions"),
    [
        pytest.param(BASKETBALL, 3, id="basketball-642"),
        pytest.param(BASKETBALL, 4, id="basketball-2562"),
        pytest.param(BEACH_BALL, 3, id="beach ball-642"),
        pytest.param(METRE_BALL, 3, id="metre ball-642"),
    ],
)
def test_hold(ball, subdivisions):
    world = settled(ball_world(ball, subdivisions, drop=0.001 * ball.radius, **LIVELY), 2.0)
    found = world.diagnostics().bodies[0]
    validated(
        "V / V0 of a ball on a floor", room="solvers/explicit", measured=found.volume_ratio, expected=ball.volume_ratio,
        abs=0.005, source="(1 + ε)³ with p r (1 + ε)² / 2 = 1.5 Y ε",
        reason="the closed form knows neither the facets nor the weight: 0.001 each",
    )  # fmt: skip
    validated(
        "gauge pressure of a ball on a floor", room="solvers/explicit", measured=found.gauge_pressure, unit="Pa",
        expected=(ball.gauge_pressure + AMBIENT) / ball.volume_ratio - AMBIENT, rel=0.02,
        source="(p + pa) / (1 + ε)³ - pa", reason="0.1 % of the volume are 0.1 % of p + pa, more of p",
    )  # fmt: skip
    assert unrest(world) < 1e-3


def sway(world):
    """How fast a ball's rigid motion carries its lowest vertex along the floor [m/s]."""
    x = world.positions(0)
    rigid = reference.rigid_velocities(x, world.velocities(0), masses(world))
    return np.linalg.norm(rigid[x[:, 2].argmin(), :2])


@pytest.mark.rounding
def test_a_ball_on_one_vertex_does_not_begin_to_sway():
    """What sets it swaying as it is set down is not fed; by any rounding: the median of five runs."""
    model = ball_world(BASKETBALL, 3, drop=0.0005, **LIVELY).model
    start, end = [], []
    for seed in range(5):
        world = nudged(World(model, frame_rate=60.0, substeps=4, threads=1), seed)
        speeds = [sway(world) for _ in played(world, 30)]
        start.append(max(speeds[:4]))
        end.append(max(speeds[20:]))
    assert np.median(end) < np.median(start)


@cache
def settled_soft_ball(subdivisions, frame_rate=60.0):
    world = ball_world(
        SOFT_BALL, subdivisions, drop=0.0, damping=20.0, bounciness=0.5, friction=1.0, thickness=5e-4,
        frame_rate=frame_rate,
    )  # fmt: skip
    inflate(world, SOFT_BALL)
    return settled(world, 1.0)  # it lies still from 0.8 s on


@pytest.mark.parametrize("finest", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_resolutions_sag_alike(finest):
    sags = [sag(settled_soft_ball(subdivisions)) for subdivisions in range(3, finest + 1)]
    assert max(sags) < 1.05 * min(sags), sags
    assert min(sags) > 0.1 * SOFT_BALL.radius


def test_halving_the_step_does_not_change_the_sag():
    coarse, fine = settled_soft_ball(3), settled_soft_ball(3, frame_rate=3300.0)
    assert fine.steps_per_frame == 1 and 60.0 * coarse.steps_per_frame < 0.5 * 3300.0  # a frame is half a step
    assert sag(coarse) == pytest.approx(sag(fine), rel=0.05)


def test_contact_patch_times_gauge_pressure_is_the_weight():
    # Large patch (73 mm), fine mesh (8 mm), taut skin and no friction: else the skin's own stress carries its share.
    ball = Ball(0.2, 2.0, 4e3, 8e3)
    world = ball_world(ball, 5, drop=0.0, damping=20.0, bounciness=0.5, friction=0.0, thickness=2e-4)
    inflate(world, ball)
    settled(world, 1.0)
    x, found = world.positions(0), world.diagnostics().bodies[0]
    start = world.model.surfaces.body_triangle_start
    order = np.argsort(world.model.point_of_vertex[: len(x)])
    a, b, c = (x[order[world.model.surfaces.triangles[start[0] : start[1], corner]]] for corner in range(3))
    shadow = 0.5 * np.abs(np.cross(b[:, :2] - a[:, :2], c[:, :2] - a[:, :2]))
    # a vertex carries the pressure on a third of each of its triangles; the patch lies at the thickness
    low = np.mean([corner[:, 2] < 1.001 * world.model.thickness[0] for corner in (a, b, c)], axis=0)
    patch = (shadow * low).sum()
    assert np.count_nonzero(low) > 500
    # Half of the outermost ring is 10 % of the area, of which counting by thirds leaves a few; the skin of the patch
    # itself, 3 % of the weight, lies on the floor without any pressure.
    validated(
        "contact patch times gauge pressure", room="solvers/explicit", measured=patch * found.gauge_pressure,
        expected=ball.mass * GRAVITY, unit="N", rel=0.05, source="weight m g",
        reason="a few % of the patch's outermost ring; the patch's own skin, 3 % of the weight, lies on the floor",
    )  # fmt: skip
