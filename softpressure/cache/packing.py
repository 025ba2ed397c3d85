"""Caches inside the .blend, so that a file plays and renders wherever it is copied to.

They are bytes of the scene's custom property `KEY`, in the format of the file on disk, and are read with the same
checks. They exist while Blender writes the file, and in a file just opened; in between they would be copied with every
undo step.
"""

import io

from ...core import CacheError
from ...core.cache import FrameCache
from ..scene_io.blender_types import DataBlock
from ..state import sessions, worker_thread
from . import disk

#: The custom property.
KEY = "softpressure_cache"
#: Blender counts the bytes of a property in 32 bits.
MOST_BYTES = 2**31 - 1


def pack(scene: DataBlock) -> None:
    """Put the cache of a scene into its data, if that is wanted; a cache that cannot be packed is reported in the
    panel.

    A packed cache that was not read, as its objects are missing, stays until packing is turned off.
    """
    if scene.library is not None:
        return
    session = sessions.of(scene)
    if not scene.softpressure.pack_cache:
        remove(scene)
        return
    run, cache = session.run, session.run.cache
    if cache is None or not cache.frame_count:
        return
    disk.note_names(scene)
    found: list[bytes] = []

    def write() -> None:
        if run.world is not None:
            cache.state = disk.state_of(run.world, run.measured)
        file = io.BytesIO()
        cache.write(file)
        found.append(file.getvalue())

    if run.stepper is not None:
        run.stepper.do_now(write)
    else:
        worker_thread.wait()
        write()
    if len(found[0]) > MOST_BYTES:
        session.fail(
            f"{scene.name}: its cache takes {len(found[0]) / 1e9:.1f} GB; at most 2 fit into a .blend. Bake it."
        )
        return
    remove(scene)  # bytes that replace others end at their first zero
    scene[KEY] = found[0]


def unload(scene: DataBlock) -> None:
    """Remove the packed cache from memory after the file is written."""
    if sessions.of(scene).run.cache is not None:
        remove(scene)


def read(scene: DataBlock) -> FrameCache | None:
    """The cache that the file holds; None if there is none. Raises `CacheError` if it is damaged."""
    data = scene.get(KEY)
    if data is None:
        return None
    name = f"{scene.name}: cache in the .blend"
    if not isinstance(data, bytes):
        raise CacheError(f"{name}: not a readable cache. Simulate again.")
    return FrameCache.read(io.BytesIO(data), name)


def remove(scene: DataBlock) -> None:
    """Remove the cache from the data of a scene, if there is one."""
    if scene.library is None and KEY in scene:
        del scene[KEY]
