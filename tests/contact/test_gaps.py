"""Gaps, normals, weights, and who owns a contact."""

import contact_reference as reference
import numpy as np
import pytest
import shapes
from hypothesis import given, settings
from hypothesis import strategies as st
from softpressure_ext.core.contact.narrow_phase.closest_points import closest_on_triangle


def probe(points, mesh, thickness):
    """Contacts of single points (each a corner of a far-reaching sliver of a membrane) with a collider mesh."""
    points = np.atleast_2d(np.asarray(points, float))
    n = len(points)
    far = np.concatenate([points, points + np.array([0, 0, 1e3]), points + np.array([0, 1, 1e3])])
    slivers = np.stack([np.arange(n), n + np.arange(n), 2 * n + np.arange(n)], axis=1).astype(np.int32)
    model = reference.model_of([(far, slivers)], [mesh], thickness=[thickness, 0.0])
    return model, reference.near(model)


def owned_gaps(points, mesh, thickness):
    """For each point the sorted gaps of the contacts it owns."""
    _, contacts = probe(points, mesh, thickness)
    gaps = [[] for _ in np.atleast_2d(points)]
    for row in range(contacts.edge_start):
        if contacts.points[row, 0] < len(gaps) and contacts.gap[row] < thickness:
            gaps[contacts.points[row, 0]].append(float(contacts.gap[row]))
    return [sorted(g) for g in gaps]


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(["any", "sliver", "needle", "point"]))
def test_closest_point_agrees_with_its_definition(seed, shape):
    rng = np.random.default_rng(seed)
    a, b, c, p = rng.normal(size=(4, 3))
    if shape == "sliver":
        c = a + 0.4 * (b - a) + 1e-7 * c
    elif shape == "needle":
        c = a + 0.4 * (b - a)
    elif shape == "point":
        b = c = a
    u, v, w, qx, qy, qz, d, feature = closest_on_triangle(*p, *a, *b, *c)
    expected = reference.closest_on_triangle(p[None], a[None], b[None], c[None])[0]
    assert abs(np.sqrt(d) - np.linalg.norm(p - expected)) < 1e-8
    np.testing.assert_allclose(u * a + v * b + w * c, p - [qx, qy, qz], atol=1e-8)
    assert min(u, v, w) >= 0.0 and abs(u + v + w - 1.0) < 1e-12
    assert sum(k > 0.0 for k in (u, v, w)) <= (3 if feature == 0 else 2 if feature < 4 else 1)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_flat_floor_is_one_plane_however_it_is_triangulated(seed, turned):
    rng = np.random.default_rng(seed)
    flat, triangles = reference.random_plate(rng, 6, 0.5 / 6)
    positions, triangles = np.column_stack([flat, np.zeros(len(flat))]), rng.permutation(triangles)
    ends = positions[triangles]
    above_edges = 0.5 * (ends + np.roll(ends, 1, axis=1)).reshape(-1, 3)
    near_edges = above_edges + 1e-9 * rng.normal(size=above_edges.shape)
    inside = np.column_stack([rng.uniform(-0.99, 0.99, (300, 2)), np.zeros(300)])
    foot = np.concatenate([inside, positions, above_edges, near_edges])
    foot = foot[(np.abs(foot[:, :2]) < 0.995).all(axis=1)]
    height = rng.uniform(0.01, 0.45, len(foot))
    points = foot + height[:, None] * np.array([0.0, 0.0, 1.0])
    if turned:
        turn = reference.rotation(rng)
        positions, points = positions @ turn.T + 7.0, points @ turn.T + 7.0
    # the thickness spans several triangles, so each point sees many
    gaps = owned_gaps(points, (positions, triangles), 0.5)
    assert [len(g) for g in gaps] == [1] * len(points)
    np.testing.assert_allclose([g[0] for g in gaps], height, atol=1e-9)


def test_weights_and_normal_are_the_gradient_of_the_gap():
    rng = np.random.default_rng(2)
    # every kind of feature of one triangle
    points = np.concatenate([
        rng.uniform(-0.5, 0.5, (60, 3)), [[0.2, 0.2, 0.3], [0.2, 0.2, -0.3], [-0.2, -0.2, 0.1], [0.3, -0.2, 0.0]]
    ])  # fmt: skip
    mesh = (np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0.2)], float), np.array([(0, 1, 2)], np.int32))
    model, contacts = probe(points, mesh, 0.6)
    rows = [k for k in range(contacts.edge_start) if contacts.points[k, 0] < len(points)]
    assert {int(contacts.feature[k]) for k in rows} >= {0, 1, 4}
    reference.check_gradient(model, contacts, rows)


def shallow_bowl():
    """A saddle-like sheet: convex and slightly concave edges and corners of both kinds."""
    positions, triangles = shapes.grid(2.0, 8)
    u, v, _ = positions.T
    positions[:, 2] = 0.06 * np.sin(3 * u) * np.cos(2.5 * v)
    return positions, triangles


@pytest.mark.parametrize(
    ("mesh", "height"), [(shallow_bowl(), 0.1), (shapes.icosphere(1, 0.7), 0.75), (shapes.box(1.2, 1), 0.65)]
)
def test_gap_is_single_and_continuous_along_a_path_over_borders(mesh, height):
    t = np.linspace(0, 1, 1001)
    path = np.column_stack([-0.8 + 1.6 * t, 0.31 - 0.55 * t + 0.1 * np.sin(9 * t), np.full_like(t, height)])
    thickness = 0.25
    gaps = owned_gaps(path, mesh, thickness)
    corners = mesh[0][mesh[1]]
    distance = np.full(len(path), np.inf)
    for a, b, c in corners:
        q = reference.closest_on_triangle(path, *(np.broadcast_to(k, path.shape) for k in (a, b, c)))
        distance = np.minimum(distance, np.linalg.norm(path - q, axis=1))
    near = distance < thickness - 1e-9
    assert near.sum() > 100
    assert all(len(g) == 1 for g, here in zip(gaps, near, strict=True) if here)
    single = np.array([g[0] if g else thickness for g in gaps])
    np.testing.assert_allclose(single[near], distance[near], atol=1e-12)
    # a distance changes no faster than the point moves
    assert (np.abs(np.diff(single)) <= np.linalg.norm(np.diff(path, axis=0), axis=1) + 1e-12).all()


def test_a_corner_of_two_walls_pushes_with_both():
    inside_out = (shapes.box(2.0, 1)[0], shapes.box(2.0, 1)[1][:, ::-1].copy())
    (gaps,) = owned_gaps([(0.93, 0.1, 0.95)], inside_out, 0.1)
    np.testing.assert_allclose(gaps, [0.05, 0.07], atol=1e-12)
    (gaps,) = owned_gaps([(0.93, 0.96, 0.95)], inside_out, 0.1)
    np.testing.assert_allclose(gaps, [0.04, 0.05, 0.07], atol=1e-12)


def test_a_thin_plate_pushes_only_with_its_near_face():
    plate = shapes.box(2.0, 1)
    plate[0][:, 2] *= 0.01
    (gaps,) = owned_gaps([(0.3, 0.2, 0.05)], plate, 0.1)
    np.testing.assert_allclose(gaps, [0.04], atol=1e-12)


def test_both_sides_of_an_open_floor_push_away_from_it():
    floor = shapes.grid(4.0)
    for height in (0.05, -0.05):
        _, contacts = probe([(0.3, 0.2, height)], floor, 0.1)
        owner = [k for k in range(contacts.edge_start) if contacts.points[k, 0] == 0 and np.isfinite(contacts.gap[k])]
        assert len(owner) == 1
        np.testing.assert_allclose(contacts.normal[owner[0]], [0, 0, np.sign(height)], atol=1e-12)


def test_a_point_on_the_surface_gets_the_normal_of_the_triangle():
    floor = shapes.grid(4.0, 1, 1.0)
    # on a face, on the diagonal, on the border, on a corner
    _, contacts = probe([(0.3, 0.2, 1.0), (0.5, 0.5, 1.0), (2.0, 0.1, 1.0), (2.0, 2.0, 1.0)], floor, 0.1)
    rows = [k for k in range(contacts.edge_start) if contacts.points[k, 0] < 4 and np.isfinite(contacts.gap[k])]
    assert [int(contacts.points[k, 0]) for k in rows] == [0, 1, 2, 3]
    for row in rows:
        assert contacts.gap[row] == 0.0
        np.testing.assert_allclose(contacts.normal[row], [0, 0, 1], atol=1e-12)
