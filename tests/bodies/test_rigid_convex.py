"""Simple convex shapes, what separates them, and where they meet: against definitions and a slow distance."""

import numpy as np
import pytest
import shapes
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.bodies.rigid.convex import MOST_FACES, convex_shapes
from softpressure_ext.core.bodies.rigid.motion import set_matrices, start_poses
from softpressure_ext.core.contact.narrow_phase.separating_axes import MOST_CORNERS, MOST_POINTS, meet, place_shapes


def rock(seed, size=1.0):
    return shapes.hull(np.random.default_rng(seed).normal(size=(10, 3)) * size)


def shapes_of(*meshes):
    builder = ModelBuilder()
    for number, mesh in enumerate(meshes):
        builder.add_rigid(str(number), *mesh)
    model = builder.build()
    return model, convex_shapes(model)


def distance(a, b):
    """Between two convex hulls of points: the shortest p - q as a problem of non-negative least squares."""
    weight = 1e4
    rows = np.block(
        [[a.T, -b.T], [weight * np.ones(len(a)), np.zeros(len(b))], [np.zeros(len(a)), weight * np.ones(len(b))]]
    )
    mix, _ = nnls(rows, np.array([0.0, 0.0, 0.0, weight, weight]), maxiter=10_000)
    return float(np.linalg.norm(a.T @ mix[: len(a)] - b.T @ mix[len(a) :]))


class Pair:
    """Two bodies in poses, and what `meet` says of them."""

    def __init__(self, meshes, turns, places, margin):
        self.model, self.shapes = shapes_of(*meshes)
        poses = start_poses(np.array(places, float))
        poses[:, 3:] = [np.roll(turn.as_quat(), 1) for turn in turns]
        self.matrices = np.zeros((2, 3, 3))
        set_matrices(poses, self.matrices)
        self.corners, self.normals = np.zeros_like(self.shapes.corners), np.zeros_like(self.shapes.normals)
        place_shapes(self.shapes, poses, self.matrices, self.corners, self.normals)
        self.poses, anchor, normal = poses, np.zeros((MOST_POINTS, 2, 3)), np.zeros(3)
        scratch = np.empty((MOST_CORNERS, 3)), np.empty((MOST_CORNERS, 3))
        self.count, owner = meet(
            self.shapes, 0, 1, poses, self.matrices, self.corners, self.normals, margin, 1e-6, *scratch, anchor, normal
        )
        self.normal = self.matrices[owner] @ normal
        self.points = [anchor[: self.count, k] @ self.matrices[k].T + poses[k, :3] for k in (0, 1)]
        self.gap = (self.points[1] - self.points[0]) @ self.normal

    def of(self, body):
        start = self.shapes.corner_start
        return self.corners[start[body] : start[body + 1]]


def test_a_cut_up_cube_has_six_faces_of_four_corners():
    _, found = shapes_of(shapes.box(0.5, 4), shapes.box(2.0, 1))
    assert found.simple.all()
    assert np.diff(found.corner_start).tolist() == [8, 8]
    assert np.diff(found.face_start).tolist() == [6, 6]
    assert np.diff(found.edge_start).tolist() == [12, 12]
    assert (np.diff(found.loop_start) == 4).all()
    np.testing.assert_allclose(found.offsets, [0.25] * 6 + [1.0] * 6, rtol=1e-12)


def test_single_precision_does_not_cut_a_face_in_two():
    turn = Rotation.from_euler("xyz", (0.3, 1.1, 0.2)).as_matrix()
    x, triangles = shapes.box(0.5, 3)
    rounded = (x @ turn.T + [3.0, 1.0, 2.0]).astype(np.float32).astype(float)
    _, found = shapes_of((rounded, triangles))
    assert found.simple.all()
    assert len(found.normals) == 6


@pytest.mark.parametrize("mesh", [shapes.torus(1.0, 0.3), shapes.icosphere(2)], ids=["concave", "round"])
def test_concave_and_round_shapes_are_not_simple(mesh):
    _, found = shapes_of(mesh, shapes.box(1.0, 1))
    assert found.simple.tolist() == [False, True]
    assert len(found.corners) == 8
    assert len(shapes.icosphere(2)[1]) > MOST_FACES


turns = st.integers(0, 10_000).map(lambda seed: Rotation.random(random_state=seed))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(first=turns, second=turns, seed=st.integers(0, 1000), away=st.floats(0.05, 3.0))
def test_the_axis_separates_by_no_more_than_the_distance(first, second, seed, away):
    """Where bodies are apart their best axis says so; where they cross they have contact points."""
    direction = np.random.default_rng(seed).normal(size=3)
    direction /= np.linalg.norm(direction)
    pair = Pair([shapes.box(0.8, 1), rock(seed, 0.4)], [first, second], [np.zeros(3), away * direction], 10.0)
    true = distance(pair.of(0), pair.of(1))
    if true < 1e-6:
        assert pair.count > 0
        assert pair.gap.min() < 1e-6
    else:
        assert pair.count > 0
        assert pair.gap.min() <= true + 1e-5  # whatever comes nearest, also corner by corner
        separation = (pair.of(1) @ pair.normal).min() - (pair.of(0) @ pair.normal).max()
        assert 0.0 < separation <= true + 1e-6
        assert pair.gap.min() >= separation - 1e-9


@pytest.mark.parametrize("seed", [906, 2352, 5639, 8957])
def test_corners_that_touch_have_a_normal(seed):
    """Where they are apart by less than a rounding, no direction leads from one to the other."""
    turn = Rotation.random(random_state=seed)
    place = np.array([0.5, 0.5, 0.5]) - turn.as_matrix() @ [-0.5, -0.5, -0.5]
    pair = Pair([shapes.box(1.0, 1)] * 2, [Rotation.identity(), turn], [np.zeros(3), place], 0.1)
    assert pair.count > 0
    assert np.linalg.norm(pair.normal) == pytest.approx(1.0)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(first=turns, second=turns, seed=st.integers(0, 1000), depth=st.floats(-0.02, 0.02))
def test_pushed_apart_along_the_normal_bodies_part(first, second, seed, depth):
    """Wherever they cross: a push by the deepest gap along the normal, and a hair more, leaves them apart."""
    direction = np.random.default_rng(seed).normal(size=3)
    direction /= np.linalg.norm(direction)
    pair = Pair([shapes.box(0.8, 1), rock(seed, 0.4)], [first, second], [np.zeros(3), (0.6 + depth) * direction], 10.0)
    if pair.gap.min() < 0.0:
        moved = pair.of(1) + (1e-6 - pair.gap.min()) * pair.normal
        assert distance(pair.of(0), moved) > 0.0
        assert distance(pair.of(0), moved) == pytest.approx(1e-6, abs=1e-7)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(first=turns, second=turns, seed=st.integers(0, 1000))
def test_contact_points_lie_on_both_bodies(first, second, seed):
    pair = Pair([shapes.box(0.8, 1), rock(seed, 0.4)], [first, second], [np.zeros(3), (0.7, 0.1, 0.2)], 0.1)
    for body in (0, 1):
        start, stop = pair.shapes.face_start[body : body + 2]
        n = pair.normals[start:stop]
        level = n @ pair.poses[body, :3] + pair.shapes.offsets[start:stop]
        for point in pair.points[body]:
            out = (n @ point - level).max()
            assert out == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(np.cross(pair.points[1] - pair.points[0], pair.normal), 0.0, atol=1e-9)


def test_a_box_on_a_box_meets_it_in_four_corners_of_the_overlap():
    pair = Pair(
        [shapes.box(1.0, 1), shapes.box(1.0, 1)], [Rotation.identity()] * 2, [(0.0, 0.0, 0.0), (0.3, 0.2, 1.01)], 0.05
    )
    assert pair.count == 4
    np.testing.assert_allclose(pair.gap, 0.01, atol=1e-12)
    np.testing.assert_allclose(pair.normal, [0.0, 0.0, 1.0], atol=1e-12)
    x, y = pair.points[1][:, 0], pair.points[1][:, 1]
    np.testing.assert_allclose(sorted(set(x.round(9))), [-0.2, 0.5])
    np.testing.assert_allclose(sorted(set(y.round(9))), [-0.3, 0.5])


def test_crossed_edges_meet_in_one_point():
    lean = [Rotation.from_euler("x", 45, degrees=True), Rotation.from_euler("y", 45, degrees=True)]
    pair = Pair([shapes.box(1.0, 1)] * 2, lean, [(0.0, 0.0, 0.0), (0.1, 0.2, np.sqrt(2.0) + 0.01)], 0.05)
    assert pair.count == 1
    assert pair.gap[0] == pytest.approx(0.01, abs=1e-12)
    np.testing.assert_allclose(pair.points[1][0], [0.1, 0.0, np.sqrt(0.5) + 0.01], atol=1e-12)
