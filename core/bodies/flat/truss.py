"""Springs and followers of a flat truss."""

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ..lattice.follow import PINNED_SHARE, Follow, Holds
from ..lattice.solids import GivenLattice
from .band import both_holds, both_springs
from .cells import FlatCells, cell_areas, cell_springs, follow_cells, nearest_on_outline
from .outline import Outline


def truss_lattice(
    cells: FlatCells, outline: Outline, positions: FloatArray, spots: FloatArray, depth: float, mass: float,
    modulus: float, pinned: BoolArray,
) -> GivenLattice:  # fmt: skip
    """Springs, masses and followers of both copies of the cells.

    `positions` [m] of the caller's vertices and `spots` the same in the plane, `depth` [m], `mass` [kg], `modulus` E
    [Pa], `pinned` of the caller's vertices.
    """
    areas = cell_areas(cells)
    corner_mass = np.repeat(mass * areas / areas.sum() / 4.0, 4)
    middle_mass = np.bincount(cells.corners.ravel(), corner_mass, len(cells.points))
    return GivenLattice(
        springs=both_springs(*cell_springs(cells, modulus, depth)),
        tetrahedra=np.zeros((0, 4), np.int32),
        volume_stiffness=np.zeros(0),
        vertex_mass=np.repeat(0.5 * middle_mass, 2),
        follow=middle_follow(*follow_cells(cells, spots)),
        holds=_holds(cells, outline, spots, pinned),
        pinned_positions=positions[pinned],
        outer=np.unique([2 * cells.sides, 2 * cells.sides + 1]).astype(np.int32),
        cells=np.zeros((0, 8), np.int32),
    )


def middle_follow(points: IntArray, weights: FloatArray) -> Follow:
    """Followers of three points of the middle plane, as four points of the copies, half of the weight on each side.

    `points`, `weights`: shape (n, 3).
    """
    i, j, k = points.T
    wj, wk = weights[:, 1], weights[:, 2]
    return Follow(
        np.stack([2 * i, 2 * i + 1, 2 * j, 2 * k + 1], axis=1).astype(np.int32),
        np.stack([0.5 - wj, 0.5 - wk, wj, wk], axis=1),
    )


def _holds(cells: FlatCells, outline: Outline, spots: FloatArray, pinned: BoolArray) -> Holds:
    """Vertices on sides of the outline between pinned ones, and the one nearest to each pinned vertex."""
    count = len(cells.points)
    held = np.zeros(count, bool)
    rank = np.cumsum(pinned) - 1
    vertices, weights = np.zeros((count, 3), np.int32), np.zeros((count, 3))
    outer = np.unique(cells.sides)
    for vertex in np.flatnonzero(pinned).tolist():
        away = ((cells.points - spots[vertex]) ** 2).sum(axis=1)
        nearest = int(np.argmin(away))
        held[nearest] = True
        vertices[nearest], weights[nearest] = rank[vertex], (1.0, 0.0, 0.0)
    if pinned.any():
        _, side, share = nearest_on_outline(spots[outline.vertices], cells.points[outer])
        ends = np.stack([outline.vertices[side], np.roll(outline.vertices, -1)[side]], axis=1)
        shares = np.stack([1.0 - share, share], axis=1) * pinned[ends]
        total = shares.sum(axis=1)
        chosen = total >= PINNED_SHARE
        held[outer[chosen]] = True
        vertices[outer[chosen], :2] = np.maximum(rank[ends[chosen]], 0)
        weights[outer[chosen], :2] = shares[chosen] / total[chosen, None]
        weights[outer[chosen], 2] = 0.0
    return both_holds(vertices[held], weights[held], held)
