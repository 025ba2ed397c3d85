"""Messages in the status bar of every window, about work that no person started. A job has the bar to itself."""

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy

from . import jobs

if TYPE_CHECKING:
    from ...core.prepare import Progress

#: How long an announcement is shown [s].
_SAY_LONG = 20.0

#: End of the present message [s], by `time.monotonic`; 0 if there is none.
_until = 0.0
#: Of the preparation of kernels, once that is loaded: the timer of its messages, and its progress for panels.
_timer: Callable[[], float | None] | None = None
_progress: Callable[[], "Progress | None"] | None = None


def follow(timer: Callable[[], float | None], progress: Callable[[], "Progress | None"]) -> None:
    """Let panels show the `progress` of a preparation; `stop` ends the timer `timer`."""
    global _timer, _progress
    _timer, _progress = timer, progress


def preparing() -> "Progress | None":
    """Progress of the preparation of kernels, None while there is none."""
    return None if _progress is None else _progress()


def say(sentence: str, seconds: float = math.inf) -> None:
    """Show a message in every status bar for a time [s]; redraws panels."""
    global _until
    _until = time.monotonic() + seconds
    _show(sentence)
    if seconds < math.inf and not bpy.app.timers.is_registered(_clear):
        bpy.app.timers.register(_clear, first_interval=seconds, persistent=True)


def announce(sentence: str) -> None:
    """Show a message from any thread: in the status bar for a while, without a window on the console."""
    if bpy.app.background:
        print(f"Soft Pressure: {sentence}", flush=True)
    else:
        bpy.app.timers.register(lambda: say(sentence, _SAY_LONG), persistent=True)


def stop() -> None:
    """End all messages and restore the status bars (the extension is disabled)."""
    if _timer is not None and bpy.app.timers.is_registered(_timer):
        bpy.app.timers.unregister(_timer)
    _give_back()


def _give_back() -> None:
    global _until
    if bpy.app.timers.is_registered(_clear):
        bpy.app.timers.unregister(_clear)
    if _until:
        _until = 0.0
        _show(None)


def _clear() -> float | None:
    """Restore the status bars, unless there is a newer message."""
    left = _until - time.monotonic()
    if left == math.inf:
        return None
    if left > 0.0:
        return left
    _give_back()
    return None


def _show(sentence: str | None) -> None:
    for window in bpy.context.window_manager.windows:
        if jobs.current() is None:
            window.workspace.status_text_set(sentence)
        for area in window.screen.areas:
            for region in area.regions if area.type == "VIEW_3D" else ():
                if region.type == "UI":
                    region.tag_redraw()
