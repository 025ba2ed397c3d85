"""The same bits with one thread and two, in every process, and for another processor target."""

import os
import platform
import tempfile
from pathlib import Path

from ..tools import child

FULL, QUICK = 3, 1
SOLVERS = ("EXPLICIT", "XPBD")
#: Of PCs: what the extension ships, and the one before it, without AVX2 and FMA, whose kernels take minutes to compile.
TARGETS = ("x86-64-v3", "x86-64-v2")
IS_PC = platform.machine().lower() in ("x86_64", "amd64")


def digest_of(solver, threads, target="", **more):
    """Digest of the scene, with kernels for a processor; by default the one of this process."""
    chosen = {"NUMBA_CPU_NAME": target, "NUMBA_CPU_FEATURES": ""} if target else {}
    environment = os.environ | chosen
    return child.call("tests.support.bits_scene", "digest", env=environment, solver=solver, threads=threads, **more)


def compared(solver):
    """A method with kernels for each of `TARGETS`: digests, and the largest difference of the last positions [m]."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, f"{target}.npy")) for target in TARGETS]
        digests = [digest_of(solver, 1, target, path=path) for target, path in zip(TARGETS, paths, strict=True)]
        one, other = (np.load(path) for path in paths)
    return {"digests": digests, "apart": float(np.abs(one - other).max())}


def run(count):
    """Each method `count` times with one thread and with two."""
    found = {name: [digest_of(name, threads) for _ in range(count) for threads in (1, 2)] for name in SOLVERS}
    targets = {name: compared(name) for name in SOLVERS} if IS_PC else {}
    return {
        "tried": f"{sum(map(len, found.values())) + len(TARGETS) * len(targets)} processes",
        "different": {name: len({*digests}) for name, digests in found.items()},
        "targets": {name: len({*each["digests"]}) for name, each in targets.items()},
        "apart": {name: each["apart"] for name, each in targets.items()},
    }


def values(data):
    """What stands in the text."""
    said = "one result per method" if set(data["different"].values()) == {1} else "results differ"
    other = [name for name, count in data["targets"].items() if count > 1]
    apart = {name: f"up to {data['apart'][name]:.1g} m" if name in other else "none" for name in data["targets"]}
    between = ", ".join(f"{name} {much}" for name, much in apart.items()) or "not compared"
    told = f"for another target {between if other else 'the same'}" if apart else "two targets not run"
    return {
        "tried": data["tried"], "found": f"{said}; {told}", "apart": between,
        "different": ", ".join(f"{name} {count}" for name, count in data["different"].items()),
    }  # fmt: skip
