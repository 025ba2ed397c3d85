"""Cost of Blender's side of a frame, compared with the step. Needs `bpy`.

    python benchmarks/blender_side.py [--quick]

Soft bodies of 100 000 vertices and more together are stepped by frame changes, each followed by an update of the view
layer, as a window does it. `one`: one skin; `ten`: ten of them; `pinned`: ten with a pin group and a modifier before
and behind the live shape; `collider`: one skin on an animated collider of as many vertices whose shape changes.
Python's profiler sees which functions of the adapter take the time: milliseconds per frame with what they call, but
for the step, and shares of the step in the same frames, as other programs on the machine slow both.
"""

import argparse
import cProfile
import itertools
import pstats
import sys
import tempfile
import time
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "support"))

import extension  # noqa: E402

extension.load()

import softpressure_ext  # noqa: E402

softpressure_ext.register()

from softpressure_ext.core import prepare  # noqa: E402
from softpressure_ext.softpressure.cache import disk  # noqa: E402
from softpressure_ext.softpressure.state import sessions  # noqa: E402

#: scene -> (bodies, subdivisions of each): 163 842 and 102 420 vertices
SCENES = {"one": (1, 8), "ten": (10, 6), "pinned": (10, 6), "collider": (1, 8)}
SOLVERS = ("EXPLICIT", "XPBD")
LEAD_IN, FRAMES, RADIUS = 4, 5, 0.5
#: What Blender calls of the adapter in a frame change, and what it calls of the core for a step.
HANDLERS, STEP = ("handlers.py", "handler"), ("world.py", "advance_frame")
#: How many functions of the adapter are told of.
ROWS = 12


def add_sphere(name, subdivisions, place, radius=RADIUS):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=subdivisions, radius=radius, location=place)
    bpy.context.object.name = name
    return bpy.context.object


def build(scene_name, solver, coarser):
    """An empty file with the bodies on a floor, still without a frame."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    sessions.forget_all()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 200
    count, subdivisions = SCENES[scene_name][0], SCENES[scene_name][1] - coarser
    for number in range(count):
        ball = add_sphere(f"Ball {number}", subdivisions, (1.2 * (number % 4), 1.2 * (number // 4), RADIUS + 0.01))
        if scene_name == "pinned":
            top = [vertex.index for vertex in ball.data.vertices if vertex.co.z > 0.9 * RADIUS]
            ball.vertex_groups.new(name="Pinned").add(top, 1.0, "REPLACE")
            ball.modifiers.new("Wave", "WAVE").height = 0.001
            ball.softpressure.pin_group = "Pinned"
        ball.softpressure.kind, ball.softpressure.simulation_mesh = "SOFT", "DRAWN"
        if scene_name == "pinned":
            ball.modifiers.new("Subdivision", "SUBSURF").levels = 1
    if scene_name == "collider":
        floor = add_sphere("Floor", subdivisions, (0.0, 0.0, -4.0), 4.0)
        floor.modifiers.new("Wave", "WAVE").height = 0.001
    else:
        bpy.ops.mesh.primitive_plane_add(size=20.0)
        floor = bpy.context.object
    floor.softpressure.kind = "COLLIDER"
    scene.softpressure.solver = solver
    return scene


def profiled(scene, frames):
    """Seconds per frame of functions of the extension, with what they call; and of the whole frame change."""
    profile, began = cProfile.Profile(), time.perf_counter()
    profile.enable()
    for frame in frames:
        scene.frame_set(frame)
        bpy.context.view_layer.update()
    profile.disable()
    whole, found = (time.perf_counter() - began) / len(frames), {}
    for (path, _, name), (_, _, _, seconds, _) in pstats.Stats(profile).stats.items():
        if path.startswith(str(ROOT)):
            key = Path(path).name, name
            found[key] = found.get(key, 0.0) + seconds / len(frames)
    session = sessions.of(scene)
    if session.refusals.error or session.run.cache is None or session.run.cache.last_frame != frames[-1]:
        raise SystemExit(f"{scene.softpressure.solver}: frame {frames[-1]} was not simulated. {session.refusals.error}")
    return found, whole


def report(scene, frames):
    """Print what frames cost, and what is done once."""
    first, _ = profiled(scene, [1])
    profiled(scene, range(2, LEAD_IN))
    found, whole = profiled(scene, range(LEAD_IN, LEAD_IN + frames))
    session, step = sessions.of(scene), found.pop(STEP)
    began = time.perf_counter()
    sessions.mark_all()
    if session.is_out_of_date(scene):
        raise SystemExit("The scene is out of date though nothing was edited.")
    edited = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        disk.save(scene, str(Path(folder) / "bench.blend"))
        saved = (time.perf_counter() - began) / session.run.cache.frame_count
    ours = found[HANDLERS] - step
    dearest = sorted(found.items(), key=lambda item: -item[1])
    own = {path.name for path in (ROOT / "softpressure").rglob("*.py")}
    within = {f"{file}: {name}": seconds for (file, name), seconds in dearest if file in own and seconds < 0.5 * step}
    rows = {"all of our side": ours + saved, "cache on disk": saved, "Blender's own": whole - found[HANDLERS]}
    for name, seconds in (rows | dict(itertools.islice(within.items(), ROWS))).items():
        print(f"  {name:44}{1e3 * seconds:9.2f} ms{seconds / step:9.2%}")
    print(f"  step {1e3 * step:.1f} ms; once: first frame {first[HANDLERS]:.2f} s, after an edit {1e3 * edited:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="coarse meshes and two frames, to try it out")
    quick = parser.parse_args().quick
    for scene_name, solver in itertools.product(SCENES, SOLVERS):
        for _ in prepare.prepare(prepare.jobs_for({"SKIN"}, solver)):
            pass
        scene = build(scene_name, solver, 4 if quick else 0)
        print(f"{scene_name}, {solver}", flush=True)
        report(scene, 2 if quick else FRAMES)


if __name__ == "__main__":
    main()
