"""The guide's steps in a real window, in the Blender that SOFTPRESSURE_BLENDER names, with the zip of `nox -s build`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLENDER = os.environ.get("SOFTPRESSURE_BLENDER", "")
PAGES = sorted(path.stem for path in (ROOT / "docs" / "guide").glob("[0-9]*.md"))
SYSTEM = {"linux": "linux", "darwin": "macos", "win32": "windows"}[sys.platform]
ZIPS = sorted((ROOT / "build" / "dist").glob(f"softpressure-*-{SYSTEM}*.zip"))


@pytest.mark.skipif(not BLENDER, reason="SOFTPRESSURE_BLENDER names no Blender that can open a window")
@pytest.mark.parametrize("page", PAGES)
def test_the_steps_of_a_page_in_a_window(page: str, tmp_path: Path) -> None:
    assert ZIPS, "no zip in build/dist: run `nox -s build`"
    command = [BLENDER, "--factory-startup", "--python", str(ROOT / "tests" / "window" / "guide.py"), "--"]
    done = subprocess.run(
        [*command, f"--zip={ZIPS[-1]}", page],
        env=os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=1200.0,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "WINDOW TEST PASSED" in said and "Traceback" not in said, said[-4000:]
