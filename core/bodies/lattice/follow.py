"""Followers: how the caller's mesh follows a lattice, and which vertices of the lattice a pinned vertex holds.

Each vertex of the mesh keeps its barycentric coordinates in the tetrahedron that contains it, or in the one it is least
outside of: affine motions are followed exactly.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...jit import kernel
from ...model import Model
from ...simulation_mesh.nearest import nearest_triangles
from .cells import Cells

#: Share of the weight of pinned corners at a point of the surface from which on a vertex of the lattice there is held.
PINNED_SHARE = 0.99


class Follow(NamedTuple):
    """The caller's mesh of one solid."""

    points: IntArray  # vertices of the lattice that each vertex follows, shape (vertex_count, 4)
    weights: FloatArray  # summing to 1, shape (vertex_count, 4)


class Holds(NamedTuple):
    """The pinned vertices of a lattice, in ascending order, and the pinned vertices of the mesh that place them."""

    pinned: BoolArray  # shape (lattice_vertex_count,)
    vertices: IntArray  # three of the pinned vertices of the mesh, by their places among them, shape (held_count, 3)
    weights: FloatArray  # of their moves, summing to 1, shape (held_count, 3)


def follow(cells: Cells, positions: FloatArray) -> Follow:
    """How vertices at `positions` [m] follow the lattice."""
    grid = np.full(cells.place.max(axis=0) + 1, -1, np.int32)
    grid[tuple(cells.place.T)] = np.arange(len(cells.place), dtype=np.int32)
    points, weights = np.empty((len(positions), 4), np.int32), np.empty((len(positions), 4))
    find_tetrahedra(positions, cells.positions, cells.tetrahedra, grid, cells.origin, cells.size, points, weights)
    return Follow(points, weights)


def holds(cells: Cells, positions: FloatArray, triangles: IntArray, pinned: BoolArray) -> Holds:
    """Vertices of the lattice on pinned parts of the surface, and the one nearest to each pinned vertex of the mesh."""
    outer = np.unique(cells.triangles)
    x, length = cells.positions[outer], float(cells.size.max())
    if not pinned.any():
        return Holds(np.zeros(len(cells.positions), bool), np.empty((0, 3), np.int32), np.empty((0, 3)))
    triangle, weights = nearest_triangles(x, np.zeros_like(x), positions, triangles, length)
    return held_by(cells.positions, outer, outer, positions, pinned, triangles[triangle], weights)


def held_by(
    x: FloatArray, near: IntArray, outer: IntArray, positions: FloatArray, pinned: BoolArray, corners: IntArray,
    weights: FloatArray,
) -> Holds:  # fmt: skip
    """Holds of the vertices x [m]: of those `near` the one nearest to each pinned vertex of the mesh at `positions`,
    and of the `outer` ones those on pinned parts: `corners` and `weights` of the surface at each, shape (n, 3).
    """
    held, rank = np.zeros(len(x), bool), np.cumsum(pinned) - 1
    vertices, shares = np.zeros((len(x), 3), np.int32), np.zeros((len(x), 3))
    for vertex in np.flatnonzero(pinned).tolist():
        lone = near[int(np.argmin(((x[near] - positions[vertex]) ** 2).sum(axis=1)))]
        held[lone] = True
        vertices[lone], shares[lone] = rank[vertex], (1.0, 0.0, 0.0)
    weights = weights * pinned[corners]
    total = weights.sum(axis=1)
    chosen = total >= PINNED_SHARE
    held[outer[chosen]] = True
    vertices[outer[chosen]] = np.maximum(rank[corners[chosen]], 0)
    shares[outer[chosen]] = weights[chosen] / total[chosen, None]
    return Holds(held, vertices[held], shares[held])


def followed(model: Model, membrane: int, points: IntArray, values: FloatArray) -> FloatArray:
    """Positions or velocities of a membrane's vertices, caller's order, from those of all points, shape (count, 3).

    `points` are the membrane's own in the caller's order; of a lattice its followers are wanted.
    """
    if not model.is_lattice(membrane):
        return values[points]
    own = slice(*model.followers.vertex_start[membrane : membrane + 2])
    weights = model.followers.weights[own]
    corners = values[model.followers.points[own]]
    # from the first corner: exact far from the origin
    moved: FloatArray = corners[:, 0] + np.einsum("ij,ijk->ik", weights[:, 1:], corners[:, 1:] - corners[:, :1])
    return moved


def held_points(model: Model, membrane: int, positions: FloatArray) -> FloatArray:
    """Positions [m] of the pinned points of a lattice for the caller's pinned vertices at `positions`."""
    followers = model.followers
    own = slice(*followers.hold_start[membrane : membrane + 2])
    moves = positions - followers.pinned_rest[slice(*followers.pinned_start[membrane : membrane + 2])]
    held: FloatArray = model.rest_positions[followers.hold_points[own]] + np.einsum(
        "ij,ijk->ik", followers.hold_weights[own], moves[followers.hold_vertices[own]]
    )
    return held


@kernel
def find_tetrahedra(positions, x, tetrahedra, grid, origin, size, points, weights):
    """The tetrahedron in the cells around each position that it is least outside of, and its weights there."""
    widest = max(grid.shape)
    best_weights, trial = np.empty(4), np.empty(4)
    for i in range(positions.shape[0]):
        home = np.empty(3, np.int64)
        for axis in range(3):
            place = int(np.floor((positions[i, axis] - origin[axis]) / size[axis]))
            home[axis] = min(max(place, 0), grid.shape[axis] - 1)
        best = -np.inf
        ring = 1
        while best == -np.inf and ring <= widest:
            for a in range(max(0, home[0] - ring), min(grid.shape[0], home[0] + ring + 1)):
                for b in range(max(0, home[1] - ring), min(grid.shape[1], home[1] + ring + 1)):
                    for c in range(max(0, home[2] - ring), min(grid.shape[2], home[2] + ring + 1)):
                        if grid[a, b, c] < 0:
                            continue
                        for t in range(6 * grid[a, b, c], 6 * grid[a, b, c] + 6):
                            set_weights(positions[i], x, tetrahedra[t], trial)
                            if trial.min() > best:
                                best = trial.min()
                                best_weights[:] = trial
                                points[i] = tetrahedra[t]
            ring += 1
        weights[i] = best_weights


@kernel
def set_weights(p, x, tetrahedron, weights):
    """Barycentric coordinates of p in a tetrahedron into `weights`, shape (4,)."""
    o = x[tetrahedron[0]]
    a, b, c, d = x[tetrahedron[1]] - o, x[tetrahedron[2]] - o, x[tetrahedron[3]] - o, p - o
    bx, by, bz = b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]
    volume = a[0] * bx + a[1] * by + a[2] * bz
    weights[1] = (d[0] * bx + d[1] * by + d[2] * bz) / volume
    cx, cy, cz = c[1] * a[2] - c[2] * a[1], c[2] * a[0] - c[0] * a[2], c[0] * a[1] - c[1] * a[0]
    weights[2] = (d[0] * cx + d[1] * cy + d[2] * cz) / volume
    ax, ay, az = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    weights[3] = (d[0] * ax + d[1] * ay + d[2] * az) / volume
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3]
