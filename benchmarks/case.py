"""One scene in one engine, for a process of its own (`tools/child.py`)."""

import time

from ..tools.child import most_memory
from . import engines, quality, scenes

#: Small scenes that make our own kernels load, or compile, before the clock runs: name -> size.
WARM_UP = {"drop": 42, "pair": 42, "box8": 42, "torus": 96, "suzanne": None, "stack": 8, "crate": 42}
#: Frames of it: into contact, and on to rest where rest is another kernel.
WARM_FRAMES = {"stack": 60}


def warm_up(engine, scene_name, threads, size):
    """Run a small scene: kernels are compiled, libraries loaded."""
    name, small = (scene_name, WARM_UP[scene_name]) if WARM_UP[scene_name] else ("drop", 42)
    frames = WARM_FRAMES.get(name, 20)
    made = engines.make(engine, scenes.make(name, min(small, size), frames), threads)
    for _ in range(frames):
        made.advance()


def run(engine, scene, size, frames, threads, limit):
    """Advance until the scene ends or `limit` seconds are spent; returns what was measured.

    `frames`: in place of the scene's own, or None.
    """
    warm_up(engine, scene, threads, size)
    before = most_memory()
    given = scenes.make(scene, size, frames)
    made = engines.make(engine, given, threads)
    watch = quality.Watch(given, made)
    spent, spent_cpu, done = 0.0, 0.0, 0
    for _ in range(given.frames):
        began, began_cpu = time.perf_counter(), time.process_time()
        made.advance()
        spent += time.perf_counter() - began
        spent_cpu += time.process_time() - began_cpu
        done += 1
        if not watch.look(made) or spent > limit:
            break
    peak = most_memory()
    return watch.report() | {
        "version": made.version, "settings": made.settings, "threads": threads, "frames": given.frames,
        "frames_done": done, "ms_per_second": 1e3 * spent / (done * given.frame_time), "peak_mb": peak,
        "cpu_per_clock": spent_cpu / max(spent, 1e-9), "scene_mb": peak - before, "spent": spent,
    }  # fmt: skip
