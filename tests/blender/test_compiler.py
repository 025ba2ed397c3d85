"""Without the compiler, as while another Blender installs the extension: a sentence, and another try later."""

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from bpy_scene import add_ball
from softpressure_ext.core import prepare
from softpressure_ext.softpressure import handlers
from softpressure_ext.softpressure.simulation import loading

ROOT = Path(__file__).resolve().parents[2]
#: Adds a body, simulates and plays without numba, then with it; in a process of its own, as numba stays loaded.
SCRIPT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.path.insert(0, "tests/support")
missing = Missing()
sys.meta_path.insert(0, missing)
import extension
extension.load()
import bpy
import softpressure_ext
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.state import sessions
softpressure_ext.register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])

def press(operator, **options):
    try:
        return operator(**options)
    except RuntimeError as error:
        return str(error)

bpy.ops.mesh.primitive_cube_add(location=(5, 0, 0))
print("ADD", press(bpy.ops.softpressure.add_body, kind="SOFT"))
print("SIMULATE", press(bpy.ops.softpressure.simulate))
bpy.context.scene.frame_set(1)
bpy.context.scene.frame_set(2)
print("NOTICE", status.notices(bpy.context.scene))
sys.meta_path.remove(missing)
print("AGAIN", press(bpy.ops.softpressure.simulate), sessions.of(bpy.context.scene).run.cache.last_frame)
"""


def test_a_missing_compiler_is_a_sentence_and_is_found_later(tmp_path: Path) -> None:
    add_ball()
    bpy.context.scene.frame_end = 2
    path = str(tmp_path / "ball.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, path], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600.0
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    lines = {line.partition(" ")[0]: line for line in done.stdout.splitlines()}
    for what in ("ADD", "SIMULATE", "NOTICE"):
        assert "its compiler (numba) is not there yet" in lines[what], said
    assert "AGAIN {'FINISHED'} 2" in lines["AGAIN"], said


@pytest.mark.parametrize("is_background", [True, False])
def test_a_window_compiles_as_soon_as_the_extension_is_enabled(
    is_background: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(handlers, "bpy", SimpleNamespace(app=SimpleNamespace(background=is_background), data=bpy.data))
    folder = SimpleNamespace(extension_path_user=lambda *_, **__: str(tmp_path))
    monkeypatch.setattr(loading, "bpy", SimpleNamespace(utils=folder, app=bpy.app))
    monkeypatch.setattr(loading, "use_own_folder", lambda: None)
    monkeypatch.setattr(prepare, "start_early", started.extend)
    monkeypatch.setattr(prepare, "is_compiled", lambda _: False)

    def enable() -> None:
        handlers.on_enable()
        for thread in threading.enumerate():
            if thread.name == "Soft Pressure early":
                thread.join()

    enable()
    assert {job.part for job in started} == (set() if is_background else set(prepare.PARTS))
    assert not [*tmp_path.iterdir()]
    monkeypatch.setattr(prepare, "is_compiled", lambda _: True)
    started.clear()
    enable()
    assert not started and len([*tmp_path.iterdir()]) == (0 if is_background else 1)
    monkeypatch.setattr(prepare, "all_jobs", None)
    enable()  # looks at that file alone
