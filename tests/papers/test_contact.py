"""Contacts of the papers' methods: bodies that bounce, rest, slide, stack and are carried."""

import numpy as np
import pytest
import rigid_scenes
import shapes
from scenes import (
    GRAVITY,
    Ball,
    add_ball,
    advance,
    ball_world,
    centre,
    gas_law_error,
    inflate,
    lowest,
    momentum,
    played,
    unrest,
    velocity,
)
from softpressure_ext.core import FrameInput, ModelBuilder, World

SOFT = Ball(0.2, 0.2, 2e3, 5e3)
#: Substeps per frame of 1/60 s that this ball of 162 vertices needs (stiffest oscillation 4 606 /s), with room.
SUBSTEPS = {"EXPLICIT_EULER": 45, "RK4": 35, "RK4_MARTIN": 45, "IMPLICIT_KANG": 180, "IMPLICIT_MESIT": 180}


@pytest.mark.parametrize("method", SUBSTEPS)
def test_a_ball_falls_bounces_and_rests_above_the_floor(method):
    world = ball_world(SOFT, 2, drop=0.05, substeps=SUBSTEPS[method], solver=method, damping=10.0, bounciness=0.3)
    gas = world.save().gas[0]
    low, height = [], []
    for _ in played(world, 50):
        low.append(lowest(world))
        height.append(centre(world)[2])
        assert gas_law_error(world, gas) < 1e-13  # roundings of a few hundred terms
    assert min(low) > 0.45 * world.model.thickness[0]  # a contact keeps half; the bound of a step leaves the rest
    assert max(height[20:]) < 0.25
    assert world.diagnostics().bodies[0].volume_ratio == pytest.approx(SOFT.volume_ratio, abs=2e-3)
    assert unrest(world) < 0.1


def test_bounciness_acts_on_the_whole_body_as_in_explicit_steps():
    """Rebound from 0.3 m, shares of the height; the same scene with both."""
    found = {}
    for method, substeps in (("EXPLICIT", 4), ("RK4", 40)):
        for e in (0.5, 1.0):
            world = ball_world(SOFT, 2, drop=0.3, substeps=substeps, solver=method, damping=5.0, bounciness=e)
            inflate(world, SOFT)
            start = centre(world)[2]
            height = [centre(world)[2] for _ in played(world, 50)]
            turn = int(np.argmin(height[:25]))
            found[method, e] = (max(height[turn:]) - SOFT.radius) / (start - SOFT.radius)
    for e in (0.5, 1.0):
        # what the integrators damp by themselves
        assert found["RK4", e] == pytest.approx(found["EXPLICIT", e], abs=0.03)
    assert found["RK4", 1.0] > 0.7 > 0.25 > found["RK4", 0.5]


def test_a_moving_floor_lifts_and_drags_bodies():
    builder = ModelBuilder()
    floor, triangles = shapes.grid(2.0)
    builder.add_rigid("box", *shapes.box(0.2, 1, (0, 0, 0.102)), friction=0.8)
    builder.add_collider("floor", floor, triangles, friction=0.8)
    world = World(builder.build(), frame_rate=60.0, substeps=10, threads=1, solver="EXPLICIT_EULER")
    for frame in range(1, 61):
        way = 0.5 * 4.0 * (frame / 60.0) ** 2  # 4 m/s^2 along, less than 0.8 g; 0.2 m/s up
        world.advance_frame(FrameInput(collider_positions={0: floor + (way, 0, 0.2 * frame / 60.0)}))
    place = world.rigid_transform(0)[:3, 3]
    # the floor's speed jumps by u = 4/60 m/s with each frame; the box gains mu g h in each substep until it has that
    # speed too, and moves with the speed at its end, so it slips by the sum of h (u - k mu g h); but for the first
    # frame, where the jump upwards presses it on
    u, h = 4.0 / 60.0, 1.0 / 600.0
    slip = h * np.maximum(u - 0.8 * GRAVITY * h * np.arange(1, 11), 0.0).sum()
    assert place[0] == pytest.approx(2.0 - 60 * slip, abs=1e-3)
    # a tenth of the thickness: the floor rises by a third of it per step
    assert world.rigid_positions(0)[:, 2].min() == pytest.approx(0.2 + world.model.thickness.sum(), abs=1e-4)
    np.testing.assert_allclose(world.rigid_velocity(0)[0], (4.0, 0, 0.2), atol=0.04)  # the mean speed of a frame


def test_a_box_hangs_from_a_pinned_ball():
    x, _ = shapes.icosphere(1, 0.2)
    top, bottom = int(np.argmax(x[:, 2])), int(np.argmin(x[:, 2]))
    found = []
    for method, substeps in (("EXPLICIT", 10), ("RK4", 45)):
        builder = ModelBuilder()
        add_ball(builder, SOFT, 1, (0, 0, 0.5), pinned=[top], damping=20.0)
        builder.add_rigid("box", *shapes.box(0.1, 1, (0, 0, 0.2)), mass=0.1, linear_damping=2.0)
        builder.attach_to_rigid(0, [bottom], 0)
        world = World(builder.build(), frame_rate=60.0, substeps=substeps, threads=1, solver=method)
        advance(world, 25)  # where it is lowest
        found.append(rigid_scenes.centre(world)[2])
        assert (world.positions(0)[top] == x[top] + (0, 0, 0.5)).all()
    assert found[1] == pytest.approx(found[0], abs=1e-3) and found[0] < 0.2


def test_glued_bodies_in_flight_keep_momentum():
    x, _ = shapes.icosphere(1, 0.2)
    builder = ModelBuilder(gravity=(0, 0, 0))
    add_ball(builder, SOFT, 1, velocity=(1.0, 0.0, 0.0))
    add_ball(builder, SOFT, 1, (0.41, 0, 0), name="other")
    builder.attach_to_membrane(0, [int(np.argmax(x[:, 0]))], 1)
    builder.add_rigid("box", *shapes.box(0.1, 1, (-0.26, 0, 0)), mass=0.1)
    builder.attach_to_rigid(0, [int(np.argmin(x[:, 0]))], 0)
    world = World(builder.build(), frame_rate=60.0, substeps=50, threads=1, solver="RK4")
    before = momentum(world) + rigid_scenes.momentum(world)
    advance(world, 12)
    assert rigid_scenes.velocity(world)[0] > 0.1 and velocity(world, 1)[0] > 0.1  # the first ball takes both along
    np.testing.assert_allclose(momentum(world) + rigid_scenes.momentum(world), before, rtol=0, atol=1e-13)
