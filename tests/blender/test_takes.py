"""Takes: several caches of a scene, of which the chosen one is simulated and plays."""

import shutil
from pathlib import Path
from typing import Any

import bpy
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, frame, play
from bpy_seen import height, this_run, this_session
from softpressure_ext.panels import scene as scene_panels
from softpressure_ext.softpressure.cache import disk, packing
from softpressure_ext.softpressure.reports import run_state, status
from softpressure_ext.softpressure.state import jobs, sessions

LAST = 10


@pytest.fixture
def two(falling: Any) -> Any:
    """A ball of two takes: it falls, and it falls ten times as slow; the second one is chosen."""
    scene, ball = bpy.context.scene, add_ball()
    bpy.ops.softpressure.simulate()
    assert bpy.ops.softpressure.add_take() == {"FINISHED"}
    scene.gravity[2] *= 0.1
    bpy.ops.softpressure.simulate()
    return ball


def heights() -> list[float]:
    """Of the ball in the last frame, in each take."""
    scene, found = bpy.context.scene, []
    for number in range(len(scene.softpressure.takes)):
        scene.softpressure.active_take = number
        play(1, LAST)
        found.append(height(bpy.data.objects["Ball"]))
    return found


def files() -> list[str]:
    return sorted(path.name for path in disk.path_of(bpy.context.scene).parent.iterdir())


def test_each_take_plays_its_own_frames_whatever_the_settings_are_now(two: Any) -> None:
    settings = bpy.context.scene.softpressure
    assert [take.name for take in settings.takes] == ["Take 1", "Take 2"] and settings.take == "Take 2"
    fell, slow = heights()
    assert 5.0 - fell == pytest.approx(10.0 * (5.0 - slow), rel=0.01) and slow < 5.0
    assert heights() == [fell, slow]  # playing over the first frame has replaced nothing


def test_a_take_of_other_settings_is_out_of_date_until_simulate_replaces_it(two: Any) -> None:
    scene, settings = bpy.context.scene, bpy.context.scene.softpressure
    assert run_state.of(scene).text == "Take 2: frames 1–10 of 10"
    settings.take = "Take 1"
    assert run_state.of(scene).text == "Out of date: frames 1–10 of 10" and this_session().is_out_of_date(scene)
    assert [status.take_text(scene, take.key) for take in settings.takes] == ["1–10 (out of date)", "1–10"]
    bpy.ops.softpressure.simulate()
    first, second = heights()
    assert first == second and not this_session().is_out_of_date(scene)


def test_takes_are_saved_read_again_and_removed_with_their_files(two: Any, tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "takes.blend"))
    before = heights()
    assert files() == ["Scene.npz", "Scene.take2.npz"]
    bpy.context.scene.softpressure.takes[1].name = "Slow"
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "takes.blend"))
    assert bpy.context.scene.softpressure.take == "Slow" and heights() == before
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))  # not only what was chosen
    assert files() == ["Scene.npz", "Scene.take2.npz"]
    assert bpy.ops.softpressure.remove_take() == {"FINISHED"}
    assert files() == ["Scene.npz"] and bpy.context.scene.softpressure.take == "Take 1"
    assert heights() == before[:1] and not this_session().parked
    assert not bpy.ops.softpressure.remove_take.poll()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "copy.blend"))
    assert heights() == before[:1]


def test_the_first_of_two_takes_may_be_removed(two: Any) -> None:
    _, slow = heights()
    bpy.context.scene.softpressure.active_take = 0
    bpy.ops.softpressure.remove_take()
    assert bpy.context.scene.softpressure.take == "Take 2" and heights() == [slow]
    bpy.ops.softpressure.add_take()
    assert [take.name for take in bpy.context.scene.softpressure.takes] == ["Take 2", "Take 3"]


def test_a_copy_of_a_scene_keeps_its_own_frames_of_the_chosen_take(two: Any, tmp_path: Path) -> None:
    other = bpy.context.scene.copy()
    other.use_fake_user = True  # else it is not saved
    bpy.context.window.scene = other
    bpy.ops.softpressure.simulate()
    assert this_session().take == "2" and this_run().cache.last_frame == LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scenes.blend"))
    assert files() == ["Scene.npz", "Scene.take2.npz", "Scene_001.take2.npz"]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scenes.blend"))
    assert sessions.of(bpy.data.scenes["Scene.001"]).run.cache.last_frame == LAST


def test_all_takes_are_packed(two: Any, tmp_path: Path) -> None:
    before, scene = heights(), bpy.context.scene
    scene.softpressure.pack_cache = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "made.blend"))
    assert not [name for name in scene.keys() if packing.KEY in name]  # noqa: SIM118
    (tmp_path / "elsewhere").mkdir()
    bpy.ops.wm.open_mainfile(filepath=str(shutil.copy(tmp_path / "made.blend", tmp_path / "elsewhere")))
    scene = bpy.context.scene
    assert not disk.path_of(scene).parent.exists() and heights() == before
    assert not [name for name in scene.keys() if packing.KEY in name]  # noqa: SIM118


def test_a_new_take_is_empty_and_ends_the_job_of_the_other(falling: Any) -> None:
    add_ball()
    bpy.context.scene.frame_end = 500
    from softpressure_ext.softpressure.simulation import simulate_job

    job = jobs.Job(simulate_job.simulate(bpy.context.scene))
    while this_run().cache is None or this_run().cache.last_frame < 3:
        job.advance()
    filled = this_run()
    bpy.ops.softpressure.add_take()
    assert job.is_over and this_run().cache is None and this_session().parked[""][0] is filled
    assert run_state.of(bpy.context.scene).text == "Take 2: no frames"
    frame(1)  # an empty take starts as ever
    play(2, 4)
    assert this_run().cache.last_frame == 4 and filled.cache.last_frame >= 3


def test_undo_of_a_new_take_shows_the_frames_before(falling: Any) -> None:
    add_ball()
    bpy.ops.ed.undo_push(message="Ball")
    bpy.ops.softpressure.simulate()
    frame(LAST)
    fell = height(bpy.data.objects["Ball"])
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.softpressure.add_take()
    bpy.ops.ed.undo_push(message="Take")
    bpy.ops.ed.undo()
    assert not bpy.context.scene.softpressure.takes and this_session().take == ""
    frame(LAST)
    assert height(bpy.data.objects["Ball"]) == fell and this_run().cache.last_frame == LAST


def test_a_script_that_chooses_a_take_that_is_not_there_is_told(two: Any) -> None:
    with pytest.raises(ValueError, match=r"Scene: there is no take 'Fast'\. Its takes: Take 1, Take 2\."):
        bpy.context.scene.softpressure.take = "Fast"
    assert bpy.context.scene.softpressure.take == "Take 2"


def test_the_panel_lists_takes_once_there_are_some(falling: Any) -> None:
    add_ball()
    rows = str(drawn(scene_panels.Cache))
    assert "softpressure.add_take" in rows and "softpressure.remove_take" not in rows
    bpy.ops.softpressure.add_take()
    rows = str(drawn(scene_panels.Cache))
    assert "softpressure.remove_take" in rows
