"""What data that are no objects tell of a shape: paths, lattices, bones, textures and node trees that modifiers read.

Values that are animated are left out: their keyframes count instead (`digests.py`).
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import actions

#: What splines tell of themselves and of their points, with the number of values.
_SPLINE = ("type", "use_cyclic_u", "use_endpoint_u", "use_bezier_u", "order_u", "resolution_u", "tilt_interpolation")
_BEZIER = (("co", 3), ("handle_left", 3), ("handle_right", 3), ("radius", 1), ("tilt", 1))
_POINTS = (("co", 4), ("radius", 1), ("tilt", 1))


def of_object_data(data: Any) -> Iterator[Any]:
    """Of the data of an object that a modifier reads, as far as it is no mesh; None, as an empty has, tells nothing."""
    if data is None:
        return
    animated = actions.animated_paths(data)
    if isinstance(data, bpy.types.Curve):
        yield from _plain_values(data, animated, bpy.types.ID)
        for spline in () if any(path.startswith("splines") for path in animated) else data.splines:
            yield [str(getattr(spline, name)) for name in _SPLINE]
            yield from _arrays(spline.bezier_points, _BEZIER)
            yield from _arrays(spline.points, _POINTS)
    elif isinstance(data, bpy.types.Lattice):
        yield from _plain_values(data, animated, bpy.types.ID)
        if not any(path.startswith("points") for path in animated):
            yield from _arrays(data.points, (("co_deform", 3),))
    elif isinstance(data, bpy.types.Armature):
        yield data.pose_position
        yield from _arrays(data.bones, (("matrix_local", 16),))
    keys = getattr(data, "shape_keys", None)
    if keys is not None and not isinstance(data, bpy.types.Mesh):
        yield from (
            None if key.path_from_id("value") in actions.animated_paths(keys) else key.value for key in keys.key_blocks
        )


def of_texture_or_tree(data: Any) -> Iterator[Any]:
    """Of a texture or a node tree that a modifier reads; objects that it reads are among the values."""
    if isinstance(data, bpy.types.Texture):
        yield from _plain_values(data, actions.animated_paths(data), bpy.types.ID)
        image = getattr(data, "image", None)
        yield "" if image is None else image.filepath
        if data.use_color_ramp:
            yield [(each.position, np.array(each.color).tolist()) for each in data.color_ramp.elements]
    elif isinstance(data, bpy.types.NodeTree):
        yield from _of_tree(data, set())


def of_inputs(modifier: Any, animated: Iterable[str]) -> Iterator[Any]:
    """The values of the inputs that a node tree has in a modifier; objects are among them.

    From Blender 5.2 on they are properties, before that custom ones.
    """
    if hasattr(modifier, "properties"):
        inputs = getattr(modifier.properties, "inputs", None)  # without a tree there are none
        known = () if inputs is None else inputs.bl_rna.properties
        for prop, name in product(known, ("value", "type", "attribute_name")):
            socket = getattr(inputs, prop.identifier)
            if prop.type == "POINTER" and hasattr(socket, name) and socket.path_from_id(name) not in animated:
                yield prop.identifier
                yield _plain(getattr(socket, name))
    else:
        for name in sorted(modifier.keys()):
            if f'modifiers["{modifier.name}"]["{name}"]' not in animated:
                yield name
                yield _plain(modifier[name])


def _of_tree(tree: Any, seen: set[Any]) -> Iterator[Any]:
    if tree in seen:
        return
    seen.add(tree)
    animated, numbers = actions.animated_paths(tree), {node.name: number for number, node in enumerate(tree.nodes)}
    for node in tree.nodes:
        yield node.bl_idname
        yield node.mute
        yield from _plain_values(node, animated, bpy.types.Node)
        for socket in node.inputs:
            if hasattr(socket, "default_value") and socket.path_from_id("default_value") not in animated:
                yield _plain(socket.default_value)
        if getattr(node, "node_tree", None) is not None:
            yield from _of_tree(node.node_tree, seen)
    for link in tree.links:
        yield numbers[link.from_node.name], link.from_socket.identifier
        yield numbers[link.to_node.name], link.to_socket.identifier


def _plain_values(item: Any, animated: Iterable[str], base: Any) -> Iterator[Any]:
    """The names and values that a struct has beyond those of its base, without pointers and collections."""
    skipped = {prop.identifier for prop in base.bl_rna.properties}
    for prop in item.bl_rna.properties:
        name = prop.identifier
        if name in skipped or prop.is_readonly or prop.type in {"POINTER", "COLLECTION"}:
            continue
        path = name if isinstance(item, bpy.types.ID) else item.path_from_id(name)
        if path not in animated:
            yield name
            yield _plain(getattr(item, name))


def _plain(value: Any) -> Any:
    """A value as one whose `repr` tells it: an object as it is, other data by its type, arrays as lists."""
    if isinstance(value, (bpy.types.Object, bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return type(value).__name__ if isinstance(value, bpy.types.bpy_struct) else np.array(value).tolist()


def _arrays(points: Any, columns: Iterable[tuple[str, int]]) -> Iterator[NDArray[np.float32]]:
    for name, width in columns:
        values: NDArray[np.float32] = np.empty(width * len(points), np.float32)
        points.foreach_get(name, values)
        yield values
