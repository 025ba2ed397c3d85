"""A sweep: one file simulated with many settings, each case in a process of its own; its table and contact sheet.

Cases that are finished are not run again, so the same command goes on where an earlier one was stopped.
"""

import csv
import io
import json
import shutil
import sys
import time
import traceback
import uuid
from pathlib import Path
from typing import Any

import bpy

from ..baking import bake
from ..reports.trace import Trace
from ..state import jobs, sessions
from . import case_process, headless, pictures, sweep_plan

TABLE, SHEET, PICTURE = "results.csv", "contact_sheet.png", "last_frame.png"


def command() -> list[str]:
    """The words that start this Blender again, with this extension's command."""
    if bpy.app.binary_path:
        return [bpy.app.binary_path, "--command", "softpressure"]
    return [sys.executable, str(Path(__file__).with_name("as_module.py"))]  # Blender as a module of Python


def prepare(
    file: Path,
    settings: list[str],
    pairwise: bool,
    frames: tuple[int, int] | None = None,
    output: Path | None = None,
    scenes: list[bpy.types.Scene] | None = None,
) -> Path:
    """Check the settings of a sweep and write its plan; returns its folder. Raises with a sentence.

    `scenes`: those with bodies, if the file is open.
    """
    plan = sweep_plan.plan(file, scenes or headless.open_file(file, frames), settings, pairwise, frames)
    folder = (output or case_process.folder_of(file)).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    case_process.write(folder / case_process.PLAN, json.dumps(plan | {"command": command()}, indent=1))
    return folder


def run(folder: Path, workers: int) -> jobs.Work:
    """Run the cases of a plan that are not finished, so many at the same time.

    Its progress is the number of cases that are over, and a line for the console. Closed before, it ends what runs.
    """
    plan = case_process.read_plan(folder)
    waiting = [case for case in plan["cases"] if case_process.finished(folder, case) is None]
    total, running = len(plan["cases"]), list[tuple[str, case_process.Attempt]]()
    done = total - len(waiting)
    yield done, total, f"Sweep of {total} cases, {done} finished"
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                case = waiting.pop(0)
                running.append((case["name"], case_process.Attempt(plan["command"], folder, case)))
            ended = [each for each in running if each[1].process.poll() is not None]
            for name, attempt in ended:
                running.remove((name, attempt))
                done += 1
                yield done, total, f"{done} of {total}: {name}: {attempt.reason() or 'finished'}"
                write_table(folder, plan)
            if not ended:
                yield None
    finally:
        for _, attempt in running:
            attempt.end()


def run_case(folder: Path, name: str) -> str:
    """Simulate a case of the sweep in `folder`, by its name or number; returns a line for the console.

    The case's folder appears when all is in it: the file with the settings, its cache, the trace, the picture of the
    last frame and the result. Raises what went wrong, which is kept in the folder of the sweep, too.
    """
    folder = folder.resolve()
    plan = case_process.read_plan(folder)
    found = [case for number, case in enumerate(plan["cases"], 1) if name in (case["name"], str(number))]
    if not found:
        raise ValueError(f"{name}: no such case. Give a name of the plan, or a number from 1 to {len(plan['cases'])}.")
    case, target = found[0], folder / found[0]["name"]
    if case_process.finished(folder, case) is None:
        part = folder / f".{case['name']}.{uuid.uuid4().hex[:8]}.part"
        part.mkdir()
        try:
            _simulate(plan, case, part)
            if target.exists():  # of other inputs
                target.rename(part.with_suffix(".old.part"))
            part.rename(target)
            case_process.failure_file(folder, case).unlink(missing_ok=True)
            for left in folder.glob(f".{case['name']}.*.part"):  # of ended attempts
                shutil.rmtree(left, ignore_errors=True)
        except Exception as error:
            if case_process.finished(folder, case) is None:
                text = f"{headless.sentence_of(error)}\n\n{traceback.format_exc()}"
                case_process.write(case_process.failure_file(folder, case), text)
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return f"softpressure: finished {target}"


def _simulate(plan: dict[str, Any], case: dict[str, Any], part: Path) -> None:
    """Simulate a case into a folder."""
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
    case_process.write(part / case_process.RESULT, json.dumps(result, indent=1))


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


def collect(folder: Path) -> tuple[str, int]:
    """Write the table and the contact sheet; returns a line for the console and how many cases are not finished.

    The line says why the first case failed, too.
    """
    plan = case_process.read_plan(folder)
    finished = write_table(folder, plan)
    shown = [folder / case["name"] / PICTURE for case in plan["cases"]]
    pictures.sheet([path if is_there else None for path, is_there in zip(shown, finished, strict=True)], folder / SHEET)
    missing = finished.count(False)
    said = f"softpressure: {len(finished) - missing} of {len(finished)} cases finished, {folder / TABLE}"
    if failed := case_process.failures(folder):
        said += f". {len(failed)} failed, the first, {failed[0][0]}: {failed[0][1]}"
    return said, missing


def write_table(folder: Path, plan: dict[str, Any]) -> list[bool]:
    """Write the table, a row per case in the order of the plan; returns which are finished."""
    rows, done = [], []
    for number, case in enumerate(plan["cases"], 1):
        result, reason = case_process.finished(folder, case), ""
        row: dict[str, Any] = {"case": number, "name": case["name"], **case["settings"]}
        if result is None:
            reason = case_process.failure(folder, case)
            row["state"] = "failed" if reason else "not run"
        else:
            row["state"] = "finished"
            numbers = {key: value for key, value in result.items() if isinstance(value, (int, float))}
            numbers |= {f"{body}: {what}": v for body, all_ in result["bodies"].items() for what, v in all_.items()}
            row |= {key: f"{value:.6g}" for key, value in numbers.items()}
        rows.append(row | {"reason": reason})
        done.append(result is not None)
    columns = [key for key in dict.fromkeys(key for row in rows for key in row) if key != "reason"]
    text = io.StringIO()
    writer = csv.DictWriter(text, [*columns, "reason"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    case_process.write(folder / TABLE, text.getvalue())
    return done
