"""Takes: several caches of a scene with names, of which one is chosen: it is simulated, plays and is baked.

Keys name their files, so takes can be renamed.
"""

import bpy

from ..state import jobs, sessions
from . import disk, playback


def protects(scene: bpy.types.Scene) -> bool:
    """Whether frames that are out of date are kept until *Simulate* replaces them, however the timeline plays."""
    return bool(scene.softpressure.takes) and sessions.of(scene).run.cache is not None


def follow(scene: bpy.types.Scene) -> None:
    """Show the chosen take, if another one is shown; ends a job that fills that one."""
    session, key = sessions.of(scene), sessions.chosen_take(scene)
    if key == session.take:
        return
    jobs.end()
    session.parked[session.take] = session.run, session.refusals
    session.take = key
    session.run, session.refusals = session.parked.pop(key, (sessions.Run(), sessions.Refusals()))
    session.display.shown.clear()
    sessions.mark_all()
    playback.show(scene)


def add(scene: bpy.types.Scene) -> None:
    """Add an empty take and choose it; the first time, the frames there are become a take, too."""
    settings = scene.softpressure
    if not settings.takes:
        settings.takes.add().name = "Take 1"
    number = max(int(take.key or "1") for take in settings.takes) + 1
    take = settings.takes.add()
    take.name, take.key = f"Take {number}", str(number)
    sessions.of(scene).parked.pop(take.key, None)  # of one that was undone
    settings.active_take = len(settings.takes) - 1
    disk.delete(scene)


def remove(scene: bpy.types.Scene) -> None:
    """Remove the chosen take with its frames, in memory and on disk, and choose one beside it."""
    settings, key = scene.softpressure, sessions.chosen_take(scene)
    jobs.end()
    disk.delete(scene)
    number = sessions.takes(scene).index(key)
    settings.takes.remove(number)
    settings.active_take = max(0, number - 1)
    follow(scene)
    sessions.of(scene).parked.pop(key, None)
