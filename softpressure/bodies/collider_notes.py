"""What collides, or does not, other than a person may expect."""

import bpy

from ..scene_io import actions
from ..state import sessions

#: So many are named.
_NAMED = 3


def notes(scene: bpy.types.Scene) -> list[str]:
    """A sentence on colliders that are disabled by keys; or on obstacles of Blender's in a scene without a collider.

    Whoever added one knows that those are none.
    """
    if colliders := sessions.objects(scene, "COLLIDER"):
        keyed = [obj.name for obj in colliders if "hide_viewport" in actions.animated_paths(obj)]
        text = "keyed visibility does not stop a collider. Let keys move it out of the way, too."
        return [f"{_names(keyed)}: {text}"] if keyed else []
    found = sessions.memo.get(
        ("obstacles", scene.session_uid), lambda: [obj.name for obj in scene.objects if _is_obstacle(obj)]
    )
    if not found:
        return []
    text = "Blender's own physics collides there, bodies here pass through. Select and press Add Collider."
    return [f"{_names(found)}: {text}"]


def _names(found: list[str]) -> str:
    return ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED} more" if len(found) > _NAMED else "")


def _is_obstacle(obj: bpy.types.Object) -> bool:
    """Whether an object that is no body here is one for Cloth, Soft Body, particles or rigid bodies of Blender."""
    if obj.type != "MESH" or obj.softpressure.kind != "NONE":
        return False
    is_passive = obj.rigid_body is not None and obj.rigid_body.type == "PASSIVE"
    return is_passive or any(modifier.type == "COLLISION" for modifier in obj.modifiers)
