"""Base of operators that take long: progress and Esc in a window, blocking in background and from scripts."""

import time
from typing import Any

import bpy

from ..softpressure.bodies import wording
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import jobs, sessions
from .needs import NeedingOperator
from .reports import report

#: How often progress is shown at most [s].
_SHOW_EVERY = 0.2


def redraw_progress(manager: bpy.types.WindowManager) -> None:
    """Redraw what shows how far a job is: sidebars of 3D viewports, Properties and the timeline."""
    for window in manager.windows:
        for area in window.screen.areas:
            is_panel = area.type == "PROPERTIES" and area.spaces.active.context in {"PHYSICS", "SCENE"}
            if is_panel or area.type == "DOPESHEET_EDITOR":  # whose timeline shows the cached range
                area.tag_redraw()
            for region in area.regions if area.type == "VIEW_3D" else ():
                if region.type == "UI" and region.width > 1:  # else it is closed
                    region.tag_redraw()


class JobOperator(NeedingOperator):
    """Runs the generator that `job` makes. Closing the generator must leave everything consistent."""

    bl_options = {"REGISTER"}
    #: Whether a person can go on meanwhile; else events other than Esc are kept from the window.
    lets_go_on = False
    #: How often a window works on it [s].
    every = 0.02

    def job(self, context: Context) -> jobs.Work:
        """The work, yielding (done, total, label), or None while it waits."""
        raise NotImplementedError

    def done_text(self, context: Context) -> str:
        """What to report at the end."""
        raise NotImplementedError

    def execute(self, context: Context) -> set[Any]:
        """All at once."""
        jobs.end()
        sessions.mark_all()  # what a script changes before it sets a frame is evaluated with that, without a word
        manager = context.window_manager
        manager.progress_begin(0.0, 1.0)
        try:
            for done, total, _ in jobs.whole(self.job(context)):
                manager.progress_update(done / max(total, 1))
        except Exception as error:
            return self._fail(error)
        finally:
            manager.progress_end()
        self.report({"INFO"}, self.done_text(context))
        return {"FINISHED"}

    def invoke(self, context: Context, _event: bpy.types.Event) -> set[Any]:
        """Slice by slice, so that the window stays alive."""
        if bpy.app.background:
            return self.execute(context)
        self._said, self._next = "", 0.0
        try:
            self._job = jobs.Job(self.job(context))
        except Exception as error:
            return self._fail(error)
        manager = context.window_manager
        self._timer = manager.event_timer_add(self.every, window=context.window)
        manager.progress_begin(0.0, 1.0)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: bpy.types.Event) -> set[Any]:
        """One slice per timer event; Esc stops. So does whatever replaces the data or begins another job."""
        if self._job.is_over or self.is_stopped_by(context, event):
            self.cancel(context)
            self.report({"INFO"}, "Stopped. " + self.done_text(context))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH" if self.lets_go_on else "RUNNING_MODAL"}
        try:
            goes_on = self._job.advance()
        except Exception as error:
            self.cancel(context)
            return self._fail(error)
        if not goes_on:
            self.cancel(context)
            self.report({"INFO"}, self.done_text(context))
            return {"FINISHED"}
        self.show_progress(context, self._job)
        return {"PASS_THROUGH" if self.lets_go_on else "RUNNING_MODAL"}

    def is_stopped_by(self, context: Context, event: bpy.types.Event) -> bool:
        """Whether an event is the Esc that stops the job.

        Another operator or a text field takes the press of its own Esc and leaves the release to the job; the Esc that
        ends playback reaches the job first.
        """
        if event.type != "ESC" or event.value != "PRESS":
            return False
        return not (self.lets_go_on and context.screen is not None and context.screen.is_animation_playing)

    def show_progress(self, context: Context, job: jobs.Job) -> None:
        """Show the progress after a slice, where it is shown and has changed; views follow their data themselves."""
        text = f"{job.progress[2]}, {job.share:.0%}. Esc stops."
        if text == self._said or time.monotonic() < self._next:
            return
        self._said, self._next = text, time.monotonic() + _SHOW_EVERY
        context.window_manager.progress_update(job.share)
        context.workspace.status_text_set(text)
        redraw_progress(context.window_manager)

    def cancel(self, context: Context) -> None:
        """Blender ends the operator (another file, quit), or it is over."""
        self._job.end()
        manager = context.window_manager
        manager.event_timer_remove(self._timer)
        manager.progress_end()
        if context.workspace is not None:  # the window is closed
            context.workspace.status_text_set(None)
        for window in manager.windows:
            for area in window.screen.areas:
                area.tag_redraw()  # until then panels offer to stop it

    def _fail(self, error: Exception) -> set[Any]:
        for line in wording.of(error).splitlines() or [repr(error)]:
            report(self, "WARNING" if isinstance(error, jobs.Interrupted) else "ERROR", line)
        return {"CANCELLED"}
