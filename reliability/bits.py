"""The same bits with one thread and two, and in every process."""

import importlib
import subprocess
import sys
from pathlib import Path

HEADING = "Same bits"
ASKED = "same bits for 1 and 2 threads, across processes, and between two processor targets"
FULL, QUICK = 3, 1
SOLVERS = ("EXPLICIT", "IMPLICIT", "XPBD")
ROOT = Path(__file__).resolve().parent.parent


def digest_of(solver, threads):
    """Digest of the scene of `tests/test_same_bits.py` after its last frame, in a process of its own."""
    scene = importlib.import_module("test_same_bits").SCENE.replace("SOLVER", solver)
    scene = scene.replace("substeps=4,", f"substeps=4, threads={threads},")
    assert f"threads={threads}" in scene
    run = subprocess.run([sys.executable, "-c", scene], cwd=ROOT / "tests", capture_output=True, text=True, check=True)
    return run.stdout.strip()


def run(count):
    """Each method `count` times with one thread and with two."""
    found = {name: [digest_of(name, threads) for _ in range(count) for threads in (1, 2)] for name in SOLVERS}
    return {
        "tried": f"{sum(map(len, found.values()))} processes",
        "different": {name: len({*digests}) for name, digests in found.items()},
    }


def found(data):
    """In a few words."""
    return "one result per method" if set(data["different"].values()) == {1} else "results differ"


def add(page, data):
    """The section."""
    said = ", ".join(f"{name} {count}" for name, count in data["different"].items())
    page.text(
        f"""A skin that touches itself, a rigid box and a jelly fall on a floor and on each other, with one thread and with two,
        each in a process of its own; positions and velocities of all frames are compared bit by bit. Different results: {said}.
        Two processor targets are not compared on this page: kernels are compiled for a family of processors, within which
        `test_same_bits.py` compares what numpy and BLAS choose."""
    )
