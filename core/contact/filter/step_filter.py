"""`StepFilter`: limits a step of all unknowns so that no pair intersects and every near pair is a candidate."""

from collections.abc import Callable

import numpy as np

from ...bodies.flat.plane import Planes
from ...model import FloatArray, Model
from ..broad_phase.candidates import Candidates
from ..inverse_mass import InverseMass
from .closing_part import remove_closing
from .relative_motion import relative_distance
from .time_of_impact import limit_pairs, separate

#: Halvings at most of a step that exceeds the reach of the search; then it becomes 0.
HALVINGS = 6
#: Part of its reach for self-contact that a body may deform by [1]: deformation grows nearly linearly with the step.
REACH_SHARE = 0.9
#: Passes at most in which single vertices are limited, before the step of whole islands is shortened.
PASSES = 8


class StepFilter:
    """Filters steps of a model's unknowns by its candidates."""

    def __init__(self, model: Model, candidates: Candidates) -> None:
        self._model, self._candidates = model, candidates
        self._planes = Planes(model)
        self._moves = np.zeros((model.moving_point_count, 3))
        self._share = np.ones(model.moving_count)
        self._limiting = np.zeros(0, np.int32)  # rows of pairs that limit the step
        self._arm = np.linalg.norm(model.rigid.arm, axis=1)  # of each rigid point [m]
        n = model.vertex_count
        # body of each row of the unknowns
        self._body = np.concatenate(
            [model.point_body[:n], np.repeat(model.membrane_count + np.arange(model.rigid_count), 2)]
        )

    def filter(self, x: FloatArray, step: FloatArray, mobility: InverseMass, place: Callable[[], FloatArray]) -> None:
        """Remove the part of a step from x that closes gaps, then `shorten` it, in place; x: all positions [m].

        `place`: returns the positions of all points after `step` [m]. The gaps must have been evaluated at x.
        """
        contacts = self._candidates.contacts
        if contacts.count:
            remove_closing(step, mobility, contacts)
            self._planes.hold(step)
        limiting = self._find_limiting_pairs(x, step, mobility)
        for _ in range(PASSES):
            if limiting == 0:
                break
            separate(
                x, self._moves, step, mobility.inverse_mass, self._limiting, limiting, contacts.points, contacts.kind
            )
            self._planes.hold(step)
            limiting = self._find_limiting_pairs(x, step, mobility)
        self._scale(x, step, place)

    def shorten(self, x: FloatArray, step: FloatArray, mobility: InverseMass, place: Callable[[], FloatArray]) -> None:
        """Scale the step of each island by one factor so that no pair intersects, in place."""
        self._find_limiting_pairs(x, step, mobility)
        self._scale(x, step, place)

    def _scale(self, x: FloatArray, step: FloatArray, place: Callable[[], FloatArray]) -> None:
        """`shorten` by the fractions that are found."""
        candidates, share, island = self._candidates, self._share, self._candidates.islands.of_body
        exceeds_reach = candidates.exceeds_reach.any()
        if exceeds_reach:
            trial = place()
            for body in np.flatnonzero(candidates.exceeds_reach).tolist():
                first, last = self._model.body_point_start[body : body + 2]
                apart = relative_distance(x, trial, first, last)
                reach = REACH_SHARE * candidates.own_reach[body]
                share[island[body]] = min(share[island[body]], reach / max(apart, reach))
        if share.min() < 1.0:
            step *= share[island[self._body]][:, None]
        searched = candidates.contacts.count or candidates.is_pruned or exceeds_reach
        if searched and not candidates.still_valid(place()):
            self._halve(step, place)

    def _find_limiting_pairs(self, x: FloatArray, step: FloatArray, mobility: InverseMass) -> int:
        """Set each island's admissible fraction of the step, and the pairs that limit it; returns their number."""
        contacts, n = self._candidates.contacts, self._model.vertex_count
        self._share[:] = 1.0
        if contacts.count == 0:
            return 0
        if len(self._limiting) < contacts.count:
            self._limiting = np.zeros(contacts.capacity, np.int32)
        turn = step[mobility.unknown + 1]
        self._moves[:n] = step[:n]
        self._moves[n:] = step[mobility.unknown] + np.cross(turn, mobility.arm)
        found: int = limit_pairs(
            x, self._moves, 0.5 * np.einsum("ij,ij->i", turn, turn) * self._arm, n, contacts.count, contacts.points,
            contacts.kind, contacts.apex, contacts.side, contacts.bodies, contacts.distance,
            self._candidates.islands.of_body, self._share, self._limiting,
        )  # fmt: skip
        return found

    def _halve(self, step: FloatArray, place: Callable[[], FloatArray]) -> None:
        """Halve a step until every near pair at its end is a candidate: any fraction of a safe step is safe."""
        for _ in range(HALVINGS):
            step *= 0.5
            if self._candidates.still_valid(place()):
                return
        step[:] = 0.0
