"""Runs the steps of a test in a real window, one per tick of a timer, and quits Blender after the last."""

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator

import bpy

#: What a step is waited for at most, where it tells when it is over [s].
PATIENCE = 120.0
#: How often it is asked [s].
OFTEN = 0.02


def run(steps: Iterator[Callable[[], bool] | float]) -> None:
    """Take the steps; each yields what it waits for, seconds or a condition. A failure ends Blender with code 1."""
    waits: list[tuple[float, Callable[[], bool]]] = []

    def tick() -> float | None:
        try:
            if waits and not waits[0][1]():
                assert time.monotonic() < waits[0][0], "waited in vain"
                return OFTEN
            waits.clear()
            found = next(steps)
        except StopIteration:
            bpy.ops.wm.quit_blender()
            return None
        except BaseException:
            traceback.print_exc()
            print("WINDOW TEST FAILED", flush=True)
            sys.stdout.flush()
            os._exit(1)
        if callable(found):
            waits.append((time.monotonic() + PATIENCE, found))
            return OFTEN
        return found

    bpy.context.preferences.view.show_splash = False
    bpy.app.timers.register(tick, first_interval=1.0, persistent=True)
