"""What the steps of a frame tell of each island of bodies, in words and with the names of the objects."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy

from . import session

if TYPE_CHECKING:
    from ..core import StepReport

#: Said where nothing is known.
UNKNOWN = "Not known for this frame. It is told of all but the first that were simulated since the file was opened."
#: What a name says whose object is gone.
_GONE = "(removed)"


@dataclass(frozen=True, slots=True)
class Told:
    """One island."""

    title: str  # names of its objects
    figures: str  # steps, contacts and energy
    reasons: tuple[str, ...]  # why steps were shortened, in sentences
    pairs: tuple[str, ...]  # contacts of two bodies, those that press most first


def islands(scene: bpy.types.Scene) -> list[Told]:
    """The islands of the current frame; those with reasons first, then those with contacts. Empty if not known."""
    reports = session.of(scene).reports.get(scene.frame_current, ())
    names = object_names(scene)
    ordered = sorted(reports, key=lambda report: (not report.reasons, not report.contacts))
    return [
        Told(joined(report.bodies, names), _figures(report, names), report.texts(names), _pairs(report, names))
        for report in ordered
    ]


def object_names(scene: bpy.types.Scene) -> list[str]:
    """What the objects of all bodies of the last start are called now, in the order of the core."""
    here, names = session.of(scene), {obj.session_uid: obj.name for obj in scene.objects}
    return [] if here.start is None else [names.get(uid, _GONE) for uid in here.start.all_uids()]


def joined(bodies: tuple[int, ...], names: list[str], most: int = 3) -> str:
    """Names of bodies: `A, B, C and 4 more`."""
    shown = ", ".join(names[body] for body in bodies[:most])
    return shown if len(bodies) <= most else f"{shown} and {len(bodies) - most} more"


def _figures(report: "StepReport", names: list[str]) -> str:
    """`74 steps, 12 contacts, energy -0.0312 J, earliest meeting after 43 % of a step: A and B`."""
    if report.steps == 0:
        return "At rest, no steps"
    found = [_count(report.steps, "step"), _count(report.contacts, "contact"), f"energy {report.energy_change:+.3g} J"]
    if report.least_pair:
        share = f"{100.0 * report.least_share:.0f} %"
        found.append(f"earliest meeting after {share} of a step: {_both(report.least_pair, names)}")
    return ", ".join(found)


def _pairs(report: "StepReport", names: list[str]) -> tuple[str, ...]:
    """`A and B: 12 contacts, 3.41 N, gap 0.0021 m` for each pair."""
    pairs = sorted(report.pairs, key=lambda pair: -pair.force)
    return tuple(
        f"{_both(pair.bodies, names)}: {_count(pair.contacts, 'contact')}, {pair.force:.3g} N, gap {pair.gap:.2g} m"
        for pair in pairs
    )


def _both(bodies: tuple[int, ...], names: list[str]) -> str:
    """`A and B`, or `A` for a body and itself."""
    return " and ".join(names[body] for body in dict.fromkeys(bodies))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
