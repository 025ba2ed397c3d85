"""A case of a sweep: what came of it, and how it is simulated.

A sweep's folder has its plan (`plan.json`) and a folder for each case that is over, which appears whole or not at all:
its `result.json` says what was measured, or why the case failed.
"""

import json
import os
import shutil
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..reports.trace import Trace
from ..state import measurements, sessions
from . import headless, pictures, sweep_plan

PLAN, PICTURE, _RESULT = "plan.json", "last_frame.png", "result.json"
Case = dict[str, Any]


def read_plan(folder: Path) -> dict[str, Any]:
    """The plan of a sweep; raises `FileNotFoundError` with a sentence if the folder has none."""
    path = folder / PLAN
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such plan. Give the folder of a sweep, which `sweep FILE.blend` makes.")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def write(path: Path, text: str) -> None:
    """Replace a file once the new one is whole."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def outcome(folder: Path, case: Case) -> dict[str, Any]:
    """The state of a case with these inputs, `not run`, `finished` or `failed`, and its results, or the reason."""
    try:
        found = dict(json.loads((folder / case["name"] / _RESULT).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        found = {}
    return found if found.get("digest") == case["digest"] else {"state": "not run"}


def is_finished(folder: Path, case: Case) -> bool:
    """Whether a case need not be run again."""
    return bool(outcome(folder, case)["state"] == "finished")


def run_case(folder: Path, name: str) -> str:
    """Simulate a case of the sweep in `folder`, by its name or number; returns a line for the console.

    Its folder gets the file with the settings, its cache, the trace, the picture of the last frame and the result.
    Raises what went wrong.
    """
    folder = folder.resolve()
    plan = read_plan(folder)
    found = [case for number, case in enumerate(plan["cases"], 1) if name in (case["name"], str(number))]
    if not found:
        raise ValueError(f"{name}: no such case. Give a name of the plan, or a number from 1 to {len(plan['cases'])}.")
    case, target = found[0], folder / found[0]["name"]
    if not is_finished(folder, case):
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=folder, ignore_cleanup_errors=True) as apart:
            part = Path(apart) / "part"
            part.mkdir()
            try:
                _write_result(part, case, state="finished", **_simulate(plan, case, part))
            except Exception as error:
                if not is_finished(folder, case):  # by another process meanwhile
                    fail(folder, case, headless.sentence_of(error), traceback.format_exc())
                raise
            shutil.rmtree(target, ignore_errors=True)
            part.rename(target)
        for left in folder.glob(f".{target.name}.*"):  # of ended attempts
            shutil.rmtree(left, ignore_errors=True)
    return f"finished {target}"


def fail(folder: Path, case: Case, reason: str, log: str) -> None:
    """Keep why a case failed, and what was said until then."""
    target = folder / case["name"]
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(exist_ok=True)
    _write_result(target, case, state="failed", reason=reason, log=log)


def _write_result(folder: Path, case: Case, **result: Any) -> None:
    write(folder / _RESULT, json.dumps({"digest": case["digest"], "settings": case["settings"], **result}, indent=1))


def _simulate(plan: dict[str, Any], case: Case, part: Path) -> dict[str, Any]:
    """Simulate a case into a folder; returns what it measured."""
    from ..baking import bake

    began, file, settings = time.monotonic(), Path(plan["file"]), case["settings"]
    if sweep_plan.digest_of(file.read_bytes()) != plan["content"]:
        raise ValueError(f"{file}: has changed since the sweep was planned. Start the sweep again.")
    scenes = headless.open_file(file, None if plan["frames"] is None else tuple(plan["frames"]))
    for scene in scenes:
        bake.free(scene)
        scene.softpressure.cache_folder = ""
    for label, value in settings.items():
        sweep_plan.assign(scenes, label, value)
    bpy.context.preferences.filepaths.save_version = 0
    bpy.ops.wm.save_as_mainfile(filepath=str(part / file.name), compress=True)  # the cache goes beside this one
    measured: dict[str, float] = {}
    with Trace(part / "trace.csv") as table:
        for scene in scenes:
            headless.show_progress(scene, headless.simulate(scene, table))
            measured |= _measured(scene)
    bpy.ops.wm.save_mainfile(compress=True)
    text = "  ".join(f"{label} = {sweep_plan.plain(value)}" for label, value in settings.items())
    pictures.still(scenes[0], scenes[0].softpressure.frame_end, part / PICTURE, text)
    return {"seconds": round(time.monotonic() - began, 2), "measured": measured}


def _measured(scene: bpy.types.Scene) -> dict[str, float]:
    """What bodies measure at the last frame: the largest force, and the sum of energy changes and steps, of all."""
    run = sessions.of(scene).run
    frames = np.array([run.measured[frame] for frame in sorted(run.measured)])
    rows, sums = frames[-1], [measurements.CHANGE, measurements.STEPS]
    rows[:, measurements.FORCE] = np.fmax.reduce(frames[:, :, measurements.FORCE])
    rows[:, sums] = np.nansum(frames[:, :, sums], axis=0)
    names = {obj.session_uid: obj.name for obj in scene.objects}
    return {
        f"{names[uid]}: {column.heading}": value
        for uid, row in zip(run.object_uids, rows.tolist(), strict=True)
        for column, value in zip(measurements.COLUMNS, row, strict=True)
        if np.isfinite(value)
    }
