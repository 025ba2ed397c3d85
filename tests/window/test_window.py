"""Cases of the scripts beside this file, in a window of the Blender that SOFTPRESSURE_BLENDER names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLENDER = os.environ.get("SOFTPRESSURE_BLENDER", "")
SYSTEM = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
ZIPS = sorted((ROOT / "build" / "dist").glob(f"softpressure-*-{SYSTEM}*.zip"))
CASES = {
    "controls": ("fixed_row", "press_all"),
    "guide": tuple(sorted(path.stem for path in (ROOT / "docs" / "guide").glob("[0-9]*.md"))),
    "live": (
        "drag_and_throw", "poke", "escape", "enter", "shift_enter", "undo", "slider", "pressure_keys", "close_window",
        "load",
    ),
    "pace": ("simulate",),
}  # fmt: skip


@pytest.mark.skipif(not BLENDER, reason="SOFTPRESSURE_BLENDER names no Blender that can open a window")
@pytest.mark.parametrize(("script", "case"), [(script, case) for script, cases in CASES.items() for case in cases])
def test_a_case_in_a_window(script: str, case: str) -> None:
    assert ZIPS, "no zip in build/dist: run `nox -s build`"
    options = ["--enable-event-simulate"] if script == "live" else []
    command = [
        BLENDER,
        "--factory-startup",
        *options,
        "--python",
        str(ROOT / "tests" / "window" / f"{script}.py"),
        "--",
    ]
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
