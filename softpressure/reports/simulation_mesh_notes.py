"""What the panel says of the mesh that a soft body simulates. Needs no solver."""

import bpy

from ...core.parameters.methods import FORCE_BASED
from ..scene_io.simulation_mesh_choice import may_be_even, vertex_count
from ..state import sessions

#: Fewer drawn vertices than this show little of how a body bends.
_FEW = 100


def text(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """What a body simulates: `Simulates 1,012 even vertices for 2,903 drawn`; empty for what is simulated as drawn."""
    settings, mesh = obj.softpressure, obj.data
    if settings.kind != "SOFT" or not may_be_even(obj):
        return ""
    if settings.body_type != "MEMBRANE":
        return _text_of_lattice(scene, obj)
    start = sessions.of(scene).run.start
    body = next((each for each in start.bodies if each.object_uid == obj.session_uid), None) if start else None
    cage = settings.cage_object if settings.simulation_mesh == "CUSTOM" else None
    if cage is not None and (body is None or body.drawn is not None):
        drawn_count = len(mesh.vertices) if body is None else body.drawn.seen_count
        return f"Simulates {len(cage.data.vertices):,} vertices of {cage.name} for {drawn_count:,} drawn"
    if body is None:
        return f"Simulates up to {vertex_count(scene, obj):,} even vertices for {len(mesh.vertices):,} drawn"
    if body.drawn is None:
        count = len(mesh.vertices)
        if count < _FEW:
            return f"Simulates the {count} drawn vertices. Subdivide the mesh to see it bend between them"
        is_of_paper = scene.softpressure.solver in FORCE_BASED
        reason = "the method of a paper does" if is_of_paper else "that is as fast"
        return f"Simulates the {count:,} drawn vertices, as {reason}"
    return f"Simulates {len(body.positions):,} even vertices for {body.drawn.seen_count:,} drawn"


def _text_of_lattice(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """What cells fill: known from a start."""
    start = sessions.of(scene).run.start
    body = next((each for each in start.bodies if each.object_uid == obj.session_uid), None) if start else None
    if body is None or body.outline is not None:
        return ""
    if body.drawn is None:
        return "Fills the drawn mesh with cells"
    cage = obj.softpressure.cage_object if obj.softpressure.simulation_mesh == "CUSTOM" else None
    filled = f"{len(body.positions):,} even vertices" if cage is None else cage.name
    return f"Fills {filled} with cells, for {body.drawn.seen_count:,} drawn"


def notes(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[str]:
    """What was done to the drawn mesh of a body, in sentences."""
    start = sessions.of(scene).run.start
    bodies = [] if start is None else [each for each in start.bodies if each.object_uid == obj.session_uid]
    return [f"{obj.name} {note}." for body in bodies if body.drawn is not None for note in body.drawn.notes]
