"""Panel of external forces on the active object."""

import bpy

from ..softpressure.scene_io.blender_types import Layout
from ..softpressure.scene_io.effectors import WEIGHTS
from .layout import PartOfBody, in_both_places


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


SIDEBAR, PHYSICS = in_both_places(fields=FieldWeights)

CLASSES = (*SIDEBAR, *PHYSICS)
