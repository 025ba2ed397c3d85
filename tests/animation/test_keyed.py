"""Animated values, gravity, attachments, and held bodies."""

import numpy as np
import pytest
import scenes
import shapes
from rigid_scene import block
from softpressure_ext.core import FrameInput, ModelBuilder, SoftPressureError, World
from softpressure_ext.core.animation.keyed import Keyed, changed
from softpressure_ext.core.animation.segments import with_values
from validation import validated

RATE = 24.0
SOFT_BALL = scenes.Ball(0.5, 0.5, 2e4, 5e4)


def world_of(builder, solver="EXPLICIT", threads=1):
    return World(builder.build(), frame_rate=RATE, substeps=10, threads=threads, solver=solver)


def ball_builder(gravity=(0.0, 0.0, 0.0), **options):
    builder = ModelBuilder(gravity=gravity)
    scenes.add_ball(builder, SOFT_BALL, 2, **options)
    return builder


def mixed(scale=1.0, bend=0.02):
    """A bit of everything, with numbers that are `scale` times as large where they can be keyed."""
    builder = ModelBuilder()
    x, triangles = shapes.icosphere(2, 0.4, (0.0, 0.0, 0.6))
    builder.add_membrane(
        "skin", x, triangles, gauge_pressure=1e3, stretch_modulus=1e4 * scale, bend_modulus=bend * scale,
        damping=scale, friction=0.3 * scale, bounciness=0.4 * scale, self_collision=True,
    )  # fmt: skip
    builder.add_loop(
        "loop", [(2, 0, 0.2), (3, 0, 0.2), (3, 0, 1.2), (2, 0, 1.2)], gauge_pressure=100.0,
        stretch_modulus=1e4 * scale, bend_modulus=bend * scale,
    )  # fmt: skip
    cube, faces = shapes.box(0.5, 2, (-1.0, 0.0, 0.5))
    builder.add_solid("jelly", cube, faces, cell_size=0.25, modulus=2e4 * scale, damping=scale)
    builder.add_rigid(
        "rigid", *block((0.3, 0.3, 0.3), (0.0, 0.1, 1.3)), linear_damping=0.1 * scale, angular_damping=0.2 * scale
    )
    builder.add_collider("floor", *shapes.grid(8.0), friction=0.4 * scale)
    builder.attach_to_rigid(0, np.flatnonzero(x[:, 2] > 0.95), 0)
    return builder


def keyed_mixed(scale, bend=0.02):
    """What turns one into the other."""
    soft = {"damping": scale, "friction": 0.3 * scale, "bounciness": 0.4 * scale}
    skin = {"stretch_modulus": 1e4 * scale, "bend_modulus": bend * scale}
    return {
        0: {**skin, **soft},
        1: skin,
        2: {"modulus": 2e4 * scale, "damping": scale},
        3: {"linear_damping": 0.1 * scale, "angular_damping": 0.2 * scale},
        4: {"friction": 0.4 * scale},
    }


@pytest.mark.parametrize("start, end", [(0.02, 0.02), (0.0, 0.05), (0.03, 0.0)])
def test_a_model_with_other_values_is_the_model_that_is_built_with_them(start, end):
    """Also where a body begins to resist bending."""
    model = mixed(1.0, start).build()
    values = keyed_mixed(2.0, end)
    keyed = changed(model, Keyed.at_start(model), values, {}, (), (), None)
    found, built = with_values(model, model, keyed), mixed(2.0, end).build()
    for name in ("edges", "hinges", "tetrahedra", "attachments", "rigid"):
        for key, a, b in zip(getattr(built, name)._fields, getattr(found, name), getattr(built, name), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-300, err_msg=f"{name}.{key}")
    for name in ("damping", "friction", "bounciness"):
        np.testing.assert_array_equal(getattr(found, name), getattr(built, name))


def test_a_skin_with_another_stretch_modulus_takes_the_volume_of_the_closed_form():
    world = world_of(ball_builder(damping=30.0))
    scenes.advance(world, 12)
    assert world.diagnostics().bodies[0].volume_ratio == pytest.approx(SOFT_BALL.volume_ratio, rel=0.005)
    steps = world.diagnostics().counts.stages
    world.advance_frame(FrameInput(values={0: {"stretch_modulus": 2.0 * SOFT_BALL.stretch_modulus}}))
    scenes.advance(world, 11)
    stiff = SOFT_BALL.like(stretch_modulus=2.0 * SOFT_BALL.stretch_modulus)
    assert SOFT_BALL.volume_ratio - stiff.volume_ratio > 0.03
    validated(
        "V / V0 after a keyed stretch modulus", room="animation",
        measured=world.diagnostics().bodies[0].volume_ratio, expected=stiff.volume_ratio, rel=0.005,
        source="(1 + ε)³ with p r (1 + ε)² / 2 = 1.5 Y ε", reason="facets of 162 vertices",
    )  # fmt: skip
    # by the root of the stiffness, but for what the gas adds to it
    assert 1.2 < (world.diagnostics().counts.stages - steps) / steps < 1.5


def test_a_hanging_jelly_swings_as_its_modulus_says():
    """Keyed from the first frame it moves as one that is made so; a soft one as slowly as the root of the modulus."""

    def lowest(modulus, keyed, frames):
        builder = ModelBuilder(gravity=(0.0, 0.0, -1.0))  # little, so that it is linear
        x, triangles = shapes.box(0.5, 2)
        top = np.flatnonzero(x[:, 2] > 0.249)
        builder.add_solid("jelly", x, triangles, cell_size=0.25, mass=5.0, modulus=modulus, pinned=top)
        world = world_of(builder)
        played = scenes.played(world, frames, values={0: {"modulus": keyed}})
        return np.array([(x - world.positions(0))[:, 2].max() for _ in played])

    keyed, built = lowest(1e3, 4e3, 6), lowest(4e3, 4e3, 6)
    np.testing.assert_allclose(keyed, built, rtol=0, atol=0.02 * built.max())
    # a quarter of the modulus: twice the time, four times as far
    slow = lowest(4e3, 1e3, 12)
    np.testing.assert_allclose(slow[1::2], 4.0 * built, rtol=0, atol=0.15 * slow.max())


def test_damping_that_is_switched_on_ends_a_vibration():
    world = world_of(ball_builder())
    scenes.inflate(world, SOFT_BALL)
    x = world.positions(0)
    world.set_positions(0, x * [1.1, 0.95, 0.95])
    energies = []
    for frame in range(20):
        world.advance_frame(FrameInput(values={0: {"damping": 40.0 if frame >= 8 else 0.0}}))
        energies.append(world.diagnostics().bodies[0].kinetic_energy)
    assert max(energies[14:]) < 0.01 * max(energies[4:8])


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_a_rigid_body_is_braked_in_the_frames_that_say_so(solver):
    builder = ModelBuilder(gravity=(0, 0, 0))
    builder.add_rigid("box", *block((0.2, 0.2, 0.2)), velocity=(1, 0, 0), angular_velocity=(0, 0, 2))
    scenes.add_ball(builder, SOFT_BALL, 2, (5, 0, 0))
    world = world_of(builder, solver)
    for frame in range(9):
        on = 3.0 if 3 <= frame < 6 else 0.0
        world.advance_frame(FrameInput(values={1: {"linear_damping": on, "angular_damping": 2.0 * on}}))
    velocity, spin = world.rigid_velocity(0)
    validated(
        "velocity of a rigid body with a keyed damping", room="animation", measured=velocity[0],
        expected=np.exp(-3.0 * 3.0 / RATE), unit="m/s", rel=1e-6, source="v0 exp(-d t)",
        reason="what Newton's method leaves",
    )  # fmt: skip
    validated(
        "angular velocity of a rigid body with a keyed damping", room="animation", measured=spin[2],
        expected=2.0 * np.exp(-6.0 * 3.0 / RATE), unit="1/s", rel=1e-6, source="ω0 exp(-d t)",
        reason="what Newton's method leaves",
    )  # fmt: skip


def test_a_box_slides_from_when_its_friction_is_0():
    slope = np.radians(20.0)
    pull = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    builder = ModelBuilder(gravity=pull)
    builder.add_rigid("box", *block((0.4, 0.4, 0.2), (0.0, 0.0, 0.101)), friction=0.9)
    builder.add_collider("floor", *shapes.grid(20.0), friction=0.9)
    world = world_of(builder)
    scenes.advance(world, 24)
    before = world.rigid_transform(0)[0, 3]
    assert abs(before) < 0.005
    scenes.advance(world, 12, values={0: {"friction": 0.0}})
    validated(
        "way of a box on a slope from when its friction is keyed to 0", room="animation",
        measured=world.rigid_transform(0)[0, 3] - before, expected=0.5 * pull[0] * 0.5**2, unit="m", rel=0.03,
        source="g sin a t²/2", reason="held contacts are loaded as it begins to slide",
    )  # fmt: skip


def test_gravity_can_be_turned():
    world = world_of(ball_builder(damping=5.0))
    scenes.advance(world, 6, gravity=(0.0, 0.0, -9.81))
    scenes.advance(world, 6, gravity=(4.0, 0.0, 0.0))
    seconds = 6.0 / RATE
    validated(
        "velocity of a ball whose gravity is keyed", room="animation",
        measured=scenes.momentum(world) / SOFT_BALL.mass, expected=[4.0 * seconds, 0, -9.81 * seconds], unit="m/s",
        abs=1e-6, source="sum of g t", reason="rounding; explicit steps add up to 1 % of mass to stiff vertices",
    )  # fmt: skip


def momentum_of_all(world):
    """[kg m/s]."""
    return scenes.momentum(world) + world.model.rigid.mass @ world.save().rigid.velocity


def glued(rigid):
    """Two bodies at rest without gravity, the right one pulled away to the right."""
    builder = ModelBuilder(gravity=(0, 0, 0))
    x, triangles = shapes.icosphere(2, 0.5)
    options = {"gauge_pressure": 2e3 if rigid else 200.0, "stretch_modulus": 2e4, "damping": 1.0}
    place, velocity = (1.05, (1.0, 0.5, 0.0)) if rigid else (1.05, (0.2, 0.1, 0.0))
    builder.add_membrane("a", x + [place, 0, 0], triangles, mass=0.4, velocity=velocity, **options)
    near = np.flatnonzero(x[:, 0] < -0.45)
    if rigid:
        builder.add_rigid("b", *block((0.9, 0.9, 0.9)), mass=0.8)
        builder.attach_to_rigid(0, near, 0)
    else:
        builder.add_membrane("b", x, triangles, mass=0.8, **options)
        builder.attach_to_membrane(0, near, 1)
    return world_of(builder), near


@pytest.mark.parametrize("rigid", [True, False], ids=["rigid", "soft"])
def test_a_detached_body_flies_and_is_attached_where_it_is_later(rigid):
    world, near = glued(rigid)
    total = momentum_of_all(world)

    def distance():
        """From the other body to the glued points [m]."""
        other = world.rigid_transform(0)[:3, 3] if rigid else world.positions(1).mean(axis=0)
        return float(np.linalg.norm(world.positions(0)[near].mean(axis=0) - other))

    def fly(frames, attached):
        """Largest speed of a point [m/s], and the momentum of the first body after each frame [kg m/s]."""
        speed, found, start = 0.0, [], world.model.body_point_start
        for _ in scenes.played(world, frames, attached={0: attached}):
            v, mass = world.save().velocities[: start[1]], scenes.moved_mass(world)[: start[1]]
            speed = max(speed, float(np.linalg.norm(v, axis=1).max()))
            found.append(mass @ v)
        return speed, np.array(found)

    frames = 6 if rigid else 1  # to a soft body only what is near is glued
    start = distance()
    _, free = fly(frames, False)
    np.testing.assert_allclose(free, [[0.4, 0.2, 0.0] if rigid else [0.08, 0.04, 0.0]] * frames, rtol=0, atol=1e-9)
    apart = distance()
    assert apart > start + 0.005
    speed, pulled = fly(8, True)
    assert speed < 2.0  # of 1.1 m/s: nothing snaps back
    assert distance() == pytest.approx(apart, abs=0.06)
    assert np.abs(pulled - free[0]).max() > 0.02
    _, free = fly(4, False)
    np.testing.assert_allclose(free, [free[0]] * 4, rtol=0, atol=1e-9)
    np.testing.assert_allclose(momentum_of_all(world), total, rtol=0, atol=1e-9)


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
@pytest.mark.parametrize("kind", ["skin", "jelly"])
def test_a_body_is_held_and_goes_on_from_there_with_the_velocity_of_its_animation(solver, kind):
    builder = ModelBuilder()
    if kind == "skin":
        x, triangles = shapes.icosphere(2, 0.5)
        builder.add_membrane("body", x, triangles, mass=0.5, gauge_pressure=2e3, stretch_modulus=5e4, damping=5.0)
    else:
        x, triangles = shapes.box(0.5, 2)
        builder.add_solid("body", x, triangles, cell_size=0.25, mass=0.5, modulus=5e4, damping=5.0)
    world = world_of(builder, solver)
    for frame in range(1, 7):
        place = x + [frame / RATE, 0.0, 0.0]  # at 1 m/s
        world.advance_frame(FrameInput(held={0: place}))
        np.testing.assert_allclose(world.positions(0), place, rtol=0, atol=1e-9)
    start = world.positions(0).mean(axis=0)
    scenes.advance(world, 6)
    seconds = 6.0 / RATE
    moved = world.positions(0).mean(axis=0) - start
    # XPBD's steps fall by g h more than the parabola
    np.testing.assert_allclose(moved, [seconds, 0.0, -0.5 * 9.81 * seconds**2], rtol=0, atol=0.012)


def test_others_rest_on_a_body_that_is_held():
    builder = ModelBuilder()
    x, triangles = shapes.box(1.0, 2)
    builder.add_membrane("table", x, triangles, mass=0.1, gauge_pressure=500.0, stretch_modulus=1e4)
    ball, faces = shapes.icosphere(2, 0.2, (0.0, 0.0, 0.75))
    builder.add_membrane("ball", ball, faces, mass=2.0, gauge_pressure=5e3, stretch_modulus=2e4, damping=5.0)
    world = world_of(builder)
    scenes.advance(world, 24, held={0: x})
    np.testing.assert_array_equal(world.positions(0), x)
    assert 0.55 < world.positions(1)[:, 2].mean() < 0.75


def eventful(frame, x):
    """Input in which everything changes now and then."""
    scale = 1.0 + 0.2 * np.sin(frame)
    values = keyed_mixed(scale, 0.02 if frame < 9 else 0.0) if frame >= 2 else {}
    held = {0: x + [0.0, 0.0, 0.02 * frame]} if 4 <= frame < 6 else {}
    return FrameInput(
        values=values, held=held, attached={0: not 5 <= frame < 8}, gravity=(0.0, 0.1 * frame, -9.81),
        pinned_positions={},
    )  # fmt: skip


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_a_run_that_is_continued_has_the_bits_of_one_that_was_not_interrupted(solver):
    """In the middle of a frame's change, before and after each of them; and all of it with two threads."""
    x = shapes.icosphere(2, 0.4, (0.0, 0.0, 0.6))[0]
    scenes.assert_continues(
        lambda: world_of(mixed(), solver), 11, 0, 3, 5, 6, 8, 10, given=lambda frame: eventful(frame, x),
        fresh=lambda: world_of(mixed(), solver, threads=2),
    )  # fmt: skip


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"values": {9: {"friction": 1.0}}}, "body: 9; the model has 5, counted from 0."),
        ({"values": {0: {"modulus": 1.0}}}, "skin: modulus; what can change there is stretch_modulus, bend_modulus"),
        ({"values": {0: {"stretch_modulus": 0.0}}}, "skin: stretch modulus 0 N/m; give a number above 0"),
        ({"values": {2: {"modulus": -1.0}}}, "jelly: Young's modulus -1 Pa"),
        ({"values": {4: {"bounciness": 2.0}}}, "floor: bounciness 2"),
        ({"attached": {3: True}}, "membrane: 3; the model has 3"),
        ({"held": {0: np.zeros((3, 3))}}, "skin: positions of shape (3, 3); give (162, 3)."),
        ({"gravity": (0, 0)}, "scene: gravity (0, 0); give three finite numbers"),
        ({"values": {0: {"stretch_modulus": 1e15}}}, "would need"),
        ({"pinned_positions": {0: np.zeros((3, 3))}}, "skin: pinned positions of shape (3, 3); give (0, 3)."),
        ({"collider_positions": {0: np.zeros((5, 3))}}, "floor: positions of shape (5, 3); give (4, 3)."),
        ({"collider_positions": {1: np.zeros((4, 3))}}, "collider: 1; the model has 1, counted from 0."),
        ({"collider_positions": {0: np.full((4, 3), np.nan)}}, "floor: positions hold NaN or infinity. Check"),
        ({"gauge_pressure": {0: -2e5}}, "skin: gauge pressure -200000 Pa; give a number of at least -101325."),
        ({"gauge_pressure": {0: np.nan}}, "skin: gauge pressure nan Pa"),
        ({"gauge_pressure": {7: 0.0}}, "membrane: 7; the model has 3, counted from 0."),
    ],
)  # fmt: skip
def test_impossible_values_are_refused(given, sentence):
    world = world_of(mixed())
    before = world.positions(0)
    with pytest.raises(SoftPressureError) as told:
        world.advance_frame(FrameInput(**given))
    assert sentence in str(told.value)
    np.testing.assert_array_equal(world.positions(0), before)
    world.advance_frame()  # and the frame before goes on
