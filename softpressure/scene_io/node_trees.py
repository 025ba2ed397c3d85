"""Geometry node trees: whether they change an object's own mesh or make another one in its place."""

from typing import Any

import bpy


def mesh_maker(obj: bpy.types.Object) -> str:
    """The name of the last modifier whose node tree does not read the mesh before it; empty if there is none."""
    found = ""
    for modifier in obj.modifiers:
        if modifier.type == "NODES" and modifier.node_group is not None and not _reads_mesh(modifier.node_group):
            found = modifier.name
    return found


def _reads_mesh(tree: Any) -> bool:
    """Whether links lead from a geometry of a tree's input to its output."""
    before: dict[Any, list[Any]] = {}
    for link in tree.links:
        before.setdefault(link.to_node, []).append(link)
    seen = {node for node in tree.nodes if node.type == "GROUP_OUTPUT" and node.is_active_output}
    ahead = list(seen)
    while ahead:
        for link in before.get(ahead.pop(), []):
            if link.from_node.type == "GROUP_INPUT" and link.from_socket.type == "GEOMETRY":
                return True
            if link.from_node not in seen:
                seen.add(link.from_node)
                ahead.append(link.from_node)
    return False
