"""The checker of crossings: against brute force, to rounding, turned, far away, and with triangles without area."""

from itertools import product

import numpy as np
import pytest
import shapes
from contact_reference import rotation, triangle_soup
from crossings import (
    assert_nothing_crosses,
    crossing_pairs,
    crossings_by_bodies,
    swallowed_bodies,
    world_crossings,
)
from numpy.typing import NDArray
from rigid_scene import block
from softpressure_ext.core import ModelBuilder, World

Mesh = tuple[NDArray[np.float64], NDArray[np.int32]]
#: A hair [m]: what roundings of coordinates of a metre cannot hide.
HAIR = 1e-12


def edges_of(triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """Every edge once."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(sides, axis=1), axis=0).astype(np.int32)


def joined(*meshes: Mesh) -> tuple[NDArray, ...]:
    """Positions, triangles, edges and their bodies, of one body per mesh."""
    x, triangles, edges, triangle_body, edge_body, count = [], [], [], [], [], 0
    for body, (positions, faces) in enumerate(meshes):
        sides = edges_of(np.asarray(faces))
        x.append(positions)
        triangles.append(np.asarray(faces) + count)
        edges.append(sides + count)
        triangle_body.append(np.full(len(faces), body))
        edge_body.append(np.full(len(sides), body))
        count += len(positions)
    return tuple(np.concatenate(part) for part in (x, triangles, edges, triangle_body, edge_body))


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


@pytest.mark.parametrize("shift", [0.0, 1000.0])
@pytest.mark.parametrize("seed", range(3))
def test_crossings_are_found_turned_and_far_away(seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    x, *rest = joined(shapes.torus(0.4, 0.15), shapes.icosphere(2, 0.3, rng.uniform(-0.3, 0.3, 3)))
    expected = crossing_pairs(x, *rest)
    assert len(expected) > 20
    for _ in range(3):
        turned = x @ rotation(rng).T + shift
        np.testing.assert_array_equal(crossing_pairs(turned, *rest), expected)


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
        ((-1.0, 0.3, HAIR), (1.0, 0.3, -HAIR), True),
        ((0.3, 0.3, 0.0), (0.3, 0.3, 0.0), False),  # no length
    ],
)
def test_crossing_is_decided_to_rounding(
    a: tuple[float, float, float], b: tuple[float, float, float], pierces: bool
) -> None:
    assert pierced_by(a, b) == pierces


@pytest.mark.parametrize(
    "triangle",
    [
        [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0)],
        [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)],
        [(0.0, 0.0, 0.0)] * 3,
    ],
)
def test_nothing_pierces_a_triangle_without_area(triangle: list[tuple[float, float, float]]) -> None:
    for aside in (0.0, HAIR, 0.1):
        assert not pierced_by((0.5, aside, 1.0), (0.5, aside, -1.0), np.array(triangle))


def test_neighbours_and_faces_of_one_plane_do_not_cross() -> None:
    """A ball, and a box cut into squares whose sides all lie in planes, turned."""
    turn = shapes.rotation((1.0, 2.0, 3.0), 0.7)
    for x, triangles in (shapes.icosphere(3), shapes.box(1.0, 5)):
        assert len(crossing_pairs(*joined((x @ turn.T + [3.0, -7.0, 2.0], triangles)))) == 0


# --- of a world -------------------------------------------------------------------------------------------------


def world_of(*balls: tuple[float, float, float], **options: bool) -> World:
    """Balls of radius 0.5 m, a box of 1 m at x = 5 m, a floor of 40 m at z = -0.6 m and a wall that crosses it."""
    builder = ModelBuilder()
    for number, centre in enumerate(balls):
        builder.add_membrane(f"ball {number}", *shapes.icosphere(2, 0.5, centre), **options)
    builder.add_rigid("box", *block((1.0, 1.0, 1.0), (5.0, 0.0, 0.0)))
    builder.add_collider("floor", *shapes.grid(40.0, 1, -0.6))
    builder.add_collider("wall", *shapes.box(1.0, 1, (0.0, 9.0, 0.0)))
    return World(builder.build(), threads=1, solver="EXPLICIT")


@pytest.mark.parametrize(
    ("centre", "other"),
    [((0.9, 0.0, 0.0), "ball 0"), ((4.2, 0.3, 0.2), "box"), ((2.0, 0.0, -0.2), "floor"), ((0.0, 8.2, 0.1), "wall")],
)
def test_crossings_are_reported_by_the_names_of_the_bodies(centre: tuple[float, float, float], other: str) -> None:
    world = world_of((0.0, 0.0, 0.0), centre)
    found = crossings_by_bodies(world)
    assert {name for pair in found for name in pair} == {"ball 1", other}
    assert world_crossings(world) == sum(found.values()) > 5
    with pytest.raises(AssertionError, match=other):
        assert_nothing_crosses(world)


@pytest.mark.parametrize(("own", "count"), [(True, 1), (False, 0)])
def test_a_body_crosses_itself_where_it_asks_for_contact_with_itself(own: bool, count: int) -> None:
    world = world_of((0.0, 0.0, 3.0), self_collision=own)
    state = world.save()
    x = state.positions[: world.model.vertex_count]
    x[:] = np.where(x[:, 2:] > 3.2, [0.0, 0.0, 3.0] + (x - [0.0, 0.0, 3.0]) * [1.0, 1.0, -1.5], x)
    world.load(state)
    assert len(crossings_by_bodies(world)) == count


def test_a_body_inside_another_one_is_found_though_nothing_crosses() -> None:
    world = world_of((5.0, 0.0, 0.0), (0.0, 9.0, 0.0), (0.0, 0.0, -2.0))
    shrunk = world.save()
    x = shrunk.positions[: world.model.vertex_count].reshape(3, -1, 3)
    x[:] = x.mean(axis=1, keepdims=True) + 0.5 * (x - x.mean(axis=1, keepdims=True))
    world.load(shrunk)
    assert world_crossings(world) == 0
    # below the floor, which has a border, is not inside it
    assert swallowed_bodies(world) == [("ball 0", "box"), ("ball 1", "wall")]
    with pytest.raises(AssertionError, match="inside"):
        assert_nothing_crosses(world)


def test_an_edge_beside_a_triangle_in_its_plane_does_not_pierce_it_whatever_the_rounding() -> None:
    """From a ball that lies flat on a wall: an end of the edge is in the plane, the other farther off than rounding."""
    wall = float.fromhex("0x1.b14a6669ba7e2p+1")
    flat = [(0.4830182, 1.8778796), (0.6918843, 2.0427114), (0.6877617, 1.7429131), (0.9324942, 1.5843304)]
    x = np.array([(wall, *place) for place in flat] + [(float.fromhex("0x1.b14a6669ba794p+1"), 0.9411689, 1.8958223)])
    body, triangle, edge = np.zeros(1, np.int32), np.array([(2, 3, 4)]), np.array([(0, 1)])
    assert not len(crossing_pairs(x, triangle, edge, body, body))
    x[1, 1:] = x[2:, 1:].mean(axis=0)  # an end within the triangle touches it
    x[0, 0] += 1e-3
    assert len(crossing_pairs(x, triangle, edge, body, body)) == 1
