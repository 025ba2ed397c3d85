"""The live shape key of a soft body, which shows the simulation above the basis, its rest shape."""

import bpy

from . import mesh_io, modifier_stack, point_attributes


def ensure(obj: bpy.types.Object) -> None:
    """Give a soft body its live shape key, at rest."""
    if mesh_io.live_key(obj) is not None:
        return
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    key = obj.shape_key_add(name=mesh_io.LIVE_KEY, from_mix=False)
    key.value = 1.0
    key.mute = True
    if not modifier_stack.own_keys(obj):
        obj.active_shape_key_index = 0  # a person who edits the mesh edits the rest shape
    obj.show_only_shape_key = False


def remove(obj: bpy.types.Object) -> None:
    """Remove the live shape key; the mesh keeps its rest shape."""
    key = mesh_io.live_key(obj)
    if key is None:
        return
    modifier_stack.show(obj, modifier_stack.Stage.REST)
    point_attributes.remove(obj.data)
    obj.shape_key_remove(key)
    if len(obj.data.shape_keys.key_blocks) == 1:  # our own basis; the mesh keeps its shape
        obj.shape_key_clear()
