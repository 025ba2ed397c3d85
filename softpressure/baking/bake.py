"""Bakes the cache into shape keys that play in any Blender, and removes the bake.

Rigid bodies become curves of location and rotation instead (`bake_motion.py`). Soft bodies get absolute keys: key `i`
holds the i-th cached frame at `eval_time` i; one linear curve runs from 1 to the number of keys. So frames are exact,
sub-frames lie in between, and a frame costs Blender next to nothing. Or they get relative keys (`relative_keys.py`).
A person's own shape keys stay beside them: absolute ones come before, and relative ones are muted.
"""

import math
from collections.abc import Generator

import bpy
import numpy as np

from ...core import CacheError, SoftPressureError
from ...core.cache import FrameCache
from ..cache import playback
from ..scene_io import actions, live_key, mesh_io, modifier_stack, own_mesh, point_attributes, rigid_pose, time_mapping
from ..scene_io.baked import free_object
from ..scene_io.blender_types import DataBlock
from ..scene_io.mesh_io import FloatArray
from ..state import sessions
from ..state.jobs import Progress, Work
from . import bake_motion, relative_keys


def cached_frames(scene: bpy.types.Scene) -> tuple[FrameCache, range, list[bpy.types.Object]]:
    """The cache of a scene, its frames within the frame range, and the objects of its bodies.

    Raises `CacheError` if it holds none, or those of other settings.
    """
    session = sessions.of(scene)
    cache = session.run.cache
    if cache is None or not cache.frame_count:
        raise CacheError(f"{scene.name}: there are no cached frames. Press Simulate first.")
    if session.is_out_of_date(scene):
        raise CacheError(f"{scene.name}: the cached frames are out of date. Press Simulate again.")
    frames = range(cache.first_frame, min(cache.last_frame, scene.softpressure.frame_end) + 1)
    by_uid = {obj.session_uid: obj for obj in scene.objects}
    return cache, frames, [by_uid[uid] for uid in session.run.object_uids]


def check(scene: bpy.types.Scene, is_relative: bool = True) -> None:
    """Raise `SoftPressureError` if a scene cannot be baked now, to relative or to absolute keys."""
    for obj in cached_frames(scene)[2]:
        is_soft = obj.softpressure.kind == "SOFT"
        if is_soft:
            _check(obj)
        if not is_soft or obj.softpressure.origin_follows or (is_relative and relative_keys.carries(obj)):
            bake_motion.check(obj)


def bake(scene: bpy.types.Scene, error: float | None = None) -> Work:
    """Turn the cached frames of all bodies into shape keys and keyframes; yields after each frame.

    Without `error` keys are absolute, one per frame; else relative, and as few as keep every vertex within this
    distance [Blender units] of the cached frames. Raises `CacheError` if there is nothing valid to bake. If it is
    stopped half-way, nothing is baked.
    """
    session = sessions.of(scene)
    cache, frames, objects = cached_frames(scene)
    times = time_mapping.animation_frames(scene, frames)
    soft = {number: obj for number, obj in enumerate(objects) if obj.softpressure.kind == "SOFT"}
    rigid = {number: obj for number, obj in enumerate(objects) if obj.softpressure.kind == "RIGID"}
    check(scene, error is not None)
    following = {} if error is not None else {n: obj for n, obj in soft.items() if obj.softpressure.origin_follows}
    parents = yield from _parents(scene, rigid | following, frames)
    is_done = False
    try:
        for obj in soft.values():
            _begin(obj)
        if error is None:
            for obj in soft.values():
                obj.data.shape_keys.use_relative = False
            before = {number: _first_time(obj) for number, obj in soft.items()}
            for sample, frame in enumerate(frames, start=1):
                for number, obj in soft.items():
                    _add_sample(obj, before[number] + sample, frame, cache, number)
                yield sample, len(frames), f"Baking frame {frame}"
            for obj in soft.values():
                _add_curve(obj, times)
        else:
            for number, obj in soft.items():
                yield number, len(soft), f"Thinning the frames of {obj.name}"
                yield from relative_keys.add(obj, cache, number, frames, times, error)
        for number, obj in (rigid | following).items():
            worlds = np.array([_place(obj, cache, number, frame) for frame in frames])
            bake_motion.bake(obj, times, worlds, parents[number])
        is_done = True
    finally:
        session.display.shown.clear()
        if not is_done:
            for obj in objects:
                free_object(obj)
            playback.show_again(scene)


def free(scene: bpy.types.Scene) -> int:
    """Remove all bakes of a scene; returns how many objects had one. Raises `SoftPressureError` in Edit Mode."""
    baked = sessions.baked(scene)
    for obj in baked:
        if mesh_io.is_edited(obj):
            raise SoftPressureError(f"{obj.name}: is in Edit Mode. Leave it (Tab) before its bake is freed.")
    for obj in baked:
        free_object(obj)
    session = sessions.of(scene)
    session.display.shown.clear()
    session.refusals.error = ""  # it may say that a bake is in the way
    playback.show_again(scene)
    return len(baked)


def _parents(
    scene: bpy.types.Scene, rigid: dict[int, bpy.types.Object], frames: range
) -> Generator[Progress, None, dict[int, FloatArray]]:
    """World from parent space of every rigid body at every frame, shape (frame_count, 4, 4); yields after each frame.

    Only parents need the timeline to be played.
    """
    found = {number: np.tile(np.eye(4), (len(frames), 1, 1)) for number in rigid}
    children = {number: obj for number, obj in rigid.items() if obj.parent is not None}
    if not children:
        return found
    shown_frame = scene.frame_current
    try:
        for sample, frame in enumerate(frames):
            scene.frame_set(frame)
            depsgraph: DataBlock = scene.view_layers[0].depsgraph
            for number, obj in children.items():
                found[number][sample] = bake_motion.parent_matrix(obj, depsgraph)
            yield sample + 1, len(frames), f"Reading parents in frame {frame}"
    finally:
        scene.frame_set(shown_frame)
    return found


def _check(obj: bpy.types.Object) -> None:
    """Raise if an object cannot be baked now."""
    if mesh_io.is_edited(obj):
        raise SoftPressureError(f"{obj.name}: is in Edit Mode. Leave it (Tab) before baking.")
    if obj.softpressure.is_baked:
        raise SoftPressureError(f"{obj.name}: is baked already. Free the bake first.")
    keys: DataBlock = obj.data.shape_keys
    paths = set() if keys is None else actions.animated_paths(keys)
    for path in sorted(paths):
        if path == "eval_time" or path.startswith(f'key_blocks["{mesh_io.LIVE_KEY}"]'):
            raise SoftPressureError(
                f"{obj.name}: its shape keys are animated ({path}). Remove that animation before baking."
            )


def _begin(obj: bpy.types.Object) -> None:
    """Remove the live key and the attributes of one frame, and show what the simulation makes."""
    own_mesh.ensure(obj)
    live_key.ensure(obj)
    rigid_pose.remove(obj)
    modifier_stack.show(obj, modifier_stack.Stage.OUTPUT)
    point_attributes.remove(obj.data, point_attributes.STRAIN, point_attributes.FORCE)
    obj.softpressure.is_baked = True
    live = mesh_io.live_key(obj)
    if live is not None:
        obj.shape_key_remove(live)
    keys: DataBlock = obj.data.shape_keys
    if keys is not None and keys.animation_data is not None:
        obj.softpressure.own_key_action = keys.animation_data.action
        obj.softpressure.own_key_slot = actions.slot_identifier(keys)
        actions.assign(keys, None)


def _first_time(obj: bpy.types.Object) -> int:
    """The evaluation time before the first baked key: that of the last of the person's own."""
    return max((math.ceil(key.frame) for key in modifier_stack.own_keys(obj)), default=0)


def _add_sample(obj: bpy.types.Object, time: int, frame: int, cache: FrameCache, number: int) -> None:
    obj.data.shape_keys.eval_time = time  # a new absolute key is placed there
    key = obj.shape_key_add(name=f"{mesh_io.BAKE_KEY} {frame}", from_mix=False)
    key.interpolation = "KEY_LINEAR"
    mesh_io.write_key(key, mesh_io.to_local(_place(obj, cache, number, frame), cache.positions(number, frame)))


def _place(obj: bpy.types.Object, cache: FrameCache, number: int, frame: int) -> FloatArray:
    """World matrix (4, 4) of the object of a body in a cached frame."""
    matrix = cache.transform(number, frame)
    if obj.softpressure.kind == "SOFT" and obj.softpressure.origin_follows:
        matrix[:3, 3] = playback.origin(cache, number, frame)
    return matrix


def _add_curve(obj: bpy.types.Object, times: FloatArray) -> None:
    keys: DataBlock = obj.data.shape_keys
    before, ends = _first_time(obj), np.unique([1, len(times)])
    # an action of its own: keys that are inserted would go into that of the object
    actions.assign(keys, bpy.data.actions.new(f"{mesh_io.BAKE_KEY} {obj.name}"))
    actions.write_linear(actions.own_curves(keys), "eval_time", times[ends - 1], before + ends[:, None])
    obj.active_shape_key_index = 0
    obj.data.update_tag()
