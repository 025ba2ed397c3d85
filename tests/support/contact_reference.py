"""Slow, plain numpy twins of the contact search, and small meshes to try it on."""

from types import SimpleNamespace

import numpy as np
from softpressure_ext.core.bodies.assembly import contact_surfaces
from softpressure_ext.core.contact.narrow_phase.edge_edge import evaluate_edges
from softpressure_ext.core.contact.narrow_phase.vertex_triangle import evaluate_rows
from softpressure_ext.core.contact.near_pairs import near_pairs
from softpressure_ext.core.topology import starts


class PartOfModel(SimpleNamespace):
    """Some fields of a `Model`."""

    __slots__ = ("__weakref__",)


def model_of(membranes, colliders=(), *, thickness=0.01, self_collision=False):
    """The part of a `Model` that contact search reads, from (positions, triangles) pairs of any kind of mesh.

    Made by hand so that also meshes a `ModelBuilder` would refuse (triangle soup) can be searched.
    """
    bodies, count = [*membranes, *colliders], len(membranes) + len(colliders)
    sizes = [len(positions) for positions, _ in bodies]
    offsets = starts(sizes)
    triangles = np.concatenate([t + o for (_, t), o in zip(bodies, offsets, strict=False)]).astype(np.int32)
    return PartOfModel(
        membrane_count=len(membranes),
        rigid_count=0,
        moving_count=len(membranes),
        body_count=count,
        is_lattice=lambda body: False,
        ignores=np.zeros((count, count), bool),
        vertex_count=int(offsets[len(membranes)]),
        moving_point_count=int(offsets[len(membranes)]),
        rigid=SimpleNamespace(arm=np.zeros((0, 3)), unknown=np.zeros(0, np.int32)),
        flat=SimpleNamespace(
            pairs=np.zeros((0, 2), np.int32), normal=np.zeros((len(membranes), 3)), depth=np.zeros(len(membranes))
        ),
        point_count=int(offsets[-1]),
        body_point_start=offsets,
        point_body=np.repeat(np.arange(count), sizes).astype(np.int32),
        rest_positions=np.concatenate([np.asarray(p, float) for p, _ in bodies]),
        thickness=np.broadcast_to(np.asarray(thickness, float), (count,)).copy(),
        self_collision=np.arange(count) < (len(membranes) if self_collision else 0),
        friction=np.full(count, 0.5),
        deforms=np.arange(count) < len(membranes),
        attachments=SimpleNamespace(points=np.zeros((0, 4), np.int32), body=np.zeros(0, np.int32)),
        surfaces=contact_surfaces(triangles, starts([len(t) for _, t in bodies])),
    )


def triangle_soup(rng, count, size=0.2, spread=1.0):
    """Unconnected random triangles, from tiny to large and some without area."""
    centres = rng.uniform(-spread, spread, (count, 1, 3))
    scale = size * 10.0 ** rng.uniform(-2, 0.7, (count, 1, 1))
    positions = centres + scale * rng.normal(size=(count, 3, 3))
    flat = rng.random(count) < 0.05
    positions[flat, 2] = positions[flat, 0]
    return positions.reshape(-1, 3), np.arange(3 * count, dtype=np.int32).reshape(-1, 3)


def rotation(rng):
    """Random rotation matrix."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] *= -1
    return q


def closest_on_segment(p, a, b):
    """Closest points of segments ab to points p, rows of (n, 3)."""
    e = b - a
    ee = np.einsum("ij,ij->i", e, e)
    t = np.clip(np.einsum("ij,ij->i", p - a, e) / np.where(ee > 0, ee, 1.0), 0.0, 1.0)
    return a + t[:, None] * e


def closest_on_triangle(p, a, b, c):
    """Closest points of triangles abc to points p: the best of the face and the three edges, by its definition."""
    best = closest_on_segment(p, a, b)
    for q in (closest_on_segment(p, b, c), closest_on_segment(p, c, a)):
        nearer = np.linalg.norm(p - q, axis=1) < np.linalg.norm(p - best, axis=1)
        best = np.where(nearer[:, None], q, best)
    normal = np.cross(b - a, c - a)
    nn = np.einsum("ij,ij->i", normal, normal)
    good = nn > 1e-24
    foot = p - (np.einsum("ij,ij->i", p - a, normal) / np.where(good, nn, 1.0))[:, None] * normal
    inside = good.copy()
    for s, t in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("ij,ij->i", np.cross(t - s, foot - s), normal) >= 0
    return np.where(inside[:, None], foot, best)


def box_distance(low, high, other_low, other_high):
    """Distances between boxes along the axes, no more than between what they hold."""
    return np.linalg.norm(np.maximum(0.0, np.maximum(low - other_high, other_low - high)), axis=-1)


def all_pairs(model, x, reach):
    """(point, triangle, distance) of every pair within thickness and reach of both bodies, sorted."""
    surfaces, margin = model.surfaces, model.thickness + reach
    used = np.unique(surfaces.triangles)
    body, other = model.point_body[used][:, None], surfaces.triangle_body[None, :]
    corners = x[surfaces.triangles]
    limit = margin[body] + margin[other]
    allowed = (body != other) & ((body < model.moving_count) | (other < model.moving_count))
    # measured only if their boxes are near, with room for rounding
    allowed &= box_distance(x[used, None], x[used, None], corners.min(axis=1), corners.max(axis=1)) <= limit + 1e-9
    row, triangle = np.nonzero(allowed)
    d = np.linalg.norm(x[used[row]] - closest_on_triangle(x[used[row]], *corners[triangle].swapaxes(0, 1)), axis=1)
    near = d <= limit[row, triangle]
    return sorted(zip(used[row[near]].tolist(), triangle[near].tolist(), d[near].tolist(), strict=True))


def edge_distance(p, p_end, q, q_end):
    """Distances between segments, rows of (n, 3): the best of the two lines' common normal and the four ends."""
    best = np.full(len(p), np.inf)
    for a, (b, c) in ((p, (q, q_end)), (p_end, (q, q_end)), (q, (p, p_end)), (q_end, (p, p_end))):
        best = np.minimum(best, np.linalg.norm(a - closest_on_segment(a, b, c), axis=1))
    e, f, r = p_end - p, q_end - q, p - q
    # s and t from the normal equations of |r + s e - t f|^2
    ee, ff, ef = (np.einsum("ij,ij->i", u, v) for u, v in ((e, e), (f, f), (e, f)))
    er, fr = np.einsum("ij,ij->i", e, r), np.einsum("ij,ij->i", f, r)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (ef * fr - ff * er) / (ee * ff - ef * ef)
        t = (ee * fr - ef * er) / (ee * ff - ef * ef)
    inner = (s > 0) & (s < 1) & (t > 0) & (t < 1)
    s, t = np.where(inner, s, 0.0), np.where(inner, t, 0.0)
    gap = np.linalg.norm(r + s[:, None] * e - t[:, None] * f, axis=1)
    return np.where(inner, np.minimum(best, gap), best)


def all_edge_pairs(model, x, reach):
    """(edge, edge, distance) of every pair of edges of two bodies within thickness and reach of both, sorted."""
    edges, body = model.surfaces.edges, model.surfaces.edge_body
    e, f = np.triu_indices(len(edges), 1)
    allowed = (body[e] != body[f]) & ((body[e] < model.moving_count) | (body[f] < model.moving_count))
    e, f = e[allowed], f[allowed]
    margin = model.thickness + reach
    low, high = x[edges].min(axis=1), x[edges].max(axis=1)
    close = box_distance(low[e], high[e], low[f], high[f]) <= margin[body[e]] + margin[body[f]] + 1e-9
    e, f = e[close], f[close]
    d = edge_distance(x[edges[e, 0]], x[edges[e, 1]], x[edges[f, 0]], x[edges[f, 1]])
    near = d <= margin[body[e]] + margin[body[f]]
    return list(zip(e[near].tolist(), f[near].tolist(), d[near].tolist(), strict=True))


def near(model, x=None, reach=0.0):
    """Every pair within thickness and reach, with its gap at x."""
    x = model.rest_positions if x is None else x
    rows, surfaces = all_pairs(model, x, reach), model.surfaces
    triangle = np.array([row[1] for row in rows], int)
    points = np.column_stack([np.array([row[0] for row in rows], int), surfaces.triangles[triangle]])
    edges = np.array([row[:2] for row in all_edge_pairs(model, x, reach)], int).reshape(-1, 2)
    ends, apex = surfaces.edges[edges].reshape(-1, 4), surfaces.edge_apex[edges].reshape(-1, 4)
    pairs = near_pairs(model, points, triangle, np.zeros(len(points), np.int8), ends, apex)
    evaluate(model, x, pairs)
    return pairs


def evaluate(model, x, pairs):
    """Write the gaps of pairs at x."""
    evaluate_rows(x, (model.surfaces.triangles, model.surfaces.triangle_neighbour), pairs.thickness, pairs)
    evaluate_edges(x, pairs)


def check_gradient(model, contacts, rows):
    """Weights and normal of these contacts are the gradient of their gaps, by central differences."""
    step = 1e-6  # the error is step^2 times a curvature of 1 / 0.03^2, and rounding 1e-16 / step
    weights, normal, points = contacts.weights.copy(), contacts.normal.copy(), contacts.points.copy()
    for row in rows:
        for slot, axis in np.ndindex(4, 3):
            gap = []
            for sign in (1, -1):
                x = model.rest_positions.copy()
                x[points[row, slot], axis] += sign * step
                evaluate(model, x, contacts)
                gap.append(contacts.gap[row])
            assert abs((gap[0] - gap[1]) / (2 * step) - weights[row, slot] * normal[row, axis]) < 1e-6
    np.testing.assert_allclose(np.linalg.norm(normal[rows], axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(weights[rows].sum(axis=1), 0.0, atol=1e-12)


def random_plate(rng, cells, aside):
    """A flat square from -1 to 1 of random triangles: a grid with inner points moved by up to `aside`, either diagonal.

    Positions in the plane and triangles.
    """
    n = cells + 1
    grid = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), -1).reshape(-1, 2) / cells * 2.0 - 1.0
    inner = (np.abs(grid) < 0.999).all(axis=1)
    grid[inner] += rng.uniform(-aside, aside, (inner.sum(), 2))
    triangles = []
    for i, j in np.ndindex(cells, cells):
        a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1
        triangles += [(a, b, c), (a, c, d)] if rng.random() < 0.5 else [(a, b, d), (b, c, d)]
    return grid, np.array(triangles, np.int32)


def windings(points, x, triangles):
    """How often a closed mesh winds around each point, by its solid angle (van Oosterom and Strackee 1983)."""
    a, b, c = (x[triangles[:, k]].T[:, None] - points.T[:, :, None] for k in range(3))  # by axis: the fastest

    def dot(u, v):
        return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]

    la, lb, lc = (np.sqrt(dot(v, v)) for v in (a, b, c))
    volume = dot(a, [b[k - 2] * c[k - 1] - b[k - 1] * c[k - 2] for k in range(3)])
    half = np.arctan2(volume, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)
    return np.rint(half.sum(axis=1) / (2.0 * np.pi)).astype(int)


def inside(points, x, triangles):
    """Whether each point lies inside a closed mesh."""
    return windings(points, x, triangles) > 0
