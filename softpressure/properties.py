"""Settings of objects; scenes have theirs beside. Their names are part of the extension's interface for scripts."""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    PointerProperty,
    StringProperty,
)

from .engine import engine
from .force_properties import FieldWeights, Goals
from .scene_properties import ANIMATED, SETTING, SOFTPRESSURE_PG_scene

#: The numbers of these and of the types below are what files hold.
KINDS = (
    ("NONE", "None", "Takes no part in the simulation", "BLANK1", 0),
    ("SOFT", "Soft", "Changes its shape: a skin filled with gas, or a soft solid", "MOD_SOFT", 1),
    ("RIGID", "Rigid", "Moves and turns without changing its shape", "RIGID_BODY", 2),
    ("COLLIDER", "Collider", "Still or animated obstacle, which other bodies cannot move", "MOD_PHYSICS", 3),
)
RIGID_SHAPES = (
    ("HULL", "Convex Hull", "The tightest shape without hollows around the mesh; works with any mesh, and is faster"),
    ("MESH", "Mesh", "The mesh itself, hollows and all; it must be closed"),
)
BODY_TYPES = (
    ("MEMBRANE", "Inflated", "Closed skin filled with gas: balls, balloons, cushions", "MESH_UVSPHERE", 0),
    (
        "LOOP",
        "Flat Outline",
        "Outline filled with gas, made of edges or a flat face; moves within its own plane",
        "MESH_CIRCLE",
        3,
    ),
    (
        "TRUSS",
        "Lattice",
        "Springs along the edges and diagonals of cells that fill the mesh, or a flat one in its plane: light sponge",
        "MOD_LATTICE",
        1,
    ),
    ("SOLID", "Jelly", "Fills the mesh and keeps its volume: jelly, rubber, soft toys", "META_BALL", 2),
)

PRESSURES_AT = (
    ("REST", "At Rest", "The body has its pressure when it lies still in the air, whatever its skin does", "NONE", 1),
    (
        "DRAWN",
        "At Drawn Volume",
        "The gas would have its pressure at the volume of the drawn shape; a soft skin grows and keeps little of it",
        "NONE",
        0,
    ),
)
DRAWN_SHAPES = (
    ("INFLATED", "Inflated", "The skin is under tension as drawn, so that it keeps its shape or nearly so", "NONE", 1),
    ("SLACK", "Slack", "The skin is without tension as drawn: it grows when it is filled", "NONE", 0),
)

Group = Any  # a property group: its members are known to Blender only


def _on_kind_change(settings: Group, _context: bpy.types.Context) -> None:
    engine().bodies.on_kind_change(settings.id_data)


def _on_type_change(settings: Group, _context: bpy.types.Context) -> None:
    engine().bodies.on_type_change(settings.id_data)


def _can_hold(settings: Group, obj: bpy.types.Object) -> bool:
    """Whether an object may be offered to attach something to."""
    return obj.type == "MESH" and obj.softpressure.kind in {"SOFT", "RIGID"} and obj != settings.id_data


class SOFTPRESSURE_PG_object(FieldWeights, Goals, bpy.types.PropertyGroup):
    """How an object takes part in the simulation."""

    kind: EnumProperty(
        name="Kind",
        description="How the object takes part in the simulation",
        items=KINDS,
        default="NONE",
        options=set(),
        update=_on_kind_change,
    )
    mass: FloatProperty(
        name="Mass",
        description="Total mass in kilograms, spread over the skin, or over the volume of a solid. Heavier bodies "
        "push others harder and sag more",
        default=1.0,
        min=1e-6,
        soft_min=0.01,
        soft_max=100.0,
        **SETTING,
    )
    body_type: EnumProperty(
        name="Type",
        description="What a soft body is made of",
        items=BODY_TYPES,
        default="MEMBRANE",
        options=set(),
        update=_on_type_change,
    )
    depth: FloatProperty(
        name="Depth",
        description="Extent in metres of a flat body along the normal of its plane. Deeper means more gas and more "
        "material. 0 is automatic: the mean length of its edges, or the cell size",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        precision=3,
        step=1,
        unit="LENGTH",
        **SETTING,
    )
    cell_size: FloatProperty(
        name="Cell Size",
        description="Edge length in metres of the cells that fill the mesh. Larger is faster and coarser. 0 is "
        "automatic: four cells across the thinnest extent",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        precision=3,
        step=1,
        unit="LENGTH",
        **SETTING,
    )
    modulus: FloatProperty(
        name="Young's Modulus",
        description="Young's modulus in pascals: resistance to stretching and squeezing, whatever the size of the "
        "cells. Higher is stiffer. Jelly has 1e4, soft rubber 1e6",
        default=50_000.0,
        min=1.0,
        soft_min=1_000.0,
        soft_max=1e7,
        step=100_000,
        precision=0,
        **ANIMATED,
    )
    poisson_ratio: FloatProperty(
        name="Poisson's Ratio",
        description="How much the body widens when it is squeezed. Higher keeps the volume better: 0.25 is sponge, "
        "0.49 is rubber",
        default=0.3,
        min=0.25,
        max=0.49,
        step=1,
        precision=2,
        **SETTING,
    )
    particle_radius: FloatProperty(
        name="Particle Radius",
        description="Radius of spheres around the points of a lattice, as a share of a cell's edge, which keep apart "
        "so that a fast one does not collapse (Kurmaly and Wu 2021). Larger holds better; 0 is none, 0.4 is enough. "
        "Not with the methods Automatic, Explicit and Implicit",
        default=0.0,
        min=0.0,
        max=0.5,
        step=5,
        precision=2,
        **SETTING,
    )
    gauge_pressure: FloatProperty(
        name="Pressure",
        description="Pressure of the gas above that of the air, in pascals. Higher makes the body firmer and "
        "rounder. A balloon has 3,000, a basketball 55,000. What it refers to is chosen below",
        default=2_000.0,
        min=-1e6,
        soft_min=0.0,
        soft_max=100_000.0,
        step=10_000,
        precision=0,
        **ANIMATED,
    )
    pressure_at: EnumProperty(
        name="Pressure",
        description="What the pressure refers to",
        items=PRESSURES_AT,
        default="REST",
        **SETTING,
    )
    drawn_shape: EnumProperty(
        name="Drawn Shape",
        description="What the shape in Edit Mode is",
        items=DRAWN_SHAPES,
        default="INFLATED",
        **SETTING,
    )
    start_at_rest: BoolProperty(
        name="Start at Rest",
        description="Start with the shape that the pressure holds without gravity, instead of growing into it within "
        "half a second",
        default=False,
        **SETTING,
    )
    stretch_modulus: FloatProperty(
        name="Stretch Modulus",
        description="Resistance of the skin to stretching in newtons per metre, whatever the resolution of the mesh. "
        "Higher is stiffer; a balloon has 500, a beach ball 20,000",
        default=20_000.0,
        min=1e-3,
        soft_min=100.0,
        soft_max=1e6,
        step=10_000,
        precision=0,
        **ANIMATED,
    )
    bend_modulus: FloatProperty(
        name="Bend Modulus",
        description="Resistance of the skin to bending in newton metres, whatever the resolution of the mesh. Higher "
        "means fewer and softer wrinkles; 0 is cloth",
        default=0.01,
        min=0.0,
        soft_max=100.0,
        step=10,
        precision=3,
        **ANIMATED,
    )
    damping: FloatProperty(
        name="Damping",
        description="How fast vibrations of the body die away, per second. Higher wobbles for a shorter time; "
        "falling and rolling are not slowed down",
        default=2.0,
        min=0.0,
        soft_max=20.0,
        step=10,
        precision=2,
        **ANIMATED,
    )
    friction: FloatProperty(
        name="Friction",
        description="Coefficient of friction. Higher slides less: 0 is ice, 1 is rubber. Two bodies in contact use "
        "the geometric mean of theirs",
        default=0.5,
        min=0.0,
        soft_max=2.0,
        **ANIMATED,
    )
    bounciness: FloatProperty(
        name="Bounciness",
        description="Share of the speed that a contact gives back. Higher bounces more: 0 is clay, 0.85 is a good "
        "ball. Two bodies in contact use the geometric mean of theirs",
        default=0.85,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        **ANIMATED,
    )
    thickness: FloatProperty(
        name="Thickness",
        description="Distance in metres that the surface keeps from others. Larger is safer and faster, and shows as "
        "a gap. 0 is automatic: computed from the length of the edges",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        precision=4,
        step=0.1,
        unit="LENGTH",
        **SETTING,
    )
    collision_collection: PointerProperty(
        name="Collision Collection",
        description="Limits what the body touches to objects of this collection and those within it; empty touches "
        "everything. Two bodies touch if each accepts the other. What is attached stays attached",
        type=bpy.types.Collection,
        **SETTING,
    )
    pin_group: StringProperty(
        name="Pin Group",
        description="Vertex group whose vertices (weight above 0.5) follow the animation instead of the simulation",
        **SETTING,
    )
    self_collision: BoolProperty(
        name="Self Collision",
        description="Whether parts of the skin push each other away where they meet. Off is faster",
        default=True,
        **SETTING,
    )
    is_active: BoolProperty(
        name="Active",
        description="Whether the body is simulated. Off, it follows its own animation, and others still collide with "
        "it; on again, it goes on from there with the velocity of its animation",
        default=True,
        **ANIMATED,
    )
    attach_to: PointerProperty(
        name="Attach To",
        description="Rigid or soft body that the vertices of the attach group are glued to",
        type=bpy.types.Object,
        poll=_can_hold,
        **SETTING,
    )
    attach_group: StringProperty(
        name="Attach Group",
        description="Vertex group whose vertices (weight above 0.5) are glued to the other body",
        **SETTING,
    )
    is_attached: BoolProperty(
        name="Attached",
        description="Whether the vertices of the attach group are glued. Off, they come free; on again, they are glued "
        "where they are by then, to a soft body only if they are near it",
        default=True,
        **ANIMATED,
    )
    rigid_shape: EnumProperty(
        name="Shape",
        description="What a rigid body touches others with",
        items=RIGID_SHAPES,
        default="HULL",
        **SETTING,
    )
    linear_damping: FloatProperty(
        name="Linear Damping",
        description="How fast the speed of a rigid body dies away, per second. Higher is like a thicker fluid",
        default=0.0,
        min=0.0,
        soft_max=10.0,
        step=10,
        precision=2,
        **ANIMATED,
    )
    angular_damping: FloatProperty(
        name="Angular Damping",
        description="How fast the spin of a rigid body dies away, per second. Higher comes to rest sooner",
        default=0.1,
        min=0.0,
        soft_max=10.0,
        step=10,
        precision=2,
        **ANIMATED,
    )
    velocity: FloatVectorProperty(
        name="Velocity",
        description="Velocity at the first frame in metres per second, along the axes of the world",
        size=3,
        subtype="VELOCITY",
        unit="VELOCITY",
        **SETTING,
    )
    angular_velocity: FloatVectorProperty(
        name="Spin",
        description="Turning per second at the first frame, about the axes of the world through the centre of mass",
        size=3,
        subtype="EULER",
        unit="ROTATION",
        step=1000,
        **SETTING,
    )
    has_rigid_bounciness: BoolProperty(
        name="Rigid Bounciness",
        description="Whether the bounciness is what a rigid body gets unless it is set",
        options={"HIDDEN"},
    )
    is_baked: BoolProperty(
        name="Baked",
        description="Whether the object holds baked shape keys or keyframes. Set by Bake, cleared by Free Bake",
        options={"HIDDEN"},
    )
    own_motion: StringProperty(
        name="Own Motion",
        description="What a baked rigid body had of transform, drivers and constraints before it was baked",
        options={"HIDDEN"},
    )
    own_action: PointerProperty(
        name="Own Action",
        description="The action a baked rigid body had before it was baked",
        type=bpy.types.Action,
        options={"HIDDEN"},
    )
    hidden_modifiers: StringProperty(
        name="Hidden Modifiers",
        description="Modifiers switched off while simulated shapes are shown, with their own visibility",
        options={"HIDDEN"},
    )


CLASSES = (SOFTPRESSURE_PG_object, SOFTPRESSURE_PG_scene)


def register() -> None:
    """Add `softpressure` to objects and scenes; the classes are registered already."""
    bpy.types.Object.softpressure = PointerProperty(type=SOFTPRESSURE_PG_object)
    bpy.types.Scene.softpressure = PointerProperty(type=SOFTPRESSURE_PG_scene)


def unregister() -> None:
    """Take them away again; what the file stores stays in it."""
    del bpy.types.Scene.softpressure
    del bpy.types.Object.softpressure
