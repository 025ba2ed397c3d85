"""The cases of a sweep on a Dask cluster and as a Flamenco job, with a worker killed in mid-run.

Blender is that which Python has as a module.
"""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = 4
#: Notes its process and that above it, and becomes the real command.
LOGGED = """
import os, sys
if sys.argv[1] == "sweep-case":
    with open(os.path.join(sys.argv[2], "attempts.txt"), "a") as file:
        file.write(f"{sys.argv[3]} {os.getppid()} {os.getpid()}\\n")
os.execv(sys.executable, [sys.executable, COMMAND, *sys.argv[1:]])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sweep of a sample file, whose last case fails."""
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("needs Blender as a module")
    command = str(ROOT / "softpressure" / "batch" / "as_module.py")
    widths = ",".join(f"{1.0 + 0.01 * n:g}" for n in range(CASES))
    words = ["sweep", str(ROOT / "sample_blends" / "squeeze.blend"), "--frames=1:4", "--plan", f"--output={tmp_path}"]
    subprocess.run([sys.executable, command, *words, "--set", f"Torus.scale[0]={widths},0"], check=True)
    script = tmp_path / "logged.py"
    script.write_text(f"COMMAND = {command!r}\n{LOGGED}")
    (tmp_path / "plan.json").write_text(json.dumps(plan(tmp_path) | {"command": [sys.executable, str(script)]}))
    return tmp_path


def plan(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "plan.json").read_text()))


def check_result(folder: Path) -> None:
    """All cases but the last are finished, and that one says why it is not."""
    results = [json.loads((folder / case["name"] / "result.json").read_text()) for case in plan(folder)["cases"]]
    assert [result["state"] for result in results] == [*["finished"] * CASES, "failed"]
    assert re.match(r"[\w. ]+: .*", results[-1]["reason"])
    assert not list(folder.glob(".*"))
    assert (folder / "results.csv").read_text().count(",finished,") == CASES


def attempts(folder: Path) -> list[list[str]]:
    """Of each attempt: its case, the process above it, and its own."""
    path = folder / "attempts.txt"
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def wait_until(holds: Callable[[], Any]) -> None:
    """Wait a minute at most."""
    end = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_dask_loses_no_case_when_a_worker_is_killed(folder: Path) -> None:
    distributed = pytest.importorskip("distributed")
    import sweep_dask

    options = {"processes": True, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        victim = str(client.run(os.getpid).popitem()[1])

        def kill() -> None:
            wait_until(lambda: any(parent == victim for _, parent, _ in attempts(folder)))
            case = next(own for _, parent, own in attempts(folder) if parent == victim)
            for process in (victim, case):  # as if its machine were lost
                os.kill(int(process), signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        assert sweep_dask.run(client, folder, None) == 1  # one case fails
        thread.join()
    check_result(folder)
    tried = [name for name, _, _ in attempts(folder)]
    assert len(tried) > len({*tried})  # the case of the killed worker was begun twice
    bad = plan(folder)["cases"][-1]["name"]
    assert tried.count(bad) == 1 or tried[-1] == bad  # what fails by itself is not tried again


#: What Flamenco gives a job type: `author`, and a job that takes tasks.
AUTHOR = """
var tasks = [];
var author = {
  Task: (name, type) => ({name, type, commands: [], dependencies: [],
    addCommand(command) { this.commands.push(command); },
    addDependency(task) { this.dependencies.push(task.name); }}),
  Command: (name, parameters) => ({name, parameters}),
};
function compiled(settings) {
  tasks = [];
  compileJob({settings, addTask(task) { tasks.push(task); }});
  return JSON.stringify(tasks);
}
"""


def compiled(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The tasks of a job of the job type, as the Flamenco Manager compiles them."""
    quickjs = pytest.importorskip("quickjs")
    script = (ROOT / "tools" / "flamenco" / "softpressure_sweep.js").read_text(encoding="utf-8")
    context = quickjs.Context()
    context.eval(AUTHOR + script)
    types = json.loads(context.eval("JSON.stringify(JOB_TYPE)"))
    assert types["label"] and {each["key"]: each["type"] for each in types["settings"]} == {
        "folder": "string", "case_count": "int32"
    }  # fmt: skip
    return list(json.loads(context.eval(f"compiled({json.dumps(settings)})")))


def test_flamenco_loses_no_case_when_a_worker_is_killed(folder: Path) -> None:
    """Workers run the commands of tasks; that of a worker that is lost is run again, as the Manager has it."""
    tasks = compiled({"folder": str(folder), "case_count": CASES + 1})
    assert [task["name"] for task in tasks] == [*(f"case-{n + 1}" for n in range(CASES + 1)), "collect"]
    assert tasks[-1]["dependencies"] == [task["name"] for task in tasks[:-1]]
    assert {task["type"] for task in tasks} == {"blender"} and not any(task["dependencies"] for task in tasks[:-1])
    codes = []
    for task in [tasks[1], *tasks]:
        (command,) = task["commands"]
        assert command["name"] == "exec" and command["parameters"]["exe"] == "{blender}"
        words = command["parameters"]["args"]
        assert words[:2] == ["--command", "softpressure"]
        process = subprocess.Popen([*plan(folder)["command"], *words[2:]])
        if not codes:
            wait_until(lambda: list(folder.glob(".*")))
            process.kill()
        codes.append(process.wait())
    check_result(folder)
    assert codes == [-signal.SIGKILL, *[0] * CASES, 1, 1]  # one case fails


def test_a_flamenco_job_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="a sweep has at least one case"):
        compiled({"folder": str(tmp_path), "case_count": 0})
