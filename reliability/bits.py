"""The same bits with one thread and two, in every process, and for another processor target."""

import importlib
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

FULL, QUICK = 3, 1
SOLVERS = ("EXPLICIT", "XPBD")
#: Of PCs: what the extension ships, and the one before it, without AVX2 and FMA, whose kernels take minutes to compile.
TARGETS = ("x86-64-v3", "x86-64-v2")
ROOT = Path(__file__).resolve().parent.parent
IS_PC = platform.machine().lower() in ("x86_64", "amd64")


def digest_of(solver, threads, target="", path=""):
    """Digest of the scene of `tests/support/bits_scene.py` after its last frame, in a process of its own.

    `target`: processor that kernels are compiled for; by default the one of this process. `path`: where to write the
    last positions.
    """
    scene = importlib.import_module("bits_scene").SCENE.replace("SOLVER", solver)
    scene = scene.replace("substeps=4,", f"substeps=4, threads={threads},")
    assert f"threads={threads}" in scene
    scene += f"np.save({path!r}, state.positions)\n" if path else ""
    chosen = {"NUMBA_CPU_NAME": target, "NUMBA_CPU_FEATURES": ""} if target else {}
    run = subprocess.run(
        [sys.executable, "-c", scene],
        cwd=ROOT / "tests" / "support",
        env=os.environ | chosen,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def compared(solver):
    """A method with kernels for each of `TARGETS`: digests, and the largest difference of the last positions [m]."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, f"{target}.npy")) for target in TARGETS]
        digests = [digest_of(solver, 1, target, path) for target, path in zip(TARGETS, paths, strict=True)]
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
