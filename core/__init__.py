"""The simulation, without Blender. See docs/method.md for the method, README.md for the rooms.

`interface.py` has the names that it offers. They are loaded when the first of them is asked for: numba takes most of a
second to import, and Blender's properties need `parameters/` alone.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from . import compiler as compiler
from .garbage import without_collection

if TYPE_CHECKING:
    from .interface import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A name of `interface.py`; modules are found without it."""
    if name.startswith("__") or find_spec(f"{__name__}.{name}"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    compiler.require()
    with without_collection():
        return getattr(import_module(".interface", __name__), name)
