"""Shared by tests in a window: steps that a timer runs, and a mouse and keys that are simulated.

Steps are a generator that yields a time to wait [s], or what has to become true. The mouse needs a Blender that was
started with `--enable-event-simulate`.
"""

import argparse
import os
import sys
import time
import traceback
from collections.abc import Callable, Generator
from typing import Any

import bpy

#: What a step waits for at most [s].
PATIENCE = 900.0
#: Pause between two looks whether it has become true [s].
PAUSE = 0.02

Steps = Generator[Callable[[], bool] | float, None, None]


def module(name: str) -> Any:
    """A module of the installed extension, by its dotted path there."""
    return next(found for path, found in sys.modules.items() if path.endswith(f"user_default.softpressure.{name}"))


def session() -> Any:
    """The session of the scene."""
    return module("softpressure.state.sessions").of(bpy.context.scene)


def job() -> Any:
    """What runs beside the window."""
    return module("softpressure.state.jobs").current()


def is_over() -> bool:
    """Whether nothing runs any more."""
    return job() is None and not module("softpressure.state.worker_thread").is_busy()


def view(window: Any = None) -> tuple[Any, Any, dict[str, Any]]:
    """A window, its 3D viewport and the regions of that by type."""
    window = window or bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return window, area, {region.type: region for region in area.regions}


def in_view(window: Any = None) -> Any:
    """A context for operators of the 3D viewport."""
    window, area, regions = view(window)
    return bpy.context.temp_override(window=window, area=area, region=regions["WINDOW"])


class Mouse:
    """The mouse and the keys over a window; places are in pixels of the window, from its lower left corner."""

    def __init__(self, window: Any) -> None:
        self.window, self.place = window, (window.width // 2, window.height // 2)

    def move(self, place: tuple[float, float]) -> None:
        """Put it somewhere."""
        self.place = round(place[0]), round(place[1])
        self._event("MOUSEMOVE", "NOTHING")

    def press(self, kind: str = "LEFTMOUSE", **modifiers: bool) -> None:
        """Press a button or key."""
        self._event(kind, "PRESS", **modifiers)

    def release(self, kind: str = "LEFTMOUSE", **modifiers: bool) -> None:
        """Let it go."""
        self._event(kind, "RELEASE", **modifiers)

    def click(self, kind: str = "LEFTMOUSE", **modifiers: bool) -> None:
        """Press it and let it go."""
        self.press(kind, **modifiers)
        self.release(kind, **modifiers)

    def _event(self, kind: str, value: str, **modifiers: bool) -> None:
        x, y = self.place
        self.window.event_simulate(type=kind, value=value, x=x, y=y, **modifiers)


def install(path: str) -> None:
    """Install and enable the extension from a zip."""
    bpy.context.preferences.system.use_online_access = False
    arguments = {"repo": "user_default", "enable_on_install": True, "overwrite": True}
    assert bpy.ops.extensions.package_install_files(filepath=path, **arguments) == {"FINISHED"}


def one_after_the_other(cases: dict[str, Callable[[], Steps]], options: argparse.Namespace) -> Steps:
    """Install `options.zip` if given, then do the cases of `options.cases`, or all; raises if one of them fails."""
    if options.zip:
        install(options.zip)
    yield 0.5
    failed = []
    for name in options.cases or cases:
        try:
            yield from cases[name]()
            print(f"WINDOW {name} is done", flush=True)
        except Exception:
            traceback.print_exc()
            failed.append(name)
            module("softpressure.state.jobs").end()
            yield is_over
    assert not failed, f"failed: {', '.join(failed)}"
    print("WINDOW TEST PASSED", flush=True)


def options_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What follows `--`: `--zip`, names of cases, and what the parser knows besides."""
    parser.add_argument("--zip")
    parser.add_argument("cases", nargs="*")
    return parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])


def run(steps: Steps) -> None:
    """Run them by a timer, then quit Blender; what they raise is printed, and the exit code is 1."""
    waits: list[Any] = [0.0, lambda: True]  # until when, for what

    def tick() -> float | None:
        try:
            if waits[1]():
                found = next(steps)
            elif time.monotonic() < waits[0]:
                return PAUSE
            else:
                found = steps.throw(AssertionError("waited in vain"))
        except StopIteration:
            bpy.ops.wm.quit_blender()
            return None
        except BaseException:
            traceback.print_exc()
            print("WINDOW TEST FAILED", flush=True)
            sys.stdout.flush()
            os._exit(1)
        if isinstance(found, float):
            waits[:] = 0.0, lambda: True
            return found
        waits[:] = time.monotonic() + PATIENCE, found
        return PAUSE

    bpy.context.preferences.view.show_splash = False
    bpy.app.timers.register(tick, first_interval=1.0, persistent=True)
