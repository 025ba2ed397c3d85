"""Panel of all bodies of the scene."""

from typing import Any

import bpy

from ..softpressure.properties.object_properties import KINDS
from ..softpressure.reports import status
from ..softpressure.scene_io import instances
from ..softpressure.scene_io.blender_types import Context, Layout
from .layout import in_both_places

_ICONS = {item[0]: item[3] for item in KINDS}


class SOFTPRESSURE_UL_bodies(bpy.types.UIList):
    """The bodies of a scene: kind, name and state."""

    def draw_item(
        self,
        context: Context,
        layout: Layout,
        _data: Any,
        obj: Any,
        _icon: Any,
        _active_data: Any,
        _active_property: Any,
        _index: Any,
        _flags: Any,
    ) -> None:
        """One object."""
        row = layout.row(align=True)
        row.prop(obj, "name", text="", emboss=False, icon=_ICONS[obj.softpressure.kind])
        row.label(text="", icon=status.state_icon(context.scene, obj))

    def filter_items(self, _context: Context, data: Any, _name: Any) -> Any:
        """Bodies alone, by name."""
        objects = list(data.objects)
        text = self.filter_name.lower()
        flags = [
            self.bitflag_filter_item
            if instances.can_collide(obj) and obj.softpressure.kind != "NONE" and text in obj.name.lower()
            else 0
            for obj in objects
        ]
        by_name = sorted(range(len(objects)), key=lambda number: objects[number].name.lower())
        order = [0] * len(objects)
        for place, number in enumerate(by_name):
            order[number] = place
        return flags, order


class Bodies:
    """All bodies of the scene."""

    layout: Layout
    bl_label = "Bodies"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """The list, and operators on several bodies."""
        layout = self.layout
        scene = context.scene
        layout.template_list("SOFTPRESSURE_UL_bodies", "", scene, "objects", scene.softpressure, "active_body", rows=4)
        layout.operator("softpressure.copy_to_selected", icon="PASTEDOWN")


SIDEBAR, SCENE = in_both_places(bodies=Bodies)

CLASSES = (SOFTPRESSURE_UL_bodies, *SIDEBAR)
