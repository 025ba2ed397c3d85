"""Stages of a soft body's mesh: its own rest shape, the input of the simulation, or its output.

The live shape key comes before all modifiers. Deforming modifiers at the head of the stack (Armature, Lattice, ...)
shape the input: the rest shape and the pins. They must not deform the output a second time, so they are off while it is
shown. All others deform the output and are off while the input is read. What is seen of the body without simulation is
what the whole stack makes of its own shape.
"""

import json
from collections.abc import Iterator
from enum import Enum
from typing import Any

import bpy

from . import actions, mesh_io

_DEFORMING = {
    *("ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LAPLACIANSMOOTH"),
    *("LATTICE", "MESH_CACHE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM"),
    *("VOLUME_DISPLACE", "WARP", "WAVE"),
}
#: What the names of shape keys that are not the person's start with: the live key, and those of a bake.
_OUR_KEYS = (mesh_io.LIVE_KEY, mesh_io.BAKE_KEY)
#: Change neither positions nor topology, and are never switched off: particles would begin anew.
PASSIVE = {
    *("COLLISION", "DATA_TRANSFER", "DYNAMIC_PAINT", "NORMAL_EDIT", "PARTICLE_SYSTEM", "SURFACE", "UV_PROJECT"),
    *("UV_WARP", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL"),
}
#: Show parts of a mesh where it has no vertices, or what depends on more than its shape: it cannot follow.
_REPEATING = {
    *("ARRAY", "BUILD", "EXPLODE", "FLUID", "MESH_SEQUENCE_CACHE", "MIRROR", "OCEAN", "PARTICLE_INSTANCE", "SCREW"),
}
#: Simulate what comes before them.
_SOLVERS = {"CLOTH", "SOFT_BODY"}
#: Node group that hides what has torn in a run: it shapes nothing that a run starts from.
HIDES_TORN = "Hide Torn Faces"


class Stage(Enum):
    """What a soft body's mesh shows."""

    REST = "as if there were no simulation"
    INPUT = "what the simulation starts from"
    SEEN = "what is seen of it without simulation, but for what cannot follow"
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


def is_shown(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> bool:
    """Whether the user sees a modifier in the viewport."""
    return _own_visibility(obj).get(modifier.name, (modifier.show_viewport, True))[0]


def first_repeating(obj: bpy.types.Object) -> str:
    """The name of the first visible modifier that shows what cannot follow drawn vertices; empty if there is none."""
    return _first(obj, _REPEATING)


def first_solver(obj: bpy.types.Object) -> str:
    """The name of the first visible modifier that simulates an object's mesh; empty if there is none."""
    return _first(obj, _SOLVERS)


def first_thickening(obj: bpy.types.Object) -> str:
    """The name of the first visible Solidify that adds a side behind the drawn faces; empty if there is none.

    It is drawn at the full thickness, however much that is squeezed.
    """
    found = (each for each in obj.modifiers if each.type == "SOLIDIFY" and each.thickness and each.offset < 1.0)
    return next((each.name for each in found if is_shown(obj, each)), "")


def _first(obj: bpy.types.Object, types: set[str]) -> str:
    return next((each.name for each in obj.modifiers if each.type in types and is_shown(obj, each)), "")


def seen_count(obj: bpy.types.Object) -> int:
    """How many modifiers at the head of the stack make what is seen of a body, but for what cannot follow."""
    name = _first(obj, _REPEATING | _SOLVERS)
    return obj.modifiers.find(name) if name else len(obj.modifiers)


def shaping_modifiers(obj: bpy.types.Object) -> Iterator[tuple[int, bpy.types.Modifier, bool]]:
    """Position, modifier and the user's visibility, of those that shape what is simulated of a body.

    Where the drawn mesh follows another one, these are also those that show more than its vertices.
    """
    found = list(input_modifiers(obj))
    yield from found
    if obj.softpressure.kind == "SOFT" and obj.softpressure.simulation_mesh != "DRAWN":
        for index in range(len(found), seen_count(obj)):
            if not _hides_torn(obj.modifiers[index]):
                yield index, obj.modifiers[index], is_shown(obj, obj.modifiers[index])


def hides_torn_faces(obj: bpy.types.Object) -> bool:
    """Whether an object has a modifier that hides its torn faces."""
    return any(_hides_torn(modifier) for modifier in obj.modifiers)


def _hides_torn(modifier: bpy.types.Modifier) -> bool:
    group = getattr(modifier, "node_group", None)
    return group is not None and group.name == HIDES_TORN


def is_modified(obj: bpy.types.Object) -> bool:
    """Whether modifiers show something else than the drawn vertices of a body that follows another mesh."""
    input_count = sum(1 for _ in input_modifiers(obj))
    return any(
        is_on and index >= input_count and modifier.type not in PASSIVE
        for index, modifier, is_on in shaping_modifiers(obj)
    )


def own_keys(obj: bpy.types.Object) -> list[bpy.types.ShapeKey]:
    """The shape keys of an object that a person made: all but the first, the live key and those of a bake."""
    keys: Any = obj.data.shape_keys
    return [] if keys is None else [key for key in keys.key_blocks[1:] if not key.name.startswith(_OUR_KEYS)]


def mixed_keys(obj: bpy.types.Object) -> list[bpy.types.ShapeKey]:
    """Those of them whose mix is part of the rest shape: neither muted by the person nor at 0 for good."""
    animated, hidden = set[str](), _hidden_keys(obj)
    if obj.data.shape_keys is not None:
        animated = actions.animated_paths(obj.data.shape_keys)
    found = [key for key in own_keys(obj) if key.value != 0.0 or f'key_blocks["{key.name}"].value' in animated]
    return [key for key in found if not key.mute or key.name in hidden]


def show(obj: bpy.types.Object, stage: Stage) -> None:
    """Make the evaluated mesh of a soft body show this stage; writes only changes."""
    key = mesh_io.live_key(obj)
    is_muted = stage is not Stage.OUTPUT
    if key is not None and key.mute != is_muted:
        key.mute = is_muted
    _show_own_keys(obj, is_muted)
    if not obj.modifiers:
        return
    own = _own_visibility(obj)
    input_count, shown_count = sum(1 for _ in input_modifiers(obj)), seen_count(obj)
    hidden: dict[str, tuple[bool, bool]] = {}
    for index, modifier in enumerate(obj.modifiers):
        wanted = own.get(modifier.name, (modifier.show_viewport, modifier.show_render))
        is_off = {
            Stage.REST: False,
            Stage.INPUT: index >= input_count,
            Stage.SEEN: index >= shown_count or _hides_torn(modifier),
            Stage.OUTPUT: index < input_count and modifier.type in _DEFORMING,
        }[stage]
        if is_off and modifier.type not in PASSIVE and any(wanted):
            hidden[modifier.name] = wanted
            wanted = (False, False)
        if (modifier.show_viewport, modifier.show_render) != wanted:
            modifier.show_viewport, modifier.show_render = wanted
    text = json.dumps(hidden) if hidden else ""
    if obj.softpressure.hidden_modifiers != text:
        obj.softpressure.hidden_modifiers = text


def _hidden_keys(obj: bpy.types.Object) -> list[str]:
    """Names of the own shape keys that are muted while the simulated shape, which has their mix in it, is shown."""
    text = obj.softpressure.hidden_keys
    return list(json.loads(text)) if text else []


def _show_own_keys(obj: bpy.types.Object, are_shown: bool) -> None:
    """Let the person's shape keys act, or mute those that do."""
    hidden = _hidden_keys(obj)
    if are_shown and not hidden:
        return
    for key in own_keys(obj):
        if are_shown and key.name in hidden:
            key.mute = False
        elif not are_shown and not key.mute:
            key.mute = True
            hidden.append(key.name)
    text = json.dumps(hidden) if hidden and not are_shown else ""
    if obj.softpressure.hidden_keys != text:
        obj.softpressure.hidden_keys = text


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
