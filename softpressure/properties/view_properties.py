"""Settings of scenes for what is drawn in editors: curves and overlay. A simulation does not depend on them."""

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..state import measurements
from ..viewport.redraw import redraw

#: What the overlay colours soft bodies by.
COLOURS = (
    ("NONE", "None", "No colors", 0),
    ("STRAIN", "Strain", "How much longer the edges at a vertex are than in the first frame", 1),
    ("PRESSURE", "Pressure", "Pressure above that of the air outside", 2),
    ("FORCE", "Contact Force", "Normal force on each vertex, recorded from the first frame on while this is chosen", 3),
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
        "Draw quantities of the active body over time in the Graph Editor; the playhead reads values",
    )
    curves: EnumProperty(
        name="Curves",
        description="Quantities to draw",
        items=_CURVES,
        default={"VOLUME", "PRESSURE", "FORCE", "ENERGY", "STEPS"},
        options={"ENUM_FLAG"},
        update=redraw,
    )


class Overlay:
    """Over the bodies in the 3D viewport, with its overlays."""

    overlay_colour: EnumProperty(
        name="Colors",
        description="Quantity that colors soft bodies in the viewport",
        items=COLOURS,
        default="NONE",
        options=set(),
        update=redraw,
    )
    overlay_limit: FloatProperty(
        name="Limit",
        description="Value at the end of the color range, in the unit of the legend; 0 is automatic",
        default=0.0,
        min=0.0,
        precision=3,
        options=set(),
        update=redraw,
    )
    overlay_pins: _flag("Pins and Goals", "Mark vertices that are pinned or pulled by goals")
    overlay_attachments: _flag("Attachments", "Mark vertices that are glued to another body")
    overlay_hoses: _flag("Hoses", "Show hoses as lines between their bodies")
    overlay_mesh: _flag("Simulated Mesh", "Show the mesh that is simulated instead of the mesh of the object")
    overlay_particles: _flag(
        "Particles",
        "Show the feature particles that find contacts, if Method > Contacts has them",
    )
    overlay_thickness: _flag("Thickness", "Show the distance kept from other surfaces, as a shell")
