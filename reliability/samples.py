"""The sample files from jittered starts: crossings of surfaces, and vertices that jump."""

import importlib
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..tools import child
from ..tools.pages import items, table

ROOT = Path(__file__).resolve().parent.parent
FULL, QUICK = 10, 1
#: Crossings are looked for in each so manieth frame.
EVERY = 3
#: Largest displacement of a body's start along each axis, in its sizes.
JITTER = 1e-4
#: A vertex may move in a frame by this many times the fastest way of its body and of those around it: a heavy body that
#: hits a light one at rest gives it twice its speed.
SPEEDS = 2.0
#: What elasticity and gas may add, in sizes of the body.
ADDED = 0.05


class Watch:
    """Looks at a world after each frame: `crossed` and `popped`, a sentence each."""

    def __init__(self):
        self.crossed, self.popped, self.frames, self.largest = [], [], 0, 0.0
        self.before = self.way = None

    def see(self, world):
        """After a frame."""
        import crossings
        import numpy as np

        model, x = world.model, world.save().positions
        self.frames += 1
        if not np.isfinite(x).all():
            self.popped.append(f"frame {self.frames}: positions are not finite")
            return
        if self.frames % EVERY == 0:
            pairs = crossings.crossings_by_bodies(world)
            self.crossed += [f"frame {self.frames}: {a} and {b}, {count} times" for (a, b), count in pairs.items()]
        if self.before is not None:
            self._look_for_pops(model, x, world.frame_rate)
        self.before = x.copy()

    def _look_for_pops(self, model, x, rate):
        import numpy as np

        start = model.body_point_start
        parts = [slice(int(a), int(b)) for a, b in zip(start[:-1], start[1:], strict=True)]
        moved = np.linalg.norm(x - self.before, axis=1)
        way = np.array([moved[part].max(initial=0.0) for part in parts])
        fall = np.linalg.norm(model.gravity) / rate**2
        if self.way is not None:
            known = np.where(np.arange(len(way)) < model.moving_count, self.way, way)  # the others are given
            low = np.array([self.before[part].min(axis=0) for part in parts])
            high = np.array([self.before[part].max(axis=0) for part in parts])
            reach = (SPEEDS * (known + fall))[:, None] + 0.01 * (high - low).max(axis=1, keepdims=True)
            for body in range(model.moving_count):
                near = ((low - reach <= (high + reach)[body]) & (high + reach >= (low - reach)[body])).all(axis=1)
                size = float((high - low)[body].max())
                bound = SPEEDS * float(known[near].max()) + fall + ADDED * size
                self.largest = max(self.largest, float(way[body]) / bound)
                if way[body] > bound:
                    name, much = model.body_names[body], f"{way[body]:.3g} m, {bound:.3g} m explained"
                    self.popped.append(f"frame {self.frames}: {name} moves {much}")
        self.way = way


def jitter(scene, seed):
    """Move every body that is free to begin elsewhere by a random vector."""
    import numpy as np

    sessions = importlib.import_module("softpressure_ext.softpressure.state.sessions")
    chance = np.random.default_rng(seed)
    for obj in sessions.objects(scene, "SOFT", "RIGID"):
        if obj.parent is None and obj.animation_data is None and not obj.constraints:
            obj.location += type(obj.location)(JITTER * max(obj.dimensions) * chance.uniform(-1.0, 1.0, 3))


def simulate(path, seed):
    """Simulate a sample file from a jittered start; what was found."""
    import bpy

    with tempfile.TemporaryDirectory() as folder:  # its cache goes there, too
        bpy.ops.wm.open_mainfile(filepath=shutil.copy(path, folder))
        return _watched(seed)


def _watched(seed):
    """Simulate the file that is open."""
    import bpy

    stepping = importlib.import_module("softpressure_ext.softpressure.simulation.stepping")
    scene = bpy.context.scene
    settings = scene.softpressure
    jitter(scene, seed)
    watch, step = Watch(), stepping.step

    def watched(stepper, *more):
        step(stepper, *more)
        watch.see(stepper.world)

    stepping.step = watched
    error = ""
    try:
        bpy.ops.softpressure.simulate()
    except RuntimeError as said:
        error = str(said)
    finally:
        stepping.step = step
    return {
        "frames": watch.frames, "asked": settings.frame_end - settings.frame_start, "largest": watch.largest,
        "error": error, "solver": settings.solver, "crossed": watch.crossed[:5], "popped": watch.popped[:5],
    }  # fmt: skip


def run(count):
    """Each sample `count` times, as many at once as there are cores."""
    paths = sorted((ROOT / "sample_blends").glob("*.blend"))
    jobs = [(path, seed) for path in paths for seed in range(1, count + 1)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(lambda job: attempt(*job), jobs))
    found = {path.stem: runs[n * count : (n + 1) * count] for n, path in enumerate(paths)}
    return {"tried": f"{count} of each of {len(paths)} samples", "samples": found}


def attempt(path, seed):
    """A run in a process of its own; what ends that is a failure, too."""
    try:
        got = child.call("reliability.samples", "simulate", path=str(path), seed=seed)
    except RuntimeError as error:
        got = {"frames": 0, "asked": 1, "largest": 0.0, "solver": "", "error": str(error)[-300:]}
        got |= {"crossed": [], "popped": []}
    print(f"samples: {path.stem} {seed}: {got}", file=sys.stderr, flush=True)
    return got


def faults(runs):
    """How many of these runs crossed, popped, and ended early."""
    return [sum(map(bool, each)) for each in zip(*[
        (run["crossed"], run["popped"], run["error"] or run["frames"] < run["asked"]) for run in runs
    ], strict=True)]  # fmt: skip


def values(data):
    """What stands in the text."""
    crossed, popped, ended = faults([run for runs in data["samples"].values() for run in runs])
    rows, said = [], []
    for name, runs in data["samples"].items():
        frames, largest = sum(run["frames"] for run in runs), max(run["largest"] for run in runs)
        rows.append([name, runs[0]["solver"], len(runs), frames, *faults(runs), f"{largest:.2f}"])
        for number, run in enumerate(runs, 1):
            sentences = [*run["crossed"], *run["popped"], run["error"]]
            said += [f"{name}, run {number}: {sentence}" for sentence in sentences if sentence]
    head = ["sample", "method", "runs", "frames in all", "with a crossing", "with a pop", "ended early"]
    return {
        "tried": data["tried"], "table": table([*head, "share of the bound"], rows), "failures": items(said[:50]),
        "found": f"{crossed} runs with a crossing, {popped} with a pop, {ended} that ended early",
    }  # fmt: skip
