"""Rigid bodies that follow given transforms, and go on from there."""

import numpy as np
import pytest
import shapes
from rigid_scene import block
from scenes import advance, assert_continues
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World
from validation import validated

RATE = 24.0


def moved(way=(0.0, 0.0, 0.0), angle=0.0, about=(0.0, 0.0, 0.0)):
    """A transform: a turn about an axis along z through a place [m], then a way [m]."""
    matrix, about = np.eye(4), np.asarray(about)
    matrix[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    matrix[:3, 3] = about - matrix[:3, :3] @ about + way
    return matrix


def world_of(others=(), gravity=(0.0, 0.0, 0.0), bounciness=0.0):
    """A plank of 1 kg at the origin, and cubes of 0.4 m beside it."""
    builder = ModelBuilder(gravity=gravity)
    builder.add_rigid("plank", *block((1.0, 0.4, 0.2)), mass=1.0, bounciness=bounciness, friction=0.8)
    for number, centre in enumerate(others):
        builder.add_rigid(f"cube {number}", *block((0.4, 0.4, 0.4), centre), mass=2.0, bounciness=bounciness)
    return World(builder.build(), frame_rate=RATE, threads=1)


def test_it_is_at_the_given_transform_and_pushes_other_bodies():
    world = world_of([(0.9, 0.0, 0.0)])
    for frame in range(1, 13):
        given = moved((frame / RATE, 0.0, 0.0))
        world.advance_frame(FrameInput(held_rigid={0: given}))
        np.testing.assert_allclose(world.rigid_transform(0), given, rtol=0, atol=1e-12)
    speed, _ = world.rigid_velocity(1)
    assert speed[0] == pytest.approx(1.0, abs=0.03)  # without bounciness it is taken along
    ahead = 0.9 + world.rigid_transform(1)[0, 3] - 0.2 - (12 / RATE + 0.5)
    assert -1e-4 < ahead < 0.03  # of its thickness


def test_it_goes_on_with_the_velocity_and_the_spin_of_its_animation():
    world, g, rate = world_of(gravity=(0.0, 0.0, -9.81)), 9.81, 2.0
    for frame in range(1, 7):
        world.advance_frame(FrameInput(held_rigid={0: moved((0.5 * frame / RATE, 0.0, 0.0), rate * frame / RATE)}))
    velocity, spin = world.rigid_velocity(0)
    np.testing.assert_allclose(velocity, [0.5, 0.0, 0.0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(spin, [0.0, 0.0, rate], rtol=0, atol=1e-9)
    state = world.save()
    inertia = 1.0 / 12.0 * (1.0**2 + 0.4**2)
    np.testing.assert_allclose(state.rigid.angular_momentum[0], [0.0, 0.0, inertia * rate], rtol=0, atol=1e-9)
    before = world.rigid_transform(0)[:3, 3]
    advance(world, 6)
    time = 6 / RATE
    way = world.rigid_transform(0)[:3, 3] - before
    validated(
        "way of a rigid body after its animation ends", room="animation", measured=way,
        expected=[0.5 * time, 0.0, -0.5 * g * time**2], unit="m", abs=1e-3, source="v t + g t²/2",
        reason="explicit steps and Newton's residual; else exact for a parabola",
    )  # fmt: skip
    validated(
        "angular velocity of a rigid body after its animation ends", room="animation",
        measured=world.rigid_velocity(0)[1], expected=[0.0, 0.0, rate], unit="1/s", abs=1e-6,
        source="that of its animation", reason="what Newton's method leaves",
    )  # fmt: skip


def test_a_body_on_it_is_carried_and_falls_with_it():
    world = world_of([(0.0, 0.0, 0.31)], gravity=(0.0, 0.0, -9.81))
    for frame in range(1, 25):
        world.advance_frame(FrameInput(held_rigid={0: moved((0.0, 0.0, 0.2 * frame / RATE))}))
    lift = world.rigid_transform(1)[2, 3]
    assert lift == pytest.approx(0.2, abs=0.03)
    advance(world, 6)
    fall, own = world.rigid_transform(1)[2, 3] - lift, world.rigid_transform(0)[2, 3] - 0.2
    assert own == pytest.approx(0.2 * 0.25 - 0.5 * 9.81 * 0.25**2, abs=0.02)
    assert fall == pytest.approx(own, abs=0.02)


def test_what_lies_on_it_falls_asleep():
    """It follows a straight line within ticks, too: gravity, and what would undo it, had shaken what lay on it."""
    builder = ModelBuilder()
    x, triangles = shapes.icosphere(2, 0.2, (1.0, 0.0, 0.302))
    builder.add_membrane("ball", x, triangles, mass=0.2, gauge_pressure=5e3, stretch_modulus=2e4, damping=2.0)
    builder.add_rigid("plank", *block((3.0, 0.4, 0.2)), mass=1.0)
    builder.add_rigid("cube", *block((0.4, 0.4, 0.4), (-1.0, 0.0, 0.301)), mass=2.0)
    world = World(builder.build(), frame_rate=RATE, threads=1)
    advance(world, 48, held_rigid={0: np.eye(4)})
    assert (world.rigid_velocity(1)[0] == 0.0).all() and (world.velocities(0) == 0.0).all()
    assert world.rigid_transform(1)[2, 3] == pytest.approx(0.0, abs=5e-3)


def test_a_ball_that_it_hits_flies_and_leaves_it_on_its_path():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.icosphere(2, 0.3, (0.9, 0.0, 0.0))
    builder.add_membrane("ball", x, triangles, mass=0.2, gauge_pressure=2e3, stretch_modulus=2e4)
    builder.add_rigid("plank", *block((1.0, 0.4, 0.2)), mass=1.0)
    world = World(builder.build(), frame_rate=RATE, threads=1)
    for frame in range(1, 13):
        given = moved((frame / RATE, 0.0, 0.0))
        world.advance_frame(FrameInput(held_rigid={0: given}))
        np.testing.assert_allclose(world.rigid_transform(0), given, rtol=0, atol=1e-12)
    assert (world.positions(0)[:, 0] > 12 / RATE + 0.5 - 1e-3).all()
    assert world.velocities(0)[:, 0].mean() > 0.9


def test_a_continued_run_has_the_same_bits():
    def given(frame):
        held = {0: moved((0.6 * frame / RATE, 0.0, 0.0), 0.5 * frame / RATE)} if frame < 8 else {}
        return FrameInput(held_rigid=held)

    assert_continues(lambda: world_of([(0.8, 0.0, 0.0)]), 12, 4, 8, given=given)


def standing():
    """A plank and a jelly that stand exactly in the plane of the floor, and the jelly's vertices."""
    builder = ModelBuilder()
    x, triangles = shapes.box(0.5, 2, (-2.0, 0.0, 0.25))
    builder.add_solid("jelly", x, triangles, cell_size=0.25, mass=1.0, modulus=5e4, damping=5.0)
    builder.add_rigid("plank", *block((1.0, 0.4, 0.4), (0.0, 0.0, 0.2)), mass=1.0)
    builder.add_collider("floor", *shapes.grid(8.0, 4))
    return builder.build(), x


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_a_body_held_exactly_on_the_floor_stays_there_when_it_is_released(solver):
    model, x = standing()
    world = World(model, frame_rate=RATE, threads=1, solver=solver)
    states = []
    for frame in range(12):
        if frame < 4:
            world.advance_frame(FrameInput(held_rigid={0: np.eye(4)}, held={0: x}))
        else:
            states.append(world.save())
            world.advance_frame()
    assert -1e-4 < world.rigid_transform(0)[2, 3] < 0.01
    assert world.positions(0)[:, 2].min() > -1e-4
    for first in (0, 1):  # in the frame in which they come free, and after it
        other = World(model, frame_rate=RATE, threads=1, solver=solver)
        other.load(states[first])
        advance(other, 8 - first)
        np.testing.assert_array_equal(other.save().positions, world.save().positions)


def test_bad_transforms_are_answered():
    world = world_of()
    for given, sentence in (
        (np.eye(3), r"plank: transform of shape \(3, 3\)"),
        (np.full((4, 4), np.nan), "plank: transform holds NaN"),
        (np.diag([2.0, 1.0, 1.0, 1.0]), "plank: transform is no rotation"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            world.advance_frame(FrameInput(held_rigid={0: given}))
    with pytest.raises(ParameterError, match="rigid body: 3"):
        world.advance_frame(FrameInput(held_rigid={3: np.eye(4)}))


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_sleeping_cube_does_not_hop_when_its_table_begins_to_turn(friction):
    """The table has many faces and carries a heavy jelly, too: its contacts are in the explicit steps."""
    x, triangles = shapes.prism(3.0 * shapes.ring(40), 0.4)
    surface = {"bounciness": 0.85, "friction": friction}
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_rigid("table", x - [0.0, 0.0, 0.4], triangles, mass=1.0, thickness=0.005, **surface)
    builder.add_solid("jelly", *block((0.8, 0.8, 0.8), (-1.5, 0.0, 0.412)), cell_size=0.2, mass=100.0, modulus=2e4)
    cube = builder.add_rigid("cube", *block((0.8, 0.8, 0.8), (0.0, 1.5, 0.4095)), mass=1.0, **surface)
    world = World(builder.build(), frame_rate=RATE)
    for _ in range(47):
        world.advance_frame(FrameInput(held_rigid={0: moved()}))
    lies = world.rigid_positions(cube)[:, 2].min()
    assert not world.rigid_velocity(1)[0].any()  # it sleeps
    for frame in range(1, 9):
        world.advance_frame(FrameInput(held_rigid={0: moved(angle=2.0 * frame / RATE)}))
        assert world.rigid_positions(cube)[:, 2].min() == pytest.approx(lies, abs=1e-3)
