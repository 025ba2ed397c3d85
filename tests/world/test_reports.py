"""Reports of islands: who is joined, what a frame took of them, and why steps were shortened."""

import numpy as np
import pytest
import reference
import shapes
from crossings import world_crossings
from rigid_scene import block
from scenes import AMBIENT, BEACH_BALL, LIVELY, add_ball, advance, moved_mass, played
from softpressure_ext.core import FrameInput, ModelBuilder, Reason, World
from softpressure_ext.core.solvers.notes import Finding

SOLVERS = ["EXPLICIT", "XPBD"]
VACUUM = {"gravity": (0.0, 0.0, 0.0), "ambient_pressure": 0.0}


def made(builder, solver, **options):
    return World(builder.build(), frame_rate=24.0, solver=solver, **options)


def stuck(solver):
    """Two balls that overlap at the start, and one apart from them."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for name, height in (("Ball A", 0.0), ("Ball B", 0.3), ("Ball C", 2.0)):
        add_ball(builder, BEACH_BALL, 2, (0.02 * height, 0.01 * height, height), name=name, **LIVELY)
    return made(builder, solver, substeps=20)


def of(reports, body):
    """The report of a body's island."""
    (found,) = [report for report in reports if body in report.bodies]
    return found


def reasons(report):
    return {finding.reason for finding in report.reasons}


# --- two balls stick --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_balls_that_stick_are_named_with_the_reason(solver):
    world = stuck(solver)
    behind = len(world.save().wrong_side)
    world.advance_frame()  # they are moved apart before the frame
    assert behind > 1
    report = of(world.reports(), 0)
    assert report.bodies == (0, 1) and Finding(Reason.CROSSING, behind, (0, 1)) in report.reasons
    sentence = f"Ball A and Ball B: their surfaces cross; vertices behind are moved back ({behind} vertices)."
    assert sentence in report.texts(world.model.body_names)
    assert all(pair.gap > 0.0 for pair in report.pairs)
    alone = of(world.reports(), 2)
    assert alone.bodies == (2,) and Reason.CROSSING not in reasons(alone)


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_has_come_apart_is_no_island_any_more(solver):
    world = stuck(solver)
    advance(world, 24)
    assert len(world.save().wrong_side) == 0
    assert [report.bodies for report in world.reports()] == [(0,), (1,), (2,)]
    assert all(Reason.CROSSING not in reasons(report) for report in world.reports())


def test_glue_is_a_reason_to_stick():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    ball = add_ball(builder, BEACH_BALL, 2, name="ball")
    box = builder.add_rigid("box", *block((0.1, 0.1, 0.1), (0.0, 0.0, 0.4)), mass=0.1)
    builder.attach_to_rigid(ball, [0, 1, 2], box)
    world = made(builder, "EXPLICIT")
    world.advance_frame()
    (report,) = world.reports()
    assert report.bodies == (0, 1) and Finding(Reason.ATTACHED, 3, (0, 1)) in report.reasons


# --- steps that are shortened -----------------------------------------------------------------------------------


def thrown(solver):
    """A soft ball that flies at 40 m/s against a rigid box, a centimetre before it."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    soft = BEACH_BALL.like(gauge_pressure=200.0)
    add_ball(builder, soft, 2, (0.0, 0.0, 0.21), name="ball", velocity=(0.0, 0.0, -40.0))
    corner = shapes.rotation((1.0, 0.4, 0.2), 0.7)
    builder.add_rigid("box", *block((0.05, 0.05, 0.05), (0.02, 0.0, -0.05), corner), mass=2.0)
    add_ball(builder, soft, 2, (0.0, 0.0, 5.0), name="apart")
    return made(builder, solver, substeps=10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_hard_impact_names_its_bodies_and_how_early_they_would_have_met(solver):
    world = thrown(solver)
    ball, apart, box = range(3)
    world.advance_frame()
    reason = Reason.KEPT_APART
    report = of(world.reports(), ball)
    assert report.bodies == report.least_pair == (ball, box) and 0.0 <= report.least_share < 1.0
    assert [finding.bodies for finding in report.reasons if finding.reason is reason] == [(ball, box)]
    other = of(world.reports(), apart)
    assert other.bodies == (apart,) and reason not in reasons(other) and other.least_share == 1.0


def squeezed(solver, **options):
    """A ball between two plates that meet in its middle, and pass each other; reasons of the three frames."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, BEACH_BALL, 1, name="ball")
    plate, triangles = shapes.grid(2.0, 2)
    for name, height, order in (("low", -0.22, 1), ("high", 0.22, -1)):
        builder.add_collider(name, plate + (0.0, 0.0, height), triangles[:, ::order])
    world, told = made(builder, solver, **options), []
    for frame in range(1, 4):
        way = (0.0, 0.0, 0.22 - 0.08 * frame)
        world.advance_frame(FrameInput(collider_positions={0: plate - way, 1: plate + way}))
        told.append(world.reports()[0].reasons)
    return world, told


@pytest.mark.parametrize("solver", SOLVERS)
def test_colliders_that_close_in_leave_no_room(solver):
    _, told = squeezed(solver)
    assert told[0] == ()
    named = {(finding.reason, finding.bodies) for finding in told[2]}
    assert {(Reason.KEPT_APART, (0, 1)), (Reason.KEPT_APART, (0, 2))} <= named
    assert {(Reason.NO_ROOM, (0, 1)), (Reason.NO_ROOM, (0, 2))} <= named


def test_crossings_are_checked_and_told():
    """Nothing is told where the check is left out, or where nothing crosses."""
    for check in (False, True):
        world, told = squeezed("EXPLICIT", check_crossings=check)
        counts = [sum(found.count for found in frame if found.reason is Reason.CROSSED) for frame in told]
        assert counts == [0, 0, 0] if not check else counts[0] == 0 and counts[2] == world_crossings(world) > 0


def test_sweeps_that_end_at_their_limit_are_told(monkeypatch):
    monkeypatch.setattr("softpressure_ext.core.solvers.rigid.solver.MOST_SWEEPS", 6)
    world = made(stacked(), "EXPLICIT", substeps=10)
    advance(world, 3)
    assert Finding(Reason.NOT_CONVERGED, 10) in world.reports()[0].reasons


def dented(solver):
    """A ball whose top is pressed through its bottom."""
    x, triangles = shapes.icosphere(3, 0.2, (0.0, 0.0, 0.3))
    away = np.hypot(x[:, 0], x[:, 1])
    dent = (x[:, 2] > 0.3) & (away < 0.15)
    x[dent, 2] -= 0.45 * np.cos(away[dent] / 0.15 * np.pi / 2)
    builder = ModelBuilder()
    builder.add_membrane("ball", x, triangles, mass=0.5, gauge_pressure=500.0, self_collision=True)
    return made(builder, solver, substeps=20)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_skin_that_crosses_itself_is_named(solver):
    world = dented(solver)
    world.advance_frame()
    (report,) = world.reports()
    (found,) = [finding for finding in report.reasons if finding.reason is Reason.SELF_CROSSING]
    assert found.bodies == (0,) and found.count > 5
    assert report.texts(["Ball"])[report.reasons.index(found)].startswith("Ball: its surface ")


def test_fast_bodies_are_named():
    builder = ModelBuilder(**VACUUM)
    add_ball(builder, BEACH_BALL.like(gauge_pressure=50.0, stretch_modulus=1e2), 2, name="ball", velocity=(400.0, 0, 0))
    add_ball(builder, BEACH_BALL.like(gauge_pressure=50.0, stretch_modulus=1e2), 2, (0, 0, 5.0), name="other")
    world = made(builder, "EXPLICIT")
    world.advance_frame()
    (report,) = world.reports()
    assert report.bodies == (0, 1) and Finding(Reason.FAST, report.steps, (0, 1)) in report.reasons


def test_a_skin_that_is_stretched_shortens_steps():
    """Pinned but for one vertex, and drawn to three times its size, where springs are stiff across, too."""
    builder = ModelBuilder(**VACUUM)
    ball = add_ball(builder, BEACH_BALL, 2, name="ball", pinned=range(1, 162))
    other = add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 5.0), name="other", pinned=range(1, 162))
    world = made(builder, "EXPLICIT")
    drawn = world.positions(ball)[1:]
    world.advance_frame()
    before = of(world.reports(), ball)
    for size in (1.3, 1.6, 2.0, 2.5, 3.0, 3.0):
        world.advance_frame(FrameInput(pinned_positions={ball: size * drawn}))
    report = of(world.reports(), ball)
    assert report.steps > 1.1 * before.steps and before.reasons == ()
    assert report.reasons == (Finding(Reason.STIFFER, report.steps, (ball,)),)
    assert of(world.reports(), other).reasons == ()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_quiet_flight_has_no_reasons(solver):
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.5), name="ball", drawn_shape="INFLATED", pressure_at="REST")
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 1.5), name="other", drawn_shape="INFLATED", pressure_at="REST")
    builder.add_collider("floor", *shapes.grid(4.0, 2))
    world = made(builder, solver, substeps=40)
    for _ in played(world, 3):
        for number, report in enumerate(world.reports()):
            assert report.bodies == (number,) and report.reasons == () and report.pairs == ()
            assert report.contacts == 0 and report.least_share == 1.0 and report.least_pair == ()
            assert report.steps > 0


# --- contacts ---------------------------------------------------------------------------------------------------


def stacked():
    """Two boxes on each other and one beside them, on one of two colliders."""
    builder = ModelBuilder()
    builder.add_rigid("low", *block((0.2, 0.2, 0.2), (0.0, 0.0, 0.101)), mass=1.0)
    builder.add_rigid("high", *block((0.2, 0.2, 0.2), (0.0, 0.0, 0.303)), mass=2.0)
    builder.add_rigid("beside", *block((0.2, 0.2, 0.2), (1.0, 0.0, 0.101)), mass=4.0)
    builder.add_collider("far", *shapes.grid(0.2, 1), friction=0.5)
    ground = shapes.grid(4.0, 2)
    builder.add_collider("floor", *ground, friction=0.5)
    return builder


def test_rigid_bodies_report_their_stacks():
    world = made(stacked(), "EXPLICIT", substeps=10)
    assert type(world._solver).__name__ == "RigidSolver"
    advance(world, 8)
    stack, beside = world.reports()
    assert stack.bodies == (0, 1) and beside.bodies == (2,)
    force = {pair.bodies: pair.force for pair in (*stack.pairs, *beside.pairs)}
    assert force[0, 1] == pytest.approx(2.0 * 9.81, rel=0.05)
    assert force[2, 4] == pytest.approx(4.0 * 9.81, rel=0.05)
    assert stack.steps == 10


def test_what_sleeps_takes_no_steps():
    world = made(stacked(), "EXPLICIT", substeps=10)
    advance(world, 48)
    assert all(report.steps == 0 and report.contacts == 0 for report in world.reports())
    assert all(report.energy_change == 0.0 for report in world.reports())


# --- energy -----------------------------------------------------------------------------------------------------


def test_energy_of_what_flies_is_that_of_its_parts():
    """A skin that bends, a solid and a spinning rigid body in flight, in air: nothing touches.

    The skin and the solid are compared with the twins of their energies, the rigid body with its closed form; gravity
    does no work on the sum of motion and height, and what is left are the dashpots' losses, told alike.
    """
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 5.0), name="ball", bend_modulus=0.05, velocity=(1.0, 0.0, 0.0))
    builder.add_solid("jelly", *block((0.2, 0.2, 0.2), (2.0, 0.0, 5.0)), cell_size=0.1, mass=0.5, modulus=1e4)
    builder.add_rigid(
        "box", *block((0.2, 0.3, 0.1), (4.0, 0.0, 5.0)), mass=1.0, velocity=(0.0, 0.0, 1.0),
        angular_velocity=(3.0, 1.0, 2.0),
    )  # fmt: skip
    world = made(builder, "EXPLICIT")
    world.set_positions(0, world.positions(0) * (1.02, 0.99, 1.0))
    world.advance_frame()
    energies, changes = [energy_of(world)], []
    for _ in played(world, 4):
        energies.append(energy_of(world))
        changes.append(sum(report.energy_change for report in world.reports()))
    assert np.abs(np.diff(energies)).max() > 1e-4
    np.testing.assert_allclose(changes, np.diff(energies), atol=1e-9 * max(map(abs, energies)))


def energy_of(world):
    """Of all bodies [J], summed with numpy."""
    model, state, n = world.model, world.save(), world.model.vertex_count
    x, v, mass = state.positions[:n], state.velocities[:n], moved_mass(world)
    total = 0.5 * (mass[:, None] * v * v).sum() - (mass[:, None] * (x * model.gravity)).sum()
    first, second = x[model.edges.points].transpose(1, 0, 2)
    stretch = np.linalg.norm(first - second, axis=1) - model.edges.rest_length
    total += 0.5 * (model.edges.stiffness * stretch**2).sum()
    a, b, c, d = x[model.tetrahedra.points].transpose(1, 0, 2)
    volume = np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a)) / 6.0
    change = volume - model.tetrahedra.rest_volume
    total += 0.5 * (model.tetrahedra.stiffness * change**2).sum()
    total += 0.5 * (model.tetrahedra.sum_stiffness * change.reshape(-1, 8).sum(axis=1) ** 2).sum()
    skin, triangles = shapes.icosphere(2, BEACH_BALL.radius, (0.0, 0.0, 5.0))
    now = world.positions(0)
    total += reference.bend(now, *reference.hinges(skin, triangles, 0.05))[0]
    inside, rest = reference.volume(now, triangles), reference.volume(skin, triangles)
    total += AMBIENT * (inside - rest) - state.gas[0] * np.log(inside / rest)
    turn, spin = world.rigid_transform(0)[:3, :3], world.rigid_velocity(0)[1]
    total += 0.5 * spin @ turn @ model.rigid.inertia[0] @ turn.T @ spin
    speed = state.rigid.velocity[0]
    return float(total + 0.5 * speed @ speed - state.rigid.pose[0, :3] @ model.gravity)


@pytest.mark.parametrize("solver", SOLVERS)
def test_damping_takes_energy_and_a_collider_gives_it(solver):
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.25), name="ball", damping=30.0, bounciness=0.5)
    ground, triangles = shapes.grid(4.0, 2)
    builder.add_collider("floor", ground, triangles, bounciness=0.5)
    world = made(builder, solver, substeps=40)
    world.set_positions(0, world.positions(0) * (1.1, 1.1, 0.9) + (0.0, 0.0, 0.02))
    world.advance_frame()
    assert world.reports()[0].energy_change < 0.0
    advance(world, 12)
    gained = 0.0
    for frame in range(1, 4):
        world.advance_frame(FrameInput(collider_positions={0: ground + (0.0, 0.0, 0.05 * frame)}))
        gained += world.reports()[0].energy_change
    assert gained > 0.5 * 0.5 * BEACH_BALL.mass * (0.05 * 24.0) ** 2  # half of what it has at the collider's speed


def test_energy_of_what_follows_an_animation_is_not_told():
    builder = ModelBuilder()
    held = add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 1.0), name="held")
    world = made(builder, "EXPLICIT")
    x = world.positions(held)
    for frame in range(1, 3):
        world.advance_frame(FrameInput(held={held: x + (0.0, 0.0, 0.1 * frame)}))
        assert world.reports()[0].energy_change == 0.0


# --- when there is a report -------------------------------------------------------------------------------------


def test_there_are_reports_of_a_frame_that_was_simulated_only():
    world = stuck("EXPLICIT")
    assert world.reports() == () == world.diagnostics().reports
    world.advance_frame()
    assert len(world.reports()) == 2 and world.diagnostics().reports == world.reports()
    saved = world.save()
    world.load(saved)
    assert world.reports() == ()
    world.advance_frame()
    world.set_positions(0, world.positions(0))
    assert world.reports() == ()
    world.reset()
    assert world.reports() == ()


def test_reports_do_not_depend_on_earlier_ones():
    """Asked in every frame or at the end alone."""
    one, other = stuck("EXPLICIT"), stuck("EXPLICIT")
    advance(one, 3)
    for _ in played(other, 3):
        other.reports()
    assert one.reports() == other.reports()
