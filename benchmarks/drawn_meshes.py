"""Meshes as artists have them, default settings, against Blender's Cloth with pressure. Needs `bpy`.

    python benchmarks/drawn_meshes.py FOLDER [--meshes cow ...] [--frames 48] [--rounds 3] [--output FILE.json]

Each mesh is made 2 m large and dropped 0.2 m on a floor: by us at NORMAL and DRAFT, with self-contact, and by Cloth
(quality 5, no self-collision, the same mass, stiffness and gas), in turns. FOLDER has the .obj files. Times are on
the clock, so nothing else may run. Rows go to docs/benchmarks/drawn.json; `run.py --from-json` puts them on the page.
"""

import argparse
import json
import math
import statistics
import sys
import time
from pathlib import Path

import bpy
import measure
import numpy as np
from softpressure_ext import register
from softpressure_ext.softpressure.state import sessions

ROOT = Path(__file__).resolve().parent.parent
PRIMITIVES = {
    "Suzanne": (bpy.ops.mesh.primitive_monkey_add, {}),
    "UV sphere": (bpy.ops.mesh.primitive_uv_sphere_add, {"segments": 128, "ring_count": 61}),
    **{f"icosphere {n}": (bpy.ops.mesh.primitive_ico_sphere_add, {"subdivisions": n}) for n in (3, 4, 5, 6)},
}
#: Size of each body and its distance from the floor [m]; mass [kg], gauge pressure and atmosphere [Pa], modulus [N/m].
SIZE, DROP, MASS, GAUGE, AMBIENT, MODULUS = 2.0, 0.2, 1.0, 2_000.0, 101_325.0, 20_000.0
METHODS = ("NORMAL", "DRAFT", "CLOTH")


def add_body(folder, name):
    """The mesh of a name above a floor, in an empty file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    sessions.forget_all()
    if name in PRIMITIVES:
        add, settings = PRIMITIVES[name]
        add(**settings)
    else:
        bpy.ops.wm.obj_import(filepath=str(folder / f"{name}.obj"))
    item = bpy.context.selected_objects[0]
    bpy.context.view_layer.objects.active = item
    mesh, flat = item.data, np.empty(3 * len(item.data.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    x = flat.reshape(-1, 3) @ np.array(item.matrix_world.to_3x3()).T
    x *= SIZE / np.ptp(x, axis=0).max()
    mesh.vertices.foreach_set("co", (x - x.min(axis=0) + (0.0, 0.0, DROP)).astype(np.float32).ravel())
    item.matrix_world = np.eye(4)
    bpy.ops.mesh.primitive_plane_add(size=40.0)
    return item, bpy.context.object


def choose(item):
    """Select one object alone."""
    bpy.ops.object.select_all(action="DESELECT")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item


def prepare(item, floor, method):
    """Give both their settings."""
    if method != "CLOTH":
        bpy.context.scene.softpressure.detail = method
        for each, kind in ((floor, "COLLIDER"), (item, "SOFT")):
            choose(each)
            bpy.ops.softpressure.add_body(kind=kind)
        return
    floor.modifiers.new("Collision", "COLLISION")
    settings = item.modifiers.new("Cloth", "CLOTH").settings
    ends = np.empty(2 * len(item.data.edges), np.int32)
    item.data.edges.foreach_get("vertices", ends)
    x = np.array([vertex.co for vertex in item.data.vertices])[ends.reshape(-1, 2)]
    # of equal triangles k = sqrt(3) / 2 Y; a spring is as stiff as 1000 times the setting over its length
    stiffness = 0.5 * math.sqrt(3.0) * MODULUS / 1000.0 * float(np.linalg.norm(x[:, 1] - x[:, 0], axis=1).mean())
    for kind in ("tension", "compression", "shear"):
        setattr(settings, f"{kind}_stiffness_max", stiffness)
        setattr(settings, f"{kind}_stiffness", stiffness)
    settings.mass = MASS / len(item.data.vertices)
    settings.use_pressure, settings.pressure_factor = True, (GAUGE + AMBIENT) / 1000.0
    settings.uniform_pressure_force = GAUGE / (GAUGE + AMBIENT)


def run(folder, name, method, frames):
    """Seconds until the first frame is there, seconds of each frame, simulated and drawn vertices."""
    item, floor = add_body(folder, name)
    began = time.perf_counter()
    prepare(item, floor, method)
    bpy.context.scene.frame_set(1)
    start, times = time.perf_counter() - began, []
    for frame in range(2, frames + 2):
        began = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        times.append(time.perf_counter() - began)
    count = len(item.data.vertices)
    if method != "CLOTH":
        state = sessions.of(bpy.context.scene)
        assert not state.refusals.error, state.refusals.error
        count = len(state.run.start.bodies[0].positions)
    return {"start": start, "ms_per_frame": 1e3 * sum(times) / frames, "vertices": count}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--meshes", nargs="+", default=["cow", "spot", "stanford-bunny", *PRIMITIVES])
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks" / "drawn.json")
    options = parser.parse_args()
    register()
    for method in options.methods:
        run(options.folder, "icosphere 3", method, 2)  # loads what the solvers consist of
    rows = []
    for name in options.meshes:
        found = {method: [] for method in options.methods}
        for method in options.rounds * list(found):
            found[method].append(run(options.folder, name, method, options.frames))
        row = {"mesh": name, "drawn": len(add_body(options.folder, name)[0].data.vertices)}
        for method, runs in found.items():
            row[method] = {key: statistics.median(each[key] for each in runs) for key in runs[0]}
            row[method]["start"] = runs[0]["start"]  # later ones find the even mesh in memory
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    options.output.write_text(json.dumps({"machine": measure.machine(), "rows": rows}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
