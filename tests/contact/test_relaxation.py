"""Bodies that cross at the start: moved apart before the frame, or excluded from contact, the same for every solver."""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses, model_crossings
from rigid_scene import block
from scenes import BEACH_BALL, LIVELY, add_ball, advance, assert_same_bits, momentum, played
from softpressure_ext.core import FrameInput, ModelBuilder, Reason, World
from softpressure_ext.core.contact.untangle.overlap import ways_out
from softpressure_ext.core.contact.untangle.relaxation import Relaxation
from softpressure_ext.core.state import STAYS

SOLVERS = ["EXPLICIT", "XPBD"]


def made(builder, solver="EXPLICIT", threads=1):
    return World(builder.build(), frame_rate=24.0, substeps=20, threads=threads, solver=solver)


def crossed(height=0.3, solver="EXPLICIT", **options):
    """Two balls of radius 0.2 m whose centres are less than 0.4 m apart."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, BEACH_BALL, 2, name="low", drawn_shape="INFLATED", **LIVELY, **options)
    add_ball(builder, BEACH_BALL, 2, (0.02, 0.01, height), name="high", drawn_shape="INFLATED", **LIVELY, **options)
    return made(builder, solver)


def fastest(world):
    """Speed of the fastest vertex [m/s]."""
    return max(np.linalg.norm(world.velocities(n), axis=1).max() for n in range(world.model.membrane_count))


def centre(model, x):
    """Centre of mass of all vertices [m]."""
    return model.vertex_mass @ x[: model.vertex_count] / model.vertex_mass.sum()


def made_like(world):
    """A world with another number of threads that continues from a saved state of another one."""
    other = World(world.model, frame_rate=24.0, substeps=20, threads=2, solver=world.solver)
    other.load(world.save())
    return other


def test_relaxation_shifts_whole_bodies_about_their_common_centre_of_mass():
    world = crossed()
    model, before, after = world.model, world.save(), world.save()
    moved = Relaxation(model).run(after)
    np.testing.assert_array_equal(moved, before.wrong_side)
    assert len(after.wrong_side) == 0 and len(model_crossings(model, after.positions)) == 0
    np.testing.assert_array_equal(after.velocities, before.velocities)
    np.testing.assert_allclose(centre(model, after.positions), centre(model, before.positions), atol=1e-14)
    for body in range(2):
        own = slice(*model.body_point_start[body : body + 2])
        shift = (after.positions - before.positions)[own]
        np.testing.assert_allclose(shift, np.broadcast_to(shift[:1], shift.shape), atol=1e-14)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("height", [0.2, 0.3, 0.39])
def test_bodies_that_are_moved_apart_are_not_thrown(solver, height):
    world = crossed(height, solver)
    assert len(world.save().wrong_side) > 0
    other = made_like(world)
    for each in (world, other):
        each.advance_frame()
    assert_nothing_crosses(world)
    assert_same_bits(world.save(), other.save())
    assert fastest(world) < 0.2  # m/s
    advance(world, 11)
    np.testing.assert_allclose(momentum(world), 0.0, atol=1e-12)


def plank_across(depth, *, has_ball=False, solver="EXPLICIT"):
    """A plank that lies across a beam, which it is in by a depth [m]: no vertex of either is inside the other."""
    builder = ModelBuilder()
    if has_ball:
        add_ball(builder, BEACH_BALL, 2, (3.0, 3.0, 0.3), drawn_shape="INFLATED", **LIVELY)
    builder.add_rigid("plank", *block((3.0, 0.6, 0.06), (0.0, 0.0, 0.23 - depth)), mass=2.0)
    builder.add_collider("beam", *block((0.2, 4.0, 0.2), (0.0, 0.0, 0.1)))
    return made(builder, solver)


@pytest.mark.parametrize("depth", [0.0, 1e-4, 0.03])
@pytest.mark.parametrize("has_ball", [False, True])
def test_a_plank_in_a_beam_is_lifted_onto_it(depth, has_ball):
    """It fell through the beam, as nothing told where it was to go."""
    world = plank_across(depth, has_ball=has_ball)
    advance(world, 12)
    height = world.rigid_transform(0)[2, 3] + 0.23 - depth - 0.03
    assert 0.2 < height < 0.205
    assert_nothing_crosses(world)


def test_bodies_leave_each_other_across_the_part_in_common_and_not_where_one_goes_in_and_out():
    model = plank_across(0.03).model
    bodies, ways = ways_out(model, model.rest_positions)
    np.testing.assert_array_equal(bodies, [[0, 1]])
    np.testing.assert_allclose(ways, [[0.0, 0.0, 1.0]], atol=1e-12)
    through = plank_across(0.13).model
    assert len(ways_out(through, through.rest_positions)[0]) == 0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("other", ["ball", "box"])
def test_bodies_over_a_floor_come_apart(other, solver):
    """A ball and, 5 cm deep in it, another one or a box; they fall as if they had started apart."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.25), **LIVELY)
    if other == "ball":
        add_ball(builder, BEACH_BALL, 2, (0.02, 0.01, 0.6), **LIVELY)
    else:
        builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.02, 0.01, 0.5)), mass=0.3)
    builder.add_collider("floor", *shapes.grid(20.0, 2))
    world = made(builder, solver)
    assert world.crossing_triangle_count > 20 and len(world.save().wrong_side) > 0
    for _ in played(world, 24):
        assert_nothing_crosses(world)
        assert fastest(world) < 5.0


@pytest.mark.parametrize(("solver", "most"), [("EXPLICIT", 0.1), ("XPBD", 0.005)])
def test_what_is_wedged_between_walls_is_dented(solver, most):
    """A ball of 0.4 m between walls that are 0.3 m apart: no shift frees it.

    It swings with a share of the work of its gas over the two caps of 5 cm at most; explicit steps damp it the least.
    """
    work = BEACH_BALL.gauge_pressure * 2.0 * np.pi / 3.0 * 0.05**2 * (3.0 * BEACH_BALL.radius - 0.05)  # J
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 3, name="ball", **LIVELY)
    for side in (-1.0, 1.0):
        x, triangles = shapes.box(1.0, 1)
        builder.add_collider(f"wall {side}", x * (0.2, 2.0, 2.0) + (0.25 * side, 0.0, 0.0), triangles)
    world = made(builder, solver)
    assert len(world.save().wrong_side) > 50
    for _ in played(world, 6):
        assert_nothing_crosses(world)
        assert np.ptp(world.positions(0)[:, 0]) < 0.3
        assert world.diagnostics().bodies[0].kinetic_energy < most * work
    assert fastest(world) < 0.5


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_a_change_of_positions_has_crossed_is_moved_apart_as_well(solver):
    world = crossed(0.6, solver)
    world.advance_frame()
    assert world.reports()[0].reasons == ()
    world.set_positions(1, world.positions(1) - (0.0, 0.0, 0.3))
    world.advance_frame()
    assert_nothing_crosses(world)
    assert Reason.CROSSING in {finding.reason for finding in world.reports()[0].reasons}


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_stays_crossed_has_no_contact_until_pins_part_it(solver):
    """Two balls with pinned vertices everywhere; then the pins of one are moved away."""
    world = crossed(solver=solver, pinned=range(162))
    listed = world.save().wrong_side
    drawn = world.positions(1)
    world.advance_frame()
    stays = world.save().wrong_side
    np.testing.assert_array_equal(stays[:, :2], listed[:, :2])
    assert (stays[:, 2] == STAYS).all() and len(stays) > 1
    reasons = {(finding.reason, finding.bodies, finding.count) for finding in world.reports()[0].reasons}
    assert (Reason.STAY_CROSSED, (0, 1), len(stays)) in reasons
    assert world._solver.candidate_count == 0

    other = made_like(world)
    for lift in (0.0, 0.05, 0.2, 0.2):
        for each in (world, other):
            each.advance_frame(FrameInput(pinned_positions={1: drawn + (0.0, 0.0, lift)}))
        assert_same_bits(world.save(), other.save())
    assert len(world.save().wrong_side) == 0
    assert all(finding.reason is not Reason.STAY_CROSSED for finding in world.reports()[0].reasons)


# --- skins that cross themselves ---------------------------------------------------------------------------------


def pushed_through(depth, width, solver, gauge_pressure=500.0, **options):
    """A ball whose top is pushed through its bottom, in a bump or, with a width of 0, with a cap as it is."""
    x, triangles = shapes.icosphere(3, 0.2)
    away = np.hypot(x[:, 0], x[:, 1])
    part = (x[:, 2] > 0.0) & (away < (width or 0.08))
    x[part, 2] -= depth * (np.cos(away[part] / width * np.pi / 2) if width else 1.0)
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_membrane(
        "ball", x, triangles, mass=0.5, gauge_pressure=gauge_pressure, stretch_modulus=2e4, damping=5.0,
        self_collision=True, **options,
    )  # fmt: skip
    return made(builder, solver)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_skin_that_crosses_itself_comes_apart(solver):
    world = pushed_through(0.45, 0.15, solver)
    assert world.crossing_triangle_count > 20
    for _ in played(world, 12):
        assert_nothing_crosses(world)
    assert len(world.save().wrong_side) == 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_skin_that_moves_do_not_free_stays_as_it_is(solver):
    """It would have to go back the way it came; a move of its vertices alone would strain it for nothing."""
    world = pushed_through(0.42, 0.0, solver)
    drawn, first = world.positions(0), len(model_crossings(world.model, world.save().positions))
    assert first > 100
    other = made_like(world)
    for _ in range(3):
        for each in (world, other):
            each.advance_frame()
        assert_same_bits(world.save(), other.save())
        assert len(model_crossings(world.model, world.save().positions)) < 1.1 * first
    assert (world.save().wrong_side[:, 2] == STAYS).all() and len(world.save().wrong_side) > 10
    assert np.abs(world.positions(0) - drawn).max() < 0.01


def test_what_stays_tangled_is_not_shaken():
    """Contact of its corners with the rest of the skin would trap them on the wrong side: 1.7 J instead of 0.2."""
    shape = {"pressure_at": "REST", "drawn_shape": "INFLATED"}
    world = pushed_through(0.42, 0.0, "EXPLICIT", gauge_pressure=2000.0, **shape)
    moving = [world.diagnostics().bodies[0].kinetic_energy for _ in played(world, 24)]
    assert len(world.save().wrong_side) > 10
    assert max(moving) < 0.6


@pytest.mark.parametrize("kind", ["bar", "ball"])
def test_a_body_that_is_pinned_within_a_collider_stays_at_rest(kind):
    """What is beside the pins was moved out of the collider, and sprang back with 97 and 435 J."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    if kind == "bar":
        x, triangles = shapes.box(1.0, 4)
        x = x * (0.2, 0.2, 1.0) + (0.0, 0.0, 1.4)
        lowest = np.flatnonzero(x[:, 2] < 0.95)
        body = builder.add_solid("bar", x, triangles, cell_size=0.05, mass=1.0, modulus=5e4, pinned=lowest)
    else:
        x, triangles = shapes.icosphere(3, 0.5, (0.0, 0.0, 1.4))
        gas = {"gauge_pressure": 2e3, "stretch_modulus": 2e4, "pressure_at": "REST", "drawn_shape": "INFLATED"}
        lowest = np.flatnonzero(x[:, 2] < 0.95)
        body = builder.add_membrane("ball", x, triangles, mass=1.0, pinned=lowest, **gas)
    builder.add_collider("head", *shapes.box(1.0, 1, (0.0, 0.0, 0.5)))
    world = World(builder.build(), frame_rate=24.0, threads=1)
    for _ in played(world, 6):
        assert world.positions(body) == pytest.approx(x, abs=1e-4)
        assert world.diagnostics().bodies[0].kinetic_energy < 1e-5
