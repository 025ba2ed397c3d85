"""Energy and force of solids: finite differences, rest, and the stiffness of a bar."""

import numpy as np
import pytest
import shapes
import solid_scene
from force_scene import ROUNDING, check_gradient
from softpressure_ext.core import State, World
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
