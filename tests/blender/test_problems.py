"""Reasons why a body takes no part: computed when asked, so they end with their cause; the other bodies play."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import body_rows
from bpy_scene import (
    OUTWARD,
    TETRAHEDRON,
    FallingWorld,
    add_ball,
    add_group,
    add_mesh,
    add_primitive,
    as_drawn,
    frame,
    key,
    play,
    select,
)
from bpy_seen import height, problem_of, rest, shown, state_text, this_run, this_session, told
from softpressure_ext.core import DivergenceError
from softpressure_ext.softpressure.state import sessions

pytestmark = pytest.mark.usefixtures("falling")


def told_of_active() -> str:
    """What the panel says of the active object."""
    bpy.context.view_layer.update()
    return " ".join(body_rows(2000))


def add_cup() -> Any:
    """A body with open edges, as a script may make one."""
    cup = as_drawn(add_mesh("Cup", TETRAHEDRON, OUTWARD[:3]))
    cup.softpressure.kind = "SOFT"
    return cup


def test_undo_of_a_change_ends_the_error_it_caused() -> None:
    bpy.context.preferences.edit.use_global_undo = True
    add_ball()
    play(1, 3)
    bpy.ops.ed.undo_push(message="before")
    bpy.context.object.scale.z = 0.0
    bpy.ops.ed.undo_push(message="flat")
    frame(1)
    assert "flattens it" in told()
    bpy.ops.ed.undo()
    assert "flattens it" not in told()
    play(1, 3)
    assert this_run().cache.last_frame == 3


def test_an_object_that_is_gone_is_no_longer_named() -> None:
    add_ball()
    copy = add_ball("Copy", (3, 0, 5))
    copy.softpressure.pin_group = "Nowhere"
    frame(1)
    assert "Copy: has no vertex group Nowhere" in told()
    bpy.data.objects.remove(copy)
    assert "Copy" not in told()


def test_a_refusal_follows_the_mesh() -> None:
    """What the last *Add* said is not remembered, but asked again."""
    cup = as_drawn(add_mesh("Cup", TETRAHEDRON, OUTWARD[:3]))
    with pytest.raises(RuntimeError, match="3 open edges"):
        bpy.ops.softpressure.add_body()
    assert "3 open edges" in told_of_active()
    cup.data.clear_geometry()
    cup.data.from_pydata(TETRAHEDRON, [], OUTWARD[:2])
    assert "4 open edges" in told_of_active()
    cup.data.clear_geometry()
    cup.data.from_pydata(TETRAHEDRON, [], OUTWARD)
    assert "open edges" not in told_of_active()


def test_a_body_hidden_while_it_plays_stops_the_simulation_until_it_is_shown() -> None:
    ball = add_ball()
    play(1, 2)
    ball.hide_viewport = True
    frame(3)
    assert "Ball: is not evaluated" in told() and this_run().cache.last_frame == 2
    ball.hide_viewport = False
    assert told() == "Frame 3 is not simulated; the nearest cached frame is shown."
    this_session().activity = sessions.Activity.FILLING  # Simulate is on its way there
    assert told() == ""
    this_session().activity = sessions.Activity.IDLE
    play(3, 4)
    assert this_run().cache.last_frame == 4


def test_obstacles_of_blender_are_told_of_until_there_is_a_collider() -> None:
    floor, wall = (add_primitive("plane", None, name, size=4.0) for name in ("Floor", "Wall"))
    add_ball()
    assert told() == ""
    floor.modifiers.new("Collision", "COLLISION")
    assert told().startswith("Floor: Blender's own physics collides there") and "Add Collider" in told()
    select(wall)
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    assert told().startswith("Floor, Wall: ")
    select(floor)
    bpy.ops.softpressure.add_body(kind="COLLIDER")
    assert told() == ""


def test_a_collider_that_keys_disable_is_told_to_collide() -> None:
    add_ball()
    doors = [add_ball(name, (0, 0, 2), kind="COLLIDER") for name in ("Door", "Gate")]
    assert told() == ""
    for door in doors:
        key(door, "hide_viewport", (1, False), (5, True))
    bpy.context.view_layer.update()
    assert told().startswith("Door, Gate: keyed visibility does not stop a collider.")


def test_a_body_beside_baked_ones_is_told_how_it_can_be_simulated() -> None:
    add_ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()
    add_ball("Late", (3, 0, 5))
    assert told() == "Late is not simulated yet. Ball is baked: press Free Bake, then Simulate, and bake again."
    bpy.ops.softpressure.free_bake()
    bpy.ops.softpressure.simulate()
    assert told() == ""


def test_an_error_of_a_run_ends_with_its_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    def diverge(_world: object, _given: object) -> None:
        raise DivergenceError("Ball: the motion is not finite in frame 3.")

    ball = add_ball(mass=1.0)
    play(1, 2)
    with monkeypatch.context() as patch:
        patch.setattr(FallingWorld, "advance_frame", diverge)
        frame(3)
    assert "not finite" in told()
    ball.softpressure.mass = 5.0
    assert "not finite" not in told()
    ball.softpressure.mass = 1.0
    assert "not finite" in told()


@pytest.mark.smoke
def test_a_bad_body_stands_aside_and_the_rest_plays() -> None:
    ball, cup = add_ball(), add_cup()
    play(1, 4)
    assert this_run().cache.last_frame == 4 and this_run().cache.body_names == ("Ball",)
    assert height(ball) < 5.0
    np.testing.assert_allclose(shown(cup), rest(cup), atol=1e-6)
    assert "Cup: 3 open edges" in told() and "Out of date" not in state_text()
    select(cup)
    assert "3 open edges" in told_of_active()
    frame(1)
    assert this_run().cache.last_frame == 4  # the first frame finds nothing changed


def test_simulate_and_bake_go_on_without_a_bad_body() -> None:
    ball, cup = add_ball(), add_cup()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert this_run().cache.body_names == ("Ball",) and this_run().cache.last_frame == 10
    assert bpy.ops.softpressure.bake() == {"FINISHED"}
    assert (ball.softpressure.is_baked, cup.softpressure.is_baked) == (True, False)


def test_a_scene_of_bad_bodies_only_says_why_nothing_plays() -> None:
    add_cup()
    play(1, 3)
    assert this_run().cache is None and "Cup: 3 open edges" in told()
    with pytest.raises(RuntimeError, match="Cup: 3 open edges"):
        bpy.ops.softpressure.simulate()


def test_a_mended_body_takes_part_again() -> None:
    add_ball()
    copy = add_ball("Copy", (3, 0, 5))
    copy.softpressure.pin_group = "Nothing"
    play(1, 3)
    assert this_run().cache.body_names == ("Ball",) and "Copy: has no vertex group Nothing" in told()
    copy.softpressure.pin_group = ""
    assert "Nothing" not in told() and state_text().startswith("Out of date")
    play(1, 3)
    assert this_run().cache.body_names == ("Ball", "Copy") and told() == ""


def test_bodies_that_only_the_solver_refuses_take_no_part() -> None:
    add_ball()
    jelly = add_ball("Jelly", (3, 0, 5))
    jelly.softpressure.body_type = "SOLID"
    jelly.softpressure.cell_size = 50.0  # larger than the ball: no cells
    play(1, 3)
    assert this_run().cache.body_names == ("Ball",), told()
    assert "Jelly" in told()
    frame(1)
    assert this_run().cache.last_frame == 3


def test_a_body_glued_to_a_bad_one_stands_aside_with_it() -> None:
    add_ball()
    cup, glued = add_cup(), add_ball("Glued", (3, 0, 5))
    glued.softpressure.attach_to = cup
    add_group(glued, "attach_group", [0, 1, 2])
    play(1, 3)
    assert this_run().cache.body_names == ("Ball",)
    assert "Glued: is attached to Cup, which is skipped" in told()


def test_a_bad_collider_stands_aside() -> None:
    add_ball()
    speck = add_mesh("Speck", [(0, 0, 0)] * 3, [(0, 1, 2)])
    speck.softpressure.kind = "COLLIDER"
    play(1, 3)
    assert this_run().cache.last_frame == 3 and "Speck: " in told()


def test_a_body_in_edit_mode_holds_the_whole_scene() -> None:
    add_ball("Other", (3, 0, 5))
    add_ball()
    play(1, 3)
    bpy.ops.object.mode_set(mode="EDIT")
    frame(1)
    play(4, 5)
    assert this_run().cache.last_frame == 3
    assert "Ball: is in Edit Mode" in told()
    with pytest.raises(RuntimeError, match="Ball: is in Edit Mode"):
        bpy.ops.softpressure.simulate()


@pytest.mark.smoke
def test_reset_repairs_a_deleted_live_key() -> None:
    ball = add_ball()
    play(1, 3)
    before = rest(ball)
    ball.shape_key_remove(ball.data.shape_keys.key_blocks["SP Live"])
    play(1, 2)
    assert "Ball: has lost its shape key SP Live. Press Reset" in told()
    assert bpy.ops.softpressure.reset() == {"FINISHED"}
    assert [key.name for key in ball.data.shape_keys.key_blocks] == ["Basis", "SP Live"] and told() == ""
    np.testing.assert_array_equal(rest(ball), before)
    play(1, 3)
    assert height(ball) < 5.0
    ball.shape_key_clear()
    assert bpy.ops.softpressure.reset() == {"FINISHED"}
    assert [key.name for key in ball.data.shape_keys.key_blocks] == ["Basis", "SP Live"]


def test_a_duplicate_of_a_baked_body_is_not_out_of_date() -> None:
    add_ball()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert bpy.ops.softpressure.bake() == {"FINISHED"}
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    copy.location.x = 3.0
    assert copy.softpressure.is_baked
    assert told() == ""
    for obj in bpy.context.scene.objects:
        obj.select_set(True)
    assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
    assert "Out of date" in state_text()


@pytest.mark.parametrize("kind", ["SOFT", "RIGID", "COLLIDER"])
def test_a_body_of_which_modifiers_leave_no_mesh_says_so(kind: str) -> None:
    """As a node tree that makes instances or curves of it does: it was told to be 0 m wide, or to lie in a plane."""
    add_ball()
    obj = add_ball("Gone", (3, 0, 5), kind)
    obj.modifiers.new("Mask", "MASK").vertex_group = obj.vertex_groups.new(name="none").name
    play(1, 3)
    assert "Gone: its modifiers leave no mesh;" in problem_of(obj)
    assert this_run().cache.last_frame == 3
