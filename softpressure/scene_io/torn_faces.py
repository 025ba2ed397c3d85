"""A modifier of geometry nodes that hides torn faces of a soft body from the frame at which each tears.

It reads the attribute `point_attributes.TORN` and the scene's time alone, so it works on a bake and in any Blender.
"""

from typing import Any

import bpy

from . import modifier_stack, point_attributes

#: Name of the modifier and of the node group, which all bodies share.
NAME = modifier_stack.HIDES_TORN


def hide(obj: bpy.types.Object) -> None:
    """Add the modifier as the last one, if it is not there."""
    if not modifier_stack.hides_torn_faces(obj):
        modifier: Any = obj.modifiers.new(NAME, "NODES")
        modifier.node_group = bpy.data.node_groups.get(NAME) or _node_group()


def _node_group() -> Any:
    """Delete the faces whose attribute is at most the present frame; nothing where there is no such attribute."""
    group: Any = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    group.is_modifier = True
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    names = ("NodeGroupInput", "GeometryNodeInputNamedAttribute", "GeometryNodeInputSceneTime", "FunctionNodeCompare",
             "FunctionNodeBooleanMath", "GeometryNodeDeleteGeometry", "NodeGroupOutput")  # fmt: skip
    start, attribute, time, compare, both, delete, end = (group.nodes.new(name) for name in names)
    for place, node in enumerate(group.nodes):
        node.location = (200 * place, 0)
    attribute.data_type = "FLOAT"
    attribute.inputs["Name"].default_value = point_attributes.TORN
    compare.data_type, compare.operation = "FLOAT", "LESS_EQUAL"
    both.operation = "AND"
    delete.domain = "FACE"
    for source, target in (
        (attribute.outputs["Attribute"], compare.inputs["A"]),
        (time.outputs["Frame"], compare.inputs["B"]),
        (compare.outputs["Result"], both.inputs[0]),
        (attribute.outputs["Exists"], both.inputs[1]),
        (both.outputs[0], delete.inputs["Selection"]),
        (start.outputs[0], delete.inputs["Geometry"]),
        (delete.outputs["Geometry"], end.inputs[0]),
    ):
        group.links.new(source, target)
    return group
