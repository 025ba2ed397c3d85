"""What modifiers do to a body that a person may not expect. Needs no solver."""

import bpy

from ..scene_io import modifier_stack, simulation_mesh_choice


def notes(obj: bpy.types.Object) -> list[tuple[str, str]]:
    """A sentence for each such modifier of a soft or rigid body, and the key of its fix in `fixes.FIXES`."""
    kind, found = obj.softpressure.kind, []
    if kind in {"SOFT", "RIGID"} and (name := modifier_stack.first_solver(obj)):
        text = f"{obj.name}: its modifier {name} simulates it a second time. Remove the modifier."
        found.append((text, "REMOVE_MODIFIER"))
    if kind == "SOFT" and (text := simulation_mesh_choice.unfollowed(obj)):
        found.append((text, "APPLY_MODIFIER"))
    return found
