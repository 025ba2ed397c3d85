"""Hoses: objects that link the gas of two soft bodies. A hose takes part while both of its bodies do and have gas."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy

from ...core.parameters import SKINS
from . import actions

if TYPE_CHECKING:
    from ...core import ModelBuilder

#: Types of objects that can be hoses.
TYPES = ("EMPTY", "CURVE")
#: Size of a new hose in the viewport, as a share of the distance of its bodies.
_SIZE = 0.15


@dataclass(frozen=True, slots=True)
class Hose:
    """One hose at the first frame."""

    object_uid: int
    ends: tuple[int, int]  # `session_uid` of the two bodies
    conductance: float  # [m^3/s]
    valve: float

    def add_to(self, builder: "ModelBuilder", one: int, other: int) -> None:
        """Add it to a builder, between two soft bodies."""
        builder.add_hose(one, other, conductance=self.conductance, valve=self.valve)


def has_gas(obj: bpy.types.Object) -> bool:
    """Whether an object is a soft body with gas, which can be an end of a hose."""
    settings = obj.softpressure
    return obj.type == "MESH" and settings.kind == "SOFT" and settings.body_type in SKINS


def is_hose(obj: bpy.types.Object | None) -> bool:
    """Whether an object is a hose."""
    return obj is not None and obj.type in TYPES and bool(obj.softpressure.is_hose)


def of_scene(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The hoses of a scene, by name."""
    return sorted((obj for obj in scene.objects if is_hose(obj)), key=lambda obj: obj.name_full)


def at(scene: bpy.types.Scene, body: bpy.types.Object) -> list[bpy.types.Object]:
    """The hoses that end at a body."""
    return [obj for obj in of_scene(scene) if body in (obj.softpressure.hose_from, obj.softpressure.hose_to)]


def ends(obj: bpy.types.Object) -> tuple[bpy.types.Object | None, bpy.types.Object | None]:
    """The two bodies of a hose, None where there is none."""
    return obj.softpressure.hose_from, obj.softpressure.hose_to


def link(obj: bpy.types.Object, one: bpy.types.Object, other: bpy.types.Object) -> None:
    """Make an empty or a curve the hose between two bodies."""
    settings = obj.softpressure
    settings.is_hose, settings.hose_from, settings.hose_to = True, one, other


def add(scene: bpy.types.Scene, one: bpy.types.Object, other: bpy.types.Object) -> bpy.types.Object:
    """A new hose between two bodies: an empty half-way."""
    obj = bpy.data.objects.new("Hose", None)
    middles = [end.matrix_world.translation for end in (one, other)]
    obj.location = 0.5 * (middles[0] + middles[1])
    obj.empty_display_type, obj.show_in_front = "SPHERE", True
    obj.empty_display_size = _SIZE * (middles[0] - middles[1]).length or _SIZE
    link(obj, one, other)
    (one.users_collection or (scene.collection,))[0].objects.link(obj)
    return obj


def capture(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, bodies: Iterable[int]) -> list[Hose]:
    """The hoses between bodies with gas that take part, by their `session_uid`, at the present frame."""
    known, found = {*bodies}, []
    for obj in of_scene(scene):
        one, other = ends(obj)
        if one is None or other is None or one == other or not {one.session_uid, other.session_uid} <= known:
            continue
        if not (has_gas(one) and has_gas(other)):
            continue
        uids = (one.session_uid, other.session_uid)
        found.append(Hose(obj.session_uid, uids, obj.softpressure.conductance, valve_of(obj, depsgraph)))
    return found


def valve_of(obj: bpy.types.Object | None, depsgraph: bpy.types.Depsgraph) -> float:
    """How far a hose is open at the present frame; one that is not evaluated (disabled in viewports) is closed."""
    evaluated = None if obj is None else obj.evaluated_get(depsgraph)
    is_on = evaluated is not None and evaluated.is_evaluated and not evaluated.hide_viewport  # which may be keyed
    return float(evaluated.softpressure.valve) if is_on else 0.0


def animated_paths(obj: bpy.types.Object) -> set[str]:
    """RNA paths of a hose that are read in each frame and animated."""
    return actions.animated_paths(obj) & {"softpressure.valve", "hide_viewport"}
