"""Settings of hoses: empties or curves that link the gas of two soft bodies."""

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty

from ..scene_io import hoses
from .parameter_properties import ANIMATED, SETTING, Group


def _has_gas(_settings: Group, obj: bpy.types.Object) -> bool:
    """Whether an object is offered as an end of a hose."""
    return hoses.has_gas(obj)


class Hose:
    """What an object has that is a hose."""

    is_hose: BoolProperty(
        name="Hose",
        description="Whether the object is a hose. Set by Add Hose",
        options={"HIDDEN"},
    )
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
        name="Conductance",
        description="How much pressure times volume flows through the open hose in a second, over the difference of "
        "pressures, in cubic metres per second. Higher equalises faster: two bodies of a volume V differ by a third "
        "as much after V / (2 conductance); skins that give way take longer, by the air's pressure over theirs",
        default=50.0,
        min=0.0,
        soft_max=1_000.0,
        step=100,
        precision=2,
        **SETTING,
    )
    valve: FloatProperty(
        name="Valve",
        description="How far the hose is open. Higher lets more gas through: 1 all that the conductance allows, 0 none",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        **ANIMATED,
    )
