"""Which pairs may touch in a substep: the contact record, kept as long as nothing has moved past its reach."""

import numpy as np

from ...collide.broad import ContactSearch
from ...collide.contacts import Contacts
from ...collide.own_motion import own_distance
from ...model import FloatArray, IntArray, Model
from ...state import State
from ..newton import FAST_REACH_FACTOR, OWN_REACH

#: Reach of a search in units of the move that made it necessary. Substeps are short and a search costs as much as
#: several of them.
REACH_FACTOR = 4.0


class Candidates:
    """The contact record of one model, and the search that fills it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._search = ContactSearch(model)
        self.contacts = Contacts(model.moving_point_count)
        self.searches = 0  # so far
        self._searched = False
        #: Whether nothing can touch anything.
        self.alone = model.body_count == 1 and not model.self_collision.any() and not len(model.attachments.body)
        self._move = np.zeros((model.point_count, 3))
        self._own_reach = np.zeros(model.body_count)
        edge_body = model.surfaces.edge_body
        ends = model.rest_positions[model.surfaces.edges]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        # mean edge length of the skins [m], a tenth of a rigid body's radius; none for colliders
        self._edge_length = np.bincount(edge_body, length, model.body_count) / np.maximum(
            np.bincount(edge_body, minlength=model.body_count), 1
        )
        self._edge_length[model.membrane_count : model.moving_count] = 0.1 * model.rigid.radius
        self._edge_length[model.moving_count :] = 0.0

    def untangle(self, state: State) -> int:
        """Note in the state which points are behind another body's surface; returns how many triangles cross."""
        overlaps = self._search.untangle(state.positions)
        state.wrong_side = self._search.wrong_side()
        self._searched = False
        return overlaps.crossing_triangle_count

    def start_frame(self, state: State) -> None:
        """Forget the record: what follows depends on the state alone."""
        if not self.alone:
            self._search.relist(state.wrong_side)
        self._searched = False
        self.contacts.clear()

    @property
    def tangled(self) -> bool:
        """Whether points are behind a surface."""
        return len(self._search.wrong_side_pairs) > 0

    def wrong_side(self) -> IntArray:
        """What a state keeps of it, see `ContactSearch.wrong_side`."""
        return self._search.wrong_side()

    def recover(self, x: FloatArray) -> None:
        """Ask points behind a surface for their next bit of the way back."""
        self._search.recover(x, self.contacts)

    def cover(self, start: FloatArray, x: FloatArray) -> None:
        """Make sure that every pair that can touch on the way from `start` to x [m] is in the record."""
        if self.alone or (self._searched and self._search.still_valid(x)):
            return
        model = self._model
        np.subtract(x, start, out=self._move)
        distance = np.sqrt(np.einsum("ij,ij->i", self._move, self._move))
        farthest = np.maximum.reduceat(distance, model.body_point_start[:-1])
        if not np.isfinite(farthest).all():
            self.contacts.clear()  # the world will say so
            return
        fast = np.maximum(FAST_REACH_FACTOR * farthest, self._edge_length)
        reach = np.maximum(np.minimum(REACH_FACTOR * farthest, fast), 0.5 * model.thickness)
        self._search.search(start, reach, self.contacts, self._reach_itself(start, x))
        if len(model.attachments.body):
            self.contacts.attach(model.attachments, model.point_body, model.body_count)
        self._searched = True
        self.searches += 1

    def _reach_itself(self, start: FloatArray, x: FloatArray) -> FloatArray:
        """How far points may move apart from their body's rigid motion, for its contact with itself [m].

        Bounded, for a search that reaches farther finds all of the body: what deforms faster may pass through itself.
        """
        model = self._model
        for body in np.flatnonzero(model.self_collision).tolist():
            first, last = model.body_point_start[body : body + 2]
            apart = own_distance(start, x, first, last)
            most = OWN_REACH * self._edge_length[body]
            self._own_reach[body] = max(min(REACH_FACTOR * apart, most), 0.5 * model.thickness[body])
        return self._own_reach
