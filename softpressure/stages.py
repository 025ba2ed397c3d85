"""Stages of a soft body's mesh: its own rest shape, the input of the simulation, or its output.

The live shape key comes before all modifiers. Deforming modifiers at the head of the stack (Armature, Lattice, ...)
shape the input: the rest shape and the pins. They must not deform the output a second time, so they are off while it is
shown. All others deform the output and are off while the input is read.
"""

import json
from collections.abc import Iterator
from enum import Enum

import bpy

from . import actions, mesh_io

_DEFORMING = {
    *("ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LAPLACIANSMOOTH"),
    *("LATTICE", "MESH_CACHE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM"),
    *("VOLUME_DISPLACE", "WARP", "WAVE"),
}
#: Change neither positions nor topology.
PASSIVE = {
    *("COLLISION", "DATA_TRANSFER", "NORMAL_EDIT", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX"),
    *("VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL"),
}


class Stage(Enum):
    """What a soft body's mesh shows."""

    REST = "as if there were no simulation"
    INPUT = "what the simulation starts from"
    OUTPUT = "what it makes"


def is_read_in_each_frame(obj: bpy.types.Object) -> bool:
    """Whether a soft body's own shape is an input in every frame: pins, goals, or all of it while inactive."""
    settings = obj.softpressure
    return bool(settings.pin_group or settings.goal_group or may_be_held(obj))


def may_be_held(obj: bpy.types.Object) -> bool:
    """Whether a body follows its own animation in some frames."""
    return not obj.softpressure.is_active or "softpressure.is_active" in actions.animated_paths(obj)


def input_modifiers(obj: bpy.types.Object) -> Iterator[tuple[int, bpy.types.Modifier, bool]]:
    """Position, modifier and the user's visibility, of those that shape the input."""
    own = _own_visibility(obj)
    for index, modifier in enumerate(obj.modifiers):
        if obj.softpressure.kind == "SOFT" and modifier.type not in _DEFORMING | PASSIVE:
            return
        yield index, modifier, own.get(modifier.name, (modifier.show_viewport, True))[0]


def show(obj: bpy.types.Object, stage: Stage) -> None:
    """Make the evaluated mesh of a soft body show this stage; writes only changes."""
    key = mesh_io.live_key(obj)
    is_muted = stage is not Stage.OUTPUT
    if key is not None and key.mute != is_muted:
        key.mute = is_muted
    if not obj.modifiers:
        return
    own = _own_visibility(obj)
    input_count = sum(1 for _ in input_modifiers(obj))
    hidden: dict[str, tuple[bool, bool]] = {}
    for index, modifier in enumerate(obj.modifiers):
        wanted = own.get(modifier.name, (modifier.show_viewport, modifier.show_render))
        is_off = (stage is Stage.INPUT and index >= input_count) or (
            stage is Stage.OUTPUT and index < input_count and modifier.type in _DEFORMING
        )
        if is_off and any(wanted):
            hidden[modifier.name] = wanted
            wanted = (False, False)
        if (modifier.show_viewport, modifier.show_render) != wanted:
            modifier.show_viewport, modifier.show_render = wanted
    text = json.dumps(hidden) if hidden else ""
    if obj.softpressure.hidden_modifiers != text:
        obj.softpressure.hidden_modifiers = text


def _own_visibility(obj: bpy.types.Object) -> dict[str, tuple[bool, bool]]:
    """The user's (viewport, render) visibility of the modifiers that are switched off now."""
    text = obj.softpressure.hidden_modifiers
    return {name: (bool(a), bool(b)) for name, (a, b) in json.loads(text).items()} if text else {}


def first_deforming(obj: bpy.types.Object) -> str:
    """The name of the first visible modifier that shapes the input of a soft body; empty if there is none."""
    found = (
        modifier.name for _, modifier, is_shown in input_modifiers(obj) if is_shown and modifier.type in _DEFORMING
    )
    return next(found, "")
