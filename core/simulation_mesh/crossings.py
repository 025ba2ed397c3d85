"""Where a closed surface crosses itself, and how it is kept from it."""

from collections.abc import Callable

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..contact.crossings import crossing_pairs
from ..topology import unique_edges

#: Passes of smoothing at most, the share of the way in each, and how far a vertex may move, as a share of the size.
PASSES, RATE, FARTHEST = 60, 0.5, 0.05


def crossing_vertices(x: FloatArray, triangles: IntArray) -> BoolArray:
    """Of each vertex of a surface: whether it is of an edge that pierces a triangle, or of such a triangle."""
    edges, of = unique_edges(triangles)[0], np.zeros(len(triangles), np.int32)
    edge, triangle = crossing_pairs(x, triangles, edges, of, np.zeros(len(edges), np.int32)).T
    crossing = np.zeros(len(x), bool)
    crossing[edges[edge]], crossing[triangles[triangle]] = True, True
    return crossing


def smoothed(x: FloatArray, triangles: IntArray) -> FloatArray | None:
    """A surface of size 1 with all that crosses, and a ring around it, smoothed until nothing does.

    None where that would change its shape, as where a limb goes through another one.
    """
    edges, there = unique_edges(triangles)[0], x
    ends, others = edges.ravel(), edges[:, ::-1].ravel()
    neighbors = np.maximum(np.bincount(ends, minlength=len(x)), 1)[:, None]
    moved, near = np.zeros(len(x), bool), triangles
    for _ in range(PASSES):
        crossing = crossing_vertices(there, near)
        if not crossing.any():
            return there
        crossing[edges[crossing[edges].any(axis=1)]] = True
        moved |= crossing
        sums = [np.bincount(ends, there[others, axis], len(x)) for axis in range(3)]
        there = np.where(crossing[:, None], there + RATE * (np.stack(sums, axis=1) / neighbors - there), there)
        if np.abs(there - x).max() > FARTHEST:
            break
        near = _near(there, triangles, moved)
    return None


def _near(x: FloatArray, triangles: IntArray, moved: BoolArray) -> IntArray:
    """The triangles that meet the box around those of moved vertices: others cross none of these."""
    low, high = x[triangles].min(axis=1), x[triangles].max(axis=1)
    is_moved = moved[triangles].any(axis=1)
    meets = (low <= high[is_moved].max(axis=0)) & (high >= low[is_moved].min(axis=0))
    return triangles[meets.all(axis=1)]


def without_crossings(offset: Callable[[BoolArray], FloatArray], triangles: IntArray, fixed: BoolArray) -> FloatArray:
    """Positions by `offset`, which moves all but the fixed vertices: those are fixed, too, that would cross others."""
    x = offset(fixed)
    while (crossing := crossing_vertices(x, triangles) & ~fixed).any():
        fixed = fixed | crossing
        x = offset(fixed)
    return x
