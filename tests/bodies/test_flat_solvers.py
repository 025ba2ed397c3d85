"""Flat bodies in every solver: the projection, forces by differences, the linear system."""

from dataclasses import replace

import numpy as np
import pytest
import shapes
from flat_scene import AMBIENT, gas_law_error, in_plane, loop_world, momenta, out_of_plane, ring_strain
from scenes import assert_continues, played
from softpressure_ext.core.energy.mechanical import mechanical_energy
from softpressure_ext.core.papers.forces import SoftForces
from softpressure_ext.core.solvers.xpbd.pressure_retention import PressureRetention
from softpressure_ext.core.state import State, gas_amount
from softpressure_ext.core.volume import EnclosedVolumes
from validation import validated

TILTED = ((1.0, 2.0, 0.5), 0.8)
RING = shapes.ring(48, 0.5)
#: Substeps per 1/60 s that each is stable with.
SOLVERS = [("EXPLICIT", 4), ("XPBD", 40), ("EXPLICIT_EULER", 60), ("HEUN", 200), ("RK4_MARTIN", 40), ("RK4", 40)]
SOLVERS += [("IMPLICIT_KANG", 60), ("IMPLICIT_MESIT", 60)]


def projection(model):
    """P as a dense matrix, from its definition: mean of both copies, without the part along the normal."""
    n = model.vertex_count
    p = np.zeros((n, 3, n, 3))
    for (a, b), normal in zip(model.flat.pairs, model.flat.pair_normal, strict=True):
        within = 0.5 * (np.eye(3) - np.outer(normal, normal))
        for i in (a, b):
            for j in (a, b):
                p[i, :, j] = within
    return p.reshape(3 * n, 3 * n)


def moved(model, seed=4, size=0.01):
    """Positions away from rest within the plane [m]."""
    x = model.rest_positions.copy()
    n = model.vertex_count
    noise = np.random.default_rng(seed).normal(0.0, size, 3 * n)
    x[:n] += (projection(model) @ noise).reshape(n, 3)
    return x


@pytest.fixture
def bent():
    """A folded loop in a tilted plane, out of shape."""
    world = loop_world(shapes.bark(60, 0.5), turn=TILTED, bend_modulus=3.0)
    return world.model, moved(world.model)


def test_forces_are_minus_the_gradient_within_the_plane(bent):
    """Energies of springs, bending and gas by central differences; out of the plane nothing is left."""
    model, x = bent
    forces, n = SoftForces(model), model.vertex_count
    gas = gas_amount(model, model.gauge_pressure)
    force, start, volume_of = np.zeros((n, 3)), State.at_rest(model), EnclosedVolumes(model)
    forces.evaluate(x, gas, model.rigid.arm, force)
    p = projection(model)
    np.testing.assert_allclose(p @ force.ravel(), force.ravel(), atol=1e-12 * np.abs(force).max())

    def energy(at):
        state = replace(start, positions=at, gas=gas)
        return mechanical_energy(model, model.vertex_mass, state, np.array([volume_of(0, at)]))[0]

    rng = np.random.default_rng(9)
    for _ in range(4):
        any_way = rng.standard_normal(3 * n)
        way = (p @ any_way).reshape(n, 3)
        step = 1e-6
        difference = (energy(x + step * way) - energy(x - step * way)) / (2.0 * step)
        validated(
            "slope of a loop's energy along a random direction in its plane", room="bodies/flat", measured=-difference,
            expected=np.vdot(force, way), unit="N", abs=1e-7 * np.abs(force * way).sum(),
            source="force times direction", reason="rounding of energies of 1e2 J over 2e-6 m",
        )  # fmt: skip
        assert np.vdot(force, any_way) == pytest.approx(np.vdot(force, way), rel=1e-9)


@pytest.mark.parametrize(("solver", "substeps"), SOLVERS)
def test_each_solver_holds_a_ring_under_pressure(solver, substeps):
    """Near the strain of the closed form; XPBD is softer by Y D h^2 / (m L): an edge gets no more than about m / h^2.

    Here m is the mass of a corner and L its side.
    """
    strain = ring_strain(48, 0.5, 2e3, 1e4)
    world = loop_world(RING, turn=TILTED, gravity=0.0, gauge_pressure=2e3, damping=20.0, depth=0.2, mass=2.0,
                       solver=solver, substeps=substeps)  # fmt: skip
    world.set_positions(0, (1.0 + strain) * world.positions(0))
    for _ in played(world, 12):
        assert gas_law_error(world, 0, TILTED) < 1e-12  # thousands of steps round the band's depth
    radius = np.linalg.norm(in_plane(world, 0, TILTED), axis=1)
    softer = 0.0
    if solver == "XPBD":
        softer = 1e4 * 0.2 / (60.0 * substeps) ** 2 / (2.0 / 48.0 * 2.0 * 0.5 * np.sin(np.pi / 48))
    validated(
        "mean strain of a ring under pressure in each solver", room="bodies/flat", measured=radius.mean() / 0.5 - 1.0,
        expected=strain, rel=0.01 + softer, source="p r (1 + ε) cos(π / 48) = Y ε",
        reason="it still rings; XPBD is softer by Y depth h² / (m L)",
    )  # fmt: skip
    assert np.ptp(radius) < 1e-4
    assert max(out_of_plane(world, TILTED)) < 1e-12


def test_xpbd_expects_the_pressure_of_a_ring_in_equilibrium():
    model = loop_world(shapes.ring(400, 0.5), gauge_pressure=2e3, depth=0.2).model
    gas = gas_amount(model, model.gauge_pressure)
    strain = ring_strain(400, 0.5, 2e3, 1e4)
    expected = (2e3 + AMBIENT) / (1.0 + strain) ** 2 - AMBIENT
    # the polygon's area is that of a circle to 2 / 3 (pi / 400)^2
    assert PressureRetention(model).expected(gas)[0] == pytest.approx(expected, rel=1e-3)
    assert PressureRetention(model)(gas, np.array([0.5 * expected]))[0] == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(("solver", "substeps"), [("EXPLICIT", 4), ("XPBD", 20), ("RK4", 40), ("IMPLICIT_MESIT", 40)])
def test_two_loops_meet_and_keep_their_momentum_and_their_plane(solver, substeps):
    outlines = shapes.ring(40, 0.5), shapes.ring(31, 0.4, (1.2, 0.3))
    world = loop_world(
        *outlines, turn=TILTED, gravity=0.0, friction=0.0, velocities=[(2.0, 0.0, 0.0), (0.0, 0.0, 0.0)],
        solver=solver, substeps=substeps, bend_modulus=1.0, stretch_modulus=5e3,
    )  # fmt: skip
    before = momenta(world, TILTED)
    touched = 0
    for _ in played(world, 30):
        touched = max(touched, world.diagnostics().contact_count)
        a, b = in_plane(world, 0, TILTED), in_plane(world, 1, TILTED)
        assert np.linalg.norm(a[:, None] - b, axis=2).min() > 0.25 * world.model.thickness[:2].sum()
    after = momenta(world, TILTED)
    assert touched > 0 and np.linalg.norm(b.mean(axis=0) - (1.2, 0.3)) > 0.1
    np.testing.assert_allclose(after[0], before[0], atol=1e-11)
    # up to 1.5 N s along a triangle's normal, a thickness from where it acts, that leads past there by half a corner
    lever = world.model.thickness[:2].sum() * np.pi / 31
    assert after[1] == pytest.approx(before[1], abs=1.5 * lever)
    assert max(out_of_plane(world, TILTED)) < 1e-11


@pytest.mark.parametrize(("solver", "substeps"), [("EXPLICIT", 4), ("XPBD", 20), ("RK4", 60)])
def test_a_folded_loop_lands_and_the_gas_law_holds(solver, substeps):
    world = loop_world(
        shapes.bark(240, 0.5) + (0.0, 0.75), floor=True, gauge_pressure=1e3, stretch_modulus=1e4, bend_modulus=2.0,
        mass=4.0, damping=4.0, solver=solver, substeps=substeps, self_collision=solver != "RK4",
    )  # fmt: skip
    for _ in played(world, 30):
        assert gas_law_error(world) < 1e-13
    assert 0.0 < in_plane(world)[:, 1].min() < (1.0 + 1e-9) * world.model.thickness[0]
    assert out_of_plane(world) == (0.0, 0.0)


@pytest.mark.parametrize(("solver", "substeps"), [("EXPLICIT", 4), ("XPBD", 20), ("RK4", 40)])
def test_a_run_continues_from_a_saved_state_with_the_same_bits(solver, substeps):
    def made():
        return loop_world(RING + (0.0, 0.52), floor=True, solver=solver, substeps=substeps, stretch_modulus=5e3)

    assert_continues(made, 12, 8)
