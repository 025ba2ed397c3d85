"""`StepReport`: what a frame took of each island of bodies, and why its steps were shortened."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from .array_types import FloatArray, IntArray
from .model import Model
from .solvers.notes import Finding, FrameNotes, LeastShare, PairContacts, Reason


@dataclass(frozen=True, slots=True)
class PairReport:
    """Contacts of two bodies, or of one with itself, at the end of a frame."""

    bodies: tuple[int, int]  # numbers of the bodies, the lower one first
    contacts: int  # that exert a force
    force: float  # sum of their normal forces [N]
    gap: float  # least gap between the surfaces [m]


#: What a report says of bodies.
Part = TypeVar("Part", PairReport, Finding, LeastShare)


@dataclass(frozen=True, slots=True)
class StepReport:
    """The last frame of one island: moving bodies that contacts, crossings or attachments join.

    Colliders belong to no island, and join none. Bodies are numbered as in the model.
    """

    bodies: tuple[int, ...]  # moving bodies, ascending
    steps: int  # that they took in the frame, 0 while they sleep
    contacts: int  # that exert a force at its end
    pairs: tuple[PairReport, ...]  # those with such contacts
    #: Least share of a step (0 to 1) that a pair could take before its surfaces would have met, and that pair.
    #: 1 and () where none would have.
    least_share: float
    least_pair: tuple[int, ...]
    #: Sum of |m dv| by which dividing planes cut the motion of these bodies in the frame [N s]: it is lost, whereas
    #: impulses of contacts conserve momentum.
    momentum_cut: float
    #: Change of motion, height, stretch, bend, volume and gas over the frame [J]; what contacts hold is left out.
    energy_change: float
    reasons: tuple[Finding, ...]  # those of these bodies, then those of all bodies

    def texts(self, names: Sequence[str]) -> tuple[str, ...]:
        """The reasons in sentences, with the names of all bodies."""
        return tuple(reason.text(names) for reason in self.reasons)


def reports_of(model: Model, notes: FrameNotes, crossed: IntArray, energy_change: FloatArray) -> tuple[StepReport, ...]:
    """The report of each island, by their lowest bodies.

    `model`: the one that the frame was simulated with; `crossed`: rows of `State.wrong_side`, of points that
    were moved before the frame, and of those that stay crossed;
    `energy_change` [J] of each moving body, shape (moving_count,).
    """
    findings = [*_crossings(model, crossed), *_attachments(model), *notes.findings]
    contacts = _pair_reports(notes.pairs)
    joined = [
        *(pair.bodies for pair in contacts),
        *(finding.bodies for finding in findings),
        *(least.bodies for least in notes.shares),
    ]
    islands, found = _islands(model.moving_count, joined), []
    number_of = {body: number for number, island in enumerate(islands) for body in island}
    pairs_of, shares_of = _sorted_by(number_of, contacts), _sorted_by(number_of, notes.shares)
    findings_of = _sorted_by(number_of, findings)
    for number, island in enumerate(islands):
        pairs = tuple(pairs_of.get(number, ()))
        least = min(shares_of.get(number, ()), key=lambda least: least.share, default=LeastShare(1.0, ()))
        members = np.array(island)
        found.append(
            StepReport(
                bodies=island,
                steps=0 if notes.asleep is not None and notes.asleep[members].all() else notes.steps,
                contacts=sum(pair.contacts for pair in pairs),
                pairs=pairs,
                least_share=least.share,
                least_pair=least.bodies,
                momentum_cut=0.0 if notes.momentum_cut is None else float(notes.momentum_cut[members].sum()),
                energy_change=float(energy_change[members].sum()),
                reasons=(*findings_of.get(number, ()), *(finding for finding in findings if not finding.bodies)),
            )
        )
    return tuple(found)


def _sorted_by(number_of: Mapping[int, int], parts: Iterable[Part]) -> dict[int, list[Part]]:
    """Parts of a report by the number of the island of their moving bodies, which is one."""
    found: dict[int, list[Part]] = {}
    for part in parts:
        number = next((number_of[body] for body in part.bodies if body in number_of), None)
        if number is not None:
            found.setdefault(number, []).append(part)
    return found


def _pair_reports(pairs: PairContacts) -> list[PairReport]:
    rows = zip(*(column.tolist() for column in pairs), strict=True)
    return [PairReport((low, high), count, force, gap) for low, high, count, force, gap in rows]


def _islands(count: int, joined: Iterable[Sequence[int]]) -> list[tuple[int, ...]]:
    """Groups of the first `count` bodies that are joined, each ascending, by their lowest bodies."""
    group = {body: [body] for body in range(count)}
    for bodies in joined:
        moving = [body for body in bodies if body < count]
        for body in moving[1:]:
            one, other = group[moving[0]], group[body]
            if one is not other:
                one += other
                group.update((member, one) for member in other)
    members = {id(each): tuple(sorted(each)) for each in group.values()}
    return sorted(members.values())


def _crossings(model: Model, wrong_side: IntArray) -> list[Finding]:
    """How many vertices of each pair of bodies are behind the other one's surface, and how many stay there."""
    if not len(wrong_side):
        return []
    owner = model.point_body[wrong_side[:, 0]]
    stays = np.abs(wrong_side[:, 2]) != 1
    rows = np.stack([stays, np.minimum(owner, wrong_side[:, 1]), np.maximum(owner, wrong_side[:, 1])], axis=1)
    return [
        Finding(
            Reason.STAY_CROSSED if stay else Reason.SELF_CROSSING if low == high else Reason.CROSSING,
            count, (low,) if low == high else (low, high),
        )
        for (stay, low, high), count in _counted(rows)
    ]  # fmt: skip


def _attachments(model: Model) -> list[Finding]:
    """How many vertices of each pair of bodies are glued."""
    glue = model.attachments
    if not len(glue.body):
        return []
    pairs = np.sort(np.stack([model.point_body[glue.points[:, 0]], glue.body], axis=1), axis=1)
    return [Finding(Reason.ATTACHED, count, (low, high)) for (low, high), count in _counted(pairs)]


def _counted(pairs: IntArray) -> list[tuple[list[int], int]]:
    """Distinct rows, and how often each one is there."""
    found, count = np.unique(pairs, axis=0, return_counts=True)
    return list(zip(found.tolist(), count.tolist(), strict=True))
