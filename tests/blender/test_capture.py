"""Input of the solver from Blender: shapes, pins, pressures and colliders, in world space."""

import math
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import FallingWorld, add_ball, add_floor, add_group, add_mesh, add_object, frame, key, play
from bpy_seen import rest, shown, this_run, this_session
from softpressure_ext.core.topology import signed_volume

pytestmark = pytest.mark.usefixtures("falling")


def start() -> Any:
    frame(1)
    assert not this_session().refusals.error
    return this_run().start


def test_shapes_are_captured_in_world_space_with_rotation_scale_and_parents() -> None:
    parent = add_object("Parent")
    parent.location, parent.rotation_euler, parent.scale = (1, 2, 3), (0.3, 0.2, 0.1), (2, 2, 2)
    ball = add_ball()
    ball.parent = parent
    ball.scale = (1, 0.5, 1.5)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(start().bodies[0].positions, rest(ball), atol=1e-6)
    volume = signed_volume(start().bodies[0].positions, start().bodies[0].triangles)
    assert volume == pytest.approx(8 * 0.75 * ball_volume(), rel=1e-5)


def ball_volume() -> float:
    ball = add_ball("Reference", kind=None)
    ball.data.calc_loop_triangles()
    triangles = np.array([t.vertices[:] for t in ball.data.loop_triangles], np.int32)
    positions = np.array([v.co[:] for v in ball.data.vertices], float)
    bpy.data.objects.remove(ball)
    return float(signed_volume(positions, triangles))


@pytest.mark.parametrize("scale", [(-1, 1, 1), (-2, -1, -1)])
def test_negative_scale_turns_the_winding_and_is_shown_right(scale: tuple[float, float, float]) -> None:
    ball = add_ball()
    ball.scale = scale
    bpy.context.view_layer.update()
    captured = start().bodies[0]
    assert signed_volume(captured.positions, captured.triangles) > 0.0
    rest_shape = rest(ball)
    frame(2)
    fall = 9.81 / 24**2
    np.testing.assert_allclose(shown(ball), rest_shape - (0, 0, fall), atol=2e-6)


def test_polygons_are_triangulated_for_physics_only() -> None:
    bpy.ops.mesh.primitive_cylinder_add(vertices=8, end_fill_type="NGON", location=(0, 0, 3))
    obj = bpy.context.object
    polygons = [tuple(polygon.vertices) for polygon in obj.data.polygons]
    bpy.ops.softpressure.add_body()
    assert len(start().bodies[0].triangles) == 2 * 8 + 2 * 6
    assert [tuple(polygon.vertices) for polygon in obj.data.polygons] == polygons


def test_subdivision_follows_and_does_not_enter_the_simulation_of_what_is_drawn() -> None:
    ball = add_ball(simulation_mesh="DRAWN")
    ball.modifiers.new("Subdivision", "SUBSURF")
    count = len(ball.data.vertices)
    assert len(start().bodies[0].positions) == count
    np.testing.assert_allclose(start().bodies[0].positions, rest(ball), atol=1e-6)
    smooth = shown(ball)
    assert len(smooth) > count
    frame(2)
    np.testing.assert_allclose(shown(ball), smooth - (0, 0, 9.81 / 24**2), atol=2e-6)


def test_a_deforming_modifier_shapes_the_start_and_acts_only_once() -> None:
    ball = add_ball()
    ball.modifiers.new("Turn", "SIMPLE_DEFORM").angle = 1.0
    ball.modifiers["Turn"].deform_method = "TAPER"
    ball.modifiers["Turn"].factor = 0.5
    tapered = shown(ball)
    assert abs(tapered - rest(ball)).max() > 0.05
    np.testing.assert_allclose(start().bodies[0].positions, tapered, atol=1e-6)
    np.testing.assert_allclose(shown(ball), tapered, atol=1e-6)
    frame(2)
    np.testing.assert_allclose(shown(ball), tapered - (0, 0, 9.81 / 24**2), atol=1e-6)
    bpy.ops.softpressure.reset()
    np.testing.assert_allclose(shown(ball), tapered, atol=1e-6)


def pin_top(ball: Any) -> list[int]:
    top = [v.index for v in ball.data.vertices if v.co.z > 0.3]
    low = [v.index for v in ball.data.vertices if v.co.z < -0.3]
    add_group(ball, "pin_group", top + low, [1.0] * len(top) + [0.5] * len(low), "Pin")  # a half is none
    return top


def test_painting_another_pin_weight_resets_at_the_first_frame() -> None:
    ball = add_ball()
    top = pin_top(ball)
    play(1, 3)
    assert this_run().start.bodies[0].pinned.tolist() == top
    equator = next(v.index for v in ball.data.vertices if abs(v.co.z) < 0.1)
    ball.vertex_groups["Pin"].add([equator], 1.0, "REPLACE")
    frame(1)
    assert this_run().cache.last_frame == 1
    assert equator in this_run().start.bodies[0].pinned


def test_still_colliders_are_given_once_and_moving_ones_each_frame() -> None:
    add_ball()
    still = add_floor(size=10.0)
    mover = add_ball("Mover", (3, 0, 0), kind="COLLIDER")
    key(mover, "location", (1, (3, 0, 0)), (3, (1, 0, 0)))
    captured = start()
    assert [obstacle.name for obstacle in captured.colliders] == ["Floor", "Mover"]
    np.testing.assert_allclose(captured.colliders[0].positions, rest(still), atol=1e-6)
    begin = captured.colliders[1].positions.copy()
    play(2, 5)
    given = FallingWorld.made[-1].given
    assert [sorted(each.collider_positions) for each in given] == [[1], [1], [], []]  # stands still after frame 3
    np.testing.assert_allclose(given[1].collider_positions[1], begin - (2, 0, 0), atol=1e-5)


@pytest.mark.smoke
def test_a_collider_deformed_by_a_modifier_is_read_evaluated() -> None:
    add_ball()
    hook = add_object("Hook")
    floor = add_floor(size=10.0)
    modifier = floor.modifiers.new("Hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set([0, 1, 2, 3])
    key(hook, "location", (1, 0.0), (3, 1.0), index=2)
    play(1, 3)
    assert not this_session().refusals.error
    np.testing.assert_allclose(FallingWorld.made[-1].given[1].collider_positions[0][:, 2], 1.0, atol=1e-5)


def test_a_collider_may_be_open_loose_and_partly_degenerate() -> None:
    add_ball()
    vertices = [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (0, 0, 9), (1, 0, 0), (1, 0, 0), (1, 0, 0)]
    add_mesh("Scrap", vertices, [(0, 1, 2), (4, 5, 6)])
    assert bpy.ops.softpressure.add_body(kind="COLLIDER") == {"FINISHED"}
    obstacle = start().colliders[0]
    assert obstacle.positions.shape == (3, 3)
    assert obstacle.triangles.tolist() == [[0, 1, 2]]


def test_a_collider_that_changes_its_topology_stops_with_a_sentence() -> None:
    add_ball()
    floor = add_floor(size=10.0)
    array = floor.modifiers.new("Array", "ARRAY")
    key(array, "count", (1, 1), (2, 3))
    play(1, 3)
    assert "Floor: changes from 4 to 12 vertices" in this_session().refusals.error
    assert this_run().cache.last_frame == 1


def test_a_body_far_from_the_origin_keeps_its_shape() -> None:
    ball = add_ball(location=(1000, -2000, 500))
    frame(1)
    np.testing.assert_allclose(shown(ball), rest(ball), atol=2e-4)  # float32 at 2 km: 1.2e-4 m
    assert math.isclose(shown(ball)[:, 0].mean(), 1000.0, abs_tol=1e-3)
