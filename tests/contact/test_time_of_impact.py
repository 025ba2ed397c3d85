"""The admissible share of a step: never too much, hardly too little, and no brake on what moves together."""

import contact_reference as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from softpressure_ext.core.contact.contacts import EDGE_EDGE, POINT_TRIANGLE
from softpressure_ext.core.contact.filter.time_of_impact import (
    KEPT_DISTANCE,
    SEPARATED_DISTANCE,
    admissible_share,
    separate,
)

POINTS = np.arange(4, dtype=np.int32)[None]
NO_APEX = np.full((1, 4), -1, np.int32)
EDGE, FACE = np.full(1, EDGE_EDGE, np.int8), np.full(1, POINT_TRIANGLE, np.int8)


def share_of(x, move, kind, strays=0.0):
    return admissible_share(x, move, strays, POINTS, kind, NO_APEX, 0, 2 if kind is EDGE else 1)


def distances(x, move, kind, times):
    """Of the sides at each time [m], by another way than the core's."""
    a, b, c, d = np.moveaxis(x[None] + times[:, None, None] * move[None], 1, 0)
    if kind is EDGE:
        return reference.edge_distance(a, b, c, d)
    return np.linalg.norm(a - reference.closest_on_triangle(a, b, c, d), axis=1)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1]), st.floats(0.01, 10.0), st.floats(0.0, 100.0))
def test_a_share_of_a_step_keeps_the_distance_at_every_time(seed, edges, size, common):
    rng = np.random.default_rng(seed)
    kind = EDGE if edges else FACE
    x = rng.normal(size=(4, 3))
    move = size * rng.normal(size=(4, 3)) + common * rng.normal(size=3)
    share = share_of(x, move, kind)
    assert 0.0 < share <= 1.0
    along = distances(x, move, kind, share * np.linspace(0.0, 1.0, 200))
    assert along.min() >= KEPT_DISTANCE * along[0] * (1.0 - 1e-9)


@pytest.mark.parametrize("kind", [EDGE, FACE])
def test_what_approaches_straight_may_use_all_but_the_share_kept(kind):
    if kind is EDGE:
        x = np.array([(-1.0, 0.0, 0.1), (1.0, 0.0, 0.1), (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)])
        move = np.array([(0.0, 0.0, -0.5)] * 2 + [(0.0, 0.0, 0.5)] * 2)
    else:
        x = np.array([(0.2, 0.2, 0.1), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
        move = np.array([(0.0, 0.0, -0.5)] + [(0.0, 0.0, 0.5)] * 3)
    assert share_of(x, move, kind) == pytest.approx((1.0 - KEPT_DISTANCE) * 0.1, rel=1e-9)
    assert share_of(x, move + [3.0, -2.0, 5.0], kind) == pytest.approx((1.0 - KEPT_DISTANCE) * 0.1, rel=1e-9)


@pytest.mark.parametrize("kind", [EDGE, FACE])
def test_a_rigid_motion_of_both_sides_is_free(kind):
    rng = np.random.default_rng(3)
    for _ in range(50):
        x = rng.normal(size=(4, 3))
        turn = reference.rotation(rng)
        small = np.eye(3) + 0.2 * (turn - turn.T)  # linear motion: no distance falls below that of the chord
        assert share_of(x, x @ small.T - x + 50.0 * rng.normal(size=3), kind) == 1.0


def test_sliding_far_along_a_face_is_free():
    x = np.array([(0.2, 0.2, 1e-6), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
    move = np.zeros((4, 3))
    move[0] = [100.0, -70.0, 0.0]
    assert share_of(x, move, FACE) == 1.0


def test_arcs_that_stray_farther_than_the_distance_shorten_by_its_square_root():
    x = np.array([(0.2, 0.2, 0.1), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
    move = np.zeros((4, 3))
    move[0] = [0.0, 0.0, -0.01]
    assert share_of(x, move, FACE, strays=0.02) == 1.0
    assert share_of(x, move, FACE, strays=5.0) == pytest.approx(0.1)


@pytest.mark.parametrize("held", ["none", "first", "second"])
@pytest.mark.parametrize("kind", [EDGE, FACE])
def test_separated_sides_keep_a_plane_between_them(kind, held):
    rng = np.random.default_rng(4)
    changed = 0
    for _ in range(50):
        x = rng.normal(size=(4, 3))
        move = 2.0 * rng.normal(size=(4, 3))
        split = 2 if kind is EDGE else 1
        inverse_mass = np.ones(4)
        fixed = {"none": [], "first": range(split), "second": range(split, 4)}[held]
        inverse_mass[list(fixed)] = 0.0
        move[list(fixed)] = 0.0
        step, before = move.copy(), move.copy()
        separate(x, move, step, inverse_mass, np.zeros(1, np.int32), 1, POINTS, kind)
        np.testing.assert_array_equal(step, move)
        np.testing.assert_array_equal(move[list(fixed)], 0.0)
        along = distances(x, move, kind, np.linspace(0.0, 1.0, 100))
        assert along.min() >= SEPARATED_DISTANCE * along[0] * (1.0 - 1e-9)
        assert share_of(x, move, kind) == 1.0
        changed += not np.array_equal(move, before)
    assert changed > 10
