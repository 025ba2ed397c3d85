"""Animated places, chosen vertices and weights are carried from the drawn to the even mesh, torn triangles back."""

import drawn_meshes
import numpy as np
import pytest
import shapes
from softpressure_ext.core.simulation_mesh.even import even_mesh
from softpressure_ext.core.simulation_mesh.follower import Follower
from softpressure_ext.core.simulation_mesh.groups import carried_vertices, carried_weights
from softpressure_ext.core.simulation_mesh.inverse import InverseFollower
from softpressure_ext.core.simulation_mesh.torn import DrawnTriangles

MESHES = {
    "cube": shapes.box(1.0, 1),
    "fine cube": shapes.box(1.0, 24),
    "sheet": shapes.grid(1.0, 12),  # wrapped
    "beast": shapes.beast(),
}


@pytest.fixture(scope="module", params=MESHES)
def bound(request):
    x, triangles = MESHES[request.param]
    even = even_mesh(x, triangles, 1000)
    return x, triangles, even, Follower(even, x)


def test_the_even_mesh_is_carried_exactly_by_rigid_motion(bound):
    x, _, even, _ = bound
    inverse = InverseFollower(even, x)
    assert np.abs(inverse.positions(x) - even.positions).max() < 1e-14
    turn = shapes.rotation((0.3, -1.0, 2.0), 2.2)
    moved = inverse.positions(x @ turn.T + (3.0, -1.0, 2.0))
    np.testing.assert_allclose(moved, even.positions @ turn.T + (3.0, -1.0, 2.0), atol=1e-13)
    some = np.array([3, 5, 100])
    np.testing.assert_array_equal(inverse.positions(x, some), inverse.positions(x)[some])


def test_what_is_carried_there_and_followed_back_is_what_was_animated():
    x, triangles = MESHES["beast"]
    animated, farthest = drawn_meshes.bent(x, 2.0), []
    for count in range(960, 1041, 20):
        even = even_mesh(x, triangles, count)
        back = Follower(even, x).positions(InverseFollower(even, x).positions(animated))
        off = np.linalg.norm(back - animated, axis=1) / np.ptp(x, axis=0).max()
        assert np.quantile(off, 0.95) < 0.003
        farthest.append(off.max())
    assert np.median(farthest) < 0.018  # of a single mesh it is that of one vertex, 0.010 to 0.024


def test_triangles_without_area_do_not_lead_astray():
    x, triangles = shapes.box(1.0, 4)
    x = np.concatenate([x, x[:1], x[:1]])
    triangles = np.concatenate([triangles, [[0, len(x) - 2, len(x) - 1]]])
    even = even_mesh(x, triangles, 300)
    even = even._replace(nearest=np.full_like(even.nearest, [0, len(x) - 2, len(x) - 1]))
    moved = InverseFollower(even, x).positions(x + (1.0, 2.0, 3.0))
    np.testing.assert_allclose(moved, even.positions + (1.0, 2.0, 3.0), atol=1e-13)


def test_a_chosen_face_of_a_coarse_cube_is_that_face_and_no_more():
    x, triangles = MESHES["cube"]
    even = even_mesh(x, triangles, 1000)
    chosen = carried_vertices(Follower(even, x), even, x, np.flatnonzero(x[:, 2] > 0.4))
    top = np.flatnonzero(even.positions[:, 2] > 0.5 - 1e-6)
    a, b = even.positions[even.triangles[:, 0]], even.positions[even.triangles[:, 1]]
    side = float(np.linalg.norm(a - b, axis=1).mean())
    assert np.isin(top, chosen).all()
    assert even.positions[chosen, 2].min() > 0.5 - 0.6 * side


def test_a_chosen_edge_is_a_row_and_a_chosen_vertex_is_one():
    x, triangles = MESHES["cube"]
    even = even_mesh(x, triangles, 1000)
    follower = Follower(even, x)
    edge = np.flatnonzero((x[:, 2] > 0.4) & (x[:, 1] > 0.4))
    row = even.positions[carried_vertices(follower, even, x, edge)]
    assert row[:, 1:].min() > 0.45 and 0.9 < np.ptp(row[:, 0]) <= 1.0 and len(row) > 10
    assert len(carried_vertices(follower, even, x, edge[:1])) in (1, 2, 3)
    fine, triangles = MESHES["fine cube"]
    even = even_mesh(fine, triangles, 300)
    assert len(carried_vertices(Follower(even, fine), even, fine, np.array([333]))) >= 1


def test_every_chosen_vertex_and_weight_has_a_neighbour(bound):
    x, _, even, follower = bound
    generator = np.random.default_rng(7)
    some = np.sort(generator.choice(len(x), min(len(x), 9), replace=False))
    corners = even.triangles[follower.triangle[some]]
    assert np.isin(corners, carried_vertices(follower, even, x, some)).any(axis=1).all()
    vertices, weights = carried_weights(follower, even, some, np.full(len(some), 0.4))
    assert np.isin(corners, vertices).any(axis=1).all()
    assert (weights > 0.0).all() and weights.max() <= 0.4 + 1e-12 and (np.diff(vertices) > 0).all()


def test_a_ramp_of_weights_stays_a_ramp():
    x, triangles = MESHES["beast"]
    even = even_mesh(x, triangles, 1000)
    ramp = (x[:, 0] - x[:, 0].min()) / np.ptp(x[:, 0])
    vertices, weights = carried_weights(Follower(even, x), even, np.arange(len(x)), ramp)
    wanted = np.clip((even.positions[vertices, 0] - x[:, 0].min()) / np.ptp(x[:, 0]), 0.0, 1.0)
    assert np.sqrt(np.mean((weights - wanted) ** 2)) < 0.005
    assert len(carried_vertices(Follower(even, x), even, x, np.zeros(0, np.int64))) == 0


@pytest.mark.parametrize("name", ["cube", "fine cube", "beast"])
def test_torn_triangles_are_those_at_the_same_place(name):
    x, triangles = MESHES[name]
    even = even_mesh(x, triangles, 1000)
    follower = Follower(even, x)
    drawn = DrawnTriangles(even, follower, x, triangles)
    assert not drawn.torn(np.zeros(len(even.triangles), bool)).any()
    assert drawn.torn(np.ones(len(even.triangles), bool)).all()
    middles, ours = even.positions[even.triangles].mean(axis=1), x[triangles].mean(axis=1)
    high = np.quantile(middles[:, 2], 0.8)
    found = drawn.torn(middles[:, 2] > high)
    size, reach = np.ptp(x[:, 2]), 1.0 if name == "cube" else 0.08
    assert found[ours[:, 2] > high + 0.05 * size].all()
    assert not found[ours[:, 2] < high - reach * size].any()
    single = drawn.torn(np.arange(len(even.triangles)) == 17)
    assert single[(follower.triangle[triangles] == 17).any(axis=1)].all()
    assert single.any() and np.linalg.norm(ours[single] - middles[17], axis=1).max() < 1.2 * reach
