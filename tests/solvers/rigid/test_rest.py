"""Rigid bodies on floors, slopes, walls and each other: closed forms of bouncing, sliding, rolling, resting."""

import moments
import numpy as np
import pytest
import scenes
import shapes
from rigid_scenes import GRAVITY, block, centre, on_slope, run, velocity, world_of
from softpressure_ext.core import FrameInput, ModelBuilder, World
from validation import validated

IMPACT = np.sqrt(2.0 * GRAVITY * 0.498)  # [m/s]; it is stopped at its thickness of 2 mm


@pytest.mark.parametrize("bounciness", [0.0, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize(
    ("room", "rate", "accuracy"),
    [("rigid", 240.0, 0.012), ("rigid", 960.0, 0.007), ("explicit", 240.0, 0.012), ("xpbd", 240.0, 0.012)],
)
def test_a_box_bounces_with_its_share_of_the_speed(room, rate, accuracy, bounciness):
    """Alone, beside a soft ball, whose steps are others, and under XPBD: a fall from 0.5 m, flat.

    The speed at a step's start is short of that at the impact by up to g h / v, 1.3 % or 0.3 %.
    """
    builder = ModelBuilder()
    if room == "explicit":
        scenes.add_ball(builder, scenes.METRE_BALL, 1, (3.0, 0.0, 1.01))
    builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.0, 0.0, 0.6)), bounciness=bounciness)
    builder.add_collider("floor", *shapes.grid(20.0), bounciness=bounciness)
    solver = "XPBD" if room == "xpbd" else "EXPLICIT"
    world, back = World(builder.build(), frame_rate=rate, substeps=2, threads=1, solver=solver), 0.0
    for _ in range(round(0.36 * rate)):
        run(world, 1.0 / rate)
        back = max(back, velocity(world)[2])
    if bounciness == 0.0:  # what comes at less than gravity adds in four steps is let alone, so no more comes back
        accuracy = 4.0 * GRAVITY / rate / IMPACT
    validated(
        "speed after over speed before the impact of a box", room=f"solvers/{room}", measured=back / IMPACT,
        expected=bounciness, abs=accuracy, source="Newton's law of impact",
        reason="the speed at a step's start is short of that at the impact by up to g h / v",
    )  # fmt: skip
    assert world.rigid_positions(0)[:, 2].min() > 0.0
    # it leaves flat: 0.03 rad/s of spin at most
    np.testing.assert_allclose(world.rigid_transform(0)[:3, :3], np.eye(3), rtol=0, atol=5e-3)


def test_a_box_slows_down_by_friction():
    world, down = on_slope(block((0.2, 0.2, 0.2), (0.0, 0.0, 0.1022)), 0.0, 0.3, speed=2.0)
    run(world, 0.1)
    before = velocity(world) @ down
    run(world, 0.4)
    validated(
        "deceleration of a box that slides", room="solvers/rigid", measured=(before - velocity(world) @ down) / 0.4,
        expected=0.3 * GRAVITY, unit="m/s²", rel=0.01, source="μ g", reason="it rocks a little as it is braked",
    )  # fmt: skip
    run(world, 0.5)
    assert abs(velocity(world) @ down) < 1e-3


@pytest.mark.parametrize(("share", "falls"), [(0.8, True), (1.25, False)])
def test_a_rough_tall_box_falls_over_where_its_weight_leaves_its_foot(share, falls):
    """Width over height against the tangent of the slope."""
    width = share * 0.4 * np.tan(np.radians(20.0))
    world, _ = on_slope(block((width, 0.2, 0.4), (0.0, 0.0, 0.2015)), 20.0, 2.0)
    run(world, 1.0)
    up = world.rigid_transform(0)[:3, :3] @ [0.0, 0.0, 1.0]
    assert up[2] < 0.5 if falls else up[2] > 0.999


def test_a_fine_sphere_rolls_down_a_slope():
    """5/7 g sin a. A sphere of facets loses speed at each edge (bounciness 0), in proportion to the angle there.

    That is half as much on facets half as large: twice the finer one less the coarser one is that of a round sphere.
    """
    gained = []
    for subdivisions in (5, 6):
        world, down = on_slope(shapes.icosphere(subdivisions, 0.2, (0.0, 0.0, 0.2025)), 20.0, 0.8)
        run(world, 0.2)
        before = velocity(world) @ down
        run(world, 0.6)
        gained.append((velocity(world) @ down - before) / 0.6)
    speed, spin = world.rigid_velocity(0)
    assert np.linalg.norm(spin) * 0.2 == pytest.approx(speed @ down, rel=0.01)  # it rolls
    round_sphere = 5.0 / 7.0 * GRAVITY * np.sin(np.radians(20.0))
    assert 0.4 < (round_sphere - gained[1]) / (round_sphere - gained[0]) < 0.65
    validated(
        "acceleration of a rigid sphere that rolls, extrapolated", room="solvers/explicit",
        measured=2.0 * gained[1] - gained[0], expected=round_sphere, unit="m/s²", rel=0.005, source="5/7 g sin a",
        reason="facets of 1.5 degrees take some of it at each edge",
    )  # fmt: skip


def test_ten_boxes_stand_for_ten_seconds():
    boxes = [(block((0.2, 0.2, 0.2), (0.0, 0.0, 0.103 + 0.2041 * k)), {}) for k in range(10)]
    world = world_of(*boxes, floor={}, frame_rate=24.0, substeps=10)
    run(world, 10.0)
    centres = np.array([centre(world, k) for k in range(10)])
    validated(
        "height of each of ten stacked boxes after 10 s", room="solvers/rigid", measured=np.diff(centres[:, 2]),
        expected=0.2, unit="m", abs=5e-3, source="edge length", reason="gaps of up to two thicknesses",
    )  # fmt: skip
    assert np.abs(centres[:, :2]).max() < 1e-3
    places = [world.rigid_positions(k) for k in range(10)]
    run(world, 0.5)
    np.testing.assert_array_equal([world.rigid_positions(k) for k in range(10)], places)  # what rests is let alone


# --- moving colliders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounciness", [0.0, 0.5, 1.0])
def test_a_moving_wall_strikes_a_box(bounciness):
    """A box at rest leaves a wall of speed u with (1 + e) u."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.0, 0.0, 0.2)), bounciness=bounciness)
    wall, triangles = shapes.grid(4.0)
    builder.add_collider("wall", wall, triangles, bounciness=bounciness)
    world = World(builder.build(), frame_rate=60.0, substeps=4, threads=1, solver="EXPLICIT")
    run(world, 0.2, lambda frame: FrameInput(collider_positions={0: wall + [0.0, 0.0, 1.0 * (frame + 1) / 60.0]}))
    validated(
        "speed of a box struck by a wall of 1 m/s", room="solvers/rigid", measured=velocity(world)[2],
        expected=1.0 + bounciness, unit="m/s", abs=0.02, source="(1 + e) u",
        reason="the gap is closed within a step, at the speed that this takes",
    )  # fmt: skip


# --- a swing, and soft and rigid bodies together --------------------------------------------------------------------


def rocking(count):
    """A half disc of radius 0.3 m, whose arc has `count` sides, leant by 0.1 on a rough floor.

    Returns its leans [1] and angular velocities [1/s] in 200 frames of 1/60 s, and the period of small swings [s].
    """
    radius, length = 0.3, 0.4
    angle = np.pi * np.arange(count + 1) / count + np.pi  # the lower half
    outline = radius * np.c_[np.cos(angle), np.sin(angle)]
    x, triangles = shapes.prism(outline, length)
    x = x[:, [0, 2, 1]] * (1.0, -1.0, 1.0) + (0.0, 0.5 * length, 0.0)  # it lies along y
    volume, middle, moment = moments.solid_moments(x, triangles)
    depth, gyration = -middle[2], (moment[0, 0] + moment[2, 2]) / volume  # both turn about y
    lean = shapes.rotation((0.0, 1.0, 0.0), 0.1)
    world = world_of(((x @ lean.T + [0.0, 0.0, radius + 2e-3], triangles), {"friction": 1.0}), floor={"friction": 1.0})
    leans, spins = [], []
    for _ in range(200):
        run(world, 1.0 / 60.0)
        turn = world.rigid_transform(0)[:3, :3] @ lean
        leans.append(np.arctan2(turn[0, 2], turn[2, 2]))
        spins.append(world.rigid_velocity(0)[1][1])
    period = 2.0 * np.pi * np.sqrt((gyration + (radius - depth) ** 2) / (GRAVITY * depth))
    return np.array(leans), np.array(spins), period


def test_a_half_disc_rocks_at_the_closed_form():
    """A half cylinder of radius r on a rough floor, rolling by a small angle: w^2 = m g d / (I + m (r - d)^2).

    A half disc is not simple, so it takes explicit steps.
    """
    _, spins, expected = rocking(480)
    k = np.flatnonzero(np.sign(spins[:-1]) != np.sign(spins[1:]))
    crossings = k + spins[k] / (spins[k] - spins[k + 1])
    period = 2.0 * np.mean(np.diff(crossings)) / 60.0
    assert len(k) >= 4
    validated(
        "period of a half disc that rocks", room="solvers/explicit", measured=period,
        expected=expected * (1.0 + 0.1**2 / 16.0), unit="s", rel=0.005,
        source="ω² = m g d / (I + m (r - d)²), amplitude 0.1", reason="the arc has 480 sides",
    )  # fmt: skip


def test_a_half_disc_goes_on_rocking():
    """Sides of 0.4 degrees take 0.2 % of its energy in half a swing, as from a wheel of spokes."""
    leans, spins, _ = rocking(480)
    k = np.flatnonzero(np.sign(spins[:-1]) != np.sign(spins[1:]))
    left, right = np.abs(leans[k[:-2]]), np.abs(leans[k[2:]])  # on the same side, a whole swing later
    assert (right > 0.95 * left).all()


@pytest.mark.parametrize("mass", [1.0, 10.0, 100.0, 1000.0])
def test_a_heavy_plate_presses_a_ball(mass):
    """Kept from tilting by balls in a square: gas law, no crossing, and the weight on the floor."""
    builder = ModelBuilder()
    ball = scenes.Ball(0.2, 1.0, 20e3, 1e5)
    for place in ((-0.4, -0.4), (-0.4, 0.4), (0.4, -0.4), (0.4, 0.4)):
        scenes.add_ball(builder, ball, 2, (*place, 0.203), damping=20.0)
    builder.add_rigid(
        "plate",
        *block((1.4, 1.4, 0.1), (0.0, 0.0, 0.47), cells=8),
        mass=4.0 * mass,
        linear_damping=20.0,
        angular_damping=20.0,
    )
    builder.add_collider("floor", *shapes.grid(4.0))
    world = World(builder.build(), frame_rate=60.0, substeps=4, threads=1, solver="EXPLICIT")
    run(world, 2.0)
    up = world.rigid_transform(0)[2, 2]
    assert up > 0.9999 and abs(velocity(world)[2]) < 0.05
    bottom, volume = world.rigid_positions(0)[:, 2].min(), 4.0 / 3.0 * np.pi * ball.radius**3
    for body in range(4):
        x = world.positions(body)
        assert x[:, 2].min() > 0.0 and x[:, 2].max() < bottom + 1e-3
        gas = (ball.gauge_pressure + scenes.AMBIENT) * world.model.rest_volume[body]
        assert scenes.gas_law_error(world, gas, body) < 1e-12
        found = world.diagnostics().bodies[body]
        assert 0.3 * volume < found.volume < 1.2 * volume
        if mass >= 100.0:
            flat = x[:, 2] > bottom - 0.02
            patch = np.pi * np.max(np.linalg.norm(x[flat, :2] - x[:, :2].mean(axis=0), axis=1)) ** 2
            validated(
                "contact patch times gauge pressure under a plate", room="solvers/explicit",
                measured=found.gauge_pressure * patch, expected=mass * GRAVITY, unit="N", rel=0.2, source="weight m g",
                reason="the patch's radius of 0.1 to 0.2 m is known to half an edge, 1.4 cm",
            )  # fmt: skip
