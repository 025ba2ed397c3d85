"""Integrals of hydrostatic pressure over wet surfaces, against polyhedra with closed forms."""

import numpy as np
import pytest
import shapes
from softpressure_ext.core.impulses.wetting import facets_of, level_of, volume_below, wet_integrals

UP = np.array([0.0, 0.0, 1.0])


def measured(positions, triangles, level):
    """Force of a fluid of unit weight on a body below a level, and its moment about the origin."""
    facets = facets_of(positions, triangles, UP)
    integrals, _ = wet_integrals(level - facets.height)
    forces = -integrals[:, :, None] * facets.area[:, None, :]
    return forces.sum(axis=(0, 1)), np.cross(facets.corners, forces).sum(axis=(0, 1))


@pytest.mark.parametrize("level", [-0.3, -0.1, 0.0, 0.17, 0.31, 0.5, 0.9])
def test_a_box_is_lifted_by_the_weight_of_what_it_displaces_at_its_centre(level):
    positions, triangles = shapes.box(1.0, 3)
    depth = min(level + 0.5, 1.0)
    force, moment = measured(positions + [2.0, 1.0, 0.0], triangles, level)
    np.testing.assert_allclose(force, [0.0, 0.0, depth], atol=1e-12)
    np.testing.assert_allclose(moment, np.cross([2.0, 1.0, 0.0], force), atol=1e-12)


def test_a_tilted_body_is_lifted_through_the_centroid_of_the_volume_displaced():
    """A box cut by its own diagonal plane displaces a prism: half of it, with its centroid a third from the edge."""
    positions, triangles = shapes.box(1.0, 2)
    turned = positions @ shapes.rotation((0.0, 1.0, 0.0), np.pi / 4).T
    force, moment = measured(turned, triangles, 0.0)
    np.testing.assert_allclose(force, [0.0, 0.0, 0.5], atol=1e-12)
    np.testing.assert_allclose(moment, 0.0, atol=1e-12)
    # a quarter of the diagonal's height: what is left is a pyramid-shaped prism of a sixteenth
    force, _ = measured(turned, triangles, -0.75 * np.sqrt(0.5))
    np.testing.assert_allclose(force[2], 0.25**2 * np.sqrt(0.5) ** 2, rtol=1e-12)


@pytest.mark.parametrize("share", [1e-6, 0.2, 0.5, 0.93, 1.0])
def test_the_level_has_its_volume_below(share):
    positions, triangles = shapes.torus(1.0, 0.4)
    facets = facets_of(positions @ shapes.rotation((1.0, 2.0, 0.0), 0.7).T, triangles, UP)
    rise, height = facets.rise, facets.height
    whole = volume_below(10.0, height, rise)[0]
    level = level_of(share * whole, height, rise)
    assert volume_below(level, height, rise)[0] == pytest.approx(share * whole, rel=1e-9)
    assert height.min() <= level <= height.max()


def test_the_volume_grows_with_the_level_by_the_area_of_the_surface():
    positions, triangles = shapes.icosphere(3)
    facets = facets_of(positions, triangles, UP)
    rise, height = facets.rise, facets.height
    above, below = (volume_below(level, height, rise)[0] for level in (0.3 + 1e-6, 0.3 - 1e-6))
    assert volume_below(0.3, height, rise)[1] == pytest.approx((above - below) / 2e-6, rel=1e-6)
