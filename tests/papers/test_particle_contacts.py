"""Contacts that particles find, in motion: momentum, bounces, same bits (Martin 2009, 5.3)."""

import numpy as np
import pytest
import shapes
from scenes import Ball, add_ball, advance, assert_continues, centre, momentum, played, velocity
from softpressure_ext.core import MethodOptions, ModelBuilder, World
from softpressure_ext.core.papers.flight import InverseMass
from softpressure_ext.core.papers.particle_contacts import respond
from softpressure_ext.core.papers.particles.feature_tests import NUMBERS

PARTICLES = MethodOptions(detection="FEATURE_PARTICLES")
SOFT = Ball(0.3, 0.3, 2e3, 5e3)


def world_of(builder, substeps=60, solver="RK4_MARTIN", threads=1, options=PARTICLES):
    return World(
        builder.build(), frame_rate=60.0, substeps=substeps, threads=threads, solver=solver, options=options
    )  # fmt: skip


def two_balls(gravity=(0.0, 0.0, 0.0), speed=2.0, apart=0.75, **options):
    builder = ModelBuilder(gravity=gravity)
    add_ball(builder, SOFT, 2, (0, 0, 0), name="one", velocity=(speed, 0, 0), **options)
    add_ball(builder, SOFT, 2, (apart, 0.05, 0.02), name="other", velocity=(-speed, 0, 0), **options)
    return builder


# --- one answer --------------------------------------------------------------------------------------------------


def answer(points, weights, numbers, masses, velocities, *, rest=0.0, bounciness=0.0):
    """Velocities after one hit among free vertices, the moves, and the impulse."""
    count = len(masses)
    mobility = InverseMass(
        1.0 / np.asarray(masses, float), np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3, 3))
    )
    rows, shift, push = np.array(velocities, float), np.zeros((count, 3)), np.zeros(1)
    respond(
        1, np.array([points], np.int32), np.array([weights]), np.array([numbers]), np.zeros((0, 7)), np.array([rest]),
        np.array([bounciness]), 0.0, mobility, rows, shift, push,
    )  # fmt: skip
    return rows, shift, push[0]


def numbers_of(normal, gap=0.0, pushes=0.0, place=(0.0, 0.0, 0.0)):
    assert NUMBERS == 8
    return [*normal, gap, pushes, *place]


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_a_vertex_and_a_triangle_part_as_two_masses_do(e):
    """5.3 with the masses of 5.3.1: a triangle's is the sum of its corners'."""
    masses = [0.2, 0.1, 0.3, 0.2]
    v = np.array([(0.0, 1.0, -3.0), (0.5, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0)])
    weights = [1.0, 0.0, 0.0, -1 / 3, -1 / 3, -1 / 3]
    after, _, push = answer([0, 0, 0, 1, 2, 3], weights, numbers_of((0, 0, 1)), masses, v, bounciness=e)
    # its yielding is that of three masses that share the impulse equally
    inverse = 1 / 0.2 + (1 / 0.1 + 1 / 0.3 + 1 / 0.2) / 9
    assert push == pytest.approx((1 + e) * 4.0 / inverse, rel=1e-13)
    gap_speed = after[0, 2] - after[1:, 2].mean()
    assert gap_speed == pytest.approx(e * 4.0, abs=1e-13)
    np.testing.assert_allclose(masses @ after, masses @ v, atol=1e-14)
    np.testing.assert_allclose(after[:, :2], v[:, :2], atol=0)


def test_nothing_pulls():
    v = [(0, 0, 1.0), (0, 0, -1.0)]
    after, shift, push = answer([0, 0, 0, 1, 1, 1], [1.0, 0, 0, -1.0, 0, 0], numbers_of((0, 0, 1)), [1, 1], v)
    assert push == 0.0 and (after == v).all() and (shift == 0.0).all()


def test_particles_too_near_are_moved_to_the_thickness_without_velocity():
    v = [(0, 0, 0.0), (0, 0, 0.0)]
    weights = [1.0, 0, 0, -1.0, 0, 0]
    after, shift, _ = answer([0, 0, 0, 1, 1, 1], weights, numbers_of((0, 0, 1), -0.02, 1.0), [1, 3], v, rest=0.05)
    assert (after == 0.0).all()
    assert shift[0, 2] - shift[1, 2] == pytest.approx(0.07, rel=1e-13)
    assert shift[0, 2] + 3 * shift[1, 2] == pytest.approx(0.0, abs=1e-15)  # the centre of mass stays


@pytest.mark.parametrize("e", [0.0, 0.6])
def test_two_solids_that_meet_off_their_centres_turn_and_keep_all_momenta(e):
    """The whole of the formula of 5.3: masses and what turning adds, I^-1 (r x n) x r."""
    rng = np.random.default_rng(5)
    mass, inverse = np.array([2.0, 5.0]), np.zeros((2, 3, 3))
    for body in range(2):
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        inverse[body] = turn @ np.diag(rng.uniform(2.0, 9.0, 3)) @ turn.T
    poses = np.zeros((2, 7))
    poses[:, :3], poses[:, 3] = [(0.0, 0.0, 0.0), (0.1, 0.3, 1.0)], 1.0
    place, normal = np.array([0.2, 0.1, 0.5]), np.array([0.6, 0.0, -0.8])  # onto the first body
    mobility = InverseMass(np.zeros(0), np.array([0, 2], np.int32), np.zeros((2, 3)), 1.0 / mass, inverse)
    rows = rng.normal(0, 1, (4, 3))
    rows[0] -= 6.0 * normal  # they approach
    before, shift, push = rows.copy(), np.zeros((4, 3)), np.zeros(1)
    numbers = np.array([numbers_of(normal, -0.01, 1.0, place)])
    respond(
        1, np.array([[0, 0, 0, 1, 1, 1]], np.int32), np.array([[1.0, 0, 0, -1.0, 0, 0]]), numbers, poses,
        np.array([0.0]), np.array([e]), 0.0, mobility, rows, shift, push,
    )  # fmt: skip
    arm = place - poses[:, :3]

    def approach(u):
        one, other = u[0] + np.cross(u[1], arm[0]), u[2] + np.cross(u[3], arm[1])
        return -(one - other) @ normal

    turning = sum(np.cross(inverse[b] @ np.cross(arm[b], normal), arm[b]) @ normal for b in range(2))
    assert push[0] == pytest.approx((1 + e) * approach(before) / ((1 / mass).sum() + turning), rel=1e-12)
    assert approach(rows) == pytest.approx(-e * approach(before), abs=1e-12)
    assert -approach(shift) == pytest.approx(0.01, rel=1e-12)  # out of each other
    for moved in (rows - before, shift):
        linear = mass[:, None] * moved[::2]
        spin = np.array([np.linalg.solve(inverse[b], moved[2 * b + 1]) for b in range(2)])
        np.testing.assert_allclose(linear.sum(axis=0), 0.0, atol=1e-13)
        np.testing.assert_allclose((np.cross(poses[:, :3], linear) + spin).sum(axis=0), 0.0, atol=1e-13)


# --- in motion ---------------------------------------------------------------------------------------------------


def test_two_balls_meet_and_part_and_keep_their_momentum():
    world = world_of(two_balls(bounciness=0.8))
    start = momentum(world)
    for _ in played(world, 30):
        assert np.abs(momentum(world) - start).max() < 1e-12
    assert velocity(world, 0)[0] < -0.3 and velocity(world, 1)[0] > 0.3  # they came at 2 m/s
    assert centre(world, 1)[0] - centre(world, 0)[0] > 0.6  # and did not pass


def test_an_overlap_within_a_step_is_missed():
    """Boxes of 0.2 m that come nearer by 0.5 m per step; the surfaces' search and bound let nothing pass."""
    gaps = []
    for options in (PARTICLES, MethodOptions()):
        builder = ModelBuilder(gravity=(0, 0, 0))
        builder.add_rigid("one", *shapes.box(0.2, 1), mass=1.0, velocity=(150.0, 0, 0))
        builder.add_rigid("other", *shapes.box(0.2, 1, (2.74, 0, 0)), mass=1.0, velocity=(-150.0, 0, 0))
        world = world_of(builder, substeps=10, options=options)
        world.advance_frame()
        gaps.append(world.rigid_positions(1)[:, 0].mean() - world.rigid_positions(0)[:, 0].mean())
    assert gaps[0] < -1.0 and gaps[1] > 0.2


def test_a_box_that_falls_into_a_ball_comes_out_again():
    builder = ModelBuilder()
    add_ball(builder, SOFT, 2, (0, 0, 0.31), damping=3.0)
    builder.add_rigid("box", *shapes.box(0.2, 1, (0.02, 0.01, 0.85)), mass=0.2)
    builder.add_collider("floor", *shapes.grid(4.0))
    world = world_of(builder)
    lowest = np.inf
    for _ in played(world, 40):
        lowest = min(lowest, world.rigid_positions(0)[:, 2].mean())
    assert 0.4 < lowest < 0.72  # at first it would be at 0.61 + 0.1, and it dents the ball
    assert centre(world)[2] > 0.2 and 0.99 < world.diagnostics().bodies[0].volume_ratio < 1.03


def test_two_boxes_stop_each_other_by_separating_axes():
    builder = ModelBuilder(gravity=(0, 0, 0))
    builder.add_rigid("one", *shapes.box(0.2, 1), mass=1.0, velocity=(1.0, 0, 0), bounciness=0.5)
    builder.add_rigid("other", *shapes.box(0.2, 1, (0.5, 0, 0)), mass=3.0, bounciness=0.5)
    world = world_of(builder, substeps=10)
    advance(world, 40)
    # Newton's law of impact: e = 0.5
    one, other = world.rigid_velocity(0)[0], world.rigid_velocity(1)[0]
    np.testing.assert_allclose(one, ((1.0 - 3.0 * 0.5) / 4.0, 0, 0), atol=1e-9)
    np.testing.assert_allclose(other, (1.5 / 4.0, 0, 0), atol=1e-9)


def test_concave_solids_and_lattices_take_part():
    builder = ModelBuilder()
    builder.add_solid("jelly", *shapes.box(0.4, 2, (0, 0, 0.22)), cell_size=0.1, mass=0.5, modulus=2e4, damping=2.0)
    ring = shapes.torus(0.15, 0.06, 12, 8, (0.02, 0.0, 0.56))
    builder.add_rigid("ring", *ring, mass=0.2)
    builder.add_collider("floor", *shapes.grid(4.0))
    world = world_of(builder, substeps=40)
    advance(world, 30)
    assert 0.4 < world.rigid_positions(0)[:, 2].mean() < 0.52  # it lies on the jelly


def test_balls_that_start_in_each_other_are_pushed_apart():
    """A cap 0.06 m deep, which is within the skin: the hits push it out, the explicit step goes on."""
    world = world_of(two_balls(speed=0.0, apart=0.54), substeps=90)
    assert world.crossing_triangle_count > 0
    advance(world, 30)
    apart = centre(world, 1) - centre(world, 0)
    assert np.linalg.norm(apart) > 0.6
    assert np.abs(momentum(world)).max() < 1e-12


def test_attached_bodies_have_no_contact():
    builder = ModelBuilder(gravity=(0, 0, 0))
    ball = add_ball(builder, SOFT, 2, (0, 0, 0))
    box = builder.add_rigid("box", *shapes.box(0.2, 1, (0, 0, 0.3)), mass=0.5)
    builder.attach_to_rigid(ball, [0, 1, 2], box)
    world = world_of(builder, substeps=200)  # glue is stiff
    world.advance_frame()
    assert world.diagnostics().candidate_count == 0
    assert world._solver.integrator._particles.search.count == 0


@pytest.mark.parametrize("solver", ["RK4_MARTIN", "IMPLICIT_KANG"])
def test_runs_with_particles_have_the_same_bits(solver):
    def made(threads=1):
        return world_of(two_balls((0, 0, -1.0), apart=0.62), solver=solver, threads=threads, substeps=90)

    whole = assert_continues(made, 10, 0, 4, fresh=lambda: made(threads=2))
    assert velocity(whole, 0)[0] < 1.5 and len(whole.save().particles) == 2 * (162 // 8)
