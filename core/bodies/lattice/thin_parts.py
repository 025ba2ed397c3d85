"""Cells of parts of a mesh that are too thin to hold the centre of one, as horns: in space, and in a plane."""

from itertools import product

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...simulation_mesh.surface import Numbers
from ...topology import part_middles
from ...union_find import islands_of_grid

#: A part of the surface that is farther than this from all cells gets cells of its own [cells].
FARTHEST = 0.5
#: Samples of the surface are nearer to each other than this [cells]; triangles with more along a side are halved.
SPACING, MOST_SAMPLES = 0.5, 20


def fill_thin(kept: BoolArray, spots: FloatArray, part: Numbers) -> None:
    """Keep cells of `spots` [cells] where the mesh is thin, in place; `part`: of the mesh, of each spot.

    Those that are farther than `FARTHEST` from all kept ones, and those between two pieces of cells of one part, until
    each part is in one piece.
    """
    near = tuple(product((-FARTHEST, 0.0, FARTHEST), repeat=3))
    kept[_at(kept, spots[~np.any([kept[_at(kept, spots + step)] for step in near], axis=0)])] = True
    join_cells(kept)
    while (piece := pieces_of_cells(kept)).max() > 1:
        count = int(piece.max()) + 1
        own = np.unique([part * count + piece[_at(kept, spots + step)] for step in near])  # pieces of each part
        least, most = np.full(len(spots), count), np.zeros(len(spots), int)
        for step in product((-1.0, 0.0, 1.0), repeat=3):
            beside = piece[_at(kept, spots + step)]
            is_own = (beside > 0) & np.isin(part * count + beside, own)
            least = np.where(is_own, np.minimum(least, beside), least)
            most = np.where(is_own, np.maximum(most, beside), most)
        between = (piece[_at(kept, spots)] == 0) & (least < most)
        if not between.any():
            return
        kept[_at(kept, spots[between])] = True
        join_cells(kept)


def _at(kept: BoolArray, spots: FloatArray) -> tuple[IntArray, ...]:
    """Indices of the cells of spots, of the nearest ones of those outside the grid."""
    return tuple(np.clip(np.floor(spots).astype(int), 0, np.array(kept.shape) - 1).T)


def join_cells(kept: BoolArray) -> None:
    """Keep cells between two kept ones that have an edge or a corner in common but no cell beside both, in place."""
    before = -1
    while before < (before := int(kept.sum())):
        for axis in range(3):
            view = np.moveaxis(kept, axis, 2)
            a, b, c, d = view[:-1, :-1], view[1:, :-1], view[:-1, 1:], view[1:, 1:]
            first, second = a & d & ~b & ~c, b & c & ~a & ~d
            b |= first
            a |= second
        for turn in product((1, -1), repeat=2):
            view = kept[:, :: turn[0], :: turn[1]]
            block = [
                view[i : i - 1 or None, j : j - 1 or None, k : k - 1 or None] for i, j, k in product((0, 1), repeat=3)
            ]
            block[4] |= block[0] & block[7] & ~np.any(block[1:7], axis=0)  # it has a side in common with one of them


def pieces_of_cells(kept: BoolArray) -> Numbers:
    """Number of the piece of each kept cell, connected by sides, from 1; 0 elsewhere, shape as `kept`."""
    piece = np.zeros(kept.shape, np.int64)
    piece[kept] = np.unique(islands_of_grid(kept)[kept], return_inverse=True)[1] + 1
    return piece


def surface_samples(x: FloatArray, triangles: IntArray, spacing: float) -> tuple[FloatArray, IntArray]:
    """Points of a surface [m], middles of equal parts of each triangle, and these triangles."""
    corners, owner = x[triangles], np.arange(len(triangles))
    while (long := _sides(corners).max(axis=1) > MOST_SAMPLES * spacing).any():
        halved = _halves(corners[long])
        corners, owner = (
            np.concatenate([corners[~long], *halved]),
            np.concatenate([owner[~long], owner[long], owner[long]]),
        )
    parts = np.maximum(np.ceil(_sides(corners).max(axis=1) / spacing), 1).astype(int)
    points, piece = part_middles(corners.reshape(-1, 3), np.arange(corners.size // 3).reshape(-1, 3), parts)
    return points, owner[piece]


def _sides(corners: FloatArray) -> FloatArray:
    """Lengths [m] of the sides of triangles, each from a corner to the next."""
    return np.asarray(np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2))


def _halves(corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both halves of triangles that are cut across their longest sides."""
    first = np.argmax(_sides(corners), axis=1)
    a, b, c = (corners[np.arange(len(corners)), (first + turn) % 3] for turn in range(3))
    middle = 0.5 * (a + b)
    return np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)
