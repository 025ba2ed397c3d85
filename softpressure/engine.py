"""The door to the solver. Numba takes most of a second to import, so only files with bodies pay for it."""

import functools
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import bpy

#: Done, total, what is being done.
Progress = tuple[int, int, str]

_is_prepared = False


@functools.cache
def engine() -> SimpleNamespace:
    """The modules that need the solver: `bodies`, `simulation`, `playback`, `bake`, `disk`; loaded on first use."""
    _set_kernel_folder()
    from . import bake, bodies, disk, playback, simulation

    return SimpleNamespace(bake=bake, bodies=bodies, disk=disk, playback=playback, simulation=simulation)


def is_prepared() -> bool:
    """Whether the kernels are compiled, so that a frame takes no longer than it must."""
    return _is_prepared


def prepare() -> Iterator[Progress]:
    """Compile the kernels, or load them from an earlier session; yields after each part."""
    global _is_prepared
    engine()
    from .. import core

    prepare_core = getattr(core, "prepare", None)
    if prepare_core is not None and not _is_prepared:
        for done, total, label in prepare_core():
            yield done, total, f"Preparing solver: {label}"
    _is_prepared = True


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
