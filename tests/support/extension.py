"""Load the repository root as the package `softpressure_ext`, wherever the checkout lies."""

import importlib.util
import os
import sys
from pathlib import Path

ALIAS = "softpressure_ext"
#: This folder, from which other processes can import what lies in it.
FOLDER = Path(__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[2]


def load() -> None:
    """Put the extension into `sys.modules` under its alias, once."""
    if ALIAS in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(ALIAS, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[ALIAS] = module
    spec.loader.exec_module(module)


def leave(status: int) -> None:
    """End the process at once if Blender might not survive a normal end; otherwise do nothing.

    As a Python module (not as a program), Blender 4.2 crashes and 4.5 may hang or crash while Python shuts down, after
    everything is done, if any property ever had an update callback.
    """
    bpy = sys.modules.get("bpy")
    if bpy is not None and bpy.app.version < (5, 0):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
