"""What the solver of a frame notes, although it may begin anew on the way: bonds form and break, and skins tear."""

import numpy as np

from .array_types import FloatArray
from .solvers.choice import Solver
from .solvers.notes import Finding, FrameNotes


class NotedFrame:
    """The notes of a frame, of which those before the solver began anew are kept."""

    def __init__(self) -> None:
        self._earlier: list[FrameNotes] = []
        self._contacts, self._candidates, self._forces = 0, 0, np.zeros(0)  # where the kept steps ended

    def keep(self, solver: Solver) -> None:
        """Keep what a solver has noted, before it begins anew."""
        notes = solver.notes()
        if notes.steps or not self._earlier:
            self._contacts, self._candidates = solver.contact_count, solver.candidate_count
            self._forces = solver.contact_forces()
        self._earlier.append(notes)

    def notes(self, solver: Solver) -> FrameNotes:
        """Of the whole frame."""
        return whole([*self._earlier, solver.notes()])

    def contact_count(self, solver: Solver) -> int:
        """Contacts that exert a force at the end."""
        return self._contacts if self._ended_before(solver) else solver.contact_count

    def candidate_count(self, solver: Solver) -> int:
        """Pairs in the contact set at the end."""
        return self._candidates if self._ended_before(solver) else solver.candidate_count

    def contact_forces(self, solver: Solver) -> FloatArray:
        """Sum of the normal forces on each point at the end [N], shape (point_count,)."""
        return self._forces if self._ended_before(solver) else solver.contact_forces()

    def _ended_before(self, solver: Solver) -> bool:
        """Whether no step came after what is kept."""
        return bool(self._earlier) and not solver.notes().steps


def whole(parts: list[FrameNotes]) -> FrameNotes:
    """The notes of a frame from those of its parts: contacts are those at the end of the last one that took steps."""
    last = next((part for part in reversed(parts) if part.steps), parts[-1])
    found: dict[object, Finding] = {}
    for one in (one for part in parts for one in part.findings):
        before = found.get((one.reason, one.bodies), one)
        gaps = [each.gap for each in (before, one) if each.gap is not None]
        count = one.count if before is one else before.count + one.count
        found[one.reason, one.bodies] = Finding(one.reason, count, one.bodies, min(gaps, default=None))
    cuts = [part.momentum_cut for part in parts if part.momentum_cut is not None]
    return FrameNotes(
        steps=sum(part.steps for part in parts),
        pairs=last.pairs,
        shares=[share for part in parts for share in part.shares],
        findings=list(found.values()),
        momentum_cut=np.sum(cuts, axis=0) if cuts else None,
        asleep=parts[-1].asleep,
    )
