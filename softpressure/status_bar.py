"""Sentences in the status bar of every window, about what nobody has started by hand. A job has the bar to itself."""

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy

from . import jobs

if TYPE_CHECKING:
    from ..core.prepare import Progress

#: How long what is announced stays [s].
_SAY_LONG = 20.0

#: Until when something is said [s], of `time.monotonic`; 0 if nothing is.
_until = 0.0
#: Of the preparation of kernels, once that is loaded: a timer that says how far it is, and what tells panels so.
_tell: Callable[[], float | None] | None = None
_progress: Callable[[], "Progress | None"] | None = None


def follow(tell: Callable[[], float | None], progress: Callable[[], "Progress | None"]) -> None:
    """Let panels show the `progress` of a preparation; `stop` ends the timer `tell`."""
    global _tell, _progress
    _tell, _progress = tell, progress


def preparing() -> "Progress | None":
    """How far the preparation of kernels is, None while there is none."""
    return None if _progress is None else _progress()


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
    """Say no more, and give the status bars back if anything is said (the extension is disabled)."""
    if _tell is not None and bpy.app.timers.is_registered(_tell):
        bpy.app.timers.unregister(_tell)
    _give_back()


def _give_back() -> None:
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
    _give_back()
    return None


def _show(sentence: str | None) -> None:
    for window in bpy.context.window_manager.windows:
        if jobs.current() is None:
            window.workspace.status_text_set(sentence)
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
