"""Sentences in the status bar of every window, about what nobody has started by hand. A job has the bar to itself."""

import math
import time

import bpy

from . import jobs

#: How long what is announced stays [s].
_SAY_LONG = 20.0

#: Until when something is said [s], of `time.monotonic`; 0 if nothing is.
_until = 0.0


def say(sentence: str, seconds: float = math.inf) -> None:
    """Show a sentence in every status bar, for so long [s] if nothing else is said; keeps panels fresh."""
    global _until
    _until = time.monotonic() + seconds
    _show(sentence)
    if seconds < math.inf and not bpy.app.timers.is_registered(_clear):
        bpy.app.timers.register(_clear, first_interval=seconds, persistent=True)


def announce(sentence: str) -> None:
    """Say something from any thread: in the status bar for a while, without a window on the console."""
    if bpy.app.background:
        print(f"Soft Pressure: {sentence}", flush=True)
    else:
        bpy.app.timers.register(lambda: say(sentence, _SAY_LONG), persistent=True)


def stop() -> None:
    """Give the status bars back now, if anything is said (the extension is disabled)."""
    global _until
    if bpy.app.timers.is_registered(_clear):
        bpy.app.timers.unregister(_clear)
    if _until:
        _until = 0.0
        _show(None)


def _clear() -> float | None:
    """Give the status bars back, unless something else was said meanwhile."""
    left = _until - time.monotonic()
    if left == math.inf:
        return None
    if left > 0.0:
        return left
    stop()
    return None


def _show(sentence: str | None) -> None:
    for window in bpy.context.window_manager.windows:
        if jobs.current() is None:
            window.workspace.status_text_set(sentence)
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
