"""Shared by all panels: their places, wrapped sentences, and rows of settings."""

import textwrap
from typing import Any

import bpy

from ..softpressure.properties import automatic
from ..softpressure.properties.parameter_properties import Parameter, parameters
from ..softpressure.scene_io import hoses, instances
from ..softpressure.scene_io.blender_types import Context, Layout
from . import preferences

CATEGORY = "Soft Pressure"
#: Letters of a label that fit beside its field.
_FITTING = 13

Panel = Any  # a class that Blender registers


class Part:
    """Content of a panel that lies in another one, closed at first."""

    layout: Layout
    bl_options = {"DEFAULT_CLOSED"}
    parent = "simulation"
    #: The switch of the preferences that shows it; empty if it is always shown.
    switch = ""

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether it is switched on, or in use."""
        return not cls.switch or preferences.shows(cls.switch) or cls.is_used(context)

    @classmethod
    def is_used(cls, _context: Context) -> bool:
        """Whether the file uses it, so that it is shown in any case."""
        return False


class PartOfBody(Part):
    """Content of a panel below the body's: settings of the active object, locked while it is baked."""

    parent = "body"
    switch = "advanced"
    #: Kinds of bodies that have it.
    kinds: tuple[str, ...] = ("SOFT",)

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Only such bodies have it."""
        obj = context.object
        is_such = obj is not None and instances.can_collide(obj) and obj.softpressure.kind in cls.kinds
        return is_such and super().poll(context)

    def draw(self, context: Context) -> None:
        """The settings."""
        layout = self.layout
        layout.use_property_split = True
        layout.enabled = not context.object.softpressure.is_baked
        self.draw_settings(layout, context.object)

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """What each of them has."""
        raise NotImplementedError


def in_both_places(**contents: type) -> tuple[tuple[Panel, ...], tuple[Panel, ...]]:
    """The panels of these contents by name: in the sidebar of the 3D viewport, and in Properties.

    A content has `bl_label`, `draw`, and if it wants `poll`, `bl_options`, `draw_presets`, which draws into the header,
    and `parent`, the name of the panel it lies in. In Properties those of bodies are in Physics, those of the scene in
    Scene; as others have panels there, too, all lie in the body's or in *Simulation*, which are named after us.
    """
    sidebar: dict[str, Any] = {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": CATEGORY}
    properties: dict[str, Any] = {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW"}
    found: tuple[list[Panel], list[Panel]] = ([], [])
    for name, content in contents.items():
        parent = getattr(content, "parent", "")
        common = {"draw_header_preset": _draw_header, "section": name, "__doc__": content.__doc__}
        own: dict[str, Any] = {"bl_parent_id": f"SOFTPRESSURE_PT_{parent}"} if parent else {}
        found[0].append(type(f"SOFTPRESSURE_PT_{name}", (content, bpy.types.Panel), common | sidebar | own))
        is_of_body = name == "body" or parent == "body"
        root, context = ("body", "physics") if is_of_body else ("simulation", "scene")
        own = {"bl_context": context, "bl_parent_id": f"SOFTPRESSURE_PT_{context}_{parent or root}"}
        if name == root:
            own = {"bl_context": context, "bl_label": CATEGORY}
            own |= {"poll": classmethod(_is_body)} if is_of_body else {"bl_options": {"DEFAULT_CLOSED"}}
        found[1].append(
            type(f"SOFTPRESSURE_PT_{context}_{name}", (content, bpy.types.Panel), common | properties | own)
        )
    return tuple(found[0]), tuple(found[1])


def _is_body(_cls: Panel, context: Context) -> bool:
    obj = context.object
    return obj is not None and (hoses.is_hose(obj) or (instances.can_collide(obj) and obj.softpressure.kind != "NONE"))


def _draw_header(self: Panel, context: Context) -> None:
    """At the right of the panel's header, if it has anything there."""
    if hasattr(self, "draw_presets"):
        self.draw_presets(self.layout.row(align=True), context)


def draw_setting(layout: Layout, settings: Any, parameter: Parameter) -> None:
    """The row of a declared setting.

    Blender knows no pressure and no stiffness, and shows a mass times the cube of the unit scale: the label names it.
    One that may be automatic has a box for a value of one's own, and shows the number that it has else.
    """
    if parameter.name not in automatic.NAMES:
        draw_prop(layout, settings, parameter.name, parameter.short or parameter.label)
        return
    row = layout.row(heading=parameter.short or parameter.label)
    row.use_property_decorate = False
    row.prop(settings, automatic.box_of(parameter.name), text="")
    if automatic.is_own(settings, parameter.name):
        row.prop(settings, parameter.name, text="")
    else:
        row.label(text=automatic.text(settings, parameter.name))


def draw_prop(layout: Layout, settings: Any, name: str, label: str) -> None:
    """A row of a property; a label that would be cut at the sidebar's default width gets more than its two fifths."""
    if len(label) <= _FITTING or settings.bl_rna.properties[name].type == "BOOLEAN":
        layout.prop(settings, name, text=label)
        return
    split = layout.split(factor=0.52, align=True)
    split.use_property_split = False
    left, right = split.row(), split.row(align=True)
    left.alignment = "RIGHT"
    left.label(text=label)
    right.prop(settings, name, text="")
    right.prop_decorator(settings, name)


def draw_group(layout: Layout, settings: Any, body: str, group: str) -> None:
    """The rows of a group of a body's settings that count and that the scene's method reads."""
    scene = bpy.context.scene
    assert scene is not None
    column = layout.column(align=True)
    for parameter in parameters.groups(body).get(group, ()):
        if parameters.counts(parameter, body, settings) and is_offered(scene, settings, parameter):
            draw_setting(column, settings, parameter)


def is_offered(scene: bpy.types.Scene, settings: Any, parameter: Parameter) -> bool:
    """Whether the scene's method reads a setting of a body, or refuses the body for it."""
    if parameter.name == "simulation_vertices" and settings.simulation_mesh in {"DRAWN", "CUSTOM"}:
        return False
    is_read = parameters.is_read_by(parameter, scene.softpressure.solver)
    return is_read or getattr(settings, parameter.name) != parameter.default


def draw_text(layout: Layout, context: Context, text: str, icon: str = "ERROR") -> None:
    """A sentence, wrapped to the width of the region, with an icon at its first line."""
    scale = context.preferences.system.ui_scale
    region = context.region.width if context.region is not None else 300  # none without a window
    width = max(20, int((region / max(scale, 0.1) - 60) / 6.5))
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(text, width)):
        column.label(text=line, icon=icon if number == 0 else "BLANK1")
