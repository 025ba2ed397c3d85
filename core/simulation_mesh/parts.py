"""Parts of a mesh: which triangles are connected, and which parts cross or lie in each other."""

import numpy as np

from ..array_types import FloatArray
from ..contact.crossings import crossing_pairs
from ..topology import unique_edges
from ..union_find import islands_of
from .surface import Numbers

#: Parts that are compared with each other, at most; of more, it is taken that some cross.
MOST_PARTS = 100


def island_names(triangles: Numbers, vertex_count: int) -> Numbers:
    """The lowest vertex that each vertex is connected with, shape (vertex_count,)."""
    return islands_of(vertex_count, np.repeat(triangles[:, 0], 2), triangles[:, 1:].ravel())


def part_names(triangles: Numbers, vertex_count: int) -> Numbers:
    """The lowest vertex that each triangle is connected with, shape (triangle_count,)."""
    names: Numbers = island_names(triangles, vertex_count)[triangles[:, 0]]
    return names


def have_parts_to_unite(x: FloatArray, triangles: Numbers) -> bool:
    """Whether parts of a closed mesh cross, or one lies in another and faces outwards like it."""
    part = part_names(triangles, len(x))
    return not np.array_equal(united(x, triangles, part), part)


def united(x: FloatArray, triangles: Numbers, part: Numbers) -> Numbers:
    """The lowest of the parts that each triangle's part crosses, or lies in and faces outwards like, shape as `part`.

    `part`: of each triangle the lowest vertex that it is connected with.
    """
    names = np.unique(part)
    if len(names) == 1:
        return part
    if len(names) > MOST_PARTS:
        return np.full_like(part, names[0])
    edges = unique_edges(triangles)[0]
    of_vertex = np.zeros(len(x), np.int64)
    of_vertex[triangles] = part[:, None]
    crossing = crossing_pairs(x, triangles, edges, part, of_vertex[edges[:, 0]], own=np.zeros(len(x), bool))
    joined = np.stack([of_vertex[edges[crossing[:, 0], 0]], part[crossing[:, 1]]], axis=1).tolist()
    shells = [triangles[part == name] for name in names]
    low, high = (np.array([bound(x[shell], (0, 1)) for shell in shells]) for bound in (np.min, np.max))
    turns = [np.sign(_solid_angle(x, shell, x[shell].mean(axis=(0, 1))) or 1.0) for shell in shells]
    for a, inner in enumerate(shells):
        for b, outer in enumerate(shells):
            if a != b and turns[a] == turns[b] and (low[a] > low[b]).all() and (high[a] < high[b]).all():
                if abs(_solid_angle(x, outer, x[inner[0, 0]])) > 2.0 * np.pi:
                    joined.append((names[a], names[b]))
    found: Numbers = islands_of(len(x), *np.array(joined, np.int64).reshape(-1, 2).T)[part]
    return found


def _solid_angle(x: FloatArray, triangles: Numbers, point: FloatArray) -> float:
    """Solid angle of a surface as seen from a point (Van Oosterom and Strackee 1983)."""
    a, b, c = (x[triangles[:, corner]] - point for corner in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
    above = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = la * lb * lc + np.einsum("ij,ij->i", a, b) * lc
    below += np.einsum("ij,ij->i", b, c) * la + np.einsum("ij,ij->i", c, a) * lb
    return float(2.0 * np.arctan2(above, below).sum())
