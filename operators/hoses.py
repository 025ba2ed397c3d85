"""Adding hoses."""

from typing import Any

import bpy

from ..softpressure.scene_io.blender_types import Context
from .needs import NeedingOperator, unless
from .reports import finish


def _chosen(context: Context) -> list[bpy.types.Object]:
    """The selected soft bodies with gas, the active one last."""
    from ..softpressure.scene_io import hoses

    found = [obj for obj in context.selected_objects if hoses.has_gas(obj)]
    return sorted(found, key=lambda obj: (obj == context.object, obj.name_full))


class SOFTPRESSURE_OT_add_hose(NeedingOperator, bpy.types.Operator):
    """Link the gas of the two selected bodies by a hose: the selected curve or empty, or a new empty."""

    bl_label = "Add Hose"
    needs = (
        unless(
            lambda context: context.mode == "OBJECT" and len(_chosen(context)) == 2,
            "Select two inflated bodies in Object Mode",
        ),
    )

    def execute(self, context: Context) -> set[Any]:
        """Add the hose, which becomes the active object."""
        from ..softpressure.scene_io import hoses

        one, other = _chosen(context)
        tubes = [obj for obj in context.selected_objects if obj.type in hoses.TYPES]
        if tubes:
            hose = tubes[0]
            hoses.link(hose, one, other)
        else:
            hose = hoses.add(context.scene, one, other)
        for obj in context.selected_objects:
            obj.select_set(False)
        if hose.name in context.view_layer.objects:
            hose.select_set(True)
            context.view_layer.objects.active = hose
        return finish(self, [f"{hose.name}: links {one.name} and {other.name}"], [])


CLASSES = (SOFTPRESSURE_OT_add_hose,)
