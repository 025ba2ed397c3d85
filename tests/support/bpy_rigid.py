"""Rigid boxes on the timeline, and what moves them."""

from typing import Any

import bpy
import numpy as np
from bpy_scene import add_primitive, give
from bpy_seen import this_run

SPIN = (1.0, 5.0, -2.0)
#: Blender keeps float32 angles and matrices; places lie within 10 m.
ROUNDING = 2e-6


def add_box(name: str = "Box", location: Any = (0, 0, 5), **settings: Any) -> Any:
    """A rigid box that turns."""
    box = add_primitive("cube", "RIGID", name, size=1.0, location=location)
    return give(box, **{"angular_velocity": SPIN, **settings})


def matrix(obj: Any) -> Any:
    """World matrix as anyone would see it."""
    return np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)


def transforms(last: int, number: int = 0) -> dict[int, Any]:
    cache = this_run().cache
    return {at: cache.transform(number, at).copy() for at in range(1, last + 1)}


def animate(obj: Any) -> Any:
    """Own motion that the simulation must leave alone: curves, a driver, a constraint."""
    for number, location in ((1, (0, 0, 5)), (10, (3, 2, 1))):
        obj.location = location
        obj.keyframe_insert("location", frame=number)
    obj.driver_add("rotation_euler", 2).driver.expression = "0.1 * frame"
    limit = obj.constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x = True, 2.0
    return obj


def own_state(obj: Any) -> dict[str, Any]:
    """Everything that moves an object, to compare exactly."""
    names = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale", "rotation_mode")
    names += ("delta_location", "delta_rotation_euler", "delta_scale")
    data = obj.animation_data
    values = {name: getattr(obj, name) for name in names}
    return {
        "values": {name: value if isinstance(value, str) else tuple(value) for name, value in values.items()},
        "action": None if data is None or data.action is None else data.action.name,
        "drivers": [] if data is None else [(d.data_path, d.array_index, d.mute) for d in data.drivers],
        "constraints": [(c.name, c.type, c.mute) for c in obj.constraints],
        "parent": obj.parent,
    }
