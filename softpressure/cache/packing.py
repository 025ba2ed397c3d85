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
    """Put the caches of a scene into its data, if that is wanted; one that cannot be packed is reported in the panel.

    A packed cache that was not read, as its objects are missing, stays until packing is turned off.
    """
    if scene.library is not None:
        return
    session = sessions.of(scene)
    if not scene.softpressure.pack_cache:
        for name in [name for name in scene.keys() if name.split(".")[0] == KEY]:  # noqa: SIM118
            del scene[name]
        return
    for take, run in session.runs().items():
        if run.cache is not None and run.cache.frame_count:
            disk.note_names(scene, run)
            content = _content(session, run, run.cache)
            if len(content) > MOST_BYTES:
                size = len(content) / 1e9
                session.fail(f"{scene.name}: its cache takes {size:.1f} GB; at most 2 fit into a .blend. Bake it.")
                continue
            remove(scene, take)  # bytes that replace others end at their first zero
            scene[_name(take)] = content


def _content(session: sessions.Session, run: sessions.Run, cache: FrameCache) -> bytes:
    """The bytes of a cache, while no frame is stepped."""
    file = io.BytesIO()

    def write() -> None:
        if run.world is not None:
            cache.state = disk.state_of(run.world, run.measured)
        cache.write(file)

    if session.run.stepper is not None:
        session.run.stepper.do_now(write)
    else:
        worker_thread.wait()
        write()
    return file.getvalue()


def unload(scene: DataBlock) -> None:
    """Remove the packed caches from memory after the file is written."""
    for take, run in sessions.of(scene).runs().items():
        if run.cache is not None:
            remove(scene, take)


def read(scene: DataBlock, take: str) -> FrameCache | None:
    """The cache of a take that the file holds; None if there is none. Raises `CacheError` if it is damaged."""
    data = scene.get(_name(take))
    if data is None:
        return None
    name = f"{scene.name}: cache in the .blend"
    if not isinstance(data, bytes):
        raise CacheError(f"{name}: not a readable cache. Simulate again.")
    return FrameCache.read(io.BytesIO(data), name)


def remove(scene: DataBlock, take: str) -> None:
    """Remove the cache of a take from the data of a scene, if there is one."""
    if scene.library is None and _name(take) in scene:
        del scene[_name(take)]


def _name(take: str) -> str:
    return f"{KEY}.{take}" if take else KEY
