"""Energy, force and Hessian of solids: finite differences, rest, and the stiffness of a bar."""

import numpy as np
import pytest
import shapes
import solid_scene
from force_scene import DIFFERENCES, ROUNDING, check_gradient, hessian_times
from softpressure_ext.core import State, World
from softpressure_ext.core.energy.volume import evaluate_tetrahedra
from softpressure_ext.core.solvers.implicit.preconditioner import stiffness_graph
from validation import validated


def ball_model(**options):
    return solid_scene.model_of(shapes.icosphere(2, 0.5), **{"cell_size": 0.2, "modulus": 2e4} | options)


def shaken(model, size, seed=1):
    rng = np.random.default_rng(seed)
    return model.rest_positions + rng.normal(0.0, size, model.rest_positions.shape), rng


@pytest.mark.parametrize("kind", ["SOLID", "TRUSS"])
@pytest.mark.parametrize("size", [0.01, 0.2])
def test_force_is_minus_the_gradient(kind, size):
    """The larger scatter turns tetrahedra inside out."""
    model = ball_model(kind=kind)
    x, rng = shaken(model, size)
    if kind == "SOLID" and size > 0.1:
        pressure = solid_scene.elastic(model, x)[2][0]
        assert (pressure > model.tetrahedra.stiffness * model.tetrahedra.rest_volume).any()
    check_gradient(lambda at: solid_scene.elastic(model, at), x, rng.standard_normal(x.shape))


def test_rest_is_free_of_forces_and_of_gas():
    model = ball_model()
    energy, force, _ = solid_scene.elastic(model, model.rest_positions)
    scale = (model.edges.stiffness * model.edges.rest_length).max()
    assert energy < 1e-20 * scale and np.abs(force).max() < ROUNDING * scale
    assert State.at_rest(model).gas[0] == 0.0 and len(model.fans.corners) == 0


def test_the_air_around_does_not_squeeze():
    world = World(ball_model(mass=0.01, modulus=100.0), frame_rate=60.0, substeps=2, solver="EXPLICIT")
    world.advance_frame()
    n = world.model.vertex_count
    assert np.allclose(world.save().positions[:n], world.model.rest_positions[:n], rtol=0, atol=1e-12)


def test_forces_keep_momentum_and_angular_momentum():
    model = ball_model()
    x, _ = shaken(model, 0.1)
    force = solid_scene.elastic(model, x)[1]
    scale = np.abs(force).sum()
    assert np.abs(force.sum(axis=0)).max() < ROUNDING * scale
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < ROUNDING * scale


def tetrahedra_times(model, gradient, p):
    return hessian_times(model, p, tetrahedra=model.tetrahedra.points, tetrahedron_gradient=gradient)


def test_hessian_product_is_the_change_of_the_force_at_rest():
    """At rest the term of d2V, which is left out, vanishes."""
    model = ball_model()
    x, (_, rng) = model.rest_positions, shaken(model, 0.1)
    p = rng.standard_normal(x.shape)

    def volumes(at):
        pressure, gradient = np.zeros(len(model.tetrahedra.points)), np.zeros((len(model.tetrahedra.points), 4, 3))
        evaluate_tetrahedra(at, model.tetrahedra, pressure, gradient, np.zeros(len(model.chunks.body)))
        force = np.zeros_like(at)
        np.add.at(force, model.tetrahedra.points, pressure[:, None, None] * gradient)
        return force, gradient

    step = 1e-6
    difference = (volumes(x - step * p)[0] - volumes(x + step * p)[0]) / (2 * step)
    product, along, _ = tetrahedra_times(model, volumes(x)[1], p)
    assert np.abs(product - difference).max() < DIFFERENCES * np.abs(product).max()
    assert along == pytest.approx(np.vdot(p, product), rel=ROUNDING)


def test_hessian_is_positive_semi_definite_anywhere():
    model = ball_model(cell_size=0.4)
    x, _ = shaken(model, 0.3)
    gradient = solid_scene.elastic(model, x)[2][1]
    n = model.vertex_count
    matrix = np.array([tetrahedra_times(model, gradient, row.reshape(n, 3))[0].ravel() for row in np.eye(3 * n)])
    assert np.abs(matrix - matrix.T).max() < ROUNDING * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix).min() > -1e-9 * np.abs(matrix).max()


def test_the_preconditioner_has_a_third_of_the_trace():
    model = ball_model(cell_size=0.4)
    gradient = solid_scene.elastic(model, model.rest_positions)[2][1]
    n = model.vertex_count
    full = np.zeros((n, n))
    for axis in range(3):
        p = np.zeros((n, 3))
        for vertex in range(n):
            p[:] = 0.0
            p[vertex, axis] = 1.0
            full[vertex] += tetrahedra_times(model, gradient, p)[0][:, axis] / 3.0
    springs = ball_model(cell_size=0.4, kind="TRUSS", modulus=2e4 / 1.3 * 1.25)  # the same mu
    graphs = []
    for each in (model, springs):
        start, other, weight = stiffness_graph(each)
        dense = np.zeros((n, n))
        dense[np.repeat(np.arange(n), np.diff(start)), other] = weight
        graphs.append(dense)
    off = ~np.eye(n, dtype=bool)
    assert np.abs((graphs[0] - graphs[1] + full)[off]).max() < ROUNDING * np.abs(full).max()


@pytest.mark.parametrize(("kind", "ratio"), [("TRUSS", 0.25), ("SOLID", 0.25), ("SOLID", 0.4)])
@pytest.mark.parametrize("size", [0.2, 0.1])
def test_a_stretched_bar_has_the_stiffness_of_its_material(kind, ratio, size):
    """Force E A / L per metre at small strains; energy is 1 / 2 of it times the stretch^2, whatever the cells."""
    strain, modulus, area, length = 1e-6, 1e5, 0.04, 1.0
    model = solid_scene.model_of(
        solid_scene.bar(length, 0.2), cell_size=size, kind=kind, modulus=modulus, poisson_ratio=ratio
    )
    x = model.rest_positions * (1.0 + strain, 1.0 - ratio * strain, 1.0 - ratio * strain)
    energy, force, _ = solid_scene.elastic(model, x)
    stretch = strain * length
    validated(
        "energy of a stretched bar", room="bodies/lattice", measured=energy,
        expected=0.5 * modulus * area / length * stretch**2, unit="J", rel=5e-6, source="E A s² / 2L",
        reason="strains of 1e-6 make terms of higher order of this share",
    )  # fmt: skip
    ends = model.rest_positions[:, 0] > length - 1e-9
    validated(
        "force of a stretched bar", room="bodies/lattice", measured=-force[ends, 0].sum(),
        expected=modulus * area / length * stretch, unit="N", rel=5e-6, source="E A s / L",
        reason="strains of 1e-6 make terms of higher order of this share",
    )  # fmt: skip
