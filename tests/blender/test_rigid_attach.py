"""Refused rigid bodies and attachments, each with name, value and remedy; and both with the real solver."""

import re
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_rigid import add_box, matrix
from bpy_scene import (
    OUTWARD,
    TETRAHEDRON,
    FallingWorld,
    add_ball,
    add_floor,
    add_mesh,
    frame,
    problem_of,
    shown,
    this_run,
    this_session,
    told,
)


def open_mesh() -> Any:
    cup = add_mesh("Cup", TETRAHEDRON, OUTWARD[:3])
    cup.softpressure.rigid_shape = "MESH"
    return cup


def flat_hull() -> Any:
    sheet = add_mesh("Sheet", [(0, 0, 1), (2, 0, 1), (2, 3, 1), (0, 3, 1)], [(0, 1, 2, 3)])
    sheet.rotation_euler = (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    return sheet


def thin_line() -> Any:
    return add_mesh("Wire", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])


def empty_mesh() -> Any:
    return add_mesh("Nothing", [], [])


def nan_mesh() -> Any:
    return add_mesh("Ghost", [(float("nan"), 0, 0), *TETRAHEDRON[1:]], OUTWARD)


def sheared() -> Any:
    parent = bpy.data.objects.new("Cart", None)
    bpy.context.collection.objects.link(parent)
    parent.scale = (1, 3, 1)
    ball = add_ball("Crate", kind=None)
    ball.parent, ball.rotation_euler = parent, (0, 0, 0.7)
    bpy.context.view_layer.update()
    return ball


def on_a_vertex() -> Any:
    parent = add_ball("Post", kind=None)
    ball = add_ball("Crate", kind=None)
    ball.parent, ball.parent_type = parent, "VERTEX"
    bpy.context.view_layer.update()
    return ball


def edited() -> Any:
    ball = add_ball("Draft", kind=None)
    bpy.ops.object.mode_set(mode="EDIT")
    return ball


REFUSED = [
    (open_mesh, "Cup: 3 open edges; the mesh of a rigid body must be closed", "choose the shape Convex Hull"),
    (flat_hull, "Sheet: its 4 vertices", "Give it thickness, with a Solidify modifier"),
    (thin_line, "Wire: its 3 vertices", "Give it thickness"),
    (empty_mesh, "Nothing: its 0 vertices", "Give it thickness"),
    (nan_mesh, "Ghost: 1 vertices with invalid coordinates", "Delete or move them"),
    (sheared, "Crate: is sheared by", "Apply their scale (Ctrl A)"),
    (on_a_vertex, "Crate: its parent Post is of type Vertex", "Clear the parent (Alt P"),
    (edited, "Draft: is in Edit Mode", "Leave Edit Mode"),
]


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize(("make", "problem", "remedy"), REFUSED, ids=[make.__name__ for make, _, _ in REFUSED])
def test_an_object_that_cannot_be_rigid_is_refused_and_unchanged(
    make: Callable[[], Any], problem: str, remedy: str
) -> None:
    obj = make()
    with pytest.raises(RuntimeError) as raised:
        bpy.ops.softpressure.add_body(kind="RIGID")
    assert problem in str(raised.value) and remedy in str(raised.value)
    assert problem in problem_of(obj)
    assert (obj.softpressure.kind, len(obj.constraints)) == ("NONE", 0)
    obj.softpressure.kind = "RIGID"  # as a script may
    with pytest.raises(RuntimeError, match=re.escape(problem)):
        bpy.ops.softpressure.simulate()


def test_an_open_mesh_is_fine_as_a_hull() -> None:
    add_mesh("Cup", TETRAHEDRON, OUTWARD[:3])
    assert bpy.ops.softpressure.add_body(kind="RIGID") == {"FINISHED"}


def with_group(ball: Any, name: str = "Top", weight: float = 1.0) -> Any:
    group = ball.vertex_groups.new(name=name)
    top = [v.index for v in ball.data.vertices if v.co.z > 0.3]
    group.add(top, weight, "REPLACE")
    return np.array(top)


def to_itself(ball: Any) -> None:
    ball.softpressure.attach_to = ball


def to_a_collider(ball: Any) -> None:
    ball.softpressure.attach_to = add_ball("Post", (3, 0, 5), kind="COLLIDER")


def to_no_body(ball: Any) -> None:
    ball.softpressure.attach_to = add_ball("Post", (3, 0, 5), kind=None)


def without_a_group(ball: Any) -> None:
    ball.softpressure.attach_to = add_ball("Post", (3, 0, 5), kind="RIGID")
    ball.softpressure.attach_group = ""


def to_an_unknown_group(ball: Any) -> None:
    ball.softpressure.attach_to = add_ball("Post", (3, 0, 5), kind="RIGID")
    ball.softpressure.attach_group = "Nowhere"


def by_an_empty_group(ball: Any) -> None:
    ball.softpressure.attach_to = add_ball("Post", (3, 0, 5), kind="RIGID")
    with_group(ball, "Faint", 0.5)
    ball.softpressure.attach_group = "Faint"


def below_a_rigid_parent(ball: Any) -> None:
    ball.parent = add_ball("Post", (3, 0, 5), kind="RIGID")


ATTACHMENTS = [
    (to_itself, "Ball: is attached to itself", "Choose another body"),
    (to_a_collider, "Ball: is attached to Post, a collider", "pin the group"),
    (to_no_body, "Ball: is attached to Post, which is not a soft or rigid body of this scene", "clear Attach To"),
    (without_a_group, "Ball: is attached to Post without an attach group", "Choose the group"),
    (to_an_unknown_group, "Ball: has no vertex group Nowhere", "Choose an existing attach group"),
    (by_an_empty_group, "Ball: no vertex weighs more than 0.5 in the attach group Faint", "weight 1"),
    (below_a_rigid_parent, "Ball: its parent Post is a rigid body", "attach it instead"),
]


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize(("make", "problem", "remedy"), ATTACHMENTS, ids=[make.__name__ for make, _, _ in ATTACHMENTS])
def test_impossible_attachments_are_refused_with_a_sentence(
    make: Callable[[Any], None], problem: str, remedy: str
) -> None:
    ball = add_ball()
    with_group(ball)
    ball.softpressure.attach_group = "Top"
    make(ball)
    frame(1)
    assert problem in told() and remedy in told()
    cache = this_run().cache
    assert cache is None or cache.body_names == ("Post",)


@pytest.mark.usefixtures("falling")
def test_attached_vertices_reach_the_model_and_changes_mark_the_cache() -> None:
    balls = [add_ball("One", (0, 0, 5)), add_ball("Two", (0, 0, 6.2))]
    box = add_box("Box", (0, 0, 7.4))
    groups = [with_group(ball) for ball in balls]
    for ball, target in zip(balls, (balls[1], box), strict=True):
        ball.softpressure.attach_to, ball.softpressure.attach_group = target, "Top"
    frame(1)
    assert not this_session().refusals.error
    assert [list(body.attached) for body in this_run().start.bodies] == [list(group) for group in groups]
    model = FallingWorld.made[-1].model
    assert len(model.attachments.points) == len(groups[0]) + len(groups[1])
    frame(2)
    scene = bpy.context.scene
    assert not this_session().is_out_of_date(scene)
    balls[0].softpressure.attach_to = box
    assert this_session().is_out_of_date(scene)
    balls[0].softpressure.attach_to = None
    frame(1)
    assert len(FallingWorld.made[-1].model.attachments.points) == len(groups[1])
    balls[1].vertex_groups["Top"].remove([int(groups[1][0])])
    frame(1)  # weights are read at the first frame
    assert len(FallingWorld.made[-1].model.attachments.points) == len(groups[1]) - 1


def test_only_bodies_are_offered_to_attach_to() -> None:
    from softpressure_ext.softpressure.properties import object_properties

    ball, box = add_ball(), add_box("Box", (3, 0, 5))
    floor, plain = add_ball("Floor", (6, 0, 5), kind="COLLIDER"), add_ball("Plain", (9, 0, 5), kind=None)
    offered = [obj.name for obj in (ball, box, floor, plain) if object_properties._can_hold(ball.softpressure, obj)]
    assert offered == ["Box"]


@pytest.mark.smoke
def test_a_box_with_the_defaults_falls_and_comes_to_rest_on_the_floor() -> None:
    bpy.context.scene.frame_end = 50
    add_floor()
    box = add_box("Box", (0, 0, 1.5), angular_velocity=(0, 0, 0))
    box.rotation_euler = (0.2, 0.1, 0.0)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(50)
    corners = shown(box)
    assert corners[:, 2].min() == pytest.approx(0.0, abs=0.03)  # a skin of 1 % and its give
    assert matrix(box)[2, 3] == pytest.approx(0.5, abs=0.03)  # on one of its sides
    last = matrix(box)
    frame(48)
    assert np.abs(matrix(box) - last).max() < 5e-3  # it no longer rocks or jumps
