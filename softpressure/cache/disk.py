"""Caches on disk, so that a saved file plays when it is opened again and renders in the background."""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import CacheError, State, World
from ...core.cache import FrameCache
from ..scene_io import file_names
from ..state import measurements, sessions, worker_thread
from . import journal


def path_of(scene: bpy.types.Scene, blend_path: str = "", take: str | None = None) -> Path | None:
    """Path of the cache of a take, the chosen one if none is given: beside the file, or in the chosen folder.

    None before the first save.
    """
    blend = Path(blend_path or bpy.data.filepath)
    if not blend.name:
        return None
    chosen, key = scene.softpressure.cache_folder, sessions.of(scene).take if take is None else take
    folder = Path(bpy.path.abspath(chosen, start=str(blend.parent))) if chosen else blend.parent
    name = file_names.of(scene, bpy.data.scenes) + (f".take{key}" if key else "")  # clean names have no point
    return folder / f"softpressure_{blend.stem}" / f"{name}.npz"


def save(scene: bpy.types.Scene, blend_path: str = "") -> None:
    """Write the caches of a scene that are not written yet; a failure is shown in the panel, not raised."""
    session = sessions.of(scene)
    writes = [writing(scene, blend_path, key) for key in session.runs()]

    def write() -> None:
        for each in writes:
            each()

    if session.run.stepper is not None:
        session.run.stepper.do_between(write)
    else:
        worker_thread.wait()  # for a frame that is under way, though its job was stopped
        write()


def writing(scene: bpy.types.Scene, blend_path: str = "", take: str | None = None) -> Callable[[], None]:
    """What `save` does for a take, for any thread, while no frame is stepped."""
    session = sessions.of(scene)
    path, run = path_of(scene, blend_path, take), session.run if take is None else session.runs()[take]
    if path is None or run.cache is None or not run.cache.frame_count:
        return lambda: None
    note_names(scene, run)
    return functools.partial(_write, session, run, run.cache, path)


def note_names(scene: bpy.types.Scene, run: sessions.Run) -> None:
    """Store the names of the cache's objects: they are found by name again, and may have been renamed."""
    names = {obj.session_uid: obj.name for obj in scene.objects}
    if run.cache is not None and all(uid in names for uid in run.object_uids):
        found = tuple(names[uid] for uid in run.object_uids)
        if found != run.cache.body_names:
            run.cache.body_names, run.written = found, None


def state_of(world: World, table: measurements.Table) -> dict[str, NDArray[Any]]:
    """State of a world for the cache, with the measurements of its run; the world must be between two frames."""
    return _arrays(world.save()) | measurements.to_arrays(table)


def _write(session: sessions.Session, run: sessions.Run, cache: FrameCache, path: Path) -> None:
    """Write a cache, with the state of its world, which must be between two frames; unless it is written."""
    if run.written == path and path.exists():
        return
    try:
        if run.world is not None:
            cache.state = state_of(run.world, run.measured)
        cache.save(path)
        run.written = path
        if run.stepper is None:  # of a run that goes on, the journal does, too
            journal.remove(path)
    except CacheError as error:
        session.fail(str(error))


def load(scene: bpy.types.Scene, take: str) -> FrameCache | None:
    """Read the file with the cache of a take, if there is one. Raises `CacheError` if it is damaged."""
    path = path_of(scene, take=take)
    return FrameCache.load(path) if path is not None and path.exists() else None


def load_journal(scene: bpy.types.Scene, take: str) -> FrameCache | None:
    """Read what a simulation left that did not end, if there is any. Raises `CacheError` if it is damaged."""
    path = path_of(scene, take=take)
    return None if path is None else journal.read(path)


def delete(scene: bpy.types.Scene) -> None:
    """Remove the file of the chosen take, and its folder if it is empty then; a failure is noted."""
    path = path_of(scene)
    worker_thread.wait()  # it may be being written
    if path is None:
        return
    journal.remove(path)
    if not path.exists():
        return
    try:
        path.unlink()
    except OSError as error:
        sessions.of(scene).fail(f"{path}: cannot be deleted ({error.strerror}). Check the permissions of its folder.")
        return
    with contextlib.suppress(OSError):  # it holds the caches of other scenes
        path.parent.rmdir()


def state_in(cache: FrameCache) -> State:
    """The state that a cache read from disk ends with; raises `CacheError` if it holds none."""
    if cache.state is None:
        raise CacheError("Scene: the cache on disk ends here and cannot be continued. Press Reset to simulate anew.")
    try:
        state: State = _rebuild(State, cache.state)
    except KeyError as error:
        raise CacheError(f"Scene: the cache on disk lacks {error}. Press Reset to simulate anew.") from error
    return state


def _arrays(item: Any, prefix: str = "") -> dict[str, NDArray[Any]]:
    """The fields of a data class by their dotted names, data classes within it included."""
    found: dict[str, NDArray[Any]] = {}
    for field in dataclasses.fields(item):
        value, name = getattr(item, field.name), f"{prefix}{field.name}"
        found |= _arrays(value, f"{name}.") if dataclasses.is_dataclass(value) else {name: np.asarray(value)}
    return found


def _rebuild(kind: Any, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> Any:
    """A data class from the result of `_arrays`; raises `KeyError` for a missing field without default."""
    types, values = get_type_hints(kind), {}
    for field in dataclasses.fields(kind):
        name = f"{prefix}{field.name}"
        has_default = not (field.default is field.default_factory is dataclasses.MISSING)
        if name not in arrays and has_default:
            continue  # a file of an earlier version
        if dataclasses.is_dataclass(types[field.name]):
            values[field.name] = _rebuild(types[field.name], arrays, f"{name}.")
        else:
            values[field.name] = arrays[name] if arrays[name].ndim else arrays[name].item()
    return kind(**values)
