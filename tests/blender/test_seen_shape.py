"""What is seen is simulated: modifiers, cages, and what of an even mesh is kept with the file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import shapes
from bpy_panels import body_rows
from bpy_scene import add_floor, add_mesh, add_primitive, add_tree, frame, give, play, select
from bpy_seen import captured, fallen, problem_of, shown, this_session
from softpressure_ext.core import topology
from softpressure_ext.core.topology import signed_volume
from softpressure_ext.softpressure.bodies import mesh_checks
from softpressure_ext.softpressure.reports import simulation_mesh_notes
from softpressure_ext.softpressure.scene_io import kept_meshes, mesh_io, modifier_stack
from softpressure_ext.softpressure.simulation import making_meshes, simulate_job
from softpressure_ext.softpressure.state import jobs, worker_thread


def add_cube(size: float = 2.0, at: Any = (0.0, 0.0, 3.0)) -> Any:
    return add_primitive("cube", None, size=size, location=at)


def add_soft(obj: Any, **settings: Any) -> Any:
    give(obj, **{"simulation_mesh": "EVEN", **settings})
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    return obj


def seen(obj: Any) -> Any:
    """Vertices of an object with all its modifiers, world space."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return mesh_io.to_world(mesh_io.world_matrix(evaluated), mesh_io.read_local(evaluated.data))


def subdivide(obj: Any) -> None:
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 3


def solidify(obj: Any) -> None:
    modifier = obj.modifiers.new("Solidify", "SOLIDIFY")
    modifier.thickness, modifier.offset = 0.4, 0.0


def bevel(obj: Any) -> None:
    modifier = obj.modifiers.new("Bevel", "BEVEL")
    modifier.width, modifier.segments = 0.3, 4


def with_nodes(obj: Any) -> None:
    """A node tree that subdivides."""
    add_tree(obj, "GeometryNodeSubdivisionSurface", {}, reads=True)


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("modify", [subdivide, bevel, with_nodes])
def test_what_modifiers_show_is_simulated_and_falls_with_the_drawn_vertices(modify: Callable[[Any], None]) -> None:
    obj = add_cube()
    modify(obj)
    add_soft(obj)
    before = seen(obj)
    play(1, 10)
    there, triangles = captured().positions, captured().triangles
    shape = obj
    # the node of Blender 4.2 knows no limit surface
    is_smooth = modify is subdivide or (modify is with_nodes and bpy.app.version >= (4, 5))
    if is_smooth:  # the smooth surface, on which what is seen has its vertices
        shape = add_cube()
        shape.modifiers.new("Subdivision", "SUBSURF").levels = 6
    evaluated = shape.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    start = signed_volume(seen(shape), mesh_io.read_triangles(evaluated, np.eye(4)))
    assert signed_volume(there, triangles) == pytest.approx(start, rel=0.01)
    assert np.abs(np.ptp(there, axis=0) - np.ptp(before, axis=0)).max() < 0.02 * np.ptp(before)
    np.testing.assert_allclose(seen(obj), before - (0, 0, fallen(9)), atol=1e-5)
    assert simulation_mesh_notes.text(bpy.context.scene, obj) == (
        f"Simulates {len(there):,} even vertices for {len(before):,} drawn"
    )


@pytest.mark.usefixtures("falling")
def test_a_plane_that_is_solidified_is_a_skin() -> None:
    obj = add_primitive("grid", None, x_subdivisions=10, y_subdivisions=10, location=(0, 0, 3))
    solidify(obj)
    add_soft(obj, simulation_mesh="AUTO")
    play(1, 2)
    assert obj.softpressure.body_type == "MEMBRANE"
    assert np.ptp(captured().positions, axis=0) == pytest.approx([2.0, 2.0, 0.4], rel=0.01)


@pytest.mark.usefixtures("falling")
def test_hair_and_paint_stay_on_a_body_that_falls() -> None:
    obj = add_cube()
    subdivide(obj)
    hair = obj.modifiers.new("Hair", "PARTICLE_SYSTEM")
    obj.particle_systems[0].settings.type = "HAIR"
    canvas = obj.modifiers.new("Canvas", "DYNAMIC_PAINT")
    assert modifier_stack.first_repeating(obj) == "" and modifier_stack.seen_count(obj) == 3
    add_soft(obj)
    assert not problem_of(obj)
    before = seen(obj)
    for stage in modifier_stack.Stage:
        modifier_stack.show(obj, stage)
        assert hair.show_viewport and canvas.show_viewport
    play(1, 4)
    np.testing.assert_allclose(seen(obj), before - (0, 0, fallen(3)), atol=1e-5)
    hairs = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0].particles
    assert len(hairs) == 1000


@pytest.mark.usefixtures("falling")
def test_another_level_of_subdivision_dates_the_cache() -> None:
    obj = add_cube()
    subdivide(obj)
    add_soft(obj)
    play(1, 2)
    assert not this_session().is_out_of_date(bpy.context.scene)
    obj.modifiers[0].levels = 1
    bpy.context.view_layer.update()
    assert this_session().is_out_of_date(bpy.context.scene)


@pytest.mark.usefixtures("falling")
def test_a_mirror_of_a_half_is_refused_with_the_button_that_applies_it() -> None:
    obj = add_cube()
    mesh = obj.data
    keep = [face for face in mesh.polygons if min(mesh.vertices[v].co.x for v in face.vertices) == -1.0]
    half = bpy.data.meshes.new("Half")
    for vertex in mesh.vertices:
        vertex.co.x = min(vertex.co.x, 0.0)
    faces = [tuple(face.vertices) for face in keep]
    half.from_pydata([tuple(vertex.co) for vertex in mesh.vertices], [], faces)
    obj.data = half
    obj.modifiers.new("Mirror", "MIRROR")
    obj.softpressure.simulation_mesh = "EVEN"
    with pytest.raises(RuntimeError, match=r"Mirror.*Apply the modifier"):
        bpy.ops.softpressure.add_body()
    assert "softpressure.fix" in body_rows()
    assert bpy.ops.softpressure.fix(object_name=obj.name, fix="APPLY_MODIFIER") == {"FINISHED"}
    assert not obj.modifiers and obj.softpressure.kind == "SOFT" and not problem_of(obj)
    play(1, 2)
    assert signed_volume(captured().positions, captured().triangles) == pytest.approx(8.0, rel=0.01)


@pytest.mark.usefixtures("falling")
def test_copies_of_an_array_are_not_simulated_and_the_panel_says_so_with_the_button() -> None:
    obj = add_cube()
    obj.modifiers.new("Array", "ARRAY").relative_offset_displace = (1.5, 0.0, 0.0)
    add_soft(obj)
    play(1, 2)
    assert signed_volume(captured().positions, captured().triangles) == pytest.approx(8.0, rel=0.01)
    panel = body_rows()
    assert any("its modifier Array" in text for text in panel) and "softpressure.fix" in panel
    assert bpy.ops.softpressure.fix(object_name=obj.name, fix="APPLY_MODIFIER") == {"FINISHED"}
    play(1, 2)
    assert signed_volume(captured().positions, captured().triangles) == pytest.approx(16.0, rel=0.01)


@pytest.mark.usefixtures("falling")
def test_modifiers_stay_as_the_person_set_them() -> None:
    obj = add_cube()
    subdivide(obj)
    obj.modifiers.new("Off", "BEVEL").show_viewport = False
    add_soft(obj)
    for stage in modifier_stack.Stage:
        modifier_stack.show(obj, stage)
        play(1, 3)
        assert [each.show_viewport for each in obj.modifiers] == [True, False]
        assert not obj.softpressure.hidden_modifiers


@pytest.mark.usefixtures("falling")
def test_a_mesh_is_made_once_wherever_the_body_is_put(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[int] = []
    slices = kept_meshes.even_mesh_slices
    monkeypatch.setattr(kept_meshes, "even_mesh_slices", lambda *given: made.append(1) or slices(*given))
    kept_meshes._memory.clear()
    obj = add_cube()
    subdivide(obj)
    add_soft(obj)
    play(1, 2)
    first = captured().positions
    assert len(made) == 1
    obj.location, obj.rotation_euler = (1.0, 2.0, 5.0), (0.4, 0.2, 1.0)
    play(1, 2)
    assert len(made) == 1 and not np.allclose(captured().positions, first)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "cube.blend"))
    before = captured().positions.copy(), shown(obj)
    kept_meshes._memory.clear()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "cube.blend"))
    obj = bpy.data.objects["Cube"]
    assert bpy.ops.softpressure.delete_cache() == {"FINISHED"}
    play(1, 2)
    assert len(made) == 1
    np.testing.assert_array_equal(captured().positions, before[0])
    np.testing.assert_array_equal(shown(obj), before[1])
    obj.scale = (1.0, 1.0, 2.0)
    play(1, 2)
    assert len(made) == 2


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"no", lambda data: 3])
def test_what_is_kept_and_damaged_is_made_anew(damage: Callable[[bytes], Any]) -> None:
    obj = add_soft(add_cube())
    play(1, 2)
    whole, there = obj[kept_meshes.KEY], captured().positions
    kept_meshes._memory.clear()
    obj[kept_meshes.KEY] = damage(whole)
    bpy.ops.softpressure.reset()
    play(1, 2)
    np.testing.assert_array_equal(captured().positions, there)
    assert obj[kept_meshes.KEY] == whole


@pytest.mark.usefixtures("falling")
def test_bodies_that_are_simulated_as_drawn_keep_nothing() -> None:
    obj = add_soft(add_cube())
    play(1, 2)
    assert kept_meshes.KEY in obj
    obj.softpressure.simulation_mesh = "DRAWN"
    play(1, 2)
    assert kept_meshes.KEY not in obj


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("is_hidden", [False, True])
def test_an_object_is_the_cage(is_hidden: bool) -> None:
    cage = add_primitive("ico_sphere", None, subdivisions=3, radius=1.5, location=(0, 0, 3))
    obj = add_primitive("monkey", None, location=(0, 0, 3))
    obj.softpressure.simulation_mesh = "CUSTOM"
    bpy.ops.softpressure.add_body()
    assert "has no cage" in problem_of(obj)
    obj.softpressure.cage_object = cage
    cage.hide_viewport = is_hidden
    before = shown(obj)
    play(1, 10)
    assert len(captured().positions) == 162 and kept_meshes.KEY not in obj
    np.testing.assert_allclose(shown(obj), before - (0, 0, fallen(9)), atol=1e-5)
    text = simulation_mesh_notes.text(bpy.context.scene, obj)
    assert text == f"Simulates 162 vertices of {cage.name} for {len(before):,} drawn"
    cage.location.x += 0.1
    bpy.context.view_layer.update()
    assert this_session().is_out_of_date(bpy.context.scene)
    cage.location.x, cage.hide_viewport = 9.0, False  # Blender does not move what is hidden
    with pytest.raises(RuntimeError, match=f"m outside of its cage {cage.name}. Move"):
        bpy.ops.softpressure.simulate()
    assert "Move the cage around it" in problem_of(obj)
    cage.softpressure.kind = "COLLIDER"
    assert "is a body itself" in problem_of(obj)


@pytest.mark.usefixtures("falling")
def test_a_mesh_is_made_beside_the_window_with_progress_and_stopped_at_once() -> None:
    obj = add_soft(add_cube(), simulation_vertices=4000)
    kept_meshes._memory.clear()
    scene = bpy.context.scene
    (missing,) = making_meshes.missing_now(scene)
    told = [found[0] for found in making_meshes.make(scene, [missing]) if found is not None]
    assert kept_meshes.KEY in obj and told == sorted(told) and len(set(told)) > 3
    assert making_meshes.missing_now(scene) == []
    del obj[kept_meshes.KEY]
    kept_meshes._memory.clear()
    work = making_meshes.make(scene, [missing])
    next(work)
    next(work)
    work.close()
    worker_thread.wait()
    assert kept_meshes.KEY not in obj and not kept_meshes._memory
    assert bpy.ops.softpressure.make_meshes() == {"FINISHED"}
    assert kept_meshes.KEY in obj


@pytest.mark.usefixtures("falling")
def test_simulate_makes_what_is_missing_and_names_what_it_does() -> None:
    add_soft(add_cube(), simulation_vertices=4000)
    kept_meshes._memory.clear()
    labels = [found[2] for found in jobs.whole(simulate_job.simulate(bpy.context.scene))]
    assert "Simulation mesh of Cube" in labels and len(captured().positions) == pytest.approx(4000, rel=0.05)


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("kind", ["SOLID", "TRUSS"])
def test_an_open_mesh_is_filled_with_cells_and_follows_them(kind: str) -> None:
    obj = add_soft(add_primitive("monkey", None, location=(0, 0, 3)), body_type=kind, simulation_mesh="AUTO")
    before = shown(obj)
    play(1, 10)
    assert captured().kind == kind and captured().drawn is not None
    np.testing.assert_allclose(shown(obj), before - (0, 0, fallen(9)), atol=1e-5)
    text = f"Fills {len(captured().positions):,} even vertices with cells, for {len(before):,} drawn"
    assert text in body_rows()
    obj.softpressure.simulation_mesh = "DRAWN"
    assert "open edges" in problem_of(obj)


@pytest.mark.usefixtures("falling")
def test_cells_fill_what_is_drawn_where_it_is_closed_and_what_is_seen_where_it_is_more() -> None:
    obj = add_soft(add_cube(), body_type="SOLID", simulation_mesh="AUTO")
    play(1, 2)
    assert captured().drawn is None and len(captured().positions) == 8
    subdivide(obj)
    play(1, 2)
    assert captured().drawn is not None and np.ptp(captured().positions, axis=0).max() < 1.7
    obj.modifiers.clear()
    obj.data.from_pydata([], [], [])
    fine = add_primitive("ico_sphere", None, subdivisions=6, location=(0, 0, 3))
    add_soft(fine, body_type="SOLID", simulation_mesh="AUTO", simulation_vertices=500)
    bpy.data.objects.remove(obj)
    play(1, 2)
    assert captured().drawn is not None and len(shown(fine)) == 10242


def test_a_subdivided_jelly_is_not_drawn_in_the_floor_that_flattens_it() -> None:
    """Its cage kept its distance from the surface: a cube of 1 m was drawn 0.24 m in the floor."""
    scene = bpy.context.scene
    scene.softpressure.detail, scene.frame_end = "DRAFT", 30
    add_floor()
    cube = add_primitive("cube", None, size=1.0, location=(0.0, 0.0, 1.0), rotation=(0.9, 0.6, 0.1))
    subdivide(cube)
    assert bpy.ops.softpressure.set_type(type="SOLID") == {"FINISHED"}
    lowest = []
    for number in range(1, 31):
        frame(number)
        lowest.append(seen(cube)[:, 2].min())
    assert not this_session().refusals.error
    assert min(lowest) > -0.05


@pytest.mark.parametrize("kind", ["MEMBRANE", "SOLID"])
def test_what_stands_far_off_an_even_mesh_is_not_drawn_in_the_floor(kind: str) -> None:
    """An open animal with warts, upside down, at the least detail: its horns were drawn 40 mm in the floor."""
    scene = bpy.context.scene
    scene.softpressure.detail, scene.frame_end = "DRAFT", 30
    add_floor()
    x, triangles = shapes.beast(0.025)
    warts = 0.008 * np.sin(np.random.default_rng(0).uniform(0.0, 40.0, len(x)))
    x = x + warts[:, None] * topology.vertex_normals(x, triangles)
    beast = add_mesh("Beast", x * (1.0, -1.0, -1.0) + (0.0, 0.0, 1.2), triangles[1:])
    assert bpy.ops.softpressure.set_type(type=kind) == {"FINISHED"}
    lowest = []
    for number in range(1, 31):
        frame(number)
        lowest.append(seen(beast)[:, 2].min())
    assert not this_session().refusals.error and captured().drawn is not None
    assert -1e-4 < min(lowest) < 0.01


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("kind", ["SOFT", "RIGID"])
@pytest.mark.parametrize("solver", ["CLOTH", "SOFT_BODY"])
def test_a_body_that_blender_simulates_too_is_told_and_the_button_ends_that(solver: str, kind: str) -> None:
    obj = add_cube()
    obj.modifiers.new("Second", solver)
    bpy.ops.softpressure.add_body(kind=kind)
    sentence = "Cube: its modifier Second simulates it a second time. Remove the modifier."
    assert [flaw.sentence for flaw in mesh_checks.of_scene(bpy.context.scene)] == [sentence]
    panel = body_rows()
    assert sentence in " ".join(panel) and "softpressure.fix" in panel
    assert bpy.ops.softpressure.fix(object_name=obj.name, fix="REMOVE_MODIFIER") == {"FINISHED"}
    assert not obj.modifiers and not mesh_checks.of_scene(bpy.context.scene)
    with pytest.raises(RuntimeError, match="There is nothing to remove"):
        bpy.ops.softpressure.fix(object_name=obj.name, fix="REMOVE_MODIFIER")


def add_sheet(offset: float, kind: str = "SOLID", shape: str = "grid", **settings: Any) -> Any:
    """A body with a modifier that shows a side of it behind what is drawn."""
    obj = add_primitive(shape, None, **settings)
    obj.modifiers.new("Weld", "WELD")
    modifier = obj.modifiers.new("Thick", "SOLIDIFY")
    modifier.thickness, modifier.offset = 0.3, offset
    assert bpy.ops.softpressure.set_type(type=kind) == {"FINISHED"}
    return obj


def test_a_sheet_of_jelly_that_is_drawn_into_what_it_lies_on_is_told_and_the_button_ends_that() -> None:
    grid = {"x_subdivisions": 6, "y_subdivisions": 6}
    obj = add_sheet(-1.0, name="Sheet", **grid)
    add_sheet(1.0, name="Upward", **grid)
    add_sheet(-1.0, "MEMBRANE", name="Skin", **grid)
    add_sheet(-1.0, shape="uv_sphere", name="Ball")
    sentence = (
        "Sheet: its modifier Thick draws the full thickness where the jelly is squeezed, into what it lies on. "
        "Apply it, or set its Offset to 1 if nothing lies on the jelly."
    )

    def told() -> list[str]:
        return [flaw.sentence for flaw in mesh_checks.of_scene(bpy.context.scene) if "Thick" in flaw.sentence]

    assert told() == [sentence]
    select(obj)
    assert sentence in " ".join(body_rows())
    obj.modifiers["Thick"].show_viewport = False
    bpy.context.view_layer.update()
    assert told() == []
    obj.modifiers["Thick"].show_viewport = True
    bpy.context.view_layer.update()
    assert told() == [sentence]
    assert bpy.ops.softpressure.fix(object_name=obj.name, fix="APPLY_MODIFIER") == {"FINISHED"}
    assert [modifier.name for modifier in obj.modifiers] == ["Weld"] and told() == []


@pytest.mark.usefixtures("falling")
def test_a_sheet_of_cloth_becomes_a_soft_body_as_one_without_does() -> None:
    obj = add_primitive("grid", None, x_subdivisions=4, y_subdivisions=4)
    obj.modifiers.new("Cloth", "CLOTH")
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"} and not problem_of(obj)
