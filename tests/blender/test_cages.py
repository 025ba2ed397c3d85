"""Cages of earlier versions: soft bodies that meshes follow by a Surface Deform modifier. Files keep them."""

from typing import Any

import bpy
import numpy as np
import pytest
import shapes
from bpy_scene import add_mesh, frame, problem_of, reopen, shown

pytestmark = pytest.mark.usefixtures("falling")


def on_a_cage() -> tuple[Any, Any]:
    """A mesh and its cage, as *Add Cage* left them."""
    cage = add_mesh("Ball Cage", *shapes.icosphere(3, 0.6, (0.0, 0.0, 0.0)))
    cage.softpressure.simulation_mesh = "DRAWN"
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    ball = add_mesh("Ball", *shapes.icosphere(4, 0.5, (0.0, 0.0, 0.0)))
    cage.parent, cage.display_type, cage.hide_render = ball, "WIRE", True
    modifier: Any = ball.modifiers.new("SP Cage", "SURFACE_DEFORM")
    modifier.target = cage
    bpy.context.view_layer.update()
    with bpy.context.temp_override(object=ball, active_object=ball):
        bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
    assert modifier.is_bound
    return ball, cage


def test_the_mesh_follows_a_simulation_a_bake_and_a_reloaded_file(tmp_path: Any) -> None:
    ball, cage = on_a_cage()
    bpy.ops.softpressure.simulate()
    assert not problem_of(cage)
    frame(1)
    start = shown(ball)
    frame(8)
    drop = -shown(cage)[:, 2].mean()
    assert drop > 0.3
    np.testing.assert_allclose(shown(ball), start - (0.0, 0.0, drop), atol=1e-4)
    bpy.ops.softpressure.bake()
    reopen(tmp_path)
    frame(2)
    frame(8)
    np.testing.assert_allclose(shown(bpy.data.objects["Ball"]), start - (0.0, 0.0, drop), atol=1e-4)


def test_alembic_has_the_mesh_in_every_frame_and_gltf_says_that_it_cannot(tmp_path: Any) -> None:
    ball, _ = on_a_cage()
    bpy.ops.softpressure.simulate()
    expected = {}
    for number in (1, 5, 10):
        frame(number)
        expected[number] = shown(ball)
    with pytest.raises(RuntimeError, match=r"Ball: follows its cage by a modifier, which glTF leaves out\. Export to"):
        bpy.ops.softpressure.export(filepath=str(tmp_path / "ball.glb"))
    path = tmp_path / "ball.abc"
    assert bpy.ops.softpressure.export(filepath=str(path)) == {"FINISHED"}
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.alembic_import(filepath=str(path))
    (copy,) = [obj for obj in bpy.data.objects if obj.type == "MESH" and len(obj.data.vertices) == 2562]
    for number, positions in expected.items():
        frame(number)
        np.testing.assert_allclose(shown(copy), positions, atol=2e-6)
