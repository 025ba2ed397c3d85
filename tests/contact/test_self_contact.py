"""A body against itself: candidates, thickness near at rest, and motions that do not cross."""

import contact_reference as reference
import numpy as np
import pytest
import shapes
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.broad_phase.self_contact import LEAST_SHARE, REST_SHARE
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.contact.narrow_phase.vertex_triangle import evaluate_gaps


def skin(mesh, thickness=0.01):
    return reference.model_of([mesh], thickness=thickness, self_collision=True)


def searched(model, x, own_reach=0.0):
    search, contacts = ContactSearch(model), Contacts(1)
    search.search(np.ascontiguousarray(x), np.full(model.body_count, float(own_reach)), contacts)
    evaluate_gaps(x, contacts, model.surfaces)
    return search, contacts


def kept(rest_distance, thickness):
    own = np.minimum(2.0 * thickness, REST_SHARE * rest_distance)
    return np.where(own >= LEAST_SHARE * 2.0 * thickness, own, -np.inf)


def own_pairs(model, x, own_reach):
    """{(point, triangle): thickness}, {(edge, edge): thickness} of one body within its reach, by all pairs."""
    surfaces, rest, t = model.surfaces, model.rest_positions, float(model.thickness[0])
    points, edges = {}, {}
    for number, corners in enumerate(surfaces.triangles):
        others = np.setdiff1d(np.arange(model.point_count), corners)
        now, then = (
            np.linalg.norm(
                at[others]
                - reference.closest_on_triangle(at[others], *(np.tile(at[k], (len(others), 1)) for k in corners)),
                axis=1,
            )
            for at in (x, rest)
        )
        own = kept(then, t)
        for k in np.flatnonzero(now <= own + 2.0 * own_reach):
            points[int(others[k]), number] = own[k]
    e, f = np.triu_indices(len(surfaces.edges), 1)
    p, q = surfaces.edges[e], surfaces.edges[f]
    apart = ~(p[:, :, None] == q[:, None, :]).any(axis=(1, 2))
    e, f, p, q = e[apart], f[apart], p[apart], q[apart]
    now, then = (reference.edge_distance(at[p[:, 0]], at[p[:, 1]], at[q[:, 0]], at[q[:, 1]]) for at in (x, rest))
    own = kept(then, t)
    for k in np.flatnonzero(now <= own + 2.0 * own_reach):
        edges[int(e[k]), int(f[k])] = own[k]
    return points, edges


def found_pairs(contacts):
    first, last = contacts.edge_start, contacts.count
    points = zip(contacts.points[:first, 0].tolist(), contacts.triangle[:first].tolist(), strict=True)
    edges = map(tuple, contacts.edges[first:last].tolist())
    return (
        dict(zip(points, contacts.thickness[:first].tolist(), strict=True)),
        dict(zip(edges, contacts.thickness[first:last].tolist(), strict=True)),
    )


def squashed(mesh, height, rng=None):
    """A ball pressed flat: its upper and lower half are `height` times their old distance apart."""
    x = mesh[0] * [1.0, 1.0, height]
    return x if rng is None else x + 2e-3 * rng.normal(size=x.shape)


@pytest.mark.parametrize("seed", range(3))
def test_opposite_walls_of_a_flat_ball_are_found_as_by_all_pairs(seed):
    rng = np.random.default_rng(seed)
    ball = reference.icosphere(2, 1.0)
    model = skin(ball, 0.02)
    x = squashed(ball, 0.03, rng)
    _, contacts = searched(model, x, 0.005)
    found, expected = found_pairs(contacts), own_pairs(model, x, 0.005)
    upper = ball[0][:, 2] > 0.2
    lower = ball[0][:, 2] < -0.2
    corners, edges = model.surfaces.triangles, model.surfaces.edges
    facing = 0
    for (point, triangle), thickness in expected[0].items():
        walls = (upper[point] and lower[corners[triangle]].all()) or (lower[point] and upper[corners[triangle]].all())
        facing += walls
        assert not walls or found[0][point, triangle] == pytest.approx(thickness, rel=1e-12)
    for (e, f), thickness in expected[1].items():
        walls = (upper[edges[e]].all() and lower[edges[f]].all()) or (lower[edges[e]].all() and upper[edges[f]].all())
        facing += walls
        assert not walls or found[1][e, f] == pytest.approx(thickness, rel=1e-12)
    assert facing > 200
    # nothing else than all pairs find
    assert found[0].keys() <= expected[0].keys() and found[1].keys() <= expected[1].keys()


def test_nothing_of_a_whole_ball_is_a_pair_though_the_reach_spans_triangles():
    ball = reference.icosphere(4)
    model = skin(ball, 0.003)
    edge = 0.06
    for own_reach in (0.0, 0.3 * edge):
        _, contacts = searched(model, model.rest_positions, own_reach)
        assert contacts.count == 0
    _, contacts = searched(model, 1.3 * model.rest_positions, 0.3 * edge)
    assert contacts.count == 0


def fingers(gap):
    """A closed comb of two square fingers, `gap` apart at rest: a box grid with a slot."""
    xs = np.array([0.0, 0.2, 0.4, 0.4 + gap, 0.6 + gap, 0.8 + gap])
    ys, zs = np.linspace(0.0, 1.0, 6), np.array([0.0, 0.2])
    solid = np.ones((5, 5, 1), bool)
    solid[2, 1:] = False  # between the fingers
    points, faces = {}, []
    for i, j, k in np.argwhere(solid):
        for axis in range(3):
            for end in (0, 1):
                beyond = np.array([i, j, k])
                beyond[axis] += 1 if end else -1
                if (beyond >= 0).all() and (beyond < solid.shape).all() and solid[tuple(beyond)]:
                    continue
                ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
                quad = []
                for a, b in ring if end else ring[::-1]:
                    corner = np.array([i, j, k])
                    corner[axis] += end
                    corner[(axis + 1) % 3] += a
                    corner[(axis + 2) % 3] += b
                    quad.append(points.setdefault(tuple(corner.tolist()), len(points)))
                faces += [(quad[0], quad[1], quad[2]), (quad[0], quad[2], quad[3])]
    lattice = np.array(list(points))
    positions = np.stack([xs[lattice[:, 0]], ys[lattice[:, 1]], zs[lattice[:, 2]]], axis=1)
    return positions, np.array(faces, np.int32)


@pytest.mark.parametrize("gap", [0.002, 0.01, 0.02, 0.05])
def test_fingers_near_at_rest_are_not_pushed_apart(gap):
    # thickness of the pair 0.02: more than the gap, or twice as near as it may be, or just clear
    model = skin(fingers(gap))
    search, contacts = searched(model, model.rest_positions, 0.02)
    assert (contacts.count > 10) == (gap >= 0.01)  # nearer, a tenth of the thickness would be more than half the gap
    rows = slice(0, contacts.count)
    assert (contacts.distance[rows] >= (1.0 / REST_SHARE) * contacts.thickness[rows] * (1 - 1e-12)).all()
    search.untangle(model.rest_positions)
    assert len(search.suspended) == 0
    # pressed together they touch
    x = model.rest_positions.copy()
    right = x[:, 0] > 0.4 + 0.5 * gap
    x[right & (x[:, 1] > 0.3), 0] -= 0.8 * gap
    _, contacts = searched(model, x)
    touching = contacts.gap[: contacts.count] < contacts.thickness[: contacts.count]
    assert touching.any() == (gap >= 0.01)


def test_a_body_that_starts_inside_out_or_too_near_to_itself_waits_until_it_is_clear():
    ball = reference.icosphere(2, 1.0)
    model = skin(ball, 0.02)
    for height in (-1.0, 0.0, 0.01):  # inside out, flat, and within its thickness
        search, contacts = ContactSearch(model), Contacts(model.vertex_count)
        x = squashed(ball, height)
        search.untangle(x)
        assert search.suspended.tolist() == [0]
        search.search(x, np.full(1, 0.01), contacts)
        assert contacts.count == 0 and search.suspended.tolist() == [0]
        search.search(squashed(ball, 0.2), np.full(1, 0.1), contacts)
        assert contacts.count > 10 and len(search.suspended) == 0


def windings(places, x, triangles):
    """How often a closed surface winds around each place: the sum of the solid angles (van Oosterom, Strackee 1983)."""
    a, b, c = (x[triangles[:, k]][None] - places[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    volume = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
    rest = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
    return np.rint(np.arctan2(volume, rest).sum(axis=1) / (2.0 * np.pi)).astype(int)


@pytest.mark.parametrize("name", ["tube", "pushed through", pytest.param("cow.obj", marks=pytest.mark.slow)])
def test_who_is_on_the_wrong_side_of_the_own_skin(name):
    if name == "tube":
        x, triangles = shapes.tube(0.3, 0.12, 1.05, 0.2)
    elif name == "cow.obj":
        x, triangles = shapes.foreign_mesh(name)
    else:
        x, triangles = reference.icosphere(3, 1.0)
        x = np.where(x[:, 2:] > 0.6, x * [1.0, 1.0, -1.5], x)
    model = skin((x, triangles), 0.002 * np.ptp(x))
    search = ContactSearch(model)
    search.untangle(x)
    normal = np.zeros_like(x)
    area = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    for corner in range(3):
        np.add.at(normal, triangles[:, corner], area)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    turns = windings(x + 0.01 * model.thickness[0] * normal, x, triangles)
    wrong = np.flatnonzero(turns)
    assert len(wrong) > 10
    np.testing.assert_array_equal(search.wrong_side_pairs, np.stack([wrong, np.zeros_like(wrong)], axis=1))
    np.testing.assert_array_equal(search.wrong_side_facing, np.sign(turns[wrong]))


def test_a_crossed_skin_leaves_by_the_other_part_of_it():
    """Both ends of a tube, one through the other: each listed point has one row, with a triangle of the other end."""
    x, triangles = shapes.tube(0.3, 0.12, 1.05, 0.2)
    model = skin((x, triangles), 0.002)
    search, contacts = ContactSearch(model), Contacts(model.vertex_count)
    search.untangle(x)
    assert len(search.suspended) == 0
    search.search(x, np.full(1, 0.002), contacts)
    listed = search.wrong_side_pairs[:, 0]
    rows = np.flatnonzero(contacts.side[: contacts.edge_start] < 0)
    np.testing.assert_array_equal(contacts.points[rows, 0], listed)
    assert not np.isin(contacts.points[: contacts.edge_start, 0], listed).sum() > len(rows)
    turn = len(x) // 2  # points are numbered along the tube
    assert ((contacts.points[rows, 0] < turn) != (contacts.points[rows, 1] < turn)).all()
    evaluate_gaps(x, contacts, model.surfaces)
    assert (contacts.gap[rows] < contacts.thickness[rows]).all()
