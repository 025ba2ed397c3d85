"""Panels of what is drawn in editors: curves in the Graph Editor, and the overlay in the 3D viewport."""

from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import sessions
from ..softpressure.viewport import curves
from .layout import Part, draw_text, in_both_places

_MARKS = tuple(f"overlay_{each}" for each in ("pins", "attachments", "hoses", "particles", "mesh", "thickness"))


class Curves(Part):
    """What the active body measures over time."""

    bl_label = "Curves"
    switch = "analysis"

    @classmethod
    def is_used(cls, context: Context) -> bool:
        """Whether curves are shown."""
        return bool(context.scene.softpressure.show_curves)

    def draw(self, context: Context) -> None:
        """Which curves, where they are drawn, and as a file."""
        layout, settings = self.layout, context.scene.softpressure
        layout.prop(settings, "show_curves", text="Show in Graph Editor")
        column = layout.column(align=True)
        column.enabled = settings.show_curves
        column.prop(settings, "curves")
        if settings.show_curves:
            sentence = curves.note(context.scene, context.object)
            if sentence:
                draw_text(layout, context, sentence, "INFO")
        screen = getattr(context, "screen", None)
        if screen is not None and not any(area.ui_type == "FCURVES" for area in screen.areas):
            layout.operator("softpressure.open_curves", icon="GRAPH")
        row = layout.row()
        row.enabled = bool(sessions.of(context.scene).run.measured)
        row.operator("softpressure.export", text="Export CSV", icon="EXPORT").format = "CSV"


class Overlay(Part):
    """What the viewport shows over the bodies."""

    bl_label = "Overlay"
    switch = "analysis"

    @classmethod
    def is_used(cls, context: Context) -> bool:
        """Whether anything is overlaid."""
        settings = context.scene.softpressure
        return settings.overlay_colour != "NONE" or any(getattr(settings, name) for name in _MARKS)

    def draw(self, context: Context) -> None:
        """Colors and marks."""
        layout, settings = self.layout, context.scene.softpressure
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(settings, "overlay_colour")
        row = layout.row()
        row.enabled = settings.overlay_colour != "NONE"
        row.prop(settings, "overlay_limit", text="Limit" if settings.overlay_limit else "Limit (auto)")
        column = layout.column(heading="Show")
        for name in _MARKS:
            column.prop(settings, name)


SIDEBAR, SCENE = in_both_places(curves=Curves, overlay=Overlay)

CLASSES = (*SIDEBAR, *SCENE)
