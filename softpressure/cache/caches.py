"""Caches of opened files: on disk and in the .blend."""

import bpy

from ...core import CacheError
from ..state import measurements, sessions
from . import disk, packing


def load(scene: bpy.types.Scene) -> None:
    """Load the caches of a scene from disk, else from the .blend, if there are any and their objects exist."""
    session = sessions.of(scene)
    session.take = sessions.chosen_take(scene)
    session.parked = {key: _loaded(scene, key) for key in sessions.takes(scene)}
    session.run, session.refusals = session.parked.pop(session.take)
    packing.unload(scene)


def _loaded(scene: bpy.types.Scene, take: str) -> tuple[sessions.Run, sessions.Refusals]:
    """The run of a take, or why there is none; of several caches the first one that was made from the present scene."""
    session, found = sessions.of(scene), []
    session.refusals = sessions.Refusals()
    for read in (disk.load_journal, disk.load, packing.read):
        try:
            cache = read(scene, take)
        except CacheError as error:
            session.fail(str(error))
            continue
        if cache is not None and all(scene.objects.get(name) is not None for name in cache.body_names):
            found.append(cache)
    if not found:
        return sessions.Run(), session.refusals
    current = [cache for cache in found if len(found) == 1 or cache.input_fingerprint == session.inputs(scene)]
    cache = (current or found)[0]
    uids = tuple(scene.objects[name].session_uid for name in cache.body_names)
    table = measurements.from_arrays(cache.state or {}, len(uids))
    return sessions.Run(cache, uids, measured=table), sessions.Refusals()
