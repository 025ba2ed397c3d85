"""The cached frames as a line at the bottom of the timeline, as Blender draws those of its own caches."""

from typing import Any

import bpy
import gpu

from ..state import sessions
from . import drawing

#: Distance from the bottom, below the lines of Blender's caches, and height, for a scale of 1 [pixels].
_BOTTOM, _HEIGHT = 2.0, 4.0
#: Of frames that play, of frames that are out of date, and of the part of the range that is not simulated.
_VALID, _OLD, _MISSING = (0.13, 0.72, 0.66, 0.9), (0.8, 0.45, 0.1, 0.5), (0.13, 0.72, 0.66, 0.2)


def bars(scene: bpy.types.Scene) -> list[tuple[int, int, drawing.Colour]]:
    """First frame, last frame and color of what is drawn; nothing without bodies."""
    settings, session = scene.softpressure, sessions.of(scene)
    if not sessions.has_bodies(scene):
        return []
    found: list[tuple[int, int, drawing.Colour]] = [(settings.frame_start, settings.frame_end, _MISSING)]
    if session.run.cache is not None and session.run.cache.frame_count:
        color = _OLD if session.is_out_of_date(scene) else _VALID
        found.append((session.run.cache.first_frame, session.run.cache.last_frame, color))
    return found


@drawing.guarded
def draw() -> None:
    """The handler; a line goes from half a frame before its first frame to half a frame after its last one."""
    context: Any = bpy.context
    if context.space_data is None or context.space_data.mode != "TIMELINE":
        return
    scale, view = context.preferences.system.ui_scale, context.region.view2d
    gpu.state.blend_set("ALPHA")
    for first, last, color in bars(context.scene):
        left, right = (view.view_to_region(frame, 0.0, clip=False)[0] for frame in (first - 0.5, last + 0.5))
        drawing.rectangle((left, _BOTTOM * scale), (right, (_BOTTOM + _HEIGHT) * scale), color)
    gpu.state.blend_set("NONE")


_handlers = drawing.Handlers(bpy.types.SpaceDopeSheetEditor, POST_PIXEL=draw)
register, unregister = _handlers.register, _handlers.unregister
