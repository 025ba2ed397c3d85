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


def start() -> None:
    """Press Simulate."""
    with in_view():
        assert bpy.ops.softpressure.simulate("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def undo() -> None:
    """Undo a change of something else, which was made before."""
    with in_view():
        bpy.ops.ed.undo()


def undo_and_redo() -> None:
    """Both, one after the other."""
    with in_view():
        bpy.ops.ed.undo()
        bpy.ops.ed.redo()


def load() -> None:
    """Open the file anew."""
    bpy.ops.wm.open_mainfile(filepath=FILE)


def save() -> None:
    """Save it."""
    bpy.ops.wm.save_mainfile()


def delete_and_undo() -> None:
    """Delete the body and take that back."""
    with in_view():
        bpy.ops.ed.undo_push(message="before")
        bpy.data.objects.remove(bpy.data.objects["Ball"])
        bpy.ops.ed.undo_push(message="deleted")


def undo_deletion() -> None:
    """Take the deletion back."""
    with in_view():
        bpy.ops.ed.undo()


def escape() -> None:
    """Press Esc."""
    Mouse(bpy.context.window_manager.windows[0]).click("ESC")


def scrub() -> None:
    """Go to other frames."""
    for _ in range(5):
        bpy.context.scene.frame_set(random.randint(1, FRAMES))


def play() -> None:
    """Start or stop the playback."""
    with in_view():
        bpy.ops.screen.animation_play()


def edit_other() -> None:
    """Go through Edit Mode of something else."""
    with in_view():
        bpy.context.view_layer.objects.active = bpy.data.objects["Other"]
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.mesh.subdivide()
        bpy.ops.object.mode_set(mode="OBJECT")


def move_other() -> None:
    """Select and move something else, with an undo step."""
    with in_view():
        bpy.ops.object.select_all(action="DESELECT")
        bpy.data.objects["Other"].select_set(True)
        bpy.ops.transform.translate(value=(0.1, 0.0, 0.0))
        bpy.ops.ed.undo_push(message="moved")


def add_other() -> None:
    """Add an object and delete it."""
    with in_view():
        bpy.ops.mesh.primitive_cube_add(location=(5.0, 0.0, 0.0))
        bpy.ops.object.delete()


def edit_body() -> None:
    """Go into Edit Mode of the body and out of it."""
    with in_view():
        bpy.context.view_layer.objects.active = bpy.data.objects["Ball"]
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.object.mode_set(mode="OBJECT")


def reset() -> None:
    """Press Reset."""
    with in_view():
        bpy.ops.softpressure.reset()


def simulate_again() -> None:
    """Press Simulate in mid-job."""
    start()


def stop() -> None:
    """Press Stop."""
    with in_view():
        bpy.ops.softpressure.stop()


#: What is done in mid-job, and whether the job has to end by it, has to go on, or may do either.
ENDS, GOES_ON, EITHER = "ends", "goes on", "either"
ACTIONS: dict[Callable[[], None], str] = {
    undo: ENDS,
    undo_and_redo: ENDS,
    load: ENDS,
    delete_and_undo: ENDS,
    escape: ENDS,
    reset: ENDS,
    stop: ENDS,
    simulate_again: GOES_ON,
    save: GOES_ON,
    scrub: GOES_ON,
    play: GOES_ON,
    edit_other: GOES_ON,
    move_other: GOES_ON,
    add_other: GOES_ON,
    edit_body: EITHER,
}


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


def one_round(action: Callable[[], None], seen: Counter[str]) -> Steps:
    """Simulate, do something in mid-job, look at what is cached, and let it be finished."""
    if random.random() < 0.8:  # else it goes on from where the last round ended
        with in_view():
            bpy.ops.softpressure.reset()
    if action in (undo, undo_and_redo):
        move_other()
    start()
    yield random.uniform(0.0, 0.8)
    kept, was_running = len(frames()), job() is not None
    seen[action.__name__] += was_running
    action()
    yield 0.2
    if was_running and ACTIONS[action] == ENDS:
        assert job() is None, "the job goes on"
    if was_running and ACTIONS[action] == GOES_ON:
        assert job() is not None or len(frames()) == FRAMES, f"the job is over: {session().refusals.error}"
    if action is delete_and_undo:
        yield lambda: not module("softpressure.state.worker_thread").is_busy()
        undo_deletion()
        yield 0.1
    if action in (load, reset):
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
    actions = [list(ACTIONS)[number % len(ACTIONS)] for number in range(count)]
    random.shuffle(actions)
    for number, action in enumerate(actions):
        print(f"round {number}: {action.__name__}", flush=True)
        yield from one_round(action, seen)
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
