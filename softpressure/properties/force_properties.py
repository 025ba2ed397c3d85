"""Settings of objects for external forces: weights of force fields, and goals."""

from typing import Any

import bpy
from bpy.props import FloatProperty, PointerProperty

from .parameter_properties import SETTING, on_change, vertex_group


def _weight(name: str, what: str) -> Any:
    return FloatProperty(
        name=name,
        description=f"Influence of {what} on the body",
        default=1.0,
        min=-200.0,
        max=200.0,
        soft_min=0.0,
        soft_max=1.0,
        subtype="FACTOR",
        update=on_change,
    )


class FieldWeights:
    """As Blender's Cloth has them."""

    effector_collection: PointerProperty(
        name="Effector Collection",
        description="Only force fields of this collection act on the body; empty for all",
        type=bpy.types.Collection,
        **SETTING,
    )
    weight_gravity: _weight("Gravity", "the gravity of the scene")
    weight_all: _weight("All", "all force fields")
    weight_force: _weight("Force", "fields of the type Force")
    weight_wind: _weight("Wind", "wind fields")
    weight_vortex: _weight("Vortex", "vortex fields")
    weight_turbulence: _weight("Turbulence", "turbulence fields")
    weight_drag: _weight("Drag", "drag fields")
    weight_harmonic: _weight("Harmonic", "harmonic fields")


class Goals:
    """As Blender's Soft Body has them."""

    goal_group: vertex_group("Goal Group", "Vertex group that follows the animation: weight 1 exactly, less by springs")
    goal_stiffness: FloatProperty(
        name="Goal Stiffness",
        description="Stiffness of the goal springs of the whole body, in N/m",
        default=500.0,
        min=0.0,
        soft_max=1e5,
        step=10_000,
        precision=0,
        **SETTING,
    )
    goal_damping: FloatProperty(
        name="Goal Damping",
        description="How fast motion relative to the goals dies away, per second",
        default=5.0,
        min=0.0,
        soft_max=50.0,
        step=10,
        precision=2,
        **SETTING,
    )
