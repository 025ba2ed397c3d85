"""Settings of objects; scenes have theirs beside. Their names are part of the extension's interface for scripts."""

import inspect
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, PointerProperty, StringProperty

from ...core.parameters import BODIES
from ..state import sessions
from .automatic import boxes
from .force_properties import FieldWeights, Goals
from .hose_properties import Hose
from .parameter_properties import ANIMATED, SETTING, Group, hidden, properties, vertex_group
from .scene_properties import SOFTPRESSURE_PG_scene, SOFTPRESSURE_PG_take
from .sweep_properties import SOFTPRESSURE_PG_sweep

#: The numbers of these and of the types below are what files hold.
KINDS = (
    ("NONE", "None", "Not part of the simulation", "BLANK1", 0),
    ("SOFT", "Soft", "Deforms: a skin filled with gas, or a soft solid", "MOD_SOFT", 1),
    ("RIGID", "Rigid", "Moves and turns without changing its shape", "RIGID_BODY", 2),
    ("COLLIDER", "Collider", "Resting or animated obstacle that other bodies cannot move", "MOD_PHYSICS", 3),
)
BODY_TYPES = (
    ("MEMBRANE", "Inflated", "Closed skin filled with gas: balls, balloons, cushions", "MESH_UVSPHERE", 0),
    (
        "LOOP",
        "Flat Outline",
        "Outline filled with gas, of edges or a flat face; moves within its plane",
        "MESH_CIRCLE",
        3,
    ),
    (
        "TRUSS",
        "Lattice",
        "Springs in cells that fill the mesh, flat or not: light sponge",
        "MOD_LATTICE",
        1,
    ),
    ("SOLID", "Jelly", "Solid that keeps its volume: jelly, rubber, soft toys", "META_BALL", 2),
)


def _on_kind_change(settings: Group, _context: bpy.types.Context) -> None:
    from ..bodies import setup

    setup.on_kind_change(settings.id_data)


def _on_type_change(settings: Group, _context: bpy.types.Context) -> None:
    from ..bodies import setup

    setup.on_type_change(settings.id_data)


def _on_origin_change(settings: Group, _context: bpy.types.Context) -> None:
    from ..cache import playback
    from ..scene_io import rigid_pose

    if settings.is_baked or settings.kind != "SOFT":
        return
    rigid_pose.release(settings.id_data)
    sessions.forget_shown()
    for scene in settings.id_data.users_scene:
        playback.show_again(scene)


def _can_hold(settings: Group, obj: bpy.types.Object) -> bool:
    """Whether an object is offered as a target of an attachment."""
    return obj.type == "MESH" and obj.softpressure.kind in {"SOFT", "RIGID"} and obj != settings.id_data


def _can_be_cage(settings: Group, obj: bpy.types.Object) -> bool:
    """Whether an object is offered as a cage."""
    return obj.type == "MESH" and obj != settings.id_data


class FromParameters:
    """The settings that `core/parameters/` declares."""

    __annotations__ = properties(*BODIES) | boxes("thickness", "cell_size", "depth", "simulation_vertices")


class SOFTPRESSURE_PG_object(FromParameters, FieldWeights, Goals, Hose, bpy.types.PropertyGroup):
    """How an object takes part in the simulation."""

    @property
    def area_density(self) -> float:
        """Mass over the area of the object's own mesh [kg/m^2], 0 without area: what a material is told by."""
        from ..bodies import sizes

        obj: Any = self.id_data
        area = sizes.area_of(obj)
        return float(self.mass) / area if area else 0.0

    @area_density.setter
    def area_density(self, value: float) -> None:
        from ..bodies import sizes

        obj: Any = self.id_data
        area = sizes.area_of(obj)
        if area and value > 0.0:
            self.mass = value * area

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
        description="What the soft body is made of",
        items=BODY_TYPES,
        default="MEMBRANE",
        options=set(),
        update=_on_type_change,
    )
    collision_collection: PointerProperty(
        name="Collision Collection",
        description="Only collide with objects of this collection; empty for all",
        type=bpy.types.Collection,
        **SETTING,
    )
    pin_group: vertex_group("Pin Group", "Vertex group that follows the animation, with weights above 0.5")
    is_active: BoolProperty(
        name="Active",
        description="Simulate the body; otherwise it follows its animation, and others collide with it",
        default=True,
        **ANIMATED,
    )
    weak_group: vertex_group("Weak Group", "Vertex group where the skin tears more easily: a weight of 1 tears at once")
    pressure_group: vertex_group(
        "Pressure Group", "Vertex group that weights the pressure. The imbalance propels the body, like a punctured can"
    )
    tie_group: vertex_group(
        "Ties", "Vertex group whose opposite sides are tied by threads, as in air mattresses. Paint both sides"
    )
    attach_to: PointerProperty(
        name="Attach To",
        description="Body that the attach group is glued to",
        type=bpy.types.Object,
        poll=_can_hold,
        **SETTING,
    )
    origin_follows: BoolProperty(
        name="Origin Follows",
        description="Move the origin of the object with the body, so that cameras and constraints can follow it",
        options=set(),
        update=_on_origin_change,
    )
    cage_object: PointerProperty(
        name="Cage",
        description="Closed mesh to simulate; the mesh of the body follows it. The cage itself is skipped",
        type=bpy.types.Object,
        poll=_can_be_cage,
        **SETTING,
    )
    attach_group: vertex_group("Attach Group", "Vertex group that is glued to the other body, with weights above 0.5")
    is_attached: BoolProperty(
        name="Attached",
        description="Glue the attach group. Switched off, it comes loose; on again, it is glued where it is",
        default=True,
        **ANIMATED,
    )
    has_rigid_bounciness: hidden(
        BoolProperty, "Rigid Bounciness", "Whether the bounciness is the default of rigid bodies"
    )
    idle_values: hidden(
        FloatVectorProperty, "Idle Values", "Values of quantities that do not count at the moment", size=3
    )
    is_baked: hidden(BoolProperty, "Baked", "Whether the object has baked shape keys or keyframes")
    baked_error: hidden(
        FloatProperty,
        "Error of the Bake",
        "Largest distance from the cached frames of relative shape keys, in Blender units",
    )
    own_motion: hidden(
        StringProperty, "Own Motion", "Transform, drivers and constraints of the body before it was baked"
    )
    own_action: hidden(PointerProperty, "Own Action", "Action of the body before it was baked", type=bpy.types.Action)
    hidden_keys: hidden(StringProperty, "Hidden Shape Keys", "Shape keys that are muted while the simulation is shown")
    own_key_action: hidden(
        PointerProperty,
        "Own Action of Shape Keys",
        "Action of the shape keys before the body was baked",
        type=bpy.types.Action,
    )
    own_key_slot: hidden(StringProperty, "Own Slot of Shape Keys", "Slot of that action")
    hidden_modifiers: hidden(
        StringProperty, "Hidden Modifiers", "Modifiers that are switched off while the simulation is shown"
    )


CLASSES = (SOFTPRESSURE_PG_object, SOFTPRESSURE_PG_take, SOFTPRESSURE_PG_scene, SOFTPRESSURE_PG_sweep)


#: Library overrides keep what is set.
_KEPT: Any = {"LIBRARY_OVERRIDABLE"}
for base in SOFTPRESSURE_PG_object.__mro__:
    for definition in inspect.get_annotations(base).values():
        definition.keywords["override"] = _KEPT


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
