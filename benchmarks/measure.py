"""Shared by the benchmarks: the extension as a package, a stopwatch for functions, and data of the machine."""

import functools
import os
import platform
import re
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import extension

extension.load()

import llvmlite  # noqa: E402
import numba  # noqa: E402
import numpy as np  # noqa: E402


class Stopwatch:
    """Time spent in each phase, without the phases called from it."""

    def __init__(self):
        self.seconds = defaultdict(float)
        self._inner = [0.0]  # time of the calls inside each running call

    def wrap(self, owner, name, phase):
        function = getattr(owner, name)

        @functools.wraps(function)
        def timed(*arguments, **options):
            self._inner.append(0.0)
            began = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                whole = time.perf_counter() - began
                self.seconds[phase] += whole - self._inner.pop()
                self._inner[-1] += whole

        setattr(owner, name, timed)


def version():
    """Version of the extension."""
    manifest = (Path(__file__).resolve().parent.parent / "blender_manifest.toml").read_text(encoding="utf-8")
    return re.search(r'^version = "([^"]+)"', manifest, re.MULTILINE).group(1)


def machine():
    """What the figures depend on."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        processor = names[0] if names else processor
    info = {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
    }
    if hasattr(os, "getloadavg"):
        info["load_at_start"] = round(os.getloadavg()[0], 2)  # figures of a busy machine are worth little
    return info
