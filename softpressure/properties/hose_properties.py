"""Settings of hoses: empties or curves that link the gas of two soft bodies."""

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty

from ..scene_io import hoses
from .parameter_properties import ANIMATED, SETTING, Group, hidden


def _has_gas(_settings: Group, obj: bpy.types.Object) -> bool:
    """Whether an object is offered as an end of a hose."""
    return hoses.has_gas(obj)


class Hose:
    """What an object has that is a hose."""

    is_hose: hidden(BoolProperty, "Hose", "Whether the object is a hose")
    hose_from: PointerProperty(
        name="From",
        description="Inflated body at one end of the hose",
        type=bpy.types.Object,
        poll=_has_gas,
        **SETTING,
    )
    hose_to: PointerProperty(
        name="To",
        description="Inflated body at the other end of the hose",
        type=bpy.types.Object,
        poll=_has_gas,
        **SETTING,
    )
    conductance: FloatProperty(
        name="Flow Rate",
        description="Pressure times volume that flows per second and pascal of difference, in m³/s",
        default=50.0,
        min=0.0,
        soft_max=1_000.0,
        step=100,
        precision=2,
        **SETTING,
    )
    valve: FloatProperty(
        name="Valve",
        description="How far the hose is open: 0 is closed, 1 is fully open",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        **ANIMATED,
    )
