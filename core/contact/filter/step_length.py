"""The filters of a step, one after the other: common motion, rigid fit, displacement filter or step filter."""

from collections.abc import Callable

import numpy as np

from ...bodies.flat.plane import Planes
from ...model import FloatArray, Model
from ..broad_phase.candidates import Candidates
from ..inverse_mass import InverseMass
from .displacement import filter_displacement
from .relative_motion import relative_distance
from .rigid_fit import RigidFits
from .step_filter import limit_displacement

#: Share of its reach that a body deforms by at most in a step that would deform it by more; the rest is for the
#: difference of two rigid motions, that of the step and that of the points that `relative_distance` sees.
HASTY_SHARE = 0.75
#: How often a step that leaves what was searched is halved before it is given up.
HALVINGS = 6


class StepLength:
    """Bounds steps of a model's unknowns by its candidates."""

    def __init__(self, model: Model, candidates: Candidates) -> None:
        self._model, self._candidates = model, candidates
        self._unpinned = np.zeros(model.body_count, bool)
        self._unpinned[: model.membrane_count] = ~np.logical_or.reduceat(
            model.pinned, model.body_point_start[: model.membrane_count]
        )
        self._share = np.ones(model.vertex_count + model.rigid_count)
        self._plain = np.zeros((model.unknown_count, 3))
        self._planes = Planes(model)

    def shorten(
        self, x: FloatArray, step: FloatArray, mobility: InverseMass, place: Callable[[], FloatArray],
        distance: FloatArray | None = None,
    ) -> bool:  # fmt: skip
        """Shorten a step of the unknowns from x in place, each vertex and each rigid body by its own share.

        `place` tells where all points are after `step`. `distance`: of each row of the record at x [m], if known.
        False if what is left may touch what was not searched for: search farther, or `halve` it.
        """
        candidates = self._candidates
        if candidates.contacts.count == 0:
            self._shorten(x, step, mobility, distance)
            return not candidates.leaves_out or candidates.still_valid(place())
        self._plain[:] = step
        common = candidates.islands.take_out(x, step, candidates.contacts)
        self._shorten(x, step, mobility, distance)
        if common is not None:
            candidates.islands.put_back(step, common)
            if candidates.still_valid(place()):
                return True
            # slower bodies of an island would outrun what was searched for them
            step[:] = self._plain
            self._shorten(x, step, mobility, distance)
        return candidates.still_valid(place())

    def halve(self, step: FloatArray, place: Callable[[], FloatArray]) -> None:
        """Halve a shortened step until it touches nothing that was not searched for: less of it is as safe."""
        for _ in range(HALVINGS):
            step *= 0.5
            if self._candidates.still_valid(place()):
                return
        step[:] = 0.0

    def shorten_as_one(
        self, x: FloatArray, step: FloatArray, mobility: InverseMass, place: Callable[[], FloatArray]
    ) -> None:
        """Shorten a step of the unknowns from x in place, all of each island by its least share."""
        candidates, share = self._candidates, self._share
        limit_displacement(x, step, mobility, candidates.contacts, share)
        least = candidates.islands.least(share)
        trial = place()
        for body in np.flatnonzero(candidates.hasty).tolist():
            first, last = self._model.body_point_start[body : body + 2]
            apart = relative_distance(x, trial, first, last)
            own = candidates.islands.rows_with(body)
            least[own] = np.minimum(least[own], candidates.own_reach[body] / max(apart, candidates.own_reach[body]))
        n = self._model.vertex_count
        step[:n] *= least[:n, None]
        step[n:] *= np.repeat(least[n:], 2)[:, None]

    def _shorten(self, x: FloatArray, step: FloatArray, mobility: InverseMass, distance: FloatArray | None) -> None:
        n, candidates, share = self._model.vertex_count, self._candidates, self._share
        whole = self._whole_moves(x, step)
        if candidates.contacts.count:
            if distance is not None and self._free() and filter_displacement(x, step, candidates.contacts, n, whole):
                return
            limit_displacement(x, step, mobility, candidates.contacts, share, whole, distance)
        elif whole is None:
            return
        else:
            share[:] = 1.0
        self._planes.share_alike(share)
        if whole is None:
            step[:n] *= share[:n, None]
        else:
            rest = step[:n] - whole.move
            for body in np.flatnonzero(candidates.hasty).tolist():
                own = slice(self._model.body_point_start[body], self._model.body_point_start[body + 1])
                size = np.sqrt((rest[own] ** 2).sum(axis=1)) * share[own]
                most = HASTY_SHARE * candidates.own_reach[body]
                share[own] *= most / np.maximum(size, most)
            self._planes.share_alike(share)
            step[:n] = whole.move + share[:n, None] * rest
            self._planes.hold(step)
        step[n:] *= np.repeat(share[n:], 2)[:, None]

    def _free(self) -> bool:
        """Whether moves are bounded by contacts alone, and all that moves are membranes' vertices."""
        return not (self._model.rigid_count or self._planes.any or self._candidates.hasty.any())

    def _whole_moves(self, x: FloatArray, step: FloatArray) -> RigidFits | None:
        """Rigid part of the step of the membranes near themselves or each other, or where the search stops short."""
        model = self._model
        wanted = self._candidates.hasty | self._candidates.near_moving
        if not wanted.any():
            return None
        bodies = np.flatnonzero(wanted & self._unpinned).astype(np.int32)
        return RigidFits.of(
            x, step, bodies, model.body_point_start, model.point_body[: model.vertex_count], model.membrane_count
        )  # fmt: skip
