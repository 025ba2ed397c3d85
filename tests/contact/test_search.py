"""Search for pairs of rigid bodies and colliders against all pairs by brute force; trees of boxes."""

import contact_reference as reference
import numpy as np
import shapes
from hypothesis import given, settings
from hypothesis import strategies as st
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
    block, floor = shapes.box(0.0, 1), shapes.grid(2000.0, 1, -0.00105)
    model = rigid_model([block], [floor], 1e-4)
    pairs = ColliderSearch(model).find(model.rest_positions, np.full(2, 1e-4), np.zeros(1, bool), *NOTHING)
    assert set(pairs.points[: pairs.edge_start, 0].tolist()) == set(np.flatnonzero(block[0][:, 2] < 0.0).tolist())
    evaluate_edges(model.rest_positions, pairs)
    assert not (pairs.target_weight > 0.0).any()
