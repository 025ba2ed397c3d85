"""Curves of the active body in the Graph Editor, along its frames: drawn over it by a handler.

Zoom, pan and the playhead are those of the editor; the playhead reads the values.
"""

from typing import Any

import bpy
import gpu
import numpy as np

from ..scene_io.mesh_io import FloatArray
from ..state import measurements, sessions
from . import drawing, plots

#: Height of the editor's ruler above and its scroll bar below, width of its numbers on the left and its scroll bar on
#: the right, for a scale of 1 [pixels].
_RULER, _BELOW, _NUMBERS, _RIGHT = 24.0, 16.0, 44.0, 18.0
#: Size of the text for a scale of 1 [pixels].
_TEXT = 11.0


def of_body(scene: bpy.types.Scene, obj: bpy.types.Object | None) -> list[plots.Curve]:
    """The chosen curves of a body; none of what was not recorded or does not apply to it."""
    run = sessions.of(scene).run
    if obj is None or obj.session_uid not in run.object_uids or not run.measured:
        return []
    body = run.object_uids.index(obj.session_uid)
    found = []
    for number, column in enumerate(measurements.COLUMNS):
        if column.identifier in scene.softpressure.curves:
            frames, values = measurements.series(run.measured, body, number)
            is_area = number == measurements.VOLUME and obj.softpressure.body_type == "LOOP"
            found.append(plots.Curve("Area" if is_area else column.label, column.unit, frames, values))
    return [curve for curve in found if len(curve.frames)]


def note(scene: bpy.types.Scene, obj: bpy.types.Object | None) -> str:
    """Why there are no curves of an object; empty if there are."""
    run = sessions.of(scene).run
    if obj is None or obj.type != "MESH" or obj.softpressure.kind not in {"SOFT", "RIGID"}:
        return "Select a soft or rigid body."
    if run.cache is None or obj.session_uid not in run.object_uids:
        return f"{obj.name}: nothing is recorded yet. Press Simulate."
    if not run.measured:
        return f"{obj.name}: {measurements.NOT_RECORDED}"
    return "" if of_body(scene, obj) else f"{obj.name}: none of these apply to it. Choose others."


@drawing.guarded
def draw() -> None:
    """The handler: all strips of the active body, in the region that is being drawn."""
    context: Any = bpy.context
    if context.space_data is None or context.space_data.mode != "FCURVES":
        return
    scene, region = context.scene, context.region
    if not scene.softpressure.show_curves:
        return
    curves = of_body(scene, context.object)
    scale = context.preferences.system.ui_scale
    line = _TEXT * scale
    strips = plots.strips(curves, _BELOW * scale, region.height - (_RULER + 1.6 * _TEXT) * scale, line)
    if not strips:
        return
    gpu.state.blend_set("ALPHA")
    _draw(context, strips, scale)
    gpu.state.blend_set("NONE")


def _draw(context: Any, strips: list[plots.Strip], scale: float) -> None:
    region, scene = context.region, context.scene
    theme = context.preferences.themes[0]
    space = theme.graph_editor.space
    ink, back, grid = tuple(space.text), tuple(space.back), tuple(theme.graph_editor.grid)
    bright, accent = tuple(space.text_hi), tuple(theme.user_interface.wcol_toggle.inner_sel[:3])
    accent = tuple(0.55 * part + 0.45 * light for part, light in zip(accent, bright, strict=True))
    size = line = _TEXT * scale
    left, right = _NUMBERS * scale, region.width - _RIGHT * scale

    def x_of(frames: FloatArray) -> FloatArray:
        zero, one = (region.view2d.view_to_region(frame, 0.0, clip=False)[0] for frame in (0.0, 1000.0))
        return zero + frames * ((one - zero) / 1000.0)

    frame = scene.frame_current
    top = strips[0].top + 1.6 * line
    drawing.rectangle((0, 0), (region.width, top), (*back, 0.92))
    veil = (*back, 0.7)
    name = f"{context.object.name}, frame {frame}"
    drawing.text((left, top - 1.15 * line), name, size, (*ink, 1.0))
    x = float(x_of(np.array(float(frame))))
    for strip in strips:
        drawing.rectangle((0, strip.low), (right, strip.high), (*grid, 0.4))
        drawing.lines([(end, tick.y, 0.0) for tick in strip.ticks for end in (0, right)], (*ink, 0.25))
        drawing.lines(strip.segments(x_of), (*accent, 1.0), 1.6 * scale)
        for tick in strip.ticks:
            if tick.text:
                high = min(max(tick.y - 0.35 * line, strip.low + 0.15 * line), strip.high - 0.85 * line)
                width, place = drawing.text_size(tick.text, 0.9 * size)[0], right - 0.3 * line
                drawing.rectangle((place - width - 0.2 * line, high - 0.1 * line), (right, high + 0.8 * line), veil)
                drawing.text((place, high), tick.text, 0.9 * size, (*ink, 0.9), align=1.0)
        value = strip.at(frame)
        if value is not None:
            y = float(strip.y(np.array(value)))
            drawing.draw_points(drawing.points_batch(np.array([(x, y, 0.0)], np.float32)), (*bright, 1.0), 6.0 * scale)
        heading = strip.high + 0.35 * line
        drawing.text((left, heading), strip.curve.label, size, (*ink, 1.0))
        width = drawing.text_size(strip.curve.label, size)[0]
        drawing.text((left + width + 0.8 * line, heading), strip.text(frame), size, (*bright, 1.0))


def viewport_of(screen: bpy.types.Screen) -> bpy.types.Area | None:
    """The largest 3D viewport of a screen, None if there is none."""
    areas = [area for area in screen.areas if area.type == "VIEW_3D"]
    return max(areas, key=lambda area: area.width * area.height, default=None)


_handlers = drawing.Handlers(bpy.types.SpaceGraphEditor, POST_PIXEL=draw)
register, unregister = _handlers.register, _handlers.unregister
