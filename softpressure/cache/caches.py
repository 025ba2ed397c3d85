"""Caches of opened files: on disk and in the .blend."""

from collections.abc import Callable

import bpy

from ...core import CacheError
from ...core.cache import FrameCache
from ..state import measurements, sessions
from . import disk, packing


def load(scene: bpy.types.Scene) -> None:
    """Load the cache of a scene from disk, else from the .blend, if there is one and its objects exist.

    Of several caches the first that was made from the present scene is taken.
    """
    session = sessions.of(scene)
    readers = (disk.load_journal, disk.load, packing.read)
    caches = [cache for cache in (_read(session, read, scene) for read in readers) if cache is not None]
    found = [cache for cache in caches if all(scene.objects.get(name) is not None for name in cache.body_names)]
    if not found:
        return
    current = [cache for cache in found if len(found) == 1 or cache.input_fingerprint == session.inputs(scene)]
    cache = (current or found)[0]
    session.refusals.error = ""
    session.run = sessions.Run(
        cache,
        tuple(scene.objects[name].session_uid for name in cache.body_names),
        measured=measurements.from_arrays(cache.state or {}, len(cache.body_names)),
    )
    packing.unload(scene)


def _read(
    session: sessions.Session, read: Callable[[bpy.types.Scene], FrameCache | None], scene: bpy.types.Scene
) -> FrameCache | None:
    try:
        return read(scene)
    except CacheError as error:
        session.fail(str(error))
        return None
