"""Ties painted as a vertex group, in Blender."""

import bpy
import numpy as np
import pytest
from bpy_scene import play, shown, this_session


def add_mattress():
    """2 x 2 x 0.5 m, with a group of every second crossing of its top and bottom."""
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    obj = bpy.context.object
    obj.scale = (1.0, 1.0, 0.25)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=7)
    bpy.ops.object.mode_set(mode="OBJECT")
    group = obj.vertex_groups.new(name="Tufts")
    for vertex in obj.data.vertices:
        place = np.round(4.0 * np.array(vertex.co[:2]))
        if abs(vertex.co.z) > 0.99 and (place % 2 == 0).all() and (np.abs(place) < 4).all():
            group.add([vertex.index], 1.0, "REPLACE")
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    return obj


@pytest.mark.parametrize("simulated", ["DRAWN", "EVEN"])
def test_painted_ties_keep_the_floor_of_a_bouncy_castle_flat(simulated):
    """It swelled to 1.17 of 0.5 m."""
    scene = bpy.context.scene
    scene.use_gravity, scene.frame_end = False, 16
    castle = add_mattress()
    castle.softpressure.simulation_mesh, castle.softpressure.simulation_vertices = simulated, 500
    castle.softpressure.tie_group = "Tufts"
    play(1, 16)
    assert not this_session().refusals.error
    assert np.ptp(shown(castle)[:, 2]) < 0.75


def test_ties_on_one_side_alone_are_told():
    castle = add_mattress()
    top = [vertex.index for vertex in castle.data.vertices if vertex.co.z < 0.0]
    castle.vertex_groups["Tufts"].remove(top)
    castle.softpressure.simulation_mesh, castle.softpressure.tie_group = "DRAWN", "Tufts"
    play(1, 2)
    assert "Paint both sides" in this_session().refusals.of_objects[castle.session_uid]
