"""Live play with mouse and keys, in a window of the Blender that SOFTPRESSURE_BLENDER names."""

import os
import subprocess

import pytest
from test_guide_window import BLENDER, ROOT, ZIPS

CASES = ["drag_and_throw", "poke", "escape", "enter", "shift_enter", "undo", "slider", "close_window", "load"]


@pytest.mark.skipif(not BLENDER, reason="SOFTPRESSURE_BLENDER names no Blender that can open a window")
@pytest.mark.parametrize("case", CASES)
def test_live_play_in_a_window(case: str) -> None:
    assert ZIPS, "no zip in build/dist: run `nox -s build`"
    script = ["--python", str(ROOT / "tests" / "window" / "live.py"), "--", f"--zip={ZIPS[-1]}", case]
    done = subprocess.run(
        [BLENDER, "--factory-startup", "--enable-event-simulate", *script],
        env=os.environ | {"BLENDER_USER_RESOURCES": str(ROOT / "build" / "window")},  # compiled kernels stay there
        capture_output=True,
        text=True,
        timeout=1200.0,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "WINDOW TEST PASSED" in said and "Traceback" not in said, said[-4000:]
