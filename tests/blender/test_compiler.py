"""Without the compiler, as while another Blender installs the extension: a sentence, and another try later."""

import subprocess
import sys
from pathlib import Path

import bpy
from bpy_scene import add_ball, empty_file  # noqa: F401

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
from softpressure_ext.softpressure import session, status
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
print("AGAIN", press(bpy.ops.softpressure.simulate), session.of(bpy.context.scene).cache.last_frame)
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
