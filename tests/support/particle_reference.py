"""Slow, plain numpy twins of the particles and of the feature tests of Martin 2009, 5.2.1."""

import numpy as np


class Skin:
    """A closed mesh and its features: vertices, edges, triangles as tuples of points."""

    def __init__(self, triangles):
        self.triangles = [tuple(int(i) for i in t) for t in triangles]
        self.edges = sorted({tuple(sorted((t[k], t[(k + 1) % 3]))) for t in self.triangles for k in range(3)})
        self.vertices = sorted({i for t in self.triangles for i in t})

    def features(self):
        return [(v,) for v in self.vertices] + self.edges + self.triangles

    def neighbours(self, feature):
        inside = set(feature)
        near = []
        for other in self.features():
            shared = len(inside & set(other))
            if len(feature) != len(other) and shared == min(len(feature), len(other)):
                near.append(other)
        return near

    def vertex_normal(self, x, p):
        return unit(sum((normal(x, t) for t in self.triangles if p in t), np.zeros(3)))


def unit(v):
    return v / np.linalg.norm(v)


def normal(x, t):
    a, b, c = x[list(t)]
    return unit(np.cross(b - a, c - a))


def migrate(x, skins, features, rounds=10, few=4, attraction=2.0):
    """Where the particles on `features` (two lists of tuples) come to rest; the number of rounds."""
    features = [list(part) for part in features]
    for turn in range(rounds):
        moved = 0
        for body in range(2):
            for k, here in enumerate(features[body]):
                own = [place(x, f) for i, f in enumerate(features[body]) if i != k]
                other = [place(x, f) for f in features[1 - body]]
                options = [here, *skins[body].neighbours(here)]
                costs = [cost(place(x, f), own, other, attraction) for f in options]
                best = options[int(np.argmin(costs))]
                moved += best != here
                features[body][k] = best
        if moved < few:
            return features, turn + 1
    return features, rounds


def place(x, feature):
    return x[list(feature)].mean(axis=0)


def cost(p, own, other, attraction):
    def pull(places):
        return sum(1.0 / max(np.sum((p - q) ** 2), 1e-12) for q in places)

    return pull(own) - attraction * pull(other)


class Hit:
    """Two sides (tuples of points), the normal onto the first one, the gap, whether a vertex is kept off a triangle."""

    def __init__(self, first, second, normal, gap, pushes=False):
        self.first, self.second, self.normal, self.gap, self.pushes = first, second, normal, gap, pushes


def vertices(x, skins, p, q, s):
    gap = np.linalg.norm(x[p] - x[q])
    return Hit((p,), (q,), skins[q].vertex_normal(x, q), gap) if gap < 2 * s else None


def along(point, a, b):
    share = (point - a) @ (b - a) / ((b - a) @ (b - a))
    return share, np.linalg.norm(point - a - share * (b - a))


def between(x, skins, e, share):
    ends = [skins[e[k]].vertex_normal(x, e[k]) for k in range(2)]
    return unit((1 - share) * ends[0] + share * ends[1])


def vertex_edge(x, skins, p, e, s):
    share, distance = along(x[p], x[e[0]], x[e[1]])
    if distance > 2 * s:
        return None
    if 0 <= share <= 1:
        return Hit((p,), e, between(x, skins, e, share), distance)
    return vertices(x, skins, p, e[0], s) or vertices(x, skins, p, e[1], s)


def holds(x, t, point):
    a, b, c = x[list(t)]
    u, v = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), point - a, rcond=None)[0]
    return u >= 0 and v >= 0 and u + v <= 1


def vertex_triangle(x, skins, p, t, s):
    n = normal(x, t)
    height = (x[p] - x[t[0]]) @ n
    if abs(height) >= s:
        return None
    if holds(x, t, x[p] - height * n):
        return Hit((p,), t, n, height, True)
    sides = [(t[k], t[(k + 1) % 3]) for k in range(3)]
    return first(vertex_edge(x, skins, p, e, s) for e in sides)


def edges(x, skins, e, f, s):
    a, b, p, q = x[e[0]], x[e[1]], x[f[0]], x[f[1]]
    # closest points of the two lines
    t, u = np.linalg.lstsq(np.stack([b - a, p - q], axis=1), p - a, rcond=None)[0]
    if np.linalg.norm(a + t * (b - a) - p - u * (q - p)) > 2 * s:
        return None
    point = a + np.clip(t, 0, 1) * (b - a)
    share, distance = along(point, p, q)
    if distance <= 2 * s and 0 <= share <= 1:
        return Hit(e, f, between(x, skins, f, share), distance)
    return first(vertices(x, skins, i, k, s) for i in e for k in f)


def edge_triangle(x, skins, e, t, s):
    n = normal(x, t)
    a, b = (x[i] - x[t[0]] for i in e)
    share = -(a @ n) / ((b - a) @ n)
    if share < 0:
        return vertex_triangle(x, skins, e[0], t, s)
    if share > 1:
        return vertex_triangle(x, skins, e[1], t, s)
    if holds(x, t, x[e[0]] + share * (x[e[1]] - x[e[0]])):
        return Hit(e, t, n, 0.0)
    return first(edges(x, skins, e, (t[k], t[(k + 1) % 3]), s) for k in range(3))


def triangles(x, skins, t, u, s):
    for one, other in ((t, u), (u, t)):
        sides = [(one[k], one[(k + 1) % 3]) for k in range(3)]
        found = first(edge_triangle(x, skins, e, other, s) for e in sides)
        found = found or first(vertex_triangle(x, skins, p, other, s) for p in one)
        if found:
            return found
    return None


def first(found):
    return next((hit for hit in found if hit), None)


def features(x, skins, f, g, s):
    """The hit of two features, given as tuples of points, or None; `skins` leads from a point to its `Skin`."""
    low, high = (g, f) if len(f) > len(g) else (f, g)
    if len(high) == 1:
        return vertices(x, skins, low[0], high[0], s)
    if len(low) == 1:
        return (vertex_edge if len(high) == 2 else vertex_triangle)(x, skins, low[0], high, s)
    if len(low) == 2:
        return (edges if len(high) == 2 else edge_triangle)(x, skins, low, high, s)
    return triangles(x, skins, low, high, s)
