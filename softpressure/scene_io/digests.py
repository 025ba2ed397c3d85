"""Digests of Blender's data: arrays, meshes, and places with what moves them.

Read from the file's data, never from evaluated data: a digest must not change with the current frame. It does not
depend on object names or their order. Animated values count with their keyframes instead of their present value.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import actions, instances, mesh_io, modifier_stack, rigid_pose, shaping_data
from .blender_types import DataBlock

_TRANSFORMS = ("location", "rotation", "scale", "delta")
_SKIPPED_VALUES = {"rna_type", "name", "is_active", "execution_time", "persistent_uid", "show_expanded", "show_on_cage"}
_SKIPPED_VALUES |= {"active", "show_in_editmode", "use_pin_to_last", "show_viewport", "show_render", "is_override_data"}
#: Names of modifiers' and constraints' values that Blender stores once: animating one changes the other.
_ALIASES = (("factor", "angle"), ("width", "width_pct"), ("mute", "enabled"), ("mix_mode", "use_offset"))

#: The name of a numpy type; numpy puts it together anew each time.
_name_of = cache(str)


class Digest:
    """A digest that values are added to.

    `meshes`: keeps the digests of meshes that modifiers read, for the digests of other bodies at the same time.
    """

    def __init__(self, meshes: dict[bpy.types.Object, str] | None = None) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self.meshes = {} if meshes is None else meshes
        self.visited: dict[bpy.types.Object, int] = {}  # number of each object that was added

    def add(self, *values: Any) -> None:
        """Arrays, and values with a unique `repr`."""
        for value in values:
            if isinstance(value, np.ndarray):
                self._hash.update(repr((value.shape, _name_of(value.dtype))).encode())
                self._hash.update(np.ascontiguousarray(value).data)
            else:
                self._hash.update(repr(value).encode() + b"\0")

    def name(self) -> str:
        """The digest so far."""
        return self._hash.hexdigest()


def of_arrays(values: Iterable[Any]) -> str:
    """A digest of arrays, numbers and strings in this order."""
    digest = Digest()
    digest.add(*values)
    return digest.name()


def of_mesh(obj: bpy.types.Object) -> str:
    """A digest of an object's own mesh: its rest shape and its faces."""
    digest = Digest()
    add_mesh(digest, obj)
    return digest.name()


def reached(obj: bpy.types.Object) -> set[int]:
    """`session_uid` of the objects that the place and shape of an object depend on, itself included."""
    digest = Digest()
    keys = getattr(obj.data, "shape_keys", None)  # an empty has no data
    if keys is not None:
        add_animation(digest, keys)
    add_object(digest, obj)
    return {each.session_uid for each in digest.visited}


def add_mesh(digest: Digest, obj: bpy.types.Object) -> None:
    """Add an object's own mesh, or those of its instances: rest shape, faces, keys that a person mixes."""
    if obj.type != "MESH":  # instances
        for member in instances.members(obj):
            if member.type == "MESH":
                add_mesh(digest, member)
            add_object(digest, member)
        return
    mesh, keys = obj.data, obj.data.shape_keys
    if keys is not None:
        digest.add(mesh_io.read_key(keys.reference_key))
    elif "position" in mesh.attributes:  # not in edit mode
        digest.add(mesh_io.read_local(mesh))
    if ".corner_vert" in mesh.attributes:
        corners: NDArray[np.int32] = np.empty(len(mesh.loops), np.int32)
        mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
        digest.add(corners)
    digest.add(len(mesh.polygons))
    if ".edge_verts" in mesh.attributes and not len(mesh.polygons):
        ends: NDArray[np.int32] = np.empty(2 * len(mesh.edges), np.int32)
        mesh.edges.foreach_get("vertices", ends)
        digest.add(ends)
    for key in modifier_stack.mixed_keys(obj) if obj.softpressure.kind == "SOFT" else ():
        path = f'key_blocks["{key.name}"].value'
        is_animated = bool(add_animation(digest, keys, {path}) & {path})
        digest.add(key.name, key.relative_key.name, None if is_animated else key.value, mesh_io.read_key(key))
        digest.add(*mesh_io.group_weights(obj, key.vertex_group))
    if keys is not None and obj.softpressure.kind != "SOFT":
        animated = add_animation(digest, keys)
        for key in keys.key_blocks:
            is_animated = f'key_blocks["{key.name}"].value' in animated
            digest.add(key.name, key.mute, None if is_animated else key.value, mesh_io.read_key(key))


def add_object(digest: Digest, obj: bpy.types.Object) -> None:
    """Add the place of an object and what it depends on: transform or its animation, parents, constraints,
    modifiers.
    """
    was_visited = obj in digest.visited
    number = digest.visited.setdefault(obj, len(digest.visited))
    digest.add(number, obj.type, len(obj.data.vertices) if obj.type == "MESH" else 0)
    if was_visited:
        return
    animated = add_animation(digest, obj)
    if not any(path.startswith(_TRANSFORMS) for path in animated):
        digest.add(np.array(obj.matrix_basis))
    _add_animation_of(digest, obj.data)  # of a path or a lattice
    if obj.softpressure.kind == "NONE":
        _add_animation_of(digest, getattr(obj.data, "shape_keys", None))
    if obj.pose is not None:
        if not animated:
            digest.add(*(np.array(bone.matrix_basis) for bone in obj.pose.bones))
        led = (getattr(each, "target", None) for bone in obj.pose.bones for each in bone.constraints)
        for target in dict.fromkeys(each for each in led if each not in (None, obj)):
            add_object(digest, target)
    if obj.parent is not None:
        digest.add(np.array(obj.matrix_parent_inverse), obj.parent_type, obj.parent_bone)
        add_object(digest, obj.parent)
    for index, constraint in enumerate(each for each in obj.constraints if not rigid_pose.is_ours(each)):
        _add_values(digest, constraint, f'constraints["{constraint.name}"]', animated, index)
    for index, modifier, is_shown in modifier_stack.shaping_modifiers(obj):
        path = f'modifiers["{modifier.name}"]'
        digest.add(None if f"{path}.show_viewport" in animated else is_shown)
        _add_values(digest, modifier, path, animated, index)
        _add_what_shapes(digest, modifier, animated)


def _add_what_shapes(digest: Digest, modifier: bpy.types.Modifier, animated: set[str]) -> None:
    """Add the shapes, textures and node trees that a modifier reads, and the inputs of its tree."""
    for prop in modifier.bl_rna.properties:
        target = getattr(modifier, prop.identifier) if prop.type == "POINTER" else None
        if not isinstance(target, bpy.types.Object):
            _add_all(digest, shaping_data.of_texture_or_tree(target))
        elif target.type == "MESH":
            if target not in digest.meshes:
                digest.meshes[target] = of_mesh(target)
            digest.add(digest.meshes[target])
        else:
            _add_all(digest, shaping_data.of_object_data(target.data))
    if modifier.type == "NODES":
        _add_all(digest, shaping_data.of_inputs(modifier, animated))


def _add_all(digest: Digest, values: Iterable[Any]) -> None:
    """Add plain values, and objects with what they depend on."""
    for value in values:
        if isinstance(value, bpy.types.Object):
            add_object(digest, value)
        else:
            digest.add(value)


def add_animation(digest: Digest, owner: DataBlock, paths: set[str] | None = None) -> set[str]:
    """The curves and drivers of a data-block, or those of some paths; returns the paths of all."""
    placing, mixing = actions.placing(owner)
    digest.add(*placing)
    counting = [curve for curve in actions.curves(owner) if paths is None or curve.data_path in paths]
    for curve in (*counting, *mixing):
        values: NDArray[np.float32] = np.empty(2 * len(curve.keyframe_points), np.float32)
        for name in ("co", "handle_left", "handle_right"):
            curve.keyframe_points.foreach_get(name, values)
            digest.add(values)
        digest.add(curve.data_path, curve.array_index, curve.mute, curve.extrapolation)
        digest.add([point.interpolation for point in curve.keyframe_points])
        for index, modifier in enumerate(curve.modifiers):  # as Cycles
            _add_values(digest, modifier, "", set(), index)
    for curve in actions.drivers(owner):
        if paths is not None and curve.data_path not in paths:
            continue
        digest.add(curve.data_path, curve.array_index, curve.driver.type, curve.driver.expression)
        for target in [target for variable in curve.driver.variables for target in variable.targets]:
            digest.add(target.data_path, target.transform_type)
            if isinstance(target.id, bpy.types.Object):
                add_object(digest, target.id)
    return actions.animated_paths(owner)


def _add_animation_of(digest: Digest, owner: Any) -> None:
    """The curves and drivers of data that an object or a modifier has, if they can have any."""
    if getattr(owner, "animation_data", None) is not None:
        add_animation(digest, owner)


def _add_values(digest: Digest, item: Any, path: str, animated: set[str], index: int) -> None:
    """The plain values of a modifier or constraint, the objects it points to, and the animation of other data."""
    digest.add(index, item.type)
    for prop in item.bl_rna.properties:
        name = prop.identifier
        aliases = next((names for names in _ALIASES if name in names), (name,))
        if name in _SKIPPED_VALUES or prop.is_readonly or any(f"{path}.{each}" in animated for each in aliases):
            continue
        if prop.type == "POINTER":
            target = getattr(item, name)
            if isinstance(target, bpy.types.Object):
                add_object(digest, target)
            else:
                _add_animation_of(digest, target)  # of a node tree or a texture
        elif prop.type != "COLLECTION":
            value = getattr(item, name)
            is_array = getattr(prop, "is_array", False)
            digest.add(name, np.array(value).tolist() if is_array else str(value))
