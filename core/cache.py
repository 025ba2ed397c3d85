"""`FrameCache`: simulated frames, in memory and on disk."""

import contextlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import CacheError

#: Raised when the layout of the file changes; files of another number are refused.
FORMAT_VERSION = 1
#: Frame at which a triangle tears that does not.
NEVER = 2**30

Float32Array = NDArray[np.float32]


class FrameCache:
    """Positions of every body at consecutive frames.

    * `first_frame`: Number of the first frame that will be appended.
    * `body_names`, `vertex_counts`: One entry per body, in the order in which positions are appended. A rigid body has
      0 vertices: its transform says where it is.
    * `input_fingerprint`: Names the settings and meshes the frames were made from; compared by the caller, not here.
    * `start_fingerprint`: Names the shapes at the first frame, likewise.
    * `start_names`: Digests of the bodies and colliders of the first frame, in the order of the state; empty if
      unknown.
    * `holds_forces`: Whether each frame has the contact forces on the vertices, too.
    """

    def __init__(
        self,
        first_frame: int,
        body_names: Sequence[str],
        vertex_counts: Sequence[int],
        *,
        input_fingerprint: str = "",
        start_fingerprint: str = "",
        start_names: Sequence[str] = (),
        holds_forces: bool = False,
    ) -> None:
        self.first_frame = int(first_frame)
        self.body_names = tuple(body_names)
        self.vertex_counts = tuple(int(count) for count in vertex_counts)
        self.input_fingerprint = input_fingerprint
        self.start_fingerprint = start_fingerprint
        self.start_names = tuple(start_names)
        self.holds_forces = holds_forces
        #: Frame at which each triangle of a body tore, as `NEVER` where it did not, by the number of the body.
        self.torn: dict[int, NDArray[np.int32]] = {}
        #: Arrays from which a simulation can go on after the last frame, None when unknown.
        self.state: Mapping[str, NDArray[Any]] | None = None
        self._start = np.concatenate([[0], np.cumsum(self.vertex_counts)]).astype(int)
        self._positions: list[Float32Array] = []  # per frame [m], world frame, shape (vertex_count, 3)
        self._transforms: list[NDArray[np.float64]] = []  # per frame, shape (body_count, 4, 4)
        self._forces: list[Float32Array] = []  # per frame [N], shape (vertex_count,); empty without

    @property
    def frame_count(self) -> int:
        """Number of frames held."""
        return len(self._positions)

    @property
    def last_frame(self) -> int:
        """Number of the last frame held; `first_frame - 1` while there is none."""
        return self.first_frame + self.frame_count - 1

    @property
    def memory(self) -> int:
        """Size of the frames [bytes]."""
        frames = sum(array.nbytes for array in self._positions + self._forces)
        return frames + sum(array.nbytes for array in self._transforms)

    def append(
        self,
        frame: int,
        positions: Sequence[ArrayLike],
        transforms: ArrayLike | None = None,
        forces: Sequence[ArrayLike] | None = None,
    ) -> None:
        """Add the next frame.

        * `positions`: One array per body [m], world frame, shape (vertex_count of the body, 3).
        * `transforms`: World from local matrix of every body at this frame, shape (body_count, 4, 4); identities if
          None.
        * `forces`: Contact forces on the vertices of each body [N], shape (vertex_count of the body,); zero if None.
          Kept if the cache holds forces.

        Raises `CacheError` if the frame is not the next one or a shape does not fit.
        """
        if frame != self.last_frame + 1:
            raise CacheError(f"frame {frame}: the cache ends at {self.last_frame}. Append the frames between first.")
        arrays = [np.asarray(array, dtype=np.float32) for array in positions]
        shapes = [array.shape for array in arrays]
        if shapes != [(count, 3) for count in self.vertex_counts]:
            raise CacheError(
                f"frame {frame}: positions of shapes {shapes} for {self.vertex_counts} vertices. Begin another cache."
            )
        body_count = len(self.body_names)
        matrices = np.tile(np.eye(4), (body_count, 1, 1)) if transforms is None else np.array(transforms, dtype=float)
        self._transforms.append(matrices.reshape(body_count, 4, 4))
        if self.holds_forces:
            given = [np.zeros(count) for count in self.vertex_counts] if forces is None else forces
            self._forces.append(np.concatenate([np.zeros(0), *map(np.asarray, given)]).astype(np.float32))
        # last, as they are counted: another thread may be looking frames up meanwhile
        self._positions.append(np.concatenate(arrays) if arrays else np.empty((0, 3), np.float32))

    def note_torn(self, body: int, torn: ArrayLike, frame: int) -> None:
        """Note which triangles of a body are torn at a frame, shape (triangle_count,); torn ones stay so."""
        mask = np.asarray(torn, bool)
        if mask.any():
            before = self.torn.get(body, np.full(len(mask), NEVER, np.int32))
            self.torn[body] = np.where(mask, np.minimum(before, frame), before).astype(np.int32)

    def clamp(self, time: float) -> float:
        """The time nearest to `time` [frames] that the cache can show."""
        return min(max(time, self.first_frame), self.last_frame)

    def positions(self, body: int, time: float) -> Float32Array:
        """Positions [m] of one body at `time` [frames], world frame, shape (vertex_count, 3).

        Exact at whole frames, linear in between. Raises `CacheError` outside the frames held.
        """
        return self._at(self._positions, body, time)

    def forces(self, body: int, time: float) -> Float32Array:
        """Contact forces [N] on the vertices of one body likewise, shape (vertex_count,); if `holds_forces`."""
        return self._at(self._forces, body, time)

    def _check(self, time: float) -> None:
        if not self.first_frame <= time <= self.last_frame:
            raise CacheError(
                f"frame {time:g}: the cache holds {self.first_frame} to {self.last_frame}. Give one of these."
            )

    def _at(self, arrays: list[Float32Array], body: int, time: float) -> Float32Array:
        self._check(time)
        whole = math.floor(time)
        share = np.float32(time - whole)
        rows = slice(self._start[body], self._start[body + 1])
        here = arrays[whole - self.first_frame][rows]
        if share == 0.0:
            return here
        after = arrays[whole + 1 - self.first_frame][rows]
        return here + share * (after - here)

    def transform(self, body: int, frame: int) -> NDArray[np.float64]:
        """World from local matrix of one body at a whole frame, shape (4, 4)."""
        self._check(frame)
        return self._transforms[frame - self.first_frame][body].copy()

    def write(self, file: IO[bytes]) -> None:
        """Write everything to an open binary file."""
        header = {
            "format_version": FORMAT_VERSION,
            "first_frame": self.first_frame,
            "body_names": self.body_names,
            "vertex_counts": self.vertex_counts,
            "input_fingerprint": self.input_fingerprint,
            "start_fingerprint": self.start_fingerprint,
            "start_names": self.start_names,
            "has_state": self.state is not None,
        }
        arrays: dict[str, NDArray[Any]] = {
            "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            "positions": np.array(self._positions, np.float32),
            "transforms": np.array(self._transforms),
        }
        if self.holds_forces:
            arrays["forces"] = np.array(self._forces, np.float32)
        arrays |= {f"torn.{body}": frames for body, frames in self.torn.items()}
        arrays |= {f"state.{name}": array for name, array in (self.state or {}).items()}
        np.savez(file, **arrays)

    def write_last(self, file: IO[bytes]) -> None:
        """Write the last frame alone to an open binary file."""
        forces = {"forces": self._forces[-1]} if self.holds_forces else {}
        np.savez(file, positions=self._positions[-1], transforms=self._transforms[-1], **forces)

    def read_next(self, file: IO[bytes], name: str) -> None:
        """Add a frame that `write_last` wrote; raises `CacheError`, which tells of a name, if it is damaged."""
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {key: archive[key] for key in archive.files}
            positions = np.split(arrays["positions"], self._start[1:-1])
            forces = np.split(arrays["forces"], self._start[1:-1]) if self.holds_forces else None
            self.append(self.last_frame + 1, positions, arrays["transforms"], forces)
        except Exception as error:  # numpy and zipfile each have their own for a damaged file
            raise CacheError(f"{name}: not a readable frame ({error}). Simulate again.") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, replacing an older one only once the new one is whole."""
        target = Path(path)
        temporary = target.with_name(target.name + ".new")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as file:
                self.write(file)
            temporary.replace(target)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise CacheError(
                f"{target}: cannot be written ({error.strerror}). Check the folder and its space."
            ) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "FrameCache":
        """Read a file written by `save`; raises `CacheError` if it is missing, damaged or of another version."""
        try:
            with Path(path).open("rb") as file:
                return cls.read(file, str(path))
        except FileNotFoundError as error:
            raise CacheError(f"{path}: there is no such cache. Give the path of a saved one.") from error
        except OSError as error:
            raise CacheError(f"{path}: not a readable cache ({error}). Simulate again.") from error

    @classmethod
    def read(cls, file: IO[bytes], name: str) -> "FrameCache":
        """Read what `write` wrote to a binary file, of which errors tell by a name; raises `CacheError` as `load`."""
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {key: archive[key] for key in archive.files}
            header = json.loads(arrays["header"].tobytes())
            if header["format_version"] != FORMAT_VERSION:
                raise CacheError(f"{name}: written by another version of Soft Pressure. Simulate again.")
            if not all(isinstance(name, str) for name in header["body_names"]):
                raise CacheError(f"{name}: not a readable cache (names of bodies are no text). Simulate again.")
            cache = cls(
                header["first_frame"],
                header["body_names"],
                header["vertex_counts"],
                input_fingerprint=header["input_fingerprint"],
                start_fingerprint=header["start_fingerprint"],
                start_names=header.get("start_names", ()),  # files of earlier versions know no order but their own
                holds_forces="forces" in arrays,
            )
            shape = (len(arrays["positions"]), cache._start[-1], 3)
            cache._positions = list(arrays["positions"].reshape(shape))
            if cache.holds_forces:
                cache._forces = list(arrays["forces"].reshape(shape[:2]))
            cache.torn = {int(key[5:]): array for key, array in arrays.items() if key.startswith("torn.")}
            cache._transforms = list(arrays["transforms"].reshape(shape[0], len(cache.body_names), 4, 4))
        except CacheError:
            raise
        except Exception as error:  # numpy, zipfile and json each have their own for a damaged file
            raise CacheError(f"{name}: not a readable cache ({error}). Simulate again.") from error
        if header["has_state"]:
            cache.state = {key[6:]: array for key, array in arrays.items() if key.startswith("state.")}
        return cache
