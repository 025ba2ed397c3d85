"""Fit of a lattice to the drawn surface, so that what is drawn and what touches agree: in space, and in a plane."""

from collections.abc import Callable
from itertools import product

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray

#: A part of the surface that is farther than this from all cells gets cells of its own [cells].
FARTHEST = 0.5
#: Samples of the surface are nearer to each other than this [cells], but for at most so many along a side.
SPACING, MOST_SAMPLES = 0.5, 20
#: Rounds of least squares, and how far each goes beyond the mean of its samples (over-relaxation).
ROUNDS, RELAXATION = 6, 1.5
#: Farthest that a sample counts, and that a vertex is moved in all [cells].
MOST_MISFIT, MOST_MOVE = 0.3, 0.5

#: Nearest faces of the lattice at given positions of its vertices to all samples: corners of each and their weights.
Nearest = Callable[[FloatArray], tuple[IntArray, FloatArray]]


def cover(kept: BoolArray, spots: FloatArray) -> None:
    """Keep the cells of `spots` [cells] that are farther than `FARTHEST` from all kept ones, in place: horns, say."""
    last = np.array(kept.shape) - 1
    is_near = np.zeros(len(spots), bool)
    for step in product((-FARTHEST, 0.0, FARTHEST), repeat=kept.ndim):
        is_near |= kept[tuple(np.clip(np.floor(spots + step).astype(int), 0, last).T)]
    kept[tuple(np.clip(np.floor(spots[~is_near]).astype(int), 0, last).T)] = True


def surface_samples(x: FloatArray, triangles: IntArray, spacing: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points of a surface [m], normals and areas [m^2]: middles of equal parts of each triangle."""
    sides = np.linalg.norm(x[triangles] - x[np.roll(triangles, -1, axis=1)], axis=2)
    parts = np.clip(np.ceil(sides.max(axis=1) / spacing), 1, MOST_SAMPLES).astype(int)
    points, normals, areas = [], [], []
    for count in np.unique(parts).tolist():
        corners = x[triangles[parts == count]]
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area2 = np.linalg.norm(cross, axis=1)
        upright = [(i + 1 / 3, j + 1 / 3) for i in range(count) for j in range(count - i)]
        turned = [(i + 2 / 3, j + 2 / 3) for i in range(count - 1) for j in range(count - 1 - i)]
        b, c = np.array(upright + turned).T / count
        points.append(np.einsum("kc,tcx->tkx", np.stack([1.0 - b - c, b, c], axis=1), corners).reshape(-1, 3))
        normals.append(np.repeat(cross / np.maximum(area2, 1e-300)[:, None], count * count, axis=0))
        areas.append(np.repeat(0.5 * area2 / count**2, count * count))
    return np.concatenate(points), np.concatenate(normals), np.concatenate(areas)


def fit(
    points: FloatArray, samples: FloatArray, areas: FloatArray, cell: float, nearest: Nearest,
    move: Callable[[FloatArray], None],
) -> None:  # fmt: skip
    """Move outer vertices so that the drawn surface stands as far out of the lattice's as in, by least squares.

    points: of the lattice [m], changed by `move`, which takes a place for each vertex, NaN for inner ones, and keeps
    what it must. Of a ball both volumes are equal then; a surface that is met exactly stays.
    """
    start = points.copy()
    for _ in range(ROUNDS):
        corners, weights = nearest(points)
        misfit = samples - np.einsum("ik,ikx->ix", weights, points[corners])
        misfit *= _capped(misfit, MOST_MISFIT * cell)
        share = (areas[:, None] * np.maximum(weights, 0.0)).ravel()  # rounding makes some negative
        total = np.bincount(corners.ravel(), share, len(points))
        mean = [
            np.bincount(corners.ravel(), share * np.repeat(misfit[:, axis], corners.shape[1]), len(points))
            for axis in range(points.shape[1])
        ]
        target = points + RELAXATION * np.stack(mean, axis=1) / np.maximum(total, 1e-300)[:, None]
        target = start + (target - start) * _capped(target - start, MOST_MOVE * cell)
        target[total == 0.0] = np.nan
        move(target)


def _capped(rows: FloatArray, most: float) -> FloatArray:
    """Factors that make no row longer than `most`."""
    factors: FloatArray = np.minimum(1.0, most / np.maximum(np.linalg.norm(rows, axis=1), 1e-300))[:, None]
    return factors
