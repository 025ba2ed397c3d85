"""Statistics of the stages of a frame, from which reports are made (`core/reports.py`)."""

import numpy as np

from ...contact.contacts import Contacts
from ...model import BoolArray, FloatArray, Model
from ...tiny import TINY
from ..notes import LeastShare

#: A filtered step is reported where less than this fraction of a vertex's displacement is left, projected on it [1].
NOTED_SHARE = 0.98
#: Displacement below which a vertex is ignored for that fraction [longest displacement]: it is mostly rounding.
LEAST_MOVE = 0.1


class StageNotes:
    """Statistics of the stages of a model since the start of a frame."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.filtered = 0  # Newton steps that the step filter changed
        self.least = LeastShare(1.0, ())  # least fraction of a body's displacement, in such a step
        self.unconverged = np.zeros(model.moving_count, np.int64)  # stages that ended at the limit, of each body
        self.residual = np.zeros(model.moving_count)  # largest relative residual that a stage left, as a root

    def add_residual(self, left: FloatArray, largest: FloatArray) -> None:
        """Note what a stage left of the largest residual of each moving body; both r'Br [J]."""
        np.maximum(self.residual, np.sqrt(left / np.maximum(largest, TINY)), out=self.residual)

    def add_unconverged(self, bodies: BoolArray) -> None:
        """Note a stage that ended at the limit of Newton steps before these moving bodies had converged."""
        self.unconverged[bodies] += 1

    def add_filtered(self, wanted: FloatArray, left: FloatArray, contacts: Contacts) -> None:
        """Note a step and what the step filter left of it [m], if that is less; both of shape (unknown_count, 3)."""
        square = np.einsum("ij,ij->i", wanted, wanted)
        share = np.einsum("ij,ij->i", wanted, left) / np.maximum(square, TINY)
        share[square < LEAST_MOVE**2 * square.max(initial=0.0)] = 1.0
        row = int(np.argmin(share))
        if share[row] >= NOTED_SHARE:
            return
        self.filtered += 1
        if share[row] < self.least.share:
            self.least = LeastShare(max(float(share[row]), 0.0), self._bodies_at(row, contacts))

    def _bodies_at(self, row: int, contacts: Contacts) -> tuple[int, ...]:
        """The body of an unknown, and the other body of its closest pair."""
        model, n = self._model, self._model.vertex_count
        rows = slice(0, contacts.first_element)
        bodies, distance = contacts.bodies[rows], contacts.distance[rows]
        if row < n:
            body, at = int(model.point_body[row]), (contacts.points[rows] == row).any(axis=1)
        else:
            body = model.membrane_count + (row - n) // 2
            at = (bodies == body).any(axis=1)
        if not at.any():
            return (body,)
        one, other = bodies[at][np.argmin(distance[at])].tolist()
        return tuple(sorted({body, other if one == body else one}))
