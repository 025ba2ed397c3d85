"""Even simulation meshes in Blender: any mesh falls, is baked, saved, undone."""

from pathlib import Path
from typing import Any

import bpy
import drawn_meshes
import numpy as np
import pytest
import shapes
from bpy_panels import body_rows
from bpy_scene import add_ball, add_beast, add_floor, add_group, add_mesh, add_primitive, frame, give, play, select
from bpy_seen import captured, fallen, problem_of, rest, shown, this_run, this_session
from softpressure_ext.core import check_closed_surface
from softpressure_ext.softpressure.reports import simulation_mesh_notes
from softpressure_ext.softpressure.scene_io import simulation_mesh
from softpressure_ext.softpressure.state import versions


def add_monkey(**settings: Any) -> Any:
    obj = add_primitive("monkey", None, location=(0, 0, 3), rotation=(0.3, 0.2, 0.1))
    give(obj, **{"simulation_mesh": "EVEN", **settings})
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    return obj


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("add", [add_monkey, add_beast])
def test_the_drawn_mesh_follows_and_its_bake_is_the_preview(add: Any) -> None:
    obj = add()
    before = rest(obj)
    play(1, 10)
    assert len(captured().positions) == pytest.approx(min(1000, len(before)), rel=0.05) and captured().drawn is not None
    preview = shown(obj)
    np.testing.assert_allclose(preview, before - (0, 0, fallen(9)), atol=2e-6)
    text = simulation_mesh_notes.text(bpy.context.scene, obj)
    assert text == f"Simulates {len(captured().positions):,} even vertices for {len(before):,} drawn"
    assert text in body_rows()
    assert bpy.ops.softpressure.bake(target="SHAPE_KEYS") == {"FINISHED"}
    frame(10)
    np.testing.assert_allclose(shown(obj), preview, atol=1e-5)


@pytest.mark.usefixtures("falling")
def test_a_saved_file_plays_and_goes_on(tmp_path: Path) -> None:
    obj = add_beast()
    before = rest(obj)
    play(1, 5)
    path = str(tmp_path / "beast.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    frame(4)
    kept = shown(obj)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Beast"]
    frame(4)
    np.testing.assert_array_equal(shown(obj), kept)
    frame(1)
    play(5, 7)
    assert not this_session().refusals.error
    np.testing.assert_allclose(shown(obj), before - (0, 0, fallen(6)), atol=2e-6)


@pytest.mark.usefixtures("falling")
def test_undo_brings_back_what_was_simulated() -> None:
    bpy.ops.ed.undo_push(message="empty")
    obj = add_beast()
    bpy.ops.ed.undo_push(message="even")
    obj.softpressure.simulation_mesh = "DRAWN"
    bpy.ops.ed.undo_push(message="drawn")
    play(1, 2)
    assert captured().drawn is None
    bpy.ops.ed.undo()
    assert bpy.data.objects["Beast"].softpressure.simulation_mesh == "EVEN"
    play(1, 2)
    assert captured().drawn is not None


@pytest.mark.usefixtures("falling")
def test_a_coarse_mesh_gets_no_more_vertices_than_are_seen() -> None:
    """Suzanne has 507; the detail still counts, and what a person asks for is made. Letters have few, but thin ones."""
    obj, scene = add_monkey(), bpy.context.scene
    counts = []
    for detail, own in (("DRAFT", 0), ("NORMAL", 0), ("FINE", 0), ("NORMAL", 900)):
        scene.softpressure.detail, obj.softpressure.simulation_vertices = detail, own
        play(1, 2)
        counts.append(len(captured().positions))
    assert counts == pytest.approx([300, 507, 2000, 900], rel=0.05)
    obj.softpressure.simulation_vertices = 0
    scene.softpressure.detail = "NORMAL"
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    play(1, 2)
    assert len(captured().positions) == pytest.approx(1000, rel=0.05)
    obj.softpressure.kind = "NONE"
    add_text(0.1).softpressure.kind = "SOFT"
    play(1, 2)
    assert len(captured().positions) == pytest.approx(1000, rel=0.05)


@pytest.mark.usefixtures("falling")
def test_automatic_takes_what_is_as_cheap() -> None:
    even = add_primitive("ico_sphere", None, subdivisions=4, radius=0.5, location=(0, 0, 3))
    cube = add_primitive("cube", None, location=(3, 0, 3))
    fine = add_primitive("uv_sphere", None, segments=96, ring_count=48, location=(6, 0, 3))
    for obj in (even, cube, fine):
        obj.softpressure.kind = "SOFT"
    frame(1)
    found = {each.name: each.drawn is not None for each in this_run().start.bodies}
    assert found == {even.name: False, cube.name: False, fine.name: True}


@pytest.mark.usefixtures("falling")
def test_a_group_of_pressure_goes_over() -> None:
    obj = add_beast()
    x = rest(obj)
    high = np.flatnonzero(x[:, 2] > x[:, 2].mean())
    add_group(obj, "pressure_group", high)
    frame(1)
    vertices, weights = captured().pressed
    assert weights.min() > 0.0 and weights.max() <= 1.0
    top = captured().positions[:, 2] > x[:, 2].mean() + 0.1
    assert np.isin(np.flatnonzero(top), vertices).all()
    assert (captured().positions[vertices, 2] > x[:, 2].mean() - 0.15).all()


@pytest.mark.usefixtures("falling")
def test_new_bodies_are_automatic_and_those_of_earlier_files_as_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "ball.blend")
    with monkeypatch.context() as patch:
        patch.setattr(versions, "CURRENT", 3)
        add_ball().softpressure.property_unset("simulation_mesh")
        bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    ball = bpy.data.objects["Ball"]
    assert ball.softpressure.simulation_mesh == "DRAWN"
    assert bpy.context.scene.softpressure.defaults_version == versions.CURRENT
    frame(1)
    assert captured().drawn is None and simulation_mesh_notes.text(bpy.context.scene, ball) == ""
    add_primitive("cube")
    assert bpy.context.object.softpressure.simulation_mesh == "AUTO"
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.objects["Cube"].softpressure.simulation_mesh == "AUTO"


def test_blenders_meshes_lie_on_the_floor() -> None:
    """Coarse ones as they are drawn, of long faces or with a bevel, too; a subdivided cube of 8 vertices pressed."""
    scene = bpy.context.scene
    scene.frame_end = 40
    add_floor()
    meshes = bpy.ops.mesh
    adding = (meshes.primitive_cube_add, meshes.primitive_cylinder_add, meshes.primitive_cube_add,
              meshes.primitive_uv_sphere_add, meshes.primitive_cube_add)  # fmt: skip
    bodies = []
    for number, add in enumerate(adding):
        add(location=(3 * (number - 2), 0, 1.02), **({"segments": 48, "ring_count": 24} if number == 3 else {}))
        bodies.append(bpy.context.object)
    cube, cylinder, rounded, ball, jelly = bodies
    rounded.modifiers.new("Bevel", "BEVEL").segments = 3
    jelly.modifiers.new("Subdivision", "SUBSURF").levels = 2
    jelly.location.z = 0.9
    give(jelly, body_type="SOLID", modulus=1.8e4, mass=1000.0)
    for obj in bodies:
        obj.select_set(True)
        obj.softpressure.bounciness = 0.0
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    follows = {each.name: each.drawn is not None for each in this_run().start.bodies}
    assert follows == {each.name: each in (ball, jelly) for each in bodies}
    for number in (34, 40):
        frame(number)
        for obj in (cube, cylinder, ball):
            assert abs(shown(obj)[:, 2].min()) < 0.003, obj.name
        assert 0.0 < shown(rounded)[:, 2].min() < 0.03  # lies on a corner that the bevel has cut
    lows, heights = [], []
    for number in range(3, 41):
        frame(number)
        z = shown(jelly)[:, 2]
        lows.append(z.min())
        heights.append(np.ptp(z))
    assert 0.0 < min(lows) < 0.01 and min(heights) < 0.6


def test_an_open_tube_and_a_bowl_stand_on_the_floor_as_round_as_they_are_drawn() -> None:
    """What closes them is not seen, and held the tube 12 cm above the floor."""
    add_floor()
    tube = add_primitive("cylinder", radius=0.5, depth=1.6, end_fill_type="NOTHING", location=(-1.5, 0, 0.85))
    bowl = add_primitive("uv_sphere", None, radius=0.8, location=(1.5, 0, 0.85))
    select(bowl)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in bowl.data.vertices:
        vertex.select = vertex.co.z > 0.05
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.delete(type="VERT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    play(1, 48)
    for obj, radius in ((tube, 0.5), (bowl, 0.8)):
        x = shown(obj)
        assert 0.0 <= x[:, 2].min() < 0.01
        top = x[rest(obj)[:, 2] > rest(obj)[:, 2].max() - 0.01, :2]
        around = np.linalg.norm(top - top.mean(axis=0), axis=1)
        assert 0.97 * radius < around.min() and around.max() < 1.03 * radius


def test_a_skin_seen_subdivided_is_its_smooth_surface_at_each_level_and_lies_on_the_floor() -> None:
    """Even meshes of the faces at low levels cut their corners: the cube hovered by 20 and 14 mm at levels 1 and 2."""
    bpy.context.scene.frame_end = 48
    add_floor()
    cubes = []
    for level in (1, 2):
        bpy.ops.mesh.primitive_cube_add(location=(4 * level, 0, 0.9))
        cubes.append(bpy.context.object)
        cubes[-1].modifiers.new("Subdivision", "SUBSURF").levels = level
        bpy.ops.softpressure.add_body()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    for number in range(24, 49, 4):
        frame(number)
        low, high = map(shown, cubes)
        assert min(low[:, 2].min(), high[:, 2].min()) > 0.0
        assert max(low[:, 2].min(), high[:, 2].min()) < 0.003
        np.testing.assert_allclose(np.ptp(low, axis=0), np.ptp(high, axis=0), atol=0.01)
    first, second = (this_run().world.positions(number) for number in (0, 1))
    np.testing.assert_allclose(first + (4, 0, 0), second, atol=1e-3)


def test_what_other_modifiers_make_of_a_subdivided_mesh_is_simulated() -> None:
    """A twist by whole turns at the corners leaves them, and all distances from the middle."""
    add_floor()
    found = []
    for twisted in (False, True):
        obj = give(add_primitive("cube", None, location=(0, 0, 3)), kind="SOFT")
        obj.modifiers.new("Subdivision", "SUBSURF").levels = 2
        bpy.context.view_layer.update()
        height = 2.0 * shown(obj)[0, 2] - 6.0
        if twisted:
            twist = obj.modifiers.new("Twist", "SIMPLE_DEFORM")
            twist.deform_method, twist.deform_axis = "TWIST", "Z"
            twist.angle = 4.0 * np.pi * np.ptp(shown(obj)[:, 2]) / height
        frame(1)
        found.append(captured().positions)
        bpy.data.objects.remove(obj)
    assert len(found[0]) != len(found[1]) or not np.allclose(*found, atol=0.01)


@pytest.mark.usefixtures("falling")
def test_a_thickness_that_covers_what_stands_out_is_kept() -> None:
    obj = add_beast()
    for chosen in (0.05, 1e-6, 0.0):
        obj.softpressure.thickness = chosen
        frame(1)
        found, drawn_mesh = captured().settings["thickness"], captured().drawn
        assert found == pytest.approx(max(drawn_mesh.stand_off, chosen)) and drawn_mesh.stand_off > 1e-3


@pytest.mark.usefixtures("falling")
def test_vertices_without_faces_do_not_thicken_the_body() -> None:
    box = add_primitive("cube", None, size=1, location=(0, 0, 1))
    box.data.vertices.add(1)
    box.data.vertices[-1].co = (3, 3, 3)
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    play(1, 3)
    assert captured().drawn is not None and captured().settings["thickness"] < 0.003
    np.testing.assert_allclose(shown(box), rest(box) - (0, 0, fallen(2)), atol=2e-6)


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("choice", ["AUTO", "DRAWN"])
def test_a_coarse_mesh_keeps_no_more_than_a_small_share_of_its_size(choice: str) -> None:
    give(add_primitive("cylinder", None, location=(0, 0, 3)), simulation_mesh=choice, kind="SOFT")
    frame(1)
    assert captured().drawn is None and captured().settings["thickness"] == pytest.approx(0.0025)
    noted = simulation_mesh_notes.text(bpy.context.scene, bpy.context.object)
    few = "Simulates the 64 drawn vertices. Subdivide the mesh to see it bend between them"
    assert noted == ("" if choice == "DRAWN" else few)


def add_text(extrude: float, body: str = "Soft") -> Any:
    bpy.ops.object.text_add()
    bpy.context.object.data.body = body
    bpy.context.object.data.extrude = extrude
    bpy.ops.object.convert(target="MESH")
    return bpy.context.object


def add_letters(extrude: float, gap: float) -> Any:
    """The letter S three times, with gaps of so many metres between."""
    letter = add_text(extrude, "S")
    x, faces = rest(letter), [list(face.vertices) for face in letter.data.polygons]
    bpy.data.objects.remove(letter)
    bpy.context.view_layer.update()
    places = [x + (number * (np.ptp(x[:, 0]) + gap), 0, 0) for number in range(3)]
    all_faces = [[corner + number * len(x) for corner in face] for number in range(3) for face in faces]
    return add_mesh("Text", np.concatenate(places).tolist(), all_faces)


@pytest.mark.usefixtures("falling")
def test_letters_three_millimetres_apart_stay_so_and_what_is_closed_is_told() -> None:
    """Closed ones keep any gap; flat ones are wrapped, which closes what is narrower than 3 % of the size."""
    for extrude, gap, parts, count in ((0.1, 0.003, 3, 0), (0.0, 0.003, 1, 2), (0.0, 0.06, 3, 0)):
        obj = add_letters(extrude, gap)
        assert bpy.ops.softpressure.add_body() == {"FINISHED"}
        frame(1)
        assert drawn_meshes.part_count(captured().triangles) == parts
        assert drawn_meshes.crossing_count(captured().positions, captured().triangles) == 0
        notes = " ".join(simulation_mesh_notes.notes(bpy.context.scene, obj))
        assert ("Text has 2 of its gaps closed, those of less than 3 % of its size." in notes) == (count == 2)
        bpy.data.objects.remove(obj)


def add_wavy_sheet(copies: int) -> Any:
    x, triangles = shapes.grid(1.0, 12)
    x[:, 2] += 0.1 * np.sin(6.0 * x[:, 0])
    faces = np.concatenate([triangles + k * len(x) for k in range(copies)])
    return add_mesh("Sheet", np.concatenate([x] * copies).tolist(), faces.tolist())


def add_crossing_boxes() -> Any:
    (x, triangles), (y, others) = shapes.box(1.0, 2), shapes.box(1.0, 2, (0.4, 0.3, 0.2))
    return add_mesh("Boxes", [*x.tolist(), *y.tolist()], [*triangles.tolist(), *(others + len(x)).tolist()])


def add_torn(kind: str) -> Any:
    """A box that is open, loose in places, inside out, of mixed winding, or has a face without area."""
    x, triangles = shapes.box(1.0, 4)
    points, faces = x.tolist(), triangles.tolist()
    if kind == "open":
        faces = [face for face in faces if x[face][:, 2].min() < 0.49]
    elif kind == "loose":
        points.append([0.0, 0.0, 3.0])
    elif kind == "inside out":
        faces = [face[::-1] for face in faces]
    elif kind == "mixed":
        faces = [face[::-1] if number % 3 == 0 else face for number, face in enumerate(faces)]
    else:
        faces.append([faces[0][0], faces[0][1], faces[0][1] + 1])
        points[faces[0][1] + 1] = points[faces[0][1]]
    return add_mesh("Box", points, faces)


def add_ngons() -> Any:
    """A prism with caps of 24 corners, one of them with a dent, so that its triangles overlap."""
    turns = np.arange(24) * np.pi / 12.0
    ring = np.stack([np.cos(turns), np.sin(turns), 0.0 * turns], axis=1)
    ring[3, :2] *= 0.2
    points = np.concatenate([ring, ring + (0, 0, 1.5)])
    sides = [[k, (k + 1) % 24, 24 + (k + 1) % 24, 24 + k] for k in range(24)]
    return add_mesh("Prism", points.tolist(), [list(range(24))[::-1], list(range(24, 48)), *sides])


ANY = {
    "flat text": lambda: add_text(0.0),
    "text": lambda: add_text(0.1),
    "sheet": lambda: add_wavy_sheet(1),
    "two sheets on each other": lambda: add_wavy_sheet(2),
    "crossing boxes": add_crossing_boxes,
    "n-gons": add_ngons,
    "Suzanne": lambda: add_primitive("monkey", None),
    **{kind: lambda kind=kind: add_torn(kind) for kind in ("open", "loose", "inside out", "mixed", "without area")},
}


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("name", ANY)
def test_whatever_is_drawn_is_added_falls_and_says_what_was_done(name: str, capfd: Any) -> None:
    obj = ANY[name]()
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert not problem_of(obj) and obj.softpressure.body_type == "MEMBRANE"
    before = rest(obj)
    play(1, 4)
    assert captured().drawn is not None or name == "n-gons"
    check_closed_surface(name, captured().positions, captured().triangles)
    np.testing.assert_allclose(shown(obj), before - (0, 0, fallen(3)), atol=5e-6)
    told = capfd.readouterr().out + " ".join(simulation_mesh_notes.notes(bpy.context.scene, obj))
    assert ("simulated as if it were" in told) == (name != "n-gons")
    obj.softpressure.simulation_mesh = "DRAWN"
    assert bool(problem_of(obj)) == (name not in {"n-gons", "crossing boxes"})


@pytest.mark.usefixtures("falling")
def test_methods_of_papers_simulate_what_is_drawn_if_that_is_closed() -> None:
    scene, beast, monkey = bpy.context.scene, add_beast(), add_monkey()
    beast.softpressure.simulation_mesh = monkey.softpressure.simulation_mesh = "AUTO"
    for method, expected in (("RK4", False), ("EXPLICIT", None), ("XPBD", None)):
        scene.softpressure.solver = method
        frame(1)
        found = {each.name: each.drawn is not None for each in this_run().start.bodies}
        assert found["Suzanne"] and (expected is None or found["Beast"] == expected)
        if expected is False:
            text = simulation_mesh_notes.text(scene, beast)
            assert text == f"Simulates the {len(beast.data.vertices)} drawn vertices, as the method of a paper does"


def test_a_scan_needs_one_even_mesh_and_few_steps_until_its_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """40,962 vertices, dented, with holes as scans have them: Add Soft Body, Check and two frames, as the panel offers.

    Work is counted, so that no clock is asked: one mesh is made, and vertices times steps are those of 0.04 s a frame.
    """
    x, triangles = shapes.icosphere(6, 0.5, (0.0, 0.0, 2.0))
    rng = np.random.default_rng(30)
    for peak in rng.standard_normal((20, 3)):
        away = np.linalg.norm(x - (0, 0, 2) - 0.5 * peak / np.linalg.norm(peak), axis=1)
        x = x + 0.05 * np.exp(-((away / 0.15) ** 2))[:, None] * (x - (0, 0, 2))
    holes = np.unique(np.concatenate([np.arange(start, start + 30) for start in (500, 20000, 60000)]))
    made, make = [], simulation_mesh.Wanted.making
    monkeypatch.setattr(simulation_mesh.Wanted, "making", lambda wanted: made.append(wanted) or make(wanted))
    scan = add_mesh("Scan", x.tolist(), np.delete(triangles, holes, axis=0).tolist())
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert bpy.ops.softpressure.check() == {"FINISHED"} and this_session().checked[1] == []
    play(1, 3)
    world = this_run().world
    assert this_run().cache.last_frame == 3 and len(made) == 1
    assert world.model.vertex_count == pytest.approx(1000, rel=0.06)
    assert world.steps_per_frame * world.model.vertex_count < 400_000
    assert shown(scan)[:, 2].mean() < x[:, 2].mean()
