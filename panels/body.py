"""Panels of the active object as a body: what every body needs, and below it what is advanced."""

from typing import Any

import bpy

from ..softpressure.bodies import materials, modifier_notes
from ..softpressure.properties.object_properties import BODY_TYPES, KINDS
from ..softpressure.properties.parameter_properties import parameters
from ..softpressure.reports import simulation_mesh_notes, status
from ..softpressure.scene_io import hoses, instances
from ..softpressure.scene_io.blender_types import Context, Layout
from . import preferences
from .controls import draw_controls
from .diagnostics import draw_fixes
from .gas import Gas, draw_hose
from .layout import PartOfBody, draw_group, draw_prop, draw_setting, draw_text, in_both_places, is_offered
from .presets import SOFTPRESSURE_PT_presets

_KINDS = {item[0]: item for item in KINDS}
_TYPES = {item[0]: item for item in (*BODY_TYPES, *KINDS)}
#: What Blender converts to a mesh.
_CONVERTIBLE = {"CURVE", "SURFACE", "FONT", "META"}


def settings_of(obj: bpy.types.Object) -> str:
    """Whose settings of `core/parameters/` a body has."""
    settings = obj.softpressure
    body = str(settings.body_type if settings.kind == "SOFT" else settings.kind)
    if body == "TRUSS" and _is_flat(obj):
        return "FLAT_TRUSS"
    return body


def _is_flat(obj: bpy.types.Object) -> bool:
    """Whether a soft body moves within a plane."""
    if obj.softpressure.kind != "SOFT" or obj.softpressure.body_type not in {"LOOP", "TRUSS"}:
        return False
    from ..softpressure.scene_io import flat_shape

    return flat_shape.is_flat_object(obj)


class Body:
    """Type and main settings of the active object."""

    layout: Layout
    bl_label = "Body"

    def draw_presets(self, header: Layout, context: Context) -> None:
        """The switch that shows all other settings."""
        shown = preferences.preferences()
        if shown is not None and context.object is not None and context.object.softpressure.kind != "NONE":
            header.prop(shown, "advanced")

    def draw(self, context: Context) -> None:
        """Type and settings; in Properties the controls above, which the tab has at its top."""
        layout = self.layout
        obj = context.object
        if getattr(self, "bl_space_type", "") == "PROPERTIES":
            draw_controls(layout, context)
        if hoses.is_hose(obj):
            draw_hose(layout, context)
            return
        if obj is None or not instances.can_collide(obj):
            _draw_no_mesh(layout, context)
            return
        settings = obj.softpressure
        if settings.kind == "NONE":
            column = layout.column(align=True)
            for kind, label in (("SOFT", "Soft Body"), ("RIGID", "Rigid Body"), ("COLLIDER", "Collider")):
                if kind == "COLLIDER" or obj.type == "MESH":
                    column.operator("softpressure.add_body", text=f"Add {label}", icon=_KINDS[kind][3]).kind = kind
        else:
            _draw_type(layout, settings)
        problem = status.problem_text(context.scene, obj)
        if problem:
            from ..softpressure.bodies import mesh_checks

            draw_text(layout, context, problem)
            draw_fixes(layout, obj.name, mesh_checks.fixes_for(obj))
        if settings.kind == "NONE":
            return
        if settings.is_baked:
            draw_text(layout, context, "The body is baked. Free the bake to change its settings.", "INFO")
        layout = layout.column()
        layout.use_property_split = True
        layout.enabled = not settings.is_baked
        if settings.kind == "SOFT":
            row = _row(layout, "Material")
            row.popover(panel=SOFTPRESSURE_PT_presets.__name__, text=materials.name_of(settings), icon="MATERIAL")
        draw_group(layout, settings, settings_of(obj), "BODY")
        if settings.kind == "SOFT":
            _draw_pins(layout, obj)
        for text, fix in () if problem else modifier_notes.notes(obj):
            draw_text(layout, context, text, "INFO")
            draw_fixes(layout, obj.name, (fix,))
        if settings.kind == "SOFT":
            _draw_notes(layout, context)


def _draw_no_mesh(layout: Layout, context: Context) -> None:
    """What can be done about an object that is no mesh."""
    obj = context.object
    if obj is not None and obj.type in _CONVERTIBLE:
        draw_text(layout, context, "Only meshes can be bodies.", "INFO")
        layout.operator("object.convert", text="Convert to Mesh", icon="MESH_DATA").target = "MESH"
    else:
        draw_text(layout, context, "Select a mesh object to make it a body.", "INFO")


def _row(layout: Layout, label: str) -> Layout:
    """The right part of a row whose left part is a label, as Blender splits those of properties."""
    split = layout.split(factor=0.4)
    left = split.row()
    left.alignment = "RIGHT"
    left.label(text=label)
    return split.row(align=True)


def _draw_type(layout: Layout, settings: Any) -> None:
    """What the body is, and the way out."""
    _, name, _, icon, _ = _TYPES[settings.body_type if settings.kind == "SOFT" else settings.kind]
    row = _row(layout, "Type")
    field = row.row(align=True)
    field.enabled = not settings.is_baked
    field.operator_menu_enum("softpressure.set_type", "type", text=name, icon=icon)
    row.operator("softpressure.remove_body", text="", icon="X")


def _draw_pins(layout: Layout, obj: bpy.types.Object) -> None:
    """One group: weight 1 follows the animation, less is pulled. Files may have a group of pins alone besides."""
    settings = obj.softpressure
    if settings.pin_group:
        layout.prop_search(settings, "pin_group", obj, "vertex_groups")
    if settings.goal_group or not settings.pin_group:
        text = "Goal Group" if settings.pin_group else "Pin Group"
        layout.prop_search(settings, "goal_group", obj, "vertex_groups", text=text)


def _draw_notes(layout: Layout, context: Context) -> None:
    """What is to be known of a soft body, and what it measures in this frame."""
    scene, obj = context.scene, context.object
    if _is_flat(obj):
        _draw_flat(layout, context)
    # always there, so that nothing below moves under the mouse when the first frame is simulated
    for text in filter(None, (status.inflation_text(scene, obj), status.measurement_text(scene, obj))):
        layout.label(text=text, icon="INFO")


def _draw_flat(layout: Layout, context: Context) -> None:
    """Notes on the motion of a flat body, and the operator that inflates it."""
    from ..softpressure.bodies import setup
    from ..softpressure.scene_io import flat_shape

    obj = context.object
    if flat_shape.is_out_of_gravity(context.scene, obj):
        draw_text(layout, context, "Moves within its own plane only; gravity does not act in that plane.")
    else:
        draw_text(layout, context, "Moves within its own plane only.", "INFO")
    if setup.can_inflate(obj):
        layout.operator("softpressure.inflate", text="Inflate to a Cushion")


class Shape(PartOfBody):
    """What is simulated of a soft body, and what its drawn shape is."""

    bl_label = "Shape"

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """Mesh, cells, rest shape; what is simulated in numbers."""
        settings, scene = obj.softpressure, bpy.context.scene
        assert scene is not None
        body = settings_of(obj)
        for parameter in parameters.groups(body).get("SHAPE", ()):
            row = layout.row()
            if parameter.name == "start_at_rest":
                row.enabled = settings.pressure_at == "REST" and settings.gas_by == "PRESSURE"
            if is_offered(scene, settings, parameter):
                draw_setting(row, settings, parameter)
            if parameter.name == "simulation_mesh" and settings.simulation_mesh == "CUSTOM":
                layout.prop(settings, "cage_object")
        if text := simulation_mesh_notes.text(scene, obj):
            draw_text(layout, bpy.context, text, "MESH_ICOSPHERE")
        for text in simulation_mesh_notes.notes(scene, obj):
            draw_text(layout, bpy.context, text, "INFO")


class Collisions(PartOfBody):
    """What a body touches, and how near."""

    bl_label = "Collisions"
    kinds = ("SOFT", "RIGID", "COLLIDER")

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """Thickness, partners, contact with itself."""
        draw_group(layout, obj.softpressure, settings_of(obj), "CONTACT")
        draw_prop(layout, obj.softpressure, "collision_collection", "Collision Collection")
        if obj.softpressure.kind == "SOFT":
            layout.prop(obj.softpressure, "self_collision")


class Damping(PartOfBody):
    """How a body resists other than stretching, and how its motion dies away."""

    bl_label = "Bending and Damping"
    kinds = ("SOFT", "RIGID")

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The settings that the body's type has."""
        draw_group(layout, obj.softpressure, settings_of(obj), "DAMPING")


class Given(PartOfBody):
    """Which quantities of a soft body are entered: pressure or amount of gas, modulus or spring constant, mass."""

    bl_label = "Input Units"
    switch = "research"

    @classmethod
    def is_used(cls, context: Context) -> bool:
        """Whether the body has other quantities than usual."""
        settings = context.object.softpressure
        return any(getattr(settings, each.name) != each.default for each in parameters.GIVEN.values())

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The choices that the body's type has, and what the other quantities are."""
        from ..softpressure.reports import quantities

        settings, scene = obj.softpressure, bpy.context.scene
        assert scene is not None
        for choice in parameters.GIVEN.values():
            if settings.body_type in choice.bodies:
                layout.row().prop(settings, choice.name, expand=True)
        if settings.body_type in parameters.SKINS and settings.gas_by == "PRESSURE":
            layout.prop(settings, "temperature")  # of the amount that is shown
        if is_offered(scene, settings, parameters.named("rigid_springs")):
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


class Attach(PartOfBody):
    """What a soft body is glued to, and how its goals pull."""

    bl_label = "Attach and Goal"

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The other body, the vertex group, and whether the attachment is on; then springs of weights below 1."""
        settings = obj.softpressure
        layout.prop(settings, "attach_to")
        layout.prop_search(settings, "attach_group", obj, "vertex_groups")
        row = layout.row()
        row.enabled = settings.attach_to is not None
        row.prop(settings, "is_attached")
        column = layout.column(align=True)
        column.enabled = bool(settings.goal_group)
        column.prop(settings, "goal_stiffness")
        column.prop(settings, "goal_damping")


class Motion(PartOfBody):
    """Whether a body is simulated, and how it starts."""

    bl_label = "Motion"
    kinds = ("SOFT", "RIGID")

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """Active, velocity, spin of rigid bodies, origin of soft ones."""
        layout.prop(obj.softpressure, "is_active")
        layout.prop(obj.softpressure, "velocity")
        if obj.softpressure.kind == "SOFT":
            layout.prop(obj.softpressure, "origin_follows")
        if obj.softpressure.kind == "RIGID":
            layout.prop(obj.softpressure, "angular_velocity")


SIDEBAR, PHYSICS = in_both_places(
    body=Body,
    given=Given,
    shape=Shape,
    collisions=Collisions,
    damping=Damping,
    gas=Gas,
    flow=Flow,
    attach=Attach,
    motion=Motion,
)

CLASSES = (*SIDEBAR, *PHYSICS)
