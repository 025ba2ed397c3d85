"""The door to the solver. Numba takes most of a second to import, so only files with bodies pay for it."""

import functools
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import bpy

if TYPE_CHECKING:
    from ..core import MethodOptions

#: Done, total, what is being done.
Progress = tuple[int, int, str]

#: What the status bar says when a timeline that waited can go on.
_READY = "Soft Pressure: the solver is ready. Play from the first frame"
#: How often the status bar is renewed, and how long its last sentence stays [s].
_SAY_EVERY, _SAY_END = 0.5, 10.0


@functools.cache
def engine() -> SimpleNamespace:
    """The modules that need the solver: `bodies`, `simulation`, `playback`, `bake`, `disk`; loaded on first use."""
    _set_kernel_folder()
    from ..core import prepare as kernels
    from . import bake, bodies, disk, playback, simulation

    kernels.on_first_compile(_tell_console)
    return SimpleNamespace(bake=bake, bodies=bodies, disk=disk, playback=playback, simulation=simulation)


def is_prepared(scene: bpy.types.Scene) -> bool:
    """Whether the kernels of a scene's method are ready; if not, that begins, and it is said."""
    kernels, method = _kernels_of(scene)
    if kernels.is_prepared(*method):
        return True
    kernels.start(*method)
    if not bpy.app.timers.is_registered(_tell):
        bpy.app.timers.register(_tell, persistent=True)
    return False


def preparing() -> Progress | None:
    """How far the preparation is, None while there is none."""
    if not engine.cache_info().currsize:
        return None
    from ..core import prepare as kernels

    return kernels.progress() if kernels.is_running() else None


def prepare(scene: bpy.types.Scene) -> Iterator[Progress]:
    """Wait until the kernels of a scene's method are ready, yielding meanwhile; raises what went wrong."""
    kernels, method = _kernels_of(scene)
    yield from kernels.prepare(*method)


def what_to_prepare(scene: bpy.types.Scene) -> str:
    """A sentence on what `prepare` is going to do, empty if there is nothing to do."""
    kernels, method = _kernels_of(scene)
    return "" if kernels.is_prepared(*method) else f"{kernels.COMPILING}."


def stop_telling() -> None:
    """Give the status bars back now (the extension is disabled)."""
    for timer in (_tell, _clear):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
            _say(None)


def _kernels_of(scene: bpy.types.Scene) -> tuple[ModuleType, tuple[str, "MethodOptions"]]:
    """The module that prepares kernels, and what it needs to know of a scene."""
    engine()
    from ..core import prepare as kernels
    from . import method_options

    return kernels, (scene.softpressure.solver, method_options.of(scene.softpressure))


def _tell() -> float | None:
    """Say in every window's status bar and in the panel what is being prepared, then how it ended."""
    found = preparing()
    if found:
        done, total, label = found
        _say(f"Soft Pressure: {label}, {done} of {total} kernels")
        return _SAY_EVERY
    from ..core import prepare as kernels

    error = kernels.failure()
    _say(f"Soft Pressure: the solver cannot be compiled: {error}" if error else _READY)
    bpy.app.timers.register(_clear, first_interval=_SAY_END, persistent=True)
    return None


def _clear() -> None:
    """Give the status bars back, unless something is being said again."""
    if not bpy.app.timers.is_registered(_tell):
        _say(None)


def _say(sentence: str | None) -> None:
    """Show a sentence in the status bar of every window, None gives it back; keeps the panel fresh."""
    for window in bpy.context.window_manager.windows:
        window.workspace.status_text_set(sentence)
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _tell_console() -> None:
    """For those without a window, and for what was not prepared."""
    from ..core import prepare as kernels

    print(f"Soft Pressure: {kernels.COMPILING}.", flush=True)


def _set_kernel_folder() -> None:
    """Keep compiled kernels in the user's extension folder; beside the code they would be lost with every update."""
    import numba

    package = __package__.rpartition(".")[0]
    try:
        folder = bpy.utils.extension_path_user(package, path="numba", create=True)
    except ValueError:  # loaded from a checkout, not installed as an extension: numba's own choice
        return
    if folder and Path(folder).is_dir():
        numba.config.CACHE_DIR = folder
