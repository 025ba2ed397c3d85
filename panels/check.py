"""Panel of flaws of bodies, with buttons for their fixes."""

from collections.abc import Iterable

from ..softpressure.scene_io.blender_types import Context, Layout
from ..softpressure.state import sessions
from .layout import draw_text, in_both_places


def draw_fixes(layout: Layout, object_name: str, names: Iterable[str]) -> None:
    """A button for each of these fixes of an object."""
    for name in names:
        from ..softpressure.bodies import fixes

        fix = fixes.FIXES[name]
        button = layout.operator("softpressure.fix", text=fix.label, icon=fix.icon)
        button.object_name, button.fix = object_name, name


class Check:
    """Flaws of the bodies of the scene."""

    layout: Layout
    bl_label = "Check"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """The button, and its result while it is current."""
        layout = self.layout
        layout.operator("softpressure.check", icon="VIEWZOOM")
        session = sessions.of(context.scene)
        if session.checked is None:
            return
        inputs, found = session.checked
        if inputs != session.inputs(context.scene):
            draw_text(layout, context, "Something has changed since: press Check again.", "INFO")
        elif not found:
            draw_text(layout, context, "Nothing is wrong.", "CHECKMARK")
        else:
            for flaw in found:
                box = layout.box()
                draw_text(box, context, flaw.sentence, "ERROR" if flaw.is_grave else "INFO")
                draw_fixes(box, flaw.object_name, flaw.fixes)


SIDEBAR, PHYSICS = in_both_places(check=Check)
(SOFTPRESSURE_PT_check,) = SIDEBAR

CLASSES = (*SIDEBAR, *PHYSICS)
