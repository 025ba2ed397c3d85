"""Keeps the pose that a frame shows: as shape keys, or as the new shapes and places of the bodies."""

import bpy
import numpy as np
from mathutils import Matrix

from ...core.cache import FrameCache
from . import actions, mesh_io, modifier_stack

#: Name of the shape keys; Blender numbers them.
POSE_KEY = "SP Pose"


def keep_as_keys(objects: list[bpy.types.Object], frame: FrameCache) -> tuple[list[str], list[str]]:
    """Add the shapes of soft bodies as shape keys of value 0. `objects` by their numbers in the frame.

    Returns what was done, and why not the rest, one sentence per object. Rigid bodies stay at their start.
    """
    notes, refusals = [], []
    for number, obj in enumerate(objects):
        if obj.softpressure.kind != "SOFT":
            continue
        if sentence := _deformed(obj):
            refusals.append(sentence)
            continue
        index = obj.active_shape_key_index
        key = obj.shape_key_add(name=POSE_KEY, from_mix=False)
        key.value = 0.0
        mesh_io.write_key(key, _shape(obj, frame, number))
        obj.active_shape_key_index = index
        notes.append(f"{obj.name}: its pose is the shape key {key.name}")
    return notes, refusals


def keep_as_start(objects: list[bpy.types.Object], frame: FrameCache) -> tuple[list[str], list[str]]:
    """Make the shapes of soft bodies their own, and the places of rigid bodies; arguments and results likewise."""
    notes, refusals = [], []
    for number, obj in enumerate(objects):
        sentence = (_deformed(obj) or _mixed(obj)) if obj.softpressure.kind == "SOFT" else _led(obj)
        if sentence:
            refusals.append(sentence)
            continue
        if obj.softpressure.kind == "SOFT":
            local = _shape(obj, frame, number)
            mesh_io.write_key(obj.data.shape_keys.reference_key, local)
            obj.data.attributes["position"].data.foreach_set("vector", local.ravel())
            obj.data.update()
        else:
            obj.matrix_world = Matrix(frame.transform(number, frame.last_frame).tolist())
        notes.append(f"{obj.name}: starts from this pose")
    return notes, refusals


def _shape(obj: bpy.types.Object, frame: FrameCache, number: int) -> mesh_io.Float32Array:
    """Positions of a body in the last frame, object space."""
    return mesh_io.to_local(mesh_io.world_matrix(obj), np.asarray(frame.positions(number, frame.last_frame)))


def _deformed(obj: bpy.types.Object) -> str:
    """Why the pose of a soft body cannot be kept; empty if it can."""
    name = modifier_stack.first_deforming(obj)
    if not name:
        return ""
    return f"{obj.name}: its modifier {name} would deform the pose again. Apply or disable it, then play again."


def _mixed(obj: bpy.types.Object) -> str:
    """Why the pose of a soft body cannot be its rest shape; empty if it can."""
    keys = modifier_stack.mixed_keys(obj)
    if not keys:
        return ""
    return f"{obj.name}: its shape key {keys[0].name} would deform the pose again. Set it to 0, then play again."


def _led(obj: bpy.types.Object) -> str:
    """Why the place of a rigid body cannot be kept; empty if it can."""
    paths = [
        path for path in actions.animated_paths(obj) if path.startswith(("location", "rotation", "scale", "delta"))
    ]
    if not paths:
        return ""
    return f"{obj.name}: its {min(paths)} is animated, which places it at the start. Remove that animation first."
