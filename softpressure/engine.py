"""The door to the solver. Numba takes most of a second to import, so only files with bodies pay for it."""

import functools
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import bpy

#: Done, total, what is being done.
Progress = tuple[int, int, str]


@functools.cache
def engine() -> SimpleNamespace:
    """The modules that need the solver: `bodies`, `simulation`, `playback`, `bake`, `disk`; loaded on first use."""
    _set_kernel_folder()
    from . import bake, bodies, disk, playback, simulation

    return SimpleNamespace(bake=bake, bodies=bodies, disk=disk, playback=playback, simulation=simulation)


def is_prepared() -> bool:
    """Whether the kernels are ready; if not, they are being prepared from now on."""
    engine()
    from ..core import prepare as kernels

    kernels.start()
    if kernels.is_running() and not bpy.app.timers.is_registered(_redraw):
        bpy.app.timers.register(_redraw)
    return kernels.is_prepared()


def preparing() -> Progress | None:
    """How far the preparation is, None while there is none."""
    if not engine.cache_info().currsize:
        return None
    from ..core import prepare as kernels

    return (*kernels.progress(), "Preparing solver") if kernels.is_running() else None


def prepare() -> Iterator[Progress]:
    """Wait until the kernels are ready, yielding meanwhile; raises what went wrong."""
    engine()
    from ..core import prepare as kernels

    yield from kernels.prepare()


def _redraw() -> float | None:
    """Keep the panel's progress fresh; ends with the preparation."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
    return 0.5 if preparing() else None


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
