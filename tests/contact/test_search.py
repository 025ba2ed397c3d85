"""Broad phase against all pairs by brute force."""

import contact_reference as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from softpressure_ext.core.contact.broad_phase import box_tree
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.contact.narrow_phase.vertex_triangle import evaluate_gaps


def searched(model, x, reach, capacity=1024):
    contacts = Contacts(capacity)
    ContactSearch(model).search(x, np.asarray(reach, float), contacts)
    evaluate_gaps(x, contacts, model.surfaces)
    return contacts


def pairs_of(contacts):
    count = contacts.edge_start
    return list(zip(contacts.points[:count, 0].tolist(), contacts.triangle[:count].tolist(), strict=True))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), membranes=st.integers(1, 4), colliders=st.integers(0, 3))
def test_finds_exactly_the_pairs_within_reach(seed, membranes, colliders):
    rng = np.random.default_rng(seed)
    soups = [reference.triangle_soup(rng, int(rng.integers(1, 40))) for _ in range(membranes + colliders)]
    thickness = rng.uniform(0.0, 0.1, membranes + colliders)
    model = reference.model_of(soups[:membranes], soups[membranes:], thickness=thickness)
    reach = rng.uniform(0.0, 0.1, membranes + colliders)
    # moved away from rest, so the trees must follow
    x = model.rest_positions + 0.2 * rng.normal(size=model.rest_positions.shape)
    expected = reference.all_pairs(model, x, reach)
    contacts = searched(model, x, reach, capacity=1)
    assert pairs_of(contacts) == [row[:2] for row in expected]
    np.testing.assert_allclose(contacts.distance[: contacts.edge_start], [row[2] for row in expected], atol=1e-12)


def test_huge_triangles_next_to_tiny_ones():
    ball = reference.icosphere(3, 0.001, (0.3, 0.2, 0.00105))
    floor = reference.plane(1000.0)
    specks = reference.icosphere(1, 0.0005, (0.3, 0.2, 0.0026))
    model = reference.model_of([ball, specks], [floor], thickness=1e-4)
    reach = np.full(3, 1e-4)
    contacts = searched(model, model.rest_positions, reach)
    expected = reference.all_pairs(model, model.rest_positions, reach)
    assert len(expected) > 10
    assert pairs_of(contacts) == [row[:2] for row in expected]


def test_what_a_row_says_about_its_bodies():
    soft, hard = reference.icosphere(1, 1.0, (0, 0, 0)), reference.icosphere(1, 1.0, (1.9, 0, 0))
    model = reference.model_of(
        [soft, hard], [reference.plane(3.0, -1.0)],
        thickness=[0.1, 0.2, 0.4],
    )  # fmt: skip
    contacts = searched(model, model.rest_positions, np.zeros(3))
    rows = slice(0, contacts.edge_start)
    first, second = contacts.bodies[rows].T
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == {(0, 1), (1, 0), (0, 2), (1, 2)}
    np.testing.assert_array_equal(contacts.thickness[rows], model.thickness[first] + model.thickness[second])
    np.testing.assert_array_equal(contacts.points[rows, 1:], model.surfaces.triangles[contacts.triangle[rows]])
    assert (contacts.side[rows] == 1).all()


def test_collider_points_push_membrane_triangles_but_not_other_colliders():
    skin = reference.plane(10.0, 0.0)
    spike = (np.array([(0, 0, 0.01), (1, 0, 1), (0, 1, 1)], float), np.array([(0, 1, 2)], np.int32))
    model = reference.model_of([skin], [spike, reference.plane(5.0, 0.02)], thickness=0.02)
    contacts = searched(model, model.rest_positions, np.zeros(3))
    bodies = {tuple(pair) for pair in contacts.bodies[: contacts.count].tolist()}
    assert (1, 0) in bodies and (2, 0) in bodies
    assert (1, 2) not in bodies and (2, 1) not in bodies


def test_search_again_with_more_and_with_fewer_contacts():
    model = reference.model_of([reference.icosphere(3), reference.icosphere(3)], thickness=1e-3)
    search, contacts = ContactSearch(model), Contacts(1)
    far = model.rest_positions.copy()
    far[model.point_body == 1] += 10.0
    near = model.rest_positions.copy()
    near[model.point_body == 1, 0] += 0.01
    for x in (far, near, far, near):
        search.search(x, np.zeros(2), contacts)
        expected = reference.all_pairs(model, x, np.zeros(2)) if x is near else []
        assert pairs_of(contacts) == [row[:2] for row in expected]
        assert contacts.capacity >= contacts.count


def test_still_valid_until_a_point_leaves_its_reach():
    model = reference.model_of([reference.icosphere(2)], [reference.plane(2.0, -1.0)])
    search, contacts = ContactSearch(model), Contacts()
    x = model.rest_positions.copy()
    assert not search.others_valid(x)
    search.search(x, np.array([0.02, 0.0]), contacts)
    assert search.others_valid(x)
    moved = x.copy()
    moved[17, 1] += 0.0199
    assert search.others_valid(moved)
    moved[17, 1] += 0.0002
    assert not search.others_valid(moved)
    still = x.copy()
    still[-1, 2] += 1e-9  # the collider has no reach
    assert not search.others_valid(still)
    still[-1, 2] = np.nan
    assert not search.others_valid(still)


@pytest.mark.parametrize("seed", range(3))
def test_while_valid_no_touching_pair_is_missing(seed):
    rng = np.random.default_rng(seed)
    model = reference.model_of(
        [reference.triangle_soup(rng, 40), reference.triangle_soup(rng, 40)], [reference.triangle_soup(rng, 20)],
        thickness=0.05,
    )  # fmt: skip
    reach = np.array([0.1, 0.05, 0.02])
    candidates = set(pairs_of(searched(model, model.rest_positions, reach)))
    step = rng.normal(size=model.rest_positions.shape)
    step *= (reach[model.point_body] / np.linalg.norm(step, axis=1))[:, None]
    touching = reference.all_pairs(model, model.rest_positions + step, np.zeros(3))
    assert touching
    assert {row[:2] for row in touching} <= candidates


def test_same_pairs_and_gaps_when_the_scene_is_turned_and_moved_far_away():
    rng = np.random.default_rng(5)
    model = reference.model_of(
        [reference.icosphere(3, 1.0), reference.icosphere(3, 1.0, (2.003, 0.1, 0.05))], [reference.plane(3.0, -1.001)],
        thickness=0.01,
    )  # fmt: skip
    x = model.rest_positions
    turn = reference.rotation(rng)
    moved = x @ turn.T + np.array([1000.0, -500.0, 200.0])
    # pairs right at the limit of the search may differ by rounding, pairs in contact may not
    session, there = searched(model, x, [0.013] * 3), searched(model, np.ascontiguousarray(moved), [0.013] * 3)
    rows_here = {pair: k for k, pair in enumerate(pairs_of(session)) if session.distance[k] < 0.04}
    rows_there = {pair: k for k, pair in enumerate(pairs_of(there)) if there.distance[k] < 0.04}
    assert len(rows_here) > 20 and rows_here.keys() == rows_there.keys()
    for pair, k in rows_here.items():
        m = rows_there[pair]
        assert abs(session.distance[k] - there.distance[m]) < 1e-11  # 1 km has 1e-13 m of rounding, squared differences
        np.testing.assert_allclose(turn @ session.normal[k], there.normal[m], atol=1e-9)


def test_same_gaps_when_points_and_triangles_are_numbered_anew():
    rng = np.random.default_rng(6)
    a, b = reference.icosphere(3), reference.icosphere(3, 1.0, (2.01, 0.03, 0.02))
    model = reference.model_of([a, b], thickness=0.05)

    def shuffled(mesh):
        positions, triangles = mesh
        order, triangle_order = rng.permutation(len(positions)), rng.permutation(len(triangles))
        place = np.argsort(order)
        return (positions[order], place[triangles[triangle_order]].astype(np.int32)), order

    (c, order_c), (d, order_d) = shuffled(a), shuffled(b)
    other = reference.model_of([c, d], thickness=0.05)
    old_point = np.concatenate([order_c, len(a[0]) + order_d])

    def owned(model, rename):
        contacts = searched(model, model.rest_positions, [0.01, 0.01])
        rows = np.flatnonzero(contacts.gap[: contacts.edge_start] < 0.1)
        return sorted((int(rename[contacts.points[k, 0]]), round(float(contacts.gap[k]), 10)) for k in rows)

    gaps = owned(model, np.arange(model.point_count))
    assert len(gaps) > 5
    assert gaps == owned(other, old_point)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 300), levels=st.integers(0, 5))
def test_median_order_is_a_permutation_of_compact_runs(seed, count, levels):
    parts = 1 << levels
    if parts > count:
        return
    centres = np.random.default_rng(seed).normal(size=(count, 3))
    order = box_tree.median_order(centres, parts)
    assert sorted(order.tolist()) == list(range(count))
    if parts > 1:
        half = (parts // 2) * count // parts
        axis = np.argmax(np.ptp(centres, axis=0))
        assert centres[order[:half], axis].max() <= centres[order[half:], axis].min()


def test_boxes_hold_their_triangles_and_children():
    rng = np.random.default_rng(8)
    positions, triangles = reference.triangle_soup(rng, 700)
    trees = box_tree.build_trees(positions, triangles, np.array([0, 700], np.int32))
    x = positions + rng.normal(size=positions.shape)
    trees.refit(x, triangles, np.ones(1, np.uint8))
    leaves = 1 << int(trees.depth[0])
    for leaf in range(leaves):
        own = trees.triangle_order[leaf * 700 // leaves : (leaf + 1) * 700 // leaves]
        corners = x[triangles[own]].reshape(-1, 3)
        np.testing.assert_array_equal(trees.box[leaves - 1 + leaf], [*corners.min(axis=0), *corners.max(axis=0)])
    for node in range(leaves - 1):
        low = np.minimum(trees.box[2 * node + 1, :3], trees.box[2 * node + 2, :3])
        high = np.maximum(trees.box[2 * node + 1, 3:], trees.box[2 * node + 2, 3:])
        np.testing.assert_array_equal(trees.box[node], [*low, *high])
