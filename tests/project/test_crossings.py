"""The checker of crossings: against brute force, and to rounding in any turn of the scene."""

from itertools import product

import numpy as np
import pytest
from contact_reference import rotation, triangle_soup
from crossings import crossing_pairs
from numpy.typing import NDArray

#: A hair [m]: what roundings of coordinates of a metre cannot hide.
HAIR = 1e-12


def brute_force(x: NDArray, triangles: NDArray, edges: NDArray) -> list[tuple[int, int]]:
    """All pairs that share no vertex, by solving for where the edge's line meets the triangle's plane."""
    e, t = np.array(list(product(range(len(edges)), range(len(triangles))))).T
    apart = (edges[e][:, :, None] != triangles[t][:, None, :]).all(axis=(1, 2))
    e, t = e[apart], t[apart]
    a, b = x[edges[e, 0]], x[edges[e, 1]]
    i, j, k = (x[triangles[t, corner]] for corner in range(3))
    # a + s (b - a) = i + u (j - i) + w (k - i)
    matrix = np.stack([b - a, i - j, i - k], axis=-1)
    solvable = np.abs(np.linalg.det(matrix)) > 1e-15
    s, u, w = np.linalg.solve(matrix[solvable], (i - a)[solvable][..., None])[..., 0].T
    meets = (s >= 0) & (s <= 1) & (u >= 0) & (w >= 0) & (u + w <= 1)
    return sorted(zip(e[solvable][meets].tolist(), t[solvable][meets].tolist(), strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_triangles_of_all_sizes_cross_as_in_brute_force(seed: int) -> None:
    """Loose triangles from a millimetre to metres, some without area: each a body of its own that may cross itself."""
    x, triangles = triangle_soup(np.random.default_rng(seed), 150, size=0.3)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    bodies = np.zeros(len(triangles), np.int32)
    found = crossing_pairs(x, triangles, edges, bodies, np.zeros(len(edges), np.int32))
    expected = brute_force(x, triangles, edges)
    assert len(expected) > 50
    assert [tuple(pair) for pair in found.tolist()] == expected


TRIANGLE = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])


def pierced_by(a: tuple[float, float, float], b: tuple[float, float, float], triangle: NDArray = TRIANGLE) -> bool:
    """Whether the edge from a to b pierces a triangle, in any of six turns of the scene."""
    rng, x = np.random.default_rng(1), np.concatenate([[a, b], triangle])
    answers = set()
    for turn in [np.eye(3), *(rotation(rng) for _ in range(5))]:
        found = crossing_pairs(
            x @ turn.T, np.array([(2, 3, 4)]), np.array([(0, 1)]), np.array([1]), np.array([0])
        )  # fmt: skip
        answers.add(len(found))
    assert len(answers) == 1, answers
    return answers == {1}


@pytest.mark.parametrize(
    ("a", "b", "pierces"),
    [
        ((0.3, 0.3, 1.0), (0.3, 0.3, HAIR), False),
        ((0.3, 0.3, 1.0), (0.3, 0.3, -HAIR), True),
        ((0.3, 0.3, 1.0), (0.3, 0.3, 0.0), True),  # touches
        ((0.3, -HAIR, 1.0), (0.3, -HAIR, -1.0), False),  # passes beside a side
        ((0.3, HAIR, 1.0), (0.3, HAIR, -1.0), True),
        ((-HAIR, -HAIR, 1.0), (-HAIR, -HAIR, -1.0), False),  # and beside a corner
        ((0.3, 0.3, 2.0), (0.3, 0.3, 1.0), False),
        ((-1.0, 0.3, 0.0), (1.0, 0.3, 0.0), False),  # lies in the plane
        ((-1.0, 0.3, HAIR), (1.0, 0.3, HAIR), False),
        ((-0.8, 0.3, HAIR), (1.2, 0.3, -HAIR), True),  # almost lies in it, and passes within the triangle
        ((-1.2, 0.3, HAIR), (0.8, 0.3, -HAIR), False),  # passes beside it, though another part of it is above
        ((0.2, 1.0, HAIR), (0.9, 0.3, -HAIR), False),  # beside it as a whole
        ((0.3, 0.3, 0.0), (0.3, 0.3, 0.0), False),  # no length
    ],
)
def test_crossing_is_decided_to_rounding(
    a: tuple[float, float, float], b: tuple[float, float, float], pierces: bool
) -> None:
    assert pierced_by(a, b) == pierces


def test_an_edge_beside_a_triangle_does_not_pierce_it_where_rounding_puts_both_almost_in_a_plane() -> None:
    """Two parts of a ball's skin that lie flat on a floor of 20 m, to 1e-13 m."""
    x = np.array([
        (-0.06511885542771441, 0.18144703949908111, 0.00376824262987207),
        (0.00105757213318916, 0.1367660096276948, 0.00376824262978438),
        (-0.12952081172344102, 0.08271180650163701, 0.00376824262987207),
        (-0.13195447480627082, 0.15341741508807596, 0.00376824262975725),
        (-0.06456599791917966, 0.11067686438564463, 0.00376824262987207),
        (20.0, 20.0, 0.0),
    ])  # fmt: skip
    both = np.zeros(1, np.int32)
    assert not len(crossing_pairs(x, np.array([(2, 3, 4)]), np.array([(0, 1)]), both, both))
    x[0] = x[2:5].mean(axis=0) + (0.0, 0.0, 1e-3)  # now it does
    x[1] = x[0] - (0.0, 0.0, 2e-3)
    assert len(crossing_pairs(x, np.array([(2, 3, 4)]), np.array([(0, 1)]), both, both)) == 1
