"""Reports wrapped for the screen, and the wait cursor."""

import functools
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import bpy

from ..softpressure.bodies import wording
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.simulation.loading import SoftPressureError

#: Characters in a line of Blender's error popup, which does not wrap.
_WIDTH = 80


def report(operator: bpy.types.Operator, level: Literal["INFO", "WARNING", "ERROR"], sentence: str) -> None:
    """Report a sentence; an error is wrapped for the popup it opens. Scripts, without a window, get it as it is."""
    text = " ".join(sentence.split())
    if level == "ERROR" and not bpy.app.background:
        text = textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    operator.report({level}, text)


def finish(operator: bpy.types.Operator, notes: list[str], refusals: list[str]) -> set[Any]:
    """Report; an error only if nothing was done, so that scripts can rely on it."""
    for note in notes:
        report(operator, "INFO", note)
    for refusal in refusals:
        report(operator, "WARNING" if notes else "ERROR", refusal)
    return {"FINISHED"} if notes else {"CANCELLED"}


def reports_errors(cls: type[bpy.types.Operator]) -> type[bpy.types.Operator]:
    """Let an operator report a `SoftPressureError` of `execute` or `invoke` as its sentence instead of raising it."""
    run, begin = getattr(cls, "execute", None), getattr(cls, "invoke", None)
    if hasattr(run or begin, "__wrapped__"):
        return cls  # registered before
    if run is not None:

        @functools.wraps(run)
        def execute(self: bpy.types.Operator, context: Context) -> set[Any]:
            try:
                return run(self, context)
            except SoftPressureError as error:
                return finish(self, [], wording.of(error).splitlines())

        cls.execute = execute  # type: ignore[method-assign]
    if begin is not None:

        @functools.wraps(begin)
        def invoke(self: bpy.types.Operator, context: Context, event: bpy.types.Event) -> set[Any]:
            try:
                return begin(self, context, event)
            except SoftPressureError as error:
                return finish(self, [], wording.of(error).splitlines())

        cls.invoke = invoke  # type: ignore[method-assign]
    return cls


@contextmanager
def waiting(context: Context) -> Iterator[None]:
    """Show the wait cursor: with large meshes an operator takes most of a second."""
    window = None if bpy.app.background else context.window
    if window is not None:
        window.cursor_modal_set("WAIT")
    try:
        yield
    finally:
        if window is not None:
            window.cursor_modal_restore()
