"""Run this extension's command where Blender is a module of Python: `python as_module.py bake FILE.blend`."""

import importlib.util
import os
import sys
from pathlib import Path

#: What the package is called in this process.
ALIAS = "softpressure_command"


def main(words: list[str]) -> int:
    """Load the extension from above this folder and run its command; returns the exit code."""
    folder = Path(__file__).resolve().parents[2]
    sys.path.remove(str(Path(__file__).resolve().parent))  # its modules belong to the package
    spec = importlib.util.spec_from_file_location(
        ALIAS, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[ALIAS] = module
    spec.loader.exec_module(module)
    module.register()
    command = importlib.import_module(f"{ALIAS}.softpressure.batch.command")
    return int(command.run(words))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender as a module may crash while Python shuts down
