"""Cells of parts of a mesh that are too thin to hold the centre of one, as horns: in space, and in a plane."""

from itertools import product

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...topology import part_middles

#: A part of the surface that is farther than this from all cells gets cells of its own [cells].
FARTHEST = 0.5
#: Samples of the surface are nearer to each other than this [cells], but for at most so many along a side.
SPACING, MOST_SAMPLES = 0.5, 20


def cover(kept: BoolArray, spots: FloatArray) -> None:
    """Keep the cells of `spots` [cells] that are farther than `FARTHEST` from all kept ones, in place: horns, say."""
    last = np.array(kept.shape) - 1
    is_near = np.zeros(len(spots), bool)
    for step in product((-FARTHEST, 0.0, FARTHEST), repeat=kept.ndim):
        is_near |= kept[tuple(np.clip(np.floor(spots + step).astype(int), 0, last).T)]
    kept[tuple(np.clip(np.floor(spots[~is_near]).astype(int), 0, last).T)] = True


def surface_samples(x: FloatArray, triangles: IntArray, spacing: float) -> FloatArray:
    """Points of a surface [m]: middles of equal parts of each triangle."""
    sides = np.linalg.norm(x[triangles] - x[np.roll(triangles, -1, axis=1)], axis=2)
    parts = np.clip(np.ceil(sides.max(axis=1) / spacing), 1, MOST_SAMPLES).astype(int)
    return part_middles(x, triangles, parts)[0]
