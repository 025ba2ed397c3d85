"""Even simulation meshes in Blender: any mesh falls, is baked, saved, undone."""

import math
from pathlib import Path
from typing import Any

import bpy
import drawn_meshes
import numpy as np
import pytest
import shapes
from bpy_panels import body_rows
from bpy_scene import (
    FallingWorld,
    add_ball,
    add_beast,
    add_mesh,
    attribute,
    fallen,
    frame,
    key,
    play,
    problem_of,
    rest,
    shown,
    this_run,
    this_session,
)
from softpressure_ext.core import check_closed_surface
from softpressure_ext.core.cache import NEVER
from softpressure_ext.softpressure.reports import simulation_mesh_notes
from softpressure_ext.softpressure.scene_io import simulation_mesh
from softpressure_ext.softpressure.scene_io.point_attributes import FORCE, STRAIN, TORN
from softpressure_ext.softpressure.simulation import interactive
from softpressure_ext.softpressure.state import jobs, versions, worker_thread


def add_monkey(**settings: Any) -> Any:
    bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 3), rotation=(0.3, 0.2, 0.1))
    obj = bpy.context.object
    for name, value in {"simulation_mesh": "EVEN", **settings}.items():
        setattr(obj.softpressure, name, value)
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    return obj


def body(number: int = 0) -> Any:
    assert not this_session().refusals.error
    return this_run().start.bodies[number]


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("add", [add_monkey, add_beast])
def test_the_drawn_mesh_follows_and_its_bake_is_the_preview(add: Any) -> None:
    obj = add()
    before = rest(obj)
    play(1, 10)
    assert len(body().positions) == pytest.approx(min(1000, len(before)), rel=0.05) and body().drawn is not None
    preview = shown(obj)
    np.testing.assert_allclose(preview, before - (0, 0, fallen(9)), atol=2e-6)
    text = simulation_mesh_notes.text(bpy.context.scene, obj)
    assert text == f"Simulates {len(body().positions):,} even vertices for {len(before):,} drawn"
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
    assert body().drawn is None
    bpy.ops.ed.undo()
    assert bpy.data.objects["Beast"].softpressure.simulation_mesh == "EVEN"
    play(1, 2)
    assert body().drawn is not None


@pytest.mark.usefixtures("falling")
def test_a_coarse_mesh_gets_no_more_vertices_than_are_seen() -> None:
    """Suzanne has 507; the detail still counts, and what a person asks for is made. Letters have few, but thin ones."""
    obj, scene = add_monkey(), bpy.context.scene
    counts = []
    for detail, own in (("DRAFT", 0), ("NORMAL", 0), ("FINE", 0), ("NORMAL", 900)):
        scene.softpressure.detail, obj.softpressure.simulation_vertices = detail, own
        play(1, 2)
        counts.append(len(body().positions))
    assert counts == pytest.approx([300, 507, 2000, 900], rel=0.05)
    obj.softpressure.simulation_vertices = 0
    scene.softpressure.detail = "NORMAL"
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    play(1, 2)
    assert len(body().positions) == pytest.approx(1000, rel=0.05)
    obj.softpressure.kind = "NONE"
    bpy.ops.mesh.primitive_cylinder_add(vertices=64)
    bpy.context.object.softpressure.kind = "SOFT"
    play(1, 2)
    assert len(body().positions) == pytest.approx(1000, rel=0.05)


@pytest.mark.usefixtures("falling")
def test_automatic_takes_what_is_as_cheap() -> None:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=0.5, location=(0, 0, 3))
    even = bpy.context.object
    bpy.ops.mesh.primitive_cube_add(location=(3, 0, 3))
    cube = bpy.context.object
    bpy.ops.mesh.primitive_uv_sphere_add(segments=96, ring_count=48, location=(6, 0, 3))
    fine = bpy.context.object
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
    obj.vertex_groups.new(name="Top").add(high.tolist(), 1.0, "REPLACE")
    obj.softpressure.pressure_group = "Top"
    frame(1)
    vertices, weights = body().pressed
    assert weights.min() > 0.0 and weights.max() <= 1.0
    top = body().positions[:, 2] > x[:, 2].mean() + 0.1
    assert np.isin(np.flatnonzero(top), vertices).all()
    assert (body().positions[vertices, 2] > x[:, 2].mean() - 0.15).all()


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
    assert body().drawn is None and simulation_mesh_notes.text(bpy.context.scene, ball) == ""
    bpy.ops.mesh.primitive_cube_add()
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert bpy.context.object.softpressure.simulation_mesh == "AUTO"
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.objects["Cube"].softpressure.simulation_mesh == "AUTO"


def test_the_default_cube_lies_on_the_floor_as_does_a_fine_ball() -> None:
    scene = bpy.context.scene
    scene.frame_end = 40
    bpy.ops.mesh.primitive_plane_add(size=10.0)
    assert bpy.ops.softpressure.add_body(kind="COLLIDER") == {"FINISHED"}
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 1.02))
    cube = bpy.context.object
    bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=24, location=(3, 0, 1.02))
    ball = bpy.context.object
    for obj in (cube, ball):
        obj.select_set(True)
        obj.softpressure.bounciness = 0.0
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert {each.name: each.drawn is not None for each in this_run().start.bodies} == {
        "Cube": False,
        "Sphere": True,
    }
    for number in (34, 40):
        frame(number)
        assert abs(shown(cube)[:, 2].min()) < 0.003
        assert abs(shown(ball)[:, 2].min()) < 0.003


@pytest.mark.usefixtures("falling")
def test_a_thickness_that_covers_what_stands_out_is_kept() -> None:
    obj = add_beast()
    for chosen in (0.05, 1e-6, 0.0):
        obj.softpressure.thickness = chosen
        frame(1)
        found, drawn_mesh = body().settings["thickness"], body().drawn
        assert found == pytest.approx(max(drawn_mesh.stand_off, chosen)) and drawn_mesh.stand_off > 1e-3


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
        assert drawn_meshes.part_count(body().triangles) == parts
        assert drawn_meshes.crossing_count(body().positions, body().triangles) == 0
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
    "Suzanne": lambda: bpy.ops.mesh.primitive_monkey_add() and bpy.context.object,
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
    assert body().drawn is not None or name == "n-gons"
    check_closed_surface(name, body().positions, body().triangles)
    np.testing.assert_allclose(shown(obj), before - (0, 0, fallen(3)), atol=5e-6)
    told = capfd.readouterr().out + " ".join(simulation_mesh_notes.notes(bpy.context.scene, obj))
    assert ("simulated as if it were" in told) == (name != "n-gons")
    obj.softpressure.simulation_mesh = "DRAWN"
    assert bool(problem_of(obj)) == (name not in {"n-gons", "crossing boxes"})


@pytest.mark.usefixtures("falling")
def test_flat_outlines_and_lattices_stay_what_they_are() -> None:
    bpy.ops.mesh.primitive_circle_add(vertices=16, fill_type="NGON")
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert bpy.context.object.softpressure.body_type == "LOOP"
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4)
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert bpy.context.object.softpressure.body_type == "TRUSS"
    frame(1)
    assert [each.drawn for each in this_run().start.bodies] == [None, None]


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


# -- Groups, animation, attachments, tears and the mouse act on drawn meshes that follow even ones


def group(obj: Any, vertices: Any, name: str = "Group", weights: Any = 1.0) -> str:
    """A vertex group of these vertices."""
    made = obj.vertex_groups.new(name=name)
    for vertex, weight in zip(vertices, np.broadcast_to(weights, len(vertices)), strict=True):
        made.add([int(vertex)], float(weight), "REPLACE")
    return name


def head(obj: Any) -> Any:
    x = rest(obj)[:, 0]
    return np.flatnonzero(x > x.min() + 0.8 * np.ptp(x))


def raise_and_turn(obj: Any) -> None:
    """Key a way of 1 m upwards and a turn by a right angle, in ten frames."""
    for number, height, angle in ((1, 0.0, 0.0), (11, 1.0, 0.5 * math.pi)):
        obj.location.z, obj.rotation_euler.z = height, angle
        obj.keyframe_insert("location", frame=number)
        obj.keyframe_insert("rotation_euler", frame=number)


def by_armature(obj: Any) -> Any:
    """An armature with one bone for all of an object, keyed to turn and to stretch it."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    group(obj, range(len(obj.data.vertices)), "Bone")
    obj.modifiers.new("Rig", "ARMATURE").object = armature
    pose = armature.pose.bones["Bone"]
    pose.rotation_mode = "XYZ"
    for number, angle, stretch in ((1, 0.0, 1.0), (11, 0.5, 1.3)):
        pose.rotation_euler.x, pose.scale.x = angle, stretch
        pose.keyframe_insert("rotation_euler", frame=number)
        pose.keyframe_insert("scale", frame=number)
    bpy.context.view_layer.objects.active = obj
    return armature


def by_shape_key(obj: Any) -> None:
    """Key a shape that is bent and raised."""
    obj.shape_key_add(name="Basis")
    bent = obj.shape_key_add(name="Bent", from_mix=False)
    for point in bent.data:
        point.co.z += 0.5 + 0.3 * point.co.x**2
    key(bent, "value", (1, 0.0), (11, 1.0))


def animated(obj: Any, number: int) -> Any:
    """Where the animation has the vertices of an object at a frame, without simulation."""
    obj.softpressure.kind = "NONE"
    frame(number)
    found = shown(obj)
    obj.softpressure.kind = "SOFT"
    return found


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("lead", [raise_and_turn, by_armature, by_shape_key])
def test_pinned_vertices_are_where_the_animation_has_them_and_so_is_what_is_simulated(lead: Any) -> None:
    obj = add_beast()
    pins = head(obj)
    obj.softpressure.pin_group = group(obj, pins)
    lead(obj)
    wanted = animated(obj, 8)
    play(1, 8)
    drawn = body().drawn
    assert drawn is not None and 20 < len(body().pinned) < 400
    np.testing.assert_allclose(shown(obj)[pins], wanted[pins], atol=2e-6)
    given = FallingWorld.made[-1].given[-1].pinned_positions[0]
    exact = drawn.inverse.positions(wanted, body().pinned)
    np.testing.assert_allclose(given, exact, atol=2e-6)
    assert np.abs(given - body().positions[body().pinned]).max() > 0.1


@pytest.mark.usefixtures("falling")
def test_pins_that_do_not_move_stay_and_the_rest_falls() -> None:
    obj = add_beast()
    obj.softpressure.pin_group = group(obj, head(obj))
    before = rest(obj)
    play(1, 5)
    after = shown(obj)
    np.testing.assert_allclose(after[head(obj)], before[head(obj)], atol=1e-6)
    tail = before[:, 0] < before[:, 0].mean()
    assert (before[tail, 2] - after[tail, 2]).min() > 0.1


@pytest.mark.usefixtures("falling")
def test_another_drawn_vertex_that_is_pinned_makes_the_start_another() -> None:
    obj = add_beast(simulation_vertices=100)
    obj.softpressure.pin_group = group(obj, head(obj))
    frame(1)
    before, pinned = this_run().start.fingerprint(), body().pinned
    obj.vertex_groups["Group"].remove([int(head(obj)[3])])
    frame(2)
    frame(1)
    np.testing.assert_array_equal(body().pinned, pinned)  # of what is simulated the same
    assert this_run().start.fingerprint() != before


@pytest.mark.usefixtures("falling")
def test_goals_have_weights_and_follow_the_animation_and_a_goal_of_one_is_a_pin() -> None:
    obj = add_beast()
    x = rest(obj)[:, 0]
    ramp = np.clip((x - x.min()) / (0.8 * np.ptp(x)), 0.0, 1.0)
    obj.softpressure.goal_group = group(obj, range(len(x)), "Goal", ramp)
    raise_and_turn(obj)
    wanted = animated(obj, 6)
    play(1, 6)
    pulled, pinned, at_start = body().pulled, body().pinned, body().positions
    ours = np.clip((at_start[:, 0] - x.min()) / (0.8 * np.ptp(x)), 0.0, 1.0)
    assert not np.isin(pulled.vertices, pinned).any()
    assert np.sqrt(np.mean((pulled.weights - ours[pulled.vertices]) ** 2)) < 0.02
    assert ours[pinned].min() > 0.9
    given = FallingWorld.made[-1].given[-1].goal_positions[0]
    np.testing.assert_allclose(given, body().drawn.inverse.positions(wanted, pulled.vertices), atol=2e-6)


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("lead", [raise_and_turn, by_armature, by_shape_key])
def test_a_held_body_shows_its_own_animation_and_is_released_where_it_is(lead: Any) -> None:
    obj = add_beast()
    lead(obj)
    key(obj.softpressure, "is_active", (1, False), (6, True))
    wanted = [animated(obj, number) for number in (3, 5)]
    frame(1)
    play(1, 7)
    assert body().drawn is not None
    for number, places in zip((3, 5), wanted, strict=True):
        frame(number)
        np.testing.assert_allclose(shown(obj), places, atol=2e-6)
    frame(6)
    fall = shown(obj) - wanted[1]
    size = np.ptp(rest(obj), axis=0).max()
    assert np.quantile(np.linalg.norm(fall - fall.mean(axis=0), axis=1), 0.95) < 0.005 * size
    assert fall[:, 2].mean() == pytest.approx(-9.81 * 5 / 24.0**2, rel=0.01)  # the stand-in kept falling meanwhile


@pytest.mark.usefixtures("falling")
def test_weights_of_tears_and_the_group_of_an_attachment_go_over() -> None:
    one, other = add_beast(tear_strain=0.5), add_beast("Other", (1.1, 0, 2))
    one.softpressure.attach_to = other
    one.softpressure.attach_group = group(one, head(one))
    one.softpressure.weak_group = group(one, head(one), "Weak", 0.25)
    play(1, 2)
    number = next(n for n in (0, 1) if body(n).name == "Beast")
    mine = body(number)
    near = np.quantile(rest(one)[:, 0], 0.5)
    assert mine.drawn is not None and mine.attached_uid == other.session_uid
    assert len(mine.attached) > 10 and mine.positions[mine.attached, 0].min() > near
    vertices, weights = mine.weak
    assert weights.max() == pytest.approx(0.25) and mine.positions[vertices, 0].min() > near


@pytest.mark.usefixtures("falling")
def test_drawn_faces_on_torn_triangles_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    obj = add_beast(tear_strain=0.5)
    tops: list[Any] = []

    def torn(self: FallingWorld, _membrane: int, triangles: Any) -> Any:
        heights = body().positions[triangles][:, :, 2].mean(axis=1)
        tops.append(np.quantile(heights, 0.9))
        return heights > tops[-1] if self.state.frame >= 3 else np.zeros(len(triangles), bool)

    monkeypatch.setattr(FallingWorld, "torn_triangles", torn)
    play(1, 6)
    flat = attribute(obj.data, TORN)
    corners = np.array([polygon.vertices[:] for polygon in obj.data.polygons])
    heights = rest(obj)[corners][:, :, 2].mean(axis=1)
    assert set(flat.tolist()) == {4.0, float(NEVER)}
    assert (flat[heights > tops[-1] + 0.05] == 4.0).all() and (flat[heights < tops[-1] - 0.05] > 4.0).all()


def test_the_mouse_grabs_what_is_drawn_and_moves_it() -> None:
    bpy.context.scene.use_gravity = False
    obj = add_beast(simulation_vertices=300)
    playing = interactive.InteractivePlay(bpy.context.scene)
    try:
        for _ in jobs.whole(playing.begin(worker_thread.at_once)):
            pass
        x = rest(obj)
        mesh_faces = np.array([polygon.vertices[:] for polygon in obj.data.polygons])
        target = x[mesh_faces[np.argmax(x[mesh_faces][:, :, 2].mean(axis=1))]].mean(axis=0)
        place = playing.hand.grab(target + (0, 0, 5), (0, 0, -1))
        np.testing.assert_allclose(place, target, atol=1e-4)  # on the drawn face, not on the simulated one below
        for _ in range(6):
            place = place + (0.0, 0.0, 0.05)
            playing.hand.drag(place)
            for _ in jobs.whole(playing.step()):
                pass
        assert playing.hand.body_name == "Beast" and playing.hand.force > 0.0
        assert (shown(obj) - x)[:, 2].mean() > 0.05
    finally:
        playing.end()


@pytest.mark.usefixtures("falling")
def test_attributes_and_colours_are_those_of_drawn_vertices() -> None:
    scene = bpy.context.scene
    scene.softpressure.point_attributes = True
    obj = add_beast()
    play(1, 4)
    for name in (STRAIN, FORCE):
        assert len(obj.data.attributes[name].data) == len(obj.data.vertices)
    flat = attribute(obj.data, STRAIN)
    assert np.abs(flat).max() < 1e-3  # it only falls


def test_a_hanging_beast_stays_at_its_pins_and_tears_off_where_it_is_weak() -> None:
    scene = bpy.context.scene
    scene.frame_end = 8
    obj = add_beast(simulation_vertices=300, tear_strain=0.3, mass=20.0, stretch_modulus=2e3, self_collision=False)
    x = rest(obj)
    obj.softpressure.pin_group = group(obj, head(obj))
    middle = np.flatnonzero(np.abs(x[:, 0] - np.quantile(x[:, 0], 0.6)) < 0.1)
    obj.softpressure.weak_group = group(obj, middle, "Weak", 1.0)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert not this_session().refusals.error
    frame(8)
    np.testing.assert_allclose(shown(obj)[head(obj)], x[head(obj)], atol=1e-5)
    flat = attribute(obj.data, TORN)
    assert 0 < (flat < NEVER).sum() < len(flat)
