"""What fills a skin and sloshes: energy, momentum and angular momentum of its swing, and where it ends."""

import numpy as np
import pytest
import shapes
from scenes import GRAVITY
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.impulses.fluids import Fluids
from softpressure_ext.core.impulses.slosh import Slosh
from softpressure_ext.core.impulses.wetting import centre_below, facets_of, level_of
from softpressure_ext.core.state import State

WATER, TICK = 1000.0, 1.0 / 480.0
DOWN = np.array([[0.0, 0.0, -GRAVITY]])


def vessel(shape, share=0.5, damping=0.0):
    """Model, state with felt gravity, and sloshing of one membrane."""
    builder = ModelBuilder()
    builder.add_membrane(
        "vessel", *shape, mass=0.05, gauge_pressure=2000.0, stretch_modulus=600.0, gas_hold="VOLUME",
        pressure_at="REST", drawn_shape="INFLATED", fill_density=WATER, fill_share=share,
    )  # fmt: skip
    model = builder.build()
    state = State.at_rest(model)
    state.felt_gravity[:] = DOWN
    return model, state, Slosh(model, Fluids(model), damping)


def energy(model, state, slosh):
    """Of the swing over the mass that swings, times |g'| / kappa."""
    up, rate = state.surface[0].reshape(2, 3)
    kappa = slosh.mode(Fluids(model).liquid_of(state, state.positions, 0), 0)[0]
    return 0.5 * rate @ rate / kappa - GRAVITY * up[2]


def swing(model, state, slosh, is_free=False):
    return slosh.swing(state, DOWN, model.vertex_mass, np.full(model.vertex_count, is_free), TICK)


SHAPES = {"sphere": shapes.icosphere(1, 0.1), "cube": shapes.box(0.2, 2)}


@pytest.mark.parametrize(("shape", "damping"), [("sphere", 0.03), ("cube", 0.0)])
def test_a_held_vessel_never_gains_energy_of_its_swing_and_keeps_it_without_damping(shape, damping):
    """Wide swings, out of one plane, also where the surface becomes larger as it tilts."""
    model, state, slosh = vessel(SHAPES[shape], 0.4, damping)
    state.surface[0] = [np.sin(1.2), 0.0, np.cos(1.2), 0.0, 3.0, 0.0]
    energies, tilts = [energy(model, state, slosh)], []
    for _ in range(960):
        swing(model, state, slosh)
        energies.append(energy(model, state, slosh))
        tilts.append(state.surface[0, 0])
    assert min(tilts) < -0.5 and np.linalg.norm(state.surface[0, :3]) == pytest.approx(1.0, abs=1e-14)
    if damping == 0.0:
        np.testing.assert_allclose(energies, energies[0], rtol=0.0, atol=1e-10 * GRAVITY)
    else:
        assert np.diff(energies).max() < 1e-12 * GRAVITY and energies[-1] < energies[0] - 0.4 * GRAVITY


def test_what_sloshes_moves_its_skin_as_one_and_both_keep_momentum_and_angular_momentum():
    """The liquid in half a ball has its centre 3/8 of the radius below the surface."""
    model, state, slosh = vessel(shapes.icosphere(3, 0.1))
    state.surface[0] = [0.3, 0.0, np.sqrt(0.91), 0.0, 2.0, 0.0]
    mass, x, fluids = model.vertex_mass, state.positions[: model.vertex_count], Fluids(model)
    start = state.copy()
    change = swing(model, state, slosh, is_free=True)
    momenta = []
    for each in (start, state):
        moment = slosh.mode(fluids.liquid_of(each, each.positions, 0), 0)[1]
        momenta.append(-moment * each.surface[0, 3:])
    given = momenta[1] - momenta[0]
    arm = x - (mass[:, None] * x).sum(axis=0) / mass.sum()
    np.testing.assert_allclose((mass[:, None] * change).sum(axis=0), -given, rtol=1e-9, atol=1e-12)
    radius = np.cbrt(0.75 * model.rest_volume[0] / np.pi)
    turn, place = np.cross(arm, mass[:, None] * change).sum(axis=0), -0.375 * radius * start.surface[0, :3]
    np.testing.assert_allclose(turn, np.cross(place, -given), rtol=0.01, atol=1e-3 * np.abs(turn).max())
    edges = model.edges.points  # rigid: no spring becomes longer
    way, apart = x[edges[:, 1]] - x[edges[:, 0]], change[edges[:, 1]] - change[edges[:, 0]]
    np.testing.assert_allclose((way * apart).sum(axis=1), 0.0, atol=1e-9 * np.abs(way).max() * np.abs(change).max())


def test_a_surface_that_lies_upside_down_turns_over():
    model, state, slosh = vessel(shapes.icosphere(1, 0.1), damping=0.1)
    state.surface[0] = [0.0, 0.0, -1.0, 0.0, 0.0, 0.0]
    energies = [energy(model, state, slosh)]
    for _ in range(2000):
        swing(model, state, slosh)
        energies.append(energy(model, state, slosh))
    assert np.diff(energies).max() < 1e-12 * GRAVITY
    assert state.surface[0, 2] == pytest.approx(1.0, abs=1e-3)


def test_the_centre_of_a_liquid_in_a_box():
    positions, triangles = shapes.box(0.2, 3)
    turn = shapes.rotation((1.0, 2.0, 0.5), 0.7)
    facets = facets_of(positions @ turn.T + [0.3, -0.2, 0.1], triangles, turn @ [0.0, 0.0, 1.0])
    level = level_of(0.3 * 0.2**3, facets.height, facets.rise)
    expected = turn @ [0.0, 0.0, -0.1 + 0.5 * 0.3 * 0.2] + [0.3, -0.2, 0.1]
    np.testing.assert_allclose(centre_below(level, *facets[1:]), expected, atol=1e-12)
