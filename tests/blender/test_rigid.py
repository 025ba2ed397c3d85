"""Rigid bodies on the timeline: where they are shown, and that their own motion stays theirs."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from bpy_rigid import ROUNDING, add_box, animate, matrix, own_state, transforms
from bpy_scene import FallingWorld, add_ball, add_mesh, add_object, add_primitive, frame, key, play, reopen, select
from bpy_seen import rest, shown, this_run, this_session, told
from softpressure_ext.core.cache import FrameCache
from softpressure_ext.core.topology import signed_volume
from softpressure_ext.softpressure.cache import disk

pytestmark = pytest.mark.usefixtures("falling")


@pytest.mark.smoke
def test_a_rigid_body_moves_as_simulated_and_scrubs_back_and_forth() -> None:
    box = add_box()
    start = matrix(box)
    play(1, 6)
    cache = this_run().cache
    assert (cache.last_frame, cache.vertex_counts, this_session().refusals.error) == (6, (0,), "")
    for number in (3, 6, 1, 5, 2, 2, 4):
        frame(number)
        np.testing.assert_allclose(matrix(box), cache.transform(0, number), atol=ROUNDING)
    fall = 9.81 / 24**2
    np.testing.assert_allclose(cache.transform(0, 3)[:3, 3], (0, 0, 5 - 3 * fall), atol=ROUNDING)
    frame(3)
    assert np.abs(matrix(box)[:3, :3] - start[:3, :3]).max() > 0.1
    frame(9)
    np.testing.assert_allclose(matrix(box), cache.transform(0, 6), atol=ROUNDING)
    assert len(FallingWorld.made) == 1


def test_subframes_lie_between_frames() -> None:
    box = add_box(angular_velocity=(0, 0, 6.0))
    play(1, 3)
    frame(2, 0.5)
    seen = matrix(box)
    before, after = this_run().cache.transform(0, 2), this_run().cache.transform(0, 3)
    np.testing.assert_allclose(seen[:3, 3], 0.5 * (before + after)[:3, 3], atol=ROUNDING)
    angle = 1.5 * 6.0 / 24  # half-way between two turns about z
    np.testing.assert_allclose(seen[:2, 0], (np.cos(angle), np.sin(angle)), atol=ROUNDING)
    frame(3, 0.5)
    assert this_run().cache.last_frame == 3


def test_scale_negative_scale_and_an_origin_off_centre_are_kept() -> None:
    box = add_box()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(2, 0, 0))
    bpy.ops.object.mode_set(mode="OBJECT")
    box.scale = (-1.5, 0.5, 2.0)
    box.rotation_euler = (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    before = rest(box)
    play(1, 5)
    world = FallingWorld.made[-1]
    for number in (2, 5):
        frame(number)
        np.testing.assert_allclose(matrix(box), this_run().cache.transform(0, number), atol=ROUNDING)
    move = world.rigid_transform(0)
    np.testing.assert_allclose(shown(box), before @ move[:3, :3].T + move[:3, 3], atol=2 * ROUNDING)
    np.testing.assert_allclose(world.model.rigid.centre[0], before.mean(axis=0), atol=ROUNDING)


def test_own_curves_drivers_and_constraints_are_overridden_and_stay_untouched() -> None:
    box = animate(add_box())
    frame(1)
    own = [matrix(box)]
    state = own_state(box)
    play(1, 6)
    simulated = transforms(6)
    np.testing.assert_allclose(simulated[1], own[0], atol=0)  # the start is where its own motion has it
    for number in (4, 2, 6):
        frame(number)
        np.testing.assert_allclose(matrix(box), simulated[number], atol=ROUNDING)
        assert not this_session().is_out_of_date(bpy.context.scene)
    assert [c.name for c in box.constraints] == [
        "Limit Location",
        *(f"SP Live {n}" for n in ("Rotation", "Scale", "Location")),
    ]
    frame(1)
    assert own_state(box)["action"] == state["action"] and own_state(box)["drivers"] == state["drivers"]
    select(box)
    bpy.ops.softpressure.remove_body()
    bpy.context.view_layer.update()
    assert len(box.constraints) == 1
    for number, x in ((1, 0.0), (10, 2.0)):
        frame(number)
        np.testing.assert_allclose(matrix(box)[0, 3], x, atol=ROUNDING)
    assert len(bpy.data.actions) == 1


def test_removing_at_a_later_frame_gives_the_object_back_exactly() -> None:
    box = add_ball("Box", kind=None)
    before, place = own_state(box), matrix(box)
    bpy.ops.softpressure.add_body(kind="RIGID")
    play(1, 6)
    assert matrix(box)[2, 3] < 5.0
    assert own_state(box)["values"] == before["values"]
    bpy.ops.softpressure.remove_body()
    assert own_state(box) == before
    np.testing.assert_array_equal(matrix(box), place)


def test_reset_shows_the_rest_place_and_editing_it_starts_anew() -> None:
    box = add_box()
    place = matrix(box)
    play(1, 5)
    assert bpy.ops.softpressure.reset() == {"FINISHED"}
    np.testing.assert_array_equal(matrix(box), place)
    box.location.x = 2.0
    bpy.context.view_layer.update()
    assert matrix(box)[0, 3] == 2.0  # free to be moved at the first frame
    play(2, 4)
    np.testing.assert_allclose(matrix(box)[0, 3], 2.0, atol=ROUNDING)
    box.location.x = 7.0
    bpy.context.view_layer.update()
    assert this_session().is_out_of_date(bpy.context.scene)
    frame(1)
    assert this_run().cache.last_frame == 1


def test_bounciness_is_that_of_a_solid_unless_somebody_chose_it() -> None:
    box = add_box()
    frame(1)
    model = FallingWorld.made[-1].model
    assert (model.membrane_count, model.rigid_count) == (0, 1)
    assert model.bounciness[0] == np.float32(0.2)
    box.softpressure.kind = "COLLIDER"
    assert box.softpressure.bounciness == np.float32(0.85)
    box.softpressure.bounciness = 0.5
    box.softpressure.kind = "RIGID"
    assert box.softpressure.bounciness == 0.5  # somebody chose it


def test_a_hollow_mesh_becomes_its_hull_or_stays_itself() -> None:
    ring = add_primitive("torus", "RIGID", major_segments=12, minor_segments=6)
    frame(1)
    hull = this_run().start.rigid[0]
    ring.softpressure.rigid_shape = "MESH"
    frame(1)
    itself = this_run().start.rigid[0]
    assert len(itself.positions) == 72 and len(hull.positions) < 72
    volumes = [signed_volume(solid.positions, solid.triangles) for solid in (hull, itself)]
    assert volumes[0] > 1.5 * volumes[1] > 0.0


def test_modifiers_shape_the_solid() -> None:
    plate = add_mesh("Plate", [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2, 3)])
    plate.modifiers.new("Thick", "SOLIDIFY").thickness = 0.5
    for shape in ("HULL", "MESH"):
        plate.softpressure.rigid_shape = shape
        assert bpy.ops.softpressure.add_body(kind="RIGID") == {"FINISHED"}
        frame(1)
        solid = this_run().start.rigid[0]
        assert signed_volume(solid.positions, solid.triangles) == pytest.approx(2.0, rel=1e-5)


def test_a_solid_that_is_bent_as_it_moves_is_told_of() -> None:
    still, bent = add_ball("Still", kind="RIGID"), add_ball("Bent", (3, 0, 5), "RIGID")
    still.modifiers.new("Bevel", "BEVEL")
    twist = bent.modifiers.new("Twist", "SIMPLE_DEFORM")
    play(1, 3)
    assert told() == ""
    key(twist, "angle", (1, 0.0), (5, 1.0))
    play(1, 3)
    assert told().startswith("Bent: its modifiers or shape keys change its shape") and "Still" not in told()


def test_a_duplicate_of_a_body_that_is_held_moves_with_the_mouse() -> None:
    ball = add_ball(kind="RIGID")
    play(1, 4)
    held = np.array(ball.matrix_world)
    select(ball)
    bpy.ops.object.duplicate()
    bpy.context.view_layer.update()
    twin = bpy.context.object
    twin.location = (3, 0, 1)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(np.array(twin.matrix_world)[:3, 3], (3, 0, 1), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(np.array(ball.matrix_world), held)


def test_constraints_copied_from_a_body_that_is_held_hold_nothing_else() -> None:
    ball, other = add_ball(kind="RIGID"), add_object("Other")
    play(1, 4)
    select(other, ball)
    bpy.context.view_layer.objects.active = ball
    bpy.ops.object.constraints_copy()
    bpy.context.view_layer.update()
    other.location = (3, 0, 1)
    bpy.context.view_layer.update()
    assert other.constraints
    np.testing.assert_allclose(np.array(other.matrix_world)[:3, 3], (3, 0, 1), rtol=0, atol=1e-6)


def test_parents_may_move_and_the_body_does_not_follow() -> None:
    parent, box = add_object("Cart"), add_box()
    box.parent = parent
    key(parent, "location", (1, 0.0), (5, 4.0), index=0)
    parent.scale = (2, 2, 2)
    play(1, 5)
    for number in (2, 5):
        frame(number)
        np.testing.assert_allclose(matrix(box), this_run().cache.transform(0, number), atol=ROUNDING)
        assert matrix(box)[0, 3] == pytest.approx(0.0, abs=ROUNDING)


@pytest.mark.smoke
def test_a_saved_file_keeps_rest_and_cache_and_goes_on(tmp_path: Path) -> None:
    box = animate(add_box())
    frame(1)
    state = own_state(box)
    play(1, 6)
    simulated = transforms(6)
    reopen(tmp_path)
    box = bpy.data.objects["Box"]
    np.testing.assert_allclose(matrix(box), simulated[6], atol=ROUNDING)
    for number in (3, 6, 2):
        frame(number)
        np.testing.assert_allclose(matrix(box), simulated[number], atol=ROUNDING)
    frame(1)
    assert own_state(box)["values"] == state["values"]
    assert this_run().cache.last_frame == 6
    play(7, 8)
    assert this_run().cache.last_frame == 8
    assert FrameCache.load(disk.path_of(bpy.context.scene)).vertex_counts == (0,)


def test_a_file_without_its_cache_shows_the_rest_place(tmp_path: Path) -> None:
    add_box()
    play(1, 6)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    disk.path_of(bpy.context.scene).unlink()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert matrix(bpy.data.objects["Box"])[2, 3] == 5.0
