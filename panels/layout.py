"""Shared by all panels: their places, wrapped sentences, and the link to the manual."""

import textwrap
from pathlib import Path
from typing import Any

import bpy

from ..softpressure.properties.parameter_properties import Parameter
from ..softpressure.scene_io import hoses, instances
from ..softpressure.scene_io.blender_types import Context, Layout

CATEGORY = "Soft Pressure"
_MANUAL = Path(__file__).resolve().parent.parent / "manual.html"

Panel = Any  # a class that Blender registers


class PartOfBody:
    """Content of a panel below the body's: settings of the active object, locked while it is baked."""

    layout: Layout
    parent = "body"
    bl_options = {"DEFAULT_CLOSED"}
    #: Kinds of bodies that have it.
    kinds: tuple[str, ...] = ("SOFT",)

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Only such bodies have it."""
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.softpressure.kind in cls.kinds

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
    """The panels of these contents by name: in the sidebar of the 3D viewport, and in Properties > Physics.

    A content has `bl_label`, `draw`, and if it wants `poll`, `bl_options`, `draw_presets`, which draws into the header,
    and `parent`, the name of the panel it lies in. In Properties, where others have panels, too, all lie in the body's.
    """
    sidebar: dict[str, Any] = {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": CATEGORY}
    physics: dict[str, Any] = {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": "physics"}
    found: tuple[list[Panel], list[Panel]] = ([], [])
    for name, content in contents.items():
        parent = getattr(content, "parent", "")
        common = {"draw_header_preset": _draw_header, "section": name, "__doc__": content.__doc__}
        own: dict[str, Any] = {"bl_parent_id": f"SOFTPRESSURE_PT_{parent}"} if parent else {}
        found[0].append(type(f"SOFTPRESSURE_PT_{name}", (content, bpy.types.Panel), common | sidebar | own))
        own = {"bl_parent_id": f"SOFTPRESSURE_PT_physics_{parent or 'body'}"}
        if name == "body":
            own = {"bl_label": CATEGORY, "poll": classmethod(_is_body)}
        found[1].append(type(f"SOFTPRESSURE_PT_physics_{name}", (content, bpy.types.Panel), common | physics | own))
    return tuple(found[0]), tuple(found[1])


def _is_body(_cls: Panel, context: Context) -> bool:
    obj = context.object
    return obj is not None and (hoses.is_hose(obj) or (instances.can_collide(obj) and obj.softpressure.kind != "NONE"))


def _draw_header(self: Panel, context: Context) -> None:
    """At the right of the panel's header: its presets, if it has any, and the way to its section of the manual."""
    row = self.layout.row(align=True)
    if hasattr(self, "draw_presets"):
        self.draw_presets(row, context)
    row.operator("wm.url_open", text="", icon="HELP", emboss=False).url = f"{_MANUAL.as_uri()}#{self.section}"


def draw_setting(layout: Layout, settings: Any, parameter: Parameter) -> None:
    """The row of a declared setting.

    Blender knows no pressure and no stiffness, and shows a mass times the cube of the unit scale: the label names it.
    """
    layout.prop(settings, parameter.name, **({"text": parameter.short} if parameter.short else {}))


def draw_text(layout: Layout, context: Context, text: str, icon: str = "ERROR") -> None:
    """A sentence, wrapped to the width of the region, with an icon at its first line."""
    scale = context.preferences.system.ui_scale
    width = max(20, int((context.region.width / scale - 60) / 6.5))
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(text, width)):
        column.label(text=line, icon=icon if number == 0 else "BLANK1")
