"""Edges against edges: distances, candidates, and who owns a contact."""

import contact_reference as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from softpressure_ext.core.contact.broad_phase.pair_search import sort_pairs
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.contact.narrow_phase.closest_points import closest_on_edges
from softpressure_ext.core.contact.narrow_phase.vertex_triangle import evaluate_gaps


def searched(model, x, reach, capacity=1024):
    contacts = Contacts(capacity)
    ContactSearch(model).search(x, np.asarray(reach, float), contacts)
    evaluate_gaps(x, contacts, model.surfaces)
    return contacts


def edge_rows(contacts):
    return range(contacts.edge_start, contacts.count)


def owned(contacts):
    rows = edge_rows(contacts)
    return [
        row for row in rows if contacts.target_weight[row] > 0.0 and contacts.distance[row] < contacts.thickness[row]
    ]


def turned(mesh, axis, angle, shift=(0.0, 0.0, 0.0)):
    turn = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn[i, i] = turn[j, j] = np.cos(angle)
    turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
    return mesh[0] @ turn.T + np.asarray(shift, float), mesh[1]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60, unique=True))
def test_pairs_are_sorted_by_both_columns(pairs):
    given_pairs = np.array(pairs, np.int32).reshape(-1, 2)
    ordered = np.full_like(given_pairs, -1)
    sort_pairs(given_pairs, np.zeros(11, np.int64), ordered)
    assert ordered.tolist() == sorted(list(pair) for pair in pairs)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["any", "parallel", "almost", "point", "touching"]))
def test_distance_of_edges_agrees_with_its_definition(seed, kind):
    rng = np.random.default_rng(seed)
    p, p_end, q, q_end = rng.normal(size=(4, 3))
    if kind in ("parallel", "almost"):
        q_end = q + rng.normal() * (p_end - p) + (1e-6 * rng.normal(size=3) if kind == "almost" else 0.0)
    elif kind == "point":
        q_end = q
    elif kind == "touching":
        a, b = rng.uniform(size=2)
        q_end = q + (p + a * (p_end - p) - q) / b
    s, t, *v, d = closest_on_edges(*p, *(p_end - p), *q, *(q_end - q))
    assert 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0
    np.testing.assert_allclose(p + s * (p_end - p) - q - t * (q_end - q), v, atol=1e-12)
    assert np.dot(v, v) == pytest.approx(d, abs=1e-12)
    expected = reference.edge_distance(p[None], p_end[None], q[None], q_end[None])[0]
    # the twin's normal equations lose half the digits near parallel edges; neither may be above the least of samples
    assert abs(np.sqrt(d) - expected) < 1e-7
    u = np.linspace(0, 1, 41)
    on_p, on_q = p + u[:, None] * (p_end - p), q + u[:, None] * (q_end - q)
    assert np.sqrt(d) <= np.linalg.norm(on_p[:, None] - on_q, axis=2).min() + 1e-12


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), membranes=st.integers(1, 3), colliders=st.integers(0, 3))
def test_finds_exactly_the_edges_within_reach(seed, membranes, colliders):
    rng = np.random.default_rng(seed)
    count = membranes + colliders
    soups = [reference.triangle_soup(rng, int(rng.integers(1, 30))) for _ in range(count)]
    model = reference.model_of(soups[:membranes], soups[membranes:], thickness=rng.uniform(0.0, 0.1, count))
    reach = rng.uniform(0.0, 0.1, count)
    x = model.rest_positions + 0.2 * rng.normal(size=model.rest_positions.shape)
    expected = reference.all_edge_pairs(model, x, reach)
    contacts = searched(model, x, reach, capacity=1)
    rows = slice(contacts.edge_start, contacts.count)
    assert contacts.edges[rows].tolist() == [[e, f] for e, f, _ in expected]
    # half the digits where the twin's normal equations cancel
    np.testing.assert_allclose(contacts.distance[rows], [d for _, _, d in expected], atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_a_ball_that_comes_to_a_corner_of_a_floor_meets_all_of_it(seed):
    """Where no edge or point of the floor is near the ball, its tree is left as it was."""
    rng = np.random.default_rng(seed)
    model = reference.model_of([reference.icosphere(2, 0.5)], [reference.plane(3.0, 0.0)])
    search, contacts, reach = ContactSearch(model), Contacts(), np.array([0.1, 0.0])
    rows = []
    for place in ((1.5, -0.3), (0.4, 0.9), (3.0, 3.0), (2.9, -3.1), (0.2, 0.9)):
        x = model.rest_positions.copy()
        x[: model.vertex_count] += (*place, 0.45)
        x[: model.vertex_count] += 0.02 * rng.normal(size=(model.vertex_count, 3))
        search.search(x, reach, contacts)
        found = contacts.edges[contacts.edge_start : contacts.count].tolist()
        assert found == [[e, f] for e, f, _ in reference.all_edge_pairs(model, x, reach)]
        pairs = list(zip(contacts.points[:, 0].tolist(), contacts.triangle.tolist(), strict=True))[
            : contacts.edge_start
        ]
        assert pairs == [(p, t) for p, t, _ in reference.all_pairs(model, x, reach)]
        rows.append((len(found), sum(p >= model.vertex_count for p, _ in pairs)))
    assert rows[0] == (0, 0) and min(rows[2]) > 0


def test_what_a_row_of_edges_says():
    ball = reference.icosphere(1)
    model = reference.model_of(
        [ball, reference.icosphere(1, 1.0, (1.95, 0.1, 0.0))], [reference.plane(3.0, -1.0)],
        thickness=[0.1, 0.2, 0.4],
    )  # fmt: skip
    contacts = searched(model, model.rest_positions, np.zeros(3))
    rows = slice(contacts.edge_start, contacts.count)
    surfaces = model.surfaces
    assert contacts.edge_start > 5 and contacts.count > contacts.edge_start + 5
    np.testing.assert_array_equal(contacts.points[rows], surfaces.edges[contacts.edges[rows]].reshape(-1, 4))
    np.testing.assert_array_equal(contacts.apex[rows], surfaces.edge_apex[contacts.edges[rows]].reshape(-1, 4))
    first, second = contacts.bodies[rows].T
    np.testing.assert_array_equal(model.point_body[contacts.points[rows]].T, [first, first, second, second])
    np.testing.assert_array_equal(contacts.thickness[rows], model.thickness[first] + model.thickness[second])
    np.testing.assert_array_equal(contacts.soft[rows].T, [first < 2, second < 2])
    assert (contacts.side[rows] == 1).any()
    order = np.lexsort(contacts.edges[rows].T[::-1])
    np.testing.assert_array_equal(order, np.arange(len(order)))


def crossed_boxes(gap, angle=0.7, membranes=2):
    """Two boxes standing on an edge, one on top of the other, `gap` apart; the upper is turned about z."""
    low = turned(reference.box(1.0), 0, np.pi / 4, (0, 0, -np.sqrt(2.0)))
    high = turned(turned(reference.box(1.0), 0, np.pi / 4), 2, angle, (0.1, 0.05, np.sqrt(2.0) + gap))
    meshes = [low, high]
    return reference.model_of(meshes[:membranes], meshes[membranes:], thickness=0.05)


@pytest.mark.parametrize("membranes", [1, 2])
@pytest.mark.parametrize("angle", [0.2, 0.7, np.pi / 2])
def test_two_crossed_edges_of_boxes_are_one_contact(angle, membranes):
    model = crossed_boxes(0.03, angle, membranes)
    contacts = searched(model, model.rest_positions, np.zeros(2))
    (row,) = owned(contacts)
    assert contacts.gap[row] == pytest.approx(0.03, abs=1e-12)
    np.testing.assert_allclose(contacts.normal[row], [0, 0, -1], atol=1e-9)  # onto the first body, which lies below
    np.testing.assert_array_equal(contacts.bodies[row], [0, 1])
    assert not (contacts.gap[: contacts.edge_start] < 0.1).any()  # no vertex is near


def test_weights_and_normal_are_the_gradient_of_the_gap():
    model = crossed_boxes(0.03)
    contacts = searched(model, model.rest_positions, np.zeros(2))
    (row,) = owned(contacts)
    weights, normal, points = contacts.weights[row].copy(), contacts.normal[row].copy(), contacts.points[row].copy()
    assert weights.sum() == pytest.approx(0.0, abs=1e-15) and (weights[:2] > 0).all() and (weights[2:] < 0).all()
    step = 1e-6
    for slot in range(4):
        for axis in range(3):
            gap = []
            for sign in (1, -1):
                x = model.rest_positions.copy()
                x[points[slot], axis] += sign * step
                evaluate_gaps(x, contacts, model.surfaces)
                gap.append(contacts.gap[row])
            # central differences: step^2 / gap^2 and rounding 1e-16 / step
            assert (gap[0] - gap[1]) / (2 * step) == pytest.approx(weights[slot] * normal[axis], abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_flat_patches_own_no_edges(seed):
    rng = np.random.default_rng(seed)
    # a plate of random triangles over a larger one, a little tilted or not
    n = 7
    grid = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), -1).reshape(-1, 2) / (n - 1) * 2.0 - 1.0
    cells = [
        (i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1) for i in range(n - 1) for j in range(n - 1)
    ]
    meshes = []
    for size, height in ((1.0, 0.03), (3.0, 0.0)):
        spots = grid.copy()
        inner = (np.abs(grid) < 0.99).all(axis=1)
        spots[inner] += rng.uniform(-0.08, 0.08, (int(inner.sum()), 2))
        triangles = [
            t
            for a, b, c, d in cells
            for t in (((a, b, c), (a, c, d)) if rng.random() < 0.5 else ((a, b, d), (b, c, d)))
        ]
        meshes.append((np.column_stack([size * spots, np.full(len(spots), height)]), np.array(triangles, np.int32)))
    meshes[0] = turned(meshes[0], 0, seed * 0.005)
    border = np.abs(meshes[0][0][:, :2]).max(axis=1) > 0.99
    model = reference.model_of(meshes, thickness=0.05)
    contacts = searched(model, model.rest_positions, np.zeros(2))
    assert contacts.count - contacts.edge_start > 200
    # the upper plate's border is sharp and may own
    assert all(border[contacts.points[row, :2]].all() for row in owned(contacts))


def test_smooth_balls_touch_with_vertices_alone():
    a, b = reference.icosphere(3), reference.icosphere(3, 1.0, (1.97, 0.1, 0.05))
    model = reference.model_of([a, b], [reference.plane(3.0, -0.99)], thickness=0.02)
    contacts = searched(model, model.rest_positions, np.zeros(3))
    assert contacts.count > contacts.edge_start + 50
    # the floor's four border edges are far away
    assert not owned(contacts)


def test_a_box_on_a_box_stands_on_the_four_corners_of_the_overlap():
    # turned by nothing: edges cross at two corners, vertices stand over faces at the two others
    low, high = reference.box(1.0), (reference.box(1.0)[0] + [0.7, 0.5, 2.03], reference.box(1.0)[1])
    model = reference.model_of([low, high], thickness=0.05)
    model.membrane_count, model.rigid_count = 0, 2
    contacts = searched(model, model.rest_positions, np.zeros(2))
    spots = []
    for row in [*range(contacts.edge_start), *owned(contacts)]:
        if contacts.gap[row] < 0.1:
            assert contacts.gap[row] == pytest.approx(0.03, abs=1e-12)
            w = np.maximum(contacts.weights[row], 0.0)
            spots.append(tuple(np.round(w @ model.rest_positions[contacts.points[row], :2], 9)))
    assert set(spots) == {(1.0, 1.0), (-0.3, -0.5), (1.0, -0.5), (-0.3, 1.0)}


def test_a_sharp_ridge_holds_a_soft_skin_between_its_vertices():
    ridge = turned(reference.box(1.0), 0, np.pi / 4, (0, 0, -np.sqrt(2.0)))  # its upper edge lies on the x axis
    skin = reference.plane(5.0, 0.02)  # one diagonal edge crosses it, no vertex is near
    soft, hard = ([skin], [ridge]), ([ridge], [skin])
    for (membranes, colliders), count in ((soft, 1), (hard, 0)):
        model = reference.model_of(membranes, colliders, thickness=0.05)
        contacts = searched(model, model.rest_positions, np.zeros(2))
        # a hard plate carries the ends of a soft ridge, a floor is one plane
        assert len(owned(contacts)) == count


def test_parallel_edges_and_ends_own_nothing():
    low = turned(reference.box(1.0), 0, np.pi / 4, (0, 0, -np.sqrt(2.0)))
    high = turned(reference.box(1.0), 0, np.pi / 4, (0.3, 0.0, np.sqrt(2.0) + 0.03))
    model = reference.model_of([low, high], thickness=0.05)
    contacts = searched(model, model.rest_positions, np.zeros(2))
    assert contacts.count > contacts.edge_start and not owned(contacts)
    assert (contacts.gap[: contacts.edge_start] < 0.1).any()  # the ends of the two edges hold each other
