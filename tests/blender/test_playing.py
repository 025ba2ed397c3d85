"""Simulation with the timeline: frame changes that extend the cache, show it, or empty it."""

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import FallingWorld, add_ball, add_object, frame, play
from bpy_seen import height, rest, shown, state_text, this_run, this_session, told
from softpressure_ext.core import DivergenceError
from softpressure_ext.panels import scene as scene_panels
from softpressure_ext.softpressure import handlers
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.state import sessions

pytestmark = pytest.mark.usefixtures("falling")


@pytest.mark.smoke
def test_playing_forward_simulates_frame_by_frame() -> None:
    ball = add_ball()
    frame(1)
    np.testing.assert_allclose(shown(ball), rest(ball), atol=5e-7)  # float32 at 5 m
    heights = []
    for number in range(2, 6):
        frame(number)
        heights.append(height(ball))
        assert this_run().cache.last_frame == number
    # the stand-in's steps: v += h g, z += h v
    fall = np.cumsum(np.cumsum(np.full(4, 9.81 / 24**2)))
    np.testing.assert_allclose(heights, 5.0 - fall, atol=1e-5)  # float32 at 5 m


def test_playing_on_from_the_first_frame_begins_there_though_no_frame_change_went_to_it() -> None:
    bpy.context.scene.frame_set(1)
    ball = add_ball()
    play(2, 4)
    assert this_run().cache.first_frame == 1
    assert this_run().cache.last_frame == 4
    frame(1)
    ball.softpressure.mass = 3.0
    play(2, 3)
    assert this_run().cache.last_frame == 3  # anew, with the new mass
    assert not this_session().is_out_of_date(bpy.context.scene)
    assert len(FallingWorld.made) == 2


def test_jumping_ahead_simulates_nothing_and_shows_the_last_frame() -> None:
    ball = add_ball()
    play(1, 4)
    last = shown(ball)
    frame(8)
    assert this_run().cache.last_frame == 4
    np.testing.assert_array_equal(shown(ball), last)
    assert "Frame 8 is not simulated" in " ".join(status.notices(bpy.context.scene))


def test_scrubbing_back_and_forth_shows_simulated_frames() -> None:
    ball = add_ball()
    seen = {}
    for number in range(1, 7):
        frame(number)
        seen[number] = shown(ball)
    for number in (3, 6, 1, 5, 2, 2, 4):
        frame(number)
        np.testing.assert_array_equal(shown(ball), seen[number])
    assert this_run().cache.last_frame == 6
    assert len(FallingWorld.made) == 1  # passing the first frame without a change keeps the cache


def test_nothing_is_simulated_before_the_first_frame_was_visited() -> None:
    add_ball()
    play(5, 8)
    assert this_run().cache is None


def test_frames_beyond_the_end_are_not_simulated() -> None:
    add_ball()
    bpy.context.scene.softpressure.frame_end = 4
    play(1, 8)
    assert this_run().cache.last_frame == 4


def test_subframes_lie_between_frames_and_simulate_nothing() -> None:
    ball = add_ball()
    play(1, 3)
    at_3 = shown(ball)
    frame(2)
    at_2 = shown(ball)
    frame(2, 0.25)
    np.testing.assert_allclose(shown(ball), 0.75 * at_2 + 0.25 * at_3, atol=1e-6)
    frame(3, 0.5)
    assert this_run().cache.last_frame == 3


@pytest.mark.smoke
def test_a_real_render_with_motion_blur_simulates_nothing(tmp_path: object) -> None:
    ball = add_ball()
    scene = bpy.context.scene
    scene.camera = add_object("Camera", bpy.data.cameras.new("Camera"))
    play(1, 3)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.render.use_motion_blur = 1, True
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath = f"{tmp_path}/frame"
    scene.frame_start, scene.frame_end = 1, 5
    bpy.ops.render.render(animation=True)
    assert this_run().cache.last_frame == 3
    assert sessions.is_rendering is False
    assert not this_session().refusals.error
    frame(4)
    assert this_run().cache.last_frame == 4
    assert height(ball) < 5.0


def test_editing_a_parameter_marks_the_cache_out_of_date_and_stops_it() -> None:
    ball = add_ball()
    play(1, 3)
    scene = bpy.context.scene
    assert not this_session().is_out_of_date(scene)
    before = ball.softpressure.mass
    ball.softpressure.mass = before + 1.0
    assert this_session().is_out_of_date(scene)
    assert "Out of date" in state_text()
    for number in (4, 2):  # nor does a jump to the second frame begin anew
        frame(number)
        assert this_session().is_out_of_date(scene)
        assert this_run().cache.last_frame == 3  # never mixed with frames of other settings
    ball.softpressure.mass = before
    assert not this_session().is_out_of_date(scene)
    ball.softpressure.mass = before + 1.0
    frame(1)
    assert this_run().cache.last_frame == 1  # the first frame resets
    assert not this_session().is_out_of_date(scene)


def test_subdividing_the_mesh_shows_the_mesh_until_it_is_simulated_again() -> None:
    ball = add_ball()
    play(1, 3)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    frame(2)
    np.testing.assert_allclose(shown(ball), rest(ball), atol=1e-6)
    play(1, 3)
    assert this_run().cache.vertex_counts == (len(ball.data.vertices),)
    assert height(ball) < height_of_rest(ball)


def height_of_rest(obj: object) -> float:
    return float(rest(obj)[:, 2].mean())


def test_the_scene_s_rate_gravity_and_settings_reach_the_solver_and_date_the_cache() -> None:
    add_ball()
    scene = bpy.context.scene
    for change in (lambda: setattr(scene, "use_gravity", False), lambda: setattr(scene.render, "fps", 30)):
        play(1, 2)
        change()
        bpy.context.view_layer.update()
        assert this_session().is_out_of_date(scene)
    scene.use_gravity = True
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.gravity = (0, 1, -2)
    scene.softpressure.substeps, scene.softpressure.threads, scene.softpressure.ambient_pressure = 7, 1, 5.0
    frame(1)
    world = FallingWorld.made[-1]
    assert world.frame_rate == pytest.approx(30 / 1.001)
    assert (world.substeps, world.threads, world.model.ambient_pressure) == (7, 1, 5.0)
    np.testing.assert_allclose(world.model.gravity, (0, 1, -2))
    scene.use_gravity = False
    frame(1)
    np.testing.assert_array_equal(FallingWorld.made[-1].model.gravity, (0, 0, 0))


def test_range_is_the_scene_s_until_it_is_set() -> None:
    scene = bpy.context.scene
    settings = scene.softpressure
    scene.frame_start, scene.frame_end = 5, 50
    assert (settings.frame_start, settings.frame_end) == (5, 50)
    settings.frame_end = 20
    scene.frame_end = 90
    assert (settings.frame_start, settings.frame_end, settings.use_scene_range) == (5, 20, False)
    settings.use_scene_range = True
    assert settings.frame_end == 90


@pytest.mark.smoke
def test_undo_keeps_the_cache_and_shows_the_frame() -> None:
    bpy.context.preferences.edit.use_global_undo = True
    ball = add_ball(mass=1.0)
    name = ball.name
    play(1, 4)
    bpy.ops.ed.undo_push(message="before")
    ball.softpressure.mass = 3.0
    bpy.ops.ed.undo_push(message="mass")
    assert this_session().is_out_of_date(bpy.context.scene)
    bpy.ops.ed.undo()
    ball = bpy.data.objects[name]
    assert ball.softpressure.mass == 1.0
    assert this_run().cache.last_frame == 4
    assert not this_session().is_out_of_date(bpy.context.scene)
    frame(3)
    third = height(ball)
    frame(5)
    assert this_run().cache.last_frame == 5
    assert height(ball) < third


def test_two_scenes_keep_apart() -> None:
    ball = add_ball("First", (0, 0, 5))
    first = bpy.context.scene
    play(1, 3)
    second = bpy.data.scenes.new("Second")
    bpy.context.window.scene = second
    other = add_ball("Other", (0, 0, 9))
    second.frame_set(1)
    second.frame_set(2)
    assert sessions.of(second).run.cache.body_names == ("Other",)
    assert sessions.of(second).run.cache.last_frame == 2
    assert sessions.of(first).run.cache.last_frame == 3
    assert sessions.of(first).run.cache.body_names == ("First",)
    assert other.name == "Other"
    assert ball.name == "First"


def test_a_second_view_layer_without_the_body_does_not_disturb() -> None:
    ball = add_ball()
    scene = bpy.context.scene
    collection = bpy.data.collections.new("Balls")
    scene.collection.children.link(collection)
    for owner in ball.users_collection:
        owner.objects.unlink(ball)
    collection.objects.link(ball)
    empty = scene.view_layers.new("Background")
    empty.layer_collection.children["Balls"].exclude = True
    play(1, 3)
    assert this_session().refusals.error == ""
    assert this_run().cache.last_frame == 3
    frame(1)
    assert this_run().cache.last_frame == 3


def test_duplicates_are_bodies_of_their_own() -> None:
    ball = add_ball()
    play(1, 3)
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    copy.location.x = 3.0
    frame(3)
    np.testing.assert_allclose(shown(copy), rest(copy), atol=5e-7)  # not the frozen shape of the original
    assert this_session().is_out_of_date(bpy.context.scene)
    play(1, 3)
    assert this_run().cache.body_names == (ball.name, copy.name)
    assert shown(copy)[:, 0].mean() == pytest.approx(3.0, abs=1e-5)
    assert height(copy) == pytest.approx(height(ball), abs=1e-5) and height(ball) < 5.0


def test_deleting_a_body_while_playing_is_noticed() -> None:
    add_ball("One")
    two = add_ball("Two", (3, 0, 5))
    play(1, 3)
    bpy.data.objects.remove(two)
    bpy.context.view_layer.update()
    frame(4)
    assert this_session().is_out_of_date(bpy.context.scene)
    play(1, 3)
    assert this_run().cache.body_names == ("One",)


@pytest.mark.parametrize("name", ["Two", "Floor"])
def test_deleting_an_object_by_a_script_is_noticed_without_an_update(name: str) -> None:
    add_ball("One")
    add_ball("Two", (3, 0, 5))
    add_ball("Floor", (0, 0, -5), kind="COLLIDER")
    play(1, 3)
    bpy.data.objects.remove(bpy.data.objects[name])
    frame(4)
    assert this_session().is_out_of_date(bpy.context.scene)
    assert "Internal error" not in told()


@pytest.mark.smoke
def test_handlers_are_registered_once_and_never_raise(caplog: pytest.LogCaptureFixture) -> None:
    handlers.register()
    for name, handler in handlers.HANDLERS:
        assert getattr(bpy.app.handlers, name, [handler]).count(handler) == 1
    add_ball()
    play(1, 2)
    this_run().world.advance_frame = None  # not callable
    frame(3)
    frame(3)
    assert "Internal error in on_frame_change_post" in this_session().refusals.error
    assert len([record for record in caplog.records if "Internal error" in record.message]) == 1


def test_a_divergence_keeps_the_good_frames_and_is_said_until_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    ball = add_ball()
    play(1, 3)

    def diverge(_world: object, _given: object) -> None:
        raise DivergenceError("Ball: the motion is not finite in frame 4, substep 2 of 10.")

    with monkeypatch.context() as patch:
        patch.setattr(FallingWorld, "advance_frame", diverge)
        at_3 = shown(ball)
        frame(4)
        np.testing.assert_array_equal(shown(ball), at_3)
        assert "Ball: the motion is not finite in frame 4" in " ".join(status.notices(bpy.context.scene))
        with pytest.raises(RuntimeError, match="the motion is not finite in frame 4"):
            bpy.ops.softpressure.simulate()
    frame(4)
    assert this_run().cache.last_frame == 3  # not silently tried again
    bpy.ops.softpressure.reset()
    play(2, 4)
    assert (this_run().cache.last_frame, this_session().refusals.error) == (4, "")


@pytest.mark.smoke
def test_leaving_edit_mode_shows_the_frame_of_now() -> None:
    ball = add_ball()
    seen = {}
    for number in range(1, 7):
        frame(number)
        seen[number] = shown(ball)
    bpy.ops.object.mode_set(mode="EDIT")
    frame(3)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(shown(ball), seen[3])
    ball.location.x += 1.0  # only leaving Edit Mode catches up: what is moved by hand moves
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown(ball), seen[3] + (1, 0, 0), atol=1e-6)


@pytest.mark.parametrize("mode", ["FRAME_DROP", "AUDIO_SYNC"])
def test_playback_that_drops_frames_offers_to_play_every_frame(mode: str) -> None:
    scene = bpy.context.scene
    add_ball()
    sentence = "dropped frames are not simulated"
    assert sentence not in " ".join(drawn(scene_panels.Simulation, width=2000))
    scene.sync_mode = mode
    found = drawn(scene_panels.Simulation, width=2000)
    assert sentence in " ".join(found) and found.count("wm.context_set_enum") == 1
    bpy.ops.wm.context_set_enum(data_path="scene.sync_mode", value="NONE")  # what the button does
    assert sentence not in " ".join(drawn(scene_panels.Simulation, width=2000))
    scene.sync_mode = mode
    bpy.ops.softpressure.simulate()
    assert sentence not in " ".join(drawn(scene_panels.Simulation, width=2000))  # all is cached
