"""Baking to absolute shape keys, playing without the extension, freeing, and caches on disk."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import FallingWorld, add_ball, add_group, frame, key, play
from bpy_seen import fingerprint, rest, shown, this_run, this_session
from softpressure_ext.core.cache import FrameCache
from softpressure_ext.softpressure import handlers
from softpressure_ext.softpressure.cache import disk
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.simulation import simulate_job
from softpressure_ext.softpressure.state import jobs, sessions

pytestmark = pytest.mark.usefixtures("falling")


def simulate() -> None:
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}


def bake() -> None:
    assert bpy.ops.softpressure.bake(target="SHAPE_KEYS") == {"FINISHED"}


@pytest.mark.smoke
def test_simulate_fills_the_range_and_returns_to_the_frame() -> None:
    add_ball()
    frame(7)
    simulate()
    scene = bpy.context.scene
    assert scene.frame_current == 7
    assert status.cache_text(scene) == "frames 1–10 of 10"
    assert len(FallingWorld.made) == 1
    simulate()  # nothing is missing
    assert len(FallingWorld.made) == 1
    scene.frame_end = 15
    simulate()  # goes on
    assert len(FallingWorld.made) == 1
    assert status.cache_text(scene) == "frames 1–15 of 15"


def test_a_bake_waits_for_the_last_frame() -> None:
    add_ball()
    job = simulate_job.simulate(bpy.context.scene)
    next(step for step in job if step is not None and not step[2].startswith("Starting"))
    for operator in (bpy.ops.softpressure.bake, bpy.ops.softpressure.export):
        assert not operator.poll()
    for _ in jobs.whole(job):
        pass
    assert bpy.ops.softpressure.bake() == {"FINISHED"}


def test_a_bake_and_an_export_of_some_frames_say_so(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    add_ball()
    frame(1)  # as it is after a body was added and the timeline was rewound
    assert bpy.ops.softpressure.export(filepath=str(tmp_path / "ball.pc2")) == {"FINISHED"}
    assert "Exported frame 1 of 10 to " in capfd.readouterr().out
    bake()
    assert "1 body is baked with frame 1 of 10: Free Bake and Simulate first for all" in capfd.readouterr().out
    bpy.ops.softpressure.free_bake()
    simulate()
    bake()
    assert "1 body is baked\n" in capfd.readouterr().out


@pytest.mark.parametrize("operator", ["bake", "export"])
def test_a_script_that_changes_the_scene_and_sets_a_frame_gets_no_old_frames(operator: str, tmp_path: Path) -> None:
    add_ball()
    simulate()
    bpy.context.scene.gravity = (0, 0, -1)
    frame(10)
    given = {"filepath": str(tmp_path / "ball.abc")} if operator == "export" else {}
    with pytest.raises(RuntimeError, match="out of date"):
        getattr(bpy.ops.softpressure, operator)(**given)
    simulate()
    assert getattr(bpy.ops.softpressure, operator)(**given) == {"FINISHED"}


def test_baked_positions_are_the_simulated_ones_at_frames_and_linear_between() -> None:
    ball = add_ball()
    ball.rotation_euler = (0.3, 0.2, 0.1)
    ball.scale = (1.1, 0.9, -1.3)
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    scene.softpressure.frame_start, scene.softpressure.frame_end = -3, 12
    simulate()
    cache = this_run().cache
    simulated = {number: cache.positions(0, number) for number in range(-3, 13)}
    bake()
    for number in (5, -3, 12, 0, 1, 4, 7, 11):
        frame(number)
        # to_local rounds once to float32 at 0.5 m, Blender's matrix once more
        np.testing.assert_allclose(shown(ball), simulated[number], atol=6e-7)
    frame(4, 0.25)
    np.testing.assert_allclose(shown(ball), 0.75 * simulated[4] + 0.25 * simulated[5], atol=1e-6)
    frame(20)
    np.testing.assert_allclose(shown(ball), simulated[12], atol=6e-7)


@pytest.mark.smoke
def test_free_bake_restores_the_object_bit_for_bit() -> None:
    ball = add_ball(kind=None)
    add_group(ball, "", [1, 2], 0.7)
    ball.modifiers.new("Wave", "WAVE")
    ball.modifiers.new("Subdivision", "SUBSURF")
    plain = fingerprint(ball)
    bpy.ops.softpressure.add_body()
    simulate()
    frame(6)
    before, action_count = fingerprint(ball), len(bpy.data.actions)
    bake()
    frame(9)
    frame(6)
    assert fingerprint(ball) != before
    assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
    assert fingerprint(ball) == before
    assert len(bpy.data.actions) == action_count
    bpy.ops.softpressure.remove_body()
    assert fingerprint(ball) == plain


def test_animated_shape_keys_are_not_overwritten() -> None:
    ball = add_ball()
    simulate()
    live = ball.data.shape_keys.key_blocks["SP Live"]
    live.keyframe_insert("value", frame=1)
    with pytest.raises(RuntimeError, match=r"Ball: its shape keys are animated \(key_blocks"):
        bpy.ops.softpressure.bake()
    assert "SP Live" in ball.data.shape_keys.key_blocks


def test_a_moving_body_is_baked_in_its_own_moving_space() -> None:
    ball = add_ball()
    key(ball, "location", (1, (0, 0, 5)), (10, (6, 0, 5)))
    frame(1)
    simulate()
    cache = this_run().cache
    bake()
    for number in (1, 4, 7, 10):
        frame(number)
        np.testing.assert_allclose(shown(ball), cache.positions(0, number), atol=2e-6)


def saved(tmp_path: Path) -> tuple[str, dict[int, Any]]:
    path = str(tmp_path / "scene.blend")
    add_ball()
    play(1, 6)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    cache = this_run().cache
    return path, {number: cache.positions(0, number).copy() for number in range(1, 7)}


def test_a_bake_leaves_the_action_of_a_moving_body_alone() -> None:
    ball = add_ball()
    key(ball, "location", (1, 0.0), (10, 2.0), index=0)
    own = ball.animation_data.action
    own.name = "Mine"
    slots = [slot.identifier for slot in getattr(own, "slots", ())]
    simulate()
    for _ in range(2):
        bake()
        assert ball.animation_data.action == own and ball.data.shape_keys.animation_data.action != own
        assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
        assert own.name == "Mine" and [slot.identifier for slot in getattr(own, "slots", ())] == slots
        assert list(bpy.data.actions) == [own]


@pytest.mark.smoke
def test_a_saved_file_has_its_cache_when_it_is_opened_again_and_goes_on(tmp_path: Path) -> None:
    path, simulated = saved(tmp_path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    ball, scene = bpy.data.objects["Ball"], bpy.context.scene
    assert status.cache_text(scene) == "frames 1–6 of 10"
    assert not this_session().is_out_of_date(scene)
    np.testing.assert_allclose(shown(ball), simulated[6], atol=6e-7)  # before any frame change
    handlers.on_render_init(scene)  # rendered as well as played
    for number in (1, 5):
        frame(number)
        np.testing.assert_allclose(shown(ball), simulated[number], atol=6e-7)
    assert sessions.is_rendering
    handlers.on_render_end(scene)
    for number in (3, 6, 2):
        frame(number)
        np.testing.assert_allclose(shown(ball), simulated[number], atol=6e-7)
    assert len(FallingWorld.made) == 1
    frame(1)
    assert this_run().cache.last_frame == 6  # the first frame finds nothing changed
    play(7, 8)
    assert this_run().cache.last_frame == 8
    steps = np.diff([this_run().cache.positions(0, number)[:, 2].mean() for number in range(4, 9)])
    np.testing.assert_allclose(np.diff(steps), -9.81 / 24**2, atol=5e-6)  # falls on as if nothing had happened


def test_a_cache_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    """Its header holds the choice of its run; its state does not say for how long nothing has moved."""
    path, _ = saved(tmp_path)
    cache_path = disk.path_of(bpy.context.scene)
    cache = FrameCache.load(cache_path)
    assert "still" in cache.state
    cache.state = {name: array for name, array in cache.state.items() if name != "still"}
    cache.save(cache_path)
    with np.load(cache_path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes()) | {"choice": {"solver": "EXPLICIT", "steps_per_frame": 74}}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with cache_path.open("wb") as file:
        np.savez(file, **arrays)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    frame(1)
    play(7, 8)
    assert this_session().refusals.error == "" and this_run().cache.last_frame == 8


def test_a_cache_on_disk_that_does_not_fit_the_file_is_out_of_date(tmp_path: Path) -> None:
    path, _ = saved(tmp_path)
    bpy.data.objects["Ball"].softpressure.mass = 5.0
    this_session().clear()  # so that saving does not write the cache again
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert this_session().is_out_of_date(bpy.context.scene)
    frame(1)
    assert this_run().cache.last_frame == 1


def test_a_file_without_its_cache_shows_the_rest_shape_and_not_a_frozen_frame(tmp_path: Path) -> None:
    path, _ = saved(tmp_path)
    cache_path = disk.path_of(bpy.context.scene)
    assert cache_path is not None
    cache_path.unlink()
    bpy.ops.wm.open_mainfile(filepath=path)
    ball = bpy.data.objects["Ball"]
    np.testing.assert_allclose(shown(ball), rest(ball), atol=5e-7)
    frame(5)
    np.testing.assert_allclose(shown(ball), rest(ball), atol=5e-7)


def test_simulating_a_saved_file_writes_its_cache_and_saving_a_baked_one_does(tmp_path: Path) -> None:
    add_ball()
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    cache_path = disk.path_of(bpy.context.scene)
    assert cache_path is not None and not cache_path.exists()
    simulate()
    assert FrameCache.load(cache_path).last_frame == 10
    cache_path.unlink()
    bake()
    bpy.ops.wm.save_mainfile()
    assert FrameCache.load(cache_path).last_frame == 10  # the bake may be freed


def test_a_damaged_cache_is_named_and_does_not_stop_the_file(tmp_path: Path) -> None:
    path, _ = saved(tmp_path)
    cache_path = disk.path_of(bpy.context.scene)
    assert cache_path is not None and cache_path.parent.parent == tmp_path
    cache_path.write_bytes(cache_path.read_bytes()[:500])
    bpy.ops.wm.open_mainfile(filepath=path)
    assert "not a readable cache" in this_session().refusals.error
    play(1, 3)
    assert this_session().refusals.error == ""
    assert this_run().cache.last_frame == 3
