"""A start that takes long is made beside the main thread: it reports its time, and Esc stops it."""

import threading
import time
from collections import OrderedDict
from typing import Any

import bpy
import pytest
from bpy_scene import FallingWorld, add_ball, add_primitive, play
from bpy_seen import this_run, told
from softpressure_ext.core import ParameterError
from softpressure_ext.softpressure.scene_io import kept_meshes
from softpressure_ext.softpressure.simulation import build, run_start, simulate_job
from softpressure_ext.softpressure.state import jobs, worker_thread

pytestmark = pytest.mark.usefixtures("falling")


class SlowWorld(FallingWorld):
    """Takes a while to be made, and notes in which thread."""

    threads: list[threading.Thread] = []
    duration = 0.6  # [s]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        SlowWorld.threads.append(threading.current_thread())
        time.sleep(self.duration)
        super().__init__(*arguments, **options)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> type[SlowWorld]:
    """Worlds take a while to be made, and are expected to."""
    SlowWorld.threads.clear()
    monkeypatch.setattr(build, "World", SlowWorld)
    monkeypatch.setattr(run_start, "_PER_VERTEX", 0.1)
    return SlowWorld


@pytest.mark.smoke
def test_simulate_starts_beside_the_main_thread_and_says_how_long_it_takes(slow: type[SlowWorld]) -> None:
    ball = add_ball(simulation_mesh="DRAWN")  # whose start calls no kernel, which a window has loaded before
    labels, longest, since = [], 0.0, time.monotonic()
    for done, total, label in jobs.whole(simulate_job.simulate(bpy.context.scene)):
        labels.append(label)
        assert 0.0 <= done <= total
        longest, since = max(longest, time.monotonic() - since), time.monotonic()
    about = f"Starting, about {0.1 * len(ball.data.vertices):.0f} s"
    assert labels.count(about) > 5 and labels[-1] == "Frame 10 of 10"
    assert longest < 0.4  # the window is held for less than half a second
    assert slow.threads[0] is not threading.main_thread()
    assert this_run().cache.last_frame == 10


def test_a_start_can_be_stopped_and_made_again(slow: type[SlowWorld]) -> None:
    add_ball()
    job = simulate_job.simulate(bpy.context.scene)
    while not slow.threads:
        next(job)
    job.close()  # what Esc does
    assert this_run().cache is None and worker_thread.is_busy()
    play(1, 2)
    assert this_run().cache is None  # the timeline waits for what was given up
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}  # one after the other
    assert this_run().cache.last_frame == 10 and not worker_thread.is_busy()


def test_errors_of_the_thread_beside_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ParameterError("scene: substeps 0; give at least 1.")

    add_ball()
    monkeypatch.setattr(build, "World", fail)
    with pytest.raises(RuntimeError, match="substeps 0"):
        bpy.ops.softpressure.simulate()
    assert "substeps 0" in told() and not worker_thread.is_busy()


def test_a_start_that_takes_too_long_is_left_to_simulate(monkeypatch: pytest.MonkeyPatch) -> None:
    ball = add_ball()
    monkeypatch.setattr(run_start, "is_too_long_to_play", lambda _: True)
    monkeypatch.setattr(run_start, "_PER_VERTEX", 1.0)
    play(1, 3)
    assert this_run().cache is None
    assert f"Starting takes about {len(ball.data.vertices)} s: press Simulate" in told()
    bpy.context.scene.softpressure.frame_end = 3
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert "Starting" not in told()
    bpy.context.scene.softpressure.frame_end = 10
    play(1, 6)
    assert this_run().cache.last_frame == 6  # what has started goes on


def test_a_mesh_that_is_kept_starts_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_meshes, "_memory", OrderedDict())  # another test may have made it
    obj = add_primitive("monkey", location=(0, 0, 3))
    before = run_start.seconds(bpy.context.scene)
    assert bpy.ops.softpressure.make_meshes() == {"FINISHED"}
    assert before - run_start.seconds(bpy.context.scene) == pytest.approx(run_start._PER_DRAWN * len(obj.data.vertices))
