"""Sidebar panels: simulating and baking the scene."""

import bpy

from ..softpressure import session, status
from ..softpressure.blender_types import Context, Layout
from .layout import CATEGORY, draw_text


class SOFTPRESSURE_PT_simulation(bpy.types.Panel):
    """Settings and state of the simulation."""

    bl_label = "Simulation"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY

    def draw(self, context: Context) -> None:
        """Range, steps, buttons, state."""
        layout: Layout = self.layout
        scene = context.scene
        settings = scene.softpressure
        layout.use_property_split = True
        column = layout.column(align=True)
        column.prop(settings, "use_scene_range")
        column.prop(settings, "frame_start")
        column.prop(settings, "frame_end")
        column = layout.column(align=True)
        column.prop(settings, "substeps")
        column.prop(settings, "ambient_pressure")
        column.prop(settings, "threads")
        row = layout.row(align=True)
        row.operator("softpressure.simulate", icon="PLAY")
        row.operator("softpressure.reset", icon="LOOP_BACK")
        layout.label(text=f"Cache: {status.cache_text(scene)}", icon="FILE_CACHE")
        for sentence in status.notices(scene):
            draw_text(layout, context, sentence)


class SOFTPRESSURE_PT_bake(bpy.types.Panel):
    """From the cache to shape keys."""

    bl_label = "Bake"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY

    def draw(self, context: Context) -> None:
        """Buttons, and what a bake costs."""
        layout: Layout = self.layout
        scene = context.scene
        if any(obj.softpressure.is_baked for obj in session.objects(scene, "SOFT")):
            layout.operator("softpressure.free_bake", icon="TRASH")
            return
        layout.operator("softpressure.bake", text="Bake to Shape Keys", icon="SHAPEKEY_DATA").target = "SHAPE_KEYS"
        size = status.bake_size(scene)
        if size > 1e6:
            layout.label(text=f"Takes about {size / 1e6:.0f} MB", icon="INFO")


CLASSES = (SOFTPRESSURE_PT_simulation, SOFTPRESSURE_PT_bake)
