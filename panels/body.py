"""Panels of the active object as a body."""

from typing import Any

import bpy

from ..softpressure import status
from ..softpressure.blender_types import Context, Layout
from ..softpressure.engine import engine
from ..softpressure.properties import KINDS
from .check import draw_fixes
from .layout import PartOfBody, draw_text, in_both_places
from .presets import SOFTPRESSURE_PT_presets

#: What every body has.
_CONTACT = ("friction", "bounciness", "thickness", "collision_collection")
_ROWS = {
    "MEMBRANE": (
        ("body_type",),
        ("mass", "gauge_pressure", "pressure_at"),
        ("drawn_shape",),
        ("stretch_modulus", "bend_modulus", "damping"),
        _CONTACT,
    ),
    "LOOP": (
        ("body_type",),
        ("mass", "gauge_pressure", "pressure_at"),
        ("drawn_shape",),
        ("depth",),
        ("stretch_modulus", "bend_modulus", "damping"),
        _CONTACT,
    ),
    "FLAT_TRUSS": (
        ("body_type",),
        ("mass", "cell_size", "depth"),
        ("modulus", "particle_radius", "damping"),
        _CONTACT,
    ),
    "TRUSS": (
        ("body_type",),
        ("mass", "cell_size"),
        ("modulus", "particle_radius", "damping"),
        _CONTACT,
    ),
    "SOLID": (
        ("body_type",),
        ("mass", "cell_size"),
        ("modulus", "poisson_ratio", "damping"),
        _CONTACT,
    ),
    "RIGID": (
        ("rigid_shape", "mass"),
        ("linear_damping", "angular_damping"),
        _CONTACT,
    ),
    "COLLIDER": (_CONTACT,),
}
#: Blender knows no pressure and no stiffness, and shows a mass times the cube of the unit scale, so the label names the
#: unit, short enough for a narrow sidebar.
_LABELS = {
    "mass": "Mass (kg)",
    "gauge_pressure": "Pressure (Pa)",
    "pressure_at": " ",  # of the pressure above
    "stretch_modulus": "Stretch (N/m)",
    "bend_modulus": "Bend (N m)",
    "modulus": "Young's (Pa)",
    "poisson_ratio": "Poisson",
    "damping": "Damping (1/s)",
    "linear_damping": "Damping (1/s)",
    "angular_damping": "Spin Damping",
    "collision_collection": "Collides With",
}


_KINDS = {item[0]: item for item in KINDS}


class Body:
    """How the active object takes part."""

    layout: Layout
    bl_label = "Body"

    def draw_presets(self, header: Layout, context: Context) -> None:
        """The menu of materials, where there is something to give one."""
        obj = context.object
        if obj is not None and obj.type == "MESH" and obj.softpressure.kind == "SOFT":
            SOFTPRESSURE_PT_presets.draw_panel_header(header.row())

    def draw(self, context: Context) -> None:
        """The kind, then only what belongs to it."""
        layout = self.layout
        obj = context.object
        if obj is None or obj.type != "MESH":
            draw_text(layout, context, "Select a mesh object to make it a body.", "INFO")
            return
        settings = obj.softpressure
        if settings.kind == "NONE":
            column = layout.column(align=True)
            for kind, label in (("SOFT", "Soft Body"), ("RIGID", "Rigid Body"), ("COLLIDER", "Collider")):
                column.operator("softpressure.add_body", text=f"Add {label}", icon=_KINDS[kind][3]).kind = kind
        else:
            row = layout.row(align=True)
            field = row.row(align=True)
            field.enabled = not settings.is_baked
            _, name, _, icon, _ = _KINDS[settings.kind]
            field.operator_menu_enum("softpressure.add_body", "kind", text=name, icon=icon)
            row.operator("softpressure.remove_body", text="", icon="X")
        problem = status.problem_text(context.scene, obj)
        if problem:
            draw_text(layout, context, problem)
            draw_fixes(layout, obj.name, engine().flaws.fixes_for(obj))
        if settings.is_baked:
            draw_text(layout, context, "Baked: free the bake to change the settings.", "INFO")
        layout.use_property_split = True
        layout = layout.column()
        layout.enabled = not settings.is_baked
        rows = settings.body_type if settings.kind == "SOFT" else settings.kind
        if rows in {"LOOP", "TRUSS"} and engine().flat_shape.is_flat_object(obj):
            rows = "LOOP" if rows == "LOOP" else "FLAT_TRUSS"
            _draw_flat(layout, context)
        if settings.kind in {"SOFT", "RIGID"}:
            layout.prop(settings, "is_active")
        for names in _ROWS.get(rows, ()):
            column = layout.column(align=True)
            for name in names:
                if name == "drawn_shape":
                    _draw_shape(column, settings)
                elif name in _LABELS:
                    column.prop(settings, name, text=_LABELS[name])
                else:
                    column.prop(settings, name)
        if settings.kind == "SOFT":
            if settings.body_type in {"MEMBRANE", "LOOP"}:
                layout.prop(settings, "self_collision")
            layout.prop_search(settings, "pin_group", obj, "vertex_groups")
            # always there, so that nothing below moves under the mouse when the first frame is simulated
            for text in filter(None, (status.puff_text(context.scene, obj), status.gauge_text(context.scene, obj))):
                layout.label(text=text, icon="INFO")


def _draw_flat(layout: Layout, context: Context) -> None:
    """How a flat body moves, and what else it could be."""
    obj = context.object
    if engine().flat_shape.is_out_of_gravity(context.scene, obj):
        draw_text(layout, context, "Moves within its own plane only; gravity has no part in its plane.")
    else:
        draw_text(layout, context, "Moves within its own plane only.", "INFO")
    if engine().bodies.can_inflate(obj):
        layout.operator("softpressure.inflate", text="Inflate to a Cushion")


def _draw_shape(column: Layout, settings: Any) -> None:
    """What the drawn shape is, and whether the body starts at rest."""
    column.prop(settings, "drawn_shape")
    row = column.row()
    row.active = settings.pressure_at == "REST"
    row.prop(settings, "start_at_rest")


class Motion(PartOfBody):
    """How a body moves when the simulation starts."""

    bl_label = "Start Motion"
    kinds = ("SOFT", "RIGID")

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """Velocity, and spin of rigid bodies."""
        layout.prop(obj.softpressure, "velocity")
        if obj.softpressure.kind == "RIGID":
            layout.prop(obj.softpressure, "angular_velocity", text="Spin (per s)")


class Attach(PartOfBody):
    """What a soft body is glued to."""

    bl_label = "Attach"

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The other body, which vertices, and whether they are."""
        settings = obj.softpressure
        layout.prop(settings, "attach_to", text="To")
        layout.prop_search(settings, "attach_group", obj, "vertex_groups", text="Group")
        row = layout.row()
        row.active = settings.attach_to is not None
        row.prop(settings, "is_attached")


SOFTPRESSURE_PT_body, SOFTPRESSURE_PT_physics_body = in_both_places(Body, "body")
SOFTPRESSURE_PT_motion, SOFTPRESSURE_PT_physics_motion = in_both_places(Motion, "motion")
SOFTPRESSURE_PT_attach, SOFTPRESSURE_PT_physics_attach = in_both_places(Attach, "attach")

CLASSES = (
    SOFTPRESSURE_PT_body,
    SOFTPRESSURE_PT_motion,
    SOFTPRESSURE_PT_attach,
    SOFTPRESSURE_PT_physics_body,
    SOFTPRESSURE_PT_physics_motion,
    SOFTPRESSURE_PT_physics_attach,
)


def _draw_add(self: Any, context: Context) -> None:
    """Below Blender's own buttons in Properties > Physics."""
    obj = context.object
    if obj is None or obj.type != "MESH":
        return
    column = self.layout.column(align=True)
    if obj.softpressure.kind == "NONE":
        column.operator_menu_enum("softpressure.add_body", "kind", text="Soft Pressure", icon="SPHERE")
    else:
        column.operator("softpressure.remove_body", text="Soft Pressure", icon="X")


def register() -> None:
    """Put the button beside those of Cloth and Rigid Body."""
    physics_buttons: Any = bpy.types.PHYSICS_PT_add
    physics_buttons.append(_draw_add)


def unregister() -> None:
    """Take it away."""
    physics_buttons: Any = bpy.types.PHYSICS_PT_add
    physics_buttons.remove(_draw_add)
