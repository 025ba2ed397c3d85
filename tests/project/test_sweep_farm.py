"""The cases of a sweep on a Dask cluster and as a Flamenco job, with a worker killed in mid-run.

Blender is that which Python has as a module.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, str(ROOT / "softpressure" / "batch" / "as_module.py")]
#: Of the cases the last one fails.
CASES = 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sweep of a sample file."""
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("needs Blender as a module")
    widths = ",".join(f"{1.0 + 0.01 * number:g}" for number in range(CASES - 1))
    words = ["sweep", str(ROOT / "sample_blends" / "squeeze.blend"), "--frames=1:4", "--plan", f"--output={tmp_path}"]
    subprocess.run([*COMMAND, *words, "--set", f"Torus.scale[0]={widths},0"], check=True)
    return tmp_path


def check_result(folder: Path) -> None:
    """All cases but the last are finished, and that one says why it is not."""
    *good, bad = [case["name"] for case in json.loads((folder / "plan.json").read_text())["cases"]]
    assert {path.parent.name for path in folder.glob("[!.]*/result.json")} == {*good}
    assert re.match(r"[\w. ]+: .*", (folder / f"{bad}.failed.txt").read_text())
    assert not list(folder.glob(".*.part"))
    assert (folder / "results.csv").read_text().count(",finished,") == len(good)


def wait_until(holds: Callable[[], Any]) -> None:
    """Wait a minute at most."""
    end = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_dask_loses_no_case_when_a_worker_is_killed(folder: Path) -> None:
    distributed, psutil = pytest.importorskip("distributed"), pytest.importorskip("psutil")
    import sweep_dask

    options = {"processes": True, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        worker, killed = psutil.Process(client.run(os.getpid).popitem()[1]), list[str]()

        def kill() -> None:
            wait_until(lambda: [child for child in worker.children() if "sweep-case" in child.cmdline()])
            (case,) = [child for child in worker.children() if "sweep-case" in child.cmdline()]
            killed.append(case.cmdline()[-1])
            worker.kill()  # as if its machine were lost
            case.kill()

        thread = threading.Thread(target=kill)
        thread.start()
        assert sweep_dask.run(client, folder, None) == 1  # one case fails
        thread.join()
    check_result(folder)
    assert killed


#: What Flamenco gives a job type: `author`, and a job that takes tasks.
AUTHOR = """
var tasks = [];
var author = {
  Task: (name, type) => ({name, type, commands: [], dependencies: [],
    addCommand(command) { this.commands.push(command); },
    addDependency(task) { this.dependencies.push(task.name); }}),
  Command: (name, parameters) => ({name, parameters}),
};
function compiled(folder, case_count) {
  compileJob({settings: {folder, case_count}, addTask(task) { tasks.push(task); }});
  return JSON.stringify(tasks);
}
"""


def compiled(folder: Path, case_count: int) -> list[dict[str, Any]]:
    """The tasks of a job of the job type, as the Flamenco Manager compiles them."""
    context = pytest.importorskip("quickjs").Context()
    context.eval(AUTHOR + (ROOT / "tools" / "flamenco" / "softpressure_sweep.js").read_text(encoding="utf-8"))
    return list(json.loads(context.eval(f"compiled({json.dumps(str(folder))}, {case_count})")))


def test_flamenco_loses_no_case_when_a_worker_is_killed(folder: Path) -> None:
    """Workers run the commands of tasks; that of a worker that is lost is run again, as the Manager has it."""
    *cases, collect = compiled(folder, CASES)
    assert collect["dependencies"] == [task["name"] for task in cases] and len(cases) == CASES
    assert {task["type"] for task in (*cases, collect)} == {"blender"}
    for number, task in enumerate((cases[0], *cases, collect)):
        (command,) = task["commands"]
        assert (command["name"], command["parameters"]["exe"]) == ("exec", "{blender}")
        words = command["parameters"]["args"]
        assert words[:2] == ["--command", "softpressure"]
        process = subprocess.Popen([*COMMAND, *words[2:]])
        if number == 0:
            wait_until(lambda: list(folder.glob(".*.part")))
            process.kill()
        assert (process.wait() == 0) == (task in cases[:-1] and number > 0)  # one case fails
    check_result(folder)


def test_a_flamenco_job_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="a sweep has at least one case"):
        compiled(tmp_path, 0)
