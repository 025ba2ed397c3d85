"""Relative shape keys of a baked soft body, for formats that blend keys: as few as keep its motion within an error.

The motion of the body as a whole becomes that of its object, so that keys hold its deformation alone: a ball in free
flight needs none. Each key holds a kept frame. Its value is 1 there and 0 at the kept frames beside it, with linear
curves, so that vertices move along straight lines in the object's space from one kept frame to the next.
"""

import bpy
import numpy as np

from ...core.cache import FrameCache
from ..scene_io import actions, mesh_io
from ..scene_io.blender_types import DataBlock
from ..scene_io.mesh_io import BAKE_KEY, FloatArray
from ..state import worker_thread
from ..state.jobs import Work
from . import bake_motion, thinning


def carries(obj: bpy.types.Object) -> bool:
    """Whether the object is to move with its body: no other object must follow it, and no parent moves it."""
    return obj.parent is None and not obj.children


def add(obj: bpy.types.Object, cache: FrameCache, number: int, frames: range, times: FloatArray, error: float) -> Work:
    """Give an object keys and curves for the cached frames of a body, within `error` [Blender units] in world space.

    `times`: where curves are evaluated in these frames [frames].

    Yields while a thread chooses the frames. The error that was reached is kept in the object.
    """
    moves = carries(obj)

    def choose() -> tuple[FloatArray, list[mesh_io.Float32Array], list[int], float]:
        positions = np.array([cache.positions(number, frame) for frame in frames])
        worlds = np.array([cache.transform(number, frame) for frame in frames])
        if moves:
            worlds = rigid_motion(positions) @ worlds[0]
        shapes = np.array([mesh_io.to_local(*each) for each in zip(worlds, positions, strict=True)])
        scale = max(float(np.linalg.norm(world[:3, :3], 2)) for world in worlds)
        kept = thinning.fewest(shapes, error / scale)
        return worlds, list(shapes[kept]), kept, thinning.deviation(shapes, kept) * scale

    worlds, shapes, kept, reached = yield from worker_thread.run(choose)
    for place, shape in zip(kept, shapes, strict=True):
        mesh_io.write_key(obj.shape_key_add(name=f"{BAKE_KEY} {frames[place]}", from_mix=False), shape)
    names = [f"{BAKE_KEY} {frames[place]}" for place in kept]
    _add_curves(obj.data.shape_keys, names, times[kept], f"{BAKE_KEY} {obj.name}")
    if moves:
        bake_motion.bake(obj, times, worlds, np.tile(np.eye(4), (len(frames), 1, 1)))
    obj.softpressure.baked_error = reached
    obj.active_shape_key_index = 0
    obj.data.update_tag()


def rigid_motion(positions: mesh_io.Float32Array) -> FloatArray:
    """The rigid motion from the first frame to each that is nearest to all vertices, shape (frame_count, 4, 4).

    `positions`: shape (frame_count, vertex_count, 3). Nearest in the sum of squares (Kabsch 1976).
    """
    centres = positions.mean(axis=1, dtype=float)
    around = positions - centres[:, None].astype(np.float32)
    left, _, right = np.linalg.svd(np.einsum("ni,fnj->fij", around[0], around))
    left[:, :, 2] *= np.linalg.det(left @ right)[:, None]  # no mirroring
    motion = np.tile(np.eye(4), (len(positions), 1, 1))
    motion[:, :3, :3] = np.swapaxes(left @ right, 1, 2)
    motion[:, :3, 3] = centres - motion[:, :3, :3] @ centres[0]
    return motion


def _add_curves(keys: DataBlock, names: list[str], times: FloatArray, name: str) -> None:
    actions.assign(keys, bpy.data.actions.new(name))
    curves = actions.own_curves(keys)
    for place, key_name in enumerate(names):
        near = slice(max(place - 1, 0), place + 2)
        values = (times[near] == times[place]).astype(float)[:, None]
        actions.write_linear(curves, f'key_blocks["{key_name}"].value', times[near], values)
