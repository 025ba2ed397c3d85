"""Runs a case of a script of `tests/window` in the Blender that SOFTPRESSURE_BLENDER names, with the built zip."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLENDER = os.environ.get("SOFTPRESSURE_BLENDER", "")
SYSTEM = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
ZIPS = sorted((ROOT / "build" / "dist").glob(f"softpressure-*-{SYSTEM}*.zip"))


needs_window = pytest.mark.skipif(not BLENDER, reason="SOFTPRESSURE_BLENDER names no Blender that can open a window")


def check_in_window(script: str, case: str, *options: str) -> None:
    """Run a case of a script of `tests/window` in that Blender, which has more options."""
    assert ZIPS, "no zip in build/dist: run `nox -s build`"
    command = [BLENDER, "--factory-startup", *options, "--python", str(ROOT / "tests" / "window" / script), "--"]
    done = subprocess.run(
        [*command, f"--zip={ZIPS[-1]}", case],
        env=os.environ | {"BLENDER_USER_RESOURCES": str(ROOT / "build" / "window")},  # compiled kernels stay there
        capture_output=True,
        text=True,
        timeout=1200.0,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "WINDOW TEST PASSED" in said and "Traceback" not in said, said[-4000:]
