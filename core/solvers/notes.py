"""What a solver notes about the last frame, from which the reports of its islands are made (`core/reports.py`).

Most of it is derived on demand from what the solver keeps anyway; the rest is counted where a step is rejected.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray


class Reason(Enum):
    """Why bodies took shorter steps, or moved otherwise than their forces alone would have it.

    The value is a sentence, and what its count is of: one, and several.
    """

    CROSSING = "their surfaces cross; vertices behind are moved back", ("vertex", "vertices")
    SELF_CROSSING = "its surface crosses itself; vertices behind are moved back", ("vertex", "vertices")
    STAY_CROSSED = "surfaces that could not be moved apart; vertices behind do not collide", ("vertex", "vertices")
    ATTACHED = "they are attached to each other", ("vertex", "vertices")
    KEPT_APART = "their motion was limited where surfaces would have met", ("contact", "contacts")
    STOPPED = "no motion was found that keeps surfaces apart; for single steps they stayed", ("contact", "contacts")
    NO_ROOM = "no room is left, as where pins or colliders close in; nothing keeps them apart", ("contact", "contacts")
    CROSSED = "at the end of the frame edges go through triangles, as the check found", ("edge", "edges")
    FAST = "bodies are so fast that they might pass each other in a step of full length", ("step", "steps")
    STIFFER = (
        "its shape or gas has become stiffer than at rest, so that only shorter steps are stable",
        ("step", "steps"),
    )
    NOT_CONVERGED = "the sweeps over the contacts ended before the impulses were settled", ("step", "steps")

    @property
    def sentence(self) -> str:
        """What happened, without subject and full stop."""
        return self.value[0]

    def counted(self, count: int) -> str:
        """A count with its unit: `1 vertex`, `37 vertices`."""
        return f"{count} {self.value[1][count != 1]}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason, how often it applied in the frame, and to which bodies: two, one, or none where to all.

    `gap`: the least gap that was left between them [m], where that is known.
    """

    reason: Reason
    count: int
    bodies: tuple[int, ...] = ()
    gap: float | None = None

    def text(self, names: Sequence[str]) -> str:
        """A sentence with the names of all bodies: who, why, and how often."""
        who = " and ".join(names[body] for body in dict.fromkeys(self.bodies)) or "All bodies"
        gap = "" if self.gap is None else f", at least {1e3 * self.gap:.2g} mm apart"
        return f"{who}: {self.reason.sentence} ({self.reason.counted(self.count)}{gap})."


#: Of single contacts: bodies of both sides, normal force [N] and gap [m].
PairRows = tuple[IntArray, IntArray, FloatArray, FloatArray]


class PairContacts(NamedTuple):
    """Contacts that exert a force at the end of a frame, summed per pair of bodies; one row per pair."""

    low: IntArray  # the lower body, shape (pair_count,)
    high: IntArray  # the higher one, or the same for contacts of a body with itself
    contacts: IntArray  # how many
    force: FloatArray  # sum of the normal forces [N]
    gap: FloatArray  # least gap between the surfaces [m]

    @staticmethod
    def of(first: IntArray, second: IntArray, force: FloatArray, gap: FloatArray) -> "PairContacts":
        """From single contacts: bodies of both sides, normal force [N] and gap [m]; all exert a force."""
        if not len(first):
            none = np.zeros(0, np.int32)
            return PairContacts(none, none, none, np.zeros(0), np.zeros(0))
        bodies = int(max(first.max(), second.max())) + 1
        key = np.minimum(first, second).astype(np.int64) * bodies + np.maximum(first, second)
        order = key.argsort(kind="stable")
        key = key[order]
        ends = np.concatenate([[-1], np.flatnonzero(key[1:] != key[:-1]), [len(key) - 1]])
        start, found = ends[:-1] + 1, key[ends[1:]]
        return PairContacts(
            found // bodies,
            found % bodies,
            ends[1:] - ends[:-1],
            np.add.reduceat(force[order], start),
            np.minimum.reduceat(gap[order], start),
        )


class LeastShare(NamedTuple):
    """The least share of a step that a pair of bodies could take before its surfaces would have met."""

    share: float  # 0 to 1
    bodies: tuple[int, ...]  # one where a body would have met itself, or it is not known what


@dataclass(slots=True)
class FrameNotes:
    """The last frame of a solver."""

    steps: int  # that bodies took, 0 while they sleep
    pairs: PairContacts
    shares: list[LeastShare] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    #: Sum of |m dv| by which the motion limit cut the motion of each body [N s], shape (body_count,); None without it.
    momentum_cut: FloatArray | None = None
    asleep: BoolArray | None = None  # which moving bodies slept, shape (moving_count,); None where they do not


class FrameCounts:
    """What is counted of a frame."""

    def __init__(self, rejected: int = 0) -> None:
        """`rejected`: steps that the guarantee had rejected before."""
        self.rejected = rejected
        self.steps, self.step_time = 0, 0.0  # so far; length of the last ones [s]
        self.findings: dict[tuple[Reason, tuple[int, ...]], int] = {}

    def add(self, reason: Reason, count: int, bodies: tuple[int, ...]) -> None:
        """Count a reason."""
        self.findings[reason, bodies] = self.findings.get((reason, bodies), 0) + count
