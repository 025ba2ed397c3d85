"""What the steps tell of each island: in the panel *Diagnostics*, and as a table of the command line."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, empty_file, frame, this_session  # noqa: F401
from softpressure_ext.core import Finding, PairReport, Reason
from softpressure_ext.panels.scene import SOFTPRESSURE_PT_diagnostics
from softpressure_ext.softpressure import command, diagnosis
from softpressure_ext.softpressure.trace import COLUMNS


def add_sticking_balls() -> tuple[Any, Any]:
    """Two balls that overlap at the start, and one far from them."""
    scene = bpy.context.scene
    scene.use_gravity = False
    scene.frame_end = 4
    one, other = add_ball("Ball A", (0, 0, 5)), add_ball("Ball B", (0.03, 0.02, 5.6))
    add_ball("Apart", (0, 9, 5))
    return one, other


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a trace."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.smoke
def test_the_panel_names_two_balls_that_stick_and_the_reason() -> None:
    one, other = add_sticking_balls()
    assert drawn(SOFTPRESSURE_PT_diagnostics, 2000) == [diagnosis.UNKNOWN]
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert drawn(SOFTPRESSURE_PT_diagnostics, 2000) == [diagnosis.UNKNOWN]  # no step leads to the first frame
    frame(2)
    (alone, report) = this_session().reports[2]
    behind = report.reasons[0].count
    assert behind > 1
    found = drawn(SOFTPRESSURE_PT_diagnostics, 2000)
    assert found[0] == "Ball A, Ball B" and "Apart" in found
    assert found[1].startswith(f"{report.steps} steps, {report.contacts} contact") and " J" in found[1]
    crossing = f"their surfaces cross; what is behind comes back slowly ({behind} vertices)."
    assert f"Ball A and Ball B: {crossing}" in found
    (pair,) = report.pairs
    assert f"Ball A and Ball B: {pair.contacts} contacts, {pair.force:.3g} N, gap {pair.gap:.2g} m" in found
    assert alone.reasons == alone.pairs == () and len(found) == 5 + len(report.reasons)
    other.name = "Renamed"
    assert f"Ball A and Renamed: {crossing}" in drawn(SOFTPRESSURE_PT_diagnostics, 2000)
    one.softpressure.mass = 7.0  # a new start forgets
    frame(1)
    assert this_session().reports == {} and drawn(SOFTPRESSURE_PT_diagnostics, 2000) == [diagnosis.UNKNOWN]


def test_the_panel_shows_the_first_islands_of_many() -> None:
    bpy.context.scene.frame_end = 2
    for number in range(10):
        add_ball(f"Ball {number}", (2 * number, 0, 5))
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(2)
    found = drawn(SOFTPRESSURE_PT_diagnostics, 2000)
    assert found[-1] == "2 more islands." and found[::2][:-1] == [f"Ball {number}" for number in range(8)]


def test_the_panel_shows_the_first_reasons_and_the_hardest_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    bpy.context.scene.frame_end = 2
    for number in range(9):
        add_ball(f"Ball {number}", (2 * number, 0, 5))
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(2)
    reasons = tuple(Finding(Reason.CROSSING, 3, (0, number)) for number in range(1, 9))
    pairs = tuple(PairReport((0, number), 1, float(number), 0.25) for number in range(1, 9))
    report = replace(this_session().reports[2][0], bodies=tuple(range(9)), reasons=reasons, pairs=pairs, contacts=8)
    this_session().reports[2] = (report,)
    found = drawn(SOFTPRESSURE_PT_diagnostics, 2000)
    assert found[0] == "Ball 0, Ball 1, Ball 2 and 6 more"
    assert [text.partition(":")[0] for text in found[2:8]] == [f"Ball 0 and Ball {number}" for number in range(1, 7)]
    assert found[8] == "2 more reasons." and found[-1] == "2 more pairs in contact."
    assert found[9] == "Ball 0 and Ball 8: 1 contact, 8 N, gap 0.25 m"


@pytest.mark.parametrize("solver", ["EXPLICIT", "IMPLICIT"])
def test_the_trace_has_a_row_for_each_frame_and_island(tmp_path: Path, solver: str) -> None:
    add_sticking_balls()
    bpy.context.scene.softpressure.solver = "AUTO" if solver == "EXPLICIT" else solver
    file, trace = tmp_path / "balls.blend", tmp_path / "trace.csv"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command.run(["bake", str(file), "--trace", str(trace)]) == 0
    rows = table(trace)
    assert tuple(rows[0]) == COLUMNS
    assert [row["bodies"] for row in rows if row["frame"] == "2"] == ["Apart", "Ball A + Ball B"]
    assert sorted({row["frame"] for row in rows}) == ["2", "3", "4"]
    first = rows[1]
    assert first["scene"] == "Scene" and int(first["steps"]) > 0 and float(first["energy change [J]"]) != 0.0
    assert "Ball A and Ball B: their surfaces cross" in first["reasons"] and "Ball" not in rows[0]["reasons"]
    assert (first["residual"] == "") == (solver == "EXPLICIT")


def test_the_trace_simulates_cached_frames_anew(tmp_path: Path) -> None:
    add_sticking_balls()
    file, trace = tmp_path / "balls.blend", tmp_path / "trace.csv"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert command.run(["bake", str(file), "--trace", str(trace)]) == 0
    assert sorted({row["frame"] for row in table(trace)}) == ["2", "3", "4"]


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
