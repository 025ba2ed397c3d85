"""The row that is always at the top: Simulate, Interactive and Bake, and below it the state of the cache."""

from typing import Any

import bpy

from ..softpressure.reports import run_state
from ..softpressure.scene_io.blender_types import Context, Layout
from ..softpressure.simulation import loading
from ..softpressure.state import jobs, sessions
from .layout import CATEGORY

#: How much higher than a field its buttons are.
_HEIGHT = 1.3


def draw_controls(layout: Layout, context: Context) -> None:
    """Two rows of always the same height, whatever is selected or running."""
    scene, job = context.scene, jobs.current()
    row = layout.row(align=True)
    row.scale_y = _HEIGHT
    if job:
        row.operator("softpressure.stop", icon="CANCEL")
    else:
        row.operator("softpressure.simulate", icon="PLAY")
    play = row.row(align=True)
    play.enabled = job is None
    play.operator("softpressure.live_play")
    if sessions.baked(scene):
        row.operator("softpressure.free_bake", icon="TRASH")
    else:
        row.operator("softpressure.bake", icon="KEYFRAME").target = "SHAPE_KEYS"
    state = run_state.of(scene)
    row = layout.row(align=True)
    row.progress(factor=state.share, text=state.text)
    row.operator("softpressure.reset", text="", icon="LOOP_BACK")


class SOFTPRESSURE_PT_controls(bpy.types.Panel):
    """Above all other panels of the tab; has no header, so that it stays open and in its place."""

    layout: Layout
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY
    bl_label = "Controls"
    bl_options: Any = {"HIDE_HEADER"}

    def draw(self, context: Context) -> None:
        """Buttons and state."""
        loading.load_early()
        draw_controls(self.layout, context)


CLASSES = (SOFTPRESSURE_PT_controls,)
