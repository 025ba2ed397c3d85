"""Curves of the active body in the Graph Editor: reading values, and an editor to read them in."""

from typing import Any

import bpy

from ..softpressure.scene_io.blender_types import Context
from ..softpressure.viewport import curves

#: Share of the viewport that a new editor takes.
_SHARE = 0.5


class SOFTPRESSURE_OT_read_curves(bpy.types.Operator):
    """Follows the mouse over the curves of a Graph Editor."""

    bl_idname = "softpressure.read_curves"
    bl_label = "Read Curves"
    bl_description = "Read the curves of Soft Pressure at the frame under the mouse"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Only where curves are drawn."""
        return context.scene.softpressure.show_curves

    def invoke(self, context: Context, event: bpy.types.Event) -> set[Any]:
        """The mouse was moved; the event is left to others."""
        curves.follow_mouse(context, event)
        return {"PASS_THROUGH"}


class SOFTPRESSURE_OT_open_curves(bpy.types.Operator):
    """Makes room for curves: a Graph Editor below the 3D viewport."""

    bl_idname = "softpressure.open_curves"
    bl_label = "Open Graph Editor"
    bl_description = "Split the 3D viewport and show the curves in a Graph Editor below it"
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


CLASSES = (SOFTPRESSURE_OT_read_curves, SOFTPRESSURE_OT_open_curves)
