"""Panels of external forces on the active object: field weights and goals."""

import bpy

from ..softpressure.scene_io.blender_types import Layout
from ..softpressure.scene_io.effectors import WEIGHTS
from .layout import PartOfBody, in_both_places


class Goal(PartOfBody):
    """Springs that pull vertices to where the animation has them."""

    bl_label = "Goal"

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The group, and how stiff."""
        settings = obj.softpressure
        layout.prop_search(settings, "goal_group", obj, "vertex_groups", text="Group")
        column = layout.column(align=True)
        column.enabled = bool(settings.goal_group)
        column.prop(settings, "goal_stiffness", text="Spring (N/m)")
        column.prop(settings, "goal_damping", text="Damping (1/s)")


class FieldWeights(PartOfBody):
    """How much the active object feels of gravity and of Blender's force fields."""

    bl_label = "Field Weights"
    kinds = ("SOFT", "RIGID")

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The collection, then the weights."""
        layout.prop(obj.softpressure, "effector_collection", text="Effectors")
        for names in (("weight_gravity", "weight_all"), tuple(WEIGHTS.values())):
            column = layout.column(align=True)
            for name in names:
                column.prop(obj.softpressure, name, slider=True)


SIDEBAR, PHYSICS = in_both_places(goal=Goal, fields=FieldWeights)
SOFTPRESSURE_PT_goal, SOFTPRESSURE_PT_fields = SIDEBAR

CLASSES = (*SIDEBAR, *PHYSICS)
