"""The built zips, in a Blender with empty user folders."""

import os
import subprocess
import sys
from pathlib import Path

import build_extension
import extension
import pytest

PYTHON = f"{sys.version_info.major}{sys.version_info.minor}"


@pytest.mark.parametrize("edition", [build_extension.RELEASE, PYTHON])
def test_zip_installs_works_and_leaves_nothing_behind(edition: str, tmp_path: Path) -> None:
    """The zip for extensions.blender.org brings no kernels: they are compiled on first use, and kept for the next."""
    name = build_extension.current_platform()
    package, release = build_extension.zip_path(name, edition), build_extension.zip_path(name)
    assert package.exists(), f"{package}: missing. Run `python tools/build_extension.py build --platform current`."
    # Nothing of the test run may help: no path to another numba, no cache of compiled kernels.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHONPATH", "NUMBA_"))}
    environment["BLENDER_USER_RESOURCES"] = str(tmp_path / "resources")
    for step in ("install", "remove"):
        command = [sys.executable, str(extension.FOLDER / "installed.py"), step, str(package), str(release)]
        run = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        output = run.stdout + run.stderr
        assert run.returncode == 0, output
        assert run.stdout.splitlines()[-1] == "done", output
        assert "Traceback" not in output and "Error" not in output and "Warning" not in output, output
