"""Even meshes of soft bodies: made once, and kept with the file, in a custom property of each object.

It is text (base64): Blender's Alembic exporter takes custom properties along, and ends Blender at a zero byte. They are
found by a digest of what they were made of: after an undo or an edit another one is made, or one of those in memory
taken. Objects that are copied or appended bring theirs.
"""

import base64
import io
import zipfile
from collections import OrderedDict
from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from ...core import EvenMesh, Follower, bound_mesh, even_mesh_slices
from . import digests
from .blender_types import DataBlock
from .mesh_io import FloatArray, IntArray
from .seen_shape import Shape

#: The custom property.
KEY = "softpressure_mesh"
#: Raise it when even meshes come out differently, so that kept ones are made anew.
VERSION = 5
#: Share of seen vertices whose distance from the simulated surface the thickness covers: drawn vertices that stand off
#: by more are kept out of what the body touches, but not those that modifiers make between them.
_COVERED, _COVERED_BETWEEN = 0.75, 0.95
#: Meshes in memory, of shapes that were used last.
_MOST = 64

_memory: "OrderedDict[str, Kept]" = OrderedDict()


class Kept(NamedTuple):
    """An even mesh in the frame of its `Shape` [m], bound to the drawn mesh's own vertices."""

    even: EvenMesh
    stand_off: float  # how far most of the seen vertices stand out of it, at most [m]


def key_of(shape: Shape, count: int) -> str:
    """What a mesh of about `count` vertices is found by."""
    return digests.of_arrays([VERSION, shape.digest, count])


def find(obj: DataBlock, key: str) -> Kept | None:
    """The mesh of a key, from memory or from the object; None if it is to be made."""
    if key not in _memory:
        data = obj.get(KEY)
        found = _unpacked(data, key) if isinstance(data, str) else None
        if found is None:
            return None
        _memory[key] = found
    _memory.move_to_end(key)
    return _memory[key]


def making(shape: Shape, count: int) -> Generator[float, None, Kept]:
    """Make a mesh in slices: yields the share that is done. Reads none of Blender's data. Raises `MeshError`."""
    even = yield from even_mesh_slices(shape.positions, shape.triangles, count)
    covered = _COVERED if shape.is_as_drawn else _COVERED_BETWEEN
    stand_off = stand_off_of(even, shape.positions, shape.triangles, covered)
    if not shape.is_as_drawn:
        even = bound_mesh(even.positions, even.triangles, shape.own, shape.own_triangles, even.notes)
    return Kept(_in_short(even), stand_off)


def keep(obj: DataBlock, key: str, kept: Kept) -> None:
    """Remember a mesh, and store it with the object."""
    _memory[key] = kept
    _memory.move_to_end(key)
    while len(_memory) > _MOST:
        _memory.popitem(last=False)
    store(obj, key, kept)


def store(obj: DataBlock, key: str, kept: Kept) -> None:
    """Store a mesh with an object that lacks it, as after an undo."""
    data = obj.get(KEY)
    if not isinstance(data, str) or _key_in(data) != key:
        drop(obj)  # bytes of an earlier version would stay bytes
        obj[KEY] = _packed(key, kept)


def is_kept(obj: DataBlock) -> bool:
    """Whether any mesh is stored with an object, of its present shape or of an earlier one."""
    return KEY in obj


def drop(obj: DataBlock) -> None:
    """Remove what is stored with an object that does not follow an even mesh any more."""
    if KEY in obj:
        del obj[KEY]


def stand_off_of(
    mesh: EvenMesh, positions: FloatArray, triangles: IntArray, covered: float = _COVERED_BETWEEN
) -> float:
    """How far a share of the vertices of faces that are bound to a mesh stand out of it, at most."""
    offsets = Follower(mesh, positions).offsets[np.unique(triangles)]
    return float(np.quantile(np.where(offsets[:, 2] > 0.0, np.linalg.norm(offsets, axis=1), 0.0), covered))


def _in_short(even: EvenMesh) -> EvenMesh:
    """The same with normals of single precision, as they are stored."""
    return even._replace(drawn_normals=even.drawn_normals.astype(np.float32).astype(float))


def _packed(key: str, kept: Kept) -> str:
    even, file = kept.even, io.BytesIO()
    numbers: dict[str, IntArray] = {
        name: np.ascontiguousarray(getattr(even, name), np.int32) for name in ("triangles", "face", "nearest")
    }
    np.savez(
        file, key=np.array(key), notes=np.array(even.notes, "U"), stand_off=np.array(kept.stand_off),
        positions=even.positions, drawn_normals=even.drawn_normals.astype(np.float32),
        nearest_weights=even.nearest_weights, **numbers,
    )  # fmt: skip
    return base64.b64encode(file.getvalue()).decode("ascii")


def _key_in(data: str) -> str:
    """The key of what is stored; empty if it cannot be read."""
    try:
        with np.load(io.BytesIO(base64.b64decode(data)), allow_pickle=False) as arrays:
            return str(arrays["key"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return ""


def _unpacked(data: str, key: str) -> Kept | None:
    """What is stored, if it has this key and is whole."""
    if _key_in(data) != key:
        return None
    try:
        with np.load(io.BytesIO(base64.b64decode(data)), allow_pickle=False) as arrays:
            even = EvenMesh(
                positions=arrays["positions"],
                triangles=arrays["triangles"],
                notes=tuple(str(note) for note in arrays["notes"]),
                face=arrays["face"].astype(np.int64),
                drawn_normals=arrays["drawn_normals"].astype(float),
                nearest=arrays["nearest"].astype(np.int64),
                nearest_weights=arrays["nearest_weights"],
            )
            return Kept(even, float(arrays["stand_off"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
