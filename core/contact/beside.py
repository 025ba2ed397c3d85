"""Drawn vertices beside other bodies: what is drawn and what touches agree there.

A drawn vertex stands off the simulated surface that it follows, inwards or outwards. It may by half of what the gap
of this surface to others is larger there than the distance it keeps: so the two surfaces are one where they touch, and
what is drawn goes through nothing that the simulated surface does not go through.
"""

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray, IntArray
from ..jit import kernel
from ..model import Model
from ..simulation_mesh.nearest import nearest_triangles
from ..simulation_mesh.rays import grid_of
from ..simulation_mesh.samples import closest_weights

#: Vertices that stand off by more than this are left alone, as those of torn parts; less than this is none [size].
FARTHEST, NEAREST = 0.1, 1e-7


class Feet(NamedTuple):
    """Where drawn vertices stand on a simulated surface."""

    points: IntArray  # corners of the triangle of each, shape (vertex_count, 3)
    weights: FloatArray  # summing to 1, shape (vertex_count, 3)

    def at(self, x: FloatArray) -> FloatArray:
        """Their places [m] for points at x, shape (vertex_count, 3)."""
        places: FloatArray = np.einsum("ik,ikx->ix", self.weights, x[self.points])
        return places


def feet_of(model: Model, membrane: int, drawn: FloatArray) -> Feet:
    """Nearest points of a membrane's surface at rest to drawn vertices [m]."""
    surfaces, x = model.surfaces, model.rest_positions
    triangles = surfaces.triangles[slice(*surfaces.body_triangle_start[membrane : membrane + 2])]
    low = int(triangles.min())
    own = x[low : int(triangles.max()) + 1]
    length = float(np.linalg.norm(own[triangles[:, 0] - low] - own[triangles[:, 1] - low], axis=1).mean())
    face, weights = nearest_triangles(drawn, np.zeros_like(drawn), own, triangles - low, length)
    return Feet(triangles[face], weights)


def beside(model: Model, membrane: int, x: FloatArray, drawn: FloatArray, feet: FloatArray) -> FloatArray:
    """Drawn vertices [m] that stand off their feet [m] by no more than the gap to other bodies there allows.

    x: of all points [m]. Bodies that this one ignores have no gap.
    """
    off = drawn - feet
    length = np.linalg.norm(off, axis=1)
    size = float(np.ptp(feet, axis=0).max(initial=0.0))
    stands = np.flatnonzero((length > NEAREST * size) & (length < FARTHEST * size))
    if not len(stands):
        return drawn
    reach = 2.0 * float(length[stands].max()) + float(model.thickness[membrane])
    places, gaps = feet[stands], np.full(len(stands), np.inf)
    low, high = places.min(axis=0) - reach, places.max(axis=0) + reach
    near = _near_triangles(model, membrane, x, low, high)
    if not len(near):
        return drawn
    used, number = np.unique(near, return_inverse=True)
    set_gaps(grid_of(x[used], number.reshape(-1, 3).astype(np.int64), reach), places, reach, gaps)
    drawn = drawn.copy()
    most = 0.5 * np.maximum(gaps - model.thickness[membrane], 0.0)
    drawn[stands] = places + np.minimum(1.0, most / length[stands])[:, None] * off[stands]
    return drawn


def _near_triangles(model: Model, membrane: int, x: FloatArray, low: FloatArray, high: FloatArray) -> IntArray:
    """Triangles of other bodies that come near a box, shape (triangle_count, 3)."""
    surfaces, found = model.surfaces, [np.zeros((0, 3), np.int32)]
    for body in range(len(model.body_names)):
        own = x[slice(*model.body_point_start[body : body + 2])]
        if body == membrane or model.ignores[membrane, body] or not len(own):
            continue
        if (own.min(axis=0) > high).any() or (own.max(axis=0) < low).any():
            continue
        triangles = surfaces.triangles[slice(*surfaces.body_triangle_start[body : body + 2])]
        corners = x[triangles]
        is_near = (corners.min(axis=1) <= high).all(axis=1) & (corners.max(axis=1) >= low).all(axis=1)
        found.append(triangles[is_near])
    return np.concatenate(found)


@kernel
def set_gaps(grid, places, reach, gaps):
    """Distance of each place from the triangles of a grid [m], where it is at most `reach`, a cell's least size."""
    size = grid.size[0]
    first, last = np.empty(3, np.int64), np.empty(3, np.int64)
    for i in range(places.shape[0]):
        best = reach * reach
        for axis in range(3):
            home = int(np.floor((places[i, axis] - grid.low[axis]) / size))
            first[axis], last[axis] = max(0, home - 1), min(grid.shape[axis] - 1, home + 1)
        for a in range(first[0], last[0] + 1):
            for b in range(first[1], last[1] + 1):
                for c in range(first[2], last[2] + 1):
                    cell = (a * grid.shape[1] + b) * grid.shape[2] + c
                    for q in range(grid.start[cell], grid.start[cell + 1]):
                        f = grid.triangles[grid.entry[q]]
                        _, _, square = closest_weights(places, i, grid.x, f[0], f[1], f[2])
                        if square <= best:
                            best = square
                            gaps[i] = np.sqrt(square)
