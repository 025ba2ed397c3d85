"""Candidate pairs of a step: a contact set, valid while no point moves farther than the reach of its search."""

import numpy as np

from ...energy.energies import ModelElements
from ...model import FloatArray, IntArray, Model
from ...state import STAYS, State
from ..contacts import Contacts
from ..filter.islands import Islands
from ..filter.relative_motion import relative_distance
from .pruned_pairs import PrunedPairs
from .search import ContactSearch

#: Largest reach of a search for self-contact [edge length]: with a longer one, most triangles may face towards the
#: middle (`self_contact.find_suspects`).
OWN_REACH = 0.1


class Candidates:
    """The contact set of one model and the search that fills it.

    `reach_factor`: reach of a search in units of the displacement that made it necessary; larger means fewer searches
    and more candidates. `far`: see `ContactSearch`. `prune`: whether `contacts` holds only the pairs found that may
    touch soon (`pruned_pairs.py`), for callers that check `still_valid` after every displacement. Models with rigid
    bodies, whose points move along arcs, or with elements of energies (`energy/elements.py`) are not pruned.
    """

    def __init__(self, model: Model, reach_factor: float, *, far: bool = False, prune: bool = False) -> None:
        self._model = model
        self._reach_factor = reach_factor
        self._search = ContactSearch(model, far=far)
        self._crossed: IntArray = np.zeros((0, 2), np.int32)  # points and bodies that stay crossed: no contacts
        self._searched = False
        self._move = np.zeros((model.point_count, 3))
        self.contacts = Contacts(model.moving_point_count)
        self._elements = ModelElements(model)
        self._prune = prune and not model.rigid_count and not len(self._elements)
        self._all_found_rows = (
            Contacts(model.moving_point_count) if self._prune else self.contacts
        )  # all that was found
        self._found = self.contacts  # the set that the last search has filled
        self._near = PrunedPairs(model.point_count)
        self.islands = Islands(model)
        self.searches = 0  # so far
        #: Reach for self-contact: how far points may move relative to their body's common motion [m].
        self.own_reach = np.zeros(model.body_count)
        #: Bodies whose deformation in the step last covered exceeds that reach: the step must be split.
        self.exceeds_reach = np.zeros(model.body_count, dtype=bool)
        #: Whether there can be no contacts, and no energy has elements.
        self.alone = model.body_count == 1 and not model.self_collision.any() and not len(self._elements)
        edge_body, ends = model.surfaces.edge_body, model.rest_positions[model.surfaces.edges]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        count = np.maximum(np.bincount(edge_body, minlength=model.body_count), 1)
        self._edge_length = np.bincount(edge_body, length, model.body_count) / count  # mean of each body [m]

    def untangle(self, state: State) -> int:
        """Write the points on the wrong side of a surface to the state; returns the number of crossing triangles."""
        overlaps = self._search.untangle(state.positions)
        state.wrong_side = self._search.wrong_side()
        self._searched = False
        return overlaps.crossing_triangle_count

    def start_frame(self, state: State) -> None:
        """Exclude what stays crossed in a state; the next `cover` searches anew."""
        listed, self._searched = state.wrong_side, False
        self._search.relist(listed[listed[:, 2] == 0])
        self._crossed = listed[listed[:, 2] == STAYS, :2]

    @property
    def is_pruned(self) -> bool:
        """Whether pairs that the last search has found are missing in `contacts`."""
        return self._near.left > 0

    @property
    def searched(self) -> bool:
        """Whether a search has been made."""
        return self._searched

    def take(self, model: Model) -> None:
        """Use another model that differs in values only (`animation/segments.py`)."""
        self._model = model
        self._search.take(model)

    def still_valid(self, x: FloatArray) -> bool:
        """Whether every pair within its thickness at x [m], all points, is in `contacts`."""
        return self._all_found(x) and self._near.valid(x)

    def _all_found(self, x: FloatArray) -> bool:
        """Whether the last search has found every pair within its thickness at x [m]."""
        return self._searched and self._search.still_valid(x)

    def cover(self, x: FloatArray, trial: FloatArray) -> bool:
        """Ensure that `contacts` holds every pair that can touch on the path from x to `trial` [m], all points.

        True if `contacts` has changed: by a new search, or by pruning the last one anew. A displacement that is not
        finite clears it; the divergence check of the world reports that.
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
        found = self._found = self.contacts if len(self._crossed) else self._all_found_rows
        self._search.search(x, reach, found, self.own_reach)
        glue = model.attachments
        if len(glue.body) or len(self._crossed):
            excluded = np.concatenate([np.stack([glue.points[:, 0], glue.body], axis=1), self._crossed])
            found.exclude(excluded, model.point_body, model.body_count)
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
        """Prune the pairs found anew where pairs left out may touch on the path from x to `trial` [m].

        True if that was necessary.
        """
        if self._near.valid(x) and self._near.valid(trial):
            return False
        self._near.choose(x, trial, self._found, self.contacts, self._search.reach, self.own_reach)
        return True

    def _farthest(self, x: FloatArray, trial: FloatArray) -> FloatArray:
        """Longest displacement of each body's points [m], shape (body_count,)."""
        np.subtract(trial, x, out=self._move)
        distance = np.sqrt(np.einsum("ij,ij->i", self._move, self._move))
        return np.asarray(np.maximum.reduceat(distance, self._model.body_point_start[:-1]))

    def _set_own_reach(self, x: FloatArray, trial: FloatArray) -> None:
        """Set the reach for self-contact for a step from x to `trial`, bounded by OWN_REACH."""
        model = self._model
        for body in np.flatnonzero(model.self_collision).tolist():
            first, last = model.body_point_start[body : body + 2]
            apart = relative_distance(x, trial, first, last)
            most = OWN_REACH * self._edge_length[body]
            self.own_reach[body] = max(min(self._reach_factor * apart, most), 0.5 * model.thickness[body])
            self.exceeds_reach[body] = not apart <= self.own_reach[body]
