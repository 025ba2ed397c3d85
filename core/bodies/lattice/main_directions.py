"""Main directions of a shape: those that its faces look along, for the grid of its cells."""

from itertools import permutations

import numpy as np

from ...array_types import FloatArray, IntArray
from ...topology import face_vectors

#: Least mean of the sum of fourth powers of cosines between normals and main directions: a ball has 0.6 (a circle
#: 0.75), a box 1. What has less keeps the given axes.
CLEAREST = {2: 0.8, 3: 0.65}
#: Turns that the search begins with besides the given axes, its rounds, and the least gain over the given axes.
STARTS, ROUNDS, LEAST_GAIN = 12, 60, 1e-4


def grid_axes(positions: FloatArray, triangles: IntArray) -> FloatArray:
    """Axes of the grid of cells in a closed mesh, as columns: its flat sides become sides of cells."""
    return main_directions(0.5 * face_vectors(positions, triangles))


def main_directions(normals: FloatArray) -> FloatArray:
    """The rotation whose columns are the main directions, nearest to the axes; shape (d, d).

    `normals`: of faces, as long as their areas [m^2], shape (face_count, d); of sides in a plane, as long as they are.

    The columns r maximize the mean of sum_k cos^4(n, r_k) over the surface, by rounds of r_k <- grad_k and the nearest
    rotation to these (power iteration of a symmetric tensor: De Lathauwer et al. 2000).
    """
    dimension, area = normals.shape[1], np.linalg.norm(normals, axis=1)
    seen = area > 0.0
    if not seen.any():
        return np.eye(dimension)
    unit, share = normals[seen] / area[seen, None], area[seen] / area.sum()
    square = np.einsum("ni,nj->nij", unit, unit).reshape(len(unit), -1)
    fourth = (square.T * share) @ square

    def gradients_at(turn: FloatArray) -> FloatArray:
        """A quarter of the gradients of the mean, as columns."""
        of_column = np.einsum("ik,jk->kij", turn, turn).reshape(dimension, -1)
        gradients: FloatArray = np.einsum("kij,jk->ik", (of_column @ fourth).reshape(dimension, *turn.shape), turn)
        return gradients

    random = np.random.default_rng(0)
    best = np.eye(dimension)
    value = own = float((gradients_at(best) * best).sum())
    for start in [best, *random.normal(size=(STARTS, dimension, dimension))]:
        turn = _nearest_rotation(start)
        for _ in range(ROUNDS):
            turn = _nearest_rotation(gradients_at(turn))
        found = float((gradients_at(turn) * turn).sum())
        if found > value + LEAST_GAIN:
            best, value = turn, found
    if value < CLEAREST[dimension] or value < own + LEAST_GAIN:
        return np.eye(dimension)
    return _near_the_axes(best)


def _nearest_rotation(matrix: FloatArray) -> FloatArray:
    left, _, right = np.linalg.svd(matrix)
    turn: FloatArray = left @ right
    return turn


def _near_the_axes(turn: FloatArray) -> FloatArray:
    """The same directions in the order and with the signs that make the least rotation."""
    orders = [turn[:, order] for order in permutations(range(len(turn)))]
    best = max(orders, key=lambda columns: float(np.abs(np.diag(columns)).sum()))
    best = best * np.where(np.diag(best) < 0.0, -1.0, 1.0)
    if np.linalg.det(best) < 0.0:
        weakest = int(np.argmin(np.diag(best)))
        best[:, weakest] = -best[:, weakest]
    return best
