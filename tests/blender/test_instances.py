"""Instances as colliders: of a collection, and of geometry nodes."""

from typing import Any

import bpy
import numpy as np
import pytest
import shapes
from bpy_panels import body_rows, buttons
from bpy_scene import add_ball, add_mesh, add_primitive, add_tree, frame, key, play, select
from bpy_seen import problem_of, shown, state_text, this_run, this_session
from softpressure_ext.panels import body as body_panel
from softpressure_ext.softpressure.bodies import mesh_checks
from softpressure_ext.softpressure.scene_io import node_trees
from softpressure_ext.softpressure.viewport import overlay

pytestmark = pytest.mark.usefixtures("falling")


def collection_of(*objects: Any) -> Any:
    """A collection of these objects that is in no scene."""
    found = bpy.data.collections.new("Steps")
    for obj in objects:
        for user in list(obj.users_collection):
            user.objects.unlink(obj)
        found.objects.link(obj)
    return found


def instance_of(collection: Any, location: Any = (0.0, 0.0, 0.0)) -> Any:
    """A Collection Instance, as Blender's menu adds it."""
    bpy.ops.object.collection_instance_add(collection=collection.name, location=location)
    return bpy.context.object


def cube(name: str, location: Any) -> Any:
    return add_primitive("cube", None, name, size=1.0, location=location)


def obstacle() -> Any:
    (found,) = this_run().start.colliders
    return found


def test_a_collection_instance_collides_with_all_its_meshes_where_they_are_seen() -> None:
    steps = collection_of(cube("A", (0, 0, 0)), cube("B", (2, 0, 1)))
    bpy.ops.object.light_add()
    collection_of(bpy.context.object)
    instance = instance_of(steps, (10.0, 0.0, 0.0))
    instance.scale = (2.0, 2.0, -2.0)  # mirrored
    assert [properties["kind"] for name, properties, _ in buttons([body_panel.SIDEBAR[0]])] == ["COLLIDER"]
    assert bpy.ops.softpressure.add_body(kind="COLLIDER") == {"FINISHED"}
    assert {"friction", "bounciness"} <= {*body_rows()} and problem_of(instance) == ""
    add_ball()
    play(1, 3)
    found = obstacle()
    assert (len(found.positions), len(found.triangles)) == (16, 24)
    np.testing.assert_allclose(found.positions.min(axis=0), [9, -1, -3])
    np.testing.assert_allclose(found.positions.max(axis=0), [15, 1, 1])
    a, b, c = (found.positions[found.triangles[:, corner]] for corner in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0 == pytest.approx(16.0)  # its faces look outwards
    assert mesh_checks.of_scene(bpy.context.scene) == [] and list(overlay.shapes(
        bpy.context.scene, bpy.context.evaluated_depsgraph_get(), "COLLIDER")) == []  # fmt: skip
    with pytest.raises(RuntimeError, match="only meshes can be bodies"):
        select(instance)
        bpy.ops.softpressure.add_body(kind="SOFT")
    assert bpy.ops.softpressure.remove_body() == {"FINISHED"}


def test_an_instance_moves_and_what_is_in_it_as_well() -> None:
    part = cube("A", (0, 0, 0))
    instance = instance_of(collection_of(part))
    bpy.ops.softpressure.add_body(kind="COLLIDER")
    add_ball()
    key(instance, "location", (1, 0.0), (5, 4.0), index=0)
    key(part, "location", (1, 0.0), (5, 4.0), index=2)
    play(1, 5)
    np.testing.assert_allclose(obstacle().positions.mean(axis=0), [4.0, 0.0, 4.0], atol=1e-5)


def test_a_change_of_what_is_in_it_makes_the_frames_out_of_date() -> None:
    part = cube("A", (0, 0, 0))
    instance_of(collection_of(part))
    bpy.ops.softpressure.add_body(kind="COLLIDER")
    add_ball()
    play(1, 3)
    assert state_text().startswith("Cache")
    part.data.vertices[0].co.z -= 1.0
    part.data.update()
    assert state_text().startswith("Out of date")
    play(1, 2)
    part.location.x += 1.0
    assert state_text().startswith("Out of date")


def test_geometry_node_instances_collide() -> None:
    pebble = cube("Pebble", (0, 0, 0))
    collection_of(pebble)
    floor = add_primitive("plane", None, size=4.0)
    tree = bpy.data.node_groups.new("Pebbles", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    given, made = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    info, on_points = tree.nodes.new("GeometryNodeObjectInfo"), tree.nodes.new("GeometryNodeInstanceOnPoints")
    join = tree.nodes.new("GeometryNodeJoinGeometry")
    info.inputs["Object"].default_value = pebble
    tree.links.new(given.outputs[0], on_points.inputs["Points"])
    tree.links.new(info.outputs["Geometry"], on_points.inputs["Instance"])
    tree.links.new(on_points.outputs[0], join.inputs[0])
    tree.links.new(given.outputs[0], join.inputs[0])
    tree.links.new(join.outputs[0], made.inputs[0])
    floor.modifiers.new("Nodes", "NODES").node_group = tree
    bpy.context.view_layer.update()
    assert bpy.ops.softpressure.add_body(kind="COLLIDER") == {"FINISHED"}
    add_ball()
    play(1, 3)
    assert len(obstacle().positions) == 4 + 4 * 8  # the plane, and a pebble at each corner
    np.testing.assert_allclose(obstacle().positions.max(axis=0), [2.5, 2.5, 0.5])


# -- Bodies with node trees: one that changes the mesh follows the simulation, one that makes it is told and cured


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
