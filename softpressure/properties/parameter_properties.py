"""Blender's properties of the settings that `core/parameters/` declares."""

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from ...core import parameters as parameters
from ...core.parameters import Parameter as Parameter
from ...core.parameters.methods import FORCE_BASED as FORCE_BASED
from ...core.parameters.methods import SUBSTEPPING as SUBSTEPPING
from ..state import given_values, sessions

Group = Any  # a property group: its members are known to Blender only


def on_change(settings: Group, _context: bpy.types.Context) -> None:
    """Mark the simulation as possibly out of date."""
    sessions.mark({settings.id_data.session_uid})


def _on_given_change(choice: str) -> Any:
    def update(settings: Group, context: bpy.types.Context) -> None:
        if given_values.are_converted():
            from . import conversion

            conversion.convert(settings, choice)
        on_change(settings, context)

    return update


#: Options of a property that a simulation depends on: not animated; a change makes the cache out of date.
SETTING: Any = {"options": set(), "update": on_change}
#: The same, but animated: read in each frame.
ANIMATED: Any = {"update": on_change}
#: What Blender knows of units; for others the tooltip and the label name them.
_UNITS: dict[str, dict[str, str]] = {
    "m": {"unit": "LENGTH"},
    "m/s": {"unit": "VELOCITY", "subtype": "VELOCITY"},
    "rad/s": {"unit": "ROTATION", "subtype": "EULER"},
    "%": {"subtype": "PERCENTAGE"},
}


def vertex_group(name: str, description: str) -> Any:
    """The name of a vertex group that a simulation depends on."""
    return StringProperty(name=name, description=description, **SETTING)


def hidden(make: Callable[..., Any], name: str, description: str, **more: Any) -> Any:
    """A property of a kind that the extension notes for itself in the file."""
    return make(name=name, description=description, options={"HIDDEN"}, **more)


def _property(parameter: Parameter) -> Any:
    """A parameter as Blender's property."""
    keywords: dict[str, Any] = {"name": parameter.label, "description": parameter.tooltip, "default": parameter.default}
    keywords |= ANIMATED if parameter.is_animated else SETTING if parameter.is_dated else {"options": set()}
    if parameter.name in parameters.GIVEN:
        keywords["update"] = _on_given_change(parameter.name)
    if isinstance(parameter.default, bool):
        return BoolProperty(**keywords)
    if parameter.choices:
        return EnumProperty(items=parameter.choices, **keywords)
    least = parameter.low if parameter.least is None else parameter.least
    bounds = {"min": least, "max": parameter.high, "soft_min": parameter.soft_low, "soft_max": parameter.soft_high}
    keywords |= {name: bound for name, bound in bounds.items() if bound is not None} | _UNITS.get(parameter.unit, {})
    if isinstance(parameter.default, int):
        return IntProperty(**keywords)
    keywords |= {"step": parameter.step, "precision": parameter.precision}
    if isinstance(parameter.default, tuple):
        return FloatVectorProperty(size=len(parameter.default), **keywords)
    if (parameter.low, parameter.high) == (0.0, 1.0):
        keywords["subtype"] = "FACTOR"
    return FloatProperty(**keywords)


def properties(*bodies: str) -> dict[str, Any]:
    """Blender's properties of the settings that any of these bodies has, for the annotations of a class."""
    return {each.name: _property(each) for each in parameters.PARAMETERS if {*bodies} & {*each.bodies}}
