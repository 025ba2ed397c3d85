"""One case of a sweep: its file is opened, set, simulated, measured and kept in the folder of the case."""

import json
import shutil
import time
import traceback
import uuid
from pathlib import Path
from typing import Any

import bpy

from ..baking import bake
from ..state import sessions
from . import case_process, headless, pictures, sweep_plan

#: The picture of the last frame.
PICTURE = "last_frame.png"


def run(folder: Path, name: str) -> str:
    """Simulate a case of the sweep in `folder`, by its name or number; returns a line for the console.

    The case's folder appears when all is in it: the file with the settings, its cache, the trace, the picture of the
    last frame and the result. Raises what went wrong, which is kept in the folder of the sweep, too.
    """
    folder = folder.resolve()
    plan = case_process.read_plan(folder)
    case = _find(plan, name)
    if case_process.finished(folder, case) is None:
        part = folder / f".{case['name']}.{uuid.uuid4().hex[:8]}.part"
        part.mkdir()
        try:
            _simulate(plan, case, part)
            _appear(folder, case, part)
        except Exception as error:
            text = f"{headless.sentence_of(error)}\n\n{traceback.format_exc()}"
            if case_process.finished(folder, case) is None:
                case_process.write(case_process.failure_file(folder, case), text)
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return f"softpressure: finished {folder / case['name']}"


def _find(plan: dict[str, Any], name: str) -> dict[str, Any]:
    """A case of a plan by its name or number."""
    for number, case in enumerate(plan["cases"], 1):
        if name in (case["name"], str(number)):
            return dict(case)
    raise ValueError(f"{name}: no such case. Give a name of the plan, or a number from 1 to {len(plan['cases'])}.")


def _simulate(plan: dict[str, Any], case: dict[str, Any], part: Path) -> None:
    """Simulate a case into a folder."""
    began, file = time.monotonic(), Path(plan["file"])
    if sweep_plan.content_of(file) != plan["content"]:
        raise ValueError(f"{file}: has changed since the sweep was planned. Start the sweep again.")
    scenes = headless.open_file(file, None if plan["frames"] is None else tuple(plan["frames"]))
    for scene in scenes:
        bake.free(scene)
        scene.softpressure.cache_folder = ""
    sweep_plan.assign(scenes, case["settings"])
    bpy.context.preferences.filepaths.save_version = 0
    bpy.ops.wm.save_as_mainfile(filepath=str(part / file.name), compress=True)  # the cache goes beside this one
    result: dict[str, Any] = {"digest": case["digest"], "settings": case["settings"], "bodies": {}}
    with headless.traced(part / "trace.csv") as table:
        for scene in scenes:
            headless.show_progress(scene, headless.simulate(scene, table))
            for key, value in _measure(scene, result["bodies"]).items():
                result[key] = (
                    max(result.get(key, 0.0), value) if key.startswith("largest") else (result.get(key, 0.0) + value)
                )
    result["seconds"] = round(time.monotonic() - began, 2)
    bpy.ops.wm.save_mainfile(compress=True)
    pictures.still(scenes[0], scenes[0].softpressure.frame_end, part / PICTURE, label(case))
    case_process.write(part / case_process.RESULT, json.dumps(result, indent=1))


def label(case: dict[str, Any]) -> str:
    """What the picture of a case says."""
    return "  ".join(
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in case["settings"].items()
    )


def _measure(scene: bpy.types.Scene, bodies: dict[str, Any]) -> dict[str, float]:
    """What the run of a scene amounts to; of each soft body at its last frame, by the name of its object."""
    session = sessions.of(scene)
    assert session.run.world is not None and session.run.start is not None
    names = {obj.session_uid: obj.name for obj in scene.objects}
    for found, body in zip(session.run.world.diagnostics().bodies, session.run.start.bodies, strict=True):
        bodies[names[body.object_uid]] = {
            "volume [m^3]": found.volume,
            "volume ratio": found.volume_ratio,
            "gauge pressure [Pa]": found.gauge_pressure,
            "kinetic energy [J]": found.kinetic_energy,
        }
    frames = list(session.run.reports.values())
    return {
        "largest contact force [N]": max((_force(reports) for reports in frames), default=0.0),
        "energy change [J]": sum(report.energy_change for reports in frames for report in reports),
        "steps": sum(report.steps for reports in frames for report in reports),
    }


def _force(reports: Any) -> float:
    """Sum of the normal forces of all pairs of bodies at the end of a frame [N]."""
    return float(sum(pair.force for report in reports for pair in report.pairs))


def _appear(folder: Path, case: dict[str, Any], part: Path) -> None:
    """Give a whole folder the name of its case, in place of one of other inputs; drop what ended attempts left."""
    target = folder / case["name"]
    if target.exists():
        target.rename(part.with_name(part.name.replace(".part", ".old.part")))
    part.rename(target)
    case_process.failure_file(folder, case).unlink(missing_ok=True)
    for left in folder.glob(f".{case['name']}.*.part"):
        shutil.rmtree(left, ignore_errors=True)
