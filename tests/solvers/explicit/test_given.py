"""Given motion under explicit steps: pins, pressures and colliders that move."""

import numpy as np
import pytest
import rigid_scenes
import shapes
from explicit_scene import FRAME_RATE, run, world_of
from rigid_scene import block
from scenes import AMBIENT, BASKETBALL, BEACH_BALL, LIVELY, add_ball, centre, gas_law_error, lowest, velocity
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.animation.segments import given_points
from softpressure_ext.core.frame_reading import read_motion
from validation import validated


def test_a_ball_is_carried_by_its_pins() -> None:
    """Held at both poles, at 2 m/s from rest within a frame: pins are where they are told, and the rest sways after."""
    builder = ModelBuilder()
    x, _ = shapes.icosphere(3, BEACH_BALL.radius)
    pinned = np.flatnonzero(np.abs(x[:, 2]) > 0.17)[::-1]  # their order does not matter
    add_ball(builder, BEACH_BALL, pinned=pinned, self_collision=True, damping=20.0)
    world = world_of(builder)
    gas, handle = float(world.save().gas[0]), x[np.sort(pinned)]
    way = np.array([1.0, 0.0, 0.0])
    for frame in range(1, 37):
        told = handle + 2.0 / FRAME_RATE * frame * way
        run(world, 1, lambda _, told=told: FrameInput(pinned_positions={0: told}))
        np.testing.assert_array_equal(world.positions(0)[np.sort(pinned)], told)
        assert gas_law_error(world, gas) < 1e-12  # rounding
        assert np.linalg.norm(centre(world) - told.mean(axis=0)) < BEACH_BALL.radius
    assert velocity(world)[0] == pytest.approx(2.0, rel=0.02)  # its damping of 20 /s has had 1.5 s
    run(world, 24)  # nothing given: they stay
    np.testing.assert_array_equal(world.positions(0)[np.sort(pinned)], told)
    assert np.linalg.norm(velocity(world)) < 0.1


def test_pins_that_turn_turn_the_ball() -> None:
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, _ = shapes.icosphere(3, BEACH_BALL.radius)
    pinned = np.flatnonzero(np.abs(x[:, 2]) > 0.17)  # both poles
    add_ball(builder, BEACH_BALL, pinned=pinned, damping=20.0)
    world = world_of(builder)
    for frame in range(1, 49):
        turn = shapes.rotation((0.0, 0.0, 1.0), 2.0 * np.pi * 0.5 * (frame / FRAME_RATE))  # half a turn per second
        told = x[pinned] @ turn.T
        world.advance_frame(FrameInput(pinned_positions={0: told}))
        np.testing.assert_array_equal(world.positions(0)[pinned], told)
    speed = np.cross((0.0, 0.0, np.pi), world.positions(0))
    # what follows 30 degrees behind in the first frames has caught up with the pins
    assert np.abs(world.velocities(0) - speed).max() < 0.05 * np.pi * BEACH_BALL.radius


@pytest.mark.parametrize("end", [2e3, 110e3])
def test_the_gauge_follows_a_keyed_pressure(end: float) -> None:
    """From 55 kPa within half a second; the gas law holds on every frame, and the volume is that of the closed form."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, BASKETBALL, damping=30.0)
    world = world_of(builder)
    volume = world.diagnostics().bodies[0].volume
    for frame in range(1, 37):
        share = min(frame / 12.0, 1.0)
        gauge = (1.0 - share) * BASKETBALL.gauge_pressure + share * end
        world.advance_frame(FrameInput(gauge_pressure={0: gauge}))
        assert gas_law_error(world, (gauge + AMBIENT) * volume) < 1e-12  # rounding
    wanted = BASKETBALL.like(gauge_pressure=end).volume_ratio
    found = world.diagnostics().bodies[0]
    validated(
        "V / V0 after a keyed pressure", room="solvers/explicit", measured=found.volume_ratio, expected=wanted,
        rel=0.005, source="(1 + ε)³ with p r (1 + ε)² / 2 = 1.5 Y ε", reason="the closed form has no facets: 0.001",
    )  # fmt: skip
    validated(
        "gauge pressure after a keyed pressure", room="solvers/explicit", measured=found.gauge_pressure, unit="Pa",
        expected=(end + AMBIENT) / wanted - AMBIENT, rel=0.02, abs=50.0, source="(p + pa) / (1 + ε)³ - pa",
        reason="0.1 % of the volume are 0.1 % of p + pa, more of p",
    )  # fmt: skip


def test_a_plate_that_rises_lifts_a_ball() -> None:
    """At 1.2 m/s from rest, which throws it up; then at rest again, where it lies on the plate."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, centre=(0.0, 0.0, BEACH_BALL.radius + 0.002), self_collision=True, **LIVELY)
    plate, triangles = block((3.0, 3.0, 0.2), (0.0, 0.0, -0.1))
    builder.add_collider("lift", plate, triangles)
    world = world_of(builder)

    def lifted(frame: int) -> FrameInput:
        return FrameInput(collider_positions={0: plate + [0.0, 0.0, 0.05 * min(world.frame + 1, 24)]})

    for _ in range(24):
        run(world, 1, lifted)
        assert lowest(world) > 0.05 * world.frame
    run(world, 60, lifted)
    assert 1.2 < lowest(world) < 1.21
    assert np.linalg.norm(velocity(world)) < 0.05


def slid(time: float) -> float:
    """Way of the plate [m]: at rest for half a second, then 1 m/s^2 for half a second, then 0.5 m/s."""
    since = max(time - 0.5, 0.0)
    return 0.5 * since**2 if since < 0.5 else 0.125 + 0.5 * (since - 0.5)


@pytest.mark.parametrize(
    ("kind", "room", "way", "speed", "reason"),
    [
        ("ring", "explicit", 5e-3, 5e-3, "a ring hops, swells, is sheared by a few millimetres, and still sways"),
        ("box", "rigid", 2e-3, 1e-3, "contact starts after a fall; sweeps end at a remainder"),
    ],
)
def test_a_plate_carries_bodies_along(kind: str, room: str, way: float, speed: float, reason: str) -> None:
    """Friction could hold five times as much; a ring cannot roll."""
    builder = ModelBuilder()
    if kind == "box":
        builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.0, 0.0, 0.1015)))
    else:
        builder.add_membrane(
            "ring", *shapes.torus(0.2, 0.08, 24, 12, (0.0, 0.0, 0.081)), mass=0.5, gauge_pressure=1e4, damping=20.0,
            stretch_modulus=2e4, bounciness=0.5, thickness=2e-3,
        )  # fmt: skip
    plate, triangles = shapes.grid(6.0, 3)
    builder.add_collider("plate", plate, triangles, bounciness=0.5)
    world = world_of(builder)

    def moved(_: int) -> FrameInput:
        return FrameInput(collider_positions={0: plate + [slid((world.frame + 1) / FRAME_RATE), 0.0, 0.0]})

    run(world, 12, moved)
    start = _place(world)
    run(world, 48, moved)
    validated(
        "way of a body carried by a plate", room=f"solvers/{room}", measured=_place(world)[0] - start[0],
        expected=slid(world.frame / FRAME_RATE), unit="m", abs=way, source="way of the plate", reason=reason,
    )  # fmt: skip
    assert abs(_place(world)[1] - start[1]) < way
    found = rigid_scenes.velocity(world) if kind == "box" else velocity(world)
    validated(
        "speed of a body carried by a plate", room=f"solvers/{room}", measured=found[0], expected=0.5, unit="m/s",
        abs=speed, source="speed of the plate", reason=reason,
    )  # fmt: skip


def _place(world: World) -> np.ndarray:
    return rigid_scenes.centre(world) if world.model.rigid_count else centre(world)


@pytest.mark.parametrize("aside", [-0.02, 0.0, 0.02])
def test_nothing_crosses_a_ridge_that_rises_from_a_flat_collider(aside: float) -> None:
    """A floor that is flat at the start becomes a roof under a heavy ball: only edges hold the ball's edges there."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL.like(mass=2.0), 3, (0.0, aside, BEACH_BALL.radius + 0.01))
    x, triangles = shapes.grid(2.0, 2)
    builder.add_collider("floor", x, triangles, deforms=True)

    def folded(frame: int) -> FrameInput:
        height = (0.3 - np.abs(x[:, 0])) * min(frame / 8.0, 1.0)
        return FrameInput(collider_positions={0: np.column_stack([x[:, :2], height])})

    run(world_of(builder), 16, folded)


def test_a_collider_that_stops_is_given_a_speed_of_nothing_and_then_left_alone() -> None:
    """What rests is none of the points that are placed in each tick: a landscape may have a million."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 1.0))
    x, triangles = shapes.grid(2.0, 2)
    builder.add_collider("floor", x, triangles)
    builder.add_collider("ceiling", x + (0.0, 0.0, 5.0), triangles)
    world = world_of(builder)
    places, model = [x + (0.1, 0.0, 5.0), x + (0.1, 0.0, 5.0)], world.model
    ceiling = slice(*model.body_point_start[2:4])
    for place, speed in zip(places, (0.1 * FRAME_RATE, 0.0), strict=True):
        moved = FrameInput(collider_positions={1: place})
        motion = read_motion(model, moved, given_points(model), world.save(), 1.0 / FRAME_RATE)
        np.testing.assert_array_equal(motion.points, np.arange(ceiling.start, ceiling.stop))
        world.advance_frame(moved)
        np.testing.assert_allclose(
            world.save().velocities[ceiling], np.tile((speed, 0.0, 0.0), (len(x), 1)), atol=1e-12
        )
    assert not len(read_motion(model, FrameInput(), given_points(model), world.save(), 1.0 / FRAME_RATE).points)
    world.advance_frame()
    np.testing.assert_array_equal(world.save().positions[ceiling], places[-1])
