"""Which soft bodies simulate an even mesh. Needs no solver."""

import bpy

from ...core.parameters.gas import FOLLOWING
from ...core.parameters.scene import DETAIL
from . import modifier_stack

#: Fewest vertices of an even mesh.
_LEAST = 20
#: A mesh that is seen coarser than the detail gets no more vertices than it has, but this share of the detail.
_COARSE = 0.3


def may_be_even(obj: bpy.types.Object, body_type: str = "") -> bool:
    """Whether an even mesh or a cage of a soft body is asked for, or may be; then the drawn one need not be closed.

    `body_type`: empty for its present one. A lattice of a flat mesh never has one; its shape tells.
    """
    settings = obj.softpressure
    return settings.simulation_mesh != "DRAWN" and (body_type or settings.body_type) in FOLLOWING


def simulated_count(scene: bpy.types.Scene, obj: bpy.types.Object) -> int:
    """About how many vertices of a soft body are simulated, before that is known."""
    drawn = len(obj.data.vertices)
    return min(drawn, vertex_count(scene, obj, drawn)) if may_be_even(obj) else drawn


def vertex_count(scene: bpy.types.Scene, obj: bpy.types.Object, seen_count: int) -> int:
    """Vertices that the even mesh of a body is to have: its own, or the scene's, if so many or more are seen."""
    if obj.softpressure.simulation_vertices:
        return max(int(obj.softpressure.simulation_vertices), _LEAST)
    detail = DETAIL[scene.softpressure.detail]
    return min(detail, max(seen_count, int(_COARSE * detail), DETAIL["DRAFT"]))


def drawn_count(obj: bpy.types.Object) -> int:
    """Vertices that are seen of a body, before a start has read them: those of its mesh with its modifiers."""
    evaluated = obj.evaluated_get(bpy.context.view_layer.depsgraph) if obj.modifiers else obj
    return max(len(evaluated.data.vertices), len(obj.data.vertices))


def unfollowed(obj: bpy.types.Object) -> str:
    """A sentence on a modifier that shows what cannot follow a simulated mesh; empty if there is none."""
    name = modifier_stack.first_repeating(obj) if may_be_even(obj) else ""
    if not name:
        return ""
    return (
        f"{obj.name}: what its modifier {name} shows is not simulated, as it has no vertices. Apply it to simulate all."
    )
