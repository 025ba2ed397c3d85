"""Springs that stiffen with strain: derivatives, the curve of a pulled bar, energy, in every solver."""

import numpy as np
import pytest
import shapes
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.energy.stiffening import STIFFENING, quartic, stiffening_energy
from validation import validated

PARAMETERS = np.array([300.0, 0.2])  # k a [N/m] and L [m]


def stretched_bar(solver, stretch, stiffening):
    """A cube of one cell whose points are all pinned, pulled along x, and its model."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.box(0.5, 1)
    builder.add_solid(
        "bar", x, triangles, kind="TRUSS", cell_size=0.5, modulus=1e3, pinned=np.arange(8), stiffening=stiffening
    )
    world = World(builder.build(), frame_rate=24.0, substeps=20, threads=1, solver=solver)
    world.advance_frame(FrameInput(pinned_positions={0: x * (stretch, 1.0, 1.0)}))
    return world


def phi(d):
    return np.array(quartic(PARAMETERS, 0, *d))


@pytest.mark.parametrize("length", [0.05, 0.15, 0.2, 0.31])
def test_derivatives_are_those_of_the_energy(length):
    """Squeezed springs have the tension across taken out of the Hessian, as the linear springs have."""
    d = length * np.array([0.6, -0.64, 0.48])
    step, terms = 1e-6, phi(d)
    ahead, behind = (np.array([phi(d + sign * step * axis) for axis in np.eye(3)]) for sign in (1.0, -1.0))
    # differences of second order: (step / L)^2 = 2.5e-11, and rounding 1e-16 / 1e-6
    np.testing.assert_allclose((ahead - behind)[:, 0] / (2.0 * step), terms[1:4], rtol=1e-6, atol=1e-9)
    slope = (ahead - behind)[:, 1:4] / (2.0 * step)
    found = np.array([[terms[4], terms[7], terms[8]], [terms[7], terms[5], terms[9]], [terms[8], terms[9], terms[6]]])
    if length < 0.2:
        pull = terms[1] / d[0]
        unit = d / length
        slope -= pull * (np.eye(3) - np.outer(unit, unit))
    np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-5)
    assert np.linalg.eigvalsh(found).min() > -1e-9


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD", "RK4"])
def test_the_energy_of_a_pulled_bar_is_the_sum_of_the_closed_form(solver):
    """Every solver brings the pinned points where they are given; the elements are what its model has."""
    world = stretched_bar(solver, 1.3, 20.0)
    model, x = world.model, world.save().positions
    edges = model.edges
    i, j = edges.points.T
    strain = np.linalg.norm(x[i] - x[j], axis=1) / edges.rest_length - 1.0
    expected = (0.25 * 20.0 * edges.stiffness * edges.rest_length**2 * strain**4).sum()
    assert stiffening_energy(model, x)[0] == pytest.approx(expected, rel=1e-12)
    assert STIFFENING.elements(model).points.shape == (len(edges.points), 4)


def pulled_stretch(solver, load, stiffening):
    """Stretch of a hanging bar of one cell under `load` [N] on its lower end, at rest."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -load))  # half of 2 kg hangs on the springs
    x, triangles = shapes.box(0.5, 1)
    top = np.flatnonzero(x[:, 2] > 0.0)
    builder.add_solid(
        "bar", x, triangles, kind="TRUSS", cell_size=0.5, mass=2.0, modulus=100.0, pinned=top, damping=8.0,
        stiffening=stiffening,
    )  # fmt: skip
    world = World(builder.build(), frame_rate=24.0, substeps=20, threads=1, solver=solver)
    for _ in range(72):
        world.advance_frame()
    return np.ptp(world.positions(0)[:, 2]) / 0.5, world.model


def statics(model, load, stiffening):
    """The same by minimising the energy of the springs over height and width of the lower face."""
    from scipy.optimize import minimize

    edges, rest = model.edges, model.rest_positions
    i, j = edges.points.T

    def energy(shape):
        x = rest.copy()
        low = x[:, 2] < 0.0
        x[low, :2] *= shape[1]
        x[low, 2] = 0.25 - 0.5 * shape[0]
        strain = np.linalg.norm(x[i] - x[j], axis=1) / edges.rest_length - 1.0
        held = edges.stiffness * edges.rest_length**2
        return (held * (0.5 * strain**2 + 0.25 * stiffening * strain**4)).sum() - load * 0.5 * shape[0]

    return minimize(energy, (1.0, 1.0), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14}).x[0]


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD", "RK4"])
@pytest.mark.parametrize("load", [2.0, 8.0])
def test_a_pulled_bar_stretches_as_statics_say(solver, load):
    pytest.importorskip("scipy")
    found, model = pulled_stretch(solver, load, 30.0)
    expected = statics(model, load, 30.0)
    soft = statics(model, load, 0.0)
    assert soft - expected > (0.001 if load < 5.0 else 0.05)
    validated(
        f"stretch of a bar that stiffens, {load:g} N, {solver}", room="energy", measured=found - 1.0,
        expected=expected - 1.0, rel=0.01, source="minimum of the energy of all springs",
        reason="motion left after 3 s: exp(-8 · 3 / 2)",
    )  # fmt: skip


def test_energy_is_conserved_while_a_bar_swings():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.box(0.4, 2)
    builder.add_solid("bar", x, triangles, kind="TRUSS", cell_size=0.2, mass=1.0, modulus=1e3, stiffening=30.0)
    world = World(builder.build(), frame_rate=24.0, substeps=40, threads=1, solver="RK4")
    state = world.save()
    state.positions[:, 0] *= 1.3
    world.load(state)
    change = 0.0
    for _ in range(24):
        world.advance_frame()
        change += world.reports()[0].energy_change
    stored = stiffening_energy(world.model, state.positions)[0]
    assert stored > 0.01
    # of fourth order: (omega h)^5 = 1e-5 of what swings fastest, in each of its radians
    assert abs(change) < 0.01 * stored
