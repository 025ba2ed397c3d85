"""The door to the solver. Numba takes most of a second to import, so only files with bodies pay for it."""

import functools
import importlib
import threading
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import bpy

if TYPE_CHECKING:
    from ..core.prepare import Progress


@functools.cache
def engine() -> SimpleNamespace:
    """The modules that need the solver, loaded on first use: `bodies`, `taking_part`, `simulation`, and so on."""
    _use_own_folder()
    names = (
        "bake",
        "bodies",
        "caches",
        "copying",
        "disk",
        "fixes",
        "flat_shape",
        "flaws",
        "packing",
        "playback",
        "preparation",
        "simulate_job",
        "simulation",
        "starting",
        "taking_part",
    )
    return SimpleNamespace(**{name: importlib.import_module(f".{name}", __package__) for name in names})


def is_loaded() -> bool:
    """Whether `engine` was called before."""
    return bool(engine.cache_info().currsize)


@functools.cache
def load_early() -> None:
    """Begin to load numba in a thread: whoever looks at the panels is going to need it."""

    def load() -> None:
        from .. import core  # noqa: F401

    threading.Thread(target=load, name="Soft Pressure import", daemon=True).start()


def preparing() -> "Progress | None":
    """How far the preparation of kernels is, None while there is none."""
    found: Progress | None = engine().preparation.progress() if is_loaded() else None
    return found


def _use_own_folder() -> None:
    """Keep compiled kernels in the user's extension folder; beside the code they would be lost with every update."""
    from ..core import kernel_store

    package = __package__.rpartition(".")[0]
    with suppress(ValueError):  # loaded from a checkout, not installed as an extension: beside the code
        kernel_store.use_folder(Path(bpy.utils.extension_path_user(package, path="kernels")))
