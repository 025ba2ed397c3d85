"""Rigid bodies, friction and crossings under XPBD."""

import numpy as np
import pytest
import rigid_scenes
import scenes
import shapes
from rigid_scene import block
from scenes import BEACH_BALL, GRAVITY, LIVELY, METRE_BALL, add_ball, centre, gas_law_error, lowest, momentum, velocity
from softpressure_ext.core import FrameInput, ModelBuilder, World, threads
from validation import validated


def made(builder, substeps=20, threads=1):
    return World(builder.build(), frame_rate=24.0, substeps=substeps, solver="XPBD", threads=threads)


def boxes(*bodies, gravity=(0.0, 0.0, -GRAVITY), floor=True, **options):
    builder = ModelBuilder(gravity=gravity)
    for number, (mesh, own) in enumerate(bodies):
        builder.add_rigid(f"box {number}", *mesh, **(options | own))
    if floor:
        surface = {name: options[name] for name in ("friction", "bounciness") if name in options}
        builder.add_collider("floor", *shapes.grid(20.0), **surface)
    return made(builder)


@pytest.mark.parametrize("friction", [0.2, 0.5, 1.0])
def test_a_box_slides_from_the_angle_of_its_friction_on(friction):
    angle = np.arctan(friction)
    for excess in (np.radians(1.0), -np.radians(1.0)):
        tilt = angle + excess
        world = boxes(
            (block((0.2, 0.2, 0.1), (0.0, 0.0, 0.051)), {}), friction=friction, bounciness=0.0,
            gravity=(GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt)),
        )  # fmt: skip
        scenes.advance(world, 12)
        speed, place = rigid_scenes.velocity(world)[0], rigid_scenes.centre(world)[0]
        scenes.advance(world, 24)
        gained = rigid_scenes.velocity(world)[0] - speed
        if excess > 0.0:
            validated(
                "speed gained in 1 s by a box, 1 degree above the critical slope", room="solvers/xpbd", measured=gained,
                expected=GRAVITY * (np.sin(tilt) - friction * np.cos(tilt)), unit="m/s", rel=1e-3,
                source="g (sin a - μ cos a) t", reason="sweeps end at a remainder",
            )  # fmt: skip
        else:
            assert abs(gained) < 1e-6 and abs(rigid_scenes.centre(world)[0] - place) < 1e-4


@pytest.mark.parametrize("friction", [0.5, 1.0])
def test_a_soft_ring_slides_from_the_angle_of_its_friction_on(friction):
    for excess in (1.0, -1.0):
        tilt = np.arctan(friction) + np.radians(excess)
        builder = ModelBuilder(gravity=(GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt)))
        builder.add_membrane(
            "ring", *shapes.torus(0.2, 0.08, 24, 12, (0.0, 0.0, 0.0795)), mass=0.5, gauge_pressure=1e3,
            stretch_modulus=2e4, friction=friction, damping=10.0, bounciness=0.5, thickness=2e-3,
        )  # fmt: skip
        builder.add_collider("floor", *shapes.grid(20.0, 2), friction=friction, bounciness=0.5)
        world = made(builder)
        scenes.advance(world, 48)
        speed, place = velocity(world)[0], centre(world)[0]
        scenes.advance(world, 24)
        if excess > 0.0:
            validated(
                "speed gained in 1 s by a ring, 1 degree above the critical slope", room="solvers/xpbd",
                measured=velocity(world)[0] - speed, expected=GRAVITY * (np.sin(tilt) - friction * np.cos(tilt)),
                unit="m/s", rel=0.1, source="g (sin a - μ cos a) t",
                reason="a small difference of two large forces: 10 % of it are 0.1 degrees",
            )  # fmt: skip
        else:
            validated(
                "way of a ring in 1 s, 1 degree below the critical slope", room="solvers/xpbd",
                measured=centre(world)[0] - place, expected=0.0, unit="m", abs=1e-4,
                source="Coulomb: tan a < μ holds", reason="the ring still comes to rest; it does not creep",
            )  # fmt: skip


@pytest.mark.parametrize("bounciness", [0.0, 0.5, 0.9])
def test_a_box_bounces_with_its_bounciness(bounciness):
    world = boxes((block((0.2, 0.2, 0.2), (0.0, 0.0, 0.3)), {}), bounciness=bounciness, friction=0.5)
    speeds = []
    for _ in range(12):
        world.advance_frame()
        speeds.append(rigid_scenes.velocity(world)[2])
    fall = np.sqrt(2.0 * GRAVITY * (0.2 - world.model.thickness.sum()))
    if bounciness == 0.0:
        assert abs(speeds[-1]) < 1e-9
        return
    after = int(np.argmax(speeds))
    # when it hit, by free fall; from then on it flies freely: half a substep's fall of error at each end
    time = (after + 1) / 24.0 - fall / GRAVITY
    validated(
        "speed of a box after it bounced", room="solvers/xpbd", measured=speeds[after],
        expected=bounciness * fall - GRAVITY * time, unit="m/s", abs=2.0 * GRAVITY / 480.0,
        source="Newton's law of impact, then free flight", reason="half a substep's fall at each end",
    )  # fmt: skip


def test_a_tilted_box_falls_and_lies_still():
    world = boxes(
        (block((0.2, 0.2, 0.2), (0.0, 0.0, 0.3), shapes.rotation((1, 2, 0), 0.4)), {}), bounciness=0.3, friction=0.5
    )
    for _ in range(48):
        world.advance_frame()
        assert world.rigid_positions(0)[:, 2].min() > 0.0
    speed, spin = world.rigid_velocity(0)
    assert np.linalg.norm(speed) < 1e-3 and np.linalg.norm(spin) < 1e-3
    # on a face, the thickness above the floor
    assert rigid_scenes.centre(world)[2] == pytest.approx(0.1 + world.model.thickness.sum(), abs=1e-5)


def test_three_boxes_stand():
    world = boxes(
        *((block((0.2, 0.2, 0.2), (0.005 * k, 0.0, 0.101 + 0.2015 * k)), {"mass": 1.0 + k}) for k in range(3)),
        bounciness=0.3, friction=0.5,
    )  # fmt: skip
    scenes.advance(world, 24)
    places = [rigid_scenes.centre(world, k) for k in range(3)]
    scenes.advance(world, 96)
    for k in range(3):
        # sweeps that have not converged let it creep; it stands
        assert np.abs(rigid_scenes.centre(world, k) - places[k]).max() < 5e-3
        assert np.linalg.norm(world.rigid_velocity(k)[0]) < 5e-3


def test_a_tumbling_box_keeps_momentum_and_angular_momentum():
    world = boxes(
        (block((0.1, 0.2, 0.4), (0.0, 0.0, 0.0)), {"velocity": (1.0, 0.5, 0.0), "angular_velocity": (0.1, 8.0, 0.2)}),
        floor=False, gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip
    before = rigid_scenes.momentum(world), rigid_scenes.angular_momentum(world)
    scenes.advance(world, 24)
    np.testing.assert_allclose(rigid_scenes.momentum(world), before[0], rtol=1e-12)
    validated(
        "angular momentum of a box that tumbles for 1 s", room="solvers/xpbd",
        measured=rigid_scenes.angular_momentum(world), expected=before[1], unit="kg m²/s", abs=1e-10,
        source="conserved", reason="rounding of 480 substeps",
    )  # fmt: skip


def test_free_fall_of_a_box_is_exact():
    world = boxes((block((0.1, 0.2, 0.4)), {"velocity": (1.0, 0.0, 2.0)}), floor=False)
    scenes.advance(world, 24)
    validated(
        "centre of a box that falls for 1 s", room="solvers/xpbd", measured=rigid_scenes.centre(world),
        expected=[1.0, 0.0, 2.0 - 0.5 * GRAVITY], unit="m", abs=1e-12, source="x0 + v0 t + g t²/2",
        reason="rounding of 480 substeps",
    )  # fmt: skip


def test_two_boxes_collide_and_keep_momentum():
    world = boxes(
        (block((0.2, 0.2, 0.2), (-0.3, 0.0, 0.0)), {"mass": 1.0, "velocity": (2.0, 0.0, 0.0)}),
        (block((0.2, 0.2, 0.2), (0.1, 0.08, 0.03), shapes.rotation((1, 1, 1), 0.5)), {"mass": 3.0}),
        floor=False, gravity=(0.0, 0.0, 0.0), bounciness=0.5, friction=0.4,
    )  # fmt: skip
    before = rigid_scenes.momentum(world), rigid_scenes.angular_momentum(world)
    scenes.advance(world, 24)
    assert rigid_scenes.velocity(world, 1)[0] > 0.1
    validated(
        "momentum of two boxes after a collision", room="solvers/xpbd", measured=rigid_scenes.momentum(world),
        expected=before[0], unit="kg m/s", abs=1e-12, source="conserved", reason="rounding",
    )  # fmt: skip
    # friction acts on two sides that are a thickness apart
    np.testing.assert_allclose(rigid_scenes.angular_momentum(world), before[1], atol=5e-3)


def test_a_box_presses_a_ball_and_neither_passes():
    builder = ModelBuilder()
    add_ball(builder, METRE_BALL.like(mass=5.0, gauge_pressure=500.0), 2, (0.0, 0.0, 1.02), damping=5.0, bounciness=0.2)
    builder.add_rigid("box", *block((2.0, 2.0, 0.3), (0.0, 0.0, 2.3)), mass=5.0, bounciness=0.2)
    builder.add_collider("floor", *shapes.grid(20.0, 2))
    scene = made(builder)
    gas = scene.save().gas[0]
    for _ in range(48):
        scene.advance_frame()
        assert lowest(scene) > 0.0
        inverse = np.linalg.inv(scene.rigid_transform(0))
        local = scene.positions(0) @ inverse[:3, :3].T + inverse[:3, 3] - [0.0, 0.0, 2.3]
        assert not (np.abs(local) < [1.0, 1.0, 0.15]).all(axis=1).any()
        assert gas_law_error(scene, gas) < 1e-12
    assert 1.0 < rigid_scenes.centre(scene)[2] < 2.4


@pytest.mark.parametrize("speed", [5.0, 20.0, 50.0])
def test_a_fast_ball_does_not_pass_a_single_triangle(speed):
    """It moves by up to its own diameter in five substeps; the floor is two large triangles."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.5), velocity=(0.0, 0.0, -speed), **LIVELY)
    builder.add_collider("floor", *shapes.grid(20.0))
    scene = made(builder)
    for _ in range(24):
        scene.advance_frame()
        assert lowest(scene) > 0.0


def test_a_bullet_does_not_pass_a_plate():
    world = boxes(
        (block((0.6, 0.6, 0.02), (0.0, 0.0, 0.5), cells=2), {"mass": 2.0}),
        (block((0.02, 0.02, 0.02), (0.07, 0.05, 1.0)), {"mass": 0.01, "velocity": (0.0, 0.0, -50.0)}),
        floor=False, gravity=(0.0, 0.0, 0.0), bounciness=0.5, friction=0.4,
    )  # fmt: skip
    scenes.advance(world, 6)
    plate = world.rigid_transform(0)
    inside = np.linalg.inv(plate) @ [*rigid_scenes.centre(world, 1), 1.0]
    assert inside[2] > 0.51


def test_a_ball_that_starts_in_the_floor_comes_out():
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.1), **LIVELY)
    builder.add_collider("floor", *shapes.grid(20.0, 2))
    scene = made(builder)
    assert scene.crossing_triangle_count > 0
    for _ in range(48):
        scene.advance_frame()
        assert np.linalg.norm(velocity(scene)) < 0.5  # no explosion
    assert lowest(scene) > 0.0 and len(scene.save().wrong_side) == 0


def test_a_rising_floor_carries_bodies():
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.202), **LIVELY)
    builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.6, 0.0, 0.101)), bounciness=0.2)
    floor, triangles = shapes.grid(20.0, 2)
    builder.add_collider("floor", floor, triangles)
    scene = made(builder)
    for frame in range(24):
        height = 0.02 * (frame + 1)
        scene.advance_frame(FrameInput(collider_positions={0: floor + [0.0, 0.0, height]}))
        assert lowest(scene) > height and scene.rigid_positions(0)[:, 2].min() > height
    assert scene.rigid_velocity(0)[0][2] == pytest.approx(0.48, abs=0.02)


def test_a_ball_glued_to_a_box_hangs_from_it():
    builder = ModelBuilder()
    ball = add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.5), damping=5.0)
    x, _ = shapes.icosphere(2, BEACH_BALL.radius, (0.0, 0.0, 0.5))
    box = builder.add_rigid("box", *block((0.1, 0.1, 0.1), (0.0, 0.0, 0.9)), mass=0.5)
    builder.attach_to_rigid(ball, np.flatnonzero(x[:, 2] > 0.65), box)
    scene = made(builder)
    apart = centre(scene)[2] - rigid_scenes.centre(scene)[2]
    scenes.advance(scene, 12)
    # both fall alike
    assert centre(scene)[2] - rigid_scenes.centre(scene)[2] == pytest.approx(apart, abs=0.02)
    total = (BEACH_BALL.mass * centre(scene)[2] + 0.5 * rigid_scenes.centre(scene)[2]) / (BEACH_BALL.mass + 0.5)
    start = (BEACH_BALL.mass * 0.5 + 0.5 * 0.9) / (BEACH_BALL.mass + 0.5)
    validated(
        "common centre of a ball and a box glued together, after 0.5 s", room="solvers/xpbd", measured=total,
        expected=start - 0.5 * GRAVITY * 0.25, unit="m", abs=GRAVITY * 0.5 / 480.0, source="z0 - g t²/2",
        reason="glued bodies take gravity at the end of a substep: they are half a substep ahead",
    )  # fmt: skip


def test_threads_and_a_saved_state_change_no_bit_of_a_pile(monkeypatch):
    monkeypatch.setattr(threads, "ALL_FROM", 0)

    def pile(threads):
        builder = ModelBuilder()
        add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.205), **LIVELY)
        builder.add_rigid("box", *block((0.3, 0.3, 0.1), (0.02, 0.0, 0.5)), mass=0.2, bounciness=0.5)
        builder.add_collider("floor", *shapes.grid(20.0, 2))
        return made(builder, threads=threads)

    one, two, again = pile(1), pile(2), pile(1)
    scenes.advance(one, 6)
    again.load(one.save())
    scenes.advance(one, 6)
    scenes.advance(two, 12)
    scenes.advance(again, 6)
    for other in (two, again):
        first, second = one.save(), other.save()
        np.testing.assert_array_equal(first.positions, second.positions)
        np.testing.assert_array_equal(first.velocities, second.velocities)
        np.testing.assert_array_equal(first.rigid.angular_momentum, second.rigid.angular_momentum)


def test_two_glued_balls_keep_momentum():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    first = add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.0), velocity=(0.0, 1.0, 0.0))
    second = add_ball(builder, BEACH_BALL.like(mass=0.5), 2, (0.404, 0.0, 0.0))
    x, _ = shapes.icosphere(2, BEACH_BALL.radius)
    builder.attach_to_membrane(first, np.flatnonzero(x[:, 0] > 0.15), second)
    scene = made(builder)
    scenes.advance(scene, 24)
    np.testing.assert_allclose(momentum(scene), [0.0, BEACH_BALL.mass, 0.0], atol=1e-12)
    # they go round each other, the glue holds
    assert velocity(scene, 1)[1] > 0.01
    assert np.linalg.norm(centre(scene, 0) - centre(scene, 1)) == pytest.approx(0.404, abs=0.03)


def dropped(turn, away):
    """A ball after a third of a second over and on a floor, all of it turned and moved; positions turned back [m]."""
    builder = ModelBuilder(gravity=turn @ [0.0, 0.0, -GRAVITY])
    x, triangles = shapes.icosphere(2, 0.2, (0.0, 0.0, 0.25))
    builder.add_membrane("ball", x @ turn.T + away, triangles, mass=0.2, gauge_pressure=500.0, damping=5.0)
    floor, floor_triangles = shapes.grid(4.0, 2)
    floor += [0.013, 0.007, 0.0]  # no vertex right above another one, where rounding says which triangle is touched
    builder.add_collider("floor", floor @ turn.T + away, floor_triangles)
    scene = made(builder)
    scenes.advance(scene, 8)
    return (scene.positions(0) - away) @ turn


def test_a_scene_a_kilometre_away_does_the_same():
    here, there = dropped(np.eye(3), np.zeros(3)), dropped(np.eye(3), np.array([1000.0, -500.0, 250.0]))
    # coordinates there have 1e-13 m; 5e-12 measured
    np.testing.assert_allclose(there, here, rtol=0.0, atol=1e-9)


def test_a_turned_scene_does_nearly_the_same():
    """Vertices are numbered along the axes, so its constraints have another order, and the sweep another rest."""
    turn = shapes.rotation((1.0, 2.0, 3.0), 1.0)
    # 3 mm of 0.25 m measured, in the middle of the bounce
    np.testing.assert_allclose(
        dropped(turn, np.zeros(3)).mean(axis=0), dropped(np.eye(3), np.zeros(3)).mean(axis=0), atol=5e-3
    )


def test_a_plate_presses_a_ball_flat_and_nothing_passes():
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.21), **LIVELY)
    builder.add_collider("floor", *shapes.grid(4.0, 2))
    plate, triangles = shapes.grid(2.0, 2)
    builder.add_collider("plate", plate + [0.0, 0.0, 0.6], triangles)
    scene = made(builder)
    gas = scene.save().gas[0]
    for frame in range(20):
        height = max(0.6 - 0.03 * frame, 0.1)
        scene.advance_frame(FrameInput(collider_positions={1: plate + [0.0, 0.0, height]}))
        assert lowest(scene) > 0.0 and scene.positions(0)[:, 2].max() < height
        assert gas_law_error(scene, gas) < 1e-12
    assert scene.diagnostics().bodies[0].volume_ratio < 0.8
