"""The state of a scene's simulation in a line, and how far it is, which nothing else shows."""

from typing import NamedTuple

import bpy

from ..simulation import loading
from ..state import jobs, sessions, status_bar
from . import status


class State(NamedTuple):
    """What the bar below Simulate shows."""

    text: str
    share: float  # 0 to 1


def of(scene: bpy.types.Scene) -> State:
    """The state now: what runs, else what hinders, else what the cache holds."""
    job, preparing = jobs.current(), status_bar.preparing()
    if job is not None:
        return State(job.progress[2] or "Starting", job.share)
    if not sessions.has_bodies(scene):
        return State("No bodies", 0.0)
    if loading.missing_compiler():
        return State("The compiler is missing", 0.0)
    if preparing is not None:
        return State(preparing.label, preparing.share)
    session = sessions.of(scene)
    held = status.cache_text(scene)
    if sessions.baked(scene):
        return State("Baked", 1.0)
    if session.run.cache is not None and session.is_out_of_date(scene):
        return State(f"Out of date: {held}", 0.0)
    return State(f"{scene.softpressure.take or 'Cache'}: {held}", status.cache_share(scene))
