"""Limit points of cages, and cages for surfaces."""

import numpy as np
import pytest
import shapes
from softpressure_ext.core import CoarseCage, Subdivision, even_mesh

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


@pytest.mark.parametrize(("x", "faces"), [(CUBE, FACES), grid(5)])
def test_a_refined_mesh_has_the_limit_points_of_the_coarse_one(x, faces):
    of = subdivision(faces)
    finer, points = of.refined(x)
    edges = {frozenset(pair) for face in faces for pair in zip(face, face[1:] + face[:1], strict=True)}
    assert len(points) == len(x) + len(edges) + len(faces)
    np.testing.assert_allclose(finer.limit_points(points)[: len(x)], of.limit_points(x), atol=1e-13)
    assert len(finer.triangles) == 2 * sum(map(len, faces))


def coarse_cage():
    """An even mesh of a cube of eight vertices that is seen subdivided, what it binds, and the surface of cages."""

    def surface(cage):
        finer, points = subdivision(FACES).refined(cage)
        finer, points = finer.refined(points)
        return finer.limit_points(points)

    finer, points = subdivision(FACES).refined(CUBE)
    even = even_mesh(surface(CUBE), finer.refined(points)[0].triangles, 300)
    return even, CoarseCage(even, np.full(len(even.positions), 0.01), CUBE, subdivision(FACES)), surface


def test_the_surface_of_a_coarse_cage_stays_out_of_a_floor_that_it_hardly_touches():
    """Five vertices lie on it; the even mesh itself is up to 8 mm within the surface. It stood out by 18 mm."""
    even, coarse, surface = coarse_cage()
    floor = surface(CUBE).min() + 0.04
    for axis in range(3):
        flat = even.positions.copy()
        flat[:, axis] = np.maximum(flat[:, axis], floor)
        assert surface(coarse.within(CUBE, flat))[:, axis].min() > floor - 0.01


@pytest.mark.parametrize("angle", [0.0, 1.0])
def test_the_surface_of_a_coarse_cage_does_not_stand_out_of_what_is_pressed_flat(angle):
    even, coarse, surface = coarse_cage()
    turn, shift = shapes.rotation((1.0, -0.5, 0.3), angle), np.array([3.0, -1.0, 2.0])
    rest = even.positions @ turn.T + shift
    np.testing.assert_allclose(coarse.within(CUBE @ turn.T + shift, rest), CUBE @ turn.T + shift, atol=1e-9)
    flat = even.positions.copy()
    flat[:, 2] = np.maximum(flat[:, 2], -0.3)  # lies on a floor 0.3 below its middle
    flat[:, :2] *= 1.1
    cage = coarse.within(CUBE @ turn.T + shift, flat @ turn.T + shift)
    seen, drawn = surface((cage - shift) @ turn), surface(CUBE)
    assert drawn[:, 2].min() < -0.45 and -0.31 < seen[:, 2].min() < -0.25
    assert seen[:, 2].max() > 0.4 and np.ptp(seen[:, 0]) > 0.8 * np.ptp(drawn[:, 0])
