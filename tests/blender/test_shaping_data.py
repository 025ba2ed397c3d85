"""Frames are out of date after a change of what modifiers read, even if the first frame shows the same."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, add_object, add_primitive, add_tree, frame, key
from bpy_seen import this_session

pytestmark = pytest.mark.usefixtures("falling")
Change = Callable[[], Any]


def add_sea() -> Any:
    return add_primitive("grid", "COLLIDER", "Sea", x_subdivisions=8, y_subdivisions=8)


def displaced() -> Change:
    texture = bpy.data.textures.new("Waves", "CLOUDS")
    modifier: Any = add_sea().modifiers.new("Displace", "DISPLACE")
    modifier.texture = texture
    key(modifier, "strength", (1, 0.0), (8, 1.0))
    key(texture, "intensity", (1, 1.0), (8, 2.0))
    return lambda: setattr(texture, "noise_scale", 2.0)


def bent() -> Change:
    data: Any = bpy.data.curves.new("Path", "CURVE")
    data.splines.new("BEZIER").bezier_points.add(1)
    modifier: Any = add_sea().modifiers.new("Curve", "CURVE")
    modifier.object = add_object("Path", data)
    return lambda: setattr(data.splines[0].bezier_points[1], "co", (1.0, 0.0, 1.0))


def caged() -> Change:
    lattice = bpy.data.lattices.new("Cage")
    modifier: Any = add_sea().modifiers.new("Lattice", "LATTICE")
    modifier.object = add_object("Cage", lattice)
    return lambda: setattr(lattice.points[0], "co_deform", (-0.5, -0.5, 0.5))


def hooked() -> Change:
    hook, sea = add_object("Hook"), add_sea()
    modifier: Any = sea.modifiers.new("Hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set([0, 1, 2, 3])
    return lambda: setattr(hook, "location", (0.0, 0.0, 0.5))


def boned() -> Change:
    armature = bpy.data.armatures.new("Bones")
    rig = add_object("Bones", armature)
    modifier: Any = add_sea().modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    return lambda: setattr(armature, "pose_position", "REST")


def wrapped() -> Change:
    target = add_primitive("cube", None, "Target")
    modifier: Any = add_sea().modifiers.new("Wrap", "SHRINKWRAP")
    modifier.target = target
    return lambda: target.data.transform(np.diag((2.0, 2.0, 2.0, 1.0)).tolist()) or target.data.update()


def keyed_shape() -> Change:
    sea = add_sea()
    sea.shape_key_add(name="Basis")
    raised = sea.shape_key_add(name="Raised")
    key(raised, "value", (1, 0.0), (8, 1.0))
    return lambda: setattr(raised.data[5], "co", (0.0, 0.0, 1.0)) or sea.data.update()


def mixed_shape() -> Change:
    sea = add_sea()
    sea.shape_key_add(name="Basis")
    raised = sea.shape_key_add(name="Raised")
    return lambda: setattr(raised, "value", 0.5)


def with_nodes() -> Any:
    return add_tree(add_sea(), "GeometryNodeSetPosition", {"Offset": (0.0, 0.0, 0.1)}, reads=True)


def node_socket() -> Change:
    node = next(each for each in with_nodes().node_group.nodes if each.type == "SET_POSITION")
    return lambda: setattr(node.inputs["Offset"], "default_value", (0.0, 0.0, 0.5))


def node_link() -> Change:
    tree = with_nodes().node_group
    return lambda: tree.links.remove(tree.links[0])


def node_input() -> Change:
    modifier = with_nodes()
    name = modifier.node_group.interface.new_socket("Amount", in_out="INPUT", socket_type="NodeSocketFloat").identifier

    def give(value: float) -> None:
        if hasattr(modifier, "properties"):  # from Blender 5.2 on
            getattr(modifier.properties.inputs, name).value = value
        else:
            modifier[name] = value
        modifier.id_data.update_tag()

    give(1.0)
    return lambda: give(2.0)


CHANGES = (displaced, bent, caged, hooked, boned, wrapped, keyed_shape, mixed_shape, node_socket, node_link, node_input)


@pytest.mark.smoke
@pytest.mark.parametrize("made", CHANGES, ids=lambda made: made.__name__)
def test_a_change_of_what_a_modifier_reads_dates_the_frames(made: Callable[[], Change]) -> None:
    scene, change = bpy.context.scene, made()
    add_ball()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(6)
    assert not this_session().is_out_of_date(scene)
    change()
    bpy.context.view_layer.update()
    assert this_session().is_out_of_date(scene)
    before = this_session().run
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert this_session().run is not before and not this_session().is_out_of_date(scene)
