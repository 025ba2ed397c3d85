"""What all panels share."""

import textwrap

from ..softpressure.blender_types import Context, Layout

CATEGORY = "Soft Pressure"


def draw_text(layout: Layout, context: Context, text: str, icon: str = "ERROR") -> None:
    """A sentence, wrapped to the width of the region, with an icon at its first line."""
    scale = context.preferences.system.ui_scale
    width = max(20, int((context.region.width / scale - 60) / 6.5))
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(text, width)):
        column.label(text=line, icon=icon if number == 0 else "BLANK1")
