"""One scene in one engine, in a process of its own; prints one line of JSON. `run.py` starts it."""

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))

import measure  # noqa: F401  (loads the extension)
from softpressure_ext.benchmarks import engines, quality, scenes

#: Small scenes that make our own kernels load, or compile, before the clock runs: name -> size.
WARM_UP = {"drop": 42, "pair": 42, "box8": 42, "torus": 96, "suzanne": None, "stack": 8, "crate": 42}
#: Frames of it: into contact, and on to rest where rest is another kernel.
WARM_FRAMES = {"stack": 60}


def peak_memory():
    """Largest memory of this process so far [MB]; 0 on Windows, which does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def warm_up(engine, scene_name, threads, size):
    """Run a small scene: kernels are compiled, libraries loaded."""
    name, small = (scene_name, WARM_UP[scene_name]) if WARM_UP[scene_name] else ("drop", 42)
    frames = WARM_FRAMES.get(name, 20)
    made = engines.make(engine, scenes.make(name, min(small, size), frames), threads)
    for _ in range(frames):
        made.advance()


def run(engine, scene_name, size, *, frames=None, threads=1, limit=60.0, every=3, folder=None):
    """Advance until the scene ends or `limit` seconds are spent; returns what was measured."""
    warm_up(engine, scene_name, threads, size)
    before = peak_memory()
    scene = scenes.make(scene_name, size, frames, folder)
    made = engines.make(engine, scene, threads)
    watch = quality.Watch(scene, made, every)
    spent, spent_cpu, done = 0.0, 0.0, 0
    for _ in range(scene.frames):
        began, began_cpu = time.perf_counter(), time.process_time()
        made.advance()
        spent += time.perf_counter() - began
        spent_cpu += time.process_time() - began_cpu
        done += 1
        if not watch.look(made) or spent > limit:
            break
    peak = peak_memory()
    row = {
        "engine": engine,
        "version": made.version,
        "settings": made.settings,
        "scene": scene_name,
        "size": size,
        "bodies": len(scene.soft) + len(scene.rigid),
        "threads": threads,
        "frames": scene.frames,
        "frames_done": done,
        "frame_time": scene.frame_time,
        "ms_per_second": 1e3 * spent / (done * scene.frame_time),
        "cpu_per_clock": spent_cpu / max(spent, 1e-9),
        "peak_mb": peak,
        "scene_mb": peak - before,
        "work": made.work() if hasattr(made, "work") else {},
    }
    return row | watch.report()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=list(engines.ENGINES))
    parser.add_argument("scene", choices=list(scenes.SCENES))
    parser.add_argument("size", type=int)
    parser.add_argument("--frames", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of stepping after which a run is cut off")
    parser.add_argument("--every", type=int, default=3, help="frames between two looks at penetration")
    parser.add_argument("--folder", type=Path, help="where `meshes.py` wrote its meshes")
    given = parser.parse_args()
    row = run(
        given.engine, given.scene, given.size, frames=given.frames, threads=given.threads, limit=given.limit,
        every=given.every, folder=given.folder,
    )  # fmt: skip
    sys.stdout.flush()
    print(json.dumps(row), flush=True)
    if "bpy" in sys.modules:
        os._exit(0)  # Blender as a module may crash while Python ends


if __name__ == "__main__":
    main()
