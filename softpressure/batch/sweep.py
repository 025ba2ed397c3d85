"""A sweep: one file simulated with many settings, each case in a process of its own; its table and contact sheet.

Cases that are finished are not run again, so the same command goes on where an earlier one was stopped.
"""

import csv
import io
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import bpy

from ..state import jobs
from . import headless, pictures, sweep_plan
from .sweep_case import PICTURE, PLAN, Case, failure, failure_file, finished, read_plan, write

TABLE, SHEET = "results.csv", "contact_sheet.png"


def command() -> list[str]:
    """The words that start this Blender again, with this extension's command."""
    if bpy.app.binary_path:
        return [bpy.app.binary_path, "--command", "softpressure"]
    return [sys.executable, str(Path(__file__).with_name("as_module.py"))]  # Blender as a module of Python


def folder_of(file: Path) -> Path:
    """Where a sweep of a file goes, if nothing else is said."""
    return file.with_name(f"{file.stem}_sweep")


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
    folder = (output or folder_of(file)).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / PLAN, json.dumps(plan | {"command": command()}, indent=1))
    write_table(folder)
    return folder


def run(folder: Path, workers: int) -> jobs.Work:
    """Run the cases of a plan that are not finished, so many at the same time.

    Its progress is the number of cases that are over, and a line for the console. Closed before, it ends what runs.
    """
    plan = read_plan(folder)
    waiting = [case for case in plan["cases"] if finished(folder, case) is None]
    total, running = len(plan["cases"]), list[tuple[Case, subprocess.Popen[bytes], IO[bytes]]]()
    done = total - len(waiting)
    yield done, total, f"Sweep of {total} cases, {done} finished"
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                case = waiting.pop(0)
                said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115, closed when its process has ended
                failure_file(folder, case).unlink(missing_ok=True)
                words = [*plan["command"], "sweep-case", str(folder), case["name"]]
                running.append((case, subprocess.Popen(words, stdout=said, stderr=subprocess.STDOUT), said))
            ended = [each for each in running if each[1].poll() is not None]
            for case, process, said in ended:
                running.remove((case, process, said))
                done += 1
                with said:
                    reason = _reason(folder, case, process.returncode, said)
                yield done, total, f"{done} of {total}: {case['name']}: {reason or 'finished'}"
                write_table(folder)
            if not ended:
                yield None
    finally:
        for _, process, said in running:
            process.kill()
            process.wait()
            said.close()


def _reason(folder: Path, case: Case, code: int, said: IO[bytes]) -> str:
    """Why a case failed whose process has ended, or an empty string; kept in its file, too."""
    if finished(folder, case) is None and not failure(folder, case):  # its process did not get to say why
        said.seek(0)
        text = said.read().decode(errors="replace")
        last = [line.strip() for line in text.splitlines() if line.strip()][-1:] or ["nothing"]
        how = f"was ended by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"ended with code {code}"
        write(failure_file(folder, case), f"Its process {how}. Its last line: {last[0]}\n\n{text}")
    return failure(folder, case)


def failures(folder: Path) -> list[tuple[str, str]]:
    """The names of the cases of a sweep whose last attempt failed, in the order of its plan, and why."""
    path = folder / TABLE
    with path.open(encoding="utf-8", newline="") if path.is_file() else io.StringIO() as file:
        return [(row["name"], row["reason"]) for row in csv.DictReader(file) if row["reason"]]


def collect(folder: Path) -> tuple[str, int]:
    """Write the table and the contact sheet; returns a line for the console and how many cases are not finished.

    The line says why the first case failed, too.
    """
    states = write_table(folder)
    shown = [folder / name / PICTURE if state == "finished" else None for name, state in states]
    pictures.sheet(shown, folder / SHEET)
    missing = shown.count(None)
    said = f"softpressure: {len(shown) - missing} of {len(shown)} cases finished, {folder / TABLE}"
    if failed := failures(folder):
        said += f". {len(failed)} failed, the first, {failed[0][0]}: {failed[0][1]}"
    return said, missing


def write_table(folder: Path) -> list[tuple[str, str]]:
    """Write the table, a row per case in the order of the plan; returns their names and states."""
    rows = []
    for number, case in enumerate(read_plan(folder)["cases"], 1):
        result, reason = finished(folder, case), failure(folder, case)
        row = {"case": number, "name": case["name"], **case["settings"], "reason": ""}
        if result is None:
            row |= {"state": "failed" if reason else "not run", "reason": reason}
        else:
            numbers = {key: value for key, value in result.items() if isinstance(value, (int, float))}
            numbers |= {f"{body}: {what}": v for body, all_ in result["bodies"].items() for what, v in all_.items()}
            row |= {"state": "finished"} | {key: f"{value:.6g}" for key, value in numbers.items()}
        rows.append(row)
    columns = sorted(dict.fromkeys(key for row in rows for key in row), key="reason".__eq__)  # which is the last
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write(folder / TABLE, text.getvalue())
    return [(row["name"], row["state"]) for row in rows]
