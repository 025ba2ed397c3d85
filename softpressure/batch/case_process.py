"""A case of a sweep in a process of its own. Needs the standard library alone: machines without Blender's Python
module hand cases out with it, too.

A sweep's folder has its plan (`plan.json`) and, for each case that is finished, a folder of the case's name, which
appears whole or not at all. `NAME.failed.txt` says why the last attempt at a case failed.
"""

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

PLAN, RESULT = "plan.json", "result.json"
Case = dict[str, Any]


class Killed(Exception):
    """The process of a case was ended from outside: another attempt may succeed."""


def folder_of(file: Path) -> Path:
    """Where a sweep of a file goes, if nothing else is said."""
    return file.with_name(f"{file.stem}_sweep")


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
        result = dict(json.loads((folder / case["name"] / RESULT).read_text(encoding="utf-8")))
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


def failures(folder: Path) -> list[tuple[str, str]]:
    """The names of the cases of a sweep whose last attempt failed, in the order of its plan, and why."""
    if not any(folder.glob("*.failed.txt")) or not (folder / PLAN).is_file():
        return []
    found = [(case["name"], failure(folder, case)) for case in read_plan(folder)["cases"]]
    return [(name, reason) for name, reason in found if reason]


class Attempt:
    """The process of a case. `command`: the words that start Blender with this extension's command, such as
    `blender --command softpressure`.
    """

    def __init__(self, command: list[str], folder: Path, case: Case) -> None:
        self._folder, self._case = folder, case
        failure_file(folder, case).unlink(missing_ok=True)
        self._said = tempfile.TemporaryFile()  # noqa: SIM115, closed when the process has ended
        words = [*command, "sweep-case", str(folder), case["name"]]
        self.process = subprocess.Popen(words, stdout=self._said, stderr=subprocess.STDOUT)

    def reason(self, retry_killed: bool = False) -> str:
        """Wait for its end; why the case failed, or an empty string.

        Where its process was killed this is a failure, or with `retry_killed` raises `Killed`.
        """
        code = self.process.wait()
        with self._said:
            self._said.seek(0)
            said = self._said.read().decode(errors="replace")
        if finished(self._folder, self._case) is not None:
            return ""
        why = f"Its process ended with code {code}."
        if code < 0:
            why = f"Its process was ended by signal {-code} ({signal.Signals(-code).name})."
            if retry_killed:
                raise Killed(why)
        if not failure(self._folder, self._case):
            last = [line.strip() for line in said.splitlines() if line.strip()][-1:] or ["nothing"]
            write(failure_file(self._folder, self._case), f"{why} Its last line: {last[0]}\n\n{said}")
        return failure(self._folder, self._case)

    def end(self) -> None:
        """Stop it, if it goes on; the case is not finished then."""
        self.process.kill()
        self.process.wait()
        self._said.close()


def run(command: list[str], folder: Path, case: Case, retry_killed: bool = False) -> str:
    """Run a case unless it is finished; returns why it failed, or an empty string. See `Attempt`."""
    return "" if finished(folder, case) is not None else Attempt(command, folder, case).reason(retry_killed)
