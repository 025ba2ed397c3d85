"""Pairs of bodies that ignore each other: they pass through each other, and touch all others."""

import numpy as np
import pytest
import shapes
from rigid_scene import block
from scenes import GRAVITY, Ball, add_ball, advance, centre, played, velocity
from softpressure_ext.core import MethodOptions, ModelBuilder, ParameterError, World
from softpressure_ext.core.contact.untangle.at_start import starts_crossed
from softpressure_ext.core.solvers.explicit.solver import ExplicitSolver
from softpressure_ext.core.solvers.rigid.solver import RigidSolver

SOFT = Ball(0.3, 0.3, 2e3, 5e3)
#: Methods, with substeps at 60 frames per second that suffice for that ball.
METHODS = {"EXPLICIT": 4, "XPBD": 10, "RK4": 40}
PARTICLES = MethodOptions(detection="FEATURE_PARTICLES")


def ignoring(count, *pairs):
    found = np.zeros((count, count), bool)
    for pair in pairs:
        found[pair] = True
    return found


def world_of(builder, ignores, solver="EXPLICIT", substeps=None, **options):
    model = builder.build(ignores=ignores)
    substeps = substeps or METHODS[solver]
    return World(model, frame_rate=60.0, substeps=substeps, threads=1, solver=solver, **options)


def meeting_balls(gravity=(0.0, 0.0, -GRAVITY), floor=True):
    """Two balls that fly at each other above a floor."""
    builder = ModelBuilder(gravity=gravity)
    for name, x, speed in (("one", -0.6, 4.0), ("other", 0.6, -4.0)):
        add_ball(builder, SOFT, 2, (x, 0.02, 2.5), name=name, velocity=(speed, 0.0, 0.0), damping=20.0, bounciness=0.0)
    if floor:
        builder.add_collider("floor", *shapes.grid(40.0), friction=1.0, bounciness=0.0)
    return builder


@pytest.mark.parametrize("solver", METHODS)
def test_balls_that_ignore_each_other_pass_in_free_flight_and_lie_on_the_floor(solver):
    world = world_of(meeting_balls(), ignoring(3, (0, 1)), solver)
    starts, speeds = [centre(world, b) for b in (0, 1)], [velocity(world, b) for b in (0, 1)]
    closest = np.inf
    for frame in played(world, 30):
        t = frame / 60.0
        closest = min(closest, float(np.linalg.norm(centre(world, 0) - centre(world, 1))))
        for body in (0, 1):
            flown = starts[body] + speeds[body] * t + 0.5 * t * t * np.array([0.0, 0.0, -GRAVITY])
            np.testing.assert_allclose(centre(world, body), flown, rtol=0, atol=1e-8)  # Newton stops at a residual
    assert closest < 0.1 and world.diagnostics().contact_count == 0
    advance(world, 45)
    for body in (0, 1):
        assert 0.1 < centre(world, body)[2] < SOFT.radius + 0.1
    assert world.diagnostics().contact_count > 0


def test_particles_leave_the_pair_out():
    builder = meeting_balls((0.0, 0.0, 0.0), floor=False)
    world = world_of(builder, ignoring(2, (1, 0)), "RK4", options=PARTICLES)
    for _ in played(world, 30):
        assert world.diagnostics().contact_count == 0
    np.testing.assert_allclose(velocity(world, 0), [4.0, 0.0, 0.0], atol=1e-9)


def test_balls_that_start_crossed_do_not_count_as_crossing():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for name, x in (("one", -0.1), ("other", 0.1)):
        add_ball(builder, SOFT, 2, (x, 0.0, 0.0), name=name)
    crossed = world_of(builder, None)
    apart = world_of(builder, ignoring(2, (0, 1)))
    assert crossed.crossing_triangle_count > 0 and starts_crossed(crossed.model)
    assert apart.crossing_triangle_count == 0 and not starts_crossed(apart.model)
    advance(apart, 12)
    assert centre(apart, 0)[0] == pytest.approx(-0.1, abs=1e-9)


def two_boxes(other):
    """A box on another one in the air, above a floor; `other` makes the scene one for its solver."""
    builder = ModelBuilder()
    builder.add_rigid("low", *block((0.2, 0.2, 0.2), (0.0, 0.0, 0.2)), bounciness=0.0)
    builder.add_rigid("high", *block((0.2, 0.2, 0.2), (0.01, 0.02, 0.6)), bounciness=0.0)
    if other == "round":
        builder.add_rigid("ball", *shapes.icosphere(2, 0.1, (1.0, 0.0, 0.2)))
    builder.add_collider("floor", *shapes.grid(4.0), bounciness=0.0)
    return builder


@pytest.mark.parametrize(("other", "kind"), [("", RigidSolver), ("round", ExplicitSolver)])
def test_rigid_bodies_that_ignore_each_other_lie_in_the_same_place(other, kind):
    count = 4 if other else 3
    piled, apart = (world_of(two_boxes(other), ignoring(count, *pairs)) for pairs in ((), ((0, 1),)))
    assert isinstance(apart._solver, kind)
    advance(piled, 60)
    advance(apart, 60)
    assert piled.rigid_positions(1)[:, 2].min() == pytest.approx(0.2, abs=0.01)
    for body in (0, 1):
        assert apart.rigid_positions(body)[:, 2].min() == pytest.approx(0.0, abs=0.01)


def test_a_soft_and_a_rigid_body_fall_through_a_collider_that_one_of_them_ignores():
    builder = ModelBuilder()
    add_ball(builder, SOFT, 2, (0.0, 0.0, 0.5), name="soft")
    builder.add_rigid("rigid", *block((0.2, 0.2, 0.2), (1.0, 0.0, 0.3)), bounciness=0.0)
    builder.add_collider("shelf", *shapes.grid(4.0), bounciness=0.0)
    world = world_of(builder, ignoring(3, (0, 2)))
    advance(world, 36)
    assert centre(world, 0)[2] == pytest.approx(0.5 - 0.5 * GRAVITY * 0.6**2, abs=1e-5)
    assert world.rigid_positions(0)[:, 2].min() == pytest.approx(0.0, abs=0.02)


def test_attached_bodies_that_ignore_each_other_stay_attached():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, _ = shapes.icosphere(2, SOFT.radius)
    add_ball(builder, SOFT, 2, name="ball", velocity=(1.0, 0.0, 0.0), damping=20.0)
    builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.0, 0.0, 0.3)), mass=0.2)
    glued = np.flatnonzero(x[:, 2] > 0.25)
    builder.attach_to_rigid(0, glued, 0)
    world = world_of(builder, ignoring(2, (0, 1)))
    assert world.crossing_triangle_count == 0
    advance(world, 30)
    turn = world.rigid_transform(0)
    assert turn[0, 3] > 0.1  # carried along
    there = x[glued] @ turn[:3, :3].T + turn[:3, 3]
    assert np.abs(world.positions(0)[glued] - there).max() < 5e-3


def test_either_of_two_may_refuse_and_a_body_is_never_its_own():
    model = meeting_balls().build(ignores=ignoring(3, (0, 1), (2, 2)))
    assert model.ignores.tolist() == [[False, True, False], [True, False, False], [False, False, False]]
    with pytest.raises(ParameterError, match=r"ignores: shape \(2, 2\); give \(3, 3\)"):
        meeting_balls().build(ignores=ignoring(2))
