"""Adding and removing bodies."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..softpressure.properties.object_properties import BODY_TYPES, KINDS
from ..softpressure.scene_io import instances
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.simulation.loading import SoftPressureError
from ..softpressure.state import jobs
from .needs import NeedingOperator, unless
from .reports import finish, waiting

#: Types of bodies in one list: those of soft bodies, then the other kinds.
_TYPES = (
    *((name, label, text, icon, number) for number, (name, label, text, icon, _) in enumerate(BODY_TYPES)),
    ("RIGID", "Rigid Body", KINDS[2][2], KINDS[2][3], len(BODY_TYPES)),
    ("COLLIDER", "Collider", KINDS[3][2], KINDS[3][3], len(BODY_TYPES) + 1),
)
_SOFT = {item[0] for item in BODY_TYPES}


def chosen(context: Context) -> list[bpy.types.Object]:
    """The selected objects that can be bodies; the active one alone if it is not selected, as its panel is shown."""
    active = context.object
    found = context.selected_objects if active is None or active.select_get() else [active]
    return [obj for obj in found if instances.can_collide(obj)]


def chosen_meshes(context: Context) -> list[bpy.types.Object]:
    """The meshes among them."""
    return [obj for obj in chosen(context) if obj.type == "MESH"]


def chosen_bodies(context: Context, *kinds: str) -> list[bpy.types.Object]:
    """Those of them that are bodies of these kinds."""
    return [obj for obj in chosen_meshes(context) if obj.softpressure.kind in kinds]


def others(context: Context) -> list[bpy.types.Object]:
    """The selected meshes beside the active object."""
    return [obj for obj in context.selected_objects if obj.type == "MESH" and obj != context.object]


def add(operator: bpy.types.Operator, context: Context, kind: str, body_type: str = "") -> set[Any]:
    """Make what is chosen bodies of a kind; reports reasons for those that are refused.

    `body_type`: of soft bodies; empty for that which suits each mesh.
    """
    from ..softpressure.bodies import setup
    from ..softpressure.simulation import kernels, making_meshes

    with waiting(context):
        notes, refusals = setup.add_all(context.scene, chosen(context), kind, body_type)
    if notes and not bpy.app.background:
        kernels.load(context.scene)
        # what is added while a job runs has its mesh made by the first frame
        if jobs.current() is None and kernels.can_make_meshes() and making_meshes.missing_now(context.scene):
            bpy.ops.softpressure.make_meshes("INVOKE_DEFAULT")
    return finish(operator, notes, refusals)


_MESHES = unless(chosen, "Select at least one mesh object")


class SOFTPRESSURE_OT_add_body(NeedingOperator, bpy.types.Operator):
    """Make the selected meshes bodies of the simulation."""

    bl_label = "Add Body"
    needs = (_MESHES,)

    kind: EnumProperty(
        name="Kind", description="How the meshes take part in the simulation", items=KINDS[1:], default="SOFT"
    )  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[Any]:
        """Add the meshes; reports reasons for those that are refused."""
        return add(self, context, self.kind)


class SOFTPRESSURE_OT_set_type(NeedingOperator, bpy.types.Operator):
    """Make the selected meshes bodies of this type."""

    bl_label = "Set Body Type"
    needs = (_MESHES,)

    type: EnumProperty(  # type: ignore[valid-type]
        name="Type", description="What the bodies are", items=_TYPES, default="MEMBRANE"
    )

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What the type is."""
        return next(item[2] for item in _TYPES if item[0] == properties.type)

    def execute(self, context: Context) -> set[Any]:
        """Add or change the meshes; reports reasons for those that are refused."""
        return add(self, context, *(("SOFT", self.type) if self.type in _SOFT else (self.type, "")))


class SOFTPRESSURE_OT_quick_soft_body(NeedingOperator, bpy.types.Operator):
    """Make the selected meshes soft bodies above a floor, and play the animation."""

    bl_label = "Quick Soft Body"
    needs = (
        unless(
            lambda context: context.mode == "OBJECT" and chosen_meshes(context),
            "Select at least one mesh object in Object Mode",
        ),
    )

    type: EnumProperty(  # type: ignore[valid-type]
        name="Type", description="What the bodies are", items=BODY_TYPES, default="MEMBRANE"
    )
    add_floor: BoolProperty(name="Floor", description="Add a floor below the bodies", default=True)  # type: ignore[valid-type]
    play: BoolProperty(name="Play", description="Play the animation", default=True)  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[Any]:
        """Bodies, floor, first frame, play."""
        from ..softpressure.bodies import quick

        meshes = chosen_meshes(context)
        done = add(self, context, "SOFT", self.type if self.properties.is_property_set("type") else "")
        soft = [obj for obj in meshes if obj.softpressure.kind == "SOFT"]
        if not soft:
            return done
        if self.add_floor:
            quick.add_floor(context, soft)
        context.scene.frame_set(context.scene.softpressure.frame_start)
        if self.play and not bpy.app.background and not context.screen.is_animation_playing:
            bpy.ops.screen.animation_play()
        return {"FINISHED"}


class SOFTPRESSURE_OT_remove_body(NeedingOperator, bpy.types.Operator):
    """Remove the selected meshes from the simulation and restore them."""

    bl_label = "Remove Body"
    needs = (
        unless(
            lambda context: any(obj.softpressure.kind != "NONE" for obj in chosen(context)),
            "Select at least one body of the simulation",
        ),
    )

    def execute(self, context: Context) -> set[Any]:
        """Remove all that are selected."""
        from ..softpressure.bodies import setup

        return finish(self, *setup.remove_all(chosen(context)))


class SOFTPRESSURE_OT_calculate_mass(NeedingOperator, bpy.types.Operator):
    """Set the mass of the selected bodies by the density of their material."""

    bl_label = "Calculate Mass"
    needs = (unless(lambda context: chosen_bodies(context, "SOFT", "RIGID"), "Select at least one soft or rigid body"),)

    density: FloatProperty(  # type: ignore[valid-type]
        name="Density", description="Of jelly, lattices and rigid bodies, in kg/m³. Water has 1,000, wood 700",
        default=1_000.0, min=1e-3, soft_max=10_000.0,
    )  # fmt: skip
    area_density: FloatProperty(  # type: ignore[valid-type]
        name="Skin", description="Of inflated skins, in kg/m². Balloons have 0.07, cloth 0.3",
        default=0.3, min=1e-6, soft_max=10.0,
    )  # fmt: skip

    def execute(self, context: Context) -> set[Any]:
        """Set the mass of all that are selected."""
        from ..softpressure.bodies import sizes, wording

        notes, refusals = [], []
        for obj in chosen_bodies(context, "SOFT", "RIGID"):
            try:
                notes.append(sizes.weigh(obj, self.density, self.area_density))
            except SoftPressureError as error:
                refusals.append(wording.of(error))
        return finish(self, notes, refusals)


def _has_active_body(context: Context) -> bool:
    obj = context.object
    return obj is not None and obj.type == "MESH" and obj.softpressure.kind != "NONE"


class SOFTPRESSURE_OT_copy_to_selected(NeedingOperator, bpy.types.Operator):
    """Copy the body type and all settings of the active body to the other selected meshes."""

    bl_label = "Copy to Selected"
    needs = (
        unless(_has_active_body, "Make the body with the settings the active object"),
        unless(others, "Select other meshes as well"),
    )

    def execute(self, context: Context) -> set[Any]:
        """Copy; says which cannot be such a body."""
        from ..softpressure.bodies import copying

        return finish(self, *copying.copy_to(context.object, others(context)))


def _can_inflate(context: Context) -> bool:
    from ..softpressure.bodies import setup

    obj = context.object
    return obj is not None and obj.type == "MESH" and obj.mode == "OBJECT" and setup.can_inflate(obj)


class SOFTPRESSURE_OT_inflate(NeedingOperator, bpy.types.Operator):
    """Make the flat body a cushion: add a second side and fill it with gas."""

    bl_label = "Inflate"
    needs = (unless(_can_inflate, "Select a flat soft body that has faces"),)

    def execute(self, context: Context) -> set[Any]:
        """Inflate the active object, or say why that cannot be."""
        from ..softpressure.bodies import setup

        return finish(self, *setup.inflate(context.object))


class SOFTPRESSURE_OT_hide_torn(NeedingOperator, bpy.types.Operator):
    """Add a modifier that hides each face from the frame at which it tears."""

    bl_label = "Hide Torn Faces"
    needs = (unless(lambda context: chosen_bodies(context, "SOFT"), "Select at least one soft body"),)

    def execute(self, context: Context) -> set[Any]:
        """Add the modifier to all that are selected."""
        from ..softpressure.scene_io import torn_faces

        soft = chosen_bodies(context, "SOFT")
        for obj in soft:
            torn_faces.hide(obj)
        return finish(self, [f"{obj.name}: hides its torn faces" for obj in soft], [])


CLASSES = (
    SOFTPRESSURE_OT_add_body,
    SOFTPRESSURE_OT_set_type,
    SOFTPRESSURE_OT_quick_soft_body,
    SOFTPRESSURE_OT_remove_body,
    SOFTPRESSURE_OT_calculate_mass,
    SOFTPRESSURE_OT_copy_to_selected,
    SOFTPRESSURE_OT_inflate,
    SOFTPRESSURE_OT_hide_torn,
)
