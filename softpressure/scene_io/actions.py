"""Animation curves of a data-block, the same from Blender 4.2 (one action) to 5.x (layered actions with slots)."""

from typing import Any

import bpy
import numpy as np

from .blender_types import DataBlock

#: `Keyframe.interpolation` as a number, for `foreach_set`.
_LINEAR = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value

#: What places an NLA strip in time, and mixes it with those below.
_PLACING = (
    *("mute", "frame_start", "frame_end", "action_frame_start", "action_frame_end", "scale", "repeat", "use_reverse"),
    *("blend_type", "blend_in", "blend_out", "extrapolation", "use_animated_influence", "use_animated_time"),
    "use_animated_time_cyclic",
)

Curve = Any  # bpy.types.FCurve; the stubs of the versions differ


def curves(owner: DataBlock) -> list[Curve]:
    """The F-curves of a data-block, from its action and its NLA strips."""
    data = owner.animation_data
    if data is None:
        return []
    found = _action_curves(data.action, getattr(data, "action_slot", None))
    for strip in _strips(data):
        found += _action_curves(strip.action, getattr(strip, "action_slot", None))
    return found


def _strips(data: Any) -> list[Any]:
    """The NLA strips of animation data, those within others after them."""
    found = [strip for track in data.nla_tracks for strip in track.strips]
    for strip in found:
        found += strip.strips  # visited in turn
    return found


def placing(owner: DataBlock) -> tuple[list[Any], list[Curve]]:
    """How the NLA places and mixes the actions of a data-block: plain values, and the curves of strips themselves.

    Empty without tracks.
    """
    data = owner.animation_data
    if data is None or not data.nla_tracks:
        return [], []
    values = [data.use_nla, data.action_blend_type, data.action_influence, data.action_extrapolation]
    values += [(track.mute, track.is_solo, len(track.strips)) for track in data.nla_tracks]
    strips = _strips(data)
    values += [[getattr(strip, name) for name in _PLACING] for strip in strips]
    return values, [curve for strip in strips for curve in strip.fcurves]


def drivers(owner: DataBlock) -> list[Curve]:
    """The driver curves of a data-block."""
    return [] if owner.animation_data is None else list(owner.animation_data.drivers)


def animated_paths(owner: DataBlock) -> set[str]:
    """RNA paths of a data-block that its curves or drivers set."""
    return {curve.data_path for curve in (*curves(owner), *drivers(owner))}


def _action_curves(action: Any, slot: Any) -> list[Curve]:
    if action is None:
        return []
    if not hasattr(action, "layers"):  # before Blender 4.4
        return list(action.fcurves)
    if slot is None:
        return []
    bags = [strip.channelbag(slot) for layer in action.layers for strip in layer.strips]
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def own_curves(owner: DataBlock) -> Any:
    """The collection of F-curves of a data-block's own action, to add to and remove from."""
    data = owner.animation_data
    action = data.action
    if not hasattr(action, "layers"):  # before Blender 4.4
        return action.fcurves
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(data.action_slot, ensure=True).fcurves


def assign(owner: DataBlock, action: Any, slot_identifier: str = "") -> None:
    """Assign an action, or none, to a data-block, with the slot of this identifier, which is made if there is none."""
    data = owner.animation_data or owner.animation_data_create()
    data.action = action
    if action is None or not hasattr(action, "slots"):
        return
    found = [slot for slot in action.slots if slot.identifier == slot_identifier]
    data.action_slot = found[0] if found else action.slots.new(id_type=owner.id_type, name=owner.name)


def slot_identifier(owner: DataBlock) -> str:
    """The slot of its action that animates a data-block; empty if there is none, or before Blender 4.4."""
    slot = getattr(owner.animation_data, "action_slot", None)
    return "" if slot is None else str(slot.identifier)


def write_linear(curves: Any, path: str, frames: Any, values: Any) -> None:
    """Linear curves, one per column of `values`, shape (frame_count, channel_count), in place of any there."""
    for index in range(values.shape[1]):
        old = curves.find(path, index=index)
        if old is not None:
            curves.remove(old)
        curve = curves.new(path, index=index)
        points = curve.keyframe_points
        points.add(len(frames))
        points.foreach_set("co", np.column_stack([frames, values[:, index]]).astype(np.float32).ravel())
        points.foreach_set("interpolation", np.full(len(frames), _LINEAR, np.int32))
        curve.update()
