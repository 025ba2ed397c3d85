"""Springs of a lattice: edges and all diagonals of each cell (Kurmaly & Wu 2021), as stiff as an elastic solid.

A spring of the constant k along the unit vector d, L long, resists a strain e with the energy k L^2 (d'e d)^2 / 2. An
isotropic solid of the moduli lambda = mu = E / 2.5 (Poisson's ratio 1/4, the only one that springs alone can have:
Cauchy's relation) is met where the springs of each cell of the volume V satisfy

    sum k L^2 d_i d_i d_i d_i = 3 mu V,   sum k L^2 d_i d_i d_j d_j = mu V      (i != j)

For a cell of a x b x c with n_b = 4 body diagonals of the constant B, two diagonals on each pair of faces and one edge
along each axis (its four edges and four faces are shared with the neighbours: each has its part from every cell)

    face, ab:  F = (mu V - 4 B a^2 b^2 / L^2) (a^2 + b^2) / (2 a^2 b^2),    L^2 = a^2 + b^2 + c^2
    edge, a:   K = mu V (3 - a^2 / b^2 - a^2 / c^2) / a^2 + 4 B a^2 / L^2

B takes 3/7 of mu V at a cube (there the 13 directions have the weights 40 : 32 : 27 of Lebedev's rule, the most even
ones), more where a cell is so long that K would be negative. So a straight bar of any number of cells has the stiffness
E A / L; for snapped cells the constants are scaled by volume and by 1 / length^2.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray, IntArray
from .cells import CORNERS, Cells, tetrahedron_volumes

#: Poisson's ratio of springs alone.
SPRING_POISSON_RATIO = 0.25
#: Share of mu V that the body diagonals of a cube take, and the most they take in longer cells.
DIAGONAL_SHARE = 3.0 / 7.0
LARGEST_DIAGONAL_SHARE = 0.95
#: Least constant of an edge in units of mu V / length^2, in cells too long for any B.
LEAST_EDGE = 0.02

#: All pairs of corners: 12 edges, 12 face diagonals, 4 body diagonals, shape (28, 2), and what they span.
PAIRS = np.array([(p, q) for p in range(8) for q in range(p + 1, 8)])
SPANS = np.abs(CORNERS[PAIRS[:, 1]] - CORNERS[PAIRS[:, 0]]).astype(bool)


class Springs(NamedTuple):
    """Springs between the vertices of a lattice."""

    points: IntArray  # (low, high), sorted, shape (spring_count, 2)
    stiffness: FloatArray  # [N/m], shape (spring_count,)


def elastic_constants(modulus: float, poisson_ratio: float) -> tuple[float, float]:
    """mu [Pa] of the springs, and the bulk stiffness lambda - mu [Pa] of the tetrahedra."""
    mu = 0.5 * modulus / (1.0 + poisson_ratio)
    lame = 2.0 * mu * poisson_ratio / (1.0 - 2.0 * poisson_ratio)
    return mu, max(0.0, lame - mu)


def springs_of(cells: Cells, mu: float) -> Springs:
    """Springs of a lattice whose solid has lambda = mu [Pa]."""
    vertex_count = len(cells.positions)
    volume = tetrahedron_volumes(cells.positions, cells.tetrahedra).reshape(-1, 6).sum(axis=1)
    ends = np.sort(cells.corners[:, PAIRS].reshape(-1, 2), axis=1).astype(np.int64)
    length2 = ((cells.positions[ends[:, 0]] - cells.positions[ends[:, 1]]) ** 2).sum(axis=1)
    # k L^2 / V of each pair, times the volume of each cell
    strength = (volume[:, None] * _strengths(cells.size, mu)).ravel() / length2
    key, entry = np.unique(ends[:, 0] * vertex_count + ends[:, 1], return_inverse=True)
    points = np.stack([key // vertex_count, key % vertex_count], axis=1).astype(np.int32)
    return Springs(points, np.asarray(np.bincount(entry.ravel(), strength, minlength=len(key)), dtype=float))


def _strengths(size: FloatArray, mu: float) -> FloatArray:
    """k L^2 / V [Pa] of the 28 pairs of corners of a cell of `size` [m], one cell's part, shape (28,)."""
    s2 = size * size
    whole = s2.sum()
    ratio = np.array([3.0 - s2[axis] * ((1.0 / s2).sum() - 1.0 / s2[axis]) for axis in range(3)])
    widest = max(s2[0] * s2[1], s2[1] * s2[2], s2[0] * s2[2])
    for share in np.linspace(DIAGONAL_SHARE, LARGEST_DIAGONAL_SHARE, 20):
        body = share * mu * whole / (4.0 * widest)  # B / V: the largest face keeps the share 1 - share
        edge = mu * ratio + 4.0 * body * s2 * s2 / whole
        if edge.min() >= LEAST_EDGE * mu:
            break
    edge = np.maximum(edge, LEAST_EDGE * mu)
    found = np.empty(len(PAIRS))
    for pair, span in enumerate(SPANS):
        along = s2[span]
        if span.sum() == 1:
            found[pair] = edge[span][0] / 4.0
        elif span.sum() == 2:
            product = along.prod()
            found[pair] = (mu - 4.0 * body * product / whole) * along.sum() ** 2 / (2.0 * product) / 2.0
        else:
            found[pair] = body * whole
    return found
