"""What the steps tell of each island: in the panel *Diagnostics*, and as a table of the command line."""

import csv
from pathlib import Path
from typing import Any

import bpy
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, frame
from bpy_seen import this_run
from softpressure_ext.panels.diagnostics import Diagnostics
from softpressure_ext.softpressure.batch import command
from softpressure_ext.softpressure.reports import diagnosis
from softpressure_ext.softpressure.reports.trace import COLUMNS


def add_crossing_balls() -> tuple[Any, Any]:
    """Two balls that overlap at the start, and one far from them."""
    scene = bpy.context.scene
    scene.use_gravity = False
    scene.frame_end = 4
    one, other = add_ball("Ball A", (0, 0, 5)), add_ball("Ball B", (0.03, 0.02, 5.6))
    add_ball("Apart", (0, 9, 5))
    return one, other


def shown(width: int = 2000) -> list[str]:
    """Lines of the panel in a sidebar of this width [pixels]; its no-break spaces as common ones."""
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in drawn(Diagnostics, width)[1:]]


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a trace."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.smoke
def test_the_panel_names_two_balls_that_cross_and_the_reason() -> None:
    one, other = add_crossing_balls()
    assert shown() == [diagnosis.FIRST]
    frame(3)  # it is not simulated: frame 2 would be the next
    assert shown() == [diagnosis.UNKNOWN]
    frame(1)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert shown() == [diagnosis.FIRST]
    frame(2)
    (alone, report) = this_run().reports[2]
    behind = report.reasons[0].count
    assert behind > 1
    found = shown()
    assert found[0] == "Ball A, Ball B" and "Apart" in found
    figures = found[1 + len(report.reasons)]
    assert figures.startswith(f"{report.steps} steps, energy ") and figures.endswith("J")
    crossing = f"their surfaces cross; vertices behind are moved back ({behind} vertices)."
    assert found[1] == f"Ball A and Ball B: {crossing}"
    assert report.pairs == alone.pairs == alone.reasons == () and len(found) == 4 + len(report.reasons)
    other.name = "Renamed"
    assert f"Ball A and Renamed: {crossing}" in shown()
    one.softpressure.mass = 7.0  # a new start forgets
    frame(1)
    assert this_run().reports == {} and shown() == [diagnosis.FIRST]


def test_the_trace_has_a_row_for_each_frame_and_body(tmp_path: Path) -> None:
    add_crossing_balls()
    file, trace = tmp_path / "balls.blend", tmp_path / "trace.csv"
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command.run(["bake", str(file), "--trace", str(trace)]) == 0
    rows = table(trace)  # of frames that were cached: they are simulated anew
    assert tuple(rows[0]) == COLUMNS
    assert [(row["body"], row["island"]) for row in rows if row["frame"] == "2"] == [
        ("Apart", "Apart"), ("Ball A", "Ball A + Ball B"), ("Ball B", "Ball A + Ball B"),
    ]  # fmt: skip
    assert sorted({row["frame"] for row in rows}) == ["1", "2", "3", "4"]
    assert rows[0]["steps"] == rows[0]["island"] == "" and float(rows[0]["gauge pressure [Pa]"]) > 0.0
    alone, first, other = rows[3:6]
    assert first["energy change [J]"] == other["energy change [J]"] and first["contact force [N]"] != ""
    assert first["scene"] == "Scene" and int(first["steps"]) > 0 and float(first["energy change [J]"]) != 0.0
    assert "Ball A and Ball B: their surfaces cross" in first["reasons"] and "Ball" not in alone["reasons"]


def test_a_trace_that_cannot_be_written_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_ball()
    file = tmp_path / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    before = file.read_bytes()
    for trace, complaint in (
        (tmp_path / "nowhere" / "trace.csv", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (file, "would replace the .blend file"),
        (tmp_path / "ball_baked.blend", "would replace the .blend file"),
    ):
        assert command.run(["bake", str(file), "--trace", str(trace)]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"softpressure: {trace}: ") and complaint in error and len(error.splitlines()) == 1
    assert file.read_bytes() == before and not (tmp_path / "ball_baked.blend").exists()
