"""Groups, animation, attachments, tears and the mouse act on drawn meshes that follow even ones."""

import math
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import FallingWorld, add_beast, add_group, add_object, finish, frame, key, play
from bpy_seen import attribute, captured, rest, shown, this_run, this_session
from softpressure_ext.core.cache import NEVER
from softpressure_ext.softpressure.scene_io.point_attributes import FORCE, STRAIN, TORN


def head(obj: Any) -> Any:
    x = rest(obj)[:, 0]
    return np.flatnonzero(x > x.min() + 0.8 * np.ptp(x))


def raise_and_turn(obj: Any) -> None:
    """Key a way of 1 m upwards and a turn by a right angle, in ten frames."""
    key(obj, "location", (1, 0.0), (11, 1.0), index=2)
    key(obj, "rotation_euler", (1, 0.0), (11, 0.5 * math.pi), index=2)


def by_armature(obj: Any) -> Any:
    """An armature with one bone for all of an object, keyed to turn and to stretch it."""
    armature = add_object("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    add_group(obj, "", range(len(obj.data.vertices)), name="Bone")
    obj.modifiers.new("Rig", "ARMATURE").object = armature
    pose = armature.pose.bones["Bone"]
    pose.rotation_mode = "XYZ"
    key(pose, "rotation_euler", (1, 0.0), (11, 0.5), index=0)
    key(pose, "scale", (1, 1.0), (11, 1.3), index=0)
    bpy.context.view_layer.objects.active = obj
    return armature


def by_shape_key(obj: Any) -> None:
    """Key a shape that is bent and raised."""
    obj.shape_key_add(name="Basis")
    bent = obj.shape_key_add(name="Bent", from_mix=False)
    for point in bent.data:
        point.co.z += 0.5 + 0.3 * point.co.x**2
    key(bent, "value", (1, 0.0), (11, 1.0))


def animated(obj: Any, number: int) -> Any:
    """Where the animation has the vertices of an object at a frame, without simulation."""
    obj.softpressure.kind = "NONE"
    frame(number)
    found = shown(obj)
    obj.softpressure.kind = "SOFT"
    return found


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("simulated", ["EVEN", "DRAWN"])
@pytest.mark.parametrize("lead", [raise_and_turn, by_armature, by_shape_key])
def test_pinned_vertices_are_where_the_animation_has_them_and_so_is_what_is_simulated(
    lead: Any, simulated: str
) -> None:
    obj = add_beast(simulation_mesh=simulated)
    pins = head(obj)
    add_group(obj, "pin_group", pins)
    lead(obj)
    wanted = animated(obj, 8)
    play(1, 8)
    drawn, pinned = captured().drawn, captured().pinned
    np.testing.assert_allclose(shown(obj)[pins], wanted[pins], atol=2e-6)
    given = FallingWorld.made[-1].given[-1].pinned_positions[0]
    if simulated == "EVEN":
        assert 20 < len(pinned) < 400
        np.testing.assert_allclose(given, drawn.inverse.positions(wanted, pinned), atol=2e-6)
    else:
        np.testing.assert_array_equal(pinned, pins)
        np.testing.assert_allclose(given, wanted[pins], atol=2e-6)
    assert np.abs(given - captured().positions[pinned]).max() > 0.1


@pytest.mark.usefixtures("falling")
def test_another_drawn_vertex_that_is_pinned_makes_the_start_another() -> None:
    obj = add_beast(simulation_vertices=100)
    add_group(obj, "pin_group", head(obj))
    frame(1)
    before, pinned = this_run().start.fingerprint(), captured().pinned
    obj.vertex_groups["Group"].remove([int(head(obj)[3])])
    frame(2)
    frame(1)
    np.testing.assert_array_equal(captured().pinned, pinned)  # of what is simulated the same
    assert this_run().start.fingerprint() != before


@pytest.mark.usefixtures("falling")
def test_goals_have_weights_and_follow_the_animation_and_a_goal_of_one_is_a_pin() -> None:
    obj = add_beast()
    x = rest(obj)[:, 0]
    ramp = np.clip((x - x.min()) / (0.8 * np.ptp(x)), 0.0, 1.0)
    add_group(obj, "goal_group", range(len(x)), ramp)
    raise_and_turn(obj)
    wanted = animated(obj, 6)
    play(1, 6)
    pulled, pinned, at_start = captured().pulled, captured().pinned, captured().positions
    ours = np.clip((at_start[:, 0] - x.min()) / (0.8 * np.ptp(x)), 0.0, 1.0)
    assert not np.isin(pulled.vertices, pinned).any()
    assert np.sqrt(np.mean((pulled.weights - ours[pulled.vertices]) ** 2)) < 0.02
    assert ours[pinned].min() > 0.9
    given = FallingWorld.made[-1].given[-1].goal_positions[0]
    np.testing.assert_allclose(given, captured().drawn.inverse.positions(wanted, pulled.vertices), atol=2e-6)


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("lead", [raise_and_turn, by_armature, by_shape_key])
def test_a_held_body_shows_its_own_animation_and_is_released_where_it_is(lead: Any) -> None:
    obj = add_beast()
    lead(obj)
    key(obj.softpressure, "is_active", (1, False), (6, True))
    wanted = [animated(obj, number) for number in (3, 5)]
    frame(1)
    play(1, 7)
    assert captured().drawn is not None
    for number, places in zip((3, 5), wanted, strict=True):
        frame(number)
        np.testing.assert_allclose(shown(obj), places, atol=2e-6)
    frame(6)
    fall = shown(obj) - wanted[1]
    size = np.ptp(rest(obj), axis=0).max()
    assert np.quantile(np.linalg.norm(fall - fall.mean(axis=0), axis=1), 0.95) < 0.005 * size
    assert fall[:, 2].mean() == pytest.approx(-9.81 * 5 / 24.0**2, rel=0.01)  # the stand-in kept falling meanwhile


@pytest.mark.usefixtures("falling")
def test_weights_of_tears_and_the_group_of_an_attachment_go_over() -> None:
    one, other = add_beast(tear_strain=0.5), add_beast("Other", (1.1, 0, 2))
    one.softpressure.attach_to = other
    add_group(one, "attach_group", head(one))
    add_group(one, "weak_group", head(one), 0.25)
    play(1, 2)
    number = next(n for n in (0, 1) if captured(n).name == "Beast")
    mine = captured(number)
    near = np.quantile(rest(one)[:, 0], 0.5)
    assert mine.drawn is not None and mine.attached_uid == other.session_uid
    assert len(mine.attached) > 10 and mine.positions[mine.attached, 0].min() > near
    vertices, weights = mine.weak
    assert weights.max() == pytest.approx(0.25) and mine.positions[vertices, 0].min() > near


@pytest.mark.usefixtures("falling")
def test_drawn_faces_on_torn_triangles_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    obj = add_beast(tear_strain=0.5)
    tops: list[Any] = []

    def torn(self: FallingWorld, _membrane: int, triangles: Any) -> Any:
        heights = captured().positions[triangles][:, :, 2].mean(axis=1)
        tops.append(np.quantile(heights, 0.9))
        return heights > tops[-1] if self.state.frame >= 3 else np.zeros(len(triangles), bool)

    monkeypatch.setattr(FallingWorld, "torn_triangles", torn)
    play(1, 6)
    flat = attribute(obj.data, TORN)
    corners = np.array([polygon.vertices[:] for polygon in obj.data.polygons])
    heights = rest(obj)[corners][:, :, 2].mean(axis=1)
    assert set(flat.tolist()) == {4.0, float(NEVER)}
    assert (flat[heights > tops[-1] + 0.05] == 4.0).all() and (flat[heights < tops[-1] - 0.05] > 4.0).all()


def test_the_mouse_grabs_what_is_drawn_and_moves_it(begin: Any, weightless: None) -> None:
    obj = add_beast(simulation_vertices=300)
    playing, x = begin(), rest(obj)
    mesh_faces = np.array([polygon.vertices[:] for polygon in obj.data.polygons])
    target = x[mesh_faces[np.argmax(x[mesh_faces][:, :, 2].mean(axis=1))]].mean(axis=0)
    place = playing.hand.grab(target + (0, 0, 5), (0, 0, -1))
    np.testing.assert_allclose(place, target, atol=1e-4)  # on the drawn face, not on the simulated one below
    for _ in range(6):
        place = place + (0.0, 0.0, 0.05)
        playing.hand.drag(place)
        finish(playing.step())
    assert playing.hand.body_name == "Beast" and playing.hand.force > 0.0
    assert (shown(obj) - x)[:, 2].mean() > 0.05


@pytest.mark.usefixtures("falling")
def test_attributes_and_colours_are_those_of_drawn_vertices() -> None:
    scene = bpy.context.scene
    scene.softpressure.point_attributes = True
    obj = add_beast()
    play(1, 4)
    for name in (STRAIN, FORCE):
        assert len(obj.data.attributes[name].data) == len(obj.data.vertices)
    flat = attribute(obj.data, STRAIN)
    assert np.abs(flat).max() < 1e-3  # it only falls


def test_a_hanging_beast_stays_at_its_pins_and_tears_off_where_it_is_weak() -> None:
    scene = bpy.context.scene
    scene.frame_end = 8
    obj = add_beast(simulation_vertices=300, tear_strain=0.3, mass=20.0, stretch_modulus=2e3, self_collision=False)
    x = rest(obj)
    add_group(obj, "pin_group", head(obj))
    middle = np.flatnonzero(np.abs(x[:, 0] - np.quantile(x[:, 0], 0.6)) < 0.1)
    add_group(obj, "weak_group", middle)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert not this_session().refusals.error
    frame(8)
    np.testing.assert_allclose(shown(obj)[head(obj)], x[head(obj)], atol=1e-5)
    flat = attribute(obj.data, TORN)
    assert 0 < (flat < NEVER).sum() < len(flat)
