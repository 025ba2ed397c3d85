"""Panel of what is wrong with bodies, and of the step reports of the current frame."""

from collections.abc import Iterable

from ..softpressure.reports import diagnosis
from ..softpressure.scene_io.blender_types import Context, Layout
from ..softpressure.state import sessions
from .layout import Part, draw_text, in_both_places

#: Islands that are shown, and reasons and pairs of each, at most.
_MOST_ISLANDS, _MOST_LINES = 8, 4


def draw_fixes(layout: Layout, object_name: str, names: Iterable[str]) -> None:
    """A button for each of these fixes of an object."""
    for name in names:
        from ..softpressure.bodies import fixes

        fix = fixes.FIXES[name]
        button = layout.operator("softpressure.fix", text=fix.label, icon=fix.icon)
        button.object_name, button.fix = object_name, name


class Diagnostics(Part):
    """Flaws of the bodies of the scene with their fixes, and the step reports of each island of bodies."""

    bl_label = "Diagnostics"
    switch = "analysis"

    @classmethod
    def is_used(cls, context: Context) -> bool:
        """Whether a check has been made."""
        return sessions.of(context.scene).checked is not None

    def draw(self, context: Context) -> None:
        """The button, its result while it is current, and islands."""
        layout = self.layout
        layout.operator("softpressure.check", icon="VIEWZOOM")
        _draw_flaws(layout, context)
        _draw_islands(layout, context)


def _draw_flaws(layout: Layout, context: Context) -> None:
    """The result of Check."""
    session = sessions.of(context.scene)
    if session.checked is None:
        return
    inputs, found = session.checked
    if inputs != session.inputs(context.scene):
        draw_text(layout, context, "The scene has changed: press Check again.", "INFO")
    elif not found:
        draw_text(layout, context, "No problems found.", "CHECKMARK")
    else:
        for flaw in found:
            box = layout.box()
            draw_text(box, context, flaw.sentence, "ERROR" if flaw.is_grave else "INFO")
            draw_fixes(box, flaw.object_name, flaw.fixes)


def _draw_islands(layout: Layout, context: Context) -> None:
    """Objects, reasons, figures and pairs in contact of each island."""
    found = diagnosis.islands(context.scene)
    if not found:
        draw_text(layout, context, diagnosis.why_empty(context.scene), "INFO")
    for island in found[:_MOST_ISLANDS]:
        box = layout.box()
        draw_text(box, context, island.title, "INFO" if island.reasons else "CHECKMARK")
        for sentences, what in (
            (island.reasons, "reasons"),
            (island.figures, "figures"),
            (island.pairs, "pairs in contact"),
        ):
            for sentence in sentences[:_MOST_LINES]:
                draw_text(box, context, sentence, "BLANK1")
            if len(sentences) > _MOST_LINES:
                draw_text(box, context, f"{len(sentences) - _MOST_LINES} more {what}.", "BLANK1")
    if len(found) > _MOST_ISLANDS:
        draw_text(layout, context, f"{len(found) - _MOST_ISLANDS} more islands.", "INFO")


SIDEBAR, SCENE = in_both_places(diagnostics=Diagnostics)

CLASSES = (*SIDEBAR, *SCENE)
