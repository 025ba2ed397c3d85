"""Settings of objects; scenes have theirs beside. Their names are part of the extension's interface for scripts."""

import inspect
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, PointerProperty, StringProperty

from ...core.parameters import BODIES
from .force_properties import FieldWeights, Goals
from .hose_properties import Hose
from .parameter_properties import ANIMATED, SETTING, Group, properties
from .scene_properties import SOFTPRESSURE_PG_scene
from .sweep_properties import SOFTPRESSURE_PG_sweep

#: The numbers of these and of the types below are what files hold.
KINDS = (
    ("NONE", "None", "Takes no part in the simulation", "BLANK1", 0),
    ("SOFT", "Soft", "Changes its shape: a skin filled with gas, or a soft solid", "MOD_SOFT", 1),
    ("RIGID", "Rigid", "Moves and turns without changing its shape", "RIGID_BODY", 2),
    ("COLLIDER", "Collider", "Still or animated obstacle, which other bodies cannot move", "MOD_PHYSICS", 3),
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


def _on_kind_change(settings: Group, _context: bpy.types.Context) -> None:
    from ..bodies import setup

    setup.on_kind_change(settings.id_data)


def _on_type_change(settings: Group, _context: bpy.types.Context) -> None:
    from ..bodies import setup

    setup.on_type_change(settings.id_data)


def _can_hold(settings: Group, obj: bpy.types.Object) -> bool:
    """Whether an object is offered as a target of an attachment."""
    return obj.type == "MESH" and obj.softpressure.kind in {"SOFT", "RIGID"} and obj != settings.id_data


def _can_be_cage(settings: Group, obj: bpy.types.Object) -> bool:
    """Whether an object is offered as a cage."""
    return obj.type == "MESH" and obj != settings.id_data


class Declared:
    """The settings that `core/parameters/` declares."""

    __annotations__ = properties(*BODIES)


class SOFTPRESSURE_PG_object(Declared, FieldWeights, Goals, Hose, bpy.types.PropertyGroup):
    """How an object takes part in the simulation."""

    kind: EnumProperty(
        name="Kind",
        description="How the object takes part in the simulation",
        items=KINDS,
        default="NONE",
        options=set(),
        update=_on_kind_change,
    )
    body_type: EnumProperty(
        name="Type",
        description="What a soft body is made of",
        items=BODY_TYPES,
        default="MEMBRANE",
        options=set(),
        update=_on_type_change,
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
    is_active: BoolProperty(
        name="Active",
        description="Whether the body is simulated. Off, it follows its own animation, and others still collide with "
        "it; on again, it goes on from there with the velocity of its animation",
        default=True,
        **ANIMATED,
    )
    weak_group: StringProperty(
        name="Weak Group",
        description="Vertex group where the skin tears more easily: the tear strain is lower by the weight. Higher is "
        "weaker; at 1 it tears as soon as it is stretched. Empty for none",
        **SETTING,
    )
    pressure_group: StringProperty(
        name="Pressure Group",
        description="Vertex group that weights the pressure of the gas: full at 1, none at 0 and outside of the group. "
        "The pressure then drives the body towards the heavier side; pin what should stay. Not with XPBD. Empty for "
        "full pressure everywhere",
        **SETTING,
    )
    tie_group: StringProperty(
        name="Ties",
        description="Vertex group (weight above 0.5) whose vertices on opposite sides of the skin are joined by "
        "threads, as the tufts of air mattresses and the floors of bouncy castles. Paint both sides. Empty for none",
        **SETTING,
    )
    attach_to: PointerProperty(
        name="Attach To",
        description="Rigid or soft body that the vertices of the attach group are glued to",
        type=bpy.types.Object,
        poll=_can_hold,
        **SETTING,
    )
    cage_object: PointerProperty(
        name="Cage",
        description="Object whose closed mesh is simulated; the drawn mesh follows it. It takes no part itself",
        type=bpy.types.Object,
        poll=_can_be_cage,
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
    has_rigid_bounciness: BoolProperty(
        name="Rigid Bounciness",
        description="Whether the bounciness is what a rigid body gets unless it is set",
        options={"HIDDEN"},
    )
    idle_values: FloatVectorProperty(
        name="Idle Values",
        description="What the fields that do not count held when gas, stiffness and mass were last given otherwise",
        size=3,
        options={"HIDDEN"},
    )
    is_baked: BoolProperty(
        name="Baked",
        description="Whether the object holds baked shape keys or keyframes. Set by Bake, cleared by Free Bake",
        options={"HIDDEN"},
    )
    baked_error: FloatProperty(
        name="Error of the Bake",
        description="Largest distance of a vertex of relative shape keys from the cached frames, in Blender units",
        options={"HIDDEN"},
    )
    own_motion: StringProperty(
        name="Own Motion",
        description="What a baked body that moves had of transform, drivers and constraints before it was baked",
        options={"HIDDEN"},
    )
    own_action: PointerProperty(
        name="Own Action",
        description="The action a baked body that moves had before it was baked",
        type=bpy.types.Action,
        options={"HIDDEN"},
    )
    hidden_keys: StringProperty(
        name="Hidden Shape Keys",
        description="Shape keys of one's own that are muted while simulated shapes, which have their mix, are shown",
        options={"HIDDEN"},
    )
    own_key_action: PointerProperty(
        name="Own Action of Shape Keys",
        description="The action that the shape keys had before the body was baked",
        type=bpy.types.Action,
        options={"HIDDEN"},
    )
    own_key_slot: StringProperty(
        name="Own Slot of Shape Keys",
        description="The slot of that action that animated the shape keys",
        options={"HIDDEN"},
    )
    hidden_modifiers: StringProperty(
        name="Hidden Modifiers",
        description="Modifiers switched off while simulated shapes are shown, with their own visibility",
        options={"HIDDEN"},
    )


CLASSES = (SOFTPRESSURE_PG_object, SOFTPRESSURE_PG_scene, SOFTPRESSURE_PG_sweep)


#: Library overrides keep what is set.
_KEPT: Any = {"LIBRARY_OVERRIDABLE"}
for base in SOFTPRESSURE_PG_object.__mro__:
    for declared in inspect.get_annotations(base).values():
        declared.keywords["override"] = _KEPT


def register() -> None:
    """Add `softpressure` to objects, scenes and windows; the classes are registered already."""
    bpy.types.Object.softpressure = PointerProperty(type=SOFTPRESSURE_PG_object, override=_KEPT)
    bpy.types.Scene.softpressure = PointerProperty(type=SOFTPRESSURE_PG_scene)
    bpy.types.WindowManager.softpressure = PointerProperty(type=SOFTPRESSURE_PG_sweep, options={"SKIP_SAVE"})


def unregister() -> None:
    """Take them away again; what the file stores stays in it."""
    del bpy.types.WindowManager.softpressure
    del bpy.types.Scene.softpressure
    del bpy.types.Object.softpressure
