"""SIGKILL at random moments of Simulate, Bake and Save."""

import importlib
import math
import queue
import random
import shutil
import tempfile
import time
from pathlib import Path

from ..tools import child
from ..tools.pages import items

FULL, QUICK = 100, 6
ACTIONS = ("simulate", "bake", "save")
FRAMES = 60
#: How long Bake and Save are repeated [s].
LOOP = 2.0
NAME = "ball.blend"


def make(folder):
    """A file with a ball that falls on a floor, its cache, and one without a cache; how long Simulate takes [s]."""
    import bpy

    samples = importlib.import_module("softpressure_ext.sample_blends.sample_parts")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    bpy.context.preferences.filepaths.save_version = 0
    samples.add_floor(-2.0, 2.0, 4.0, 0.2)
    samples.add_ball("Ball", samples.TEAL, 0.4, (0.0, 0.0, 0.8), mass=1.0, gauge_pressure=500.0, stretch_modulus=500.0)
    scene["round"] = 0
    for name in ("bare", "simulated"):
        Path(folder, name).mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder, "bare", NAME)), copy=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder, "simulated", NAME)))
    began = time.perf_counter()
    bpy.ops.softpressure.simulate()
    seconds = time.perf_counter() - began
    bpy.ops.wm.save_mainfile()
    return seconds


def simulate(path):
    """Simulate, and say each frame that is there."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=path)
    job = importlib.import_module("softpressure_ext.softpressure.simulation.simulate_job")
    sessions = importlib.import_module("softpressure_ext.softpressure.state.sessions")
    scene, told = bpy.context.scene, 0
    child.say("begin")
    for _ in job.simulate(scene):
        session = sessions.of(scene)
        if session.run.cache is not None and session.run.cache.last_frame > told:
            told = session.run.cache.last_frame
            child.say(f"frame {told}")


def bake(path):
    """Bake and free, again and again."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=path)
    child.say("begin")
    while True:
        bpy.ops.softpressure.bake()
        bpy.ops.softpressure.free_bake()


def save(path):
    """Save, again and again, and say how often."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=path)
    child.say("begin")
    for number in range(1, 1_000_000):
        bpy.context.scene["round"] = number
        bpy.data.objects["Ball"].softpressure.friction = 0.001 * (number % 1000)
        bpy.ops.wm.save_mainfile()
        child.say(f"frame {number}")


def kill(action, path, delay):
    """Start an action and kill it after a delay [s] from where it begins; the last number it said, and whether it
    was still running.
    """
    process = child.start("reliability.kills", action, {"path": str(path)})
    lines, said, end = child.Lines(process), [], None
    was_running = False
    while True:
        try:
            line = lines.next(60.0 if end in (None, math.inf) else end - time.perf_counter())
        except queue.Empty:
            was_running = process.poll() is None
            process.kill()
            end = math.inf  # what it has said before is still to be read
            continue
        if line is None:
            break
        said.append(line)
        if line == "begin":
            end = time.perf_counter() + delay
    process.wait()
    frames = [int(line.split()[1]) for line in said if line.startswith("frame ") and line.split()[1:]]
    return max(frames, default=0), was_running and "begin" in said


def check(rounds):
    """Open what each kill left; what is wrong, a sentence each, and how many frames were lost at most."""
    import bpy
    import numpy as np

    sessions = importlib.import_module("softpressure_ext.softpressure.state.sessions")

    def opened(path):
        bpy.ops.wm.open_mainfile(filepath=path)
        session = sessions.of(bpy.context.scene)
        return session, session.run.cache

    wrong, lost, first = [], 0, rounds[0]
    whole = opened(first["reference"])[1]
    backups = 0
    for each in rounds:
        backup = Path(each["path"] + "1")
        if not Path(each["path"]).exists() and backup.exists():
            backups += 1
            backup.rename(each["path"])
        session, cache = opened(each["path"])
        label, scene = f"{each['action']}, killed after {each['delay']:.2f} s", bpy.context.scene
        if session.refusals.error:
            wrong.append(f"{label}: {session.refusals.error}")
        frames = 0 if cache is None else cache.last_frame
        if any(not np.array_equal(cache.positions(0, n), whole.positions(0, n)) for n in range(1, frames + 1)):
            wrong.append(f"{label}: the frames that are left are not those that were simulated")
        is_same = Path(each["path"]).read_bytes() == Path(each["original"]).read_bytes()
        if each["action"] == "simulate":
            lost = max(lost, each["told"] - frames)
            if not is_same:
                wrong.append(f"{label}: the .blend changed")
            if each["told"] - frames > 1:
                wrong.append(f"{label}: {each['told']} frames were there, {frames} are left")
            elif 1 < frames < FRAMES:
                bpy.ops.softpressure.simulate()
                left = sessions.of(scene).run.cache
                if left.last_frame != FRAMES or not np.array_equal(
                    left.positions(0, FRAMES), whole.positions(0, FRAMES)
                ):
                    wrong.append(f"{label}: it does not go on to the same end")
        elif frames != FRAMES:
            wrong.append(f"{label}: {FRAMES} frames were cached, {frames} are left")
        elif each["action"] == "bake" and not is_same:
            wrong.append(f"{label}: the .blend changed")
        elif each["action"] == "save":
            number = scene["round"]
            friction = bpy.data.objects["Ball"].softpressure.friction
            if number < each["told"] or (number and abs(friction - 0.001 * (number % 1000)) > 1e-6):
                wrong.append(f"{label}: saved {each['told']} times, the file is of number {number}")
    return {"wrong": wrong, "lost": lost, "backups": backups}


def run(count, seed=1):
    """Kill `count` processes."""
    chance, rounds = random.Random(seed), []
    with tempfile.TemporaryDirectory() as folder:
        seconds = child.call("reliability.kills", "make", folder=folder)
        for number in range(count):
            action = ACTIONS[number % len(ACTIONS)]
            original = Path(folder, "bare" if action == "simulate" else "simulated")
            place = shutil.copytree(original, Path(folder, f"{number}"))
            delay = chance.uniform(0.0, seconds if action == "simulate" else LOOP)
            told, was_running = kill(action, place / NAME, delay)
            rounds.append(
                {"action": action, "path": str(place / NAME), "original": str(original / NAME), "delay": delay,
                 "told": told, "running": was_running, "reference": str(Path(folder, "simulated", NAME))}
            )  # fmt: skip
        checked = child.call("reliability.kills", "check", rounds=rounds)
    running = {action: sum(each["running"] for each in rounds if each["action"] == action) for action in ACTIONS}
    return checked | {"tried": f"{count} kills", "running": running, "seconds": round(seconds, 2)}


def values(data):
    """What stands in the text."""
    kept = "" if data["wrong"] else f"; at most {data['lost']} frame lost, no .blend damaged"
    return data | {
        "found": f"{len(data['wrong'])} failures{kept}", "failures": items(data["wrong"]),
        "running": ", ".join(f"{number} in {action.capitalize()}" for action, number in data["running"].items()),
    }  # fmt: skip
