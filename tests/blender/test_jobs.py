"""Simulate as a job beside the window: its input, its end, and equality with playing."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import FallingWorld, add_ball, add_group, add_primitive, frame, key, play
from bpy_seen import shown, this_run, this_session, told
from softpressure_ext.core.cache import FrameCache
from softpressure_ext.panels import controls as controls_panel
from softpressure_ext.softpressure import handlers
from softpressure_ext.softpressure.cache import disk
from softpressure_ext.softpressure.simulation import simulate_job, timeline
from softpressure_ext.softpressure.state import jobs, sessions, worker_thread

pytestmark = pytest.mark.usefixtures("falling")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets how long a frame takes to step [s]; 20 ms to begin with."""
    seconds = [0.02]

    def advance_slowly(*arguments: Any) -> None:
        time.sleep(seconds[0])
        advance(*arguments)

    def take(duration: float) -> None:
        seconds[0] = duration

    advance = FallingWorld.advance_frame
    monkeypatch.setattr(FallingWorld, "advance_frame", advance_slowly)
    return take


def begin() -> jobs.Job:
    """A job that simulates the scene, as the window has it."""
    return jobs.Job(simulate_job.simulate(bpy.context.scene))


def last_frame() -> int:
    cache = this_run().cache
    return 0 if cache is None else int(cache.last_frame)


def go_on(job: jobs.Job, to_frame: int = 10**9) -> None:
    """Let it go on until a frame is done, or it is over."""
    until = time.monotonic() + 30.0
    while not job.is_over and last_frame() < to_frame:
        job.advance()
        time.sleep(0.002)
        assert time.monotonic() < until


def frames() -> list[Any]:
    """The cached positions of all bodies, by frame, and where rigid ones are."""
    cache = this_run().cache
    count, numbers = len(this_run().object_uids), range(cache.first_frame, cache.last_frame + 1)
    return [
        [part for body in range(count) for part in (cache.positions(body, at), cache.transform(body, at))]
        for at in numbers
    ]


def assert_same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


def given(world: FallingWorld) -> list[dict[Any, Any]]:
    """Where colliders and pins were, by frame."""
    return [
        input_.collider_positions | {f"pin {key}": at for key, at in input_.pinned_positions.items()}
        for input_ in world.given
    ]


def add_pinned_ball() -> Any:
    """A ball whose uppermost vertices follow its object, which moves and turns."""
    ball = add_ball()
    add_group(ball, "pin_group", [v.index for v in ball.data.vertices if v.co.z > 0.4])
    key(ball, "location", (1, (0, 0, 5)), (10, (2, 1, 5)))
    return ball


@pytest.mark.smoke
def test_reading_ahead_gives_the_input_of_playing() -> None:
    add_pinned_ball()
    floor = add_ball("Floor", (0, 0, -2), "COLLIDER")
    key(floor, "location", (1, (0, 0, -2)), (10, (0, 3, -1)))
    play(1, 10)
    played, read_live = frames(), given(FallingWorld.made[-1])
    assert bpy.ops.softpressure.reset() == {"FINISHED"}
    go_on(begin())
    assert_same(frames(), played)
    assert len(FallingWorld.made) == 2 and len(read_live) == 9
    for ours, theirs in zip(given(FallingWorld.made[-1]), read_live, strict=True):
        assert ours.keys() == theirs.keys() and len(ours) == 2
        for name, positions in ours.items():
            np.testing.assert_array_equal(positions, theirs[name])


def test_a_slice_takes_less_than_a_third_of_a_second_with_20_000_vertices() -> None:
    """Processor time of the main thread: a window that turns to others between slices stands still no longer."""
    add_primitive("uv_sphere", segments=200, ring_count=101, radius=0.5, location=(0, 0, 5))
    ball = bpy.context.object.softpressure
    ball.simulation_mesh, ball.simulation_vertices = "EVEN", 100
    # a collider is read in each frame
    moving = add_primitive("uv_sphere", "COLLIDER", segments=200, ring_count=101, radius=0.5, location=(3, 0, 0))
    key(moving, "location", (1, 0.0), (12, 3.0), index=2)
    bpy.context.scene.frame_end = 12
    job, taken, is_on = begin(), list[float](), True
    while is_on:
        before = time.thread_time()
        is_on = job.advance()
        taken.append(time.thread_time() - before)
        time.sleep(0.002)
    assert last_frame() == 12 and len(taken) > 10 and max(taken) < 0.3, max(taken)


def test_an_object_that_follows_a_simulated_body_is_read_after_its_frame() -> None:
    leader = add_ball("Leader", (0, 0, 5), "RIGID", velocity=(1.0, 0.0, 0.0))
    follower = add_ball("Follower", (3, 0, 5), "COLLIDER")
    follower.constraints.new("COPY_LOCATION").target = leader
    play(1, 10)
    played, read_live = frames(), given(FallingWorld.made[-1])
    moved = [positions[0].mean(axis=0) for positions in read_live if positions]
    assert len(moved) > 5  # from the second frame on
    assert moved[-1][0] - moved[-2][0] == pytest.approx(1 / 24, abs=1e-5)  # as the body does
    assert bpy.ops.softpressure.reset() == {"FINISHED"}
    go_on(begin())
    assert_same(frames(), played)
    for ours, theirs in zip(given(FallingWorld.made[-1]), read_live, strict=True):
        for name, positions in theirs.items():  # a job also says where things are that have not moved
            np.testing.assert_array_equal(positions, ours[name])


def test_the_frame_that_is_shown_stays_and_cached_frames_can_be_scrubbed(slow: Callable[[float], None]) -> None:
    ball = add_ball()
    frame(7)
    job = begin()
    go_on(job, 5)
    assert bpy.context.scene.frame_current == 7
    seen = {}
    for number in (2, 4, 3):
        frame(number)
        seen[number] = shown(ball)
    job.advance()
    assert bpy.context.scene.frame_current == 3 and not job.is_over
    go_on(job)
    assert job.is_over and last_frame() == 10 and len(FallingWorld.made) == 1
    for number, positions in seen.items():
        frame(number)
        np.testing.assert_array_equal(shown(ball), positions)


def test_a_window_that_waits_for_a_frame_shows_it_when_it_is_there(slow: Callable[[float], None]) -> None:
    ball = add_ball()
    frame(6)
    job = begin()
    go_on(job)
    at_6 = shown(ball)
    frame(6)
    np.testing.assert_array_equal(shown(ball), at_6)
    assert at_6[:, 2].mean() < 4.9


def test_a_second_job_ends_the_first_and_goes_on_from_its_last_frame(slow: Callable[[float], None]) -> None:
    add_ball()
    first = begin()
    go_on(first, 4)
    second = begin()
    assert first.is_over and jobs.current() is second
    go_on(second)
    assert last_frame() == 10 and len(FallingWorld.made) == 1 and jobs.current() is None


def test_a_changed_input_stops_it_with_a_sentence(slow: Callable[[float], None]) -> None:
    ball = add_ball(mass=1.0)
    job = begin()
    go_on(job, 4)
    ball.softpressure.mass = 3.0
    with pytest.raises(jobs.Interrupted, match=r"Scene: stopped at frame \d+, as a body or a setting was changed"):
        go_on(job)
    assert job.is_over and 4 <= last_frame() < 10
    worker_thread.wait()
    assert not this_session().refusals.error and this_session().is_out_of_date(bpy.context.scene)
    ball.softpressure.mass = 1.0  # it was a mistake: nothing is lost
    go_on(begin())
    assert last_frame() == 10 and len(FallingWorld.made) == 1


def test_work_on_other_objects_does_not_stop_it(slow: Callable[[float], None]) -> None:
    add_ball()
    other = add_ball("Other", (5, 0, 0), None)
    job = begin()
    go_on(job, 3)
    other.location.x = 7.0
    bpy.ops.mesh.primitive_cube_add()
    go_on(job)
    assert last_frame() == 10 and len(FallingWorld.made) == 1


@pytest.mark.parametrize("what", ["remove", "undo", "load"])
def test_operations_that_replace_data_end_it_first(slow: Callable[[float], None], what: str, tmp_path: Path) -> None:
    ball = add_ball()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "ball.blend"))
    job = begin()
    go_on(job, 4)
    if what == "remove":
        bpy.data.objects.remove(ball)
        bpy.context.view_layer.update()  # as a window does
        with pytest.raises(jobs.Interrupted):
            go_on(job)
    elif what == "undo":
        handlers.on_data_replaced(bpy.context.scene)  # without a window there is no undo
    else:
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "ball.blend"))
    assert job.is_over and jobs.current() is None
    worker_thread.wait()
    assert this_session().activity is sessions.Activity.IDLE and this_run().stepper is None


@pytest.mark.smoke
def test_a_file_saved_in_mid_job_has_the_frames_that_were_done(slow: Callable[[float], None], tmp_path: Path) -> None:
    add_ball()
    job = begin()
    go_on(job, 4)
    path = tmp_path / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    go_on(job, last_frame() + 2)
    place = disk.path_of(bpy.context.scene)
    assert place is not None
    saved = FrameCache.load(place)
    assert 4 <= saved.last_frame < 10
    go_on(job)
    whole = frames()
    assert saved.state is not None and int(saved.state["frame"]) == saved.last_frame - 1
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert last_frame() == 10  # it is written whole at the end
    assert_same(frames(), whole)


def test_nothing_is_evaluated_while_a_frame_is_rendered_or_a_body_is_edited(
    slow: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    monkeypatch.setattr(simulate_job.stepping.Stepper, "_most_bytes", 0.0)
    original = simulate_job.stepping.read
    monkeypatch.setattr(simulate_job.stepping, "read", lambda *it: read.append(it[-1]) or original(*it))
    add_ball()
    job = begin()
    go_on(job, 3)
    for hold_up in ("rendering", "editing"):
        if hold_up == "rendering":
            sessions.is_rendering = True
        else:
            monkeypatch.setattr(sessions, "waits_for", lambda _: "Ball: is in Edit Mode.")
        ahead = len(read)
        for _ in range(20):
            job.advance()
            time.sleep(0.005)
        assert len(read) == ahead < 9 and not job.is_over
        sessions.is_rendering = False
    monkeypatch.undo()
    go_on(job)
    assert last_frame() == 10


def test_reading_ahead_stops_where_it_would_take_too_much_memory(
    slow: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_pinned_ball()
    monkeypatch.setattr(simulate_job.stepping.Stepper, "_most_bytes", 0.0)
    job = begin()
    go_on(job, 2)
    slow(0.2)
    until = time.monotonic() + 0.15
    while time.monotonic() < until:
        job.advance()
    stepper = this_run().stepper
    assert stepper is not None and not stepper.has_room()
    assert stepper._given_count - stepper._done_count == 2
    go_on(job)
    assert last_frame() == 10


def test_the_panel_has_stop_in_place_of_simulate_while_it_runs(slow: Callable[[float], None]) -> None:
    add_ball()
    panel = controls_panel.SOFTPRESSURE_PT_controls
    before = drawn(panel)
    assert "softpressure.simulate" in before and "softpressure.stop" not in before
    job = begin()
    go_on(job, 4)
    meanwhile = drawn(panel)
    assert "softpressure.stop" in meanwhile and "softpressure.simulate" not in meanwhile
    assert any(text.startswith("Frame ") and text.endswith(" left") for text in meanwhile)
    # nothing moves under the mouse
    assert meanwhile.index("softpressure.stop") == before.index("softpressure.simulate")
    assert bpy.ops.softpressure.stop() == {"FINISHED"}
    assert job.is_over and 4 <= last_frame() < 10
    assert "softpressure.simulate" in drawn(panel)


def test_a_timeline_leaves_frames_that_take_long_to_simulate(
    slow: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_ball()
    play(1, 3)
    slow(0.06)
    play(4, 5)
    monkeypatch.setattr(timeline, "_SLOWEST", 0.05)
    assert not timeline.is_too_slow(this_session())  # without a window nobody waits
    monkeypatch.setattr(timeline, "is_too_slow", lambda session: session.run.seconds[-1] > timeline._SLOWEST)
    play(6, 8)
    assert last_frame() == 5
    assert "press Simulate" in told()
    go_on(begin())
    assert last_frame() == 10 and len(FallingWorld.made) == 1
