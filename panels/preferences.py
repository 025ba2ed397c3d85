"""Preferences of the extension: how much its panels show."""

from typing import Any

import bpy
from bpy.props import BoolProperty

from ..softpressure.scene_io.blender_types import Context, Layout

#: The extension, as Blender lists it.
_EXTENSION = __package__.rpartition(".")[0]


class SOFTPRESSURE_AP_preferences(bpy.types.AddonPreferences):
    """What most scenes do not need is hidden until it is switched on."""

    layout: Layout
    bl_idname = _EXTENSION

    advanced: BoolProperty(name="Advanced", description="Show all settings of bodies, in sub-panels")  # type: ignore[valid-type]
    research: BoolProperty(  # type: ignore[valid-type]
        name="Research Methods", description="Show the methods of published papers, and their quantities"
    )
    analysis: BoolProperty(  # type: ignore[valid-type]
        name="Analysis", description="Show the panels Curves, Overlay, Diagnostics and Sweep"
    )

    def draw(self, _context: Context) -> None:
        """Three switches."""
        column = self.layout.column(heading="Show")
        for name in ("advanced", "research", "analysis"):
            column.prop(self, name)


def preferences() -> Any:
    """Those of the extension; None where Blender does not list it."""
    found = bpy.context.preferences.addons.get(_EXTENSION)
    return found.preferences if found is not None else None


def shows(name: str) -> bool:
    """Whether a switch is on: `advanced`, `research` or `analysis`."""
    return bool(getattr(preferences(), name, False))


CLASSES = (SOFTPRESSURE_AP_preferences,)
