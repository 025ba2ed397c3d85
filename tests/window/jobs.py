"""In a real window: Simulate goes on beside whatever a person does, and nothing makes it crash or lose a frame.

    blender --enable-event-simulate --python tests/window/jobs.py -- [--rounds 100] [--seed 0] [--quit]

The extension must be installed. Each round starts Simulate, does one thing in mid-job, chosen at random, and compares
what is cached then with frames of an undisturbed run. `--quit` quits Blender in mid-job instead; the exit code tells.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.append(str(Path(__file__).resolve().parent))

from steps import Mouse, Steps, in_view, is_over, job, module, run, session

FRAMES = 60
FOLDER = Path(tempfile.mkdtemp())
FILE = str(FOLDER / "jobs.blend")


def make_scene() -> None:
    """A ball that falls on a still floor beside a block that moves, with something else to work on."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    add = bpy.ops.mesh
    add.primitive_plane_add(size=6.0)
    bpy.context.object.name = "Floor"
    bpy.ops.softpressure.add_body(kind="COLLIDER")
    add.primitive_cube_add(size=0.6, location=(-1.5, 0.0, 0.3))
    block = bpy.context.object
    block.name = "Block"
    for frame, x in ((1, -1.5), (FRAMES, -0.3)):
        block.location.x = x
        block.keyframe_insert("location", frame=frame)
    bpy.ops.softpressure.add_body(kind="COLLIDER")
    add.primitive_ico_sphere_add(subdivisions=5, radius=0.5, location=(0.0, 0.0, 1.0))
    bpy.context.object.name = "Ball"
    bpy.ops.softpressure.add_body(kind="SOFT")
    add.primitive_monkey_add(location=(3.0, 0.0, 1.0))
    bpy.context.object.name = "Other"
    bpy.context.scene.frame_end = FRAMES
    bpy.ops.ed.undo_push(message="made")
    bpy.ops.wm.save_as_mainfile(filepath=FILE)


def frames() -> list[Any]:
    """What is cached."""
    cache = session().run.cache
    return [] if cache is None else [cache.positions(0, frame).copy() for frame in range(1, cache.last_frame + 1)]


def acting(*calls: Callable[[], Any]) -> Callable[[], None]:
    """Calls, one after the other, in the viewport."""

    def act() -> None:
        with in_view():
            for call in calls:
                call()

    return act


def push(message: str) -> Callable[[], Any]:
    """An undo step."""
    return lambda: bpy.ops.ed.undo_push(message=message)


def press_simulate() -> None:
    assert bpy.ops.softpressure.simulate("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def activate(name: str) -> Callable[[], None]:
    return lambda: setattr(bpy.context.view_layer.objects, "active", bpy.data.objects[name])


def mode(name: str) -> Callable[[], Any]:
    return lambda: bpy.ops.object.mode_set(mode=name)


def scrub() -> None:
    """Go to other frames."""
    for _ in range(5):
        bpy.context.scene.frame_set(random.randint(1, FRAMES))


start = acting(press_simulate)
move_other = acting(
    lambda: bpy.ops.object.select_all(action="DESELECT"),
    lambda: bpy.data.objects["Other"].select_set(True),
    lambda: bpy.ops.transform.translate(value=(0.1, 0.0, 0.0)),
    push("moved"),
)
#: What is done in mid-job, and whether the job has to end by it, has to go on, or may do either.
ENDS, GOES_ON, EITHER = "ends", "goes on", "either"
ACTIONS: dict[str, tuple[Callable[[], Any], str]] = {
    "undo": (acting(bpy.ops.ed.undo), ENDS),  # of a change of something else, which was made before
    "undo_and_redo": (acting(bpy.ops.ed.undo, bpy.ops.ed.redo), ENDS),
    "load": (lambda: bpy.ops.wm.open_mainfile(filepath=FILE), ENDS),
    "delete_and_undo": (
        acting(push("before"), lambda: bpy.data.objects.remove(bpy.data.objects["Ball"]), push("deleted")), ENDS
    ),
    "escape": (lambda: Mouse(bpy.context.window_manager.windows[0]).click("ESC"), ENDS),
    "reset": (acting(bpy.ops.softpressure.reset), ENDS),
    "stop": (acting(bpy.ops.softpressure.stop), ENDS),
    "simulate_again": (start, GOES_ON),
    "save": (bpy.ops.wm.save_mainfile, GOES_ON),
    "scrub": (scrub, GOES_ON),
    "play": (acting(bpy.ops.screen.animation_play), GOES_ON),
    "edit_other": (
        acting(
            activate("Other"), mode("EDIT"), lambda: bpy.ops.mesh.select_all(action="SELECT"), bpy.ops.mesh.subdivide,
            mode("OBJECT"),
        ), GOES_ON
    ),
    "move_other": (move_other, GOES_ON),
    "add_other": (
        acting(lambda: bpy.ops.mesh.primitive_cube_add(location=(5.0, 0.0, 0.0)), bpy.ops.object.delete), GOES_ON
    ),
    "edit_body": (acting(activate("Ball"), mode("EDIT"), mode("OBJECT")), EITHER),
}  # fmt: skip


def reference() -> Steps:
    """An undisturbed run; its frames stay in `WHOLE`."""
    start()
    yield is_over
    WHOLE[:] = frames()
    assert len(WHOLE) == FRAMES, f"{len(WHOLE)} frames: {session().refusals.error}"


WHOLE: list[Any] = []


def check(kept: int) -> None:
    """What is cached is what an undisturbed run has, and no frame that was there is gone."""
    found = frames()
    assert len(found) >= kept, f"{len(found)} frames left of {kept}"
    for number, positions in enumerate(found, start=1):
        assert np.array_equal(positions, WHOLE[number - 1]), f"frame {number} differs"


def one_round(name: str, seen: Counter[str]) -> Steps:
    """Simulate, do something in mid-job, look at what is cached, and let it be finished."""
    if random.random() < 0.8:  # else it goes on from where the last round ended
        with in_view():
            bpy.ops.softpressure.reset()
    action, wanted = ACTIONS[name]
    if name in ("undo", "undo_and_redo"):
        move_other()
    start()
    yield random.uniform(0.0, 0.8)
    kept, was_running = len(frames()), job() is not None
    seen[name] += was_running
    action()
    yield 0.2
    if was_running and wanted == ENDS:
        assert job() is None, "the job goes on"
    if was_running and wanted == GOES_ON:
        assert job() is not None or len(frames()) == FRAMES, f"the job is over: {session().refusals.error}"
    if name == "delete_and_undo":
        yield lambda: not module("softpressure.state.worker_thread").is_busy()
        acting(bpy.ops.ed.undo)()
        yield 0.1
    if name in ("load", "reset"):
        kept = 0
    check(kept)
    with in_view():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    if job() is None and random.random() < 0.7:
        start()
    yield is_over
    check(kept)


def all_rounds(count: int) -> Steps:
    """The undisturbed run, then so many rounds."""
    make_scene()
    yield 0.5
    yield from reference()
    seen: Counter[str] = Counter()
    names = [list(ACTIONS)[number % len(ACTIONS)] for number in range(count)]
    random.shuffle(names)
    for number, name in enumerate(names):
        print(f"round {number}: {name}", flush=True)
        yield from one_round(name, seen)
    assert seen.total() > count // 2, f"too few rounds met a job: {dict(seen)}"
    print("WINDOW TEST PASSED; in mid-job:", dict(seen), flush=True)


def quit_in_mid_job() -> Steps:
    """Quit while frames are simulated."""
    make_scene()
    yield 0.5
    start()
    yield random.uniform(0.0, 1.5)
    print(f"QUITS with {len(frames())} frames", flush=True)
    bpy.ops.wm.quit_blender()


def main() -> None:
    """Run the steps by a timer: what they yield is a time to wait, or what has to become true."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quit", action="store_true")
    options = parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])
    random.seed(options.seed)
    run(quit_in_mid_job() if options.quit else all_rounds(options.rounds))


main()
