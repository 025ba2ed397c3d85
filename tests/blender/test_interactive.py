"""Interactive play without a window: what the mouse does, settings that act at once, and the way back."""

import gc
import sys
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import FallingWorld, add_ball, finish, frame, play
from bpy_seen import fingerprint, height, problem_of, rest, shown, this_run, this_session
from softpressure_ext.core import SoftPressureError
from softpressure_ext.panels import scene as scene_panels
from softpressure_ext.softpressure.reports import run_state
from softpressure_ext.softpressure.scene_io import mesh_io
from softpressure_ext.softpressure.simulation import hand, interactive
from softpressure_ext.softpressure.state import jobs, measurements, sessions, worker_thread
from softpressure_ext.softpressure.viewport import overlay


def go_on(playing: interactive.InteractivePlay, count: int = 1) -> None:
    """Play frames."""
    for _ in range(count):
        finish(playing.step())


def momentum(world: Any, body: int = 0) -> Any:
    """Momentum of a soft body [N s]."""
    points = slice(*world.model.body_point_start[body : body + 2])
    return world.model.vertex_mass[points] @ world.save().velocities[points]


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_the_mouse_moves_a_body_by_its_impulses_and_throws_it(begin: Any, weightless: None, solver: str) -> None:
    ball = add_ball(mass=1.0)
    bpy.context.scene.softpressure.solver = solver
    bpy.context.scene.softpressure.added_mass = 0.0
    playing = begin()
    place = playing.hand.grab((10, 0, 5), (-1, 0, 0))
    np.testing.assert_allclose(place, (0.5, 0, 5), atol=0.05)
    given = np.zeros(3)
    for _ in range(20):
        place = place + (0.1, 0.0, 0.0)
        playing.hand.drag(place)
        go_on(playing)
        given += playing.hand.world.pull_impulses[0]
    assert playing.hand.body_name == "Ball" and playing.hand.force > 0.0
    np.testing.assert_allclose(momentum(playing.hand.world), given, atol=1e-9)
    assert given[0] == pytest.approx(3.0, rel=0.1)  # 1 kg at the speed of the mouse
    assert abs(shown(ball)[:, 0].mean() - 2.0) < 0.4
    playing.hand.release()
    go_on(playing, 5)
    np.testing.assert_allclose(momentum(playing.hand.world), given, atol=1e-9)
    assert playing.hand.force == 0.0 and not playing.hand.body_name


def test_the_mouse_may_grab_poke_and_let_go_while_a_frame_is_stepped(begin: Any, weightless: None) -> None:
    add_ball("Box", kind="RIGID")
    playing = begin()
    for act in (
        lambda: playing.hand.grab((0, -10, 5), (0, 1, 0)),
        playing.hand.release,
        lambda: playing.hand.poke((0, -10, 5), (0, 1, 0)),
    ):
        work = playing.step(worker_thread.run)
        next(work, None)  # a quick frame is done by then
        act()
        finish(work)
    assert playing.frame == 3 and not playing.hand.world.rigid_velocity(0)[0].any()
    go_on(playing)
    assert playing.hand.world.rigid_velocity(0)[0][1] > 1.0


def test_a_throw_in_slow_play_is_as_fast_as_the_hand(begin: Any, weightless: None, monkeypatch: Any) -> None:
    """At a tenth of real time a hand that moves at 1 m/s throws a body at about 1 m/s, not at 10."""
    now = [100.0]
    monkeypatch.setattr(hand.time, "monotonic", lambda: now[0])
    speeds = {}
    for slower in (1.0, 10.0):
        add_ball(f"Ball {slower:g}", location=(0, 0, 5))
        playing = begin()
        playing.pace.speed = 1.0 / slower
        grabbed = playing.hand.grab((0, -10, 5), (0, 1, 0))
        place = np.array(grabbed)
        while place[0] < grabbed[0] + 1.0:
            for _ in range(4):  # moves of the mouse within a frame
                now[0] += slower / interactive.RATE / 4
                place[0] += slower / interactive.RATE / 4  # 1 m/s for the person
                playing.hand.drag(place)
            go_on(playing)
        playing.hand.release()
        body = playing.hand.body_name or len(playing.hand.world.model.body_names) - 1
        speeds[slower] = float(momentum(playing.hand.world, body)[0] / playing.hand.world.model.body_mass[body])
        playing.end()
        bpy.data.objects.remove(bpy.data.objects[f"Ball {slower:g}"])
    assert 0.3 < speeds[1.0] < 2.5
    assert 0.1 < speeds[10.0] < 2.5


def test_a_rigid_body_is_grabbed_and_poked_as_well(begin: Any, weightless: None) -> None:
    box = add_ball("Box", kind="RIGID")
    playing = begin()
    assert playing.hand.grab((5, -10, 5), (0, 1, 0)) is None and not playing.hand.poke((0, -10, 5), (0, -1, 0))
    place = playing.hand.grab((0.3, -10, 5), (0, 1, 0))
    playing.hand.drag(place + (0, 0, 1))
    go_on(playing, 30)
    assert playing.hand.body_name == "Box"
    transform = playing.hand.world.rigid_transform(0)
    held = transform[:3, :3] @ place + transform[:3, 3]
    np.testing.assert_allclose(held, place + (0, 0, 1), atol=0.05)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(
        np.array(box.matrix_world)[:3, 3], transform[:3, :3] @ (0, 0, 5) + transform[:3, 3], atol=1e-5
    )
    playing.hand.release()
    before = playing.hand.world.rigid_velocity(0)[0]
    bpy.context.view_layer.update()
    centre = np.array(box.matrix_world)[:3, 3]
    assert playing.hand.poke(centre - (10, 0, 0), (2, 0, 0))
    go_on(playing)
    np.testing.assert_allclose(playing.hand.world.rigid_velocity(0)[0] - before, (hand._POKE_SPEED, 0, 0), atol=0.02)


@pytest.mark.usefixtures("falling")
def test_the_way_back_restores_every_bit_and_the_cache_and_the_frame(begin: Any) -> None:
    ball, box = add_ball(), add_ball("Box", (3, 0, 5), "RIGID")
    bpy.context.scene.softpressure.point_attributes = True
    play(1, 6)
    cache, before = this_run().cache, [fingerprint(ball), fingerprint(box)]
    playing = begin()
    go_on(playing, 20)
    assert height(ball) < 4.0 and bpy.context.scene.frame_current == 6
    frame(4)  # a timeline shows interactive play, and simulates nothing
    assert height(ball) < 4.0 and cache.last_frame == 6
    frame(6)
    playing.end()
    bpy.context.view_layer.update()
    assert [fingerprint(ball), fingerprint(box)] == before
    assert (
        this_run().cache is cache
        and this_session().activity is sessions.Activity.IDLE
        and this_session().display.pose is None
    )


def test_a_pressure_acts_in_the_next_frames_in_the_same_world(begin: Any, weightless: None) -> None:
    ball = add_ball(gauge_pressure=500.0, stretch_modulus=1e4)
    bpy.context.scene.softpressure.ambient_pressure = 0.0
    playing = begin()
    go_on(playing, 3)
    world, before = playing.hand.world, playing.hand.world.diagnostics().bodies[0].volume_ratio
    ball.softpressure.gauge_pressure = 2000.0
    go_on(playing, 6)
    assert playing.hand.world is world
    assert world.diagnostics().bodies[0].volume_ratio > 1.02 * before
    ball.softpressure.friction = 0.1
    go_on(playing)
    assert playing.hand.world is world and np.isclose(world.save().keyed.values[0], 0.1).any()


@pytest.mark.usefixtures("falling")
def test_the_overlay_shows_what_is_played_not_the_cache(begin: Any) -> None:
    ball, scene = add_ball(), bpy.context.scene
    scene.softpressure.overlay_colour = "FORCE"
    play(1, 8)

    def values(mode: str) -> Any:
        scene.softpressure.overlay_colour = mode
        return overlay.values_of(scene, ball, overlay.shape_of(ball, bpy.context.evaluated_depsgraph_get()))

    this_run().measured[8][0, measurements.PRESSURE] = 77.0
    cached = values("FORCE"), values("PRESSURE")
    count = np.arange(len(ball.data.vertices))
    playing = begin()
    values("FORCE")
    go_on(playing, 3)
    np.testing.assert_allclose(values("FORCE"), 3.0 * count)
    np.testing.assert_allclose(values("STRAIN"), 0.0, atol=1e-5)
    values("PRESSURE")
    go_on(playing)
    assert values("PRESSURE")[0] == playing.hand.world.diagnostics().bodies[0].gauge_pressure != cached[1][0]
    assert values("FORCE") is None  # not measured while the pressure was shown
    playing.end()
    np.testing.assert_array_equal(values("FORCE"), cached[0])
    np.testing.assert_array_equal(values("PRESSURE"), cached[1])


def test_another_mass_makes_a_model_that_keeps_positions_and_velocities(begin: Any) -> None:
    ball, box = add_ball(), add_ball("Box", (3, 0, 5), "RIGID", angular_velocity=(0, 0, 2))
    playing = begin()
    go_on(playing, 5)
    old, state = playing.hand.world, playing.hand.world.save()
    ball.softpressure.mass = box.softpressure.mass = 3.0
    finish(playing._follow(worker_thread.at_once))
    assert playing.hand.world is not old and playing.hand.world.model.body_mass.tolist()[:2] == [3.0, 3.0]
    kept = playing.hand.world.save()
    np.testing.assert_array_equal(kept.positions, state.positions)
    np.testing.assert_array_equal(kept.velocities, state.velocities)
    np.testing.assert_array_equal(kept.rigid.pose, state.rigid.pose)
    np.testing.assert_allclose(playing.hand.world.rigid_velocity(0), old.rigid_velocity(0), rtol=1e-12)
    go_on(playing, 2)
    assert height(ball) < 5.0


def test_other_cells_keep_place_turn_and_speed(begin: Any, weightless: None) -> None:
    ball = add_ball(body_type="SOLID", cell_size=0.4, velocity=(1, 0, 0))
    playing = begin()
    go_on(playing, 30)
    before = shown(ball)
    ball.softpressure.cell_size = 0.25
    finish(playing._follow(worker_thread.at_once))
    np.testing.assert_allclose(playing.hand.world.positions(0), before, atol=0.01)
    np.testing.assert_allclose(momentum(playing.hand.world), (ball.softpressure.mass, 0, 0), atol=1e-3)


@pytest.mark.usefixtures("falling")
def test_a_deleted_body_leaves_the_others_playing(begin: Any) -> None:
    ball, other = add_ball(), add_ball("Other", (3, 0, 5))
    playing = begin()
    go_on(playing, 3)
    low = height(ball)
    bpy.data.objects.remove(other)
    go_on(playing)
    assert playing.hand.world.model.body_names == ("Ball",) and height(ball) < low
    bpy.data.objects.remove(ball)
    with pytest.raises(SoftPressureError, match="Scene: no body to simulate"):
        go_on(playing)


@pytest.mark.usefixtures("falling")
def test_edit_mode_and_renders_end_it_with_a_sentence(begin: Any) -> None:
    ball = add_ball()
    before = fingerprint(ball)
    playing = begin()
    go_on(playing, 3)
    sessions.is_rendering = True
    with pytest.raises(jobs.Interrupted, match="a render has begun"):
        go_on(playing)
    sessions.is_rendering = False
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(jobs.Interrupted, match="Ball: is in Edit Mode"):
        go_on(playing)
    playing.end()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert fingerprint(ball)["vertices"] == before["vertices"] and fingerprint(ball)["Basis"] == before["Basis"]
    assert height(ball) == pytest.approx(5.0)


@pytest.mark.usefixtures("falling")
def test_undo_and_another_job_end_it() -> None:
    ball = add_ball()
    job = jobs.Job(interactive.InteractivePlay(bpy.context.scene).play())
    while this_session().display.pose is None:
        job.advance()
    assert this_session().activity is sessions.Activity.INTERACTIVE and not job.is_over
    row = [item for item in drawn(scene_panels.Simulation) if "live_play" in str(item)]
    assert not row  # Stop instead
    bpy.app.handlers.undo_pre[0](bpy.context.scene)
    assert job.is_over and this_session().display.pose is None and height(ball) == pytest.approx(5.0)
    worker_thread.wait()


@pytest.mark.usefixtures("falling")
def test_600_frames_keep_memory_flat(begin: Any) -> None:
    add_ball()
    bpy.context.scene.use_gravity = False
    playing = begin()

    def blocks(frames: int) -> int:
        """Memory blocks that Python has allocated after so many further frames."""
        for _ in range(frames // 50):
            go_on(playing, 50)
            FallingWorld.made[-1].given.clear()
        gc.collect()
        return sys.getallocatedblocks()

    before = blocks(300)  # by then the free lists of Python are filled
    grown = blocks(600) - before
    assert playing.frame == 900 and grown < 300  # an object in each frame would be 600


@pytest.mark.usefixtures("falling")
def test_a_pose_is_kept_as_a_shape_key_that_does_not_hinder_the_body() -> None:
    ball = add_ball()
    before = rest(ball)
    for count in (1, 2):
        assert bpy.ops.softpressure.live_play(frames=10, keep="SHAPE_KEY") == {"FINISHED"}
        assert len(ball.data.shape_keys.key_blocks) == 2 + count
    fallen = 9.81 * 10 * 11 / 2 / interactive.RATE**2
    for name in ("SP Pose", "SP Pose.001"):
        key = ball.data.shape_keys.key_blocks[name]
        assert key.value == 0.0
        np.testing.assert_allclose(mesh_io.read_key(key)[:, 2] + 5.0 - before[:, 2], -fallen, atol=1e-3)
    np.testing.assert_array_equal(rest(ball), before)
    play(1, 5)
    assert this_run().cache.last_frame == 5 and height(ball) < 5.0
    key.value = 0.5
    bpy.context.view_layer.update()
    assert problem_of(ball) == ""
    play(1, 2)
    assert this_run().start.bodies[0].positions[:, 2].mean() < 5.0  # it is part of the rest shape now


@pytest.mark.usefixtures("falling")
def test_a_pose_is_kept_as_the_new_start() -> None:
    ball, box = add_ball(), add_ball("Box", (3, 0, 5), "RIGID")
    turned = add_ball("Turned", (6, 0, 5))
    turned.modifiers.new("Bend", "SIMPLE_DEFORM")
    play(1, 5)
    frame(1)
    assert bpy.ops.softpressure.live_play(frames=10, keep="START") == {"FINISHED"}
    bpy.context.view_layer.update()
    fallen = 9.81 * 10 * 11 / 2 / interactive.RATE**2
    assert rest(ball)[:, 2].mean() == pytest.approx(5.0 - fallen, abs=1e-3)
    assert box.matrix_world[2][3] == pytest.approx(5.0 - fallen, abs=1e-3)
    assert rest(turned)[:, 2].mean() == pytest.approx(5.0, abs=1e-3)
    frame(2)
    frame(1)
    assert height(ball) == pytest.approx(5.0 - fallen, abs=1e-3)


@pytest.mark.usefixtures("falling")
def test_a_script_plays_without_keeping_anything() -> None:
    ball = add_ball()
    before = fingerprint(ball)
    assert bpy.ops.softpressure.live_play(frames=5) == {"FINISHED"}
    assert fingerprint(ball) == before


@pytest.mark.usefixtures("falling")
def test_live_says_why_nothing_moves_yet_before_it_reads_the_bodies() -> None:
    ball = add_ball()
    playing = interactive.InteractivePlay(bpy.context.scene)
    job = jobs.Job(playing.play())
    try:
        while not job.progress[2]:
            job.advance()
        assert playing.hand is None  # the window draws it before it reads them
        expected = f"Interactive: starting with {len(ball.data.vertices):,} vertices"
        assert run_state.of(bpy.context.scene).text == expected
    finally:
        job.end()
        playing.end()
