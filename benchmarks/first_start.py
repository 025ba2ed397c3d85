"""From the zip to the first simulated frame, in real Blender: seconds and memory.

    python benchmarks/first_start.py ZIP [--python PYTHON ...] [--label TEXT] [--output FILE.json]

Each PYTHON (default: this one) has a `bpy` and no numba. Three processes each, with empty user folders at first: the
zip is installed, a sphere becomes a soft body above a plane, and the timeline goes to the second frame; the same in a
later session; the same without the kernels of the zip, so that they are compiled. Rows are added to those in the file.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

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


def run(python, step, package, resources):
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


def measure(python, package, label):
    """All steps of one Blender."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        resources = Path(folder) / "resources"
        for step in ("install", "later", "compile"):
            compiled = resources / "extensions" / "user_default" / "softpressure" / "core" / "compiled"
            if step == "compile":
                if not compiled.is_dir():
                    break  # compiled at the first step already
                shutil.rmtree(compiled)
            rows.append({**run(python, step, package, resources), "label": label, "load": os.getloadavg()[0]})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zip", type=Path)
    parser.add_argument("--python", action="append")
    parser.add_argument("--label", default="now")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = []
    for python in options.python or [sys.executable]:
        rows += measure(python, options.zip.resolve(), options.label)
    if options.output:
        before = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else []
        measured = {(row["label"], row["blender"]) for row in rows}
        kept = [row for row in before if (row["label"], row["blender"]) not in measured]
        options.output.write_text(json.dumps(kept + rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
