"""Attachments: refused with name, value and remedy, or in the model; and a rigid body with the real solver."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_rigid import add_box, matrix
from bpy_scene import OUTWARD, TETRAHEDRON, FallingWorld, add_ball, add_floor, add_group, add_mesh, frame
from bpy_seen import shown, this_run, this_session, told


def test_an_open_mesh_is_fine_as_a_hull() -> None:
    add_mesh("Cup", TETRAHEDRON, OUTWARD[:3])
    assert bpy.ops.softpressure.add_body(kind="RIGID") == {"FINISHED"}


def with_group(ball: Any, name: str = "Top", weight: float = 1.0) -> Any:
    top = [v.index for v in ball.data.vertices if v.co.z > 0.3]
    add_group(ball, "", top, weight, name)
    return np.array(top)


#: To what the ball is attached, by which group, and what is said of that.
ATTACHMENTS = [
    ("itself", "Top", "Ball: is attached to itself", "Choose another body"),
    ("COLLIDER", "Top", "Ball: is attached to Post, a collider", "pin the group"),
    ("", "Top", "Ball: is attached to Post, which is not a soft or rigid body of this scene", "clear Attach To"),
    ("RIGID", "", "Ball: is attached to Post without an attach group", "Choose the group"),
    ("RIGID", "Nowhere", "Ball: has no vertex group Nowhere", "Choose an existing attach group"),
    ("RIGID", "Faint", "Ball: no vertex weighs more than 0.5 in the attach group Faint", "weight 1"),
    ("parent", "Top", "Ball: its parent Post is a rigid body", "attach it instead"),
]


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize(("target", "group", "problem", "remedy"), ATTACHMENTS)
def test_impossible_attachments_are_refused_with_a_sentence(target: str, group: str, problem: str, remedy: str) -> None:
    ball = add_ball()
    with_group(ball)
    with_group(ball, "Faint", 0.5)
    post = ball if target == "itself" else add_ball("Post", (3, 0, 5), "RIGID" if target == "parent" else target)
    ball.softpressure.attach_group = group
    if target == "parent":
        ball.parent = post
    else:
        ball.softpressure.attach_to = post
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
