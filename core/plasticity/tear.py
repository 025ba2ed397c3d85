"""Tears: springs whose strain exceeds the tear strain of their body break for good.

The strain is relative to the present rest length, so that a body that flows tears only when it is pulled faster than it
creeps. Painted weights lower the limit: between two vertices by their mean. In one tick one new crack of a body begins,
at the spring that is farthest beyond its limit, and cracks grow at springs that share a vertex with a torn one, if none
in their triangles is strained more. The others are relieved first, so a skin that is strained evenly does not turn to
dust (O'Brien and Hodgins 1999 choose the crack by the largest tension). `deletion.py` tells what a torn spring takes
with it.
"""

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..model import Model
from .deletion import Deletion

#: Springs that a vertex of a flat body keeps at least: its gas would throw what hangs on fewer.
LEAST_LEFT = 3


class Tear:
    """Which springs of a model tear."""

    def __init__(self, model: Model) -> None:
        edges = model.edges
        self._points = edges.points
        self._drawn = edges.rest_length
        self._strong = 1.0 - model.weakness[edges.points].mean(axis=1)
        self._body = model.point_body[edges.points[:, 0]]
        self._start = model.plasticity.tear_strain  # where a state of an earlier version holds none
        self._strains, self._limit = np.zeros(0), np.zeros(0)
        self._is_flat = (model.flat.depth > 0.0)[self._body]
        self.deletion = Deletion(model)

    def after(self, torn: BoolArray, lengths: FloatArray, x: FloatArray, strains: FloatArray) -> BoolArray:
        """Torn springs at positions x [m], from those before; the same array if none tears.

        `lengths`: rest lengths [m], empty for the drawn ones; `strains`: tear strain of each membrane, 0 for never.
        """
        if not np.array_equal(strains, self._strains, equal_nan=True):
            limit = np.where(np.isnan(strains), self._start, strains)[self._body]
            self._strains, self._limit = strains.copy(), np.where(limit > 0.0, self._strong * limit, np.inf)
        i, j = self._points.T
        rest = lengths if len(lengths) else self._drawn
        strain = np.where(torn, 0.0, np.linalg.norm(x[i] - x[j], axis=1) / rest - 1.0)
        if not (strain > self._limit).any():
            return torn
        largest = np.append(strain, -np.inf)[self.deletion.sides].max(axis=1)
        around = np.append(strain, 0.0)
        np.maximum.at(around, self.deletion.sides.ravel(), np.repeat(largest, 3))
        at_crack = np.zeros(len(x), bool)
        at_crack[self._points[torn]] = True
        tears = at_crack[self._points].any(axis=1) & (strain >= around[:-1])
        for body in np.unique(self._body[strain > self._limit]).tolist():
            tears[np.argmax(np.where(self._body == body, strain - self._limit, -np.inf))] = True
        chosen = tears & (strain > self._limit)
        flat = self._holding(torn, np.flatnonzero(chosen & self._is_flat), strain)
        after = self.deletion.springs(flat | (chosen & ~self._is_flat))
        after = np.where(self.deletion.vanished(after)[self._body], torn, after)
        return torn if np.array_equal(after, torn) else after

    def _holding(self, torn: BoolArray, chosen: IntArray, strain: FloatArray) -> BoolArray:
        """Torn springs with the chosen ones, the most strained first, whose vertices keep enough springs."""
        left = np.bincount(self._points[~torn].ravel(), minlength=int(self._points.max()) + 1)
        after = torn.copy()
        for spring in chosen[np.argsort(-strain[chosen], kind="stable")].tolist():
            ends = self._points[spring]
            if left[ends].min() > LEAST_LEFT:
                left[ends] -= 1
                after[spring] = True
        return after
