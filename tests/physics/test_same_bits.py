"""Processors of a family give the same bits: kernels are compiled for the family, whatever numpy and BLAS choose."""

import subprocess
import sys

import extension
import pytest
import roundings
from bits_scene import SCENE


def digest_of(solver: str, settings: dict[str, str]) -> str:
    """What the scene ends with, in a process with these settings."""
    run = subprocess.run(
        [sys.executable, "-c", SCENE.replace("SOLVER", solver)],
        cwd=extension.FOLDER,
        env=roundings.environment(settings),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_processors_of_a_family_give_the_same_bits(solver: str) -> None:
    family = {name: settings for name, settings in roundings.ROUNDINGS.items() if "NUMBA_CPU_NAME" not in settings}
    assert len(family) == 3
    found = {digest_of(solver, settings) for settings in family.values()}
    assert len(found) == 1
