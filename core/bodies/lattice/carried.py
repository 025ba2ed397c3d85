"""Positions of all points of a held soft body from those of the caller's mesh."""

import numpy as np

from ...array_types import FloatArray, IntArray
from ...model import Model
from ..flat.plane import loop_points, moved_within

#: Nearest vertices of the mesh whose displacements a point of a lattice averages, beside the affine motion.
NEIGHBOURS = 4
#: Distances per batch, points times vertices.
AT_ONCE = 4_000_000


def carried_points(model: Model, membrane: int, points: IntArray, positions: FloatArray) -> tuple[IntArray, FloatArray]:
    """All points of a membrane, and their positions [m] for the caller's vertices at `positions`.

    `points`: of the membrane in the caller's order. The points of a lattice follow the affine motion that fits the mesh
    best, and an average of the remaining displacements of the nearest vertices.
    """
    if not model.is_lattice(membrane):
        return points, positions
    if model.has_gas(membrane):
        return loop_points(model, membrane, positions)
    followers = model.followers
    own = slice(*followers.vertex_start[membrane : membrane + 2])
    corners, weights = model.rest_positions[followers.points[own]], followers.weights[own]
    rest = np.einsum("ij,ijk->ik", weights, corners)
    middle = rest.mean(axis=0)
    moves = positions - rest
    mean = moves.mean(axis=0)
    turn = np.linalg.lstsq(rest - middle, moves - mean, rcond=1e-9)[0]
    left = moves - mean - (rest - middle) @ turn
    at = model.rest_positions[points]
    moved = at + mean + (at - middle) @ turn + _nearby(at, rest, left)
    return points, moved_within(model, membrane, at, moved)


def _nearby(at: FloatArray, rest: FloatArray, moves: FloatArray) -> FloatArray:
    """Displacements at places: those of the nearest vertices, weighted by the inverse square of the distance."""
    found = np.zeros_like(at)
    if not np.abs(moves).max(initial=0.0) > 1e-9 * np.ptp(rest, axis=0).max():
        return found
    count = min(NEIGHBOURS, len(rest))
    chunk = max(1, AT_ONCE // len(rest))
    for first in range(0, len(at), chunk):
        part = slice(first, first + chunk)
        square = ((at[part, None] - rest[None]) ** 2).sum(axis=2)
        near = np.argsort(square, axis=1, kind="stable")[:, :count]
        share = 1.0 / (np.take_along_axis(square, near, axis=1) + 1e-12 * square.max())
        share /= share.sum(axis=1, keepdims=True)
        found[part] = np.einsum("ij,ijk->ik", share, moves[near])
    return found
