"""Which soft bodies simulate an even mesh. Needs no solver."""

import bpy

from ...core.parameters.gas import FOLLOWING
from ...core.parameters.scene import DETAIL
from . import modifier_stack

#: Fewest vertices of an even mesh.
_LEAST = 20


def may_be_even(obj: bpy.types.Object, body_type: str = "") -> bool:
    """Whether a soft body is set to simulate an even mesh or a cage, or may be; then the drawn one need not be closed.

    `body_type`: empty for its present one. A lattice of a flat mesh never has one.
    """
    settings = obj.softpressure
    return settings.simulation_mesh != "DRAWN" and (body_type or settings.body_type) in FOLLOWING


def simulated_count(scene: bpy.types.Scene, obj: bpy.types.Object) -> int:
    """About how many vertices of a soft body are simulated, before that is known."""
    drawn = len(obj.data.vertices)
    return min(drawn, vertex_count(scene, obj)) if may_be_even(obj) else drawn


def vertex_count(scene: bpy.types.Scene, obj: bpy.types.Object) -> int:
    """Vertices that the even mesh of a body is to have."""
    return max(int(obj.softpressure.simulation_vertices) or DETAIL[scene.softpressure.detail], _LEAST)


def unfollowed(obj: bpy.types.Object) -> str:
    """A sentence on a modifier that shows what cannot follow a simulated mesh; empty if there is none."""
    name = modifier_stack.first_repeating(obj) if may_be_even(obj) else ""
    if not name:
        return ""
    return (
        f"{obj.name}: what its modifier {name} shows is not simulated, as it has no vertices. Apply it to simulate all."
    )
