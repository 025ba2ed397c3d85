"""Nothing crosses: filtered steps under random pushes, what moves together, and vertices carried by colliders."""

import contact_reference as reference
import numpy as np
import pytest
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.contact.filter.carry import carry
from softpressure_ext.core.contact.filter.closing_part import KEPT_SHARE
from softpressure_ext.core.contact.filter.time_of_impact import KEPT_DISTANCE, limit_pairs
from softpressure_ext.core.contact.narrow_phase.vertex_triangle import evaluate_gaps
from step_filtering import Filtering


def crossings(model, before, after):
    """(point, triangle) of different bodies that passed through each other while all moved in straight lines.

    The point is in the triangle's plane at a root of a cubic in time. Roots are bracketed by 32 samples and
    bisected; at each, is the point in the triangle? Every pair that can meet is tried, by plain vectors.
    """
    triangles = model.surfaces.triangles
    low = np.minimum(before, after)
    high = np.maximum(before, after)
    near = model.point_body[:, None] != model.surfaces.triangle_body[None, :]
    for axis in range(3):
        near &= low[:, axis, None] <= high[triangles, axis].max(axis=1)[None, :]
        near &= high[:, axis, None] >= low[triangles, axis].min(axis=1)[None, :]
    point, triangle = np.nonzero(near)
    path = np.concatenate([point[:, None], triangles[triangle]], axis=1)

    def at(t, path):
        return [before[k] + t[:, None] * (after[k] - before[k]) for k in path.T]

    def height(t, path):
        p, a, b, c = at(t, path)
        return np.einsum("ij,ij->i", np.cross(b - a, c - a), p - a)

    samples = np.linspace(0.0, 1.0, 33)
    value = np.stack([height(np.full(len(path), t), path) for t in samples], axis=1)
    row, column = np.nonzero(value[:, :-1] * value[:, 1:] <= 0.0)
    start, end, sign, path = samples[column], samples[column + 1], np.sign(value[row, column]), path[row]
    for _ in range(50):
        middle = 0.5 * (start + end)
        same = np.sign(height(middle, path)) == sign
        start, end = np.where(same, middle, start), np.where(same, end, middle)
    p, a, b, c = at(end, path)
    met = np.linalg.norm(p - reference.closest_on_triangle(p, a, b, c), axis=1) < 1e-12
    return list(zip(path[met, 0].tolist(), triangle[row][met].tolist(), strict=True))


def edge_crossings(model, before, after):
    """(edge, edge) of different bodies that passed through each other while all moved in straight lines.

    Four ends lie in one plane at a root of a cubic in time, bracketed and bisected as in `crossings`; do the edges
    meet there? A crossing at the very ends of the motion is none.
    """
    edges, body = model.surfaces.edges, model.surfaces.edge_body
    low = np.minimum(before, after)[edges].min(axis=1)
    high = np.maximum(before, after)[edges].max(axis=1)
    first, second = np.triu_indices(len(edges), 1)
    near = body[first] != body[second]
    first, second = first[near], second[near]
    near = ((low[first] <= high[second]) & (low[second] <= high[first])).all(axis=1)
    first, second = first[near], second[near]
    path = np.concatenate([edges[first], edges[second]], axis=1)

    def at(t, path):
        return [before[k] + t[:, None] * (after[k] - before[k]) for k in path.T]

    def volume(t, path):
        p, p_end, q, q_end = at(t, path)
        return np.einsum("ij,ij->i", np.cross(p_end - p, q_end - q), q - p)

    samples = np.linspace(0.0, 1.0, 33)
    value = np.stack([volume(np.full(len(path), t), path) for t in samples], axis=1)
    row, column = np.nonzero(value[:, :-1] * value[:, 1:] < 0.0)
    start, end, sign, path = samples[column], samples[column + 1], np.sign(value[row, column]), path[row]
    for _ in range(50):
        middle = 0.5 * (start + end)
        same = np.sign(volume(middle, path)) == sign
        start, end = np.where(same, middle, start), np.where(same, end, middle)
    met = reference.edge_distance(*at(end, path)) < 1e-12
    return list(zip(first[row][met].tolist(), second[row][met].tolist(), strict=True))


def uncrossed(membranes, colliders, **options):
    """A model of which the last collider, a soup, has lost the triangles that cross another body."""
    model = reference.model_of(membranes, colliders, **options)
    crossing = ContactSearch(model).untangle(model.rest_positions).crossing_triangles
    corners = colliders[-1][0].reshape(-1, 3, 3)
    first = model.surfaces.body_triangle_start[-2]
    kept = corners[np.setdiff1d(np.arange(len(corners)), crossing - first)].reshape(-1, 3)
    soup = kept, np.arange(len(kept), dtype=np.int32).reshape(-1, 3)
    model = reference.model_of(membranes, [*colliders[:-1], soup], **options)
    assert len(kept) and ContactSearch(model).untangle(model.rest_positions).crossing_triangle_count == 0
    return model


def assert_not_crossed(model, x, move):
    """No point and no edge passes through another body on the way."""
    assert not crossings(model, x, x + move)
    assert not edge_crossings(model, x, x + move)


def test_the_oracle_sees_an_edge_pass_through():
    model = reference.model_of([reference.box(1.0)], [reference.box(1.0)])
    n = model.vertex_count
    before = model.rest_positions.copy()
    before[:n] = before[:n] @ np.array([(1, 0, 0), (0, 1, 1), (0, -1, 1)]) * 0.7 + np.array([0, 0, 2.9])
    before[n:] = before[n:] @ np.array([(1, 0, 1), (0, 1, 0), (-1, 0, 1)]) * 0.7
    after = before.copy()
    after[:n, 2] -= 0.05
    assert not edge_crossings(model, before, after)
    after[:n, 2] -= 0.2  # an edge passes through an edge, no vertex through a face
    assert len(edge_crossings(model, before, after)) == 1 and not crossings(model, before, after)


def test_the_oracle_sees_a_point_pass_through():
    model = reference.model_of([reference.icosphere(0, 0.1, (0, 0, 0.2))], [reference.plane()])
    before = model.rest_positions
    after = before.copy()
    after[: model.vertex_count, 2] -= 0.15
    assert crossings(model, before, after)
    after[: model.vertex_count, 2] = before[: model.vertex_count, 2] - 0.05
    assert not crossings(model, before, after)
    after[: model.vertex_count] = before[: model.vertex_count] + np.array([5.0, 0.0, -0.4])  # passes beside the floor
    beside = {p for p, _ in crossings(model, before, after)}
    assert len(beside) < model.vertex_count


@pytest.mark.parametrize("only_shorten", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_random_pushes_never_cross(seed, only_shorten):
    rng = np.random.default_rng(seed)
    floor = reference.plane(1.0, -0.27)
    soft = [reference.icosphere(1, 0.12, (0.125 * i, 0.0, 0.02 * i)) for i in (-1, 1)]
    soup = reference.triangle_soup(rng, 6, 0.1, 0.3)
    model = uncrossed(soft, [floor, soup], thickness=0.004)
    filtering, n = Filtering(model), model.vertex_count
    x = model.rest_positions.copy()
    would = held = 0
    for step in range(40):
        dx = np.zeros_like(x)
        body_push = 0.25 * rng.normal(size=(2, 3)) if step % 3 else 0.3 * np.array([[1.0, 0, 0], [-1.0, 0, 0]])
        dx[:n] = body_push[model.point_body[:n]] + 0.03 * rng.normal(size=(n, 3))
        would += len(crossings(model, x, x + dx))
        move = filtering(x, dx, only_shorten)
        held += not np.array_equal(move, dx)
        assert_not_crossed(model, x, move)
        x = x + move
    assert would > 20 and held > 5  # the pushes did press against something


def test_without_the_bound_the_same_pushes_cross():
    model = reference.model_of([reference.icosphere(1, 0.12, (0, 0, 0.13))], [reference.plane()])
    after = model.rest_positions.copy()
    after[: model.vertex_count, 2] -= 0.2
    assert crossings(model, model.rest_positions, after)


def test_sliding_along_a_floor_is_free_and_so_is_leaving_it():
    model = reference.model_of([reference.icosphere(2, 0.12, (0, 0, 0.1201))], [reference.plane()], thickness=0.001)
    filtering, x, n = Filtering(model), model.rest_positions, model.vertex_count
    dx = np.zeros_like(x)
    for free in ((0.03, -0.02, 0.0), (0.03, -0.02, 0.04)):
        dx[:n] = free
        np.testing.assert_array_equal(filtering(x, dx, only_shorten=True), dx)
    dx[:n] = (0.0, 0.0, -0.01)
    alone, together = filtering(x, dx), filtering(x, dx, only_shorten=True)
    lowest = x[:n, 2].min()
    # each vertex stops by itself just inside the thickness, or all of the body where its lowest one does
    np.testing.assert_allclose(
        (x + alone)[:n, 2], np.maximum(x[:n, 2] - 0.01, KEPT_SHARE * np.minimum(x[:n, 2], 0.002)), atol=1e-12
    )
    np.testing.assert_allclose(together[:n, 2], -(1.0 - KEPT_DISTANCE) * lowest, atol=1e-12)


def test_two_free_sides_share_the_gap():
    a, b = reference.icosphere(0), reference.icosphere(0)
    a[0][:, 0] -= a[0][:, 0].max() + 0.01
    b[0][:, 0] -= b[0][:, 0].min() - 0.01
    model = reference.model_of([a, b], thickness=0.001)
    x = model.rest_positions
    dx = np.zeros_like(x)
    dx[:, 0] = np.where(model.point_body == 0, 1.0, -1.0)
    after = x + Filtering(model)(x, dx, only_shorten=True)
    front = x[model.point_body == 0, 0].max()
    assert after[model.point_body == 0, 0].max() == pytest.approx(front + 0.5 * (1.0 - KEPT_DISTANCE) * 0.02)
    assert after[model.point_body == 0, 0].max() < after[model.point_body == 1, 0].min()


def stack(count, height, gap=0.01):
    """Balls above each other, `gap` apart, the lowest `height` above a floor [m]."""
    balls = [reference.icosphere(1, 0.1, (0.0, 0.0, height + 0.1 + number * (0.2 + gap))) for number in range(count)]
    return reference.model_of(balls, [reference.plane(1.0, 0.0)], thickness=0.004)


def test_balls_that_fall_together_fall_freely():
    model = stack(3, 2.0)
    step = np.zeros_like(model.rest_positions)
    step[: model.vertex_count] = [0.3, 0.0, -0.5]  # fifty gaps
    for only_shorten in (False, True):
        np.testing.assert_array_equal(Filtering(model)(model.rest_positions, step, only_shorten), step)


@pytest.mark.parametrize("count", [2, 5])
def test_what_follows_a_ball_that_is_stopped_does_not_run_into_it(count):
    model = stack(count, 0.01)
    x = model.rest_positions
    step = np.zeros_like(x)
    step[: model.vertex_count, 2] = -0.5
    for only_shorten in (False, True):
        move = Filtering(model)(x, step, only_shorten)
        assert_not_crossed(model, x, move)
        assert move[: model.vertex_count, 2].min() < -0.005  # it goes on as far as it can


@pytest.mark.parametrize("seed", range(6))
def test_random_pushes_of_flying_bodies_never_cross(seed):
    rng = np.random.default_rng(seed)
    model = stack(3, 0.02)
    filtering, x = Filtering(model), model.rest_positions.copy()
    would = 0
    for number in range(24):
        common = 0.2 * rng.normal(size=3) * (number % 3 > 0)
        own = 0.05 * rng.normal(size=(3, 3))
        spin = 0.3 * rng.normal(size=(3, 3))
        step = np.zeros_like(x)
        for body in range(3):
            points = model.point_body == body
            arm = x[points] - x[points].mean(axis=0)
            step[points] = common + own[body] + np.cross(spin[body], arm) + 0.01 * rng.normal(size=arm.shape)
        move = filtering(x, step)
        would += len(crossings(model, x, x + step))
        assert_not_crossed(model, x, move)
        x = x + move
    assert would > 0


def two_balls(gap=0.002):
    """Two balls above each other, flattened where they nearly touch."""
    low, high = (reference.icosphere(2, 0.1, (0.03 * side, 0.01 * side, 0.1 * side)) for side in (-1, 1))
    for (x, _), sign in ((low, -1.0), (high, 1.0)):
        x[:, 2] = sign * np.maximum(sign * x[:, 2] - 0.03, 0.5 * gap)
    return reference.model_of([low, high], [reference.plane(1.0, -5.0)], thickness=0.004)


def least_distance(model, x):
    """Between any two sides [m]."""
    search, contacts = ContactSearch(model), Contacts(model.vertex_count)
    search.search(x, np.full(model.body_count, 0.01), contacts)
    evaluate_gaps(x, contacts, model.surfaces)
    return contacts.distance[: contacts.count].min()


def test_skins_that_move_together_are_not_held_back():
    """A wave of three gaps that runs through both: no rigid motion of either, but hardly felt by a single triangle."""
    model = two_balls()
    x, n = model.rest_positions, model.vertex_count
    step = np.zeros_like(x)
    step[:n, 2] = 0.006 * np.sin(10.0 * x[:n, 0])
    move = Filtering(model)(x, step)
    assert np.abs(move - step).max() < 0.0005
    assert least_distance(model, x + move) > 0.001


def test_what_closes_a_gap_is_taken_out_and_the_rest_is_left():
    model = two_balls()
    x, n = model.rest_positions, model.vertex_count
    flat = (model.point_body[:n] == 1) & (np.abs(x[:n, 2]) < 0.0011)
    assert flat.sum() > 20
    step = np.zeros_like(x)
    step[:n] = [0.01, -0.02, 0.03]
    step[:n][flat, 2] -= 0.004  # two gaps
    move = Filtering(model)(x, step)
    np.testing.assert_allclose(move[:, :2], step[:, :2], rtol=0, atol=0.0005)  # along the flat surfaces
    changed = np.abs(move - step).max(axis=1) > 1e-12
    assert flat.sum() // 2 < changed.sum() < 4 * flat.sum()
    assert KEPT_DISTANCE * 0.002 < least_distance(model, x + move) < 0.002


@pytest.mark.parametrize("seed", range(6))
def test_random_pushes_of_pressing_skins_never_cross(seed):
    rng = np.random.default_rng(seed)
    model = two_balls()
    filtering, n, x = Filtering(model), model.vertex_count, model.rest_positions.copy()
    would = 0
    for number in range(8):
        step = np.zeros_like(x)
        arm = x[:n] - x[:n].mean(axis=0)
        common = 0.02 * rng.normal(size=3) + 0.1 * (arm @ rng.normal(size=(3, 3)))
        own = 0.004 * rng.normal(size=(2, 3))
        step[:n] = common + own[model.point_body[:n]] + 0.002 * (number % 3) * rng.normal(size=(n, 3))
        move = filtering(x, step)
        would += len(crossings(model, x, x + step)) + len(edge_crossings(model, x, x + step))
        for share in (0.3, 0.7, 1.0):
            assert_not_crossed(model, x, share * move)
        x = x + move
    assert would > 0


def test_a_point_behind_a_surface_is_free_to_come_back():
    model = reference.model_of([reference.icosphere(0, 0.12, (0, 0, 0.09))], [reference.plane()], thickness=0.001)
    search, contacts = ContactSearch(model), Contacts(model.vertex_count)
    x = model.rest_positions
    below = np.flatnonzero(x[: model.vertex_count, 2] < 0.0)
    assert len(below)
    search.list_wrong_side(
        np.stack([below, np.ones_like(below)], axis=1).astype(np.int32), np.ones(len(below), np.int8)
    )
    search.search(x, np.array([0.5, 0.0]), contacts)
    evaluate_gaps(x, contacts, model.surfaces)
    rows = [k for k in range(contacts.edge_start) if contacts.points[k, 0] in below]
    assert len(rows) == len(below)
    np.testing.assert_allclose(contacts.gap[rows], x[below, 2], atol=1e-15)
    np.testing.assert_allclose(contacts.normal[rows], [[0.0, 0.0, 1.0]] * len(below), atol=1e-15)
    dx = np.zeros_like(x)
    dx[: model.vertex_count, 2] = 0.3
    moves = dx[: model.vertex_count].copy()
    share, braked = np.ones(model.moving_count), np.zeros(contacts.capacity, np.int32)
    found = limit_pairs(
        x, moves, np.zeros(0), model.vertex_count, contacts.count, contacts.points, contacts.kind, contacts.apex,
        contacts.side, contacts.bodies, contacts.distance, np.arange(model.moving_count), share, braked,
    )  # fmt: skip
    assert found == 0 and (share == 1.0).all()


def test_a_rising_floor_carries_what_stands_on_it():
    model = reference.model_of([reference.icosphere(2, 0.12, (0, 0, 0.1205))], [reference.plane()], thickness=0.001)
    search, contacts = ContactSearch(model), Contacts(model.vertex_count)
    n, rise = model.vertex_count, 0.08
    x = model.rest_positions.copy()
    search.search(x, np.array([0.0, rise]), contacts)
    evaluate_gaps(x, contacts, model.surfaces)
    raised = x[n:] + np.array([0.0, 0.0, rise])
    before = x.copy()
    assert carry(x, np.zeros((0, 7)), raised, contacts, model) == 0
    np.testing.assert_array_equal(x[n:], before[n:])  # the caller moves the colliders
    assert (x[:n, 2] > rise).all()
    high = before[:n, 2] > rise + 0.01
    np.testing.assert_array_equal(x[:n][high], before[:n][high])
    np.testing.assert_array_equal(x[:n, :2], before[:n, :2])


def test_a_spike_carries_the_triangle_it_hits():
    skin = reference.plane(1.0)
    spike = (np.array([(0.2, 0.1, -0.01), (0.1, 0.1, -1), (0.2, 0, -1)], float), np.array([(0, 2, 1)], np.int32))
    model = reference.model_of([skin], [spike], thickness=0.002)
    search, contacts = ContactSearch(model), Contacts(model.vertex_count)
    x = model.rest_positions.copy()
    search.search(x, np.array([0.0, 0.1]), contacts)
    assert carry(x, np.zeros((0, 7)), x[4:] + np.array([0.0, 0.0, 0.06]), contacts, model) == 0
    assert x[[0, 1, 2], 2].min() > 0.05


@pytest.mark.parametrize("seed", range(4))
def test_a_turning_collider_leaves_no_vertex_behind(seed):
    rng = np.random.default_rng(seed)
    model = reference.model_of(
        [reference.icosphere(2, 0.12, (0.5, 0.1, 0.121))], [reference.plane(1.0)], thickness=0.001
    )
    search, contacts = ContactSearch(model), Contacts(model.vertex_count)
    n = model.vertex_count
    x = model.rest_positions.copy()
    angle = rng.uniform(0.05, 0.25)
    turn = np.array([(np.cos(angle), 0, -np.sin(angle)), (0, 1, 0), (np.sin(angle), 0, np.cos(angle))])
    turned = x[n:] @ turn.T
    search.search(x, np.array([0.0, np.linalg.norm(turned - x[n:], axis=1).max()]), contacts)
    assert carry(x, np.zeros((0, 7)), turned, contacts, model) == 0
    assert ((x[:n] @ turn)[:, 2] > 0.0).all()


@pytest.mark.parametrize("seed", range(6))
def test_sharp_edges_pushed_at_random_never_cross(seed):
    # boxes: few vertices, so that mostly edges meet edges
    rng = np.random.default_rng(seed)
    boxes = []
    for centre in [(-0.16, 0, 0), (0.16, 0, 0), (0, 0.16, 0.3), (0, 0, 0.6)]:
        positions, triangles = reference.box(0.09)
        boxes.append((positions @ reference.rotation(rng).T + centre, triangles))
    model = uncrossed(boxes[:3], [boxes[3], reference.triangle_soup(rng, 6, 0.1, 0.4)], thickness=0.004)
    filtering, n = Filtering(model), model.vertex_count
    x = model.rest_positions.copy()
    middle = np.array([0.0, 0.0, 0.2])
    would = 0
    for step in range(40):
        dx = np.zeros_like(x)
        for body in range(3):
            own = model.point_body == body
            away = rng.normal(size=3) if step % 4 == 0 else middle - x[own].mean(axis=0)
            dx[own] = 0.2 * away + 0.3 * np.cross(rng.normal(size=3), x[own] - x[own].mean(axis=0))
        dx[:n] += 0.005 * rng.normal(size=(n, 3))
        would += len(edge_crossings(model, x, x + dx))
        move = filtering(x, dx)
        assert_not_crossed(model, x, move)
        x = x + move
    assert would > 5  # without the filter edges would have crossed
