"""What a sweep is run with. In the panel it belongs to the window: typing it must not change the file."""

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from .parameter_properties import Group


class Sweep:
    """Settings of the operator, and of its panel."""

    settings: StringProperty(
        name="Settings",
        description="Settings and values, such as Ball.gauge_pressure=500,2000 or Ball.mass=0.5..2:4",
    )
    pairwise: BoolProperty(
        name="Pairwise",
        description="Combine the first values of all settings, then the second ones, instead of all combinations",
    )
    workers: IntProperty(
        name="Processes", description="Number of cases that run at the same time", min=1, soft_max=16, default=1
    )


class SOFTPRESSURE_PG_sweep(Sweep, bpy.types.PropertyGroup):
    """The sweep that the panel shows."""


def take(target: Group, source: Group) -> None:
    """Give the operator what the panel has."""
    for name in Sweep.__annotations__:
        setattr(target, name, getattr(source, name))
