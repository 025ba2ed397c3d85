"""What is baked into an object, and its removal: keys of its mesh, curves of its place."""

import json

import bpy

from . import actions, live_key, mesh_io, modifier_stack, own_mesh, rigid_pose
from .blender_types import DataBlock
from .mesh_io import BAKE_KEY


def baked_keys(obj: bpy.types.Object) -> list[bpy.types.ShapeKey]:
    """The keys that baking has made, absolute or relative."""
    keys: DataBlock = obj.data.shape_keys
    return [] if keys is None else [key for key in keys.key_blocks if key.name.startswith(BAKE_KEY)]


def baked_kind(obj: bpy.types.Object) -> str:
    """The kind of body that an object was when it was baked: SOFT, RIGID, or empty if it is not baked."""
    settings = obj.softpressure
    if settings.own_motion and not baked_keys(obj):
        return "RIGID"
    return "SOFT" if settings.is_baked else ""


def free_object(obj: bpy.types.Object) -> None:
    """Restore an object's mesh and motion from before it was baked."""
    kind = baked_kind(obj)
    if not kind:
        return
    if obj.softpressure.own_motion:
        _free_motion(obj)
        if obj.softpressure.kind == "RIGID":
            rigid_pose.ensure(obj)
    if kind == "RIGID":
        return
    own_mesh.ensure(obj)
    if obj.data.shape_keys is not None:
        _remove_keys(obj)
    obj.softpressure.is_baked = False
    obj.softpressure.baked_error = 0.0
    live_key.ensure(obj)
    modifier_stack.show(obj, modifier_stack.Stage.REST)


def _remove_keys(obj: bpy.types.Object) -> None:
    """Take the baked shape keys and their curves away; the person's own stay."""
    settings, keys = obj.softpressure, obj.data.shape_keys
    action = keys.animation_data.action if keys.animation_data else None
    basis = mesh_io.read_key(keys.reference_key)
    if modifier_stack.own_keys(obj):
        for key in baked_keys(obj):
            obj.shape_key_remove(key)
        keys.use_relative, keys.eval_time = True, 0.0
        actions.assign(keys, settings.own_key_action, settings.own_key_slot)
    else:
        obj.shape_key_clear()
        obj.data.attributes["position"].data.foreach_set("vector", basis.ravel())
        obj.data.update()
    settings.own_key_action = None
    if action is not None and action.name.startswith(BAKE_KEY) and not action.users:
        bpy.data.actions.remove(action)


def _free_motion(obj: DataBlock) -> None:
    """Restore a rigid body's own motion from before it was baked."""
    settings = obj.softpressure
    kept = json.loads(settings.own_motion)
    baked = obj.animation_data.action if obj.animation_data else None
    own = settings.own_action
    if own is not None:
        actions.assign(obj, own, kept["slot"])
    else:
        actions.assign(obj, None)
    data = obj.animation_data
    for name, value in kept["blending"].items():
        setattr(data, name, value)
    for driver in data.drivers:
        if [driver.data_path, driver.array_index] in kept["drivers"]:
            driver.mute = False
    for constraint in obj.constraints:
        if constraint.name in kept["constraints"]:
            constraint.mute = False
    if not kept["is_animated"] and data.action is None and not data.drivers and not data.nla_tracks:
        obj.animation_data_clear()
    for name, value in kept["values"].items():
        setattr(obj, name, value)
    if baked is not None and baked.name.startswith(BAKE_KEY) and not baked.users:
        bpy.data.actions.remove(baked)
    settings.own_action = None
    settings.own_motion = ""
    settings.is_baked = False
    obj.update_tag(refresh={"OBJECT", "TIME"})
