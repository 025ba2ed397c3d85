"""Splits a step in which a fast body may hit another.

A search for contacts must cover the displacements of a stage. For displacements of about the size of a body that would
be every vertex against every triangle, and the impact would not be resolved. So the step is taken in equal parts, in
which no body that may touch another moves by more than a fraction of its radius. Free flight is not split.
"""

import numpy as np

from ...contact.broad_phase.body_pairs import BodyPairs
from ...model import FloatArray, Model
from ...state import State

#: Largest displacement of a body in a part [radius].
LONGEST_MOVE = 0.4
#: Parts of a step at most, a power of 2: bounds the cost of very fast bodies.
MOST_PARTS = 8


class StepParts:
    """Computes the number of parts for states of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._start = model.body_point_start[:-1]
        self._radius = 0.5 * np.linalg.norm(np.subtract(*self._bounds(model.rest_positions)[::-1]), axis=1)

    def _bounds(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.minimum.reduceat(x, self._start), np.maximum.reduceat(x, self._start)

    def speeds(self, state: State) -> FloatArray:
        """Largest speed of a point of each body [m/s]."""
        v = state.velocities
        return np.sqrt(np.maximum.reduceat(np.einsum("ij,ij->i", v, v), self._start))

    def parts(self, state: State, speed: FloatArray, time: float) -> int:
        """Number of equal parts of a step of a length [s]: 1, 2, 4 or 8."""
        moving = self._model.moving_count
        move = time * speed
        needed = move[:moving] / (LONGEST_MOVE * self._radius[:moving])
        if not (needed > 1.0).any():
            return 1
        box = np.concatenate(self._bounds(state.positions), axis=1)
        partners = BodyPairs.of(box, move + self._model.thickness, moving, ignores=self._model.ignores)
        needed[~partners.bodies[:moving]] = 1.0
        # a fast body passes the bodies it may hit: compare with their radius, too
        for body in np.flatnonzero(partners.bodies[:moving]):
            others = partners.other[partners.start[body] : partners.start[body + 1]]
            needed[body] = max(needed[body], move[others].max() / (LONGEST_MOVE * self._radius[body]))
        parts = 1
        while parts < MOST_PARTS and parts < needed.max(initial=1.0):
            parts *= 2
        return parts
