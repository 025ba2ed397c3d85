"""Base of operators that take long: progress and Esc in a window, blocking in background and from scripts."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import bpy

from ..softpressure import session
from ..softpressure.blender_types import Context
from ..softpressure.engine import Progress
from .reports import report

#: How long the window may stand still between two events [s].
_TIME_SLICE = 0.1

if TYPE_CHECKING:
    _Base = bpy.types.Operator
else:
    _Base = object


class JobOperator(_Base):
    """Runs the generator that `job` makes. Closing the generator must leave everything consistent."""

    def job(self, context: Context) -> Iterator[Progress]:
        """The work, yielding (done, total, label)."""
        raise NotImplementedError

    def done_text(self, context: Context) -> str:
        """What to report at the end."""
        raise NotImplementedError

    def execute(self, context: Context) -> set[Any]:
        """All at once."""
        manager = context.window_manager
        manager.progress_begin(0.0, 1.0)
        try:
            for done, total, _ in self.job(context):
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
        manager = context.window_manager
        self._work = self.job(context)
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.progress_begin(0.0, 1.0)
        session.has_job = True
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: bpy.types.Event) -> set[Any]:
        """One slice per timer event; Esc stops."""
        if event.type == "ESC":
            self._end(context)
            self.report({"INFO"}, "Stopped. " + self.done_text(context))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        until = time.monotonic() + _TIME_SLICE
        try:
            while True:
                done, total, label = next(self._work)
                if time.monotonic() >= until:
                    break
        except StopIteration:
            self._end(context)
            self.report({"INFO"}, self.done_text(context))
            return {"FINISHED"}
        except Exception as error:
            self._end(context)
            return self._fail(error)
        context.window_manager.progress_update(done / max(total, 1))
        context.workspace.status_text_set(f"{label}, {done / max(total, 1):.0%}. Esc stops.")
        for area in context.screen.areas:
            area.tag_redraw()
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator (another file, quit)."""
        self._end(context)

    def _end(self, context: Context) -> None:
        session.has_job = False
        self._work.close()
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def _fail(self, error: Exception) -> set[Any]:
        for line in str(error).splitlines() or [repr(error)]:
            report(self, "ERROR", line)
        return {"CANCELLED"}
