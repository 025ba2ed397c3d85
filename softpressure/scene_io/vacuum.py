"""Pressures below 0: the pressure is held, and the air around a light skin slows it.

An amount of gas holds no negative pressure: the body shrinks by a little, and it is gone. So a body whose pressure is
below 0 at any frame has its pressure held throughout. What a vacuum does to a skin of little mass would be at the speed
of a shot, if the air outside had not to follow.
"""

import math
from typing import Any

import bpy
import numpy as np

from . import actions
from .mesh_io import FloatArray, IntArray

_PATH = "softpressure.gauge_pressure"
#: What lets gas in or out, so that no pressure can be held.
_FLOWS = {"tear_strain": "it may tear", "pump_rate": "it has a pump", "leak_diameter": "it has a leak"}


def lowest_pressure(scene: bpy.types.Scene, obj: bpy.types.Object) -> float:
    """Least pressure of a body within the frames of a simulation [Pa], as its keys say."""
    curves = [curve for curve in actions.curves(obj) if curve.data_path == _PATH]
    if not curves:
        return float(obj.softpressure.gauge_pressure)
    settings = scene.softpressure
    first, last = settings.frame_start, settings.frame_end
    return min(float(curve.evaluate(frame)) for curve in curves for frame in range(first, last + 1))


def is_held(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Whether the pressure of a body is held as it falls below 0."""
    return _falls_below(scene, obj) and not _obstacle(scene, obj)


def text(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """What the panel says of a pressure below 0; empty for others."""
    if not _falls_below(scene, obj):
        return ""
    if why := _obstacle(scene, obj):
        return f"Pressures below 0 are not kept, as {why}: the amount of gas is held"
    return "The pressure is held, as it falls below 0"


def _falls_below(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    settings = obj.softpressure
    holds_amount = settings.gas_by == "PRESSURE" and settings.gas_hold == "AMOUNT"
    return bool(holds_amount and lowest_pressure(scene, obj) < 0.0)


def _obstacle(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    settings, animated = obj.softpressure, actions.animated_paths(obj)
    for name, why in _FLOWS.items():
        if getattr(settings, name) > 0.0 or f"softpressure.{name}" in animated:
            return why
    if any(obj in (other.softpressure.hose_from, other.softpressure.hose_to) for other in scene.objects):
        return "it has a hose"
    return "the method XPBD holds amounts only" if scene.softpressure.solver == "XPBD" else ""


def damping(pressure: float, positions: FloatArray, triangles: IntArray, settings: dict[str, Any]) -> float:
    """Rate [1/s] at which the air damps a skin that a pressure below 0 [Pa] moves; 0 for others.

    It is that of the fall through its own size: the root of the force over mass and size.
    """
    if not pressure < 0.0:
        return 0.0
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    mass = settings["mass"] if "mass" in settings else settings["point_mass"] * len(positions)
    return math.sqrt(-pressure * area / (mass * math.sqrt(area / math.pi)))
