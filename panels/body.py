"""Sidebar panel: the active object as a body."""

import bpy

from ..softpressure import session, status
from ..softpressure.blender_types import Context, Layout
from .layout import CATEGORY, draw_text

_ROWS = {
    "SOFT": (
        ("mass", "gauge_pressure"),
        ("stretch_modulus", "bend_modulus", "damping"),
        ("friction", "bounciness", "thickness"),
    ),
    "COLLIDER": (("friction", "bounciness", "thickness"),),
}
#: Blender knows no pressure and no stiffness, so the label names the unit, short enough for a narrow sidebar.
_LABELS = {
    "gauge_pressure": "Pressure (Pa)",
    "stretch_modulus": "Stretch (N/m)",
    "bend_modulus": "Bend (N m)",
    "damping": "Damping (1/s)",
}


class SOFTPRESSURE_PT_body(bpy.types.Panel):
    """How the active object takes part."""

    bl_label = "Body"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY

    def draw(self, context: Context) -> None:
        """The kind, then only what belongs to it."""
        layout: Layout = self.layout
        obj = context.object
        if obj is None or obj.type != "MESH":
            draw_text(layout, context, "Select a mesh object to make it a body.", "INFO")
            return
        settings = obj.softpressure
        row = layout.row(align=True)
        if settings.kind == "NONE":
            for kind, label in (("SOFT", "Add Soft Body"), ("COLLIDER", "Add Collider")):
                row.operator("softpressure.add_body", text=label).kind = kind
        else:
            row.prop(settings, "kind", text="")
            row.operator("softpressure.remove_body", text="", icon="X")
        problem = session.problems.get(obj.session_uid)
        if problem:
            draw_text(layout, context, problem)
        if settings.is_baked:
            draw_text(layout, context, "Baked: free the bake to change the settings.", "INFO")
        layout.use_property_split = True
        layout = layout.column()
        layout.active = not settings.is_baked
        for names in _ROWS.get(settings.kind, ()):
            column = layout.column(align=True)
            for name in names:
                if name in _LABELS:
                    column.prop(settings, name, text=_LABELS[name])
                else:
                    column.prop(settings, name)
        if settings.kind == "SOFT":
            layout.prop_search(settings, "pin_group", obj, "vertex_groups")
            gauge = status.gauge_text(context.scene, obj)
            if gauge:
                layout.label(text=gauge, icon="INFO")


CLASSES = (SOFTPRESSURE_PT_body,)
