"""A process of its own that compiles kernels to files: run by `prepare.py`, and where the extension is built.

It reads from its input what to compile, as JSON, and prints the share that is done, 0 to 1, line by line.
"""

import gc
import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

#: What the package is called in this process.
ALIAS = "softpressure_core"


def load_core() -> None:
    """Put this folder into `sys.modules` as a package, whatever is above it."""
    folder = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        ALIAS, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[ALIAS] = module
    spec.loader.exec_module(module)


def main(asked: dict[str, Any]) -> None:
    """Compile the kernels that are in no file yet.

    `path`: where modules are found, and in `site` more of them; `folder`: where kernels are kept; `jobs`: what to
    compile, None for everything; `copies`: a folder that gets a copy of the folder of this Python's kernels;
    `is_early`: nobody waits, so that it has the lowest priority.
    """
    if asked.get("is_early") and hasattr(os, "nice"):
        os.nice(19)
    gc.set_threshold(100_000)  # the compiler makes few cycles of objects: to look for them takes 6 % of the time
    sys.path[:] = asked.get("path") or [*sys.path, asked["site"]]  # without the folder of this file
    load_core()
    from softpressure_core import kernel_store, prepare  # type: ignore[import-not-found]

    kernel_store.use_folder(Path(asked["folder"]))
    jobs = prepare.all_jobs() if asked["jobs"] is None else [prepare.Job(*job) for job in asked["jobs"]]
    prepare.compile_jobs(jobs, lambda share: print(share, flush=True))
    if asked.get("copies"):
        made = kernel_store.folders()[1]
        shutil.copytree(made, Path(asked["copies"]) / made.name)


if __name__ == "__main__":
    main(json.load(sys.stdin))
