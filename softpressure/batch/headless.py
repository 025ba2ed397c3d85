"""Files that are opened and simulated without a window, by a command."""

from pathlib import Path

import bpy

from ..reports import status
from ..reports.trace import Trace
from ..state import jobs, sessions


def open_file(file: Path, frames: tuple[int, int] | None) -> list[bpy.types.Scene]:
    """Open a file and set the frame range, if one is given, of its scenes with bodies; returns these scenes."""
    if not file.is_file():
        raise FileNotFoundError(f"{file}: no such file. Give the path of a .blend file.")
    bpy.ops.wm.open_mainfile(filepath=str(file.resolve()), load_ui=False)
    scenes = [scene for scene in bpy.data.scenes if sessions.has_bodies(scene)]
    if not scenes:
        raise ValueError(f"{file}: holds no soft or rigid body. Open it in Blender and add one first.")
    for scene in scenes:
        if frames is not None:
            scene.softpressure.frame_start, scene.softpressure.frame_end = frames
    return scenes


def show_progress(scene: bpy.types.Scene, job: jobs.Work) -> None:
    """Run all of a job and print how it goes."""
    said = -1.0
    for done, total, label in jobs.whole(job):
        if done != said and (done % 25 == 0 or done == total):
            print(f"softpressure: {scene.name}: {label} ({done / total:.0%})", flush=True)
            said = done


def simulate(scene: bpy.types.Scene, table: Trace | None) -> jobs.Work:
    """Simulate a scene, then print what its frames took; the table gets all frames that were reached."""
    from ..simulation import simulate_job

    if table is not None:
        sessions.of(scene).clear()
    try:
        yield from simulate_job.simulate(scene)
    finally:
        if table is not None:
            table.add(scene)
    for sentence in status.pace_texts(scene):
        print(f"softpressure: {scene.name}: {sentence}", flush=True)


def sentence_of(error: BaseException) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).removeprefix("Error: ").split()) or repr(error)
