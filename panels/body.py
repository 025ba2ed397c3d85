"""Panels of the active object as a body."""

from typing import Any

import bpy

from ..softpressure.properties.object_properties import KINDS
from ..softpressure.properties.parameter_properties import parameters
from ..softpressure.reports import simulation_mesh_notes, status
from ..softpressure.scene_io import hoses, instances, simulation_mesh_choice
from ..softpressure.scene_io.blender_types import Context, Layout
from .check import draw_fixes
from .controls import draw_controls
from .gas import Fluid, draw_hose
from .layout import PartOfBody, draw_setting, draw_text, in_both_places
from .presets import SOFTPRESSURE_PT_presets

_KINDS = {item[0]: item for item in KINDS}


class Body:
    """Kind and settings of the active object."""

    layout: Layout
    bl_label = "Body"

    def draw_presets(self, header: Layout, context: Context) -> None:
        """The menu of materials, for soft bodies."""
        obj = context.object
        if obj is not None and obj.type == "MESH" and obj.softpressure.kind == "SOFT":
            SOFTPRESSURE_PT_presets.draw_panel_header(header.row())

    def draw(self, context: Context) -> None:
        """The kind, then the settings of that kind; in Properties the controls above, which the tab has at its top."""
        layout = self.layout
        obj = context.object
        if getattr(self, "bl_space_type", "") == "PROPERTIES":
            draw_controls(layout, context)
        if hoses.is_hose(obj):
            draw_hose(layout, context)
            return
        if obj is None or not instances.can_collide(obj):
            draw_text(layout, context, "Select a mesh object to make it a body.", "INFO")
            return
        settings = obj.softpressure
        if settings.kind == "NONE":
            column = layout.column(align=True)
            for kind, label in (("SOFT", "Soft Body"), ("RIGID", "Rigid Body"), ("COLLIDER", "Collider")):
                if kind != "COLLIDER" and obj.type != "MESH":
                    continue
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
            from ..softpressure.bodies import mesh_checks

            draw_text(layout, context, problem)
            draw_fixes(layout, obj.name, mesh_checks.fixes_for(obj))
        if settings.is_baked:
            draw_text(layout, context, "Baked: free the bake to change the settings.", "INFO")
        layout.use_property_split = True
        layout = layout.column()
        layout.enabled = not settings.is_baked
        rows = settings.body_type if settings.kind == "SOFT" else settings.kind
        if rows in {"LOOP", "TRUSS"}:
            from ..softpressure.scene_io import flat_shape

            if flat_shape.is_flat_object(obj):
                rows = "LOOP" if rows == "LOOP" else "FLAT_TRUSS"
                _draw_flat(layout, context)
        if settings.kind in {"SOFT", "RIGID"}:
            layout.prop(settings, "is_active")
        if settings.kind == "SOFT":
            layout.prop(settings, "body_type")
        for name, group in parameters.groups(rows).items():
            if name in {"FLOW", "FLUID"}:
                continue  # have panels of their own
            column = layout.column(align=True)
            for parameter in group:
                if parameters.counts(parameter, rows, settings) and _is_offered(context.scene, settings, parameter):
                    _draw(column, settings, parameter)
                if parameter.name == "simulation_mesh" and settings.simulation_mesh == "CUSTOM":
                    column.prop(settings, "cage_object")
        if settings.kind != "NONE":
            column.prop(settings, "collision_collection", text="Collides With")
        if settings.kind == "SOFT":
            if settings.body_type in parameters.SKINS:
                layout.prop(settings, "self_collision")
            layout.prop_search(settings, "pin_group", obj, "vertex_groups")
            if text := simulation_mesh_notes.text(context.scene, obj):
                layout.label(text=text, icon="MESH_ICOSPHERE")
            for text in simulation_mesh_notes.notes(context.scene, obj):
                draw_text(layout, context, text, "INFO")
            if not problem and (text := simulation_mesh_choice.unfollowed(obj)):
                draw_text(layout, context, text, "INFO")
                draw_fixes(layout, obj.name, ("APPLY_MODIFIER",))
            # always there, so that nothing below moves under the mouse when the first frame is simulated
            for text in filter(None, (status.puff_text(context.scene, obj), status.gauge_text(context.scene, obj))):
                layout.label(text=text, icon="INFO")


def _draw_flat(layout: Layout, context: Context) -> None:
    """Notes on the motion of a flat body, and the operator that inflates it."""
    from ..softpressure.bodies import setup
    from ..softpressure.scene_io import flat_shape

    obj = context.object
    if flat_shape.is_out_of_gravity(context.scene, obj):
        draw_text(layout, context, "Moves within its own plane only; gravity has no part in its plane.")
    else:
        draw_text(layout, context, "Moves within its own plane only.", "INFO")
    if setup.can_inflate(obj):
        layout.operator("softpressure.inflate", text="Inflate to a Cushion")


def _is_offered(scene: bpy.types.Scene, settings: Any, parameter: parameters.Parameter) -> bool:
    """Whether the scene's method reads a setting, or refuses the body for it."""
    if parameter.name == "simulation_vertices" and settings.simulation_mesh in {"DRAWN", "CUSTOM"}:
        return False
    is_read = parameters.is_read_by(parameter, scene.softpressure.solver)
    return is_read or getattr(settings, parameter.name) != parameter.default


def _draw(column: Layout, settings: Any, parameter: parameters.Parameter) -> None:
    """A row."""
    row = column
    if parameter.name == "start_at_rest":
        row = column.row()
        row.enabled = settings.pressure_at == "REST" and settings.gas_by == "PRESSURE"
    draw_setting(row, settings, parameter)


class Given(PartOfBody):
    """What of a soft body is given: pressure or amount of gas, modulus or spring constant, mass or point mass."""

    bl_label = "Quantities"

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The choices that the body's type has, and what the other quantities are."""
        from ..softpressure.reports import quantities

        settings, scene = obj.softpressure, bpy.context.scene
        assert scene is not None
        for choice in parameters.GIVEN.values():
            if settings.body_type in choice.bodies:
                layout.row().prop(settings, choice.name, expand=True)
        if settings.body_type in parameters.SKINS and settings.gas_by == "PRESSURE":
            layout.prop(settings, "temperature", text="Temp. (K)")  # of the amount that is shown
        if _is_offered(scene, settings, parameters.named("rigid_springs")):
            layout.prop(settings, "rigid_springs")
        for text in quantities.texts(scene, obj):
            layout.label(text=text, icon="INFO")


class Flow(PartOfBody):
    """Creep, stiffening, tears and bonds of a soft body."""

    bl_label = "Flow and Tear"

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The settings that the body's type has."""
        for parameter in parameters.groups(obj.softpressure.body_type)["FLOW"]:
            draw_setting(layout, obj.softpressure, parameter)
            if parameter.name != "tear_strain":
                continue
            if obj.softpressure.body_type == "MEMBRANE":
                layout.prop_search(obj.softpressure, "weak_group", obj, "vertex_groups")
            if obj.softpressure.body_type != "LOOP":
                layout.operator("softpressure.hide_torn", icon="MOD_MASK")


class Motion(PartOfBody):
    """Start velocities of a body."""

    bl_label = "Start Motion"
    kinds = ("SOFT", "RIGID")

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """Velocity, and spin of rigid bodies."""
        layout.prop(obj.softpressure, "velocity")
        if obj.softpressure.kind == "RIGID":
            layout.prop(obj.softpressure, "angular_velocity", text="Spin (per s)")


class Attach(PartOfBody):
    """Attachment of a soft body."""

    bl_label = "Attach"

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The other body, the vertex group, and whether the attachment is on."""
        settings = obj.softpressure
        layout.prop(settings, "attach_to", text="To")
        layout.prop_search(settings, "attach_group", obj, "vertex_groups", text="Group")
        row = layout.row()
        row.enabled = settings.attach_to is not None
        row.prop(settings, "is_attached")


SIDEBAR, PHYSICS = in_both_places(body=Body, given=Given, fluid=Fluid, flow=Flow, motion=Motion, attach=Attach)
(
    SOFTPRESSURE_PT_body,
    SOFTPRESSURE_PT_given,
    SOFTPRESSURE_PT_fluid,
    SOFTPRESSURE_PT_flow,
    SOFTPRESSURE_PT_motion,
    SOFTPRESSURE_PT_attach,
) = SIDEBAR

CLASSES = (*SIDEBAR, *PHYSICS)


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
