"""What bodies measure in each frame: recorded, kept with the cache, drawn as curves, written as CSV."""

import csv
import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, add_floor, frame, play, reopen, select
from bpy_seen import this_run, this_session
from softpressure_ext.panels import scene as scene_panels
from softpressure_ext.panels.viewport import Curves
from softpressure_ext.softpressure.batch import command
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.reports.trace import COLUMNS as HEADINGS
from softpressure_ext.softpressure.state import measurements
from softpressure_ext.softpressure.state.measurements import CHANGE, COLUMNS, ENERGY, FORCE, PRESSURE, STEPS, VOLUME
from softpressure_ext.softpressure.viewport import curves

G = 9.81


def row(obj: Any, number: int) -> Any:
    run = this_run()
    return run.measured[number][run.object_uids.index(obj.session_uid)]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_falling_body_has_the_energy_of_its_fall_and_no_contact() -> None:
    scene = bpy.context.scene
    ball, box = add_ball(mass=2.0, damping=0.0), add_ball("Box", (0, 5, 5), "RIGID", mass=3.0)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    fallen = G * 9 / (scene.render.fps / scene.render.fps_base)
    for obj, mass in ((ball, 2.0), (box, 3.0)):
        assert row(obj, 10)[ENERGY] == pytest.approx(0.5 * mass * fallen**2, rel=0.03)
        assert row(obj, 10)[FORCE] == 0.0 and row(obj, 10)[STEPS] >= 1
        assert row(obj, 1)[ENERGY] == 0.0 and np.isnan(row(obj, 1)[[FORCE, CHANGE, STEPS]]).all()
    assert row(ball, 1)[VOLUME] == pytest.approx(1.0, abs=0.01) and row(ball, 1)[PRESSURE] > 0.0
    assert np.isnan(row(box, 10)[[VOLUME, PRESSURE]]).all()


def test_a_turning_body_has_the_energy_of_its_spin() -> None:
    bpy.context.scene.use_gravity = False
    ball = add_ball(kind="RIGID", mass=3.0)
    ball.softpressure.angular_velocity = (1.0, 2.0, -2.0)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    model = this_run().world.model
    spin = np.array([1.0, 2.0, -2.0])
    expected = 0.5 * spin @ model.rigid.inertia[0] @ spin
    assert row(ball, 2)[ENERGY] == pytest.approx(expected, rel=0.02)


def test_a_body_at_rest_is_pressed_by_its_weight() -> None:
    scene = bpy.context.scene
    scene.frame_end = 72
    add_floor()
    scene.softpressure.point_attributes = True
    ball = add_ball(location=(0, 0, 0.51), mass=2.0, damping=20.0, bounciness=0.0)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert row(ball, 72)[STEPS] == 0  # it sleeps, and is pressed as before
    for number in (18, 40, 72):
        assert row(ball, number)[FORCE] == pytest.approx(2.0 * G, rel=0.02)
        assert this_run().cache.forces(0, number).sum() == pytest.approx(2.0 * G, rel=0.02)


def test_columns_of_an_earlier_or_later_version_are_found_by_their_headings() -> None:
    table = {number: np.arange(2.0 * len(COLUMNS)).reshape(2, -1) + number for number in (1, 2)}
    arrays = measurements.to_arrays(table)
    np.testing.assert_array_equal(measurements.from_arrays(arrays, 2)[2], table[2])
    kept = [STEPS, VOLUME]
    other = {
        "gauges.headings": np.array([*arrays["gauges.headings"][kept], "a column of another version"]),
        "gauges.frames": arrays["gauges.frames"],
        "gauges.rows": np.concatenate([arrays["gauges.rows"][:, :, kept], np.ones((2, 2, 1))], axis=2),
    }
    found = measurements.from_arrays(other, 2)
    np.testing.assert_array_equal(found[1][:, kept], table[1][:, kept])
    assert np.isnan(np.delete(found[1], kept, axis=1)).all()


@pytest.mark.parametrize("damage", ["gauges.rows", "gauges.frames", "gauges.headings"])
def test_arrays_that_do_not_fit_are_no_table(damage: str) -> None:
    arrays = measurements.to_arrays({1: np.zeros((2, len(COLUMNS)))})
    assert measurements.from_arrays(arrays, 3) == {}
    for wrong in (np.array("x"), np.zeros((1, 2)), np.zeros(7, complex)):
        assert measurements.from_arrays(arrays | {damage: wrong}, 2) == {}
    del arrays[damage]
    assert measurements.from_arrays(arrays, 2) == {}


def test_they_survive_the_file_and_go_on(tmp_path: Path, falling: Any) -> None:
    ball = add_ball()
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    before = {number: values.copy() for number, values in this_run().measured.items()}
    bpy.ops.wm.open_mainfile(filepath=path)
    np.testing.assert_array_equal(this_run().measured[10], before[10])
    frame(6)
    ball = bpy.data.objects["Ball"]
    assert status.measurement_text(bpy.context.scene, ball) == "Volume 98.2 %, 2310 Pa"
    bpy.context.scene.frame_end = 12
    play(1, 1)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert sorted(this_run().measured) == list(range(1, 13))
    bpy.ops.softpressure.reset()
    assert sorted(this_run().measured) == [1]


@pytest.mark.smoke
def test_curves_are_those_of_the_active_body(falling: Any) -> None:
    scene = bpy.context.scene
    ball, solid = add_ball(), add_ball("Box", (0, 5, 5), "RIGID")
    assert "nothing is recorded yet" in curves.note(scene, ball)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    found = {each.label: each for each in curves.of_body(scene, ball)}
    assert list(found) == ["Volume", "Pressure", "Kinetic Energy"]  # the stand-in has no reports
    assert found["Pressure"].unit == "Pa" and (found["Pressure"].values == 2310.0).all()
    assert found["Volume"].frames.tolist() == list(range(1, 11)) and found["Volume"].values[0] == pytest.approx(98.2)
    assert [each.label for each in curves.of_body(scene, solid)] == ["Kinetic Energy"]
    scene.softpressure.curves = {"VOLUME"}
    assert len(curves.of_body(scene, ball)) == 1 and "none of these apply to it" in curves.note(scene, solid)
    assert curves.of_body(scene, None) == [] and curves.note(scene, None) == "Select a soft or rigid body."


def test_an_old_cache_shows_no_curves_and_says_so(falling: Any, tmp_path: Path) -> None:
    scene, ball = bpy.context.scene, add_ball()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    this_run().measured = {}
    scene.softpressure.show_curves = True
    assert curves.of_body(scene, ball) == [] and not this_session().is_out_of_date(scene)
    assert curves.note(scene, ball) == f"Ball: {measurements.NOT_RECORDED}"
    assert "recorded with these frames" in " ".join(drawn(Curves))
    with pytest.raises(RuntimeError, match="Scene: no curves are recorded"):
        bpy.ops.softpressure.export(filepath=str(tmp_path / "out.csv"))


def test_the_file_has_what_the_panel_and_the_curves_have(tmp_path: Path) -> None:
    scene = bpy.context.scene
    ball, other = add_ball(), add_ball("Other", (0, 5, 5))
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    path = tmp_path / "out.csv"
    assert bpy.ops.softpressure.export(filepath=str(path)) == {"FINISHED"}
    found = rows(path)
    assert tuple(found[0]) == HEADINGS and len(found) == 20
    for column in COLUMNS:
        told = [float(each[column.heading] or "nan") for each in found if each["body"] == "Ball"]
        at = COLUMNS.index(column)
        np.testing.assert_allclose(told, [row(ball, number)[at] for number in range(1, 11)], rtol=1e-5)
    frame(4)
    ratio, pressure = (float(found[6][COLUMNS[at].heading]) for at in (VOLUME, PRESSURE))
    assert found[6]["frame"] == "4" and found[6]["body"] == "Ball"
    assert status.measurement_text(scene, ball) == f"Volume {100 * ratio:.1f} %, {pressure:.0f} Pa"
    select(other)
    assert bpy.ops.softpressure.export(filepath=str(path), only_selected=True) == {"FINISHED"}
    assert {each["body"] for each in rows(path)} == {"Other"}
    select()
    with pytest.raises(RuntimeError, match="no selected object is a body that moves"):
        bpy.ops.softpressure.export(filepath=str(path), only_selected=True)


def test_the_command_line_writes_the_same_file(tmp_path: Path) -> None:
    add_ball()
    file, path = tmp_path / "ball.blend", tmp_path / "out.csv"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command.run(["export", str(file), str(path), "--frames", "1:4"]) == 0
    assert [each["frame"] for each in rows(path)] == ["1", "2", "3", "4"]
    assert float(rows(path)[3]["steps"]) >= 1


def test_settings_of_the_view_do_not_date_the_cache(falling: Any) -> None:
    scene = bpy.context.scene
    add_ball()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    settings = scene.softpressure
    settings.show_curves, settings.curves = True, {"STEPS"}
    settings.overlay_colour, settings.overlay_limit, settings.overlay_pins = "STRAIN", 0.5, True
    frame(1)
    assert not this_session().is_out_of_date(scene) and this_run().cache.last_frame == 10


# -- What the last frames took, in the panel and on the command line


def texts() -> list[str]:
    return status.pace_texts(bpy.context.scene)


@pytest.mark.smoke
def test_the_panel_tells_of_a_run(tmp_path: Path) -> None:
    """A real one: each frame is timed, and its steps are those that are recorded."""
    panel = scene_panels.Simulation
    ball = add_ball()
    assert not [text for text in drawn(panel) if "per frame" in text]
    play(1, 5)
    run = this_run()
    assert len(run.seconds) == 4 and min(run.seconds) > 0.0
    counts = {run.measured[frame][0][measurements.STEPS] for frame in range(2, 6)}
    assert len(counts) == 1 and counts.pop() > 1.0
    assert {*texts()} <= {*drawn(panel, width=900)}
    run.seconds.clear()
    steps = int(run.measured[5][0][measurements.STEPS])
    assert texts()[0] == f"{steps} steps per frame" and run.added_mass == run.world.added_mass
    reopen(tmp_path)
    assert texts() == [f"{steps} steps per frame"]
    ball = bpy.data.objects[0]
    ball.softpressure.mass *= 0.25  # a quarter of the mass takes twice the steps
    ball.softpressure.gauge_pressure *= 0.25
    play(1, 4)
    assert int(this_run().measured[4][0][measurements.STEPS]) > 1.5 * steps


def test_the_command_prints_it(falling: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    add_ball()
    file = tmp_path / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command.run(["bake", str(file), "--frames=1:3"]) == 0
    assert re.search(r"^softpressure: Scene: \d+(\.\d+)? ms per frame$", capfd.readouterr().out, re.MULTILINE)
