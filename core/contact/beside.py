"""Drawn vertices beside other bodies: what is drawn and what touches agree there.

A drawn vertex stands off the simulated surface that it follows, inwards or outwards. It may by a third of what the gap
of this surface to others is larger there than the distance it keeps (by half of it, triangles between such vertices of
two bodies would cross): so the two surfaces are one where they touch, and what is drawn goes through nothing that the
simulated surface does not go through. A mesh that follows an even one, which keeps its details off others by its
thickness, may stand off by that wherever it is.
"""

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray, IntArray
from ..jit import kernel
from ..model import Model
from ..simd import lane, spread
from ..simulation_mesh.follower import Follower
from ..simulation_mesh.nearest import nearest_triangles
from ..simulation_mesh.rays import ray_lengths, surface_of
from .crossings import meets_box
from .narrow_phase.closest_points import closest_on_corners
from .narrow_phase.nearest_triangle import ALL, STACK_SIZE, nearest_triangle

#: Share of the gap that a vertex may stand off.
STANDING = 1.0 / 3.0
#: Vertices that stand off by more than this, as those of torn parts and of small parts apart, only stop at the first
#: surface on their way; less than this is none [size].
FARTHEST, NEAREST = 0.3, 1e-7


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


def beside(
    model: Model, membrane: int, x: FloatArray, drawn: FloatArray, feet: FloatArray, free: float = 0.0
) -> FloatArray:
    """Drawn vertices [m] that stand off their feet [m] by no more than the gap to other bodies there allows.

    x: of all points [m]; `free`: by how much they may stand off anywhere [m]. Bodies that this one ignores have no gap.
    """
    off = drawn - feet
    length = np.linalg.norm(off, axis=1)
    size = float(np.ptp(x[slice(*model.body_point_start[membrane : membrane + 2])], axis=0).max())
    stands = np.flatnonzero(length > max(NEAREST * size, free))
    if not len(stands):
        return drawn
    kept, is_far = float(model.thickness[membrane]) + free, length[stands] >= FARTHEST * size
    places, reach = feet[stands], np.where(is_far, length[stands], (length[stands] - free) / STANDING + kept)
    near = _near_triangles(model, membrane, x, places, float(reach.max()))
    if not len(near):
        return drawn
    used, number = np.unique(near, return_inverse=True)
    gaps = np.full(len(stands), np.inf)
    surface = surface_of(x[used], number.reshape(-1, 3))
    set_gaps(places, np.where(is_far, 0.0, reach), *surface, ALL, gaps)
    drawn = drawn.copy()
    share = (np.minimum(gaps, free) + STANDING * np.maximum(gaps - kept, 0.0)) / length[stands]
    clear = np.empty(np.count_nonzero(is_far))
    set_clear(surface, places[is_far], off[stands[is_far]], clear)
    share[is_far] = clear
    drawn[stands] = places + np.minimum(1.0, share)[:, None] * off[stands]
    return drawn


def followed_beside(
    model: Model, membrane: int, x: FloatArray, drawn: FloatArray, follower: Follower, followed: FloatArray
) -> FloatArray:
    """The same for drawn vertices that follow a membrane: they may stand off by its thickness anywhere.

    x: of all points [m]; `followed`: of the membrane's vertices, in the caller's order [m].
    """
    free = float(model.thickness[membrane])
    off = np.flatnonzero(follower.reach > free)
    if not len(off):
        return drawn
    reach = (1.0 + 1.0 / STANDING) * follower.reach[off] + 2.0 * free
    near = x[_near_triangles(model, membrane, x, followed, float(reach.max()))].reshape(-1, 3)
    if not len(near):
        return drawn
    for along, low, high in zip(drawn.T, near.min(axis=0), near.max(axis=0), strict=True):
        is_near = (along[off] - reach <= high) & (along[off] + reach >= low)
        off, reach = off[is_near], reach[is_near]
    feet = follower.interpolated(followed, off)
    drawn = drawn.copy()
    drawn[off] = beside(model, membrane, x, drawn[off], feet, free)
    return drawn


def _near_triangles(model: Model, membrane: int, x: FloatArray, places: FloatArray, reach: float) -> IntArray:
    """Triangles of other bodies that come as near as `reach` [m] to a box around places, shape (triangle_count, 3)."""
    surfaces, skipped = model.surfaces, model.ignores[membrane].copy()
    skipped[membrane] = True
    others = surfaces.triangles[~skipped[surfaces.triangle_body]]
    return others[meets_box(x, others, places.min(axis=0) - reach, places.max(axis=0) + reach)]


@kernel
def set_gaps(places, reach, x, triangles, trees, choice, gaps):
    """Distance of each place from the triangles at x [m], where it is at most its `reach`."""
    stack = np.empty(STACK_SIZE, np.int32)
    for i in range(places.shape[0]):
        t = nearest_triangle(places, i, reach[i] * reach[i], x, 0, triangles, trees, choice, stack)
        if t >= 0:
            f = triangles[t]
            gaps[i] = np.sqrt(closest_on_corners(places, i, x, f[0], f[1], f[2])[6])


@kernel
def set_clear(surface, places, ways, clear):
    """Share of each way from a place that is clear of a surface, at most 1."""
    stack = np.empty(STACK_SIZE, np.int32)
    for i in range(places.shape[0]):
        origin = spread(places[i, 0]), spread(places[i, 1]), spread(places[i, 2])
        way = spread(ways[i, 0]), spread(ways[i, 1]), spread(ways[i, 2])
        clear[i] = lane(ray_lengths(surface, origin, way, 1.0, stack), 0)
