"""What Blender's own physics collides with and bodies here do not, as a person may expect."""

import bpy

from ..state import sessions

#: So many are named.
_NAMED = 3


def notes(scene: bpy.types.Scene) -> list[str]:
    """A sentence if a scene has obstacles of Blender's, but no collider; whoever added one knows of them."""
    if sessions.objects(scene, "COLLIDER"):
        return []
    found = sessions.memo.get(
        ("obstacles", scene.session_uid), lambda: [obj.name for obj in scene.objects if _is_obstacle(obj)]
    )
    if not found:
        return []
    names = ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED} more" if len(found) > _NAMED else "")
    return [f"{names}: Blender's own physics collides there, bodies here pass through. Select and press Add Collider."]


def _is_obstacle(obj: bpy.types.Object) -> bool:
    """Whether an object that is no body here is one for Cloth, Soft Body, particles or rigid bodies of Blender."""
    if obj.type != "MESH" or obj.softpressure.kind != "NONE":
        return False
    is_passive = obj.rigid_body is not None and obj.rigid_body.type == "PASSIVE"
    return is_passive or any(modifier.type == "COLLISION" for modifier in obj.modifiers)
