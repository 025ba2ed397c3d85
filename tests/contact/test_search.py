"""Search for pairs of rigid bodies and colliders against all pairs by brute force; trees of boxes."""

import contact_reference as reference
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from softpressure_ext.core.contact import box_tree
from softpressure_ext.core.contact.narrow_phase.edge_edge import evaluate_edges
from softpressure_ext.core.contact.near_pairs import NO_FOURS
from softpressure_ext.core.solvers.rigid.collider_search import ColliderSearch

NOTHING = NO_FOURS[:, :2], NO_FOURS[:, 0], NO_FOURS[:, 0]


def rigid_model(rigid, colliders, thickness):
    model = reference.model_of(rigid, colliders, thickness=thickness)
    model.membrane_count, model.rigid_count = 0, len(rigid)
    return model


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rigid=st.integers(1, 4), colliders=st.integers(1, 3))
def test_no_pair_within_reach_is_missed(seed, rigid, colliders):
    rng = np.random.default_rng(seed)
    soups = [reference.triangle_soup(rng, int(rng.integers(1, 40))) for _ in range(rigid + colliders)]
    model = rigid_model(soups[:rigid], soups[rigid:], rng.uniform(0.0, 0.1, rigid + colliders))
    reach = rng.uniform(0.0, 0.1, rigid + colliders)
    # moved away from rest, so the boxes must follow
    x = model.rest_positions + 0.2 * rng.normal(size=model.rest_positions.shape)
    left_out = rng.random(rigid) < 0.2
    search, taken = ColliderSearch(model), np.append(~left_out, np.ones(colliders, bool))
    for _ in range(2):
        pairs = search.find(x, reach, left_out, *NOTHING)
        given_body = pairs.bodies.max(axis=1)
        assert (pairs.bodies.min(axis=1) < rigid).all() and (given_body >= rigid).all()
        surfaces, start = model.surfaces, pairs.edge_start
        number = {tuple(corners): k for k, corners in enumerate(surfaces.triangles.tolist())}
        found = {(p, number[tuple(corners)]) for p, *corners in pairs.points[:start].tolist()}
        wanted = {
            (p, t)
            for p, t, _ in reference.all_pairs(model, x, reach)
            if min(bodies := (model.point_body[p], surfaces.triangle_body[t])) < rigid <= max(bodies)
            and taken[list(bodies)].all()
        }
        assert wanted <= found
        number = {tuple(ends): k for k, ends in enumerate(surfaces.edges.tolist())}
        ends = np.sort(pairs.points[start:].reshape(-1, 2, 2), axis=2)
        edges = np.array([number[tuple(e)] for e in ends.reshape(-1, 2).tolist()], int).reshape(-1, 2)
        np.testing.assert_array_equal(pairs.apex[start:], surfaces.edge_apex[edges].reshape(-1, 4))
        wanted = {
            (e, f)
            for e, f, _ in reference.all_edge_pairs(model, x, reach)
            if surfaces.edge_body[e] < rigid <= surfaces.edge_body[f] and taken[surfaces.edge_body[[e, f]]].all()
        }
        assert wanted <= set(map(tuple, edges.tolist()))
        x = x + 0.1 * rng.normal(size=x.shape)


def test_flat_edges_are_no_candidates_and_huge_triangles_find_tiny_bodies():
    block, floor = reference.box(0.001), reference.plane(1000.0, -0.00105)
    model = rigid_model([block], [floor], 1e-4)
    pairs = ColliderSearch(model).find(model.rest_positions, np.full(2, 1e-4), np.zeros(1, bool), *NOTHING)
    assert set(pairs.points[: pairs.edge_start, 0].tolist()) == set(np.flatnonzero(block[0][:, 2] < 0.0).tolist())
    evaluate_edges(model.rest_positions, pairs)
    assert not (pairs.target_weight > 0.0).any()


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
        contacts = reference.near(model, reach=0.01)
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
