"""A sweep: one file simulated with many settings, each case in a process of its own; its table and contact sheet.

Cases that are finished are not run again, so the same command goes on where an earlier one was stopped.
"""

import csv
import io
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import bpy

from ..state import jobs
from . import headless, pictures, sweep_case, sweep_plan

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
    sweep_case.write(folder / sweep_case.PLAN, json.dumps(plan | {"command": command()}, indent=1))
    write_table(folder)
    return folder


def run(folder: Path, workers: int) -> jobs.Work:
    """Run the cases of a plan that are not finished, so many at the same time.

    Its progress is the number of cases that are over, and a line for the console. Closed before, it ends what runs.
    """
    plan = sweep_case.read_plan(folder)
    waiting = [case for case in plan["cases"] if not sweep_case.is_finished(folder, case)]
    total, running = len(plan["cases"]), list[tuple[sweep_case.Case, subprocess.Popen[bytes], IO[bytes]]]()
    done = total - len(waiting)
    yield done, total, f"Sweep of {total} cases, {done} finished"
    try:
        while waiting or running:
            while waiting and len(running) < max(workers, 1):
                case = waiting.pop(0)
                said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115, closed when its process has ended
                shutil.rmtree(folder / case["name"], ignore_errors=True)
                words = [*plan["command"], "sweep-case", str(folder), case["name"]]
                running.append((case, subprocess.Popen(words, stdout=said, stderr=subprocess.STDOUT), said))
            for each in [each for each in running if each[1].poll() is not None]:
                running.remove(each)
                done += 1
                yield done, total, f"{done} of {total}: {each[0]['name']}: {_end(folder, *each)}"
                write_table(folder)
            yield None
    finally:
        for _, process, said in running:
            process.kill()
            process.wait()
            said.close()


def _end(folder: Path, case: sweep_case.Case, process: subprocess.Popen[bytes], said: IO[bytes]) -> str:
    """What came of a case whose process has ended, also where that did not get to say why."""
    with said:
        if sweep_case.outcome(folder, case)["state"] == "not run":
            said.seek(0)
            text, code = said.read().decode(errors="replace").strip(), process.returncode
            how = f"by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"with code {code}"
            last = text.rpartition("\n")[2] or "nothing"
            sweep_case.fail(folder, case, f"Its process ended {how}. Its last line: {last}", text)
    found = sweep_case.outcome(folder, case)
    return str(found.get("reason", found["state"]))


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
    finished = sum(state == "finished" for state in states.values())
    pictures.sheet([folder / name / sweep_case.PICTURE for name in states], folder / SHEET)
    said = f"{finished} of {len(states)} cases finished, {folder / TABLE}"
    if failed := failures(folder):
        said += f". {len(failed)} failed, the first, {failed[0][0]}: {failed[0][1]}"
    return said, len(states) - finished


def write_table(folder: Path) -> dict[str, str]:
    """Write the table, a row per case in the order of the plan; returns their states by their names."""
    rows = []
    for number, case in enumerate(sweep_case.read_plan(folder)["cases"], 1):
        found = sweep_case.outcome(folder, case)
        measured = {key: f"{value:.6g}" for key, value in found.get("measured", {}).items()}
        row = {"case": number, "name": case["name"], **case["settings"], "state": found["state"]}
        rows.append(row | {"seconds": found.get("seconds", ""), **measured, "reason": found.get("reason", "")})
    columns = sorted(dict.fromkeys(key for row in rows for key in row), key="reason".__eq__)  # which is the last
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    sweep_case.write(folder / TABLE, text.getvalue())
    return {row["name"]: row["state"] for row in rows}
