"""A sweep: one file simulated with many settings, each case in a process of its own; its table and contact sheet.

Cases that are finished are not run again, so the same command goes on where an earlier one was stopped.
"""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import bpy

from ..state import jobs
from . import case_process, headless, pictures, sweep_case, sweep_plan

TABLE, SHEET = "results.csv", "contact_sheet.png"


def command() -> list[str]:
    """The words that start this Blender again, with this extension's command."""
    if bpy.app.binary_path:
        return [bpy.app.binary_path, "--command", "softpressure"]
    return [sys.executable, str(Path(__file__).with_name("as_module.py"))]  # Blender as a module of Python


def prepare(
    file: Path, settings: list[str], pairwise: bool, frames: tuple[int, int] | None, output: Path | None
) -> Path:
    """Open a file, check the settings of a sweep and write its plan; returns its folder. Raises with a sentence."""
    return write_plan(file, headless.open_file(file, frames), settings, pairwise, frames, output)


def write_plan(
    file: Path,
    scenes: list[bpy.types.Scene],
    settings: list[str],
    pairwise: bool,
    frames: tuple[int, int] | None = None,
    output: Path | None = None,
) -> Path:
    """The same for a file that is open."""
    plan = sweep_plan.plan(file, scenes, settings, pairwise, frames)
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
    total = len(plan["cases"])
    running: list[tuple[dict[str, Any], case_process.Attempt]] = []
    done = total - len(waiting)
    yield done, total, f"Sweep of {total} cases, {done} finished"
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                case = waiting.pop(0)
                running.append((case, case_process.Attempt(plan["command"], folder, case)))
            ended = [each for each in running if each[1].process.poll() is not None]
            for each in ended:
                running.remove(each)
                done += 1
                yield done, total, f"{done} of {total}: {each[0]['name']}: {each[1].reason() or 'finished'}"
                write_table(folder, plan)
            if not ended:
                yield None
    finally:
        for _, attempt in running:
            attempt.end()


def collect(folder: Path) -> tuple[str, int]:
    """Write the table and the contact sheet; returns a line for the console and how many cases are not finished.

    The line says why the first case failed, too.
    """
    plan = case_process.read_plan(folder)
    finished = write_table(folder, plan)
    shown = [folder / case["name"] / sweep_case.PICTURE for case in plan["cases"]]
    pictures.sheet([path if is_there else None for path, is_there in zip(shown, finished, strict=True)], folder / SHEET)
    missing = finished.count(False)
    said = f"softpressure: {len(finished) - missing} of {len(finished)} cases finished, {folder / TABLE}"
    failed = case_process.failures(folder)
    if failed:
        said += f". {len(failed)} failed, the first, {failed[0][0]}: {failed[0][1]}"
    return said, missing


def write_table(folder: Path, plan: dict[str, Any]) -> list[bool]:
    """Write the table, a row per case in the order of the plan; returns which are finished."""
    rows, done = [], []
    for number, case in enumerate(plan["cases"], 1):
        result = case_process.finished(folder, case)
        done.append(result is not None)
        row: dict[str, Any] = {"case": number, "name": case["name"], **case["settings"]}
        if result is not None:
            row["state"] = "finished"
            row |= {key: f"{value:.6g}" for key, value in result.items() if isinstance(value, (int, float))}
            for body, found in result["bodies"].items():
                row |= {f"{body}: {what}": f"{value:.6g}" for what, value in found.items()}
        else:
            row["reason"] = case_process.failure(folder, case)
            row["state"] = "failed" if row["reason"] else "not run"
        rows.append(row)
    columns = list(dict.fromkeys(["case", "name", *plan["cases"][0]["settings"], "state"]))
    columns += [key for key in dict.fromkeys(key for row in rows for key in row) if key not in (*columns, "reason")]
    text = io.StringIO()
    writer = csv.DictWriter(text, [*columns, "reason"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    case_process.write(folder / TABLE, text.getvalue())
    return done
