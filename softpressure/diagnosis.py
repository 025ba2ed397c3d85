"""What the steps of a frame tell of each island of bodies, in words and with the names of the objects."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy

from . import session

if TYPE_CHECKING:
    from ..core import StepReport

#: Said where nothing is known.
UNKNOWN = "Not known for this frame: it is told of frames that were simulated since the file was opened."
#: What a name says whose object is gone.
_GONE = "(removed)"


@dataclass(frozen=True, slots=True)
class Told:
    """One island."""

    title: str  # names of its objects
    figures: str  # steps, contacts and energy
    reasons: tuple[str, ...]  # why steps were shortened, in sentences


def islands(scene: bpy.types.Scene) -> list[Told]:
    """The islands of the current frame; those with reasons first, then those with contacts. Empty if not known."""
    reports = session.of(scene).reports.get(scene.frame_current, ())
    names = object_names(scene)
    ordered = sorted(reports, key=lambda report: (not report.reasons, not report.contacts))
    return [Told(joined(report.bodies, names), _figures(report, names), report.texts(names)) for report in ordered]


def object_names(scene: bpy.types.Scene) -> list[str]:
    """What the objects of all bodies of the last start are called now, in the order of the core."""
    here, names = session.of(scene), {obj.session_uid: obj.name for obj in scene.objects}
    return [] if here.start is None else [names.get(uid, _GONE) for uid in here.start.all_uids()]


def joined(bodies: tuple[int, ...], names: list[str], most: int = 3) -> str:
    """Names of bodies: `A, B, C and 4 more`."""
    shown = ", ".join(names[body] for body in bodies[:most])
    return shown if len(bodies) <= most else f"{shown} and {len(bodies) - most} more"


def _figures(report: "StepReport", names: list[str]) -> str:
    """`74 steps, 12 contacts, energy -0.0312 J, met after 43 % of a step: A and B`."""
    if report.steps == 0:
        return "At rest, no steps"
    found = [
        f"{report.steps} step{'s' * (report.steps != 1)}",
        f"{report.contacts} contact{'s' * (report.contacts != 1)}",
    ]
    found.append(f"energy {report.energy_change:+.3g} J")
    if report.least_pair:
        pair = " and ".join(names[body] for body in report.least_pair)
        found.append(f"earliest meeting after {100.0 * report.least_share:.0f} % of a step: {pair}")
    return ", ".join(found)
