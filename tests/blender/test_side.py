"""Work of Blender's side per frame, counted and never timed, and messages while the solver is compiled."""

import time
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
import softpressure_ext
from bpy_scene import FallingWorld, add_ball, add_floor, add_group, add_object, frame, play
from bpy_seen import this_run, this_session
from softpressure_ext.core import prepare
from softpressure_ext.core.cache import FrameCache
from softpressure_ext.softpressure.scene_io import digests, mesh_io
from softpressure_ext.softpressure.simulation import build, capture, kernels, run_start
from softpressure_ext.softpressure.state import input_digest, sessions, status_bar


class Calls(Counter[str]):
    """How often functions were called."""

    def watch(self, monkeypatch: pytest.MonkeyPatch, owner: Any, *names: str) -> None:
        """Count the calls of these functions of a module or class."""
        for name in names:
            function = getattr(owner, name)

            def counted(*arguments: Any, _name: str = name, _function: Any = function, **options: Any) -> Any:
                self[_name] += 1
                return _function(*arguments, **options)

            monkeypatch.setattr(owner, name, counted)


@pytest.fixture
def calls(falling: type[FallingWorld], monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Calls that read, write or name all vertices of a body, or ask the solver about all."""
    found = Calls()
    found.watch(monkeypatch, mesh_io, "read_local", "read_key", "read_triangles", "read_outline", "group_vertices")
    found.watch(monkeypatch, mesh_io, "write_key", "to_world", "to_local")
    found.watch(monkeypatch, input_digest, "of_inputs")
    found.watch(monkeypatch, digests, "of_arrays")
    found.watch(monkeypatch, falling, "advance_frame", "positions", "diagnostics", "save")
    found.watch(monkeypatch, capture, "start")
    found.watch(monkeypatch, build, "world_of")
    found.watch(monkeypatch, FrameCache, "append")
    return found


def per_frame(calls: Calls, first: int, last: int) -> dict[str, float]:
    """Calls per frame while these are played as a window does it, each frame followed by an update."""
    calls.clear()
    for number in range(first, last + 1):
        frame(number)
        bpy.context.view_layer.update()
    return {name: count / (last - first + 1) for name, count in calls.items()}


def test_a_frame_writes_each_body_once_and_reads_no_mesh(calls: Calls) -> None:
    for number in range(3):
        add_ball(f"Ball {number}", (2 * number, 0, 5), modulus=1e4)
    add_floor(-20.0)
    play(1, 3)
    assert per_frame(calls, 4, 8) == {
        "advance_frame": 1,
        "diagnostics": 1,
        "positions": 3,
        "append": 1,
        "to_local": 3,
        "write_key": 3,
    }


def test_deforming_colliders_are_read_once_per_frame(calls: Calls) -> None:
    ball = add_ball()
    add_group(ball, "pin_group", [0, 1])
    add_ball("Free", (3, 0, 5))
    add_floor(-20.0).modifiers.new("Wave", "WAVE")
    play(1, 3)
    found = per_frame(calls, 4, 8)
    assert found["read_local"] == found["to_world"] == 2  # the pinned body and the collider
    assert found["write_key"] == found["to_local"] == 2
    assert "group_vertices" not in found and "read_triangles" not in found


def test_bodies_are_found_whatever_a_script_does_to_the_scene(falling: type[FallingWorld]) -> None:
    """Only objects with a kind are asked each time; nothing tells of what a script adds, removes or renames."""
    ball, scene = add_ball(), bpy.context.scene
    assert sessions.objects(scene, "SOFT") == [ball]
    other = add_object("A", ball.data.copy())
    assert sessions.objects(scene, "SOFT", "RIGID") == [ball]
    other.softpressure.kind = "RIGID"
    assert sessions.objects(scene, "SOFT", "RIGID") == [other, ball]
    other.name = "Z"
    assert sessions.objects(scene, "SOFT", "RIGID") == [ball, other]
    scene.collection.objects.unlink(other)
    assert sessions.objects(scene, "SOFT", "RIGID") == [ball]
    scene.collection.objects.link(other)
    bpy.data.objects.remove(ball)
    assert sessions.objects(scene, "SOFT", "RIGID") == [other]
    other.softpressure.kind = "NONE"
    assert not sessions.objects(scene, "SOFT", "RIGID")
    assert not sessions.has_bodies(scene)


def test_the_meshes_are_hashed_after_an_edit_only(calls: Calls) -> None:
    ball = add_ball()
    play(1, 3)
    assert "of_inputs" not in per_frame(calls, 4, 5)
    bpy.context.scene.frame_set(5)
    ball.location.x += 1.0
    bpy.context.view_layer.update()
    # out of date, so nothing is simulated; what is shown is written once, for the new matrix
    assert per_frame(calls, 6, 9) == dict.fromkeys(("of_inputs", "read_key", "to_local", "write_key"), 0.25)


def test_playing_from_the_cache_asks_the_solver_nothing(calls: Calls) -> None:
    add_ball()
    add_floor(-20.0)
    play(1, 6)
    assert per_frame(calls, 2, 6) == {"to_local": 1, "write_key": 1}
    calls.clear()
    frame(6)
    assert not calls  # the same frame again


WAITING = prepare.Progress(0.3, "Compiling, once: about 55 s left")


class Said:
    """What the status bar shows, one after the other; the kernels, which are not ready."""

    def __init__(self) -> None:
        self.sentences: list[str | None] = []
        self.prepared: set[str] = set()
        self.asked: list[str] = []
        self.is_running = False
        self.failure: Exception | None = None


@pytest.fixture
def first_start(monkeypatch: pytest.MonkeyPatch, falling: type[FallingWorld]) -> Iterator[Said]:
    """A window in which nothing has ever been compiled; nothing is compiled here either."""
    said = Said()

    def start(jobs: tuple[prepare.Job, ...]) -> None:
        said.asked += [job.solver for job in jobs]
        said.is_running = True

    def prepare_all(jobs: tuple[prepare.Job, ...]) -> Iterator[prepare.Progress]:
        said.prepared |= {job.solver for job in jobs}
        yield WAITING

    monkeypatch.setattr(prepare, "is_prepared", lambda jobs: {job.solver for job in jobs} <= said.prepared)
    monkeypatch.setattr(prepare, "is_compiled", lambda jobs: {job.solver for job in jobs} <= said.prepared)
    monkeypatch.setattr(prepare, "start", start)
    monkeypatch.setattr(prepare, "prepare", prepare_all)
    monkeypatch.setattr(prepare, "is_running", lambda: said.is_running)
    monkeypatch.setattr(prepare, "failure", lambda: said.failure)
    monkeypatch.setattr(prepare, "progress", lambda: WAITING)
    monkeypatch.setattr(status_bar, "_show", said.sentences.append)
    window = SimpleNamespace(app=SimpleNamespace(background=False))
    monkeypatch.setattr(run_start, "bpy", window)
    yield said
    for timer in (kernels._show_progress, status_bar._clear):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)


def test_a_timeline_waits_for_kernels_and_says_so(first_start: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    add_ball()
    play(1, 4)
    assert this_run().cache is None and not FallingWorld.made  # to make a world needs kernels, too
    assert set(first_start.asked) == {"EXPLICIT"}
    assert bpy.app.timers.is_registered(kernels._show_progress)
    assert kernels._show_progress() == kernels._SAY_EVERY
    assert first_start.sentences[-1] == "Soft Pressure: Compiling, once: about 55 s left"
    assert status_bar.preparing() == WAITING

    first_start.is_running = False
    first_start.prepared.add("EXPLICIT")
    assert kernels._show_progress() is None
    assert first_start.sentences[-1] == "Soft Pressure: the solver is ready"
    bpy.app.timers.unregister(kernels._show_progress)
    assert bpy.app.timers.is_registered(status_bar._clear)
    monkeypatch.setattr(status_bar, "_until", time.monotonic() + 1.0)
    assert 0.0 < (status_bar._clear() or 0.0) <= 1.0
    monkeypatch.setattr(status_bar, "_until", time.monotonic())
    assert status_bar._clear() is None
    assert first_start.sentences[-1] is None  # the status bar is Blender's again
    play(1, 4)
    assert this_run().cache.last_frame == 4


def test_kernels_in_files_are_not_waited_for(first_start: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "is_compiled", lambda _: True)
    add_ball()
    play(1, 3)
    assert this_run().cache.last_frame == 3 and first_start.asked == []
    kernels.load(bpy.context.scene)  # as where a body is added in a window
    assert set(first_start.asked) == {"EXPLICIT"} and first_start.sentences == []


def test_disabling_the_extension_gives_the_status_bar_back(first_start: Said) -> None:
    add_ball()
    play(1, 2)
    kernels._show_progress()
    softpressure_ext.unregister()
    try:
        assert first_start.sentences[-1] is None
        assert not bpy.app.timers.is_registered(kernels._show_progress)
    finally:
        softpressure_ext.register()


def test_another_method_is_prepared_when_it_is_used(first_start: Said) -> None:
    first_start.prepared.add("EXPLICIT")
    add_ball()
    play(1, 3)
    assert this_run().cache.last_frame == 3 and first_start.asked == []
    bpy.context.scene.softpressure.solver = "XPBD"
    play(1, 3)
    assert len(FallingWorld.made) == 1 and set(first_start.asked) == {"XPBD"}
    assert this_session().is_out_of_date(bpy.context.scene)


def test_a_failing_compiler_is_reported(first_start: Said) -> None:
    add_ball()
    play(1, 2)
    first_start.is_running, first_start.failure = False, prepare._failed("no space left.")
    kernels._show_progress()
    sentence = first_start.sentences[-1]
    assert "compiling it failed" in sentence and "no space left" in sentence and "Try again" in sentence


def test_simulate_reports_compilation_once(first_start: Said, capfd: pytest.CaptureFixture[str]) -> None:
    add_ball()
    for expected in (1, 0):
        assert bpy.ops.softpressure.simulate() == {"FINISHED"}
        assert capfd.readouterr().out.count("Compiling the solver, once") == expected


def test_a_timeline_that_plays_begins_anew_when_the_solver_is_ready(
    first_start: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_ball()
    play(1, 4)
    scene = bpy.context.scene
    window = SimpleNamespace(scene=scene, screen=SimpleNamespace(is_animation_playing=True))
    manager = SimpleNamespace(windows=[window])
    monkeypatch.setattr(
        kernels, "bpy", SimpleNamespace(context=SimpleNamespace(window_manager=manager), app=bpy.app, data=bpy.data)
    )
    first_start.is_running = False
    first_start.prepared.add("EXPLICIT")
    assert kernels._show_progress() is None
    assert scene.frame_current == 1 and this_run().cache.last_frame == 1
    window.screen.is_animation_playing = False
    scene.frame_set(7)
    kernels._play_from_start(scene)
    assert scene.frame_current == 7  # nobody plays
