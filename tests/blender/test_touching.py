"""Collision collections: pairs of bodies that have contact."""

from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from bpy_scene import add_ball, add_floor, add_primitive, frame, key, play
from bpy_seen import height, this_run, this_session, told
from softpressure_ext.core.reports import Finding, Reason
from softpressure_ext.softpressure.simulation import stepping

KINDS = ("SOFT", "RIGID", "COLLIDER")


def collection(name: str, *objects: Any, parent: Any = None) -> Any:
    found = bpy.data.collections.new(name)
    (parent or bpy.context.scene.collection).children.link(found)
    for obj in objects:
        found.objects.link(obj)
    return found


def ignored() -> set[frozenset[str]]:
    """Names of the pairs of bodies that do not touch in the model of the run."""
    model = this_run().world.model
    names = model.body_names
    return {frozenset((names[a], names[b])) for a in range(len(names)) for b in range(a) if model.ignores[a, b]}


@pytest.mark.smoke
@pytest.mark.parametrize("kind", KINDS)
def test_a_body_of_any_kind_has_contact_with_its_collection_only(falling: Any, kind: str) -> None:
    bodies = [add_ball(f"B{number}", (3 * number, 0, 5), KINDS[number]) for number in range(3)]
    one = bodies[KINDS.index(kind)]
    others = [obj for obj in bodies if obj != one]
    outer = collection("Outer")
    inner = collection("Inner", others[0], parent=outer)
    one.softpressure.collision_collection = outer
    play(1, 2)
    assert ignored() == {frozenset((one.name, others[1].name))}
    others[1].softpressure.collision_collection = inner  # refuses `one`, too, and accepts the other
    play(1, 2)
    assert ignored() == {frozenset((one.name, others[1].name))}
    for obj in bodies:
        obj.softpressure.collision_collection = None
    play(1, 2)
    assert ignored() == set()


@pytest.mark.smoke
def test_changed_members_make_the_cache_out_of_date_and_new_names_do_not(falling: Any) -> None:
    ball, other, plain = add_ball(), add_ball("Other", (3, 0, 5)), add_ball("Plain", (6, 0, 5), None)
    touched = collection("Touched")
    scene = bpy.context.scene

    def is_old() -> bool:
        bpy.context.view_layer.update()
        return bool(this_session().is_out_of_date(scene))

    play(1, 3)
    ball.softpressure.collision_collection = touched
    assert is_old()
    play(1, 3)
    assert not is_old()
    touched.objects.link(plain)  # is no body
    touched.name = "Renamed"
    assert not is_old()
    touched.objects.link(other)
    assert is_old()
    touched.objects.unlink(other)
    assert not is_old()
    collection("Inner", other, parent=touched)
    assert is_old()


def test_balls_fall_through_ignored_bodies_and_rest_on_others() -> None:
    floor, low = add_floor(), add_ball("Low", (0, 0, 1.0), damping=20.0, bounciness=0.0)
    high = add_ball("High", (0, 0, 2.2), damping=20.0, bounciness=0.0)
    solid = add_ball("Solid", (3, 0, 1.0), "RIGID", bounciness=0.0)
    ghost = add_ball("Ghost", (-3, 0, 1.0))
    high.softpressure.collision_collection = collection("Floor Only", floor)
    ghost.softpressure.collision_collection = collection("Nothing")
    bpy.context.scene.frame_end = 36
    bpy.ops.softpressure.simulate()
    frame(36)
    assert height(high) == pytest.approx(height(low), abs=0.05) and 0.2 < height(low) < 0.55
    assert solid.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z > 0.4
    assert height(ghost) == pytest.approx(1.0 - 0.5 * 9.81 * (35 / 24) ** 2, abs=0.02)


def test_check_reports_no_crossings_of_bodies_that_ignore_each_other() -> None:
    ball, _ = add_ball(), add_ball("Other", (0.3, 0, 5))
    assert bpy.ops.softpressure.check() == {"FINISHED"}
    assert any("crosses" in flaw.sentence for flaw in this_session().checked[1])
    ball.softpressure.collision_collection = collection("Nothing")
    assert bpy.ops.softpressure.check() == {"FINISHED"}
    assert not this_session().checked[1]
    frame(1)
    assert this_run().crossing_count == 0


def test_a_press_that_leaves_no_room_is_told() -> None:
    bpy.context.scene.frame_end = 14
    add_floor()
    add_ball(location=(0, 0, 0.51))
    press = add_primitive("cube", None, scale=(1.0, 1.0, 0.1))
    key(press, "location", (1, 1.2), (12, 0.1), (20, 1.2), index=2)
    assert bpy.ops.softpressure.add_body(kind="COLLIDER") == {"FINISHED"}
    play(1, 8)
    assert "leave no room" not in told()
    play(9, 14)
    assert "Ball and Cube: pins or colliders leave no room at frame" in told()


def test_a_body_whose_own_parts_have_no_room_is_told_by_itself() -> None:
    world: Any = SimpleNamespace(model=SimpleNamespace(body_names=["Ball"]))
    report = SimpleNamespace(reasons=[Finding(Reason.NO_ROOM, 3, (0, 0))])
    run: Any = SimpleNamespace(reports={2: [report]}, squeezed={})
    stepping.note_squeezed(run, world, 2)
    assert list(run.squeezed.values()) == [
        "Ball: its parts leave each other no room at frame 2, so they may have passed each other."
    ]


def test_bodies_that_cross_at_the_start_are_told_to_move() -> None:
    add_ball(), add_ball("Other", (0.3, 0, 5))
    frame(1)
    assert this_run().crossing_count and "move the bodies apart" in told()
