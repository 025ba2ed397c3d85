"""A case of a sweep: whether it is finished, why it failed, and how it is simulated.

A sweep's folder has its plan (`plan.json`) and, for each case that is finished, a folder of the case's name, which
appears whole or not at all. `NAME.failed.txt` says why the last attempt at a case failed.
"""

import json
import os
import shutil
import time
import traceback
import uuid
from pathlib import Path
from typing import Any

import bpy

from ..reports.trace import Trace
from ..state import sessions
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


def finished(folder: Path, case: Case) -> dict[str, Any] | None:
    """The result of a case if it is finished with these inputs, else None."""
    try:
        result = dict(json.loads((folder / case["name"] / _RESULT).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    return result if result.get("digest") == case["digest"] else None


def failure_file(folder: Path, case: Case) -> Path:
    """Where it says why a case failed."""
    return folder / f"{case['name']}.failed.txt"


def failure(folder: Path, case: Case) -> str:
    """Why the last attempt at a case failed, in a sentence; empty if none did."""
    path = failure_file(folder, case)
    return path.read_text(encoding="utf-8").partition("\n")[0] if path.is_file() else ""


def run_case(folder: Path, name: str) -> str:
    """Simulate a case of the sweep in `folder`, by its name or number; returns a line for the console.

    The case's folder appears when all is in it: the file with the settings, its cache, the trace, the picture of the
    last frame and the result. Raises what went wrong, which is kept in the folder of the sweep, too.
    """
    folder = folder.resolve()
    plan = read_plan(folder)
    found = [case for number, case in enumerate(plan["cases"], 1) if name in (case["name"], str(number))]
    if not found:
        raise ValueError(f"{name}: no such case. Give a name of the plan, or a number from 1 to {len(plan['cases'])}.")
    case, target = found[0], folder / found[0]["name"]
    if finished(folder, case) is None:
        part = folder / f".{case['name']}.{uuid.uuid4().hex[:8]}.part"
        part.mkdir()
        try:
            _simulate(plan, case, part)
            if target.exists():  # of other inputs
                target.rename(part.with_suffix(".old.part"))
            part.rename(target)
            failure_file(folder, case).unlink(missing_ok=True)
            for left in folder.glob(f".{case['name']}.*.part"):  # of ended attempts
                shutil.rmtree(left, ignore_errors=True)
        except Exception as error:
            if finished(folder, case) is None:
                write(failure_file(folder, case), f"{headless.sentence_of(error)}\n\n{traceback.format_exc()}")
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return f"softpressure: finished {target}"


def _simulate(plan: dict[str, Any], case: Case, part: Path) -> None:
    """Simulate a case into a folder."""
    from ..baking import bake

    began, file, settings = time.monotonic(), Path(plan["file"]), case["settings"]
    if sweep_plan.digest_of(file.read_bytes()) != plan["content"]:
        raise ValueError(f"{file}: has changed since the sweep was planned. Start the sweep again.")
    scenes = headless.open_file(file, None if plan["frames"] is None else tuple(plan["frames"]))
    for scene in scenes:
        bake.free(scene)
        scene.softpressure.cache_folder = ""
    for label, value in settings.items():
        sweep_plan.setting(scenes, label).assign(value)
    bpy.context.preferences.filepaths.save_version = 0
    bpy.ops.wm.save_as_mainfile(filepath=str(part / file.name), compress=True)  # the cache goes beside this one
    force, energy, steps, bodies = 0.0, 0.0, 0, dict[str, Any]()
    with Trace(part / "trace.csv") as table:
        for scene in scenes:
            headless.show_progress(scene, headless.simulate(scene, table))
            bodies |= _bodies_of(scene)
            for reports in sessions.of(scene).run.reports.values():
                force = max(force, sum(float(pair.force) for report in reports for pair in report.pairs))
                energy += sum(report.energy_change for report in reports)
                steps += sum(report.steps for report in reports)
    bpy.ops.wm.save_mainfile(compress=True)
    result = {
        "digest": case["digest"], "settings": settings, "bodies": bodies, "largest contact force [N]": force,
        "energy change [J]": energy, "steps": steps, "seconds": round(time.monotonic() - began, 2),
    }  # fmt: skip
    text = "  ".join(f"{label} = {sweep_plan.plain(value)}" for label, value in settings.items())
    pictures.still(scenes[0], scenes[0].softpressure.frame_end, part / PICTURE, text)
    write(part / _RESULT, json.dumps(result, indent=1))


def _bodies_of(scene: bpy.types.Scene) -> dict[str, Any]:
    """What is measured of each soft body at its last frame, by the name of its object."""
    found = sessions.of(scene).run
    assert found.world is not None and found.start is not None
    names = {obj.session_uid: obj.name for obj in scene.objects}
    return {
        names[body.object_uid]: {
            "volume [m^3]": measured.volume, "volume ratio": measured.volume_ratio,
            "gauge pressure [Pa]": measured.gauge_pressure, "kinetic energy [J]": measured.kinetic_energy,
        }
        for measured, body in zip(found.world.diagnostics().bodies, found.start.bodies, strict=True)
    }  # fmt: skip
