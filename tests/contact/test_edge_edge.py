"""Edges against edges: distances, candidates, and who owns a contact."""

import contact_reference as reference
import numpy as np
import pytest
import shapes
from hypothesis import given, settings
from hypothesis import strategies as st
from softpressure_ext.core.contact.narrow_phase.closest_points import closest_on_edges


def edge_rows(contacts):
    return range(contacts.edge_start, len(contacts.gap))


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


def crossed_boxes(gap, angle=0.7, membranes=2):
    """Two boxes standing on an edge, one on top of the other, `gap` apart; the upper is turned about z."""
    low = turned(shapes.box(2.0, 1), 0, np.pi / 4, (0, 0, -np.sqrt(2.0)))
    high = turned(turned(shapes.box(2.0, 1), 0, np.pi / 4), 2, angle, (0.1, 0.05, np.sqrt(2.0) + gap))
    meshes = [low, high]
    return reference.model_of(meshes[:membranes], meshes[membranes:], thickness=0.05)


@pytest.mark.parametrize("membranes", [1, 2])
@pytest.mark.parametrize("angle", [0.2, 0.7, np.pi / 2])
def test_two_crossed_edges_of_boxes_are_one_contact(angle, membranes):
    """Its weights and normal are the gradient of its gap."""
    model = crossed_boxes(0.03, angle, membranes)
    contacts = reference.near(model)
    (row,) = owned(contacts)
    assert contacts.gap[row] == pytest.approx(0.03, abs=1e-12)
    np.testing.assert_allclose(contacts.normal[row], [0, 0, -1], atol=1e-9)  # onto the first body, which lies below
    np.testing.assert_array_equal(contacts.bodies[row], [0, 1])
    assert not (contacts.gap[: contacts.edge_start] < 0.1).any()  # no vertex is near
    assert (contacts.weights[row, :2] > 0).all() and (contacts.weights[row, 2:] < 0).all()
    reference.check_gradient(model, contacts, [row])


@pytest.mark.parametrize("seed", range(3))
def test_flat_patches_own_no_edges(seed):
    rng = np.random.default_rng(seed)
    # a plate of random triangles over a larger one, a little tilted or not
    meshes = []
    for size, height in ((1.0, 0.03), (3.0, 0.0)):
        flat, triangles = reference.random_plate(rng, 6, 0.08)
        meshes.append((np.column_stack([size * flat, np.full(len(flat), height)]), triangles))
    meshes[0] = turned(meshes[0], 0, seed * 0.005)
    border = np.abs(meshes[0][0][:, :2]).max(axis=1) > 0.99
    model = reference.model_of(meshes, thickness=0.05)
    contacts = reference.near(model)
    assert len(contacts.gap) - contacts.edge_start > 200
    # the upper plate's border is sharp and may own
    assert all(border[contacts.points[row, :2]].all() for row in owned(contacts))


def test_smooth_balls_touch_with_vertices_alone():
    a, b = shapes.icosphere(3), shapes.icosphere(3, 1.0, (1.97, 0.1, 0.05))
    model = reference.model_of([a, b], [shapes.grid(6.0, 1, -0.99)], thickness=0.02)
    contacts = reference.near(model)
    assert len(contacts.gap) > contacts.edge_start + 50
    # the floor's four border edges are far away
    assert not owned(contacts)


def test_a_box_on_a_box_stands_on_the_four_corners_of_the_overlap():
    # turned by nothing: edges cross at two corners, vertices stand over faces at the two others
    low, high = shapes.box(2.0, 1), (shapes.box(2.0, 1)[0] + [0.7, 0.5, 2.03], shapes.box(2.0, 1)[1])
    model = reference.model_of([low, high], thickness=0.05)
    model.membrane_count, model.rigid_count = 0, 2
    contacts = reference.near(model)
    spots = []
    for row in [*range(contacts.edge_start), *owned(contacts)]:
        if contacts.gap[row] < 0.1:
            assert contacts.gap[row] == pytest.approx(0.03, abs=1e-12)
            w = np.maximum(contacts.weights[row], 0.0)
            spots.append(tuple(np.round(w @ model.rest_positions[contacts.points[row], :2], 9)))
    assert set(spots) == {(1.0, 1.0), (-0.3, -0.5), (1.0, -0.5), (-0.3, 1.0)}


def test_parallel_edges_and_ends_own_nothing():
    low = turned(shapes.box(2.0, 1), 0, np.pi / 4, (0, 0, -np.sqrt(2.0)))
    high = turned(shapes.box(2.0, 1), 0, np.pi / 4, (0.3, 0.0, np.sqrt(2.0) + 0.03))
    model = reference.model_of([low, high], thickness=0.05)
    contacts = reference.near(model)
    assert len(contacts.gap) > contacts.edge_start and not owned(contacts)
    assert (contacts.gap[: contacts.edge_start] < 0.1).any()  # the ends of the two edges hold each other
