"""The step reports of a frame for each island of bodies, in words and with the names of the objects."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy

from ..scene_io import units
from ..state import sessions
from .prefixes import quantity_text

if TYPE_CHECKING:
    from ...core import Finding, Reason, StepReport

#: Said of the first frame.
FIRST = "The first frame has no steps. Go to a later frame."
#: Said of others where nothing is known.
UNKNOWN = "Not available: this frame was simulated before the file was opened. Press Reset, then Simulate."
#: What a name says whose object is gone.
GONE = "(removed)"


@dataclass(frozen=True, slots=True)
class Told:
    """One island."""

    title: str  # names of its objects
    reasons: tuple[str, ...]  # why steps were shortened, in sentences; each kind once before any again
    figures: tuple[str, ...]  # steps and energy; whose surfaces would have met first
    pairs: tuple[str, ...]  # contacts of two bodies, those that press most first


def islands(scene: bpy.types.Scene) -> list[Told]:
    """The islands of the current frame; those with reasons first, then those with contacts. Empty if not known."""
    reports = sessions.of(scene).run.reports.get(scene.frame_current, ())
    names = object_names(scene)
    ordered = sorted(reports, key=lambda report: (not report.reasons, not report.contacts))
    return [
        Told(
            joined(report.bodies, names), _reasons(report, names), _figures(report, names), _pairs(scene, report, names)
        )
        for report in ordered
    ]


def why_empty(scene: bpy.types.Scene) -> str:
    """Why `islands` finds none, and what to do about it."""
    return FIRST if scene.frame_current <= scene.softpressure.frame_start else UNKNOWN


def object_names(scene: bpy.types.Scene) -> list[str]:
    """What the objects of all bodies of the last start are called now, in the order of the core."""
    run, names = sessions.of(scene).run, {obj.session_uid: obj.name for obj in scene.objects}
    return [] if run.start is None else [names.get(uid, GONE) for uid in run.start.all_uids()]


def joined(bodies: tuple[int, ...], names: list[str], most: int = 3) -> str:
    """Names of bodies: `A, B, C and 4 more`."""
    shown = ", ".join(names[body] for body in bodies[:most])
    return shown if len(bodies) <= most else f"{shown} and {len(bodies) - most} more"


def _reasons(report: "StepReport", names: list[str]) -> tuple[str, ...]:
    """The finding of each reason with the largest count, then the second of each, and so on, in sentences."""
    seen: Counter[Reason] = Counter()
    ranked: list[tuple[int, Finding]] = []
    for finding in sorted(report.reasons, key=lambda finding: -finding.count):
        ranked.append((seen[finding.reason], finding))
        seen[finding.reason] += 1
    return tuple(finding.text(names) for _, finding in sorted(ranked, key=lambda pair: pair[0]))


def _figures(report: "StepReport", names: list[str]) -> tuple[str, ...]:
    """`74 steps, energy -31.2 mJ`; `A and B: surfaces would have met after 43 % of a step`, if so."""
    if report.steps == 0:
        return ("At rest, no steps",)
    figures = _listed(_count(report.steps, "step"), f"energy {quantity_text(report.energy_change, 'J', '+')}")
    if not report.least_pair:
        return (figures,)
    share = _listed(f"{100.0 * report.least_share:.0f} %")
    return figures, f"{_both(report.least_pair, names)}: surfaces would have met after {share} of a step"


def _pairs(scene: bpy.types.Scene, report: "StepReport", names: list[str]) -> tuple[str, ...]:
    """`A and B: 12 contacts, 3.41 N, gap 2.1 mm` for each pair, those with the largest forces first."""
    return tuple(
        f"{_both(pair.bodies, names)}: "
        + _listed(
            _count(pair.contacts, "contact"),
            quantity_text(pair.force, "N"),
            f"{'gap' if pair.gap >= 0.0 else 'overlap'} {units.length_text(scene, abs(pair.gap))}",
        )
        for pair in sorted(report.pairs, key=lambda pair: -pair.force)
    )


def _listed(*figures: str) -> str:
    """Figures with commas between them, of which none is wrapped inside."""
    return ", ".join(figure.replace(" ", "\N{NO-BREAK SPACE}") for figure in figures)


def _both(bodies: tuple[int, ...], names: list[str]) -> str:
    """`A and B`, or `A` for a body and itself."""
    return " and ".join(names[body] for body in dict.fromkeys(bodies))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
