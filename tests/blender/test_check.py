"""Check: flaws of bodies, reported before simulation, and their fixes."""

from collections.abc import Callable
from typing import Any

import bpy  # isort: skip  (first, as it makes bmesh known)
import bmesh
import pytest
from bpy_panels import body_rows, drawn
from bpy_scene import add_ball, add_mesh, as_drawn, empty_file, play, problem_of, rest, select  # noqa: F401
from softpressure_ext.panels.diagnostics import SOFTPRESSURE_PT_diagnostics
from softpressure_ext.softpressure.bodies import mesh_checks
from softpressure_ext.softpressure.scene_io import mesh_io
from softpressure_ext.softpressure.state import sessions


def edit(obj: Any, change: Callable[[bmesh.types.BMesh], None]) -> None:
    """Change the mesh of an object that is no body."""
    work = bmesh.new()
    work.from_mesh(obj.data)
    work.faces.ensure_lookup_table()
    work.verts.ensure_lookup_table()
    change(work)
    work.to_mesh(obj.data)
    work.free()
    obj.data.update()


def open_it(work: bmesh.types.BMesh) -> None:
    bmesh.ops.delete(work, geom=[work.faces[20]], context="FACES_ONLY")


def tear_it(work: bmesh.types.BMesh) -> None:
    bmesh.ops.split_edges(work, edges=list(work.faces[20].edges))


def turn_it(work: bmesh.types.BMesh) -> None:
    bmesh.ops.reverse_faces(work, faces=[work.faces[20]])


def invert_it(work: bmesh.types.BMesh) -> None:
    bmesh.ops.reverse_faces(work, faces=work.faces)


def add_loose(work: bmesh.types.BMesh) -> None:
    work.verts.new((0.0, 0.0, 2.0))


def flatten_it(work: bmesh.types.BMesh) -> None:
    """Cut an edge in two, and put a face between the whole edge and its halves."""
    bmesh.ops.triangulate(work, faces=work.faces)
    work.edges.ensure_lookup_table()
    edge = work.edges[40]
    start, end = edge.verts
    _, middle = bmesh.utils.edge_split(edge, start, 0.5)
    bmesh.utils.face_split(middle.link_faces[0], start, end)


MESHES = [
    (open_it, "FILL_HOLES", "open edges"),
    (tear_it, "MERGE", "open edges"),
    (turn_it, "NORMALS", "opposite winding"),
    (invert_it, "NORMALS", "inside out"),
    (add_loose, "DELETE_LOOSE", "loose vertices"),
    (flatten_it, "DISSOLVE", "zero area"),
]


@pytest.mark.smoke
@pytest.mark.parametrize(("damage", "fix", "sentence"), MESHES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_refused_mesh_is_fixed_by_a_click_and_added(
    damage: Callable[[bmesh.types.BMesh], None], fix: str, sentence: str
) -> None:
    ball = as_drawn(add_ball(kind=None))
    edit(ball, damage)
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.softpressure.add_body(kind="SOFT")
    assert mesh_checks.fixes_for(ball) == (fix,)
    assert "softpressure.fix" in body_rows()
    assert bpy.ops.softpressure.fix(object_name="Ball", fix=fix) == {"FINISHED"}
    assert ball.softpressure.kind == "SOFT" and problem_of(ball) == ""
    assert mesh_io.live_key(ball) is not None


@pytest.mark.parametrize(("damage", "fix", "sentence"), MESHES[:2], ids=lambda value: getattr(value, "__name__", ""))
def test_a_body_that_was_damaged_later_is_fixed_too(
    damage: Callable[[bmesh.types.BMesh], None], fix: str, sentence: str
) -> None:
    ball = as_drawn(add_ball())
    ball.shape_key_clear()
    edit(ball, damage)
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.softpressure.reset()
    assert sentence in problem_of(ball)
    assert bpy.ops.softpressure.fix(object_name="Ball", fix=fix) == {"FINISHED"}
    assert problem_of(ball) == "" and mesh_io.live_key(ball) is not None


def test_a_modifier_that_closes_the_mesh_is_applied() -> None:
    plate = as_drawn(add_mesh("Plate", [(0, 0, 0), (1, 0, 0), (1, 1, 0.3), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)]))
    plate.modifiers.new("Thick", "SOLIDIFY").thickness = 0.1
    plate.softpressure.simulation_mesh = "DRAWN"
    with pytest.raises(RuntimeError, match="modifier Thick follows the simulation"):
        bpy.ops.softpressure.add_body(kind="SOFT")
    assert mesh_checks.fixes_for(plate)[0] == "APPLY_MODIFIER"
    assert bpy.ops.softpressure.fix(object_name="Plate", fix="APPLY_MODIFIER") == {"FINISHED"}
    assert plate.softpressure.kind == "SOFT" and not plate.modifiers


def check() -> list[Any]:
    assert bpy.ops.softpressure.check() == {"FINISHED"}
    return sessions.of(bpy.context.scene).checked[1]


@pytest.mark.smoke
def test_a_clean_scene_has_no_flaws_and_the_panel_says_so() -> None:
    add_ball()
    assert drawn(SOFTPRESSURE_PT_diagnostics)[0] == "softpressure.check"
    assert check() == []
    assert "No problems found." in drawn(SOFTPRESSURE_PT_diagnostics)


def test_results_end_with_their_cause() -> None:
    ball = add_ball(thickness=0.5)
    [flaw] = check()
    assert "its thickness of 0.5 m is more than its mean edge" in flaw.sentence and not flaw.is_grave
    assert "softpressure.fix" in drawn(SOFTPRESSURE_PT_diagnostics)
    ball.softpressure.thickness = 0.01
    assert "The scene has changed: press Check again." in " ".join(drawn(SOFTPRESSURE_PT_diagnostics))
    ball.softpressure.thickness = 0.5
    check()
    assert bpy.ops.softpressure.fix(object_name="Ball", fix="THICKNESS") == {"FINISHED"}
    assert ball.softpressure.thickness == 0.0
    assert "No problems found." in drawn(SOFTPRESSURE_PT_diagnostics)  # looked at anew


def test_bodies_that_cross_each_other_are_reported() -> None:
    add_ball("One")
    add_ball("Two", (0.8, 0, 5))
    [flaw] = check()
    assert "One: " in flaw.sentence and "faces cross Two at the start" in flaw.sentence


def test_faces_that_cross_their_own_skin_are_reported_and_selected() -> None:
    ball = add_ball(kind=None)
    for vertex in ball.data.vertices:
        if vertex.co.z > 0.45:
            vertex.co.z = -0.8  # the north pole is pushed out of the south
    bpy.ops.softpressure.add_body(kind="SOFT")
    [flaw] = [flaw for flaw in check() if "cross each other" in flaw.sentence]
    assert flaw.fixes == ("SELECT_CROSSING",)
    assert bpy.ops.softpressure.fix(object_name="Ball", fix="SELECT_CROSSING") == {"FINISHED"}
    assert ball.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert 8 <= sum(face.select for face in ball.data.polygons) < len(ball.data.polygons)


def test_slivers_are_reported() -> None:
    ball = as_drawn(add_ball(kind=None))

    def cut(work: bmesh.types.BMesh) -> None:
        bmesh.ops.triangulate(work, faces=work.faces)
        bmesh.ops.bisect_plane(
            work, geom=[*work.verts, *work.edges, *work.faces], plane_co=(0, 0, 0.2501), plane_no=(0, 0, 1)
        )
        bmesh.ops.triangulate(work, faces=work.faces)

    edit(ball, cut)
    bpy.ops.softpressure.add_body(kind="SOFT")
    [flaw] = [flaw for flaw in check() if "slivers" in flaw.sentence]
    assert flaw.fixes == () and "they cost steps" in flaw.sentence and problem_of(ball) == ""
    ball.softpressure.simulation_mesh = "EVEN"
    assert check() == []  # an even mesh has none


def test_a_large_mesh_is_checked_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the window would stand still, deaf to Esc, for as long as a whole object takes."""
    ball = add_ball()
    found: list[mesh_checks.Flaw] = []
    whole = [done for done, _, label in mesh_checks.search(bpy.context.scene, found) if label == "Checking Ball"]
    monkeypatch.setattr(mesh_checks, "_AT_ONCE", len(ball.data.vertices) // 10)
    slices = [done for done, _, label in mesh_checks.search(bpy.context.scene, found) if label == "Checking Ball"]
    assert len(slices) > len(whole) + 20 and slices == sorted(slices) and slices[-1] < 1.0
    assert found == []


def test_bad_names_are_answered() -> None:
    add_ball()
    for arguments in ({"object_name": "Nobody", "fix": "MERGE"}, {"object_name": "Ball", "fix": "MAGIC"}):
        with pytest.raises(RuntimeError, match="give an object and one of APPLY_MODIFIER"):
            bpy.ops.softpressure.fix(**arguments)


def test_each_mesh_is_searched_for_fixes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Panels ask as they draw, which they do after every change of anything."""
    looked = []
    found_before = mesh_checks._fixes_of_mesh
    monkeypatch.setattr(mesh_checks, "_fixes_of_mesh", lambda mesh: looked.append(mesh) or found_before(mesh))
    ball = as_drawn(add_ball(kind=None))
    edit(ball, open_it)
    with pytest.raises(RuntimeError):
        bpy.ops.softpressure.add_body(kind="SOFT")
    for _ in range(3):
        sessions.mark_all()
        assert mesh_checks.fixes_for(ball) == ("FILL_HOLES",)
        body_rows()
    assert len(looked) == 1
    edit(ball, add_loose)
    sessions.mark_all()
    assert mesh_checks.fixes_for(ball) == ("DELETE_LOOSE", "FILL_HOLES")
    assert len(looked) == 2


def test_a_fix_that_is_not_enough_is_kept_and_reports_the_rest() -> None:
    ball = as_drawn(add_ball(kind=None))
    edit(ball, add_loose)
    edit(ball, open_it)
    with pytest.raises(RuntimeError):
        bpy.ops.softpressure.add_body(kind="SOFT")
    assert bpy.ops.softpressure.fix(object_name="Ball", fix="DELETE_LOOSE") == {"FINISHED"}  # so it can be undone
    assert ball.softpressure.kind == "NONE" and "open edges" in problem_of(ball)
    assert bpy.ops.softpressure.fix(object_name="Ball", fix="FILL_HOLES") == {"FINISHED"}
    assert ball.softpressure.kind == "SOFT" and problem_of(ball) == ""


def test_no_fix_acts_in_edit_mode_or_on_baked_bodies() -> None:
    ball = add_ball()
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="is not in Object Mode"):
        bpy.ops.softpressure.fix(object_name="Ball", fix="FILL_HOLES")
    bpy.ops.object.mode_set(mode="OBJECT")
    ball.softpressure.is_baked = True
    with pytest.raises(RuntimeError, match=r"is baked\. Free the bake"):
        bpy.ops.softpressure.fix(object_name="Ball", fix="FILL_HOLES")
    ball.softpressure.is_baked = False


def test_it_knows_what_a_start_refuses_and_leaves_the_cache_alone() -> None:
    ball, jelly = add_ball(), add_ball("Jelly", (3, 0, 5))
    play(1, 3)
    cache = sessions.of(bpy.context.scene).cache
    assert check() == [] and sessions.of(bpy.context.scene).cache is cache and bpy.context.scene.frame_current == 3
    jelly.softpressure.body_type, jelly.softpressure.cell_size = "SOLID", 0.005
    [flaw] = check()
    assert flaw.object_name == "Jelly" and flaw.is_grave and "cells, more than" in flaw.sentence
    jelly.softpressure.cell_size = 0.25
    ball.softpressure.stretch_modulus = 1e9
    ball.softpressure.added_mass = 0.0
    [flaw] = check()
    assert flaw.is_grave and "explicit steps per frame, more than 5000" in flaw.sentence
    with pytest.raises(RuntimeError, match="explicit steps per frame, more than 5000"):
        bpy.ops.softpressure.simulate()


def test_it_tells_what_a_slow_frame_costs_and_the_button_helps() -> None:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=5, radius=0.5)
    bpy.ops.softpressure.add_body(kind="SOFT")
    ball, bpy.context.scene.softpressure.frame_end = as_drawn(bpy.context.object), 2
    assert check() == []
    ball.softpressure.stretch_modulus *= 100.0
    [flaw] = check()
    assert not flaw.is_grave and flaw.fixes == ("EVEN_MESH",)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    world = sessions.of(bpy.context.scene).world
    steps, count = world.steps_per_frame, len(ball.data.vertices)
    assert f"about {1e-7 * steps * count:.2g} s, {steps:,} steps of {count:,} vertices" in flaw.sentence
    assert bpy.ops.softpressure.fix(object_name=ball.name, fix="EVEN_MESH") == {"FINISHED"}
    assert check() == []
