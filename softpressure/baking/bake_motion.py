"""Bakes the motion of a rigid body into linear curves of its location and rotation.

The baked action is a copy of the object's own, in which the curves of its transform are replaced; all others are kept.
The own action stays in the file, referenced by a property. Drivers of the transform and constraints are muted, as they
would override the curves, and the values of the transform are stored.
"""

import json
from typing import Any

import bpy
import numpy as np

from ...core import SoftPressureError
from ..scene_io import actions, mesh_io, rigid_pose, rotations
from ..scene_io.blender_types import DataBlock
from ..scene_io.mesh_io import BAKE_KEY, FloatArray

#: Channels of an object's transform, which baking replaces.
_CHANNELS = (
    *("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"),
    *("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale"),
)
_ROTATION_PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
#: How far a matrix may be from location, rotation and scale; float32 leaves 1e-6.
_SHEARED = 1e-4


def check(obj: DataBlock) -> None:
    """Raise if the motion of a rigid body cannot be baked now."""
    if obj.softpressure.is_baked:
        raise SoftPressureError(f"{obj.name}: is baked already. Free the bake first.")
    data = obj.animation_data
    if data is not None and data.use_tweak_mode:
        raise SoftPressureError(f"{obj.name}: an NLA strip of it is being edited. Leave Tweak Mode (Tab) first.")
    if data is not None and any(track.is_solo for track in data.nla_tracks):
        raise SoftPressureError(f"{obj.name}: one of its NLA tracks plays solo. Switch that off before baking.")


def parent_matrix(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> FloatArray:
    """World from parent space (4, 4) in the evaluated frame; the identity if there is no parent."""
    if obj.parent is None:
        return np.eye(4)
    parent = mesh_io.world_matrix(obj.parent.evaluated_get(depsgraph))
    return parent @ np.array(obj.matrix_parent_inverse, dtype=float)


def is_unevenly_scaled(parent: bpy.types.Object) -> bool:
    """Whether a parent is, in this frame, not scaled by the same in all directions."""
    return _is_uneven(mesh_io.world_matrix(parent))


def is_sheared(parent: bpy.types.Object, worlds: FloatArray) -> bool:
    """Whether one of these world matrices, shape (frame_count, 4, 4), is sheared in the space of the parent."""
    axes = np.linalg.pinv(mesh_io.world_matrix(parent)[:3, :3]) @ worlds[:, :3, :3]
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    turns = np.divide(axes, lengths, out=np.zeros_like(axes), where=lengths > 0.0)
    return bool(np.abs(np.swapaxes(turns, 1, 2) @ turns - np.eye(3)).max() > _SHEARED)


def bake(obj: DataBlock, times: FloatArray, worlds: FloatArray, parents: FloatArray) -> None:
    """Write curves through world matrices, shape (frame_count, 4, 4), of an object whose parents are at `parents`.

    `times`: where curves are evaluated in these frames [frames], see `time_mapping.animation_frames`.
    """
    locations, turns, scale = _channels(obj, parents, np.linalg.inv(parents) @ worlds)
    _write_down(obj)
    rigid_pose.remove(obj)
    settings, data = obj.softpressure, obj.animation_data
    own = None if data is None else data.action
    identifier = actions.slot_identifier(obj)
    settings.own_action = own
    action: DataBlock = bpy.data.actions.new(BAKE_KEY) if own is None else own.copy()
    action.name = f"{BAKE_KEY} {obj.name}"
    actions.assign(obj, action, identifier)
    data = obj.animation_data
    data.action_blend_type, data.action_influence, data.action_extrapolation = "REPLACE", 1.0, "HOLD"
    for driver in data.drivers:
        if driver.data_path in _CHANNELS:
            driver.mute = True
    for constraint in obj.constraints:
        constraint.mute = True
    curves = actions.own_curves(obj)
    for curve in [each for each in curves if each.data_path in _CHANNELS]:
        curves.remove(curve)
    actions.write_linear(curves, "location", times, locations)
    mode = obj.rotation_mode
    if mode == "QUATERNION":
        values = rotations.quaternions(turns)
    elif mode == "AXIS_ANGLE":
        values = rotations.axis_angles(turns)
    else:
        values = rotations.eulers(turns, mode)
    actions.write_linear(curves, _ROTATION_PATHS.get(mode, "rotation_euler"), times, values)
    obj.scale = scale
    settings.is_baked = True
    obj.update_tag()


def _write_down(obj: DataBlock) -> None:
    """Store in the object the values that baking will change."""
    data = obj.animation_data
    names = ("action_blend_type", "action_influence", "action_extrapolation")
    drivers = [] if data is None else [d for d in data.drivers if d.data_path in _CHANNELS and not d.mute]
    kept: dict[str, Any] = {
        "values": {name: list(getattr(obj, name)) for name in _CHANNELS},
        "is_animated": data is not None,
        "slot": actions.slot_identifier(obj),
        "blending": {} if data is None else {name: getattr(data, name) for name in names},
        "drivers": [[driver.data_path, driver.array_index] for driver in drivers],
        "constraints": [each.name for each in obj.constraints if not each.mute and not rigid_pose.is_ours(each)],
    }
    obj.softpressure.own_motion = json.dumps(kept)


def _channels(obj: DataBlock, parents: FloatArray, local: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Locations (n, 3), rotation matrices (n, 3, 3) and scale (3,) for an object's own channels, by its matrices in the
    space of its `parents`.

    Blender puts them together as T(location + delta location) (delta rotation) (rotation) S(scale * delta scale).
    """
    delta_scale = np.array(obj.delta_scale, dtype=float)
    scale = np.array(obj.scale, dtype=float) * delta_scale
    lengths = np.linalg.norm(local[0, :3, :3], axis=0)
    if not np.allclose(np.abs(scale), lengths, rtol=1e-5):  # its scale is animated: the size at the start counts
        scale = np.where(scale < 0.0, -lengths, lengths)
    turns = local[:, :3, :3] / scale
    if np.linalg.det(turns[0]) < 0.0:
        scale[0] *= -1.0
        turns = local[:, :3, :3] / scale
    error = np.abs(np.swapaxes(turns, 1, 2) @ turns - np.eye(3)).max()
    if error > _SHEARED or np.linalg.det(turns).min() < 0.0:
        parent = obj.parent.name if obj.parent else ""
        if _is_uneven(parents[0]):
            raise SoftPressureError(
                f"{obj.name}: its parent {parent} is not scaled by the same in all directions, which shears what turns "
                "below it. Clear the parent (Alt P, Keep Transformation) or apply its scale (Ctrl A) before baking."
            )
        raise SoftPressureError(
            f"{obj.name}: its parent {parent} changes its scale by up to {error:.2g} meanwhile. Clear the parent "
            "(Alt P, Keep Transformation) or its animated scale before baking."
        )
    if obj.rotation_mode == "QUATERNION":
        delta = rotations.from_quaternion(np.array(obj.delta_rotation_quaternion, dtype=float))
    elif obj.rotation_mode == "AXIS_ANGLE":
        delta = np.eye(3)  # Blender offers none in this mode
    else:
        delta = rotations.from_euler(np.array(obj.delta_rotation_euler, dtype=float), obj.rotation_mode)
    locations = local[:, :3, 3] - np.array(obj.delta_location, dtype=float)
    if np.any(delta_scale == 0.0):
        raise SoftPressureError(f"{obj.name}: its delta scale has a zero. Clear it (Object > Clear > Delta Transform).")
    return locations, delta.T @ turns, scale / delta_scale


def _is_uneven(matrix: FloatArray) -> bool:
    """Whether a matrix (4, 4) does not scale by the same in all directions."""
    sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    return bool(sizes[0] > (1.0 + _SHEARED) * sizes[-1])
