"""Projection that keeps flat bodies in their plane: both copies of a vertex move as one, within the plane.

A flat body is a thin band: two copies of the same points at +-depth / 2 along the plane's normal n. A displacement of
the unknowns, a force or a velocity u is projected by

    P u = (1 - n n') (u_front + u_back) / 2        for both copies

P is an orthogonal projection, as the masses of a pair are equal: it conserves momentum within the plane and angular
momentum about n; the plane itself supports the rest.
"""

import numpy as np

from ...array_types import FloatArray, IntArray
from ...jit import kernel
from ...model import Model


@kernel
def hold_in_plane(pairs, normal, rows):
    """P of rows of vectors, in place. `pairs`: points front and back, shape (pair_count, 2); `normal` of each pair."""
    for pair in range(pairs.shape[0]):
        a, b = pairs[pair, 0], pairs[pair, 1]
        nx, ny, nz = normal[pair, 0], normal[pair, 1], normal[pair, 2]
        ux, uy, uz = 0.5 * (rows[a, 0] + rows[b, 0]), 0.5 * (rows[a, 1] + rows[b, 1]), 0.5 * (rows[a, 2] + rows[b, 2])
        out = ux * nx + uy * ny + uz * nz
        ux, uy, uz = ux - out * nx, uy - out * ny, uz - out * nz
        rows[a, 0], rows[a, 1], rows[a, 2] = ux, uy, uz
        rows[b, 0], rows[b, 1], rows[b, 2] = ux, uy, uz


@kernel
def hold_moves_in_plane(pairs, normal, start, x):
    """P of the displacements x - start, in place: x = start + P (x - start)."""
    for pair in range(pairs.shape[0]):
        a, b = pairs[pair, 0], pairs[pair, 1]
        nx, ny, nz = normal[pair, 0], normal[pair, 1], normal[pair, 2]
        ux = 0.5 * (x[a, 0] - start[a, 0] + x[b, 0] - start[b, 0])
        uy = 0.5 * (x[a, 1] - start[a, 1] + x[b, 1] - start[b, 1])
        uz = 0.5 * (x[a, 2] - start[a, 2] + x[b, 2] - start[b, 2])
        out = ux * nx + uy * ny + uz * nz
        ux, uy, uz = ux - out * nx, uy - out * ny, uz - out * nz
        x[a, 0], x[a, 1], x[a, 2] = start[a, 0] + ux, start[a, 1] + uy, start[a, 2] + uz
        x[b, 0], x[b, 1], x[b, 2] = start[b, 0] + ux, start[b, 1] + uy, start[b, 2] + uz


class Planes:
    """Projection of the flat bodies of a model; does nothing if there are none."""

    def __init__(self, model: Model) -> None:
        flat = model.flat
        self.any = len(flat.pairs) > 0
        self._pairs, self._normal = flat.pairs, flat.pair_normal

    def hold(self, rows: FloatArray) -> None:
        """P of moves, forces or velocities of the unknowns or of all points, in place."""
        if self.any:
            hold_in_plane(self._pairs, self._normal, rows)

    def hold_moves(self, start: FloatArray, x: FloatArray) -> None:
        """P of the displacements from `start` to x [m], all points, in place."""
        if self.any:
            hold_moves_in_plane(self._pairs, self._normal, start, x)


def moved_within(model: Model, membrane: int, start: FloatArray, moved: FloatArray) -> FloatArray:
    """Positions `moved` [m] without what displaces a flat body since `start` out of its plane."""
    normal = model.flat.normal[membrane]
    if model.flat.depth[membrane] == 0.0:
        return moved
    away = np.einsum("ij,j->i", moved - start, normal)
    within: FloatArray = moved - away[:, None] * normal
    return within


def loop_points(model: Model, membrane: int, positions: FloatArray) -> tuple[IntArray, FloatArray]:
    """Points of a loop, and where they are [m] when the caller's vertices are at `positions`, within the plane."""
    followers = model.followers
    points = followers.points[slice(*followers.vertex_start[membrane : membrane + 2]), :2]
    rest = model.rest_positions[points]
    middle = 0.5 * (rest[:, 0] + rest[:, 1])
    moves = moved_within(model, membrane, middle, positions) - middle
    return points.ravel(), (rest + moves[:, None]).reshape(-1, 3)
