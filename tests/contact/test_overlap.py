"""Bodies that start crossed: who is on the wrong side, how it is pushed, and when it is let go."""

import contact_reference as reference
import numpy as np
import pytest
import shapes
from crossings import crossing_pairs
from softpressure_ext.core.contact.kept_distance import RECOVERY_SHARE
from softpressure_ext.core.contact.untangle.crossings import Crossings
from softpressure_ext.core.contact.untangle.overlap import crosses_itself, find_overlaps


def untangled(model, x=None):
    crossings = Crossings(model)
    return crossings, crossings.find(model.rest_positions if x is None else x)


def as_set(overlaps):
    return set(map(tuple, overlaps.pairs.tolist()))


def test_two_crossing_balls_hold_each_others_points():
    a, b = shapes.icosphere(3), shapes.icosphere(3, 1.0, (1.6, 0.2, 0.1))
    model = reference.model_of([a, b])
    _, overlaps = untangled(model)
    a_in_b = np.flatnonzero(reference.inside(a[0], *b))
    b_in_a = len(a[0]) + np.flatnonzero(reference.inside(b[0], *a))
    assert len(a_in_b) > 5 and len(b_in_a) > 5
    assert as_set(overlaps) == {(p, 1) for p in a_in_b.tolist()} | {(p, 0) for p in b_in_a.tolist()}
    assert (overlaps.facing == 1).all()


def test_a_ball_may_hold_more_than_half_of_another():
    small, large = shapes.icosphere(2, 0.3, (0.85, 0.0, 0.0)), shapes.icosphere(3)
    model = reference.model_of([small, large])
    _, overlaps = untangled(model)
    held = np.flatnonzero(reference.inside(small[0], *large))
    assert 0.5 * len(small[0]) < len(held) < len(small[0])
    assert {p for p, body in as_set(overlaps) if body == 1} == set(held.tolist())


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(("height", "wrong_below"), [(0.4, True), (-0.4, False)])
def test_the_smaller_part_is_wrong_at_an_open_floor(height, wrong_below, flipped):
    ball = shapes.icosphere(3, 1.0, (0.0, 0.0, height))
    positions, triangles = shapes.grid(6.0)
    model = reference.model_of([ball], [(positions, triangles[:, ::-1].copy() if flipped else triangles)])
    _, overlaps = untangled(model)
    below = ball[0][:, 2] < 0.0
    assert as_set(overlaps) == {(p, 1) for p in np.flatnonzero(below == wrong_below).tolist()}
    assert (overlaps.facing == (1 if wrong_below != flipped else -1)).all()


def test_inside_of_a_closed_collider_is_wrong_but_a_container_keeps_what_it_holds():
    solid = shapes.box(2.0, 1)
    sunk = shapes.icosphere(3, 0.5, (0.0, 0.0, 0.9))
    _, overlaps = untangled(reference.model_of([sunk], [solid]))
    assert as_set(overlaps) == {(p, 1) for p in np.flatnonzero(sunk[0][:, 2] < 1.0).tolist()}
    assert (overlaps.facing == 1).all()
    poking = shapes.icosphere(3, 0.5, (0.0, 0.0, 0.55))
    _, overlaps = untangled(reference.model_of([poking], [solid]))
    assert as_set(overlaps) == {(p, 1) for p in np.flatnonzero(poking[0][:, 2] >= 1.0).tolist()}
    assert (overlaps.facing == -1).all()


def test_nothing_is_wrong_with_bodies_wholly_inside_or_apart():
    model = reference.model_of(
        [shapes.icosphere(2, 0.5), shapes.icosphere(2, 1.0), shapes.icosphere(2, 1.0, (5, 0, 0))],
        [shapes.box(18.0, 1), shapes.grid(8.0, 1, -1.001)],
    )
    crossings, overlaps = untangled(model)
    assert len(overlaps.pairs) == 0 and overlaps.crossing_triangle_count == 0
    assert len(crossings.pairs) == 0


def test_a_spike_inside_a_ball_is_wrong_although_no_edge_of_the_ball_is_cut():
    ball = shapes.icosphere(0, 1.0)
    tip = ball[0][ball[1][0]].mean(axis=0)
    spike = (np.array([0.8 * tip, 2 * tip + [0.1, 0, 0], 2 * tip + [0, 0.1, 0]]), np.array([(0, 1, 2)], np.int32))
    model = reference.model_of([ball], [spike])
    _, overlaps = untangled(model)
    assert as_set(overlaps) == {(12, 0)}
    assert set(overlaps.crossing_triangles.tolist()) == {0, 20}


def test_crossing_triangles_are_those_that_meet_another_surface():
    # a row of cells across a floor: a grid standing on its edge, pushed through
    flat, triangles = shapes.grid(1.0, 6)
    positions = flat[:, [0, 2, 1]] + [0.03, 0.013, 0.1]
    model = reference.model_of([(positions, triangles)], [shapes.grid(4.0)])
    _, overlaps = untangled(model)
    heights = positions[triangles][:, :, 2]
    crossing = np.flatnonzero((heights.min(axis=1) < 0) & (heights.max(axis=1) > 0))
    floor = overlaps.crossing_triangles[overlaps.crossing_triangles >= len(triangles)] - len(triangles)
    assert len(crossing) == 2 * 6
    np.testing.assert_array_equal(overlaps.crossing_triangles[: len(crossing)], crossing)
    assert overlaps.crossing_triangle_count == len(crossing) + len(floor)
    assert set(floor.tolist()) == {0, 1}  # the grid runs over the diagonal
    assert {p for p, _ in as_set(overlaps)} == set(np.flatnonzero(positions[:, 2] < 0).tolist())


@pytest.mark.parametrize("seed", range(5))
def test_random_pairs_of_dented_balls(seed):
    rng = np.random.default_rng(seed)
    meshes = []
    for centre in (np.zeros(3), 1.1 * reference.rotation(rng)[0]):
        positions, triangles = shapes.icosphere(2)
        bumps = 1.0 + 0.3 * np.sin(3.0 * positions @ rng.normal(size=3))
        meshes.append(((positions * bumps[:, None]) @ reference.rotation(rng).T + centre, triangles))
    model = reference.model_of(meshes)
    _, overlaps = untangled(model)
    n = len(meshes[0][0])
    expected = {(p, 1) for p in np.flatnonzero(reference.inside(meshes[0][0], *meshes[1])).tolist()}
    expected |= {(n + p, 0) for p in np.flatnonzero(reference.inside(meshes[1][0], *meshes[0])).tolist()}
    assert expected and as_set(overlaps) == expected


def test_a_listed_point_has_one_row_however_deep_and_is_let_go_outside():
    ball = shapes.icosphere(2, 0.5, (0.1, 0.2, 0.23))
    model = reference.model_of([ball], [shapes.grid(4.0)], thickness=0.001)
    crossings, overlaps = untangled(model)
    n = model.vertex_count
    wrong = set(overlaps.pairs[:, 0].tolist())
    assert wrong == set(np.flatnonzero(ball[0][:, 2] < 0).tolist())
    x = model.rest_positions.copy()
    for lift in (0.0, 0.1, 0.2, 0.3):
        x[:n] = ball[0] + [0.0, 0.0, lift]
        contacts = crossings.gaps(x)
        reference.evaluate(model, x, contacts)
        rows = np.flatnonzero(contacts.side[: contacts.edge_start] == -1)
        behind = [p for p in sorted(wrong) if x[p, 2] < RECOVERY_SHARE * 0.002]
        np.testing.assert_array_equal(contacts.points[rows, 0], behind)
        np.testing.assert_allclose(contacts.gap[rows], x[behind, 2], atol=1e-14)
        np.testing.assert_allclose(contacts.normal[rows], np.tile([0.0, 0.0, 1.0], (len(rows), 1)), atol=1e-14)
        np.testing.assert_array_equal(crossings.pairs[:, 0], behind)
        assert len(contacts.gap) == len(rows)
    assert len(crossings.pairs) == 0


@pytest.mark.parametrize("deep", [1.9, 1.5, 0.8, 0.4])
def test_both_balls_are_sent_apart_even_by_points_beyond_the_other_centre(deep):
    axis = np.array([0.6, 0.64, 0.48])
    model = reference.model_of([shapes.icosphere(3), shapes.icosphere(3, 1.0, deep * axis)], thickness=0.01)
    crossings, overlaps = untangled(model)
    x = model.rest_positions
    contacts = crossings.gaps(x)
    reference.evaluate(model, x, contacts)
    rows = np.flatnonzero(contacts.side[: contacts.edge_start] == -1)
    assert len(rows) == len(overlaps.pairs) > 10
    away = np.where(contacts.bodies[rows, 0] == 0, -1.0, 1.0)
    along = away * (contacts.normal[rows] @ axis)
    assert along.min() > 0.1 and np.median(along) > 0.7  # near the rim the way out is slanted
    # and through the surface that is there: the way out ends on the other ball
    feet = x[contacts.points[rows, 0]] - contacts.distance[rows, None] * -contacts.normal[rows]
    centre = np.where(contacts.bodies[rows, 0, None] == 0, deep * axis, 0.0)
    np.testing.assert_allclose(np.linalg.norm(feet - centre, axis=1), 1.0, atol=0.01)


def cylinder(around, rings, radius=0.5, length=2.0):
    """A closed tube along z of quads cut in two; its ends are flat fans from a corner of the rim."""
    angle = 2.0 * np.pi * np.arange(around) / around
    circle = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    points = [np.column_stack([circle, np.full(around, length * k / rings)]) for k in range(rings + 1)]
    triangles = []
    for k, j in np.ndindex(rings, around):
        p, q = k * around + j, k * around + (j + 1) % around
        triangles += [(p, q, q + around), (p, q + around, p + around)]
    top = rings * around
    for j in range(1, around - 1):
        triangles += [(0, j + 1, j), (top, top + j, top + j + 1)]
    return np.concatenate(points), np.array(triangles)


FLAT_MESHES = {
    "cylinder": cylinder(32, 10),
    "narrow cylinder": cylinder(17, 10, 0.3, 1.0),
    "box": shapes.box(1.0, 1),
    "cube, subdivided": shapes.box(0.1, 12, (3.0, 4.0, 5.0)),
    "slab": (shapes.box(1.0, 8)[0] * (1.0, 1.0, 0.01), shapes.box(1.0, 8)[1]),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", list(FLAT_MESHES))
def test_faces_in_one_plane_do_not_cross(name, seed):
    """However the body lies: rounding does not decide."""
    x, triangles = FLAT_MESHES[name]
    noise = np.random.default_rng(seed)
    if seed:
        x = x @ shapes.rotation(noise.normal(size=3), noise.uniform(0.0, 3.0)).T + noise.uniform(-20.0, 20.0, 3)
    model = reference.model_of([(x, triangles)])
    found = find_overlaps(model, model.rest_positions, np.zeros(1, np.int32))
    assert found.crossing_triangle_count == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_grid_that_passes_through_a_cylinder_crosses_it(seed):
    """As the independent check of the tests finds, edge by edge."""
    noise = np.random.default_rng(seed)
    x, triangles = cylinder(32, 10)
    x = x @ shapes.rotation(noise.normal(size=3), noise.uniform(0.0, 3.0)).T
    model = reference.model_of([(x, triangles)], [shapes.grid(6.0)])
    _, overlaps = untangled(model)
    surfaces = model.surfaces
    _, faces = crossing_pairs(
        model.rest_positions, surfaces.triangles, surfaces.edges, surfaces.triangle_body, surfaces.edge_body
    ).T
    assert len(faces) > 10 and set(faces.tolist()) <= set(overlaps.crossing_triangles.tolist())


def test_a_crossing_is_found_among_its_corners_alone_and_nowhere_else():
    x, triangles = shapes.icosphere(3, 0.2)
    x[x[:, 2] > 0.15, 2] -= 0.4
    model = reference.model_of([(x, triangles)], self_collision=True)
    own = np.array([0], np.int32)
    among = np.zeros(len(x), bool)
    among[model.surfaces.triangles[find_overlaps(model, x, own).crossing_triangles]] = True
    assert crosses_itself(model, x, own) and crosses_itself(model, x, own, among)
    assert not crosses_itself(model, x, own, ~among)
