"""Live play for long: memory must not grow."""

import importlib
import time
from pathlib import Path

from ..tools import child
from ..tools.pages import table

ROOT = Path(__file__).resolve().parent.parent
#: Minutes.
FULL, QUICK = 60, 1
SAMPLE = "bounce"
#: Frames between two pokes, and between two settings that need a new model.
POKE, CHANGE = 60, 90
#: Share of the time after which memory counts: until then caches of Blender and Python fill.
SETTLED = 0.25
#: Growth that counts as flat [MB]: what the allocator keeps varies by that much.
FLAT = 8.0


def play(minutes):
    """Play a sample, poke its bodies and change a setting; frames, memory [MB] over time [s]."""
    import bpy

    interactive = importlib.import_module("softpressure_ext.softpressure.simulation.interactive")
    jobs = importlib.import_module("softpressure_ext.softpressure.state.jobs")
    session = importlib.import_module("softpressure_ext.softpressure.state.sessions")
    bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / f"{SAMPLE}.blend"))
    scene = bpy.context.scene
    bodies = session.objects(scene, "SOFT")
    playing, models, rows = interactive.InteractivePlay(scene), 0, []
    began = time.monotonic()

    def done(work):
        for _ in jobs.whole(work):
            pass

    done(playing.begin())
    try:
        while time.monotonic() - began < 60.0 * minutes:
            done(playing.step())
            if playing.frame % POKE == 0:
                centre = playing.hand.world.positions(playing.frame // POKE % len(bodies)).mean(axis=0)
                playing.hand.poke(centre - [0.0, 0.0, 20.0], [0.0, 0.1, 1.0])
            if playing.frame % CHANGE == 0:
                models += 1
                bodies[0].softpressure.mass *= 1.25 if models % 2 else 0.8
            if playing.frame % POKE == 1:
                rows.append((round(time.monotonic() - began, 1), playing.frame, round(child.memory(), 1)))
    finally:
        playing.end()
    return {"frames": playing.frame, "models": models, "rows": rows, "solver": playing.hand.world.solver}


def growth(rows):
    """How much more memory [MB] there is at the end than at `SETTLED` of the time."""
    counted = [size for seconds, _, size in rows if seconds >= SETTLED * rows[-1][0]]
    return counted[-1] - counted[0]


def run(count):
    """Play for `count` minutes in a process of its own."""
    data = child.call("reliability.soak", "play", minutes=count)
    grown = growth(data["rows"])
    shown = data["rows"][:: max(len(data["rows"]) // 12, 1)]
    return data | {"tried": f"{data['frames']} frames in {count} min", "rows": shown, "grown": round(grown, 1)}


def values(data):
    """What stands in the text."""
    grows = f"memory grows by {data['grown']:g} MB" if data["grown"] > FLAT else "flat memory"
    rows = [[f"{seconds:.0f}", frame, f"{size:.0f}"] for seconds, frame, size in data["rows"]]
    return data | {"found": grows, "table": table(["time [s]", "frame", "memory [MB]"], rows)}
