"""Baking rigid bodies to curves in every rotation mode, alone and beside soft ones, and restoring them exactly."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import softpressure_ext
from bpy_rigid import ROUNDING, add_box, animate, matrix, own_state, transforms
from bpy_scene import add_ball, add_object, frame, key, select
from bpy_seen import fingerprint, shown, this_run, this_session
from softpressure_ext.softpressure.baking import bake as baking
from softpressure_ext.softpressure.scene_io import actions

pytestmark = pytest.mark.usefixtures("falling")

PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
#: Angles grow to 30 rad, kept as float32; places lie within 10 m.
ACCURACY = 1e-5


def simulate() -> None:
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert not this_session().is_out_of_date(bpy.context.scene)


def bake() -> None:
    assert bpy.ops.softpressure.bake() == {"FINISHED"}


def assert_plays(obj: Any, simulated: dict[int, Any]) -> None:
    for number in reversed(list(simulated)):
        frame(number)
        np.testing.assert_allclose(matrix(obj), simulated[number], atol=ACCURACY)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"])
def test_every_rotation_mode_plays_the_cache_and_never_jumps(mode: str) -> None:
    scene = bpy.context.scene
    scene.frame_end = 60
    spin = np.array((1.0, 12.0, -2.0))
    box = add_box(angular_velocity=spin)
    box.rotation_mode = mode
    box.scale = (1.0, -2.0, 0.5)
    simulate()
    simulated = transforms(60)
    bake()
    curves = {(curve.data_path, curve.array_index): curve for curve in actions.curves(box)}
    path = PATHS.get(mode, "rotation_euler")
    count = 3 if path == "rotation_euler" else 4
    assert set(curves) == {("location", axis) for axis in range(3)} | {(path, axis) for axis in range(count)}
    for curve in curves.values():
        assert {point.interpolation for point in curve.keyframe_points} == {"LINEAR"}
        assert [point.co.x for point in curve.keyframe_points] == list(range(1, 61))
    values = np.array([[point.co.y for point in curves[path, axis].keyframe_points] for axis in range(count)]).T
    if mode == "QUATERNION":
        assert (np.einsum("ij,ij->i", values[1:], values[:-1]) > 0.9).all()
    elif mode == "AXIS_ANGLE":  # a steady spin has one axis
        assert np.abs(np.diff(values[1:, 1:], axis=0)).max() < 1e-3
        np.testing.assert_allclose(np.abs(values[-1, 0]), np.linalg.norm(spin) * 59 / 24, rtol=1e-4)
    else:  # a jump would be at least pi; a turn of 0.5 rad stays below that even near gimbal lock
        assert np.abs(np.diff(values, axis=0)).max() < 3.0
    assert_plays(box, simulated)


@pytest.mark.smoke
def test_a_parent_deltas_scale_animation_drivers_and_constraints_are_accounted_for_and_given_back() -> None:
    parent = add_object("Cart")
    parent.rotation_euler, parent.scale = (0.1, 0.5, 0.1), (2, 2, 2)
    key(parent, "location", (1, (1, 2, 3)), (9, (4, 4, 4)))
    key(parent, "rotation_euler", (1, (0.1, 0.5, 0.0)), (9, (0.1, 0.5, 3.0)))
    box = animate(add_box())
    box.rotation_mode = "YZX"
    box.delta_location, box.delta_rotation_euler, box.delta_scale = (1, 2, 3), (0.1, 0.2, 0.3), (2, 1, -1)
    key(box, "scale", (1, (0.5, 0.5, 0.5)), (9, (0.8, 0.8, 0.8)))
    box.keyframe_insert("hide_render", frame=7)
    frame(1)
    box.parent, box.matrix_parent_inverse = parent, parent.matrix_world.inverted()
    simulate()
    simulated = transforms(10)
    frame(6)
    before, own = own_state(box), box.animation_data.action
    curve_count = len(actions.curves(box))
    bake()
    assert bpy.context.scene.frame_current == 6
    assert_plays(box, simulated)
    assert "hide_render" in {curve.data_path for curve in actions.curves(box)}  # what else is animated plays on
    assert [c.mute for c in box.constraints] == [True]
    assert len(actions.curves(box)) == 3 + 3 + 1
    frame(6)
    assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
    assert own_state(box) == before
    assert box.animation_data.action == own and len(actions.curves(box)) == curve_count
    assert not any(action.name.startswith("SP Bake") for action in bpy.data.actions)
    assert (box.softpressure.own_motion, box.softpressure.own_action) == ("", None)
    assert not this_session().is_out_of_date(bpy.context.scene)
    assert_plays(box, simulated)  # live again
    frame(1)
    np.testing.assert_allclose(matrix(box), simulated[1], atol=0)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "ZXY"])
def test_free_bake_gives_an_object_without_animation_back_exactly(mode: str) -> None:
    box = add_ball("Box", kind=None)
    box.rotation_mode = mode
    box.rotation_quaternion, box.rotation_axis_angle = (0.1, 0.2, 0.3, 0.4), (1.0, 0.2, 0.3, 0.4)  # as typed
    box.rotation_euler = (7.0, 8.0, 9.0)
    plain = own_state(box)
    bpy.ops.softpressure.add_body(kind="RIGID")
    simulate()
    simulated = transforms(10)
    frame(5)
    bake()
    assert_plays(box, simulated)
    bpy.ops.softpressure.free_bake()
    assert box.animation_data is None
    assert_plays(box, simulated)
    select(box)
    bpy.ops.softpressure.remove_body()
    assert own_state(box) == plain


def test_nla_strips_below_are_overridden_and_blending_is_given_back() -> None:
    box = add_box()
    box.keyframe_insert("location", frame=1)
    data = box.animation_data
    strip = data.nla_tracks.new().strips.new("Rise", 1, data.action)
    data.action = None
    data.action_blend_type, data.action_influence = "ADD", 0.5
    strip.blend_type = "ADD"
    simulate()
    simulated = transforms(10)
    bake()
    assert_plays(box, simulated)
    bpy.ops.softpressure.free_bake()
    assert (data.action, data.action_blend_type, data.action_influence) == (None, "ADD", 0.5)
    data.nla_tracks[0].is_solo = True
    frame(1)
    simulate()
    with pytest.raises(RuntimeError, match="Box: one of its NLA tracks plays solo"):
        bake()
    assert not box.softpressure.is_baked


@pytest.mark.smoke
def test_soft_and_rigid_bodies_are_baked_and_freed_together() -> None:
    box, ball = add_box("A box"), add_ball("B ball", (3, 0, 5))
    simulate()
    frame(4)
    seen = shown(ball)
    simulated = transforms(10, 1)
    bake()
    assert box.softpressure.is_baked and ball.softpressure.is_baked
    assert_plays(box, simulated)
    frame(4)
    np.testing.assert_allclose(shown(ball), seen, atol=ROUNDING)
    with pytest.raises(RuntimeError, match="A box: is baked"):
        bpy.ops.softpressure.simulate()
    with pytest.raises(RuntimeError, match="is baked already"):
        bake()
    bpy.ops.softpressure.free_bake()
    assert not box.softpressure.is_baked and not ball.softpressure.is_baked
    assert box.animation_data is None


def test_an_aborted_bake_leaves_nothing_behind() -> None:
    parent = add_object("Cart")
    boxes = [animate(add_box("One")), add_box("Two", (3, 0, 5))]
    boxes[1].parent = parent
    balls = [add_ball("Three", (6, 0, 5)), add_ball("Four", (9, 0, 5))]
    simulate()
    frame(4)
    before, shapes = [own_state(box) for box in boxes], [fingerprint(ball) for ball in balls]
    for steps in (2, 4, 15):  # while parents are read, while frames are baked
        job = baking.bake(bpy.context.scene)
        for _ in range(steps):
            next(job)
        job.close()
        assert [own_state(box) for box in boxes] == before and [fingerprint(ball) for ball in balls] == shapes
        assert not any(body.softpressure.is_baked for body in (*boxes, *balls))
        assert len(bpy.data.actions) == 1
    bake()


@pytest.mark.smoke
def test_undoing_a_bake_brings_the_live_bodies_back() -> None:
    add_box()
    add_ball()
    simulate()
    frame(5)
    before, seen = matrix(bpy.data.objects["Box"]), shown(bpy.data.objects["Ball"])
    bpy.ops.ed.undo_push(message="simulated")
    bake()
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    box = bpy.data.objects["Box"]
    assert not box.softpressure.is_baked and box.animation_data is None
    np.testing.assert_allclose(matrix(box), before, atol=ROUNDING)
    ball = bpy.data.objects["Ball"]
    assert not ball.softpressure.is_baked and [*ball.data.shape_keys.key_blocks.keys()] == ["Basis", "SP Live"]
    np.testing.assert_allclose(shown(ball), seen, atol=1e-6)
    frame(3)
    np.testing.assert_allclose(shown(ball), this_run().cache.positions(0, 3), atol=1e-6)
    bpy.ops.ed.redo()
    assert bpy.data.objects["Box"].softpressure.is_baked and bpy.data.objects["Ball"].softpressure.is_baked
    frame(3)
    np.testing.assert_allclose(matrix(bpy.data.objects["Box"]), this_run().cache.transform(1, 3), atol=ACCURACY)


@pytest.mark.smoke
def test_a_baked_file_plays_without_the_extension_and_can_be_freed_later(tmp_path: Path) -> None:
    box = animate(add_box())
    add_ball()
    frame(1)
    before = own_state(box)
    simulate()
    simulated = transforms(10, 1)
    shapes = {number: this_run().cache.positions(0, number).copy() for number in (1, 5, 10)}
    bake()
    path = str(tmp_path / "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    softpressure_ext.unregister()
    try:
        assert not hasattr(bpy.types.Object, "softpressure")
        bpy.ops.wm.open_mainfile(filepath=path)
        assert_plays(bpy.data.objects["Box"], simulated)
        for number, positions in shapes.items():
            frame(number)
            np.testing.assert_allclose(shown(bpy.data.objects["Ball"]), positions, atol=6e-7)
        bpy.ops.wm.save_as_mainfile(filepath=path)  # the own action is kept even so
        bpy.ops.wm.open_mainfile(filepath=path)
    finally:
        softpressure_ext.register()
    box, ball = bpy.data.objects["Box"], bpy.data.objects["Ball"]
    frame(1)
    assert ball.softpressure.is_baked and bpy.ops.softpressure.free_bake() == {"FINISHED"}
    assert [*ball.data.shape_keys.key_blocks.keys()] == ["Basis", "SP Live"]
    frame(1)
    after = own_state(box)
    live = [c for c in after.pop("constraints") if not c[0].startswith("SP Live")]
    assert live == [c for c in before.pop("constraints") if not c[0].startswith("SP Live")]
    assert after["values"] == before["values"]
    assert (after["action"], after["drivers"]) == (before["action"], before["drivers"])


@pytest.mark.parametrize(("is_animated", "cause"), [(True, "changes its scale"), (False, "is not scaled by the same")])
def test_a_parent_that_shears_its_child_is_refused_when_baking(is_animated: bool, cause: str) -> None:
    parent = add_object("Cart")
    if is_animated:
        key(parent, "scale", (1, (1, 1, 1)), (9, (1, 3, 1)))
    else:
        parent.scale = (1, 3, 1)
    frame(1)
    box = add_box()
    box.parent = parent
    simulate()
    with pytest.raises(RuntimeError, match=f"Box: its parent Cart {cause}"):
        bake()
    assert not box.softpressure.is_baked and box.animation_data is None


def add_box_below_a_stretched_cart(spin: float) -> Any:
    cart = add_object("Cart")
    cart.scale = (1, 3, 1)
    box = add_box(angular_velocity=(0.0, spin, spin))
    box.parent = cart
    bpy.context.view_layer.update()
    simulate()
    return box


def test_usd_holds_what_a_parent_shears(tmp_path: Path) -> None:
    box = add_box_below_a_stretched_cart(spin=3.0)
    frame(8)
    simulated, path = shown(box), str(tmp_path / "box.usdc")
    assert bpy.ops.softpressure.export(filepath=path) == {"FINISHED"}
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=path)
    (copy,) = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    frame(8)
    np.testing.assert_allclose(shown(copy), simulated, atol=1e-5)


@pytest.mark.parametrize("spin", [3.0, 0.0])
def test_alembic_refuses_what_a_parent_shears(tmp_path: Path, spin: float) -> None:
    add_box_below_a_stretched_cart(spin)
    path = str(tmp_path / "box.abc")
    if spin:
        with pytest.raises(RuntimeError, match=r"Box: its parent Cart is not scaled by the same.*Alembic.*or use USD"):
            bpy.ops.softpressure.export(filepath=path)
    else:
        assert bpy.ops.softpressure.export(filepath=path) == {"FINISHED"}
