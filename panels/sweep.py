"""The panel that simulates the file with many settings."""

from pathlib import Path

import bpy

from ..softpressure.batch import sweep
from ..softpressure.properties import sweep_properties
from ..softpressure.scene_io.blender_types import Context
from .layout import Part, draw_text, in_both_places

#: How many cases that failed are shown.
_SHOWN = 3


class Sweep(Part):
    """The settings that are varied, and what came of it."""

    bl_label = "Sweep"
    parent = "bake"
    switch = "analysis"

    def draw(self, context: Context) -> None:
        """Settings with their values, how they are run, which cases failed and why, and the folder of the results."""
        layout, wanted = self.layout, bpy.context.window_manager.softpressure
        layout.prop(wanted, "settings", text="", icon="PRESET")
        if not wanted.settings:
            draw_text(layout, context, "Such as Ball.gauge_pressure=500,2000 Ball.mass=0.5,1", "INFO")
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.prop(wanted, "pairwise")
        column.prop(wanted, "workers")
        sweep_properties.take(layout.operator("softpressure.sweep", icon="FILE_REFRESH"), wanted)
        folder = sweep.folder_of(Path(bpy.data.filepath or "untitled.blend"))
        if folder.is_dir():
            failed = sweep.failures(folder)
            for name, reason in failed[:_SHOWN]:
                draw_text(layout, context, f"{name}: {reason}")
            if len(failed) > _SHOWN:
                draw_text(layout, context, f"{len(failed) - _SHOWN} more cases failed; the table says why.", "INFO")
            layout.operator("wm.path_open", text="Open Results", icon="FILE_FOLDER").filepath = str(folder)


SIDEBAR, SCENE = in_both_places(sweep=Sweep)

CLASSES = (*SIDEBAR, *SCENE)
