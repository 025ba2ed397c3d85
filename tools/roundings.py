"""Run the tests marked `rounding` as other processors would round: `python tools/roundings.py [pytest's arguments]`.

numpy, OpenBLAS and numba each choose instructions by the processor; the environment can tell them to choose others.
For x86-64. Kernels are those of the processor family in all runs but the last.
"""

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding

ROOT = Path(__file__).resolve().parent.parent


def wide_features() -> str:
    """The AVX-512 features that this numpy would use on this processor."""
    package = "numpy._core" if importlib.util.find_spec("numpy._core") else "numpy.core"
    umath: Any = importlib.import_module(f"{package}._multiarray_umath")
    wide = [name for name in umath.__cpu_dispatch__ if name.startswith(("AVX512", "X86_V4"))]
    return " ".join(name for name in wide if umath.__cpu_features__.get(name))


#: What each run sets.
ROUNDINGS: dict[str, dict[str, str]] = {
    "default": {},
    "numpy without AVX-512": {"NPY_DISABLE_CPU_FEATURES": wide_features()},
    "and OpenBLAS as on Haswell": {"NPY_DISABLE_CPU_FEATURES": wide_features(), "OPENBLAS_CORETYPE": "Haswell"},
    "kernels for this very processor": {
        "NUMBA_CPU_NAME": llvmlite.binding.get_host_cpu_name(),
        "NUMBA_CPU_FEATURES": "",
    },
}
#: What a run must not take over from outside.
SET_HERE = sorted({name for settings in ROUNDINGS.values() for name in settings})


def environment(settings: dict[str, str]) -> dict[str, str]:
    """The environment of this process with the settings of one run."""
    outside = {name: value for name, value in os.environ.items() if name not in SET_HERE}
    return outside | settings


def main() -> int:
    """Run all; returns how many failed."""
    failed = []
    for name, settings in ROUNDINGS.items():
        print(f"== {name}: {settings}", flush=True)
        command = [sys.executable, "-m", "pytest", "-m", "rounding", "-q", *(sys.argv[1:] or ["tests"])]
        if subprocess.run(command, cwd=ROOT, env=environment(settings)).returncode:
            failed.append(name)
    print("failed: " + ", ".join(failed) if failed else "all passed")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
