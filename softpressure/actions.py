"""Animation curves of a data-block, the same from Blender 4.2 (one action) to 5.x (layered actions with slots)."""

from typing import Any

from .blender_types import DataBlock

Curve = Any  # bpy.types.FCurve; the stubs of the versions differ


def curves(owner: DataBlock) -> list[Curve]:
    """The F-curves that act on a data-block, from its action and its NLA strips."""
    data = owner.animation_data
    if data is None:
        return []
    found = _action_curves(data.action, getattr(data, "action_slot", None))
    for track in data.nla_tracks:
        for strip in track.strips:
            found += _action_curves(strip.action, getattr(strip, "action_slot", None))
    return found


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
