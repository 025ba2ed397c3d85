"""Pulls: springs and forces on handles, against closed forms and the balance of momentum."""

import math

import numpy as np
import pytest
import shapes
from softpressure_ext.core import FrameInput, MethodOptions, ModelBuilder, ParameterError, Pull, World
from validation import validated

RATE = 30.0
SOLVERS = ("EXPLICIT", "XPBD")


def three_bodies(solver="EXPLICIT", gravity=(0.0, 0.0, 0.0)):
    """A ball of gas, a jelly and a box, far from each other."""
    made = ModelBuilder(gravity=gravity)
    made.add_membrane(
        "ball", *shapes.icosphere(2, 0.3), mass=1.5, gauge_pressure=2e3, stretch_modulus=2e4, pressure_at="REST",
        drawn_shape="INFLATED",
    )  # fmt: skip
    made.add_solid("jelly", *shapes.icosphere(2, 0.3, (2.0, 0.0, 0.0)), cell_size=0.12, mass=1.0, modulus=2e4)
    made.add_rigid("box", *shapes.box(0.3, 1, (4.0, 0.0, 0.0)), mass=2.0)
    options = MethodOptions(added_mass=0.0)
    return World(made.build(), frame_rate=RATE, substeps=10, threads=1, solver=solver, options=options)


def momenta(world):
    """Momentum of each body [N s], shape (3, 3)."""
    model, state = world.model, world.save()
    parts = [slice(*model.body_point_start[body : body + 2]) for body in range(model.membrane_count)]
    soft = [model.vertex_mass[part] @ state.velocities[part] for part in parts]
    return np.array([*soft, *(model.rigid.mass[:, None] * state.rigid.velocity)])


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_impulse_of_a_pull_is_the_change_of_momentum(solver):
    world = three_bodies(solver)
    handles = [world.handle(body, (x, 0.0, 0.3 if body < 2 else 0.15)) for body, x in enumerate((0.0, 2.0, 4.0))]
    places, given = [world.handle_place(handle) for handle in handles], np.zeros((3, 3))
    for _ in range(20):
        ends = [place + (0.02, 0.01, 0.03) for place in places]
        pulls = [
            Pull(handle, place, end, stiffness=600.0, damping=40.0)
            for handle, place, end in zip(handles, places, ends, strict=True)
        ]
        world.advance_frame(FrameInput(pulls=tuple(pulls)))
        places, given = ends, given + world.pull_impulses
    assert np.abs(given).max() > 0.5
    validated(
        "momentum that pulls give to three bodies", room="impulses", measured=momenta(world), expected=given,
        unit="N s", abs=1e-9, source="sum of the impulses", reason="rounding",
    )  # fmt: skip
    moved = [world.handle_place(handle) - place for handle, place in zip(handles, places, strict=True)]
    assert np.abs(moved).max() < 0.1  # they follow over 0.7 m


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_force_accelerates_the_whole_body(solver):
    world = three_bodies(solver)
    handle = world.handle(0, (0.0, 0.0, 0.3))
    for _ in range(15):
        world.advance_frame(FrameInput(pulls=(Pull(handle, force=np.array([0.0, 0.0, 0.6])),)))
    validated(
        "speed of a body that is pushed at a patch", room="impulses", measured=momenta(world)[0, 2] / 1.5,
        expected=0.6 * 0.5 / 1.5, unit="m/s", rel=1e-9, source="F t / m", reason="rounding",
    )  # fmt: skip


def test_a_rigid_body_on_a_critically_damped_spring_approaches_as_it_should():
    made = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    made.add_rigid("ball", *shapes.icosphere(2, 0.2), mass=2.0)
    world = World(made.build(), frame_rate=RATE, substeps=16, threads=1)
    handle, rate, target = world.handle(0, (0.0, 0.0, 0.0)), 10.0, np.array([0.3, 0.0, 0.0])
    spring = Pull(handle, target, target, stiffness=2.0 * rate**2, damping=2.0 * 2.0 * rate)
    found = []
    for _ in range(15):
        world.advance_frame(FrameInput(pulls=(spring,)))
        found.append(world.handle_place(handle)[0])
    time = np.arange(1, 16) / RATE
    validated(
        "place of a body on a critically damped spring", room="impulses", measured=found,
        expected=0.3 * (1.0 - (1.0 + rate * time) * np.exp(-rate * time)), unit="m", abs=0.002,
        source="d (1 - (1 + ω t) exp(-ω t))", reason="second order in ticks of 1/480 s",
    )  # fmt: skip


def test_a_pull_beside_the_centre_turns_a_rigid_body():
    world = three_bodies()
    arm, force = np.array([0.0, 0.15, 0.0]), np.array([0.6, 0.0, 0.0])
    world.advance_frame(FrameInput(pulls=(Pull(world.handle(2, (4.0, 0.15, 0.0)), force=force),)))
    expected = np.cross(arm, force) / RATE
    np.testing.assert_allclose(world.save().rigid.angular_momentum[0], expected, atol=1e-3 * np.abs(expected).max())


def test_a_body_hangs_on_its_spring():
    world = three_bodies(gravity=(0.0, 0.0, -9.81))
    handle, rate = world.handle(0, (0.0, 0.0, 0.3)), 2.0 * math.pi * 4.0
    place = world.handle_place(handle)
    spring = Pull(handle, place, place, stiffness=1.5 * rate**2, damping=3.0 * rate)
    found = []
    for _ in range(90):
        world.advance_frame(FrameInput(pulls=(spring,)))
        found.append(world.handle_place(handle)[2])
    validated(
        "how much lower a body hangs on a spring", room="impulses", measured=place[2] - np.mean(found[-30:]),
        expected=9.81 / rate**2, unit="m", rel=0.1, source="g / ω²", reason="it still swings",
    )  # fmt: skip


def test_a_rigid_body_hangs_tightly_on_a_stiff_pull():
    """Pulls on rigid bodies take the shortest ticks: longer ones bear softer springs only."""
    made = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    made.add_rigid("ball", *shapes.icosphere(2, 0.2), mass=2.0)
    world = World(made.build(), frame_rate=RATE, substeps=16, threads=1)
    handle, place, rate = world.handle(0, (0.0, 0.0, 0.0)), np.zeros(3), 150.0
    spring = Pull(handle, place, place, stiffness=2.0 * rate**2, damping=2.0 * rate)
    for _ in range(30):
        world.advance_frame(FrameInput(pulls=(spring,)))
    assert -world.handle_place(handle)[2] == pytest.approx(9.81 / rate**2, rel=0.05)


def test_bad_pulls_are_refused_with_a_sentence():
    world = three_bodies()
    handle = world.handle(0, (0.0, 0.0, 0.3))
    with pytest.raises(ParameterError, match=r"pull: stiffness -1 N/m.*give finite numbers"):
        Pull(handle, stiffness=-1.0)
    with pytest.raises(ParameterError, match=r"pull: .*give finite numbers"):
        Pull(handle, end=np.array([0.0, np.nan, 0.0]))
    with pytest.raises(ParameterError, match="body: 3; the model has 3 that move"):
        world.handle(3, (0.0, 0.0, 0.0))
    made = ModelBuilder()
    made.add_rigid("box", *shapes.box(0.3, 1), mass=2.0)
    with pytest.raises(ParameterError, match="its handle belongs to another model"):
        World(made.build()).advance_frame(FrameInput(pulls=(Pull(handle),)))
