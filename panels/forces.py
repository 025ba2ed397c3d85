"""Panels of the active object about forces from outside: field weights and goals."""

import bpy

from ..softpressure.blender_types import Context, Layout
from ..softpressure.effectors import WEIGHTS
from .layout import in_both_places


class Goal:
    """Springs that pull vertices to where the animation has them."""

    layout: Layout
    bl_label = "Goal"
    parent = "body"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Only soft bodies have goals."""
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.softpressure.kind == "SOFT"

    def draw(self, context: Context) -> None:
        """The group, and how stiff."""
        layout = self.layout
        settings = context.object.softpressure
        layout.use_property_split = True
        layout.enabled = not settings.is_baked
        layout.prop_search(settings, "goal_group", context.object, "vertex_groups", text="Group")
        column = layout.column(align=True)
        column.active = bool(settings.goal_group)
        column.prop(settings, "goal_stiffness", text="Stiffness (N/m)")
        column.prop(settings, "goal_damping", text="Damping (1/s)")


class FieldWeights:
    """How much the active object feels of gravity and of Blender's force fields."""

    layout: Layout
    bl_label = "Field Weights"
    parent = "body"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Only what moves feels them."""
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.softpressure.kind in {"SOFT", "RIGID"}

    def draw(self, context: Context) -> None:
        """The collection, then the weights."""
        layout = self.layout
        settings = context.object.softpressure
        layout.use_property_split = True
        layout.enabled = not settings.is_baked
        layout.prop(settings, "effector_collection", text="Effectors")
        for names in (("weight_gravity", "weight_all"), tuple(WEIGHTS.values())):
            column = layout.column(align=True)
            for name in names:
                column.prop(settings, name, slider=True)


SOFTPRESSURE_PT_goal, SOFTPRESSURE_PT_physics_goal = in_both_places(Goal, "goal")
SOFTPRESSURE_PT_fields, SOFTPRESSURE_PT_physics_fields = in_both_places(FieldWeights, "fields")

CLASSES: tuple[type[bpy.types.Panel], ...] = (
    SOFTPRESSURE_PT_goal,
    SOFTPRESSURE_PT_fields,
    SOFTPRESSURE_PT_physics_goal,
    SOFTPRESSURE_PT_physics_fields,
)
