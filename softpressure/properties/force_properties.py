"""Settings of objects for external forces: weights of force fields, and goals."""

from typing import Any

import bpy
from bpy.props import FloatProperty, PointerProperty, StringProperty

from .parameter_properties import SETTING, on_change


def _weight(name: str, what: str) -> Any:
    return FloatProperty(
        name=name,
        description=f"How much the body feels of {what}. Higher is stronger: 1 is all of it, 0 nothing; below 0 it is "
        "pushed the other way",
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
        description="Only force fields in this collection act on the body; empty for all of the scene",
        type=bpy.types.Collection,
        **SETTING,
    )
    weight_gravity: _weight("Gravity", "the gravity of the scene")
    weight_all: _weight("All", "all force fields, on top of the weight of each type")
    weight_force: _weight("Force", "force fields of the type Force")
    weight_wind: _weight("Wind", "wind")
    weight_vortex: _weight("Vortex", "vortices")
    weight_turbulence: _weight("Turbulence", "turbulence")
    weight_drag: _weight("Drag", "drag fields")
    weight_harmonic: _weight("Harmonic", "harmonic fields")


class Goals:
    """As Blender's Soft Body has them."""

    goal_group: StringProperty(
        name="Goal Group",
        description="Vertex group whose vertices are pulled by springs to where the animation (armature, lattice, "
        "shape keys, object) has them. A higher weight pulls harder; 1 follows exactly, as in the pin group. Empty "
        "for none",
        **SETTING,
    )
    goal_stiffness: FloatProperty(
        name="Goal Stiffness",
        description="Spring constant in newtons per metre of all goals together, were the whole body in the group with "
        "the weight 1; a vertex has the share that it has of the mass, whatever the resolution of the mesh. Higher "
        "follows more closely and swings faster",
        default=500.0,
        min=0.0,
        soft_max=1e5,
        step=10_000,
        precision=0,
        **SETTING,
    )
    goal_damping: FloatProperty(
        name="Goal Damping",
        description="How fast motion relative to the goal dies away, per second, times the weight. Higher swings for "
        "a shorter time and follows more sluggishly",
        default=5.0,
        min=0.0,
        soft_max=50.0,
        step=10,
        precision=2,
        **SETTING,
    )
