"""Springs and followers of a flat truss."""

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ..lattice.follow import Follow, Holds, held_by
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
    outer, every = np.unique(cells.sides), np.arange(len(cells.points), dtype=np.int32)
    _, side, share = nearest_on_outline(spots[outline.vertices], cells.points[outer])
    start, end = outline.vertices[side], np.roll(outline.vertices, -1)[side]
    corners, weights = np.stack([start, end, end], axis=1), np.stack([1.0 - share, share, 0.0 * share], axis=1)
    found = held_by(cells.points, every, outer, spots, pinned, corners, weights)
    return both_holds(found.vertices, found.weights, found.pinned)
