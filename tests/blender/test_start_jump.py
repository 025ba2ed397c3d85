"""What is added starts without a visible jump."""

import bpy
import numpy as np
import pytest
from bpy_scene import add_mesh, empty_file, frame, shown, this_session  # noqa: F401


def add_cube(cuts, size=2.0):
    """A cube as people make one: added, subdivided in Edit Mode, then made soft with the defaults."""
    bpy.ops.mesh.primitive_cube_add(size=size)
    obj = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=cuts)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    return obj


@pytest.mark.parametrize("simulated", ["DRAWN", "EVEN"])
def test_a_subdivided_cube_starts_without_a_jump(simulated):
    """It jumped by 300 mm in its first frame."""
    bpy.context.scene.use_gravity = False
    obj = add_cube(5)
    obj.softpressure.simulation_mesh = simulated
    obj.softpressure.simulation_vertices = 300
    frame(1)
    before, steps = shown(obj), []
    for number in range(2, 14):
        frame(number)
        now = shown(obj)
        steps.append(float(np.linalg.norm(now - before, axis=1).max()))
        before = now
    assert not this_session().error
    assert max(steps) < 0.04  # 2 % of its size
    assert np.abs(before).max() > 1.1  # it has bulged
