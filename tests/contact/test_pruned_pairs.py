"""Rows of a record that may touch soon: none that does is missing, far ones are left out, common motion is free."""

import contact_reference as reference
import numpy as np
import pytest
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.contact.broad_phase import pruned_pairs
from softpressure_ext.core.contact.broad_phase.candidates import Candidates
from softpressure_ext.core.contact.broad_phase.pruned_pairs import PrunedPairs
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.state import STAYS, State

THICKNESS = 0.01


def two_balls(gap=0.01, bodies=2, subdivisions=2):
    """Balls of radius 0.3 m above each other, the lowest above a floor, all `gap` apart."""
    builder = ModelBuilder()
    for number in range(bodies):
        positions, triangles = reference.icosphere(
            subdivisions, 0.3, (0.04 * number, 0.0, 0.3 + gap + number * (0.6 + gap))
        )
        builder.add_membrane(str(number), positions, triangles, mass=1.0, gauge_pressure=1e4, thickness=THICKNESS)
    builder.add_collider("floor", *reference.plane(9.0, 0.0))
    return builder.build()


def names(contacts):
    """Points and triangles, and pairs of edges, of a record."""
    first, count = contacts.edge_start, contacts.first_element
    points = set(zip(contacts.points[:first, 0].tolist(), contacts.triangle[:first].tolist(), strict=True))
    return points, set(map(tuple, contacts.edges[first:count].tolist()))


def touching(model, x):
    """All pairs within the thickness of both bodies at x, by brute force."""
    still = np.zeros(model.body_count)
    return (
        {row[:2] for row in reference.all_pairs(model, x, still)},
        {row[:2] for row in reference.all_edge_pairs(model, x, still)},
    )


def pushed(rng, model, x, size):
    """x after a common move, a turn, a wave and some noise, all at random, of at most about `size` [m]."""
    shift = size * rng.uniform(-1, 1, 3)
    axis, turn = rng.normal(size=3), rng.uniform(0, size)
    wave = size * rng.uniform(-0.5, 0.5, 3) * np.sin(rng.uniform(1, 9) * x @ rng.normal(size=3))[:, None]
    noise = rng.choice([0.0, 0.05, 0.3]) * size * rng.uniform(-1, 1, x.shape)
    move = shift + np.cross(turn * axis / np.linalg.norm(axis), x - x.mean(axis=0)) + wave + noise
    move[model.moving_point_count :] = 0.0
    return x + move


@pytest.mark.parametrize("seed", range(6))
def test_while_valid_nothing_that_touches_is_missing(seed, monkeypatch):
    """Long moves that make a search necessary, and shorter ones within its reach; however few rows are left out."""
    monkeypatch.setattr(pruned_pairs, "MOST_KEPT", 1.0)
    monkeypatch.setattr(pruned_pairs, "SPARE_REACH", 0.02)
    rng = np.random.default_rng(seed)
    model = two_balls(rng.uniform(0.001, 0.02), subdivisions=1)
    candidates = Candidates(model, 1.6, prune=True)
    x = model.rest_positions.copy()
    checked = touched = left = chosen = 0
    for turn in range(40):
        size = 0.06 if turn % 5 == 0 else rng.choice([0.003, 0.01, 0.03])
        trial = pushed(rng, model, x, size)
        searches = candidates.searches
        chosen += candidates.cover(x, trial) and candidates.searches == searches
        assert candidates.still_valid(x) and candidates.still_valid(trial)
        left += candidates.is_pruned
        for share in (0.0, rng.random(), 1.0, None, None, None):
            y = pushed(rng, model, trial, size) if share is None else x + share * (trial - x)
            if not candidates.still_valid(y):
                assert share is None
                continue
            found, expected = names(candidates.contacts), touching(model, y)
            assert expected[0] <= found[0] and expected[1] <= found[1]
            checked += 1
            touched += len(expected[0]) + len(expected[1])
        x = trial if turn % 5 == 4 else x
    assert checked > 120 and touched > 100 and left > 10 and chosen > 0


def test_what_is_left_out_is_all_that_is_missing_and_rows_are_those_of_the_search():
    model = two_balls()
    x = model.rest_positions
    wide, near, rows = Contacts(model.vertex_count), Contacts(model.vertex_count), PrunedPairs(model.point_count)
    reach = np.array([0.1, 0.1, 0.0])
    ContactSearch(model).search(x, reach, wide)
    rows.choose(x, x, wide, near, reach, reach)
    assert 0 < near.count < 0.2 * wide.count
    assert near.count + rows.left == wide.count
    assert 0 < near.edge_start < near.first_element == near.count
    place = {name: row for row, name in enumerate(zip(*listed(wide), strict=True))}
    old = np.array([place[name] for name in zip(*listed(near), strict=True)])
    assert (np.diff(old) > 0).all()
    for name in ("points", "kind", "triangle", "bodies", "thickness", "friction", "side", "facing"):
        np.testing.assert_array_equal(getattr(near, name)[: near.count], getattr(wide, name)[old], err_msg=name)
    edges = slice(near.edge_start, near.count)
    for name in ("edges", "apex", "soft"):
        np.testing.assert_array_equal(getattr(near, name)[edges], getattr(wide, name)[old[edges]], err_msg=name)
    assert near.vertex_start[-1] == (near.points[: near.count] < model.vertex_count).sum()
    # with all the room of the search nothing is left out
    rows.choose(x, x + np.array([1.0, 0.0, 0.0]) * (model.point_body == 0)[:, None], wide, near, reach, reach)
    assert near.count == wide.count and rows.left == 0


def listed(contacts):
    """What tells rows apart, one tuple per column."""
    return contacts.kind[: contacts.count].tolist(), *contacts.points[: contacts.count].T.tolist()


def test_motion_in_common_uses_nothing_up():
    model = two_balls()
    x = model.rest_positions
    upper = model.point_body < 2
    wide, near, rows = Contacts(model.vertex_count), Contacts(model.vertex_count), PrunedPairs(model.point_count)
    reach = np.array([0.1, 0.1, 0.0])
    ContactSearch(model).search(x, reach, wide)
    fall = np.array([3.0, -2.0, 5.0]) * upper[:, None]
    pairs = np.flatnonzero(wide.bodies[: wide.count].max(axis=1) < 2)
    rows.choose(x, x, wide, near, reach, reach)
    few = np.count_nonzero(near.bodies[: near.count].max(axis=1) < 2)
    rows.choose(x, x + fall, wide, near, reach, reach)
    assert np.count_nonzero(near.bodies[: near.count].max(axis=1) < 2) == few < 0.2 * len(pairs)
    assert rows.valid(x + fall) and rows.valid(x + 0.3 * fall) and rows.valid(x)
    apart = x + fall
    apart[model.point_body == 0, 2] += 0.2
    assert not rows.valid(apart)
    assert rows.valid(x)


def test_points_behind_a_surface_are_all_kept():
    model = two_balls(-0.05)
    candidates = Candidates(model, 1.6, prune=True)
    state = State.at_rest(model)
    candidates.untangle(state)
    state.wrong_side[:, 2] = STAYS
    listed = state.wrong_side.copy()
    candidates.start_frame(state)
    np.testing.assert_array_equal(state.wrong_side, listed)
    assert candidates.cover(model.rest_positions, model.rest_positions)
    assert not candidates.is_pruned and len(candidates.contacts.excluded)


def test_what_is_not_finite_is_not_valid():
    model = two_balls()
    candidates = Candidates(model, 1.6, prune=True)
    x = model.rest_positions.copy()
    candidates.cover(x, x)
    x[7, 1] = np.nan
    assert not candidates.still_valid(x)
    assert candidates.cover(model.rest_positions, x) and candidates.contacts.count == 0 and not candidates.is_pruned


@pytest.mark.parametrize("seed", range(3))
def test_balls_that_press_each_other_stay_out_of_each_other(seed):
    """Three balls are thrown at each other and on a floor."""
    rng = np.random.default_rng(seed)
    model = two_balls(0.02, 3)
    world = World(model, frame_rate=24, substeps=2, solver="IMPLICIT")
    state = world.save()
    state.velocities[: model.vertex_count] = rng.uniform(-3, 3, (3, 3))[model.point_body[: model.vertex_count]]
    world.load(state)
    pressed = 0
    for _ in range(12):
        world.advance_frame()
        pressed += world.diagnostics().contact_count
        for a in range(3):
            assert world.positions(a)[:, 2].min() > 0.0
            for b in range(3):
                corners = model.surfaces.triangles[model.surfaces.triangle_body == b] - model.body_point_start[b]
                assert a == b or not reference.inside(world.positions(a), world.positions(b), corners).any()
    assert pressed > 20


def test_the_same_bits_with_two_threads_and_after_loading():
    model = two_balls(0.02, 3)
    ends = []
    for threads in (1, 2):
        world = World(model, frame_rate=24, substeps=2, threads=threads, solver="IMPLICIT")
        state = world.save()
        state.velocities[: model.vertex_count, 2] = -4.0
        world.load(state)
        left = 0
        for frame in range(9):
            if frame == 5:
                middle = world.save()
            world.advance_frame()
            left += world._solver._minimiser.candidates.is_pruned
        assert left > 0
        ends.append(world.save().positions.copy())
        world.load(middle)
        for _ in range(4):
            world.advance_frame()
        ends.append(world.save().positions.copy())
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])
