"""`blender --command softpressure sweep ...`: what is planned, and cases that run in processes of their own."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball
from softpressure_ext.operators.sweep import SOFTPRESSURE_OT_sweep
from softpressure_ext.panels.sweep import SIDEBAR
from softpressure_ext.softpressure.batch import command, pictures, sweep, sweep_case, sweep_plan
from softpressure_ext.softpressure.state import jobs, sessions


def saved(folder: Path) -> Path:
    """A file with a ball and three frames."""
    ball = add_ball(mass=1.0)
    bpy.ops.object.select_all(action="DESELECT")
    ball.name = "Ball"
    bpy.context.scene.frame_end = 3
    bpy.context.scene.softpressure.solver = "EXPLICIT"
    file = folder / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    return file


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def settings_of(*texts: str, pairwise: bool = False) -> list[dict[str, Any]]:
    return sweep_plan.cases([bpy.context.scene], list(texts), pairwise)


def test_cases_are_all_combinations_or_pairs() -> None:
    add_ball()
    found = settings_of("Ball.gauge_pressure=500,2e3", "Scene.solver=XPBD,EXPLICIT", "Ball.velocity[2]=1")
    assert [list(case.values()) for case in found] == [
        [500.0, "XPBD", 1.0], [500.0, "EXPLICIT", 1.0], [2000.0, "XPBD", 1.0], [2000.0, "EXPLICIT", 1.0],
    ]  # fmt: skip
    pairs = settings_of("Scene.substeps=1..10:4", "Ball.mass=1..4:4", pairwise=True)
    assert pairs == [{"Scene.substeps": 1 + 3 * k, "Ball.mass": 1.0 + k} for k in range(4)]
    assert settings_of("Ball.location[2]=3") == [{"Ball.location[2]": 3.0}]  # what is not ours
    assert settings_of("Ball.mass=1,1.0") == [{"Ball.mass": 1.0}]  # each case once
    for label, value in {"Ball.location[2]": 3.0, "Ball.mass": 7.0, "Scene.solver": "XPBD"}.items():
        sweep_plan.assign([bpy.context.scene], label, value)
    ball = bpy.data.objects["Ball"]
    assert (ball.location[2], ball.softpressure.mass) == (3.0, 7.0)
    assert bpy.context.scene.softpressure.solver == "XPBD"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Ball.mass", "'Ball.mass' is not a setting; write it as"),
        ("Bal.mass=1", "Bal: no such object. Did you mean Ball?"),
        ("Ball.gauge_presure=1", "Ball.gauge_presure: no such setting. Did you mean gauge_pressure"),
        ("Ball.pin_group=A", "Ball.pin_group: takes neither a number nor a choice"),
        ("Ball.mass=-1", "Ball.mass: -1 is outside of its bounds"),
        ("Ball.mass=nan", "Ball.mass: 'nan' is not a number"),
        ("Ball.mass=1,two", "Ball.mass: 'two' is not a number"),
        ("Ball.mass=1..2:1", "Ball.mass: '1..2:1' is not a number. Give a list as 1,2,5 or a range as 1..10:5"),
        ("Ball.velocity=1", "Ball.velocity: is a vector. Give one of its 3 components"),
        ("Ball.velocity[3]=1", "Ball.velocity[3]: is a vector"),
        ("Ball.mass[0]=1", "Ball.mass[0]: is not a vector"),
        ("Scene.substeps=1..2:4", "Scene.substeps: 1.33333333333 is not a whole number"),
        ("Scene.solver=FAST", "Scene.solver: 'FAST' is not a choice. Give one of EXPLICIT"),
        ("Ball.self_collision=maybe", "Ball.self_collision: 'maybe' is not a choice. Give one of true"),
    ],
)
def test_wrong_settings_are_refused_before_anything_runs(text: str, complaint: str) -> None:
    add_ball()
    with pytest.raises(ValueError) as error:
        settings_of(text)
    assert str(error.value).startswith(complaint)


def test_keyed_settings_and_lists_that_do_not_fit_are_refused() -> None:
    ball = add_ball()
    with pytest.raises(ValueError, match=r"--zip takes lists of one length; Ball.mass has 2, Scene.substeps has 1"):
        settings_of("Ball.mass=1,2", "Scene.substeps=3", pairwise=True)
    with pytest.raises(ValueError, match=r"Ball.mass: is given twice"):
        settings_of("Ball.mass=1", "Ball.mass=2")
    ball.softpressure.keyframe_insert("gauge_pressure", frame=1)
    with pytest.raises(ValueError, match=r"Ball.gauge_pressure: has keys or a driver"):
        settings_of("Ball.gauge_pressure=1")


def test_a_sweep_runs_what_is_not_finished_and_lists_what_fails(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, folder = saved(tmp_path), tmp_path / "out"
    words = ["sweep", str(file), "--output", str(folder), "--set", "Ball.gauge_pressure=500,8000", "Ball.scale[0]=1,0"]
    assert command.run(words) == 1  # a ball without width cannot be simulated
    rows = table(folder)
    assert [row["state"] for row in rows] == ["finished", "failed", "finished", "failed"]
    assert all(row["reason"].startswith("Ball: ") and "scale" in row["reason"] for row in rows[1::2])
    said = capfd.readouterr().out
    assert f"2 of 4 cases finished, {folder / 'results.csv'}. 2 failed, the first, {rows[1]['name']}: Ball: " in said
    assert (folder / "contact_sheet.png").is_file()
    soft, hard = rows[0], rows[2]
    assert float(soft["Ball: gauge pressure [Pa]"]) == pytest.approx(500.0, rel=0.05)
    assert float(hard["Ball: gauge pressure [Pa]"]) > 10.0 * float(soft["Ball: gauge pressure [Pa]"])
    case = folder / rows[0]["name"]
    assert {"ball.blend", "trace.csv", "last_frame.png", "result.json"} <= {path.name for path in case.iterdir()}
    assert pictures.read(case / "last_frame.png")[0, -1, :3].mean() > 0.2  # grey, as the file has no world
    times = {path: path.stat().st_mtime_ns for path in folder.glob("*/trace.csv")}
    assert len(times) == 2 and not list(folder.glob(".*"))
    assert not (tmp_path / "softpressure_ball").exists()  # cases would write there at the same time
    # the file of a case plays
    bpy.ops.wm.open_mainfile(filepath=str(case / "ball.blend"))
    assert bpy.data.objects["Ball"].softpressure.gauge_pressure == 500.0
    session = sessions.of(bpy.context.scene)
    assert session.run.cache.last_frame == 3 and not session.is_out_of_date(bpy.context.scene)
    # more values: the finished cases stay as they are
    words[-1], words[-2] = "Ball.scale[0]=1", "Ball.gauge_pressure=500,1000,8000"
    assert command.run(words) == 0
    assert [row["state"] for row in table(folder)] == ["finished"] * 3
    assert {path: path.stat().st_mtime_ns for path in times} == times
    # another .blend: they are run anew
    bpy.ops.wm.open_mainfile(filepath=str(file))
    bpy.data.objects["Ball"].softpressure.mass = 3.0
    bpy.ops.wm.save_mainfile()
    sweep.prepare(file, ["Ball.gauge_pressure=500"], False, output=folder)
    assert [row["state"] for row in table(folder)] == ["not run"] and sweep.collect(folder)[1] == 1


def test_a_killed_case_fails_alone_and_is_run_by_the_next_call(tmp_path: Path) -> None:
    folder = sweep.prepare(saved(tmp_path), ["Ball.mass=1"], False)
    kill = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
    plan = sweep_case.read_plan(folder)
    case = plan["cases"][0]
    (folder / "plan.json").write_text(json.dumps(plan | {"command": kill}))
    assert "signal 9 (SIGKILL)" in [*jobs.whole(sweep.run(folder, 1))][-1][2]
    (folder / "plan.json").write_text(json.dumps(plan))
    assert sweep.collect(folder)[1] == 1 and table(folder)[0]["state"] == "failed"
    assert "SIGKILL" in table(folder)[0]["reason"]
    # killed in mid-run, with half a folder
    process = subprocess.Popen([*sweep.command(), "sweep-case", str(folder), "1"], stdout=subprocess.DEVNULL)
    while not list(folder.glob(".*")):
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not sweep_case.is_finished(folder, case) and list(folder.glob(".*"))
    assert [*jobs.whole(sweep.run(folder, 2))][-1][:2] == (1, 1) and sweep.collect(folder)[1] == 0
    assert not list(folder.glob(".*")) and sweep_case.outcome(folder, case)["measured"]["Ball: steps"]


def test_a_folder_without_a_plan_and_a_case_of_no_plan_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run(["sweep-case", str(tmp_path), "1"]) == 1
    assert f"{tmp_path / 'plan.json'}: no such plan" in capsys.readouterr().err
    folder = sweep.prepare(saved(tmp_path), ["Ball.mass=1,2"], False)
    assert command.run(["sweep-case", str(folder), "3"]) == 1
    assert "softpressure: 3: no such case. Give a name of the plan, or a number from 1 to 2." in capsys.readouterr().err


def test_the_panel_and_the_operator_say_why_cases_failed(tmp_path: Path) -> None:
    file = saved(tmp_path)
    folder = sweep.prepare(file, ["Ball.mass=1,2,3,4,5", "Ball.scale[0]=0"], False, (1, 2), None)
    assert "Ball: " not in "".join(drawn(SIDEBAR[0]))
    said = [line for _, _, line in jobs.whole(sweep.run(folder, 1))]
    names = [row["name"] for row in table(folder)]
    assert [row["state"] for row in table(folder)] == ["failed"] * 5
    assert all(any(f"{name}: Ball: " in line for line in said) for name in names)
    shown = "".join(drawn(SIDEBAR[0], 10_000))
    assert [f"{name}: Ball: " in shown for name in names] == [True, True, True, False, False]
    assert "2 more cases failed" in shown
    told = SOFTPRESSURE_OT_sweep.done_text(SimpleNamespace(_folder=folder), bpy.context)
    assert told.startswith("0 of 5 cases finished") and f"5 failed, the first, {names[0]}: Ball: " in told
    sweep.prepare(file, ["Ball.mass=1"], False, (1, 2), folder)  # those of another plan are not told of
    assert sweep.failures(folder) == []


def test_the_operator_runs_the_saved_file(tmp_path: Path) -> None:
    file = saved(tmp_path)
    run = bpy.ops.softpressure.sweep
    with pytest.raises(RuntimeError, match="No settings are given"):
        run()
    with pytest.raises(RuntimeError, match=r"Bal: no such object\. Did you mean Ball"):
        run(settings="Bal.mass=1")
    bpy.data.objects["Ball"].name = "Soft Ball"
    bpy.ops.wm.save_mainfile()
    path = bpy.data.objects["Soft Ball"].softpressure.path_from_id("mass")  # as Copy Full Data Path has it
    assert run(
        settings=f'bpy.data.objects["Soft Ball"].{path}=2,3 bpy.data.scenes["Scene"].softpressure.substeps=3', workers=2
    ) == {"FINISHED"}
    rows = table(tmp_path / "ball_sweep")
    assert [(row["Soft Ball.mass"], row["Scene.substeps"], row["state"]) for row in rows] == [
        ("2.0", "3", "finished"),
        ("3.0", "3", "finished"),
    ]
    ball = bpy.data.objects["Soft Ball"].softpressure
    assert bpy.data.filepath == str(file) and ball.mass == 1.0  # as it was saved
    ball.kind = "NONE"
    assert not run.poll()


def test_a_sweep_that_is_stopped_ends_its_processes(tmp_path: Path) -> None:
    folder = sweep.prepare(saved(tmp_path), ["Ball.mass=1,2,3"], False)
    work = sweep.run(folder, 2)
    while len(list(folder.glob(".*"))) < 2:
        next(work)
    began = set(folder.glob(".*"))
    work.close()
    time.sleep(0.5)
    assert set(folder.glob(".*")) == began and not list(folder.glob("*/result.json"))
    assert sweep.collect(folder)[1] == 3


def test_a_file_that_changes_during_a_sweep_is_not_mixed_into_it(tmp_path: Path) -> None:
    file = saved(tmp_path)
    folder = sweep.prepare(file, ["Ball.mass=1"], False)
    bpy.data.objects["Ball"].softpressure.gauge_pressure = 700.0
    bpy.ops.wm.save_mainfile()
    with pytest.raises(
        ValueError, match=r"ball\.blend: has changed since the sweep was planned\. Start the sweep again"
    ):
        sweep_case.run_case(folder, "1")
