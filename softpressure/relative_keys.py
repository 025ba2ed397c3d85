"""Relative shape keys of a baked soft body, for formats that blend keys: as few as keep its motion within an error.

Each key holds a kept frame. Its value is 1 there and 0 at the kept frames beside it, with linear curves, so that the
body moves along straight lines from one kept frame to the next.
"""

import bisect
from collections.abc import Iterable, Iterator

import bpy
import numpy as np

from ..core.cache import FrameCache
from . import actions, beside, mesh_io, thinning
from .bake_motion import PREFIX
from .blender_types import DataBlock
from .jobs import Work
from .mesh_io import Float32Array


def add(obj: bpy.types.Object, cache: FrameCache, number: int, frames: range, error: float) -> Work:
    """Give an object keys and curves for the cached frames of a body, within `error` [Blender units] in world space.

    Yields while a thread chooses the frames. The error that was reached is kept in the object.
    """
    matrices = [cache.transform(number, frame)[:3, :3] for frame in frames]
    scale = max(float(np.linalg.norm(matrix, 2)) for matrix in matrices)

    def choose() -> tuple[list[int], float]:
        kept = thinning.fewest(shapes, error / scale)
        return kept, thinning.deviation(shapes, kept) * scale

    shapes = np.array(list(cached_shapes(cache, number, frames)))
    kept, reached = yield from beside.run(choose)
    obj.softpressure.baked_error = reached
    for frame in kept:
        key = obj.shape_key_add(name=f"{PREFIX} {frames[frame]}", from_mix=False)
        mesh_io.write_key(key, shapes[frame])
    _add_curves(obj.data.shape_keys, [frames[frame] for frame in kept], f"{PREFIX} {obj.name}")
    obj.active_shape_key_index = 0
    obj.data.update_tag()


def cached_shapes(cache: FrameCache, number: int, frames: Iterable[int]) -> Iterator[Float32Array]:
    """Shapes of a soft body of a cache at these frames, in its object's space, shape (vertex_count, 3)."""
    for frame in frames:
        yield mesh_io.to_local(cache.transform(number, frame), cache.positions(number, frame))


def baked_shapes(obj: bpy.types.Object, frames: Iterable[int]) -> Iterator[Float32Array]:
    """The same of a baked object: its keys, absolute or relative, and linear in between."""
    keys = {int(key.name.removeprefix(PREFIX)): key for key in baked_keys(obj)}
    known = sorted(keys)
    for frame in frames:
        after = known[min(bisect.bisect_left(known, frame), len(known) - 1)]
        before = known[max(bisect.bisect_right(known, frame) - 1, 0)]
        share = (frame - before) / (after - before) if before < frame < after else 1.0
        first, last = mesh_io.read_key(keys[before]), mesh_io.read_key(keys[after])
        yield first + np.float32(share) * (last - first)


def baked_keys(obj: bpy.types.Object) -> list[bpy.types.ShapeKey]:
    """The keys that baking has made."""
    keys: DataBlock = obj.data.shape_keys
    return [] if keys is None else [key for key in keys.key_blocks if key.name.startswith(PREFIX)]


def _add_curves(keys: DataBlock, kept: list[int], name: str) -> None:
    actions.assign(keys, bpy.data.actions.new(name))
    curves = actions.own_curves(keys)
    for place, frame in enumerate(kept):
        near = kept[max(place - 1, 0) : place + 2]
        values = np.array([[float(each == frame)] for each in near])
        actions.write_linear(curves, f'key_blocks["{PREFIX} {frame}"].value', np.array(near), values)
