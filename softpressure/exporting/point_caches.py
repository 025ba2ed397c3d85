"""Point caches: files with the vertices of one mesh at consecutive frames, one sample per frame.

PC2 is little-endian and counts frames; MDD is big-endian and counts seconds. Both hold float32 coordinates in the
object's own space. Blender's Mesh Cache modifier, Maya, 3ds Max, Houdini and others read them.
"""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..scene_io.mesh_io import Float32Array


def write_pc2(path: Path, vertex_count: int, frames: Sequence[int], shapes: Iterable[Float32Array]) -> None:
    """Write a PC2 file of version 1: one shape (vertex_count, 3) per frame."""
    header = struct.pack("<12siiffi", b"POINTCACHE2", 1, vertex_count, frames[0], 1.0, len(frames))
    _write(path, header, shapes, "<f4")


def write_mdd(
    path: Path, vertex_count: int, frames: Sequence[int], shapes: Iterable[Float32Array], frame_rate: float
) -> None:
    """Write an MDD file: one shape (vertex_count, 3) per frame; times count from the first one. Frame rate in 1/s."""
    times = [number / frame_rate for number in range(len(frames))]
    header = struct.pack(f">ii{len(times)}f", len(times), vertex_count, *times)
    _write(path, header, shapes, ">f4")


def _write(path: Path, header: bytes, shapes: Iterable[Float32Array], kind: str) -> None:
    with path.open("wb") as file:
        file.write(header)
        for shape in shapes:
            file.write(shape.astype(kind).tobytes())
