"""Meshes as artists draw them, and measures of meshes that stand for them."""

import numpy as np
import shapes
from contact_reference import closest_on_triangle
from crossings import crossing_pairs
from softpressure_ext.core.topology import signed_volume, triangle_areas, unique_edges

GOLDEN = (1 + 5**0.5) / 2


def bevelled_box(width=0.08):
    """Unit cube whose edges and corners are cut off, 24 vertices: the hull of the corners of its six faces."""
    corners = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)
    inner = 1.0 - 2.0 * width
    points = np.concatenate([0.5 * corners * np.where(np.arange(3) == axis, 1.0, inner) for axis in range(3)])
    return shapes.hull(points)


def figure(subdivisions=4):
    """Ball with twelve limbs, each a fifth of its radius thick."""
    points, triangles = shapes.icosphere(subdivisions)
    limbs = np.array([np.roll((0.0, s, t * GOLDEN), turn) for turn in range(3) for s in (-1, 1) for t in (-1, 1)])
    limbs /= np.linalg.norm(limbs, axis=1)[:, None]
    turned = limbs @ shapes.rotation((1.0, 2.0, 3.0), 0.4).T
    near = np.exp(-50.0 * (1.0 - points @ turned.T)).sum(axis=1)
    return 0.3 * points * (1.0 + 1.5 * near)[:, None], triangles


def cup(around=40, rings=20):
    """Sphere without its top third."""
    points, triangles = shapes.uv_sphere(rings, around, 0.5)
    kept = triangles[(points[triangles][:, :, 2] < 0.2).all(axis=1)]
    used, renumbered = np.unique(kept, return_inverse=True)
    return points[used], renumbered.reshape(-1, 3)


def holed_box():
    """Box of fine triangles without those of its upper face in a disk within it, and near to a corner."""
    points, triangles = shapes.box(1.0, 24)
    middles = points[triangles].mean(axis=1)
    near = [np.linalg.norm(middles - (a, a, 0.5), axis=1) < r for a, r in ((-0.15, 0.2), (0.4, 0.22))]
    kept = triangles[~(np.any(near, axis=0) & (middles[:, 2] > 0.499))]
    used, renumbered = np.unique(kept, return_inverse=True)
    return points[used], renumbered.reshape(-1, 3)


def folded_sheet(thickness, gap):
    """Two square plates of unit sides, one above the other, joined along a side."""
    t, high = thickness, 2.0 * thickness + gap
    outline = [(0, 0), (1, 0), (1, t), (t, t), (t, high - t), (1, high - t), (1, high), (0, high)]
    x = np.array([(a, y, b) for y in (1.0, 0.0) for a, b in outline])
    i = np.arange(8)
    j = (i + 1) % 8
    end = np.array([(0, 1, 2, 3), (0, 3, 4, 7), (4, 5, 6, 7)])
    sides = np.stack([i + 8, i, j, j + 8], axis=1)
    return x, shapes.split_quads(np.concatenate([sides, end + 8, end[:, ::-1]]))


def both(first, second):
    """Two meshes as one."""
    return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1] + len(first[0])])


def size_of(x):
    """Longest side of a mesh's box."""
    return float(np.ptp(x, axis=0).max())


def euler(triangles):
    """Euler characteristic."""
    return len(np.unique(triangles)) - len(unique_edges(triangles)[0]) + len(triangles)


def part_count(triangles):
    """Number of connected parts: the lowest vertex of each triangle spreads to its corners until nothing changes."""
    lowest = np.arange(int(triangles.max()) + 1)
    while True:
        before = lowest.copy()
        np.minimum.at(lowest, triangles, lowest[triangles].min(axis=1, keepdims=True))
        if (lowest == before).all():
            return len(np.unique(lowest[triangles]))


def edge_lengths(x, triangles):
    """Length of each edge."""
    edges = unique_edges(triangles)[0]
    return np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)


def crossing_count(x, triangles):
    """Pairs of an edge and a triangle of one mesh that cross."""
    edges = unique_edges(triangles)[0]
    return len(crossing_pairs(x, triangles, edges, np.zeros(len(triangles), int), np.zeros(len(edges), int)))


def points_on(x, triangles, count):
    """Points spread over a surface at random, as many on each part of it as its area asks for."""
    rng = np.random.default_rng(7)
    areas = triangle_areas(x, triangles)
    chosen = rng.choice(len(triangles), count, p=areas / areas.sum())
    u, v = np.sort(rng.random((2, count)), axis=0)
    return np.einsum("ck,ckj->cj", np.stack([u, v - u, 1.0 - v], axis=1), x[triangles[chosen]])


def distances(points, x, triangles):
    """Distance of points from a surface: from the triangles near them."""
    from scipy.spatial import cKDTree

    corners, found = x[triangles], np.empty(len(points))
    middles = corners.mean(axis=1)
    reach, tree = np.linalg.norm(corners - middles[:, None], axis=2).max(), cKDTree(middles)
    own = tree.query_ball_point(points, tree.query(points)[0] + 2.0 * reach)
    for some in np.array_split(np.arange(len(points)), len(points) // 100 + 1):
        count = [len(own[i]) for i in some]
        here, there = np.repeat(points[some], count, axis=0), corners[np.concatenate(own[some]).astype(int)]
        away = np.linalg.norm(here - closest_on_triangle(here, *there.swapaxes(0, 1)), axis=1)
        found[some] = np.minimum.reduceat(away, np.cumsum([0, *count[:-1]]))
    return found


def volume(mesh):
    """Volume that a mesh encloses."""
    return signed_volume(np.asarray(mesh[0], float), mesh[1])


def area(mesh):
    """Area of a mesh."""
    return float(triangle_areas(mesh[0], mesh[1]).sum())


def bent(x, length):
    """A mesh bent by 90 degrees over a length, about y, with the neutral plane z = 0."""
    angle, radius = 0.5 * np.pi / length * x[:, 0], length / (0.5 * np.pi)
    return np.stack([np.sin(angle) * (radius - x[:, 2]), x[:, 1], radius - np.cos(angle) * (radius - x[:, 2])], axis=1)
