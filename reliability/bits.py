"""The same bits with one thread and two, in every process, and for another processor target."""

import importlib
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

HEADING = "Same bits"
ASKED = "same bits for 1 and 2 threads, across processes, and between two processor targets"
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


def found(data):
    """In a few words."""
    said = "one result per method" if set(data["different"].values()) == {1} else "results differ"
    if not data.get("targets"):
        return f"{said}; two targets not run"
    other = [name for name, count in data["targets"].items() if count > 1]
    most = max(data["apart"].values())
    names = ", ".join(other)
    return f"{said}; for another target {f'{names} differ by at most {most:.1g} m' if other else 'the same'}"


def add(page, data):
    """The section."""
    said = ", ".join(f"{name} {count}" for name, count in data["different"].items())
    page.text(
        f"""A skin that touches itself, a rigid box and a jelly fall on a floor and on each other, with one thread and with two,
        each in a process of its own; positions and velocities of all frames are compared bit by bit. Different results: {said}.
        The extension ships kernels for one target, {TARGETS[0]} on PCs, so all that have AVX2 and FMA run the same machine
        code, and `tests/physics/test_same_bits.py` compares what numpy and BLAS choose among them. A PC without AVX2 compiles its own."""
    )
    if data.get("targets"):
        said = ", ".join(
            f"{name} " + (f"up to {data['apart'][name]:.1g} m" if count > 1 else "none")
            for name, count in data["targets"].items()
        )
        page.text(
            f"""Differences of the last positions between kernels for {" and ".join(TARGETS)}: {said}. The compiler contracts
            nothing, and kernels never ask for a b + c in one rounding, so a farm may mix processors."""
        )
    else:
        page.text(f"{' and '.join(TARGETS)} were not compared for this page.")
