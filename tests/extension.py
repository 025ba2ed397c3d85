"""Load the repository root as the package `softpressure_ext`, wherever the checkout lies."""

import importlib.util
import sys
from pathlib import Path

ALIAS = "softpressure_ext"
ROOT = Path(__file__).resolve().parent.parent


def load() -> None:
    """Put the extension into `sys.modules` under its alias, once."""
    if ALIAS in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(ALIAS, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[ALIAS] = module
    spec.loader.exec_module(module)
