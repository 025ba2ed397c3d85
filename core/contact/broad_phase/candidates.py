"""Candidate pairs of a step: the contact record, valid as long as nothing moves farther than the search covered."""

import numpy as np

from ...energy.energies import ModelElements
from ...model import FloatArray, IntArray, Model
from ...state import State
from ..contacts import Contacts
from ..filter.islands import Islands
from ..filter.relative_motion import relative_distance
from .pruned_pairs import PrunedPairs
from .search import ContactSearch

#: Frames in which skins that cross themselves are driven apart; what cannot be, as thin parts, is then left alone.
PARTING_FRAMES = 24
#: Largest reach of a search for contacts of a body with itself, in edge lengths: where points stray farther, most
#: triangles may face towards the middle (`self_contact.find_suspects`).
OWN_REACH = 0.1


class Candidates:
    """The contact record of one model and the search that fills it.

    `reach_factor`: reach of a search in units of the move that made it necessary; larger means fewer searches and more
    candidates. `far`: see `ContactSearch`. `choosy`:
    whether `contacts` holds only what may touch soon of what a search has found (`pruned_rows`): for those who ask
    `still_valid` of every move that they make. Points of rigid bodies go along arcs, and elements of energies
    (`energy/elements.py`) must all be there: with these, it holds all rows.
    """

    def __init__(self, model: Model, reach_factor: float, *, far: bool = False, choosy: bool = False) -> None:
        self._model = model
        self._reach_factor = reach_factor
        self._search = ContactSearch(model, far=far)
        self._searched = False
        self._move = np.zeros((model.point_count, 3))
        self.contacts = Contacts(model.moving_point_count)
        self._elements = ModelElements(model)
        self._choosy = choosy and not model.rigid_count and not len(self._elements)
        self._wide = Contacts(model.moving_point_count) if self._choosy else self.contacts  # all that was found
        self._found = self.contacts  # the record that the last search has filled
        self._near = PrunedPairs(model.point_count)
        self.islands = Islands(model)
        self.searches = 0  # so far
        #: How far points may move apart from their body's rigid motion, for its contact with itself [m].
        self.own_reach = np.zeros(model.body_count)
        #: Bodies that would deform by more than that in the move last covered, and must take it in several steps.
        self.hasty = np.zeros(model.body_count, dtype=bool)
        #: Whether nothing can touch anything, and no energy has elements.
        self.alone = model.body_count == 1 and not model.self_collision.any() and not len(self._elements)
        edge_body, ends = model.surfaces.edge_body, model.rest_positions[model.surfaces.edges]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        count = np.maximum(np.bincount(edge_body, minlength=model.body_count), 1)
        self._edge_length = np.bincount(edge_body, length, model.body_count) / count  # mean of each body [m]

    def untangle(self, state: State) -> int:
        """Note in the state which points are behind another body's surface; returns how many triangles cross."""
        overlaps = self._search.untangle(state.positions)
        state.wrong_side = self._search.wrong_side()
        self._searched = False
        return overlaps.crossing_triangle_count

    def start_frame(self, state: State) -> None:
        """List the points behind a surface as a state has them; the next `cover` searches anew."""
        self._search.drive_apart(state.frame < PARTING_FRAMES, state.wrong_side)
        self.relist(state.wrong_side)

    def relist(self, wrong_side: IntArray) -> None:
        """List the points behind a surface; the next `cover` searches anew."""
        if not self.alone:
            self._search.relist(wrong_side)
        self._searched = False

    def wrong_side(self) -> IntArray:
        """What a state keeps of it, see `ContactSearch.wrong_side`."""
        return self._search.wrong_side()

    @property
    def tangled(self) -> bool:
        """Whether points are behind a surface."""
        return len(self._search.wrong_side_pairs) > 0

    @property
    def crossing_bodies(self) -> IntArray:
        """Skins of which points are behind their own surface, ascending."""
        return self._search.crossing_bodies

    def recover(self, x: FloatArray) -> None:
        """Ask points behind a surface for their next bit of the way back; see `ContactSearch.recover`."""
        self._search.recover(x, self.contacts)

    @property
    def leaves_out(self) -> bool:
        """Whether the record lacks rows that the last search has found."""
        return self._near.left > 0

    @property
    def searched(self) -> bool:
        """Whether there is a record."""
        return self._searched

    def take(self, model: Model) -> None:
        """Another model, that differs in values alone (`segments.py`)."""
        self._model = model
        self._search.take(model)

    def still_valid(self, x: FloatArray) -> bool:
        """Whether every pair that touches at x [m], all points, is in the record."""
        return self._all_found(x) and self._near.valid(x)

    def _all_found(self, x: FloatArray) -> bool:
        """Whether the last search has found every pair that touches at x [m]."""
        return self._searched and self._search.still_valid(x)

    def cover(self, x: FloatArray, trial: FloatArray) -> bool:
        """Make sure that every pair that can touch on the way from x to `trial` [m], all points, is in the record.

        True if the record is another one now: searched anew, or chosen anew of what the last search has found. Where
        the move is not finite the record is emptied, and the world will say so.
        """
        if self.alone:
            return False
        if self._all_found(trial):
            return self.choose(x, trial)
        model = self._model
        farthest = self._farthest(x, trial)
        if not np.isfinite(farthest).all():
            self.contacts.clear()
            self._near.forget()
            return True
        self._set_own_reach(x, trial)
        reach = np.maximum(self._reach_factor * farthest, 0.5 * model.thickness)
        if self._searched and self._search.others_valid(trial) and self._search.search_own(x, self.own_reach):
            return self.choose(x, trial)
        found = self._found = self.contacts if self.tangled else self._wide
        self._search.search(x, reach, found, self.own_reach)
        if len(model.attachments.body):
            found.leave_out_glued(model.attachments, model.point_body, model.body_count)
        if len(self._elements):
            found.append_elements(self._elements.rows.points, self._elements.rows.weights, model.point_body)
        self.islands.follow(found)
        self._searched = True
        self.searches += 1
        if found is self.contacts:
            self._near.forget()
        else:
            self._near.choose(x, trial, found, self.contacts, self._search.reach, self.own_reach)
        return True

    def choose(self, x: FloatArray, trial: FloatArray) -> bool:
        """Choose the rows of the record anew where others of those found may touch on the way from x to `trial` [m].

        True if it was.
        """
        if self._near.valid(x) and self._near.valid(trial):
            return False
        self._near.choose(x, trial, self._found, self.contacts, self._search.reach, self.own_reach)
        return True

    def _farthest(self, x: FloatArray, trial: FloatArray) -> FloatArray:
        """Longest move of each body's points [m], shape (body_count,)."""
        np.subtract(trial, x, out=self._move)
        distance = np.sqrt(np.einsum("ij,ij->i", self._move, self._move))
        return np.asarray(np.maximum.reduceat(distance, self._model.body_point_start[:-1]))

    def _set_own_reach(self, x: FloatArray, trial: FloatArray) -> None:
        """Bounded, for a search that reaches farther finds all of the body."""
        model = self._model
        for body in np.flatnonzero(model.self_collision).tolist():
            first, last = model.body_point_start[body : body + 2]
            apart = relative_distance(x, trial, first, last)
            most = OWN_REACH * self._edge_length[body]
            self.own_reach[body] = max(min(self._reach_factor * apart, most), 0.5 * model.thickness[body])
            self.hasty[body] = not apart <= self.own_reach[body]
