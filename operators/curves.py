"""Curves of the active body in the Graph Editor: an editor to read them in."""

from typing import Any

import bpy

from ..softpressure.scene_io.blender_types import Context
from ..softpressure.viewport import curves
from .needs import NeedingOperator

#: Share of the viewport that a new editor takes.
_SHARE = 0.5


class SOFTPRESSURE_OT_open_curves(NeedingOperator, bpy.types.Operator):
    """Split the 3D viewport and show the curves in a Graph Editor below it."""

    bl_label = "Open Graph Editor"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a viewport that can be split."""
        if context.screen is None or curves.viewport_of(context.screen) is None:
            return False
        if context.screen.show_fullscreen:
            cls.poll_message_set("Leave the maximized area first (Ctrl Space)")
            return False
        return True

    def execute(self, context: Context) -> set[Any]:
        """Split the largest viewport."""
        context.scene.softpressure.show_curves = True
        area = curves.viewport_of(context.screen)
        before = set(context.screen.areas[:])
        with context.temp_override(area=area, region=area.regions[-1]):
            bpy.ops.screen.area_split(direction="HORIZONTAL", factor=_SHARE)
        (lower,) = set(context.screen.areas[:]) - before
        if lower.y > area.y:
            lower = area
        lower.ui_type = "FCURVES"
        space = lower.spaces.active
        space.show_region_ui = space.show_region_channels = False
        return {"FINISHED"}


CLASSES = (SOFTPRESSURE_OT_open_curves,)
