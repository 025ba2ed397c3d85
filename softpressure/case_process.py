"""A case of a sweep in a process of its own. Needs the standard library alone: machines without Blender's Python
module hand cases out with it, too.

A sweep's folder has its plan (`plan.json`) and, for each case that is finished, a folder of the case's name, which
appears whole or not at all. `NAME.failed.txt` says why the last attempt at a case failed.
"""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

PLAN = "plan.json"
RESULT = "result.json"


class Killed(Exception):
    """The process of a case was ended from outside: another attempt may succeed."""


def read_plan(folder: Path) -> dict[str, Any]:
    """The plan of a sweep; raises `FileNotFoundError` with a sentence if the folder has none."""
    path = folder / PLAN
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such plan. Give the folder of a sweep, which `sweep FILE.blend` makes.")
    plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return plan


def write(path: Path, text: str) -> None:
    """Replace a file once the new one is whole."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def finished(folder: Path, case: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a case if it is finished with these inputs, else None."""
    try:
        result: dict[str, Any] = json.loads((folder / case["name"] / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if result.get("digest") == case["digest"] else None


def failure_file(folder: Path, case: dict[str, Any]) -> Path:
    """Where it says why a case failed."""
    return folder / f"{case['name']}.failed.txt"


def failure(folder: Path, case: dict[str, Any]) -> str:
    """Why the last attempt at a case failed, in a sentence; empty if none did."""
    try:
        return failure_file(folder, case).read_text(encoding="utf-8").partition("\n")[0]
    except OSError:
        return ""


def run(command: list[str], folder: Path, case: dict[str, Any], retry_killed: bool = False) -> str:
    """Run a case unless it is finished; returns why it failed, or an empty string.

    `command`: the words that start Blender with this extension's command, such as `blender --command softpressure`.
    Where its process is killed this is a failure, or with `retry_killed` raises `Killed`.
    """
    if finished(folder, case) is not None:
        return ""
    failure_file(folder, case).unlink(missing_ok=True)
    words = [*command, "sweep-case", str(folder), case["name"]]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if finished(folder, case) is not None:
        return ""
    if done.returncode < 0 and retry_killed:
        raise Killed(_ended(done.returncode))
    if not failure(folder, case):
        last = [line.strip() for line in done.stdout.splitlines() if line.strip()][-1:] or ["nothing"]
        reason = f"{_ended(done.returncode)} Its last line: {last[0]}"
        write(failure_file(folder, case), f"{reason}\n\n{done.stdout}")
    return failure(folder, case)


def _ended(code: int) -> str:
    if code < 0:
        return f"Its process was ended by signal {-code} ({signal.Signals(-code).name})."
    return f"Its process ended with code {code}."
