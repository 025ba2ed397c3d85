"""A soft body's mesh holds what the body shows, so it has one of its own: made where others use the same, too."""

import bpy

from .blender_types import Mesh


def is_shared(obj: bpy.types.Object) -> bool:
    """Whether other data-blocks use the mesh of an object, or it belongs to another file."""
    mesh: Mesh = obj.data
    users = mesh.users - int(mesh.use_fake_user)
    return users > 1 or (obj.library is None and mesh.library is not None) or mesh.override_library is not None


def ensure(obj: bpy.types.Object) -> str:
    """Give an object of this file a mesh of its own; returns a sentence on that, empty if it had one.

    The other keeps its rest shape where no soft body is left to show a simulation by it.
    """
    if obj.library is not None or obj.mode == "EDIT" or not is_shared(obj):
        return ""
    from . import live_key  # which needs the core

    shared: Mesh = obj.data
    obj.data = shared.copy()
    left = [each for each in bpy.data.objects if each.data == shared and shared.is_editable]
    if left and not any(each.softpressure.kind == "SOFT" or each.mode == "EDIT" for each in left):
        live_key.remove(left[0])
    return f"{obj.name}: has a mesh of its own now, as a body needs one. It shared {shared.name}."


def note_overrides() -> None:
    """Let overridden objects keep their settings in the file that is saved.

    Blender compares them with those of the linked object, which has none until one of them is written.
    """
    for obj in bpy.data.objects:
        override = obj.override_library
        if override is not None and override.reference is not None and obj.is_property_set("softpressure"):
            settings = override.reference.softpressure
            settings.mass = settings.mass
