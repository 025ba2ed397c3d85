"""Bodies whose mesh others use, too, that come from another file, or that have shape keys of their own."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import body_rows
from bpy_scene import add_ball, add_group, add_object, frame, interpolate, key, play, reopen, select
from bpy_seen import fingerprint, height, problem_of, rest, shown, state_text, this_run, this_session, told
from softpressure_ext.softpressure.bodies import setup
from softpressure_ext.softpressure.scene_io import actions, mesh_io, modifier_stack

pytestmark = pytest.mark.usefixtures("falling")


def test_a_mesh_of_several_users_is_left_alone_and_its_body_gets_a_copy() -> None:
    ball = add_ball(kind=None)
    twin = ball.copy()
    bpy.context.collection.objects.link(twin)
    before = fingerprint(twin)
    notes, refusals = setup.add_all(bpy.context.scene, [ball], "SOFT")
    assert refusals == [] and "with a mesh of its own: Ball has other users, too" in notes[0]
    assert ball.data != twin.data and twin.data.name == "Ball" and fingerprint(twin) == before
    play(1, 5)
    assert height(ball) < 5.0 and fingerprint(twin) == before


def test_a_fake_user_is_none() -> None:
    ball = add_ball(kind=None)
    ball.data.use_fake_user = True
    mesh = ball.data
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    assert ball.data == mesh and problem_of(ball) == ""


@pytest.mark.parametrize("way", ["timeline", "simulate", "live"])
def test_a_linked_duplicate_of_a_body_that_works_stops_neither(way: str) -> None:
    ball = add_ball()
    play(1, 5)
    fallen = shown(ball)
    select(ball)
    bpy.ops.object.duplicate(linked=True)  # Alt D
    copy = bpy.context.object
    copy.location.x = 3.0
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(shown(ball), fallen)  # goes on showing it
    frame(4)
    frame(5)
    np.testing.assert_array_equal(shown(ball), fallen)
    assert copy.data == ball.data
    if way == "timeline":
        play(1, 6)
    elif way == "simulate":
        assert bpy.ops.softpressure.simulate() == {"FINISHED"}
        frame(6)
    else:
        frame(1)
        assert bpy.ops.softpressure.live_play(frames=10, keep="SHAPE_KEY") == {"FINISHED"}
    assert copy.data != ball.data and told() == ""
    if way != "live":
        assert this_run().cache.body_names == ("Ball", "Ball.001")
        assert height(copy) == pytest.approx(height(ball), abs=1e-5) and height(ball) < 5.0
        assert shown(copy)[:, 0].mean() == pytest.approx(3.0, abs=1e-5)


@pytest.mark.parametrize("becomes", ["NONE", "RIGID", "COLLIDER"])
def test_what_becomes_of_a_linked_duplicate_does_not_touch_the_original(becomes: str) -> None:
    ball = add_ball()
    play(1, 5)
    fallen, before = shown(ball), fingerprint(ball)
    bpy.ops.object.duplicate(linked=True)
    copy = bpy.context.object
    copy.softpressure.kind = becomes
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(shown(ball), fallen)
    assert fingerprint(ball) == before and mesh_io.live_key(copy) is None
    assert abs(rest(copy) - rest(ball)).max() == 0.0


@pytest.mark.parametrize("kind", ["SOFT", "RIGID", "COLLIDER"])
def test_bodies_wait_while_their_mesh_is_edited_at_another_object(kind: str) -> None:
    ball = add_ball(kind=kind)
    add_ball("Falling", (3, 0, 5))
    play(1, 3)
    twin = add_object("Twin", ball.data)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = twin
    bpy.ops.object.mode_set(mode="EDIT")
    assert ball.mode == "OBJECT" and "Ball: is in Edit Mode" in problem_of(ball) and "Ball" in told()
    select(ball)
    assert body_rows()
    frame(4)
    assert this_run().cache.last_frame == 3 and this_session().refusals.error == ""
    bpy.context.view_layer.objects.active = twin
    bpy.ops.object.mode_set(mode="OBJECT")
    assert problem_of(ball) == ""
    play(1, 4)
    assert this_run().cache.last_frame == 4


def test_what_was_given_the_mesh_of_a_body_keeps_no_frame_of_it() -> None:
    ball, other = add_ball(), add_ball("Other", (3, 0, 5), kind=None)
    at_rest = mesh_io.read_rest(ball)
    play(1, 4)
    select(other, ball)
    bpy.ops.object.make_links_data(type="OBDATA")
    assert other.data == ball.data
    play(1, 6)
    assert other.data != ball.data and height(ball) < 5.0
    assert other.data.shape_keys is None
    np.testing.assert_array_equal(mesh_io.read_local(other.data), at_rest)


def test_freeing_one_of_two_that_share_a_bake_leaves_the_other() -> None:
    ball = add_ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()
    bpy.ops.object.duplicate(linked=True)
    copy, before = bpy.context.object, fingerprint(ball)
    copy.softpressure.kind = "NONE"
    assert fingerprint(ball) == before and ball.softpressure.is_baked and copy.data.shape_keys is None


# -- shape keys of one's own


def with_keys(kind: str | None = "SOFT") -> Any:
    """A ball with a key that lifts it by 1 m, at 0.5, and one that widens it, at 0."""
    ball = add_ball(kind=None)
    ball.shape_key_add(name="Basis")
    up, wide = ball.shape_key_add(name="Up"), ball.shape_key_add(name="Wide")
    for point in up.points:
        point.co.z += 1.0
    for point in wide.points:
        point.co.x *= 2.0
    up.value, wide.value = 0.5, 0.0
    bpy.context.view_layer.update()
    if kind:
        assert bpy.ops.softpressure.add_body(kind=kind) == {"FINISHED"}
    return ball


def own(ball: Any) -> dict[str, Any]:
    """What a person made of the keys."""
    found = fingerprint(ball)
    return {name: found[name] for name in ("Basis", "Up", "Wide", "relative")}


def test_the_mix_of_own_keys_is_the_rest_shape() -> None:
    ball = with_keys(None)
    mixed, before = shown(ball), own(ball)
    bpy.ops.softpressure.add_body(kind="SOFT")
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown(ball), mixed, atol=1e-6)
    frame(1)
    np.testing.assert_allclose(shown(ball), mixed, atol=1e-6)
    assert this_run().start.bodies[0].positions == pytest.approx(mixed, abs=1e-6)
    play(2, 4)
    fallen = 9.81 / 24**2 * 3 * 4 / 2
    np.testing.assert_allclose(shown(ball), mixed - [0, 0, fallen], atol=1e-5)
    bpy.ops.softpressure.remove_body()
    assert own(ball) == before and list(ball.data.shape_keys.key_blocks.keys()) == ["Basis", "Up", "Wide"]


def test_a_changed_mix_makes_the_frames_out_of_date_and_an_idle_key_does_not() -> None:
    ball = with_keys()
    play(1, 3)
    keys = ball.data.shape_keys.key_blocks
    for point in keys["Wide"].points:
        point.co.x *= 1.5
    bpy.context.view_layer.update()
    assert not state_text().startswith("Out")
    keys["Up"].value = 0.25
    bpy.context.view_layer.update()
    assert state_text().startswith("Out")
    play(1, 2)
    assert this_run().start.bodies[0].positions[:, 2].mean() == pytest.approx(5.25, abs=1e-5)
    frame(1)
    for point in keys["Up"].points:
        point.co.z += 1.0
    bpy.context.view_layer.update()
    assert state_text().startswith("Out")


def test_animated_keys_move_the_pins() -> None:
    ball = with_keys(None)
    up = ball.data.shape_keys.key_blocks["Up"]
    key(up, "value", (1, 0.0), (9, 0.8))
    interpolate(ball.data.shape_keys)
    frame(1)
    bpy.ops.softpressure.add_body(kind="SOFT")
    add_group(ball, "pin_group", [0])
    start = rest(ball)[0]
    play(1, 6)
    np.testing.assert_allclose(shown(ball)[0], start + [0, 0, 0.5], atol=1e-5)
    assert height(ball) < 5.0


@pytest.mark.parametrize("target", ["SHAPE_KEYS", "RELATIVE_KEYS"])
@pytest.mark.parametrize("is_animated", [False, True])
def test_a_bake_leaves_own_keys_and_their_animation(target: str, is_animated: bool, tmp_path: Path) -> None:
    ball = with_keys()
    keys = ball.data.shape_keys
    if is_animated:
        key(keys.key_blocks["Up"], "value", (1, 0.5), (9, 0.8))
        action = keys.animation_data.action.name
    bpy.context.scene.softpressure.key_error = 0.0
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    seen = {}
    for number in (1, 4, 10):
        frame(number)
        seen[number] = shown(ball)
    frame(1)
    modifier_stack.show(ball, modifier_stack.Stage.REST)
    before = own(ball)
    assert bpy.ops.softpressure.bake(target=target) == {"FINISHED"}
    for number, positions in seen.items():
        frame(number)
        np.testing.assert_allclose(shown(ball), positions, atol=2e-5)
    reopen(tmp_path)
    ball = bpy.data.objects["Ball"]
    for number, positions in seen.items():
        frame(number)
        np.testing.assert_allclose(shown(ball), positions, atol=2e-5)
    frame(1)
    assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
    keys = ball.data.shape_keys
    assert list(keys.key_blocks.keys()) == ["Basis", "Up", "Wide", "SP Live"]
    if is_animated:
        assert keys.animation_data.action.name == action
        assert actions.animated_paths(keys) == {'key_blocks["Up"].value'}
    frame(4)
    np.testing.assert_allclose(shown(ball), seen[4], atol=1e-5)
    frame(1)
    modifier_stack.show(ball, modifier_stack.Stage.REST)
    assert own(ball) == before
    assert not [each.name for each in bpy.data.actions if each.name.startswith("SP ")]


# -- other files


def from_library(tmp_path: Path, kind: str | None = None) -> Any:
    """The ball, linked from another file."""
    ball = add_ball(kind=kind)
    path = tmp_path / "library.blend"
    bpy.data.libraries.write(str(path), {ball}, fake_user=True)
    return link_ball(path)


def link_ball(path: Path) -> Any:
    """The ball of a file, linked into an empty one."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["Ball"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    select(linked)
    bpy.context.view_layer.update()
    return linked


@pytest.mark.parametrize("had", [None, "SOFT"])
@pytest.mark.parametrize("kind", ["SOFT", "RIGID"])
def test_an_override_is_simulated_with_data_of_its_own_that_the_file_keeps(
    tmp_path: Path, kind: str, had: str | None
) -> None:
    ball = from_library(tmp_path, had).override_create(remap_local_usages=True)
    select(ball)
    assert bpy.ops.softpressure.add_body(kind=kind) == {"FINISHED"}
    ball.softpressure.mass = 3.0
    bpy.context.view_layer.update()
    assert problem_of(ball) == ""
    if kind == "SOFT":
        assert ball.data.library is None
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(6)
    fallen = shown(ball)
    assert fallen[:, 2].mean() < 5.0
    reopen(tmp_path)
    (ball,) = [obj for obj in bpy.data.objects if obj.override_library is not None]
    assert (ball.softpressure.kind, ball.softpressure.mass) == (kind, 3.0)
    frame(6)
    np.testing.assert_allclose(shown(ball), fallen, atol=1e-6)
    assert state_text() == "Cache: frames 1–10 of 10"
    assert bpy.ops.softpressure.bake() == {"FINISHED"}
    frame(6)
    np.testing.assert_allclose(shown(ball), fallen, atol=2e-5)
    assert bpy.ops.softpressure.free_bake() == {"FINISHED"}


@pytest.mark.parametrize("kind", ["SOFT", "RIGID"])
@pytest.mark.parametrize("had", [None, "SOFT"])
def test_a_linked_object_is_refused_with_the_way_out(tmp_path: Path, kind: str, had: str | None) -> None:
    ball = from_library(tmp_path, had)
    with pytest.raises(RuntimeError, match=r"Make\s+an\s+override"):
        bpy.ops.softpressure.add_body(kind=kind)
    select(ball.override_create(remap_local_usages=True))  # the way out
    assert bpy.ops.softpressure.add_body(kind=kind) == {"FINISHED"}
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}


@pytest.mark.parametrize("kind", ["SOFT", "RIGID"])
def test_what_was_baked_in_another_file_plays_beside_what_is_simulated(tmp_path: Path, kind: str) -> None:
    add_ball(kind=kind)
    assert bpy.ops.softpressure.simulate() == bpy.ops.softpressure.bake() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    linked = link_ball(tmp_path / "library.blend")
    mine = add_ball("Mine", (3, 0, 5))
    assert problem_of(linked) == "" and not bpy.ops.softpressure.free_bake.poll()
    assert bpy.ops.softpressure.simulate() == bpy.ops.softpressure.bake() == {"FINISHED"}
    frame(6)
    np.testing.assert_allclose(shown(linked) + (3, 0, 0), shown(mine), atol=1e-5)
    assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
    assert linked.softpressure.is_baked and not mine.softpressure.is_baked


def test_a_linked_collider_takes_part(tmp_path: Path) -> None:
    from_library(tmp_path, "COLLIDER")
    add_ball("Other", (0, 0, 8))
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert [part.name for part in this_run().start.colliders] == ["Ball"]


def test_a_linked_mesh_of_an_object_of_this_file_is_copied(tmp_path: Path) -> None:
    linked = from_library(tmp_path)
    mine = add_object("Mine", linked.data)
    select(mine)
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    assert mine.data.library is None and linked.data.library is not None
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
