"""Cost of Blender's side of a frame, compared with the step.

    python benchmarks/blender_side.py [--scenes one ten pinned collider] [--solvers EXPLICIT XPBD] [--json FILE]

Soft bodies of 100 000 vertices and more together are stepped by frame changes, each followed by an update of the view
layer, as a window does it. `one`: one skin; `ten`: ten of them; `pinned`: ten with a pin group and a modifier before
and behind the live shape; `collider`: one skin on an animated collider of as many vertices whose shape changes. Each
function of a phase is wrapped, here and not in the product; times exclude the phases called from it. Medians over
frames in milliseconds, and relative to the step in the same frames: other programs on the machine slow both.
`evaluation` is Blender's own, the rest of the frame change; it is not counted to our side. The cache is written to disk
once; the share is that of one frame of it. Work done once is listed below: capturing and building the bodies at the
first frame, and comparing all inputs with those of the run after an edit. Needs bpy.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import bpy
import measure
import softpressure_ext

softpressure_ext.register()

from softpressure_ext.core import World, prepare  # noqa: E402
from softpressure_ext.core.cache import FrameCache  # noqa: E402
from softpressure_ext.softpressure.cache import disk, playback  # noqa: E402
from softpressure_ext.softpressure.scene_io import mesh_io, modifier_stack, rigid_pose  # noqa: E402
from softpressure_ext.softpressure.simulation import build, capture, frame_inputs, stepping, timeline  # noqa: E402
from softpressure_ext.softpressure.state import input_digest, sessions  # noqa: E402

#: phase -> (where a function is looked up, its name)
PHASES = {
    "step": [(World, "advance_frame")],
    "frame input": [(frame_inputs, "frame_input")],
    "diagnostics": [(World, "diagnostics")],
    "read positions": [(stepping, "frame_of")],
    "cache": [(FrameCache, "append")],
    "live output": [(playback, "show"), (mesh_io, "to_local"), (mesh_io, "write_key")],
    "stages": [(modifier_stack, "show"), (rigid_pose, "show")],
    "what changed": [(input_digest, "of_inputs")],
    "frame change": [(timeline, "before_frame"), (timeline, "after_frame"), (sessions, "has_bodies")],
    "updates": [],  # the handler of updates; filled below
}
OURS = [phase for phase in PHASES if phase != "step"]
#: The same for what is done once: at the first frame, and after an edit.
ONCE = {
    "capture": [(capture, "start"), (input_digest, "of_arrays")],
    "build": [(build, "model_of"), (build, "world_of")],
    "after an edit": [],
}
#: scene -> (bodies, subdivisions of each): 163 842 and 102 420 vertices
SCENES = {"one": (1, 8), "ten": (10, 6), "pinned": (10, 6), "collider": (1, 8)}
LEAD_IN, RADIUS = 4, 0.5


def wrap_all(watch):
    """Time every phase; handlers are timed in Blender's own lists."""
    for phase, places in (PHASES | ONCE).items():
        for owner, name in places:
            watch.wrap(owner, name, phase)
    for name, phase in (
        ("frame_change_pre", "frame change"),
        ("frame_change_post", "frame change"),
        ("depsgraph_update_post", "updates"),
    ):
        listed = getattr(bpy.app.handlers, name)
        for number, handler in enumerate(listed):
            if "softpressure" in handler.__module__:
                holder = argparse.Namespace(handler=handler)
                watch.wrap(holder, "handler", phase)
                listed[number] = holder.handler


def build(scene_name, solver, subdivisions_less):
    """An empty file with the bodies on a floor, still without a frame."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    sessions.forget_all()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 200
    count, subdivisions = SCENES[scene_name]
    for number in range(count):
        place = (1.2 * (number % 4), 1.2 * (number // 4), RADIUS + 0.01)
        ball = add_sphere(f"Ball {number}", subdivisions - subdivisions_less, place)
        if scene_name == "pinned":
            group = ball.vertex_groups.new(name="Pinned")
            top = [vertex.index for vertex in ball.data.vertices if vertex.co.z > 0.9 * RADIUS]
            group.add(top, 1.0, "REPLACE")
            ball.modifiers.new("Wave", "WAVE").height = 0.001
        ball.softpressure.kind = "SOFT"
        if scene_name == "pinned":
            ball.softpressure.pin_group = "Pinned"
            ball.modifiers.new("Subdivision", "SUBSURF").levels = 1
    if scene_name == "collider":
        floor = add_sphere("Floor", subdivisions - subdivisions_less, (0.0, 0.0, -4.0), 4.0)
        floor.modifiers.new("Wave", "WAVE").height = 0.001
    else:
        bpy.ops.mesh.primitive_plane_add(size=20.0)
        floor = bpy.context.object
    floor.softpressure.kind = "COLLIDER"
    scene.softpressure.solver = solver
    return scene


def add_sphere(name, subdivisions, place, radius=RADIUS):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=subdivisions, radius=radius, location=place)
    bpy.context.object.name = name
    return bpy.context.object


def run(scene_name, solver, frames, subdivisions_less, watch):
    """One scene with one solver: milliseconds of each phase and its share of the step."""
    scene = build(scene_name, solver, subdivisions_less)

    def go(frame):
        began = time.perf_counter()
        scene.frame_set(frame)
        bpy.context.view_layer.update()
        return time.perf_counter() - began

    watch.seconds.clear()
    go(1)
    once = {phase: 1e3 * watch.seconds[phase] for phase in ONCE}
    for frame in range(2, LEAD_IN):
        go(frame)
    session = sessions.of(scene)
    rows = []
    for frame in range(LEAD_IN, LEAD_IN + frames):
        watch.seconds.clear()
        whole = go(frame)
        if session.refusals.error or session.run.cache is None or session.run.cache.last_frame != frame:
            raise SystemExit(f"{scene_name}, {solver}: frame {frame} was not simulated. {session.refusals.error}")
        row = {phase: 1e3 * watch.seconds[phase] for phase in PHASES}
        row["evaluation"] = 1e3 * whole - sum(row.values())
        rows.append(row)
    began = time.perf_counter()
    sessions.mark_all()
    if session.is_out_of_date(scene):
        raise SystemExit(f"{scene_name}, {solver}: is out of date though nothing was edited.")
    once["after an edit"] = 1e3 * (time.perf_counter() - began)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        disk.save(scene, str(Path(folder) / "bench.blend"))
        saved = 1e3 * (time.perf_counter() - began) / session.run.cache.frame_count
    milliseconds = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    milliseconds["cache to disk"] = saved
    step = milliseconds["step"]
    shares = {name: statistics.median(row[name] / row["step"] for row in rows) for name in rows[0] if name != "step"}
    shares["cache to disk"] = saved / step
    ours = statistics.median(sum(row[name] for name in OURS) / row["step"] for row in rows) + saved / step
    return {
        "scene": scene_name,
        "solver": solver,
        "vertices": sum(session.run.cache.vertex_counts),
        "substeps": scene.softpressure.substeps,
        "frames": frames,
        "once_ms": {name: round(value, 1) for name, value in once.items()},
        "ms": {name: round(value, 2) for name, value in milliseconds.items()},
        "share_of_step": {name: round(value, 5) for name, value in shares.items()},
        "our_share": round(ours, 5),
    }


def print_table(results):
    """One column per run: milliseconds and share of the step."""
    heads = [f"{result['scene']} {result['solver']} {result['vertices']}" for result in results]
    print(f"{'':16}" + "".join(f"{head:>26}" for head in heads))
    for name in results[0]["ms"]:
        cells = []
        for result in results:
            share = result["share_of_step"].get(name)
            percent = "" if share is None else f"{share:9.2%}"
            cells.append(f"{result['ms'][name]:13.2f} ms{percent:>10}")
        print(f"{name:16}" + "".join(cells))
    for name in results[0]["once_ms"]:
        print(f"{name + ', once':20}" + "".join(f"{result['once_ms'][name]:9.1f} ms{'':14}" for result in results))
    print(f"{'our share':16}" + "".join(f"{result['our_share']:26.2%}" for result in results))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=list(SCENES))
    parser.add_argument("--solvers", nargs="+", default=["EXPLICIT", "XPBD"])
    parser.add_argument("--frames", type=int, default=5)
    parser.add_argument("--coarser", type=int, default=0, help="subdivisions less, to try it out")
    parser.add_argument("--json", type=Path, help="write the result here too")
    options = parser.parse_args()
    for solver in options.solvers:
        for _ in prepare.prepare(prepare.jobs_for({"SKIN"}, solver)):
            pass
    watch = measure.Stopwatch()
    wrap_all(watch)
    results = []
    for scene_name in options.scenes:
        for solver in options.solvers:
            results.append(run(scene_name, solver, options.frames, options.coarser, watch))
            print(f"{scene_name}, {solver}: our share {results[-1]['our_share']:.2%}", file=sys.stderr, flush=True)
    print_table(results)
    report = {"machine": measure.machine(), "blender": bpy.app.version_string, "results": results}
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
