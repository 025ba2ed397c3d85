"""What the overlay shows of the bodies, as arrays: shapes, values, colours, shells and marks."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, add_group, add_primitive, frame
from bpy_seen import attribute, shown, this_run, this_session
from softpressure_ext.softpressure.scene_io import hoses, mesh_io, point_attributes
from softpressure_ext.softpressure.viewport import overlay, overlay_view

pytestmark = pytest.mark.usefixtures("falling")


def shape_of(obj: Any) -> overlay.Shape:
    return overlay.shape_of(obj, bpy.context.evaluated_depsgraph_get())


def values(obj: Any, mode: str) -> Any:
    scene = bpy.context.scene
    scene.softpressure.overlay_colour = mode
    return overlay.values_of(scene, obj, shape_of(obj))


def simulated(**settings: Any) -> Any:
    bpy.context.scene.softpressure.overlay_colour = "FORCE"  # so that frames keep forces
    ball = add_ball(**settings)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    return ball


@pytest.mark.smoke
def test_values_are_those_of_the_shown_frame() -> None:
    ball = simulated()
    count = len(ball.data.vertices)
    frame(5)
    np.testing.assert_allclose(values(ball, "STRAIN"), 0.0, atol=1e-5)
    np.testing.assert_allclose(values(ball, "PRESSURE"), 2310.0)
    np.testing.assert_allclose(values(ball, "FORCE"), 4.0 * np.arange(count), rtol=1e-6)
    np.testing.assert_allclose(shape_of(ball).points, shown(ball), atol=1e-6)
    frame(20)  # the nearest frame is shown, of which the pressure is another frame's
    assert values(ball, "PRESSURE") is None
    np.testing.assert_allclose(values(ball, "FORCE"), 9.0 * np.arange(count), rtol=1e-6)


def test_strain_is_that_of_the_point_attribute() -> None:
    ball = simulated()
    cache = this_run().cache
    cache._positions[4] = cache._positions[4] * np.array([1.1, 1.0, 0.8], np.float32)
    bpy.context.scene.softpressure.point_attributes = True
    this_session().display.shown.clear()
    frame(5)
    found = attribute(ball.data, point_attributes.STRAIN)
    assert np.abs(found).max() > 0.05
    np.testing.assert_allclose(values(ball, "STRAIN"), found, atol=1e-5)
    assert bpy.ops.softpressure.bake() == {"FINISHED"}  # a bake shows the same
    frame(5)
    np.testing.assert_allclose(values(ball, "STRAIN"), found, atol=1e-5)


def test_without_a_simulation_or_forces_nothing_is_known() -> None:
    ball = add_ball()
    assert values(ball, "PRESSURE") is None and values(ball, "FORCE") is None
    np.testing.assert_allclose(values(ball, "STRAIN"), 0.0, atol=1e-6)
    bpy.context.scene.softpressure.overlay_colour = "NONE"
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(5)
    assert values(ball, "FORCE") is None and values(ball, "PRESSURE") is not None


def test_modifiers_that_subdivide_leave_the_simulated_vertices() -> None:
    ball = simulated()
    ball.modifiers.new("Subdivision", "SUBSURF")
    frame(6)
    shape = shape_of(ball)
    assert len(shape.points) == len(ball.data.vertices) == len(values(ball, "FORCE"))
    np.testing.assert_allclose(shape.points, this_run().cache.positions(0, 6), atol=1e-6)


def shell(obj: Any, thickness: float) -> Any:
    return overlay.shell(obj, shape_of(obj), bpy.context.evaluated_depsgraph_get(), thickness)


@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1), (2, 2, 2)])
@pytest.mark.parametrize("levels", [0, 1])
def test_a_shell_is_a_thickness_outside(scale: Any, levels: int) -> None:
    ball = add_ball()
    ball.scale = scale
    ball.modifiers.new("Subdivision", "SUBSURF").levels = levels
    bpy.context.view_layer.update()
    points = shape_of(ball).points
    centre = points.mean(axis=0)
    radius = np.linalg.norm(points - centre, axis=1)
    outer = np.linalg.norm(shell(ball, 0.1) - centre, axis=1)
    np.testing.assert_allclose(outer - radius, 0.1, rtol=0.01)


@pytest.mark.parametrize("flip", [1.0, -1.0])
def test_a_shell_of_a_squashed_and_turned_ball_has_the_normals_of_an_ellipsoid(flip: float) -> None:
    ball = add_primitive("ico_sphere", subdivisions=5, radius=1.0)
    ball.scale, ball.rotation_euler = (1.0, flip, 0.3), (0.3, 0.0, 0.5)
    bpy.context.view_layer.update()
    expected = mesh_io.read_local(ball.data) @ np.linalg.inv(mesh_io.world_matrix(ball)[:3, :3])
    expected *= 0.01 / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(shell(ball, 0.01) - shape_of(ball).points, expected, atol=2e-4)


def test_thickness_is_set_or_that_of_the_run() -> None:
    scene = bpy.context.scene
    scene.unit_settings.system, scene.unit_settings.scale_length = "METRIC", 0.1
    ball = add_ball()
    before = overlay.thickness_of(scene, ball, shape_of(ball))
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(1)
    run = float(this_run().world.model.thickness[0]) / 0.1
    assert overlay.thickness_of(scene, ball, shape_of(ball)) == pytest.approx(run)
    assert before == pytest.approx(run, rel=1e-5)
    ball.softpressure.thickness = 0.25
    assert overlay.thickness_of(scene, ball, shape_of(ball)) == 0.25


def test_marked_vertices_are_read_again_when_weights_change_but_not_while_frames_do() -> None:
    ball = simulated()
    group = add_group(ball, "pin_group", [1, 2])
    add_group(ball, "goal_group", [2, 3, 4], 0.5)
    pins, pulled, glued = overlay_view._marked(ball, 1)
    assert (pins.tolist(), pulled.tolist(), glued.tolist()) == ([1, 2], [3, 4], [])
    group.add([5], 1.0, "ADD")
    assert overlay_view._marked(ball, 2)[0].tolist() == [1, 2]
    assert overlay_view._marked(ball, 2)[0].tolist() == [1, 2, 5]


def test_a_link_leads_to_the_other_body() -> None:
    box, ball = add_ball("Box", (0, 0, 4), "RIGID"), add_ball()
    line = overlay.link(shape_of(ball), np.array([0, 1], np.int32), box)
    np.testing.assert_allclose(line[1], (0, 0, 4), atol=1e-6)
    np.testing.assert_allclose(line[0], shape_of(ball).points[:2].mean(axis=0), atol=1e-6)


def test_a_tube_leads_from_one_body_over_its_hose_to_the_other() -> None:
    one, other = add_ball("One", (0, 0, 4)), add_ball("Other", (3, 0, 4))
    hose = hoses.add(bpy.context.scene, one, other)
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    expected = [(0, 0, 4), (1.5, 0, 4), (1.5, 0, 4), (3, 0, 4)]
    np.testing.assert_allclose(overlay.tube(hose, depsgraph), expected, atol=1e-5)
    hose.softpressure.hose_to = None
    assert len(overlay.tube(hose, depsgraph)) == 0


def test_the_simulated_mesh_is_shown_where_the_drawn_one_follows_it() -> None:
    obj = add_primitive("monkey", None, location=(0, 0, 3))
    obj.softpressure.simulation_mesh = "EVEN"
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    scene = bpy.context.scene
    assert len(overlay.simulated(scene, obj, shape_of(obj))) == 0  # not known yet
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    (body,) = this_run().start.bodies
    corners = np.unique(body.triangles)
    for number in (1, scene.softpressure.frame_end):
        frame(number)
        lines = overlay.simulated(scene, obj, shape_of(obj))
        assert len(lines) == 3 * len(body.triangles)  # each of three sides, which two share, has two ends
        fallen = shown(obj).mean(axis=0) - body.drawn.positions.mean(axis=0)
        expected = body.positions[corners] + fallen
        np.testing.assert_allclose(np.unique(lines, axis=0).mean(axis=0), expected.mean(axis=0), atol=0.01)
    obj.softpressure.simulation_mesh = "DRAWN"
    ball = add_ball()
    assert len(overlay.simulated(scene, ball, shape_of(ball))) == 0
