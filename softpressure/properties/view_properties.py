"""Settings of scenes for what is drawn in editors: curves and overlay. A simulation does not depend on them."""

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..state import measurements
from ..viewport.redraw import redraw

#: What the overlay colours soft bodies by.
COLOURS = (
    ("NONE", "None", "Leave the bodies as they are", 0),
    ("STRAIN", "Strain", "How much longer than in the first frame the edges at a vertex are", 1),
    ("PRESSURE", "Pressure", "Pressure of the gas above that of the air outside", 2),
    ("FORCE", "Contact Force", "Normal force of contacts on each vertex. Frames keep it that are simulated from the "
     "start while this or Point Attributes is on", 3),
)  # fmt: skip
_CURVES = [
    (column.identifier, column.label, column.what, 1 << number)
    for number, column in enumerate(measurements.COLUMNS[:-1])
]


def _flag(name: str, description: str) -> Any:
    return BoolProperty(name=name, description=description, default=False, options=set(), update=redraw)


class Curves:
    """Of the active body, in the Graph Editor."""

    show_curves: _flag(
        "Show Curves",
        "Draw what the active body measures over time in every Graph Editor, along its frames. The playhead "
        "reads the values of a frame",
    )
    curves: EnumProperty(
        name="Curves",
        description="Which curves are drawn",
        items=_CURVES,
        default={"VOLUME", "PRESSURE", "FORCE", "ENERGY", "STEPS"},
        options={"ENUM_FLAG"},
        update=redraw,
    )


class Overlay:
    """Over the bodies in the 3D viewport, with its overlays."""

    overlay_colour: EnumProperty(
        name="Colors",
        description="What soft bodies are colored by in the viewport, with a legend",
        items=COLOURS,
        default="NONE",
        options=set(),
        update=redraw,
    )
    overlay_limit: FloatProperty(
        name="Limit",
        description="Value at the end of the colors, in the unit of the legend: a share of the length for strain (0.1 "
        "is 10 %), pascals, or newtons. 0 is automatic: from the frame that is shown",
        default=0.0,
        min=0.0,
        precision=3,
        options=set(),
        update=redraw,
    )
    overlay_pins: _flag("Pins and Goals", "Mark vertices that follow the animation, and those pulled by goals")
    overlay_attachments: _flag("Attachments", "Mark vertices that are glued to another body, with a line to it")
    overlay_hoses: _flag("Hoses", "Show hoses as lines between their bodies, dim where the valve is closed")
    overlay_mesh: _flag(
        "Simulated Mesh", "Show the mesh that is simulated, where the drawn one follows another: even, or a cage"
    )
    overlay_particles: _flag(
        "Particles",
        "Show the feature particles that find contacts (Method > Contacts), in live play and at the last frame that is "
        "simulated",
    )
    overlay_thickness: _flag(
        "Thickness", "Show how far from each surface others are kept, as a shell around the bodies that move"
    )
