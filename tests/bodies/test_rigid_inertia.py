"""Mass properties of solids against closed forms, against quadrature, and under motion and scaling."""

import moments
import numpy as np
import pytest
import shapes
from rigid_scene import block
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.bodies.rigid.inertia import inertia_of, mass_properties
from validation import validated

#: Sums of some hundred terms of the size of the result.
ROUNDING = 1e-12


#: An L of two arms 1 m wide; its inner corner (1, 1) sees all of it.
ELL = np.array([(1.0, 1.0), (1.0, 3.0), (0.0, 3.0), (0.0, 0.0), (4.0, 0.0), (4.0, 1.0)])

MESHES = {
    "ball": shapes.icosphere(1, 0.3, (0.2, 0.1, -0.4)),
    "torus": shapes.torus(0.4, 0.15, 12, 7, (1.0, 2.0, 3.0)),
    "box": block((0.3, 1.0, 2.0), (5.0, 6.0, 7.0), cells=2),
    "ell": shapes.prism(ELL, 0.7),
}


def close(found, expected, share):
    """Volume, centre and second moment equal, each to a share of its size and that of the centre."""
    assert found[0] == pytest.approx(expected[0], rel=share)
    np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=share * np.abs(expected[1]).max() + share)
    np.testing.assert_allclose(found[2], expected[2], rtol=0, atol=share * np.abs(expected[2]).max())


@pytest.mark.parametrize("cells", [1, 3])
def test_a_box(cells):
    a, b, c = sizes = np.array([0.3, 0.5, 1.1])
    volume, centre, moment = mass_properties(*block(sizes, (4.0, -2.0, 1.0), cells=cells))
    validated(
        "volume of a box", room="bodies/rigid", measured=volume, expected=a * b * c, unit="m³", rel=ROUNDING,
        source="a b c", reason="rounding",
    )  # fmt: skip
    np.testing.assert_allclose(centre, (4.0, -2.0, 1.0), rtol=ROUNDING)
    expected = volume / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    validated(
        "inertia of a box per density", room="bodies/rigid", measured=inertia_of(moment), expected=expected, unit="m⁵",
        abs=ROUNDING * expected.max(), source="V (b² + c²) / 12", reason="rounding",
    )  # fmt: skip


def test_a_corner_tetrahedron():
    """(0, a, b, c) on the axes: integral of x^2 = a^2 V / 10, of x y = a b V / 20, about the corner."""
    sizes = np.array([0.5, 1.0, 2.0])
    x = np.vstack([np.zeros(3), np.diag(sizes)])
    volume, centre, moment = mass_properties(x, np.array([(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)]))
    assert volume == pytest.approx(sizes.prod() / 6.0, rel=ROUNDING)
    np.testing.assert_allclose(centre, sizes / 4.0, rtol=ROUNDING)
    about_corner = volume / 20.0 * (np.outer(sizes, sizes) + np.diag(sizes**2))
    expected = about_corner - volume * np.outer(centre, centre)
    validated(
        "second moment of a corner tetrahedron", room="bodies/rigid", measured=moment, expected=expected, unit="m⁵",
        abs=ROUNDING * np.abs(expected).max(), source="∫x² = a² V / 10, ∫xy = a b V / 20 about the corner",
        reason="rounding",
    )  # fmt: skip


def test_spheres_converge_to_the_ball():
    """2/5 m r^2 per volume; the mesh lies inside the ball by a share that falls to a quarter with each subdivision."""
    errors = []
    for subdivisions in (2, 3, 4):
        volume, centre, moment = mass_properties(*shapes.icosphere(subdivisions, 0.7))
        inertia = inertia_of(moment) / volume
        np.testing.assert_allclose(centre, 0.0, atol=1e-14)
        np.testing.assert_allclose(inertia, inertia[0, 0] * np.eye(3), rtol=0, atol=1e-13)  # as round as an icosahedron
        errors.append(1.0 - inertia[0, 0] / (0.4 * 0.7**2))
    assert 0.0 < errors[2] < 2e-3
    validated(
        "error of a sphere's inertia, from one subdivision to the next", room="bodies/rigid",
        measured=np.divide(errors[:-1], errors[1:]), expected=4.0, rel=0.05,
        source="2/5 m r², approached by second order", reason="the next order of the facets",
    )  # fmt: skip


@pytest.mark.parametrize("name", MESHES)
def test_moments_equal_quadrature(name):
    close(mass_properties(*MESHES[name]), moments.solid_moments(*MESHES[name]), 1e-11)  # quadrature on a vertex


@pytest.mark.parametrize("name", MESHES)
def test_moments_turn_and_move_with_the_mesh(name):
    x, triangles = MESHES[name]
    volume, centre, moment = mass_properties(x, triangles)
    turn, away = shapes.rotation((1.0, 2.0, -0.5), 1.1), np.array([3.0, -7.0, 2.0])
    expected = volume, turn @ centre + away, turn @ moment @ turn.T
    close(mass_properties(x @ turn.T + away, triangles), expected, ROUNDING * 10)


def test_a_kilometre_away_nothing_is_lost_but_the_rounding_of_the_vertices():
    x, triangles = MESHES["torus"]
    x = np.round(x * 2.0**30) / 2.0**30  # so that moving it is exact
    away = np.array([1024.0, -2048.0, 512.0])
    here, there = mass_properties(x, triangles), mass_properties(x + away, triangles)
    # the origin of the sums is rounded to 2e-13 m; it drops out but for the rounding of what it multiplies
    assert there.volume == pytest.approx(here.volume, rel=1e-11)
    np.testing.assert_allclose(there.centre, here.centre + away, rtol=0, atol=1e-12)
    np.testing.assert_allclose(there.second_moment, here.second_moment, rtol=0, atol=1e-11 * here.second_moment.max())


def test_a_model_has_the_mass_that_was_given():
    made = ModelBuilder()
    made.add_rigid("box", *block((0.3, 0.5, 1.1), (4.0, -2.0, 1.0)), mass=7.0)
    made.add_rigid("ell", *MESHES["ell"], mass=0.2)
    rigid = made.build().rigid
    np.testing.assert_allclose(rigid.mass, [7.0, 0.2])
    expected = 7.0 / 12.0 * np.diag([0.25 + 1.21, 0.09 + 1.21, 0.09 + 0.25])
    np.testing.assert_allclose(rigid.inertia[0], expected, rtol=0, atol=ROUNDING * 10)
    np.testing.assert_allclose(rigid.inverse_inertia @ rigid.inertia, [np.eye(3)] * 2, rtol=0, atol=ROUNDING * 10)
    np.testing.assert_allclose(rigid.centre[0], (4.0, -2.0, 1.0), rtol=ROUNDING)
    assert rigid.radius[0] == pytest.approx(0.5 * np.sqrt(0.09 + 0.25 + 1.21), rel=ROUNDING)
