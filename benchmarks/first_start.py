"""From the zip to the first simulated frame, in real Blender: seconds and memory.

Three processes with empty user folders at first: the built zip is installed, a sphere becomes a soft body above a
plane, and the timeline goes to the second frame; the same in a later session; the same without the kernels of the zip,
so that they are compiled. Rows of other Blenders are kept.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..tools import build_extension
from ..tools.pages import number, table

STEPS = {
    "install": "installed, first frame",
    "later": "a later session",
    "compile": "zip without kernels: compiled on the machine",
}
#: Run in Blender: `install`, `later` or `compile`, then the zip.
CASE = """
import resource, sys, time
import bpy
step, zip_path = sys.argv[1:]
row = {"blender": bpy.app.version_string, "step": step}
began = time.perf_counter()
if step == "install":
    bpy.ops.extensions.package_install_files(
        filepath=zip_path, repo="user_default", enable_on_install=True, overwrite=True
    )
else:
    import addon_utils
    addon_utils.enable("bl_ext.user_default.softpressure")
row["enabled"] = time.perf_counter() - began
bpy.ops.mesh.primitive_plane_add(size=8.0)
floor = bpy.context.object
bpy.ops.mesh.primitive_uv_sphere_add(location=(0.0, 0.0, 1.1))
began, used = time.perf_counter(), time.process_time()
assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
floor.softpressure.kind = "COLLIDER"
scene = bpy.context.scene
scene.frame_set(1)
scene.frame_set(2)
row["first_frame"] = time.perf_counter() - began
row["processor"] = time.process_time() - used
lowest = min(v.co.z for v in bpy.context.object.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices)
assert lowest < 0.0 and lowest != -1.0, lowest
row["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
child = resource.getrusage(resource.RUSAGE_CHILDREN)
row["child_processor"], row["child_memory"] = child.ru_utime + child.ru_stime, child.ru_maxrss / 1e3
began = time.perf_counter()
for frame in range(3, 27):
    scene.frame_set(frame)
row["frame"] = (time.perf_counter() - began) / 24
import json
print("ROW " + json.dumps(row), flush=True)
import os
os._exit(0)
"""


def process(python, step, package, resources):
    """One process: its row."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "PYTHON"))}
    environment["BLENDER_USER_RESOURCES"] = str(resources)
    done = subprocess.run(
        [python, "-c", CASE, step, str(package)], env=environment, capture_output=True, text=True, cwd=resources.parent
    )
    rows = [line[4:] for line in done.stdout.splitlines() if line.startswith("ROW ")]
    if not rows:
        sys.exit(f"{python} {step}:\n{done.stdout}{done.stderr}")
    return json.loads(rows[0])


def run(python, before):
    """All steps in the Blender of a Python, which has `bpy` and no numba, and the rows of other Blenders."""
    package, rows = build_extension.zip_path(build_extension.current_platform()), []
    with tempfile.TemporaryDirectory() as folder:
        resources = Path(folder) / "resources"
        compiled = resources / "extensions" / "user_default" / "softpressure" / "core" / "compiled"
        for step in STEPS:
            if step == "compile":
                if not compiled.is_dir():
                    break  # compiled at the first step already
                shutil.rmtree(compiled)
            rows.append({**process(python, step, package, resources), "label": "now", "load": os.getloadavg()[0]})
            print(rows[-1], file=sys.stderr, flush=True)
    measured = {(row["label"], row["blender"]) for row in rows}
    kept = [row for row in (before or {"rows": []})["rows"] if (row["label"], row["blender"]) not in measured]
    return {"rows": kept + rows}


def values(data):
    """What stands in the text."""
    head = ["version", "Blender", "", "enabled [s]", "first frame [s]", "processor, Blender + compiling [s]"]
    head += ["memory, Blender + compiling [MB]", "a frame after that [ms]", "load"]
    rows = [
        [
            row["label"], row["blender"], STEPS[row["step"]], number(row["enabled"], 2), number(row["first_frame"], 3),
            f"{number(row['processor'], 2)} + {number(row['child_processor'], 2)}",
            f"{row['memory']:.0f} + {row['child_memory'] if row['step'] == 'compile' else 0:.0f}",
            number(1e3 * row["frame"], 2), number(row["load"], 2),
        ]
        for row in data["rows"]
    ]  # fmt: skip
    return {"table": table(head, rows)}
