"""`StepFilter`: what of a step of all unknowns is taken, so that nothing crosses and every pair was searched for."""

from collections.abc import Callable

import numpy as np

from ...bodies.flat.plane import Planes
from ...model import FloatArray, Model
from ..broad_phase.candidates import Candidates
from ..inverse_mass import InverseMass
from .closing_part import remove_closing
from .relative_motion import relative_distance
from .time_of_impact import limit_pairs, separate

#: How often a step that leaves what was searched is halved before it is given up.
HALVINGS = 6
#: Share of its reach that a body deforms by in a step that would deform it by more: a share of a step deforms by
#: hardly more than the same share of the deformation.
HASTY_SHARE = 0.9
#: How often vertices are held back before the step is shortened.
PASSES = 8


class StepFilter:
    """Filters steps of a model's unknowns by its candidates."""

    def __init__(self, model: Model, candidates: Candidates) -> None:
        self._model, self._candidates = model, candidates
        self._planes = Planes(model)
        self._moves = np.zeros((model.moving_point_count, 3))
        self._share = np.ones(model.moving_count)
        self._braked = np.zeros(0, np.int32)  # rows
        self._arm = np.linalg.norm(model.rigid.arm, axis=1)  # of each rigid point [m]
        n = model.vertex_count
        # body of each row of the unknowns
        self._body = np.concatenate(
            [model.point_body[:n], np.repeat(model.membrane_count + np.arange(model.rigid_count), 2)]
        )

    def filter(self, x: FloatArray, step: FloatArray, mobility: InverseMass, place: Callable[[], FloatArray]) -> None:
        """Take out of a step from x what closes gaps, then `shorten` it, in place; x positions of all points [m].

        `place` tells where all points are after `step`. The gaps must have been evaluated at x.
        """
        contacts = self._candidates.contacts
        if contacts.count:
            remove_closing(step, mobility, contacts)
            self._planes.hold(step)
            for _ in range(PASSES):
                braked = self._find_braked(x, step, mobility)
                if braked == 0:
                    break
                separate(
                    x, self._moves, step, mobility.inverse_mass, self._braked, braked, contacts.points, contacts.kind
                )
                self._planes.hold(step)
        self.shorten(x, step, mobility, place)

    def shorten(self, x: FloatArray, step: FloatArray, mobility: InverseMass, place: Callable[[], FloatArray]) -> None:
        """Scale a step so that no pair meets, all of each island by the same share, in place."""
        candidates, share, island = self._candidates, self._share, self._candidates.islands.of_body
        self._find_braked(x, step, mobility)
        hasty = candidates.hasty.any()
        if hasty:
            trial = place()
            for body in np.flatnonzero(candidates.hasty).tolist():
                first, last = self._model.body_point_start[body : body + 2]
                apart = relative_distance(x, trial, first, last)
                reach = HASTY_SHARE * candidates.own_reach[body]
                share[island[body]] = min(share[island[body]], reach / max(apart, reach))
        if share.min() < 1.0:
            step *= share[island[self._body]][:, None]
        searched = candidates.contacts.count or candidates.leaves_out or hasty
        if searched and not candidates.still_valid(place()):
            self._halve(step, place)

    def _find_braked(self, x: FloatArray, step: FloatArray, mobility: InverseMass) -> int:
        """Set the islands' shares of a step and the rows of pairs that admit less than all; returns how many."""
        contacts, n = self._candidates.contacts, self._model.vertex_count
        self._share[:] = 1.0
        if contacts.count == 0:
            return 0
        if len(self._braked) < contacts.count:
            self._braked = np.zeros(contacts.capacity, np.int32)
        turn = step[mobility.unknown + 1]
        self._moves[:n] = step[:n]
        self._moves[n:] = step[mobility.unknown] + np.cross(turn, mobility.arm)
        found: int = limit_pairs(
            x, self._moves, 0.5 * np.einsum("ij,ij->i", turn, turn) * self._arm, n, contacts.count, contacts.points,
            contacts.kind, contacts.apex, contacts.side, contacts.bodies, contacts.distance,
            self._candidates.islands.of_body, self._share, self._braked,
        )  # fmt: skip
        return found

    def _halve(self, step: FloatArray, place: Callable[[], FloatArray]) -> None:
        """Halve a step until it touches nothing that was not searched for: less of it is as safe."""
        for _ in range(HALVINGS):
            step *= 0.5
            if self._candidates.still_valid(place()):
                return
        step[:] = 0.0
