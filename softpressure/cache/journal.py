"""A journal of the frames of a simulation that is under way: if Blender ends in mid-run, at most one frame is lost.

Beside the cache on disk lie `NAME.npz.frames`, records one after the other, each with its length before it: the cache
as it was at the start, then each frame; and `NAME.npz.state`, which is replaced after each frame.
"""

import contextlib
import io
import struct
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...core import CacheError
from ...core.cache import FrameCache

#: Length of a record [bytes].
_LENGTH = struct.Struct("<Q")
#: Name of the number of the frame, beside the arrays of its state.
_FRAME = "journal.frame"


def frames_path(path: Path) -> Path:
    """The records beside a cache."""
    return path.with_name(f"{path.name}.frames")


def state_path(path: Path) -> Path:
    """The state after the last frame."""
    return path.with_name(f"{path.name}.state")


class Journal:
    """Written while frames are added to a cache; a context. Where the disk refuses, it ends without a word: the cache
    is still in memory, and writing that one reports the error.
    """

    def __init__(self, path: Path | None, cache: FrameCache) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        if path is not None:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = frames_path(path).open("wb")
                whole = io.BytesIO()
                cache.write(whole)
                self._record(whole.getvalue())

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, cache: FrameCache, state: Mapping[str, NDArray[Any]]) -> None:
        """Add the last frame of a cache, and the state of its world at that frame."""
        if self._file is None or self._path is None:
            return
        frame = io.BytesIO()
        cache.write_last(frame)
        target = state_path(self._path)
        part = target.with_name(f"{target.name}.new")
        try:
            self._record(frame.getvalue())
            with part.open("wb") as file:
                np.savez(file, **{_FRAME: np.array(cache.last_frame)}, **state)
            part.replace(target)
        except OSError:
            self._file.close()
            self._file = None

    def _record(self, content: bytes) -> None:
        assert self._file is not None
        self._file.write(_LENGTH.pack(len(content)) + content)
        self._file.flush()


def read(path: Path) -> FrameCache | None:
    """The cache that a journal beside a path holds, to the last whole frame; None if there is none."""
    try:
        content = frames_path(path).read_bytes()
    except OSError:
        return None
    records = []
    while len(content) >= _LENGTH.size and len(content) - _LENGTH.size >= (length := _LENGTH.unpack_from(content)[0]):
        records.append(content[_LENGTH.size : _LENGTH.size + length])
        content = content[_LENGTH.size + length :]
    if not records:
        return None
    cache = FrameCache.read(io.BytesIO(records[0]), str(frames_path(path)))
    last, state = cache.last_frame, cache.state
    with contextlib.suppress(OSError, ValueError, KeyError, CacheError):
        with np.load(state_path(path), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        end = int(arrays.pop(_FRAME))
        for record in records[1 : 1 + max(0, end - last)]:
            cache.read_next(io.BytesIO(record), str(frames_path(path)))
        state = arrays if cache.last_frame == end else None
    cache.state = state if cache.frame_count else None
    return cache


def remove(path: Path) -> None:
    """Delete the journal beside a cache that is whole."""
    for each in (frames_path(path), state_path(path)):
        with contextlib.suppress(OSError):
            each.unlink(missing_ok=True)
