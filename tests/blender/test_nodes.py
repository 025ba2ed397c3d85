"""Bodies with node trees: one that changes the mesh follows the simulation, one that makes it is told and cured."""

from typing import Any

import bpy
import pytest
import shapes
from bpy_scene import add_ball, add_mesh, frame, problem_of, select, shown, this_session
from softpressure_ext.softpressure.bodies import mesh_checks
from softpressure_ext.softpressure.scene_io import node_trees

pytestmark = pytest.mark.usefixtures("falling")


def add_tree(obj: Any, kind: str, inputs: dict[str, Any], reads: bool) -> Any:
    """A modifier with one node between input and output, linked to the input if it reads it."""
    tree = bpy.data.node_groups.new(kind, "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    first, node, last = (tree.nodes.new(each) for each in ("NodeGroupInput", kind, "NodeGroupOutput"))
    for name, value in inputs.items():
        node.inputs[name].default_value = value
    if reads:
        tree.links.new(first.outputs[0], node.inputs[0])
    tree.links.new(node.outputs[0], last.inputs[0])
    modifier = obj.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    bpy.context.view_layer.update()
    return modifier


def made_ball(mesh: Any = ((), ())) -> Any:
    """A ball that a node tree makes, whatever the object's own mesh is."""
    obj = add_mesh("Made", *mesh)
    add_tree(obj, "GeometryNodeMeshIcoSphere", {"Radius": 0.5, "Subdivisions": 4}, reads=False)
    return obj


def test_a_tree_that_moves_the_mesh_follows_the_simulation() -> None:
    obj = add_mesh("Cube", *shapes.box(1.0, 3))
    add_tree(obj, "GeometryNodeSetPosition", {"Offset": (0.0, 0.0, 1.0)}, reads=True)
    assert node_trees.mesh_maker(obj) == ""
    bpy.ops.softpressure.add_body(kind="SOFT")
    bpy.ops.softpressure.simulate()
    frame(1)
    start = shown(obj)
    frame(6)
    assert start[:, 2].mean() == pytest.approx(1.0) and shown(obj)[:, 2].mean() < 0.9


@pytest.mark.parametrize("mesh", [((), ()), shapes.box(1.0, 2)], ids=["empty", "cube"])
def test_a_mesh_that_a_tree_makes_is_told_not_replaced_by_the_objects_own(mesh: Any) -> None:
    obj = made_ball(mesh)
    with pytest.raises(RuntimeError, match=r"Made: its mesh comes from the node tree of the modifier Nodes"):
        bpy.ops.softpressure.add_body(kind="SOFT")
    assert "Apply the modifier" in problem_of(obj)
    assert mesh_checks.fixes_for(obj) == ("APPLY_MODIFIER",)


def test_applying_the_tree_makes_the_body() -> None:
    obj = made_ball()
    bpy.ops.ed.undo_push(message="Made")
    with pytest.raises(RuntimeError):
        bpy.ops.softpressure.add_body(kind="SOFT")
    assert bpy.ops.softpressure.fix(object_name="Made", fix="APPLY_MODIFIER") == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Fix")
    assert (obj.softpressure.kind, len(obj.modifiers), len(obj.data.vertices)) == ("SOFT", 0, 642)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Made"]
    assert (obj.softpressure.kind, len(obj.modifiers), len(obj.data.vertices)) == ("NONE", 1, 0)


def test_rigid_bodies_and_colliders_take_what_the_tree_makes() -> None:
    for kind in ("RIGID", "COLLIDER"):
        obj = made_ball()
        select(obj)
        assert bpy.ops.softpressure.add_body(kind=kind) == {"FINISHED"}
        assert problem_of(obj) == ""
        add_ball(location=(0.0, 0.0, 3.0))
        assert bpy.ops.softpressure.simulate() == {"FINISHED"}
        assert not this_session().refusals.of_objects
        bpy.data.objects.remove(obj)
        bpy.context.view_layer.update()
