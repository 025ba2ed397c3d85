"""Long operators in a window: progress, Esc, errors. Blender's window is played by stand-ins."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import bpy
import pytest
from bpy_panels import body_locked
from bpy_scene import add_ball
from softpressure_ext.operators import interactive, job, reports
from softpressure_ext.softpressure.state import jobs, status_bar


class Counting(job.JobOperator):
    """Counts to three, or fails on the way."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.was_closed = False
        self.reports: list[tuple[set[str], str]] = []

    def job(self, context: Any) -> jobs.Work:
        try:
            for done in (1, 2, 3):
                if self.fails and done == 2:
                    raise ValueError("Ball: broken.\nFloor: broken, too.")
                yield done, 3, f"Step {done}"
        except GeneratorExit:
            self.was_closed = True
            raise

    def done_text(self, context: Any) -> str:
        return "Counted"

    def report(self, kind: set[str], text: str) -> None:
        self.reports.append((kind, text))


@pytest.fixture
def in_window(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A context with a window, in which every slice of work is one step."""
    monkeypatch.setattr(job, "bpy", SimpleNamespace(app=SimpleNamespace(background=False)))
    monkeypatch.setattr(jobs, "_SLICE", 0.0)
    monkeypatch.setattr(job, "_SHOW_EVERY", 0.0)
    return MagicMock()


def event(kind: str, value: str = "PRESS") -> Any:
    return SimpleNamespace(type=kind, value=value)


@pytest.mark.smoke
def test_a_job_runs_slice_by_slice_and_reports(in_window: Any) -> None:
    context, operator = in_window, Counting()
    assert operator.invoke(context, event("X")) == {"RUNNING_MODAL"}
    assert operator.modal(context, event("MOUSEMOVE")) == {"RUNNING_MODAL"}
    results = [operator.modal(context, event("TIMER"))]
    while results[-1] == {"RUNNING_MODAL"}:
        results.append(operator.modal(context, event("TIMER")))
    assert results[-1] == {"FINISHED"}
    assert operator.reports == [({"INFO"}, "Counted")]
    shown = [call.args[0] for call in context.workspace.status_text_set.call_args_list]
    assert shown == ["Step 1, 33%. Esc stops.", "Step 2, 67%. Esc stops.", "Step 3, 100%. Esc stops.", None]
    context.window_manager.event_timer_remove.assert_called_once()


def test_escape_stops_a_job_and_closes_it(in_window: Any) -> None:
    context, operator = in_window, Counting()
    operator.invoke(context, event("X"))
    operator.modal(context, event("TIMER"))
    assert operator.modal(context, event("ESC")) == {"CANCELLED"}
    assert operator.was_closed
    context.window_manager.event_timer_remove.assert_called_once()
    context.window_manager.progress_end.assert_called_once()


def test_the_release_of_another_operator_s_escape_does_not_stop_a_job(in_window: Any) -> None:
    context, operator = in_window, Counting()
    operator.lets_go_on = True
    operator.invoke(context, event("X"))
    assert operator.modal(context, event("ESC", "RELEASE")) == {"PASS_THROUGH"}
    context.screen.is_animation_playing = True
    assert operator.modal(context, event("ESC")) == {"PASS_THROUGH"}  # it stops the playback
    assert not operator.was_closed
    context.screen.is_animation_playing = False
    assert operator.modal(context, event("ESC")) == {"CANCELLED"}


def test_a_job_that_cannot_begin_ends_with_its_sentence(in_window: Any) -> None:
    class Refused(Counting):
        def job(self, context: Any) -> jobs.Work:
            raise ValueError("Sweep: no settings are given. Write some.")

    operator = Refused()
    assert operator.invoke(in_window, event("X")) == {"CANCELLED"}
    assert operator.reports == [({"ERROR"}, "Sweep: no settings are given. Write some.")]
    in_window.window_manager.event_timer_add.assert_not_called()


def _area(kind: str, x: int, width: int, *regions: tuple[str, int, int]) -> Any:
    made = [SimpleNamespace(type=name, x=at, y=0, width=wide, height=100, data=name) for name, at, wide in regions]
    return SimpleNamespace(type=kind, x=x, y=0, width=width, height=100, regions=made)


@pytest.mark.parametrize(("x", "has_viewport", "has_view"), [(50, True, True), (180, True, False), (250, False, False)])
def test_live_play_takes_keys_over_the_sidebar_but_the_mouse_over_the_view_alone(
    x: int, has_viewport: bool, has_view: bool
) -> None:
    viewport = _area("VIEW_3D", 0, 200, ("WINDOW", 0, 200), ("UI", 150, 50))
    context = SimpleNamespace(
        window=SimpleNamespace(screen=SimpleNamespace(areas=[viewport, _area("OUTLINER", 200, 90)]))
    )
    mouse = SimpleNamespace(mouse_x=x, mouse_y=10)
    assert (interactive._viewport_at(context, mouse) is viewport) == has_viewport
    assert (interactive._view_at(interactive._viewport_at(context, mouse), mouse) is not None) == has_view


@pytest.mark.parametrize("way", ["finished", "escape", "failure"])
def test_panels_are_drawn_anew_once_a_job_is_over(in_window: Any, way: str) -> None:
    found: list[jobs.Job | None] = []  # the job that an area would have shown
    area = SimpleNamespace(type="OUTLINER", tag_redraw=lambda: found.append(jobs.current()))
    in_window.window_manager.windows = [SimpleNamespace(screen=SimpleNamespace(areas=[area]))] * 2
    operator = Counting(fails=way == "failure")
    operator.invoke(in_window, event("X"))
    operator.modal(in_window, event("TIMER"))
    while operator.modal(in_window, event("ESC" if way == "escape" else "TIMER")) == {"RUNNING_MODAL"}:
        pass
    assert found == [None, None]


def test_a_failing_job_reports_each_sentence() -> None:
    operator = Counting(fails=True)
    assert operator.execute(MagicMock()) == {"CANCELLED"}
    assert operator.reports == [({"ERROR"}, "Ball: broken."), ({"ERROR"}, "Floor: broken, too.")]


@pytest.mark.smoke
@pytest.mark.usefixtures("falling")
def test_the_fields_of_a_baked_body_are_locked() -> None:
    add_ball()
    assert {*body_locked()} == {"fill_share", "is_attached", "goal_stiffness", "goal_damping"}
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()
    fields = {
        "softpressure.set_type",
        "mass",
        "gauge_pressure",
        "self_collision",
        "goal_group",
        "velocity",
        "attach_to",
    }
    assert fields <= {*body_locked()}


def test_messages_are_wrapped_in_a_window_and_whole_for_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "Ball: its mesh Ball has 2 users; a soft body changes its own. " * 3
    operator = Counting()
    reports.report(operator, "ERROR", sentence)
    monkeypatch.setattr(reports, "bpy", SimpleNamespace(app=SimpleNamespace(background=False)))
    reports.report(operator, "ERROR", sentence)
    (_, whole), (_, wrapped) = operator.reports
    assert whole == sentence.strip() and " ".join(wrapped.split()) == " ".join(sentence.split())
    assert max(map(len, wrapped.splitlines())) <= 80 and len(wrapped.splitlines()) > 2


def test_messages_of_preparation_leave_the_status_bar_to_a_job(in_window: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    workspace = SimpleNamespace(status_text_set=said.append)
    window = SimpleNamespace(workspace=workspace, screen=SimpleNamespace(areas=[]))
    manager = SimpleNamespace(windows=[window])
    context = SimpleNamespace(window_manager=manager)
    monkeypatch.setattr(status_bar, "bpy", SimpleNamespace(context=context, app=bpy.app))
    operator = Counting()
    operator.invoke(in_window, event("X"))
    operator.modal(in_window, event("TIMER"))  # says: Step 1, 33%. Esc stops.
    status_bar.say("Soft Pressure: the solver is ready")
    status_bar.stop()
    assert said == []
    operator.modal(in_window, event("ESC"))
    status_bar.say("Soft Pressure: the solver is ready")
    assert said == ["Soft Pressure: the solver is ready"]
