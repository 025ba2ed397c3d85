"""Splits a step in which something fast may hit something.

A search for contacts must cover the displacements of a stage. Where bodies move by about their own size, that is every
vertex against every triangle, and the impact is not resolved. So the step is taken in equal parts, in which no body
that may touch another moves by more than a share of its radius. Free flight is not split.
"""

import numpy as np

from ...contact.broad_phase.body_pairs import BodyPairs
from ...model import FloatArray, Model
from ...state import State

#: Share of its radius that a body may move by in a part.
LONGEST_MOVE = 0.4
#: Most parts of a step.
MOST_PARTS = 8


class StepParts:
    """Looks for them in the states of a model."""

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
        """Equal parts in which a step of a length [s] should be taken: 1, 2, 4 or 8."""
        moving = self._model.moving_count
        move = time * speed
        needed = move[:moving] / (LONGEST_MOVE * self._radius[:moving])
        if not (needed > 1.0).any():
            return 1
        box = np.concatenate(self._bounds(state.positions), axis=1)
        partners = BodyPairs.of(box, move + self._model.thickness, moving, ignores=self._model.ignores)
        needed[~partners.bodies[:moving]] = 1.0
        # what is hit by something fast is passed in the same time
        for body in np.flatnonzero(partners.bodies[:moving]):
            others = partners.other[partners.start[body] : partners.start[body + 1]]
            needed[body] = max(needed[body], move[others].max() / (LONGEST_MOVE * self._radius[body]))
        parts = 1
        while parts < MOST_PARTS and parts < needed.max(initial=1.0):
            parts *= 2
        return parts
