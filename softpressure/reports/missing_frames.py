"""Renders of frames that are not simulated: reported once, and not taken for a success where nobody watches."""

import os
import sys

import bpy

from ..state import sessions, status_bar
from . import status

#: Exit status of Blender.
_FAILED = 1
#: Arguments with which Blender renders from the command line, as farms start it.
_RENDERS = {"-a", "--render-anim", "-f", "--render-frame"}


def before_frame(scene: bpy.types.Scene) -> None:
    """Before a frame is rendered: report once if its simulation is missing, and end a render of the command line."""
    session = sessions.of(scene)
    if not sessions.has_bodies(scene):
        return
    sentence = status.render_text(scene, scene.frame_current)
    if not sentence:
        return
    if session.display.missed_frame is None:
        session.display.missed_frame = scene.frame_current
        status_bar.announce(sentence)
    if _what_to_do(scene) == "STOP":
        sys.stdout.flush()
        os._exit(_FAILED)  # at once: unwinding a render, as `sys.exit` would, ends Blender 4.2 by a crash


def after_frame(scene: bpy.types.Scene) -> None:
    """A frame was written: note the picture of one that is not simulated."""
    if sessions.has_bodies(scene) and _what_to_do(scene) == "RED" and status.is_unsimulated(scene):
        sessions.of(scene).display.missing_pictures.append(scene.render.frame_path(frame=scene.frame_current))


def after_render(scene: bpy.types.Scene) -> None:
    """Replace the noted pictures by red ones. Blender 5.2 crashes when images are made or removed during a render."""
    paths, render = sessions.of(scene).display.missing_pictures, scene.render
    if not paths:
        return
    size = [max(1, side * render.resolution_percentage // 100) for side in (render.resolution_x, render.resolution_y)]
    picture = bpy.data.images.new("SP Missing Frame", *size)
    try:
        picture.generated_color = (1.0, 0.0, 0.0, 1.0)  # type: ignore[assignment]
        while paths:
            picture.save_render(paths.pop(), scene=scene)
    finally:
        bpy.data.images.remove(picture)


def _what_to_do(scene: bpy.types.Scene) -> str:
    """STOP, RED or WARN.

    A window has a person who reads the sentence, and a script renders what it likes; a movie has no picture to replace.
    """
    if not (bpy.app.background and _RENDERS & {*sys.argv}) or not status.is_unsimulated(scene):
        return "WARN"
    chosen = str(scene.softpressure.render_without_frames)
    return "STOP" if chosen == "RED" and scene.render.is_movie_format else chosen
