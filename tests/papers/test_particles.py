"""Particles that look for where skins are near (Martin 2009, 5.2), against slow twins, winding numbers and hulls."""

import itertools

import numpy as np
import particle_reference as twin
import pytest
import shapes
from contact_reference import closest_on_triangle, inside
from scipy.spatial import ConvexHull, Delaunay
from softpressure_ext.core import MethodOptions, ModelBuilder
from softpressure_ext.core.bodies.rigid.motion import start_poses
from softpressure_ext.core.papers.particles.feature_tests import NUMBERS, features_meet
from softpressure_ext.core.papers.particles.inside import face_over, is_inside, vertices_inside
from softpressure_ext.core.papers.particles.migrate import migrate
from softpressure_ext.core.papers.particles.search import Hits, ParticleSearch

#: Kernel and twin do the same sums in another order.
ROUNDING = 1e-9


class TwoSkins:
    """Two bumpy balls, one reaching into the other; the model's numbering throughout."""

    def __init__(self, seed=1, apart=0.5, subdivisions=1):
        rng = np.random.default_rng(seed)
        builder = ModelBuilder()
        for name, place in (("one", 0.0), ("other", apart)):
            x, triangles = shapes.icosphere(subdivisions, 0.3, (0.0, 0.0, place))
            builder.add_membrane(name, x + rng.normal(0, 0.01, x.shape), triangles, mass=0.3)
        self.model = builder.build()
        self.x = self.model.rest_positions
        self.search = ParticleSearch(self.model)
        self.graph = self.search._graph
        start = self.model.surfaces.body_triangle_start
        self.parts = [twin.Skin(self.model.surfaces.triangles[start[b] : start[b + 1]]) for b in range(2)]
        self.skin_of = {p: skin for skin in self.parts for p in skin.vertices}

    def feature(self, number):
        return tuple(int(i) for i in self.graph.corners[number, : self.graph.order[number]])


def test_features_and_their_neighbours():
    scene = TwoSkins()
    graph = scene.graph
    for body, skin in enumerate(scene.parts):
        first, last = graph.body_start[body], graph.body_start[body + 1]
        numbers = {frozenset(scene.feature(k)): k for k in range(first, last)}
        assert len(numbers) == last - first == len(skin.features())
        for feature in skin.features():
            k = numbers[frozenset(feature)]
            found = graph.neighbour[graph.neighbour_start[k] : graph.neighbour_start[k + 1]]
            assert sorted(found) == sorted(numbers[frozenset(other)] for other in skin.neighbours(feature))


@pytest.mark.parametrize("attraction", [2.0, 0.5])
@pytest.mark.parametrize("seed", range(6))
def test_particles_go_where_their_twins_go(seed, attraction):
    scene = TwoSkins(seed, apart=(0.5, 0.62, 1.5)[seed % 3])
    rng = np.random.default_rng(seed)
    start = scene.graph.body_start
    places = np.concatenate([rng.integers(start[b], start[b + 1], 5) for b in range(2)]).astype(np.int32)
    expected, rounds = twin.migrate(
        scene.x, scene.parts, [[scene.feature(k) for k in places[5 * b : 5 * b + 5]] for b in range(2)],
        attraction=attraction,
    )  # fmt: skip
    found = places.copy()
    assert migrate(scene.x, scene.graph, 0, 5, 10, 0.3, attraction, found, np.zeros((10, 3))) == rounds
    assert [set(scene.feature(k)) for k in found] == [set(f) for part in expected for f in part]
    assert (found != places).any()


def test_particles_gather_where_the_other_skin_is():
    scene = TwoSkins(apart=0.6, subdivisions=3)
    search, half = scene.search, scene.model.vertex_count // 2 // 8
    assert len(search.features) == 2 * half

    def mean_heights():
        heights = np.array([twin.place(scene.x, scene.feature(k))[2] for k in search.features])
        return heights[:half].mean(), heights[half:].mean()

    # at random: about the centres of the balls
    assert mean_heights() == pytest.approx((0.0, 0.6), abs=0.1)
    for _ in range(5):
        search.find(scene.x, start_poses(np.zeros((0, 3))))
    assert mean_heights() == pytest.approx((0.3, 0.3), abs=0.03)


@pytest.mark.parametrize(("share", "count"), [(0.125, 5), (0.5, 21), (1.0, 42), (0.001, 1)])
def test_a_share_of_the_vertices_has_particles(share, count):
    scene = TwoSkins(subdivisions=1)
    assert scene.model.vertex_count == 2 * 42
    search = ParticleSearch(scene.model, MethodOptions(particles_per_vertex=share))
    assert len(search.features) == 2 * count


def test_a_thicker_skin_is_met_farther_away():
    """Two balls of 0.3 m whose gap is 0.05 m: skins of 0.02 m each do not reach, those of 0.04 m do."""
    scene = TwoSkins(apart=0.65, subdivisions=2)
    hits = []
    for skin in (0.02, 0.04):
        search = ParticleSearch(scene.model, MethodOptions(particle_skin=skin / 0.3, particles_per_vertex=1.0))
        for _ in range(5):
            count = search.find(scene.x, start_poses(np.zeros((0, 3))))
        hits.append(count)
    assert hits[0] == 0 < hits[1]


@pytest.mark.parametrize(("apart", "least"), [(0.62, 0.9), (0.55, 0.6), (0.45, 0.55)])
def test_particles_find_half_to_all_of_the_vertices_that_touch(apart, least):
    """Vertices nearer to the other skin than its thickness, by brute force, that some hit names: measured bounds."""
    scene = TwoSkins(apart=apart, subdivisions=2)
    skin = scene.search.skin * scene.search.radius[0]
    for _ in range(5):
        count = scene.search.find(scene.x, start_poses(np.zeros((0, 3))))
    hits = scene.search.hits
    found = set(hits.points[:count][hits.weights[:count] != 0.0].tolist())
    true = set()
    for one, other in ((0, 1), (1, 0)):
        corners = np.moveaxis(scene.x[np.array(scene.parts[other].triangles)], 1, 0)
        for p in scene.parts[one].vertices:
            here = np.broadcast_to(scene.x[p], corners[0].shape)
            if np.linalg.norm(here - closest_on_triangle(here, *corners), axis=1).min() < skin:
                true.add(p)
    share = len(found & true) / len(true)
    assert len(true) > 5
    assert least < share <= 1.0


@pytest.mark.parametrize(("low", "high"), list(itertools.product((1, 2, 3), repeat=2)))
def test_each_feature_test_equals_its_twin(low, high):
    scene = TwoSkins(apart=0.55)
    graph, skin, found = scene.graph, 0.05, 0
    numbers = np.arange(graph.body_start[-1])
    ones = numbers[: graph.body_start[1]][graph.order[: graph.body_start[1]] == low]
    others = numbers[graph.body_start[1] :][graph.order[graph.body_start[1] :] == high]
    middle = np.array([twin.place(scene.x, scene.feature(k)) for k in numbers])
    points, weights, values = np.zeros(6, np.int32), np.zeros(6), np.zeros(NUMBERS)
    pairs = [(f, g) for f in ones for g in others if np.linalg.norm(middle[f] - middle[g]) < 0.25]
    rng = np.random.default_rng(0)
    for f, g in [pairs[k] for k in rng.permutation(len(pairs))[:400]]:
        expected = twin.features(scene.x, scene.skin_of, scene.feature(f), scene.feature(g), skin)
        assert features_meet(scene.x, graph, f, g, skin, points, weights, values) == (expected is not None)
        if expected is None:
            continue
        found += 1
        assert set(points[:3][weights[:3] > 0]) == set(expected.first)
        assert set(points[3:][weights[3:] < 0]) == set(expected.second)
        np.testing.assert_allclose(weights[:3][weights[:3] > 0], 1.0 / len(expected.first), rtol=1e-15)
        np.testing.assert_allclose(weights[3:][weights[3:] < 0], -1.0 / len(expected.second), rtol=1e-15)
        np.testing.assert_allclose(values[:3], expected.normal, rtol=0, atol=ROUNDING)
        assert values[3] == pytest.approx(expected.gap, abs=ROUNDING)
        assert bool(values[4]) == expected.pushes
    assert 4 < found < min(len(pairs), 400)  # both answers occurred


@pytest.mark.parametrize("name", ["spot.obj", "cow.obj", "torus"])
def test_ray_parity_agrees_with_the_winding_number(name):
    x, triangles = shapes.torus(0.4, 0.2, 13, 8) if name == "torus" else shapes.foreign_mesh(name)
    rng = np.random.default_rng(4)
    low, high = x.min(axis=0), x.max(axis=0)
    some = low + rng.random((60, 3)) * (high - low)
    # rays through corners and edges, too
    some[:20, :2] = x[rng.integers(0, len(x), 20), :2]
    ends = triangles[rng.integers(0, len(triangles), 20)]
    some[20:40, :2] = 0.5 * (x[ends[:, 0], :2] + x[ends[:, 1], :2])
    points = np.concatenate([x, some])
    found = np.array(
        [is_inside(points, len(x) + k, triangles.astype(np.int32), 0, len(triangles)) for k in range(len(some))]
    )
    expected = inside(some, x, triangles)
    assert (found == expected).all()
    assert 3 < expected.sum() < len(some) - 3


def test_the_face_over_a_point_agrees_with_a_hull():
    rng = np.random.default_rng(2)
    cloud = rng.standard_normal((40, 3))
    hull = ConvexHull(cloud)
    middle = cloud.mean(axis=0)
    triangles = []
    for t in hull.simplices:
        out = np.linalg.det(cloud[t] - middle) > 0
        triangles.append(t if out else t[::-1])
    triangles = np.array(triangles, np.int32)
    some = rng.normal(0, 0.7, (200, 3))
    points = np.concatenate([cloud, some])
    heights = (some @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
    within = Delaunay(cloud[hull.vertices]).find_simplex(some) >= 0
    for k in range(len(some)):
        assert face_over(points, 40 + k, triangles, 0, len(triangles))[1] == pytest.approx(heights[k], abs=1e-12)
        assert is_inside(points, 40 + k, triangles, 0, len(triangles)) == within[k] == (heights[k] < 0)
    assert 20 < within.sum() < 180
    hits = Hits.room(200)
    for convex in (True, False):
        count = vertices_inside(points, 40, 240, triangles, 0, len(triangles), convex, 0, *hits)
        assert (hits.points[:count, 0] == 40 + np.flatnonzero(within)).all()
        # in a convex body the nearest face is the one that the point is least behind
        np.testing.assert_allclose(hits.numbers[:count, 3], heights[within], rtol=0, atol=1e-12)
        flat = hits.numbers[:count, :3]
        np.testing.assert_allclose(np.linalg.norm(flat, axis=1), 1.0, rtol=1e-12)


def test_far_skins_leave_their_particles_where_they_are():
    far = TwoSkins(apart=3.0)
    before = far.search.features.copy()
    assert far.search.find(far.x, start_poses(np.zeros((0, 3)))) == 0
    assert (far.search.features == before).all()


def test_two_boxes_that_overlap_meet_with_the_overlap_as_depth():
    builder = ModelBuilder()
    builder.add_rigid("lower", *shapes.box(1.0, 1), mass=1.0)
    builder.add_rigid("upper", *shapes.box(0.5, 1, (0.1, 0.2, 0.72)), mass=1.0)
    model = builder.build()
    search = ParticleSearch(model)
    count = search.find(model.rest_positions, start_poses(model.rigid.centre))
    assert count == 1
    numbers = search.hits.numbers[0]
    np.testing.assert_allclose(numbers[:3], (0, 0, 1), atol=1e-12)
    assert numbers[3] == pytest.approx(-0.03, abs=1e-12)
    np.testing.assert_allclose(numbers[5:], (0.1, 0.2, 0.485), atol=1e-9)  # in the middle of where they overlap
    assert (model.point_body[search.hits.points[0, ::3]] == [1, 0]).all()  # the normal points to the upper one
