"""Reflection at colliders (Kurmaly and Wu 2021, 4): mirror images, heights of a bounce, energy."""

import numpy as np
import pytest
import shapes
from scenes import GRAVITY, advance
from softpressure_ext.core import FrameInput, MethodOptions, ModelBuilder, World
from softpressure_ext.core.papers.reflection import Reflection
from validation import validated

REFLECTION = MethodOptions(collider_rule="REFLECTION")
STEP = 1.0 / 600.0


def cloud_model(collider, ignored=False):
    """A skin without gas whose points hardly hold together, 1 to 3 m up, and a collider."""
    rng = np.random.default_rng(4)
    x, triangles = shapes.icosphere(1, 1.0)
    x = x * rng.uniform(0.5, 1.0, (len(x), 1)) + (0.0, 0.0, 2.0)
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_membrane("cloud", x, triangles, mass=1.0, gauge_pressure=0.0, stretch_modulus=1e-9, damping=0.0)
    builder.add_collider("collider", *collider)
    return builder.build(ignores=~np.eye(2, dtype=bool) if ignored else None)


def world_of(model, substeps=1, solver="RK4"):
    return World(
        model, frame_rate=1.0 / STEP, substeps=substeps, threads=1, solver=solver, options=REFLECTION
    )  # fmt: skip


def reflected(model, start, moves, v, end=None, time=0.1):
    """Moves and velocities after a reflection, and how many there were."""
    reflection = Reflection(model)
    moves, v = moves.copy(), v.copy()
    reflection.reflect(start, start if end is None else end, moves, v, time)
    return moves, v, reflection.count


def test_position_and_velocity_are_mirrored_at_a_tilted_plane():
    rng = np.random.default_rng(2)
    turn = shapes.rotation((1.0, 2.0, 0.5), 0.7)
    x, triangles = shapes.grid(50.0, 3)
    model = cloud_model((x @ turn.T, triangles))
    n, normal = model.vertex_count, turn[:, 2]
    start = model.rest_positions.copy()
    start[:n] = rng.uniform(-1.0, 1.0, (n, 3))
    start[:n] += (0.1 - np.minimum(start[:n] @ normal, 0.0))[:, None] * normal
    moves, v = rng.normal(0.0, 1.0, (2, n, 3))
    depth = (start[:n] + moves) @ normal
    behind = depth < 0.0
    assert 5 < behind.sum() < n - 5
    found, speed, count = reflected(model, start, moves, v)
    assert count == behind.sum()
    expected = start[:n] + moves - 2.0 * np.minimum(depth, 0.0)[:, None] * normal
    np.testing.assert_allclose(start[:n] + found, expected, atol=1e-13)  # rounding of sums of some ten terms of 50
    mirrored = v - 2.0 * np.where(behind, v @ normal, 0.0)[:, None] * normal
    np.testing.assert_allclose(speed, mirrored, atol=1e-13)


def test_in_a_corner_both_walls_mirror():
    """A floor and a wall x = 0: what goes through both comes back along both."""
    floor, triangles = shapes.grid(50.0)
    wall = floor @ np.array([(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)])  # its normal is +x
    model = cloud_model((np.concatenate([floor, wall]), np.concatenate([triangles, triangles + len(floor)])))
    start, n = model.rest_positions.copy(), model.vertex_count
    start[:n] = (0.2, 0.0, 0.1)
    moves = np.tile((-0.5, 0.3, -0.6), (n, 1))
    found, speed, count = reflected(model, start, moves, moves)
    assert count == 2 * n
    np.testing.assert_allclose(start[:n] + found, np.tile((0.3, 0.3, 0.5), (n, 1)), atol=1e-14)
    np.testing.assert_allclose(speed, np.tile((0.5, 0.3, 0.6), (n, 1)), atol=1e-14)


def test_a_rising_floor_adds_twice_its_speed():
    model = cloud_model(shapes.grid(50.0))
    start, n, time, rise = model.rest_positions.copy(), model.vertex_count, 0.1, 0.3
    start[:n] = (0.0, 0.0, 0.01)
    end = start.copy()
    end[n:, 2] += rise * time
    v = np.tile((0.4, 0.0, -1.0), (n, 1))
    found, speed, _ = reflected(model, start, time * v, v, end, time)
    np.testing.assert_allclose(speed, np.tile((0.4, 0.0, 1.0 + 2.0 * rise), (n, 1)), atol=1e-12)
    np.testing.assert_allclose((start[:n] + found)[:, 2], 2 * rise * time - (0.01 - time), atol=1e-14)


def test_what_is_beside_or_behind_or_ignored_is_left_alone():
    model = cloud_model(shapes.grid(1.0))
    start, n = model.rest_positions.copy(), model.vertex_count
    moves = np.tile((0.0, 0.0, -0.5), (n, 1))
    for place in ((5.0, 0.0, 0.1), (0.0, 0.0, -0.1)):
        start[:n] = place
        assert reflected(model, start, moves, moves)[2] == 0
    start[:n] = (0.0, 0.0, 0.1)
    assert reflected(model, start, moves, moves)[2] == n
    assert reflected(cloud_model(shapes.grid(1.0), ignored=True), start, moves, moves)[2] == 0


@pytest.mark.parametrize("substeps", [1, 4])
def test_a_bounce_keeps_its_height_but_for_what_the_mirror_adds(substeps):
    """Free points: after the step they are u s + g s²/2 up and rise with u + g s; energy gives the height."""
    model = cloud_model(shapes.grid(20.0))
    n, h = model.vertex_count, STEP / substeps
    world = world_of(model, substeps)
    height = model.rest_positions[:n, 2]
    hit = np.sqrt(2.0 * height / GRAVITY)  # when, in flight from rest
    late = np.ceil(hit / h) * h - hit
    expected = height + 2.0 * GRAVITY * hit * late + GRAVITY * late**2
    frames = int(1.05 * hit.max() / STEP)
    assert frames * STEP < 2.0 * hit.min()  # each has bounced once
    advance(world, frames)
    state = world.save()
    reached = state.positions[:n, 2] + state.velocities[:n, 2] ** 2 / (2.0 * GRAVITY)
    validated(
        "height of points that are mirrored at the floor", room="papers", measured=reached, expected=expected, unit="m",
        abs=2e-7, source="h + 2 u s + g s²; u: speed of impact, s: time behind the floor",
        reason="springs of 1e-9 N/m pull by some 1e-9 m, and the fall is exact with RK4",
    )  # fmt: skip
    assert (reached - height).max() < 2.01 * GRAVITY * hit.max() * h


@pytest.mark.parametrize("solver", ["EXPLICIT_EULER", "RK4"])
def test_a_ball_bounces_on_a_floor_that_moves_and_stays_above_it(solver):
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_loop(
        "ball", shapes.upright(shapes.ring(24, 0.2), 0.5), depth=0.1, mass=0.2, gauge_pressure=2e3,
        stretch_modulus=2e3, damping=1.0,
    )  # fmt: skip
    floor, triangles = shapes.grid(4.0)
    builder.add_collider("floor", floor, triangles)
    world = World(
        builder.build(), frame_rate=60.0, substeps=120, threads=1, solver=solver, options=REFLECTION
    )  # fmt: skip
    heights = []
    for frame in range(40):
        rise = 0.002 * (frame + 1)
        world.advance_frame(FrameInput(collider_positions={0: floor + (0.0, 0.0, rise)}))
        x = world.positions(0)
        heights.append(x[:, 2].mean() - rise)
        assert x[:, 2].min() > rise - 1e-12  # rounding
        np.testing.assert_allclose(x[:, 1], 0.0, atol=1e-12)  # in its plane
    assert min(heights) < 0.25 and max(heights[25:]) > min(heights) + 0.05  # it hit, and came back
