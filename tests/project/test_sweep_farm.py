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
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = 6
#: Says that it began, and becomes the real one.
LOGGED = """
import json, os, sys
from pathlib import Path
if sys.argv[1] == "sweep-case":
    folder = Path(sys.argv[2])
    cases = json.loads((folder / "plan.json").read_text())["cases"]
    case = next(c for n, c in enumerate(cases, 1) if sys.argv[3] in (c["name"], str(n)))
    with (folder / "attempts.txt").open("a") as file:
        file.write(f"{case['name']} {os.getppid()} {os.getpid()}\\n")
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
    plan = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps(plan | {"command": [sys.executable, str(script)]}))
    return tmp_path


def names(folder: Path) -> list[str]:
    """The names of all cases; the last one fails."""
    return [case["name"] for case in json.loads((folder / "plan.json").read_text())["cases"]]


def finished(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("[!.]*/result.json")}


def check_result(folder: Path) -> None:
    """All cases but the last are finished, and that one says why it is not."""
    *good, bad = names(folder)
    assert finished(folder) == {*good}
    assert re.match(r"[\w. ]+: .*", (folder / f"{bad}.failed.txt").read_text())
    assert not list(folder.glob(".*.part"))


def attempts(folder: Path) -> list[list[str]]:
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
        pids = {info["pid"] for info in client.run(lambda: {"pid": os.getpid()}).values()}
        victim = pids.pop()

        def kill() -> None:
            wait_until(lambda: any(int(parent) == victim for _, parent, _ in attempts(folder)))
            case = next(int(own) for _, parent, own in attempts(folder) if int(parent) == victim)
            os.kill(victim, signal.SIGKILL)
            os.kill(case, signal.SIGKILL)  # as if its machine were lost

        import threading

        thread = threading.Thread(target=kill)
        thread.start()
        assert sweep_dask.run(client, folder, None) == 1  # one case fails
        thread.join()
    check_result(folder)
    tried = [name for name, _, _ in attempts(folder)]
    assert len(tried) > len({*tried})  # the case of the killed worker was begun twice
    bad = names(folder)[-1]
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
    assert types["label"] and {each["key"] for each in types["settings"]} == {"folder", "case_count"}
    assert all(each["type"] in {"string", "int32"} for each in types["settings"])
    return list(json.loads(context.eval(f"compiled({json.dumps(settings)})")))


class Worker:
    """A worker of Flamenco: takes a task whose dependencies are done, and runs its commands one after the other."""

    def __init__(self, tasks: list[dict[str, Any]], states: dict[str, str], blender: list[str]) -> None:
        self.tasks, self.states, self.blender = tasks, states, blender
        self.task: dict[str, Any] | None = None
        self.process: subprocess.Popen[bytes] | None = None

    def look(self) -> None:
        """Begin a task, or note how one ended."""
        if self.process is None:
            for task in self.tasks:
                ready = all(self.states[name] in {"completed", "failed"} for name in task["dependencies"])
                if self.states[task["name"]] == "queued" and ready:
                    (command,) = task["commands"]
                    assert command["name"] == "exec" and command["parameters"]["exe"] == "{blender}"
                    words = command["parameters"]["args"]
                    assert words[:2] == ["--command", "softpressure"]
                    self.task, self.states[task["name"]] = task, "active"
                    self.process = subprocess.Popen([*self.blender, *words[2:]])
                    return
        elif self.process.poll() is not None:
            assert self.task is not None
            # a worker that is lost leaves its task to others, as the Manager does after a timeout
            ended = {0: "completed"}.get(self.process.returncode, "failed" if self.process.returncode > 0 else "queued")
            self.states[self.task["name"]], self.process = ended, None


def test_flamenco_loses_no_case_when_a_worker_is_killed(folder: Path) -> None:
    tasks = compiled({"folder": str(folder), "case_count": CASES + 1})
    assert [task["name"] for task in tasks] == [*(f"case-{n + 1}" for n in range(CASES + 1)), "collect"]
    assert tasks[-1]["dependencies"] == [task["name"] for task in tasks[:-1]] and {t["type"] for t in tasks} == {
        "blender"
    }
    states = {task["name"]: "queued" for task in tasks}
    workers = [Worker(tasks, states, json.loads((folder / "plan.json").read_text())["command"]) for _ in range(2)]
    killed = False
    while any(state in {"queued", "active"} for state in states.values()):
        for worker in workers:
            worker.look()
        begun = {name for name, _, _ in attempts(folder)}
        if not killed and len(begun) >= 3 and workers[0].process is not None and workers[0].process.poll() is None:
            workers[0].process.kill()
            killed = True
        time.sleep(0.02)
    assert killed
    check_result(folder)
    assert states["collect"] == "failed" and states[f"case-{CASES + 1}"] == "failed"  # one case fails
    assert len(re.findall("True|,finished,", (folder / "results.csv").read_text())) == CASES


def test_a_flamenco_job_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="a sweep has at least one case"):
        compiled({"folder": str(tmp_path), "case_count": 0})
