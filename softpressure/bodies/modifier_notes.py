"""What modifiers do to a body that a person may not expect. Needs no solver."""

import bpy

from ..scene_io import mesh_io, modifier_stack, simulation_mesh_choice
from ..state import sessions


def notes(obj: bpy.types.Object) -> list[tuple[str, str]]:
    """A sentence for each such modifier of a soft or rigid body, and the key of its fix in `fixes.FIXES`."""
    kind, found = obj.softpressure.kind, []
    if kind in {"SOFT", "RIGID"} and (name := modifier_stack.first_solver(obj)):
        text = f"{obj.name}: its modifier {name} simulates it a second time. Remove the modifier."
        found.append((text, "REMOVE_MODIFIER"))
    if kind == "SOFT" and (text := simulation_mesh_choice.unfollowed(obj)):
        found.append((text, "APPLY_MODIFIER"))
    elif name := thickening(obj):
        text = (
            f"{obj.name}: its modifier {name} draws the full thickness where the jelly is squeezed, into what it lies "
            "on. Apply it, or set its Offset to 1 if nothing lies on the jelly."
        )
        found.append((text, "APPLY_MODIFIER"))
    return found


def thickening(obj: bpy.types.Object) -> str:
    """The name of a Solidify that gives a sheet of jelly a side which is not drawn where it is simulated; or empty.

    What it adds to a closed mesh is within.
    """
    settings = obj.softpressure
    if settings.kind != "SOFT" or settings.body_type != "SOLID" or not simulation_mesh_choice.may_be_even(obj):
        return ""
    name = modifier_stack.first_thickening(obj)
    if not name or mesh_io.is_edited(obj):
        return ""
    key = ("is open", obj.session_uid)
    return name if sessions.memo.get(key, lambda: bool(len(mesh_io.read_outline(obj.data)))) else ""
