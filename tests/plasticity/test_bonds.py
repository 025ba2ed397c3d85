"""Sticky bodies that come apart again: the force on their bonds, what is left when they break, and new ones."""

import numpy as np
import pytest
import shapes
from scenes import advance
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.noted_frame import NotedFrame
from softpressure_ext.core.plasticity.pulls import Pulls
from validation import validated

SIDE, MASS, GRAVITY = 0.2, 0.5, 9.81
solvers = pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])


def stuck(solver, strength, gravity=0.0, hangs=False):
    """Two jellies, of which the lower sticky one flies gently at the upper one."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -gravity))
    x, triangles = shapes.box(SIDE, 2)
    jelly = {"cell_size": 0.5 * SIDE, "mass": MASS, "modulus": 2e4, "damping": 20.0, "bounciness": 0.0}
    builder.add_solid("upper", x, triangles, pinned=np.arange(len(x)) if hangs else (), **jelly)
    builder.add_solid("lower", x - (0.0, 0.0, SIDE + 0.012), triangles, sticks=True, bond_strength=strength,
                      velocity=(0.0, 0.0, 0.3), **jelly)  # fmt: skip
    world = World(builder.build(), frame_rate=24.0, substeps=20, threads=1, solver=solver)
    advance(world, 12)
    return world


def bond_count(world):
    return len(world.save().keyed.bond_points)


def pulls(world):
    """Pull at each bond [N]."""
    state = world.save()
    bound = np.zeros(world.model.vertex_count, bool)
    bound[state.keyed.bond_points[:, 0]] = True
    return world._plastic._bonds._pulls.at(world._segments.model, bound, state.positions, state.gas)[bound]


def test_what_hangs_on_bonds_pulls_at_them_with_its_weight_and_comes_off_where_they_are_weaker():
    world, found = stuck("EXPLICIT", 0.0, GRAVITY, hangs=True), []
    assert bond_count(world) == 9
    advance(world, 24)
    for _ in range(24):  # it still swings a little
        advance(world, 1)
        found.append(pulls(world))
    pull = np.mean(found, axis=0)
    held = world.save().keyed.bond_points[:, 0]
    weight = GRAVITY * (MASS - world.model.vertex_mass[held].sum())  # of what hangs on the glued vertices
    validated(
        "pull at the bonds of a hanging body", room="plasticity", measured=-pull[:, 2].sum(),
        expected=weight, unit="N", rel=0.02, source="weight of all vertices that are not glued", reason="it swings",
    )  # fmt: skip
    assert np.abs(pull[:, :2].sum(axis=0)).max() < 0.02 * weight
    advance(world, 12, values={1: {"bond_strength": 2.0 * np.linalg.norm(found, axis=2).max()}})
    assert bond_count(world) == 9
    advance(world, 12, values={1: {"bond_strength": 0.5 * weight / 9}})
    assert bond_count(world) == 0
    before = world.velocities(1)[:, 2].mean()
    advance(world, 12)
    assert world.velocities(1)[:, 2].mean() - before == pytest.approx(-0.5 * GRAVITY, rel=1e-3)  # free fall


def kick(world, speed):
    """Throw both bodies apart; their momentum stays."""
    state = world.save()
    vertices = slice(world.model.vertex_count)
    sign = np.where(world.model.point_body[vertices] == 0, 1.0, -1.0)
    state.velocities[vertices, 2] += speed * sign
    world.load(state)


@solvers
def test_bodies_that_are_torn_apart_keep_their_momentum_and_stick_again_when_they_meet_again(solver):
    worlds = [stuck(solver, 0.0) for _ in range(2)]
    for world in worlds:
        advance(world, 48)  # at rest: what rings lies half a step behind its forces
    mass = worlds[0].model.vertex_mass[:, None]
    before = (mass * worlds[0].save().velocities[: len(mass)]).sum(axis=0)
    assert bond_count(worlds[0]) == 9
    for world in worlds:
        kick(world, 0.5)
    worlds[1].load(worlds[0].save())
    for frame in range(12):
        for world in worlds:
            advance(world, 1, values={1: {"bond_strength": 0.05}})
        if frame == 2:
            worlds[1].load(worlds[1].save())  # continued
    state, other = (world.save() for world in worlds)
    np.testing.assert_array_equal(state.positions, other.positions)
    np.testing.assert_array_equal(state.keyed.bond_broken, other.keyed.bond_broken)
    assert bond_count(worlds[0]) == 0
    assert len(state.keyed.bond_broken) == 0  # out of reach
    gap = worlds[0].positions(0)[:, 2].mean() - worlds[0].positions(1)[:, 2].mean()
    assert gap > SIDE + 0.05
    after = (mass * state.velocities[: len(mass)]).sum(axis=0)
    np.testing.assert_allclose(after, before, atol=1e-7 * MASS * 0.5)  # of what each body was given
    kick(worlds[0], -1.0)
    advance(worlds[0], 16, values={1: {"bond_strength": 0.0}})
    assert bond_count(worlds[0]) > 0


@solvers
def test_without_a_strength_bonds_hold(solver):
    world = stuck(solver, 0.0)
    kick(world, 0.5)
    advance(world, 12)
    assert bond_count(world) == 9
    assert world.positions(0)[:, 2].mean() - world.positions(1)[:, 2].mean() < SIDE + 0.05


def test_a_vertex_that_came_off_does_not_stick_again_before_it_was_out_of_reach():
    """Bonds too weak for any pull: each vertex comes off once, though it still lies where it was."""
    world = stuck("EXPLICIT", 1e-6)
    assert bond_count(world) == 0
    state = world.save()
    assert len(state.keyed.bond_broken) == len(np.unique(state.keyed.bond_broken, axis=0))


@pytest.mark.parametrize("gas", [{}, {"gas_exponent": 1.4}, {"gas_hold": "VOLUME"}])
def test_springs_and_gas_pull_at_no_vertex_of_a_skin_at_rest(gas):
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.icosphere(2, 0.2)
    builder.add_membrane("ball", x, triangles, mass=0.1, gauge_pressure=2000.0, stretch_modulus=2e4, bend_modulus=0.0,
                         pressure_at="REST", drawn_shape="INFLATED", damping=20.0, **gas)  # fmt: skip
    world = World(builder.build(), frame_rate=24.0, substeps=20, threads=1, solver="EXPLICIT")
    advance(world, 72)
    state, model = world.save(), world.model
    force = Pulls(model).at(model, np.ones(model.vertex_count, bool), state.positions, state.gas)
    body = world.diagnostics().bodies[0]
    assert body.gauge_pressure > 1000.0
    pressing = body.gauge_pressure * 4.0 * np.pi * 0.2**2 / len(x)
    assert np.abs(force).max() < 1e-3 * pressing


def test_frames_in_which_bonds_form_are_told_whole():
    """The solver begins anew with each of them: what it noted before counts, too."""
    builder = ModelBuilder()
    x, triangles = shapes.icosphere(1, 0.5 * SIDE)
    for number in range(3):
        place = (0.9 * SIDE * (number - 1), 0.0, 0.55 * SIDE + 0.6 * SIDE * (number % 2))
        builder.add_membrane(f"ball {number}", x + place, triangles, mass=MASS, gauge_pressure=2e3, sticks=True)
    builder.add_collider("floor", *shapes.grid(2.0))
    world = World(builder.build(), frame_rate=24.0, threads=1)
    before, formed = 0, 0
    for _ in range(24):
        advance(world, 1)
        found, count = world.diagnostics(), bond_count(world)
        assert max(report.steps for report in found.reports) >= world.steps_per_frame
        if count > before:  # they lie on the floor
            formed += 1
            assert found.contact_count > 0 and sum(world.contact_forces(body).sum() for body in range(3)) > 0.0
        before = count
    assert formed >= 3


def test_a_solver_that_begins_anew_where_the_frame_ends_leaves_what_it_noted():
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(1, 0.1, (0.0, 0.0, 0.11)), mass=MASS, gauge_pressure=2e3)
    builder.add_collider("floor", *shapes.grid(2.0))
    world, noted = World(builder.build(), frame_rate=24.0, threads=1), NotedFrame()
    advance(world, 6)
    solver = world._solver
    before, forces, steps = solver.contact_count, solver.contact_forces(), solver.notes().steps
    assert before > 0 and steps > 0 and forces.sum() > 0.0
    noted.keep(solver)
    solver.start_frame(world.save())
    assert (noted.contact_count(solver), noted.notes(solver).steps) == (before, steps)
    np.testing.assert_array_equal(noted.contact_forces(solver), forces)
