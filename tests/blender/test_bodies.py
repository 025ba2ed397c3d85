"""Adding and removing bodies; refusals, each a sentence with name, value and remedy, that change nothing."""

import re
from collections.abc import Callable
from typing import Any

import bpy
import pytest
from bpy_scene import OUTWARD, TETRAHEDRON, add_ball, add_mesh, add_object, as_drawn, frame, select
from bpy_seen import fingerprint, problem_of
from softpressure_ext.softpressure.reports import status


def open_edges() -> Any:
    return as_drawn(add_mesh("Cup", TETRAHEDRON, OUTWARD[:3]))


def non_manifold() -> Any:
    faces = [*OUTWARD, (0, 1, 4), (0, 4, 5), (0, 5, 1), (1, 5, 4)]
    return as_drawn(add_mesh("Fin", [*TETRAHEDRON, (1, 1, 1), (1, 2, -1)], faces))


def twisted() -> Any:
    return as_drawn(add_mesh("Twist", TETRAHEDRON, [*OUTWARD[:3], OUTWARD[3][::-1]]))


def flat() -> Any:
    faces = [(0, 2, 1), (0, 4, 3), (4, 1, 3), (1, 2, 3), (0, 3, 2), (0, 1, 4)]
    return as_drawn(add_mesh("Crumb", [*TETRAHEDRON, (0.5, 0, 0)], faces))


def loose() -> Any:
    return as_drawn(add_mesh("Dust", [*TETRAHEDRON, (5, 5, 5)], OUTWARD))


def inside_out() -> Any:
    return as_drawn(add_mesh("Glove", TETRAHEDRON, [face[::-1] for face in OUTWARD]))


def no_faces() -> Any:
    return add_mesh("Cloud", TETRAHEDRON, [])


def no_vertices() -> Any:
    return add_mesh("Nothing", [], [])


def nan() -> Any:
    return add_mesh("Ghost", [(float("nan"), 0, 0), *TETRAHEDRON[1:]], OUTWARD)


def keyed() -> Any:
    ball = add_ball("Face", kind=None)
    ball.shape_key_add(name="Basis")
    ball.shape_key_add(name="Smile")
    ball.data.shape_keys.use_relative = False
    return ball


def flattened() -> Any:
    ball = add_ball("Disc", kind=None)
    ball.scale.z = 0.0
    bpy.context.view_layer.update()
    return ball


def edited() -> Any:
    ball = add_ball("Draft", kind=None)
    bpy.ops.object.mode_set(mode="EDIT")
    return ball


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


def sheared() -> Any:
    parent = add_object("Cart")
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


def moved_by_blender() -> Any:
    ball = add_ball("Crate", kind=None)
    bpy.ops.rigidbody.object_add(type="ACTIVE")
    return ball


REFUSED = [
    ("SOFT", open_edges, "Cup: 3 open edges", "then Face > Fill"),
    ("SOFT", non_manifold, "Fin: 1 non-manifold edges", "Delete inner faces"),
    ("SOFT", twisted, "Twist: 3 edges join faces of opposite winding", "Recalculate Outside"),
    ("SOFT", flat, "Crumb: 1 faces of zero area", "Degenerate Dissolve"),
    ("SOFT", loose, "Dust: 1 loose vertices", "Delete Loose"),
    ("SOFT", inside_out, "Glove: inside out, it encloses -0.167 m³", "Flip the normals"),
    ("SOFT", no_faces, "Cloud: no faces", "Add faces"),
    ("SOFT", no_vertices, "Nothing: no faces", "Add faces"),
    ("SOFT", nan, "Ghost: 1 vertices with invalid coordinates", "Delete or move"),
    ("SOFT", keyed, "Face: its shape keys are absolute", "Switch on Relative"),
    ("SOFT", flattened, "Disc: scale (1, 1, 0) flattens it", "without zero"),
    ("SOFT", edited, "Draft: is in Edit Mode", "Leave Edit Mode"),
    ("RIGID", open_mesh, "Cup: 3 open edges; the mesh of a rigid body must be closed", "choose the shape Convex Hull"),
    ("RIGID", flat_hull, "Sheet: its 4 vertices", "Give it thickness, with a Solidify modifier"),
    ("RIGID", thin_line, "Wire: its 3 vertices", "enclose no volume, which a rigid body needs. Give it thickness"),
    ("RIGID", no_vertices, "Nothing: its 0 vertices (0 x 0 x 0 m) enclose no volume", "Give it thickness"),
    ("RIGID", nan, "Ghost: 1 vertices with invalid coordinates", "Delete or move them"),
    ("RIGID", sheared, "Crate: is sheared by", "Apply their scale (Ctrl A)"),
    ("RIGID", on_a_vertex, "Crate: its parent Post is of type Vertex", "Clear the parent (Alt P"),
    ("RIGID", moved_by_blender, "Crate: is an active rigid body of Blender, too", "Object > Rigid Body > Remove"),
    ("RIGID", edited, "Draft: is in Edit Mode", "Leave Edit Mode"),
]


@pytest.mark.parametrize(("kind", "is_animated"), [("PASSIVE", False), ("ACTIVE", True)])
def test_a_rigid_body_that_blender_does_not_move_may_be_one_of_ours(kind: str, is_animated: bool) -> None:
    box = add_ball("Crate", kind=None)
    bpy.ops.rigidbody.object_add(type=kind)
    box.rigid_body.kinematic = is_animated
    assert bpy.ops.softpressure.add_body(kind="RIGID") == {"FINISHED"} and problem_of(box) == ""


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize(("kind", "make", "problem", "remedy"), REFUSED, ids=lambda each: getattr(each, "__name__", ""))
def test_bad_input_is_refused_with_a_sentence_and_nothing_changes(
    kind: str, make: Callable[[], Any], problem: str, remedy: str
) -> None:
    obj = make()
    before = fingerprint(obj) if obj.mode == "OBJECT" else None
    with pytest.raises(RuntimeError) as raised:
        bpy.ops.softpressure.add_body(kind=kind)
    assert problem in str(raised.value) and remedy in str(raised.value)
    assert problem in problem_of(obj)  # the panel shows it
    assert (obj.softpressure.kind, len(obj.constraints)) == ("NONE", 0)
    assert not obj.softpressure.is_property_set("body_type")
    if before is not None:
        assert fingerprint(obj) == before
    assert bpy.context.scene.render.use_lock_interface is False
    obj.softpressure.kind = kind  # as a script may
    with pytest.raises(RuntimeError, match=re.escape(problem)):
        bpy.ops.softpressure.simulate()


def test_of_several_the_good_ones_are_added_and_the_others_named() -> None:
    good, bad = add_ball("Good", kind=None), open_edges()
    select(good, bad)
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert (good.softpressure.kind, bad.softpressure.kind) == ("SOFT", "NONE")
    assert "3 open edges" in problem_of(bad)


@pytest.mark.smoke
def test_adding_makes_a_live_key_and_locks_the_interface_removing_restores_the_mesh() -> None:
    ball = add_ball(kind=None)
    before = fingerprint(ball)
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    keys = ball.data.shape_keys
    assert [key.name for key in keys.key_blocks] == ["Basis", "SP Live"]
    assert keys.key_blocks["SP Live"].value == 1.0
    assert bpy.context.scene.render.use_lock_interface is True
    assert status.notices(bpy.context.scene) == []
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}  # twice is once
    assert len(keys.key_blocks) == 2
    assert bpy.ops.softpressure.remove_body() == {"FINISHED"}
    assert fingerprint(ball) == before


@pytest.mark.usefixtures("falling")
def test_removing_after_playing_restores_mesh_and_modifiers() -> None:
    ball = add_ball(kind=None)
    ball.modifiers.new("Wave", "WAVE").show_render = False
    ball.modifiers.new("Subdivision", "SUBSURF").show_viewport = False
    before = fingerprint(ball)
    bpy.ops.softpressure.add_body(kind="SOFT")
    for number in range(1, 5):
        frame(number)
    assert not ball.modifiers["Wave"].show_viewport
    bpy.ops.softpressure.remove_body()
    assert fingerprint(ball) == before


def test_lock_interface_switched_off_is_warned_of() -> None:
    add_ball()
    bpy.context.scene.render.use_lock_interface = False
    assert "Lock Interface is off" in " ".join(status.notices(bpy.context.scene))


def test_vertices_in_one_point_are_called_that() -> None:
    add_mesh("Dot", [(1, 2, 3)] * 4, OUTWARD)
    for kind in ("SOFT", "RIGID", "COLLIDER"):
        with pytest.raises(RuntimeError, match=r"Dot: all 4 vertices lie in one point\. Scale them apart"):
            bpy.ops.softpressure.add_body(kind=kind)
