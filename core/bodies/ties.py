"""Ties: threads inside a skin, as tufts of air mattresses, quilts and bouncy castles, which join opposite vertices.

Each is a spring as stiff as the skin's own at its ends, under tension of the gas. Where a load is larger than that, a
thread would be slack; the spring pushes back instead.
"""

import numpy as np

from ..array_types import FloatArray, IntArray
from ..topology import vertex_normals

#: Cosine between normals up to which two vertices face away from each other.
OPPOSITE = -0.5
#: How far beside the normal the other end may lie, over its distance along it.
BESIDE = 0.5


def opposite_vertices(positions: FloatArray, triangles: IntArray, chosen: IntArray) -> IntArray:
    """Pairs of chosen vertices that lie opposite each other inside a closed skin, shape (tie_count, 2).

    Of each vertex: the chosen one that is nearest to the line along its inward normal, if the skin there faces away.
    """
    normal, pairs = vertex_normals(positions, triangles), set()
    for vertex in chosen.tolist():
        way = positions[chosen] - positions[vertex]
        depth = -(way @ normal[vertex])
        beside = np.sqrt(np.maximum((way * way).sum(axis=1) - depth**2, 0.0))
        fits = (depth > 0.0) & (beside <= BESIDE * depth) & (normal[chosen] @ normal[vertex] <= OPPOSITE)
        if fits.any():
            other = int(chosen[np.argmin(np.where(fits, beside + 1e-3 * depth, np.inf))])
            pairs.add((min(vertex, other), max(vertex, other)))
    return np.array(sorted(pairs), np.int32).reshape(-1, 2)


def with_ties(points: IntArray, stiffness: FloatArray, ties: IntArray) -> tuple[IntArray, FloatArray]:
    """The springs of a skin and its ties, in their order: half as stiff as all springs at either end together."""
    known = {*map(tuple, points.tolist())}
    ties = np.array([tie for tie in ties.tolist() if tuple(tie) not in known], np.int32).reshape(-1, 2)
    at_vertex = np.bincount(points.ravel(), np.repeat(stiffness, 2), int(points.max()) + 1)
    both = np.concatenate([points, ties]).astype(np.int32)
    constants = np.concatenate([stiffness, 0.5 * at_vertex[ties].min(axis=1, initial=np.inf)])
    order = np.lexsort((both[:, 1], both[:, 0]))
    return both[order], constants[order]
