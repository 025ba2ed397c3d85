"""Limit points of cages, and cages for surfaces."""

import numpy as np
import pytest
from softpressure_ext.core import Subdivision

CUBE = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def subdivision(faces):
    sizes = np.cumsum([0, *map(len, faces)])
    return Subdivision(np.concatenate(faces).astype(np.int32), sizes.astype(np.int32))


def grid(count):
    """A plane of squares with a bump, and its faces."""
    x, y = (each.ravel().astype(float) for each in np.meshgrid(range(count), range(count), indexing="ij"))
    corner = [k for k in range(count * count) if x[k] < count - 1 and y[k] < count - 1]
    return np.stack([x, y, np.sin(x) * np.cos(y)], axis=1), [(k, k + count, k + count + 1, k + 1) for k in corner]


def test_limit_points_of_a_cube_are_halfway():
    np.testing.assert_allclose(subdivision(FACES).limit_points(CUBE), 0.5 * CUBE, atol=1e-14)


def test_limit_points_in_a_regular_grid_are_those_of_the_cubic_spline():
    x, faces = grid(7)
    found = subdivision(faces).limit_points(x).reshape(7, 7, 3)
    spline = np.array([1.0, 4.0, 1.0]) / 6.0
    patch = x.reshape(7, 7, 3)[2:5, 2:5]
    np.testing.assert_allclose(found[3, 3], np.einsum("i,j,ijk->k", spline, spline, patch), atol=1e-14)
    np.testing.assert_allclose(found[0, 3], np.einsum("j,jk->k", spline, x.reshape(7, 7, 3)[0, 2:5]), atol=1e-14)


def test_a_vertex_of_no_face_stays():
    x = np.concatenate([CUBE, [(5.0, 6.0, 7.0)]])
    np.testing.assert_array_equal(subdivision(FACES).limit_points(x)[-1], x[-1])


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_cage_is_moved_with_its_surface_and_flattened_with_it(scale):
    x, faces = grid(9)
    of = subdivision(faces)
    shift = scale * np.array([3.0, -2.0, 0.5])
    np.testing.assert_allclose(
        of.cage(scale * x + shift, of.limit_points(scale * x) + shift), scale * x + shift, atol=1e-12 * scale
    )
    flat = scale * of.limit_points(x) * (1.0, 1.0, 0.0)
    left = np.abs(of.limit_points(of.cage(scale * x, flat)) - flat).max()
    assert left < 0.1 * np.abs(of.limit_points(scale * x) - flat).max()


def test_only_cages_of_the_surface_that_are_away_from_it_are_taken():
    of = subdivision(FACES)
    assert of.is_of(CUBE, 0.5 * CUBE)
    assert not of.is_of(CUBE, 0.6 * CUBE)  # as creases make it
    x, faces = grid(5)
    flat = x * (1.0, 1.0, 0.0)
    inner = subdivision([face for face in faces if 0 not in face])
    assert not inner.is_of(flat, flat)
