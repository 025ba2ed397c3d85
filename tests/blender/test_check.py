"""Check: flaws of bodies, reported before simulation, and their fixes."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import bpy  # isort: skip  (first, as it makes bmesh known)
import bmesh
import numpy as np
import pytest
from bpy_panels import body_rows, drawn
from bpy_scene import add_ball, add_mesh, add_primitive, as_drawn, give, play, select
from bpy_seen import problem_of, this_run
from softpressure_ext.core.simulation_mesh import even, remesh
from softpressure_ext.panels.diagnostics import Diagnostics
from softpressure_ext.softpressure.bodies import mesh_checks
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.scene_io import mesh_io
from softpressure_ext.softpressure.simulation import trial_start
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


def flatten_it(work: bmesh.types.BMesh, share: float = 0.5) -> None:
    """Cut an edge in two at a share of its length, and put a face between the whole edge and its parts."""
    bmesh.ops.triangulate(work, faces=work.faces)
    work.edges.ensure_lookup_table()
    edge = work.edges[40]
    start, end = edge.verts
    _, middle = bmesh.utils.edge_split(edge, start, share)
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
    assert drawn(Diagnostics)[0] == "softpressure.check"
    assert check() == []
    assert "No problems found." in drawn(Diagnostics)


def test_results_end_with_their_cause() -> None:
    ball = add_ball(thickness=0.5)
    [flaw] = check()
    assert "its thickness of 0.5 m is more than its mean edge" in flaw.sentence and not flaw.is_grave
    assert "softpressure.fix" in drawn(Diagnostics)
    ball.softpressure.thickness = 0.01
    assert "The scene has changed: press Check again." in " ".join(drawn(Diagnostics))
    ball.softpressure.thickness = 0.5
    check()
    assert bpy.ops.softpressure.fix(object_name="Ball", fix="THICKNESS") == {"FINISHED"}
    assert ball.softpressure.thickness == 0.0
    assert "No problems found." in drawn(Diagnostics)  # looked at anew


def test_faces_that_cross_their_own_skin_are_selected() -> None:
    ball = pushed_through("DRAWN")
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
    cache = sessions.of(bpy.context.scene).run.cache
    assert check() == [] and sessions.of(bpy.context.scene).run.cache is cache and bpy.context.scene.frame_current == 3
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


def test_slivers_that_take_seconds_a_frame_are_told_and_the_button_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a disc of 672 vertices, with a fan from the rim on both sides: what takes long are slivers that touch."""
    monkeypatch.setattr(trial_start, "SLOW", 0.08)
    turns = np.pi / 168.0 * np.arange(336)
    rim = np.stack([0.5 * np.cos(turns), 0.5 * np.sin(turns), 0.0 * turns], axis=1)
    here, ahead = np.arange(336), np.roll(np.arange(336), -1)
    faces = [*np.stack([here, ahead, ahead + 336, here + 336], axis=1).tolist()]
    for number in range(1, 335):
        faces += [(0, number + 1, number), (336, number + 336, number + 337)]
    disc, bpy.context.scene.frame_end = as_drawn(add_mesh("Disc", [*rim, *(rim + (0.0, 0.0, 0.2))], faces)), 2
    edit(disc, lambda work: flatten_it(work, 0.0))
    with pytest.raises(RuntimeError, match="zero area"):
        bpy.ops.softpressure.add_body(kind="SOFT")
    assert bpy.ops.softpressure.fix(object_name=disc.name, fix="DISSOLVE") == {"FINISHED"}
    [flaw] = [flaw for flaw in check() if "a frame takes about" in flaw.sentence]
    assert (
        not flaw.is_grave
        and flaw.fixes == ("EVEN_MESH",)
        and flaw.sentence.endswith("672 vertices. Simulate an even mesh, or lower its stiffness.")
    )
    assert bpy.ops.softpressure.fix(object_name=disc.name, fix="EVEN_MESH") == {"FINISHED"}
    assert check() == []


@pytest.mark.parametrize("next_frame, told", [(0.01, 0), (4.0, 1)])
def test_a_first_frame_that_loads_kernels_is_not_told_as_slow(
    next_frame: float, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, clock = iter([6.0, next_frame]), [0.0]

    def take_a_frame(*_: Any) -> None:
        clock[0] += next(frames)

    add_ball()
    monkeypatch.setattr(trial_start, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(trial_start.World, "advance_frame", take_a_frame)
    assert [f"about {next_frame:g} s" in flaw.sentence for flaw in check()] == [True] * told


def pushed_through(simulation_mesh: str) -> Any:
    """A ball whose north pole is pushed out of its south."""
    ball = add_ball(kind=None)
    for vertex in ball.data.vertices:
        if vertex.co.z > 0.45:
            vertex.co.z = -0.8
    ball.softpressure.simulation_mesh, ball.softpressure.simulation_vertices = simulation_mesh, 200
    bpy.ops.softpressure.add_body(kind="SOFT")
    return ball


def add_c() -> Any:
    """A ring cut by a gap of 0.2 % of its width: an even mesh of few vertices may cross itself there."""
    turns = np.linspace(0.001, 2.0 * np.pi - 0.001, 24)
    ring = np.stack([np.cos(turns), np.sin(turns), 0.0 * turns], axis=1)
    rows = [radius * ring + (0, 0, z) for radius, z in ((0.5, 0.0), (1.0, 0.0), (1.0, 0.4), (0.5, 0.4))]
    faces = [(24 * a + i, 24 * b + i, 24 * b + i + 1, 24 * a + i + 1) for i in range(23) for a, b in
             ((1, 0), (2, 1), (3, 2), (0, 3))]  # fmt: skip
    faces += [(0, 24, 48, 72), (95, 71, 47, 23)]
    return add_mesh("C", np.concatenate(rows).tolist(), faces)


def overstretched() -> None:
    add_ball(gauge_pressure=60_000.0)


def soft_under_xpbd() -> None:
    bpy.context.scene.softpressure.solver = "XPBD"
    add_primitive("cube")
    bpy.context.object.softpressure.body_type, bpy.context.object.softpressure.modulus = "SOLID", 1e7


def two_that_cross() -> None:
    add_ball("One")
    add_ball("Two", (0.8, 0, 5))


@pytest.mark.parametrize(
    ("make", "said", "remedy"),
    [
        (lambda: pushed_through("DRAWN"), "cross", ("SELECT_CROSSING",)),
        (lambda: pushed_through("EVEN"), "cross", ("SELECT_CROSSING",)),
        (two_that_cross, "cross", ()),
        (overstretched, "stretches its skin", ()),
        (soft_under_xpbd, "times softer than set", ()),
    ],
    ids=["drawn", "even", "two", "overstretched", "XPBD"],
)
def test_it_knows_what_simulate_will_say(make: Callable[[], Any], said: str, remedy: tuple[str, ...]) -> None:
    make()
    bpy.context.scene.frame_end = 2
    [flaw] = [flaw for flaw in check() if "a frame takes about" not in flaw.sentence]
    assert said in flaw.sentence and flaw.fixes == remedy and not flaw.is_grave
    bpy.ops.softpressure.simulate()
    [notice] = [each for each in status.notices(bpy.context.scene) if "Lock Interface" not in each]
    if said == "cross":
        assert notice.startswith(f"{this_run().crossing_count} triangles cross")
        assert f" {this_run().crossing_count} faces" in flaw.sentence
    else:
        assert notice == flaw.sentence


def test_an_even_mesh_that_crosses_itself_where_the_drawn_one_does_not_is_told(monkeypatch) -> None:
    """As where neither guard nor smoothing finds a way; with the guard, none of 60 vertices crosses either."""
    for module in (even, remesh):
        monkeypatch.setattr(module, "crossing_vertices", lambda x, _: np.zeros(len(x), bool))
    ring = add_c()
    ring.softpressure.simulation_mesh, ring.softpressure.simulation_vertices = "EVEN", 60
    bpy.ops.softpressure.add_body(kind="SOFT")
    [flaw] = check()
    assert "faces of its simulation mesh cross each other" in flaw.sentence and flaw.fixes == ()
    assert flaw.sentence.endswith("Choose a finer Detail or more Vertices.")
    monkeypatch.undo()
    ring.softpressure.simulation_vertices = 59
    assert check() == []


# -- Fixes that lead to an end: none makes what the mesh has not, and one that does nothing is not offered again


def shared_edges(triangles):
    """How many triangles each edge has."""
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2))
    return np.unique(sides, axis=0, return_counts=True)[1]


def refused(obj, kind="SOFT", **settings):
    """What a refusal says of an object."""
    select(give(obj, **settings))
    with pytest.raises(RuntimeError) as error:
        bpy.ops.softpressure.add_body(kind=kind)
    return str(error.value)


def fix(obj, name):
    return bpy.ops.softpressure.fix(object_name=obj.name, fix=name)


#: Two quads that share two opposite corners: A, back over E and to the front over F.
LENS = [(0, 0, 0), (1, 0, 0), (0.5, 0.5, 0.4), (0.5, -0.5, 0.4), (0.5, 0.5, -0.4), (0.5, -0.5, -0.4)]


def test_two_quads_never_get_a_common_diagonal():
    """Blender splits both between their common corners, along one edge of four triangles."""
    pillow = add_mesh("Pillow", LENS, [(0, 3, 1, 2), (0, 4, 1, 5), (0, 2, 4), (1, 4, 2), (0, 5, 3), (1, 3, 5)])
    triangles = mesh_io.read_triangles(pillow.data, np.eye(4))
    assert len(triangles) == 8
    assert (shared_edges(triangles) == 2).all()
    areas = np.cross(*(np.array(LENS)[triangles[:, k]] - np.array(LENS)[triangles[:, 0]] for k in (1, 2)))
    assert ((np.array(LENS)[triangles].mean(axis=1) - [0.5, 0, 0]) * areas).sum(axis=1).min() > -1e-9  # outwards


def add_stubborn():
    """A ball with a hole whose rim Blender cannot fill: a fin of one triangle stands on it."""
    ball = add_ball(kind=None)
    vertices = [tuple(vertex.co) for vertex in ball.data.vertices]
    faces = [tuple(face.vertices) for face in ball.data.polygons]
    edge = faces[0][:2]
    return add_mesh("Fin", [*vertices, (2.0, 0.0, 2.0)], [*faces, (*edge, len(vertices))])


@pytest.mark.parametrize(("kind", "next_one"), [("SOFT", "EVEN_MESH"), ("RIGID", "HULL")])
def test_a_fix_that_did_nothing_is_not_offered_again(kind, next_one):
    fin = add_stubborn()
    refused(fin, kind, simulation_mesh="DRAWN", rigid_shape="MESH")
    tried = []
    while name := next((each for each in mesh_checks.fixes_for(fin) if not each.startswith("SELECT")), ""):
        assert name not in tried
        tried.append(name)
        try:
            fix(fin, name)
        except RuntimeError as error:
            assert "closed" in str(error) or "open edges" in str(error) or "manifold" in str(error)
        if fin.softpressure.kind == kind and not problem_of(fin):
            break
    assert fin.softpressure.kind == kind
    assert problem_of(fin) == ""
    assert tried[-1] == next_one


def test_an_outline_has_no_slivers():
    """Its faces only fill it; what is simulated are its edges."""
    circle = add_mesh("Outline", [(np.cos(a), 0, np.sin(a)) for a in np.linspace(0, 2 * np.pi, 64, False)], [range(64)])
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    assert circle.softpressure.body_type == "LOOP"
    assert not [flaw for flaw in mesh_checks.of_scene(bpy.context.scene) if "slivers" in flaw.sentence]
