"""Bending of the explicit solver, against the energy of `energy/bend.py`."""

import numpy as np
import pytest
import shapes
from force_scene import ROUNDING, Scene, close, hinge_energies, hinge_forces
from numba import njit
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.simd import lane, spread, sum_spread
from softpressure_ext.core.solvers.explicit.bending import BLOCK, add_bending, bend_four, bending_of

#: Scatter of the vertices [m], on edges of 0.06 m: at rest, bent a little, and crumpled with triangles turned over.
SCATTER = (0.0, 0.006, 0.06)
#: Rows of the engine that are no vertices.
OTHERS = 5


@njit
def bending_energy(x, bending):
    """Energy of all hinges [J] at positions x [m], from what their forces are computed of."""
    total = spread(0.0)
    for four in range(bending.places.shape[0]):
        total = total + bend_four(np.uint32(four), np.uint32(0), x, bending)
    return 0.5 * lane(sum_spread(total), 0)


class Rows:
    """The vertices of a model in the rows of an engine that numbers them in its own order."""

    def __init__(self, model, seed=0):
        self.model = model
        self.count = model.vertex_count + OTHERS
        self.point = np.random.default_rng(seed).permutation(self.count)[: model.vertex_count]
        self.bending = self.bending_of(model.hinges)

    def bending_of(self, hinges):
        return bending_of(hinges, self.point, np.zeros(len(hinges.points), int), 1, False)

    def rows(self, vectors):
        """Vectors of the vertices as rows."""
        rows = np.zeros((self.count, 4))
        rows[self.point, :3] = vectors[: self.model.vertex_count]
        return rows

    def evaluate(self, x):
        """Energy [J], and forces on the vertices [N]."""
        force = np.zeros((self.count, 4))
        rows = self.rows(x).ravel()
        add_bending(rows, force.ravel(), self.bending, 0, 1.0)
        assert not force[:, 3].any()
        assert np.count_nonzero(force.any(axis=1)) <= self.model.vertex_count
        return bending_energy(rows, self.bending), force[self.point, :3]


@pytest.fixture(params=range(3))
def scene(request):
    return Scene(request.param)


def skin(x, triangles, bend_modulus=0.05):
    """Model of one skin."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_membrane("skin", x, triangles, mass=0.5, stretch_modulus=2e4, bend_modulus=bend_modulus)
    return builder.build()


# --- the same energy ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scatter", SCATTER)
def test_energy_and_forces_are_those_of_the_hinges(scene, scatter):
    x, model = scene.scattered(scatter), scene.model
    energy, force = Rows(model).evaluate(x)
    expected, expected_force = hinge_energies(x, model.hinges).sum(), hinge_forces(x, model.hinges)
    # each hinge holds k c against itself; what is left at rest are roundings of its sums
    held = np.abs(model.hinges.stiffness * model.hinges.rest_bend * np.abs(model.hinges.weight).max(axis=1)).max()
    np.testing.assert_allclose(force, expected_force, rtol=0, atol=ROUNDING * max(held, np.abs(force).max()))
    assert energy == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING**2 * held)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 4 * BLOCK - 1, 4 * BLOCK, 4 * BLOCK + 1])
def test_any_number_of_hinges_fills_fours_and_blocks(count):
    scene = Scene(0)
    hinges, x = scene.model.hinges, scene.scattered(SCATTER[1])
    constants = ("points", "weight", "rest_bend", "normal_scale", "stiffness")
    some = hinges._replace(**{name: getattr(hinges, name)[:count] for name in constants})
    rows = Rows(scene.model)
    rows.bending = rows.bending_of(some)
    left = np.where(np.arange(len(hinges.points)) < count, hinges.stiffness, 1e-300)  # the others do next to nothing
    found = rows.evaluate(x)
    if count == 0:
        assert found[0] == 0.0
        assert not found[1].any()
    else:
        close(found[1], hinge_forces(x, hinges._replace(stiffness=left)), ROUNDING)


# --- what it keeps ------------------------------------------------------------------------------------------------


def test_only_the_joint_of_a_turned_limb_bends():
    x, triangles = shapes.tube(0.5, 0.04, 0.2, 0.1)  # a fifth of a helix
    model = skin(x, triangles)
    rest = model.rest_positions
    ahead = np.arctan2(rest[:, 1], rest[:, 0])
    middle = 0.5 * (ahead.min() + ahead.max())
    joint = 0.5 * np.array([np.cos(middle), np.sin(middle), 0.0])
    turned = rest.copy()
    half = ahead > middle
    turned[half] = (rest[half] - joint) @ shapes.rotation((0.0, 0.0, 1.0), 0.5 * np.pi).T + joint
    force = Rows(model).evaluate(turned)[1]
    pushed = np.abs(force).max(axis=1)
    away = np.linalg.norm(rest - joint, axis=1) > 0.1
    assert np.count_nonzero(away) > 0.5 * len(rest)
    assert pushed[away].max() < ROUNDING * pushed.max()
