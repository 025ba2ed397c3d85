"""Copying settings to other objects, and the list of bodies."""

from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, add_group, add_mesh, as_drawn, frame, play, select
from bpy_seen import height, this_run
from softpressure_ext.panels.bodies import SOFTPRESSURE_UL_bodies
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.scene_io import mesh_io
from softpressure_ext.softpressure.scene_io.point_attributes import FORCE, TORN


def copy() -> Any:
    return bpy.ops.softpressure.copy_to_selected()


@pytest.mark.smoke
def test_kind_and_all_settings_are_copied() -> None:
    other, ball = add_ball("Other", (3, 0, 5), None), add_ball(mass=3.0, gauge_pressure=700.0, velocity=(1, 2, 3))
    other.softpressure.friction = 0.1  # the ball has the default
    select(other, ball)
    assert copy() == {"FINISHED"}
    settings = other.softpressure
    assert (settings.kind, settings.mass, settings.gauge_pressure) == ("SOFT", 3.0, 700.0)
    assert tuple(settings.velocity) == (1.0, 2.0, 3.0)
    assert settings.friction == ball.softpressure.friction and not settings.is_property_set("friction")
    assert mesh_io.live_key(other) is not None
    play(1, 3)
    assert set(this_run().object_uids) == {ball.session_uid, other.session_uid}


def test_a_type_and_a_shape_are_copied_too() -> None:
    other, ball = add_ball("Other", (3, 0, 5)), add_ball()
    ball.softpressure.body_type = "SOLID"
    select(other, ball)
    copy()
    assert other.softpressure.body_type == "SOLID"
    ball.softpressure.kind, ball.softpressure.rigid_shape = "RIGID", "MESH"
    copy()
    assert (other.softpressure.kind, other.softpressure.rigid_shape) == ("RIGID", "MESH")
    assert other.softpressure.bounciness == ball.softpressure.bounciness


def test_an_object_that_cannot_be_such_a_body_is_reported_and_unchanged(capfd: pytest.CaptureFixture[str]) -> None:
    square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 1)]
    plane = as_drawn(add_mesh("Plane", square, [(0, 1, 2, 3)]))
    other, ball = add_ball("Other", (3, 0, 5), None), add_ball(mass=3.0)
    select(plane, other, ball)
    assert copy() == {"FINISHED"}
    assert "open edges" in capfd.readouterr().out
    assert plane.softpressure.kind == "NONE" and other.softpressure.mass == 3.0
    assert plane.softpressure.mass == 1.0


def test_a_baked_body_keeps_its_settings(falling: Any) -> None:
    other, ball = add_ball("Other", (3, 0, 5)), add_ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()
    select(other, ball)
    with pytest.raises(RuntimeError, match=r"Other: is baked\. Free the bake"):
        copy()


def test_vertex_groups_are_copied_where_they_are(capfd: pytest.CaptureFixture[str]) -> None:
    other, third, ball = add_ball("Other", (3, 0, 5)), add_ball("Third", (6, 0, 5)), add_ball(pin_group="top")
    for obj in (ball, third):
        add_group(obj, "", [0], name="top")
    ball.softpressure.attach_to, ball.softpressure.attach_group = other, "top"
    select(other, third, ball)
    copy()
    assert "Other: has the settings of Ball except its vertex groups: it has no top" in capfd.readouterr().out
    assert other.softpressure.pin_group == "" and third.softpressure.pin_group == "top"
    assert other.softpressure.attach_to is None and third.softpressure.attach_to == other


@pytest.mark.smoke
def test_the_list_shows_bodies_by_name_and_a_click_selects() -> None:
    for name, kind in (("c", "SOFT"), ("a", None), ("B", "COLLIDER"), ("A2", "RIGID")):
        add_ball(name, kind=kind)
    scene = bpy.context.scene
    panel = SimpleNamespace(bitflag_filter_item=1, filter_name="")
    flags, order = SOFTPRESSURE_UL_bodies.filter_items(panel, bpy.context, scene, "objects")
    named = sorted((place, obj.name) for flag, place, obj in zip(flags, order, scene.objects, strict=True) if flag)
    assert [name for _, name in named] == ["A2", "B", "c"]
    panel.filter_name = "b"
    flags, _ = SOFTPRESSURE_UL_bodies.filter_items(panel, bpy.context, scene, "objects")
    assert [obj.name for flag, obj in zip(flags, scene.objects, strict=True) if flag] == ["B"]
    scene.softpressure.active_body = scene.objects.find("B")
    assert bpy.context.view_layer.objects.active.name == "B"
    assert [obj.name for obj in bpy.context.selected_objects] == ["B"]
    assert scene.softpressure.active_body == scene.objects.find("B")
    scene.softpressure.active_body = 99  # there is no such object
    assert bpy.context.view_layer.objects.active.name == "B"


def test_the_list_says_how_each_is_doing(falling: Any) -> None:
    ball, scene = add_ball(), bpy.context.scene
    assert status.state_icon(scene, ball) == "BLANK1"
    play(1, 3)
    assert status.state_icon(scene, ball) == "CHECKMARK"
    ball.softpressure.mass = 2.0
    assert status.state_icon(scene, ball) == "FILE_REFRESH"
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()
    assert status.state_icon(scene, ball) == "KEYFRAME_HLT"
    bpy.ops.softpressure.free_bake()
    ball.scale.z = 0.0
    bpy.context.view_layer.update()
    assert status.state_icon(scene, ball) == "ERROR"


@pytest.mark.usefixtures("falling")
def test_linked_copies_of_a_scene_show_each_its_own_simulation() -> None:
    """Shapes, places, origins that follow, point attributes and torn faces: all that a frame shows."""
    ball, first = add_ball(origin_follows=True), bpy.context.scene
    crate = add_ball("Crate", location=(3, 0, 5), kind="RIGID")

    def seen() -> tuple[float, ...]:
        return height(ball), height(crate), ball.matrix_world.translation.z

    first.softpressure.point_attributes = True
    bpy.ops.softpressure.simulate()
    ball.data.calc_loop_triangles()
    this_run().cache.torn[0] = np.full(len(ball.data.loop_triangles), 3, np.int32)
    frame(6)
    own = seen()
    bpy.ops.scene.new(type="LINK_COPY")
    second = bpy.context.window.scene
    assert second != first and set(second.objects) == set(first.objects)
    second.gravity[2], second.softpressure.point_attributes = -1.0, False
    bpy.ops.softpressure.simulate()
    frame(6)
    others = seen()
    assert all(other > mine + 0.1 for other, mine in zip(others, own, strict=True))
    for scene, expected in ((first, own), (second, others), (first, own)):
        bpy.context.window.scene = scene
        bpy.context.view_layer.update()
        assert seen() == pytest.approx(expected, abs=1e-6)
        assert (FORCE in ball.data.attributes) == (TORN in ball.data.attributes) == (scene == first)
