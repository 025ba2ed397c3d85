"""Cuts: sharp bodies tear the springs of skins that they press.

Contact spreads what a needle presses with over the triangles around, so no strain tells of it. Here a skin tears where
a corner or an edge of a sharp body lies at it, within the distance that the two keep: the spring of the triangle there
that is nearest. It is one spring per place and tick; what the gas and the tear strain do from there is theirs.
"""

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..model import Model
from ..simulation_mesh.nearest import nearest_triangles

#: Distance up to which a sharp body cuts, over the distance that the two keep.
REACH = 1.1
#: Places along an edge of a sharp body: so many per edge of the skin.
PLACES = 2.0


def sharp_bodies(model: Model) -> IntArray:
    """Bodies that cut."""
    return np.array([n for n, own in enumerate(model.settings[:-1]) if own.get("sharp")], np.int64)


class Cuts:
    """Which springs of a model's skins sharp bodies tear."""

    def __init__(self, model: Model, sides: IntArray) -> None:
        """`sides`: springs of each triangle, -1 for none."""
        surfaces = self._surfaces = model.surfaces
        self._model, self._sides = model, sides
        length = np.bincount(surfaces.edge_body, self._lengths(), model.body_count)
        mean = length / np.maximum(np.bincount(surfaces.edge_body, minlength=model.body_count), 1)
        skins = [n for n in range(model.membrane_count) if model.has_gas(n) and not model.flat.depth[n] > 0.0]
        self._pairs = [
            (
                skin,
                float(mean[skin]),
                *self._places(body, mean[skin] / PLACES),
                REACH * float(model.thickness[skin] + model.thickness[body]),
            )
            for skin in skins
            for body in sharp_bodies(model).tolist()
            if not model.ignores[skin, body]
        ]

    def after(self, torn: BoolArray, x: FloatArray) -> BoolArray:
        """Torn springs at positions x of all points [m], from those before; the same array if none tears."""
        after = torn
        for skin, length, ends, share, reach in self._pairs:
            first, last = self._surfaces.body_triangle_start[skin : skin + 2]
            place = (1.0 - share)[:, None] * x[ends[:, 0]] + share[:, None] * x[ends[:, 1]]
            own = self._model.body_point_start[skin : skin + 2]
            low, high = x[own[0] : own[1]].min(axis=0) - reach, x[own[0] : own[1]].max(axis=0) + reach
            place = place[((place >= low) & (place <= high)).all(axis=1)]
            if not len(place):
                continue
            triangles = self._surfaces.triangles[first:last] - own[0]
            face, weights = nearest_triangles(place, np.zeros_like(place), x[own[0] : own[1]], triangles, length)
            nearest = np.einsum("ij,ijk->ik", weights, x[self._surfaces.triangles[first + face]])
            near = np.linalg.norm(place - nearest, axis=1) <= reach
            # side k runs from corner k to the next one: the corner before it has the least weight
            spring = self._sides[first + face[near], (weights[near].argmin(axis=1) + 1) % 3]
            spring = spring[spring >= 0]
            if not torn[spring].all():
                after = after.copy() if after is torn else after
                after[spring] = True
        return after

    def _lengths(self) -> FloatArray:
        ends = self._model.rest_positions[self._surfaces.edges]
        return np.asarray(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))

    def _places(self, body: int, spacing: float) -> tuple[IntArray, FloatArray]:
        """Pairs of points of a body and shares between them, at most a spacing [m] apart along its edges."""
        own = self._surfaces.edge_body == body
        ends, counts = self._surfaces.edges[own], np.ceil(self._lengths()[own] / spacing).astype(int)
        counts = np.minimum(counts, 1000)
        rows = np.repeat(np.arange(len(ends)), counts + 1)
        first = np.repeat(np.cumsum(counts + 1) - counts - 1, counts + 1)
        return ends[rows].astype(np.int32), (np.arange(len(rows)) - first) / np.repeat(counts, counts + 1)
