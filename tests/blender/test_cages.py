"""Cages: closed bodies of few vertices that move meshes of many."""

from typing import Any

import bpy
import numpy as np
import pytest
import shapes
from bpy_panels import drawn
from bpy_scene import add_ball, add_mesh, empty_file, falling, frame, select, shown, this_session  # noqa: F401
from mathutils.bvhtree import BVHTree
from softpressure_ext.core import check_closed_surface
from softpressure_ext.core.topology import signed_volume
from softpressure_ext.panels import cages as panels
from softpressure_ext.softpressure import cages, mesh_io, session

pytestmark = pytest.mark.usefixtures("falling")


def fine_ball(name: str = "Ball", subdivisions: int = 5, radius: float = 0.5) -> Any:
    return add_mesh(name, *shapes.icosphere(subdivisions, radius, (0.0, 0.0, 0.0)))


def add_cage(obj: Any, **settings: Any) -> Any:
    select(obj)
    assert bpy.ops.softpressure.add_cage(**settings) == {"FINISHED"}
    cage = cages.cage_of(obj)
    assert cage is bpy.context.object
    return cage


def closed(cage: Any) -> tuple[Any, Any]:
    """World positions and triangles of a cage, which must be closed and look outwards."""
    matrix = mesh_io.world_matrix(cage)
    x, triangles = mesh_io.to_world(matrix, mesh_io.read_local(cage.data)), mesh_io.read_triangles(cage.data, matrix)
    check_closed_surface(cage.name, x, triangles)
    return x, triangles


def test_the_rest_pose_is_unchanged_and_the_volume_fits() -> None:
    ball = fine_ball()
    ball.location, ball.rotation_euler, ball.scale = (1, 2, 5), (0.3, 0.2, 0.1), (1.0, 1.5, 0.7)
    bpy.context.view_layer.update()
    before = shown(ball)
    cage = add_cage(ball, vertex_count=1000)
    np.testing.assert_allclose(shown(ball), before, atol=1e-5)
    x, triangles = closed(cage)
    assert 900 < len(x) < 1100
    assert signed_volume(x, triangles) == pytest.approx(4 / 3 * np.pi * 0.125 * 1.05, rel=0.01)
    assert (cage.softpressure.kind, ball.softpressure.kind) == ("SOFT", "NONE")
    assert cage.hide_render and cage.display_type == "WIRE" and cage.matrix_world == ball.matrix_world


def set_shape(cage: Any, change: Any) -> None:
    """Show a cage in a changed shape, as a frame of a simulation would; `change` maps points in its space."""
    key = mesh_io.live_key(cage)
    key.mute = False
    mesh_io.write_key(key, change(mesh_io.read_key(cage.data.shape_keys.reference_key).astype(float)))
    cage.data.update_tag()
    bpy.context.view_layer.update()


def test_a_rigid_motion_of_the_cage_moves_the_mesh_alike() -> None:
    ball = fine_ball()
    before = shown(ball)
    cage = add_cage(ball)
    turn = shapes.rotation((1.0, 2.0, 0.5), 2.0)
    set_shape(cage, lambda x: x @ turn.T + (3.0, -1.0, 2.0))
    np.testing.assert_allclose(shown(ball), before @ turn.T + (3.0, -1.0, 2.0), atol=1e-5)


@pytest.mark.parametrize("matrix", [np.diag([1.0, 1.0, 1.6]), np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1.0]])])
def test_an_affine_deformation_of_the_cage_deforms_the_mesh_alike(matrix: Any) -> None:
    """But for the offset from the cage's faces, whose length Surface Deform keeps."""
    ball = fine_ball()
    before = shown(ball)
    cage = add_cage(ball)
    x, triangles = closed(cage)
    tree = BVHTree.FromPolygons(x.tolist(), triangles.tolist(), all_triangles=True)
    offset = max(tree.find_nearest(point)[3] for point in before.tolist())
    set_shape(cage, lambda points: points @ matrix.T)
    error = np.linalg.norm(shown(ball) - before @ matrix.T, axis=1)
    change = np.linalg.norm(matrix - np.eye(3), 2)
    assert 0.0 < error.max() < 2.0 * change * offset < 0.02


@pytest.mark.parametrize("name", ["open", "half", "inverted", "nested", "parts", "crossing", "sheet", "fin", "beast"])
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (-100.0, 60.0, 80.0)])
def test_a_cage_fits_a_mesh_of_any_kind(name: str, scale: Any) -> None:
    x, faces = shapes.icosphere(4)
    fin = np.concatenate([x, [[0, 0, 1], [0, 0, 2], [1, 0, 2]]]), np.concatenate([faces, [len(x) + np.arange(3)]])
    made = {
        "open": (x, faces[len(faces) // 5 :]),
        "half": (x, faces[x[faces].mean(axis=1)[:, 2] < 0.0]),
        "inverted": (x, faces[:, ::-1]),
        "nested": (np.concatenate([x, 0.5 * x]), np.concatenate([faces, faces + len(x)])),
        "parts": (np.concatenate([x, x + (3, 0, 0)]), np.concatenate([faces, faces + len(x)])),
        "crossing": (np.concatenate([x, x + (1, 0, 0)]), np.concatenate([faces, faces + len(x)])),
        "sheet": shapes.grid(2.0, 8),
        "fin": fin,
        "beast": shapes.beast(),
    }
    obj = add_mesh(name, *made[name])
    obj.scale, obj.location, obj.rotation_euler = scale, (1000.0, 0.0, 0.0), (0.5, 0.0, 0.0)
    bpy.context.view_layer.update()
    before = shown(obj)
    cage = add_cage(obj, vertex_count=1000)
    size = float(np.ptp(before, axis=0).max())
    np.testing.assert_allclose(shown(obj), before, atol=1e-5 * size)
    x, triangles = closed(cage)
    assert signed_volume(x, triangles) > 0.0
    bpy.context.view_layer.update()
    assert not session.of(bpy.context.scene).error
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert np.ptp(shown(obj)[:, 2]) == pytest.approx(np.ptp(before[:, 2]), rel=1e-3)  # it falls as it is


@pytest.mark.parametrize("name", ["edges", "nothing", "nan", "line"])
def test_what_has_no_cage_is_told(name: str) -> None:
    made = {
        "edges": ([(0, 0, 0), (1, 0, 0)], []), "nothing": ([], []),
        "nan": ([(0, 0, 0), (1, 0, 0), (0, float("nan"), 0)], [(0, 1, 2)]),
        "line": ([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)]),
    }  # fmt: skip
    obj = add_mesh(name, *made[name])
    before = len(bpy.data.objects), len(bpy.data.meshes)
    with pytest.raises(RuntimeError, match=rf"{name}: (has|holds) .*\. \w+"):
        bpy.ops.softpressure.add_cage()
    assert (len(bpy.data.objects), len(bpy.data.meshes)) == before and not obj.modifiers


def test_the_mesh_follows_a_simulation_a_bake_and_a_render(tmp_path: Any) -> None:
    ball = fine_ball()
    ball.location = (0.0, 0.0, 5.0)
    bpy.context.view_layer.update()
    cage = add_cage(ball)
    bpy.ops.softpressure.simulate()
    frame(1)
    start = shown(ball)
    frame(8)
    fallen = shown(cage)[:, 2].mean()
    drop = 5.0 - fallen
    assert drop > 0.3
    np.testing.assert_allclose(shown(ball), start - (0.0, 0.0, drop), atol=1e-4)
    bpy.ops.softpressure.bake()
    frame(1)
    frame(8)
    np.testing.assert_allclose(shown(ball), start - (0.0, 0.0, drop), atol=1e-4)
    bpy.ops.softpressure.free_bake()
    frame(8)
    np.testing.assert_allclose(shown(ball), start - (0.0, 0.0, drop), atol=1e-4)
    path = tmp_path / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    ball = bpy.data.objects["Ball"]
    frame(2)
    frame(8)
    np.testing.assert_allclose(shown(ball), start - (0.0, 0.0, drop), atol=1e-4)


def test_a_render_has_the_mesh_where_the_hidden_cage_moves_it(tmp_path: Any) -> None:
    """The graph of a render holds a cage that is hidden there, as the mesh depends on it."""
    ball = fine_ball()
    cage = add_cage(ball)
    scene = bpy.context.scene
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    seen: list[Any] = []

    def look(_scene: Any, depsgraph: Any) -> None:
        if depsgraph.mode == "RENDER":
            flat = np.empty(3 * len(ball.data.vertices), np.float32)
            ball.evaluated_get(depsgraph).data.vertices.foreach_get("co", flat)
            seen.append(flat.reshape(-1, 3)[:, 2].mean())

    bpy.app.handlers.frame_change_post.append(look)
    scene.render.engine, scene.render.resolution_x, scene.render.resolution_y = "CYCLES", 8, 8
    scene.cycles.samples = 1
    scene.render.filepath = str(tmp_path / "x.png")
    frame(9)
    bpy.ops.render.render(write_still=True)
    bpy.app.handlers.frame_change_post.remove(look)
    assert cage.hide_render and seen[-1] == pytest.approx(shown(ball)[:, 2].mean(), abs=1e-4) and seen[-1] < -0.3


def test_alembic_has_the_mesh_in_every_frame_and_gltf_says_that_it_cannot(tmp_path: Any) -> None:
    ball = fine_ball(subdivisions=4)
    add_cage(ball, vertex_count=300)
    bpy.ops.softpressure.simulate()
    expected = {}
    for number in (1, 5, 10):
        frame(number)
        expected[number] = shown(ball)
    with pytest.raises(RuntimeError, match=r"Ball: follows its cage by a modifier, which glTF leaves out\. Export to"):
        bpy.ops.softpressure.export(filepath=str(tmp_path / "ball.glb"))
    path = tmp_path / "ball.abc"
    assert bpy.ops.softpressure.export(filepath=str(path)) == {"FINISHED"}
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.alembic_import(filepath=str(path))
    (copy,) = [obj for obj in bpy.data.objects if obj.type == "MESH" and len(obj.data.vertices) == 2562]
    for number, positions in expected.items():
        frame(number)
        np.testing.assert_allclose(shown(copy), positions, atol=2e-6)


def rigged_column() -> tuple[Any, Any]:
    """A column on two bones, with UVs, a material, and a subdivision behind its armature."""
    x, faces = shapes.box(1.0, 12)
    column = add_mesh("Column", x * (0.5, 0.5, 2.0), faces)
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    low = data.edit_bones.new("Low")
    low.head, low.tail = (0, 0, -1), (0, 0, 0)
    high = data.edit_bones.new("High")
    high.head, high.tail, high.parent = (0, 0, 0), (0, 0, 1), low
    bpy.ops.object.mode_set(mode="OBJECT")
    z = np.array([vertex.co.z for vertex in column.data.vertices])
    for name, weight in (("Low", np.clip(0.5 - 2 * z, 0, 1)), ("High", np.clip(0.5 + 2 * z, 0, 1))):
        group = column.vertex_groups.new(name=name)
        for number, value in enumerate(weight):
            group.add([number], float(value), "REPLACE")
    held = column.vertex_groups.new(name="Held")
    held.add([int(number) for number in np.flatnonzero(z < -0.4)], 1.0, "REPLACE")
    column.data.uv_layers.new(name="UVMap")
    column.data.materials.append(bpy.data.materials.new("Red"))
    column.parent = rig
    armature = column.modifiers.new("Armature", "ARMATURE")
    armature.object = rig
    column.modifiers.new("Subdivision", "SUBSURF").levels = 1
    bpy.context.view_layer.update()
    return column, rig


def test_rig_groups_uvs_materials_and_later_modifiers_survive() -> None:
    column, rig = rigged_column()
    rig.pose.bones["High"].rotation_mode = "XYZ"
    rig.pose.bones["High"].rotation_euler.x = 0.8  # binding does not depend on the pose
    bpy.context.view_layer.update()
    posed, data, levels = shown(column), column.data.name, len(shown(column))
    select(column)
    bpy.ops.softpressure.add_body(kind="SOFT")
    column.softpressure.pin_group, column.softpressure.mass = "Held", 7.0
    other = add_ball(attach_to=column)
    cage = add_cage(column, vertex_count=2000)
    assert [each.name for each in column.modifiers] == ["Armature", "SP Cage", "Subdivision"]
    assert [each.type for each in cage.modifiers] == ["ARMATURE"] and cage.modifiers[0].object == rig
    assert (column.data.name, len(column.data.uv_layers), len(column.data.materials)) == (data, 1, 1)
    assert (cage.softpressure.pin_group, cage.softpressure.mass, cage.softpressure.kind) == ("Held", 7.0, "SOFT")
    assert column.softpressure.kind == "NONE" and column.data.shape_keys is None
    assert other.softpressure.attach_to == cage
    assert len(shown(column)) == levels and np.abs(shown(column) - posed).max() < 0.05  # as the cage is skinned
    assert len(mesh_io.group_vertices(cage, "Held")) > 100
    rig.pose.bones["High"].rotation_euler.x = 0.0
    bpy.context.view_layer.update()
    column.modifiers["SP Cage"].show_viewport = False
    bpy.context.view_layer.update()
    plain = shown(column)
    column.modifiers["SP Cage"].show_viewport = True
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown(column), plain, atol=1e-5)
    select(column)
    assert bpy.ops.softpressure.remove_cage() == {"FINISHED"}
    assert [each.name for each in column.modifiers] == ["Armature", "Subdivision"]
    assert "Column Cage" not in bpy.data.objects and "Column Cage" not in bpy.data.meshes
    assert (column.softpressure.kind, column.softpressure.mass, column.softpressure.pin_group) == ("SOFT", 7.0, "Held")
    assert other.softpressure.attach_to == column


def test_goal_weights_go_to_the_cage() -> None:
    ball = fine_ball(subdivisions=4)
    group = ball.vertex_groups.new(name="Goal")
    for vertex in ball.data.vertices:
        group.add([vertex.index], 1.0 if vertex.co.z < 0 else 0.4, "REPLACE")
    select(ball)
    bpy.ops.softpressure.add_body(kind="SOFT")
    ball.softpressure.goal_group = "Goal"
    cage = add_cage(ball)
    vertices, weights = mesh_io.group_weights(cage, "Goal")
    z = np.array([vertex.co.z for vertex in cage.data.vertices])
    assert len(vertices) == len(z) and cage.softpressure.goal_group == "Goal"
    assert (weights[z < -0.1] == 1.0).all()
    np.testing.assert_allclose(weights[z > 0.1], 0.4, atol=1e-5)


def test_an_existing_soft_body_is_chosen_as_cage() -> None:
    cage = add_ball("Body", location=(0, 0, 5))
    bpy.ops.softpressure.simulate()
    frame(6)  # binding is to the rest shape, not to the frame that is shown
    visible = fine_ball("Visible", radius=0.45)
    visible.location = (0, 0, 5)
    bpy.context.view_layer.update()
    start = shown(visible)
    select(visible, cage)
    assert bpy.ops.softpressure.bind_to_cage() == {"FINISHED"}
    frame(1)
    np.testing.assert_allclose(shown(visible), start, atol=1e-5)
    frame(6)
    drop = 5.0 - shown(cage)[:, 2].mean()
    np.testing.assert_allclose(shown(visible), start - (0, 0, drop), atol=1e-4)
    cage.location.x += 2.0  # moved, and simulated again
    bpy.context.view_layer.update()
    bpy.ops.softpressure.simulate()
    frame(1)
    np.testing.assert_allclose(shown(visible), start + (2, 0, 0), atol=1e-4)
    select(cage)
    assert bpy.ops.softpressure.remove_cage() == {"FINISHED"}
    assert visible.parent is None and cages.cage_of(visible) is None and cage.softpressure.kind == "SOFT"


def test_undo_and_duplicates() -> None:
    ball = fine_ball(subdivisions=3)
    bpy.ops.ed.undo_push(message="Ball")
    select(ball)
    bpy.ops.softpressure.add_cage(vertex_count=200)
    bpy.ops.ed.undo_push(message="Cage")
    bpy.ops.ed.undo()
    assert "Ball Cage" not in bpy.data.objects and not bpy.data.objects["Ball"].modifiers
    bpy.ops.ed.redo()
    ball, cage = bpy.data.objects["Ball"], bpy.data.objects["Ball Cage"]
    select(ball, cage)
    bpy.ops.object.duplicate()
    copy, own = bpy.data.objects["Ball.001"], bpy.data.objects["Ball Cage.001"]
    assert cages.cage_of(copy) == own and own.parent == copy and cages.cage_of(ball) == cage
    copy.location.x = 3.0
    bpy.context.view_layer.update()
    bpy.ops.softpressure.simulate()
    frame(6)
    np.testing.assert_allclose(shown(copy), shown(ball) + (3.0, 0.0, 0.0), atol=1e-4)
    select(copy)
    bpy.ops.softpressure.remove_cage()
    assert cages.cage_of(ball) == cage and "Ball Cage.001" not in bpy.data.objects


def test_a_second_cage_and_a_baked_body_are_refused() -> None:
    ball = fine_ball(subdivisions=3)
    cage = add_cage(ball, vertex_count=200)
    for obj, sentence in ((ball, "has a cage already"), (cage, "is a cage itself")):
        select(obj)
        with pytest.raises(RuntimeError, match=sentence):
            bpy.ops.softpressure.add_cage()


def test_the_panel_says_what_follows_what() -> None:
    ball = fine_ball(subdivisions=3)
    panel = panels.SOFTPRESSURE_PT_cage
    assert drawn(panel) == ["softpressure.add_cage", "softpressure.bind_to_cage"]
    cage = add_cage(ball, vertex_count=200)
    both = ["softpressure.bind_to_cage", "softpressure.remove_cage"]
    assert [each for each in drawn(panel) if "." in each] == both
    select(ball)
    assert [each for each in drawn(panel) if "." in each] == both
    bpy.data.objects.remove(cage)
    bpy.context.view_layer.update()
    select(ball)
    assert "softpressure.remove_cage" in drawn(panel)
    assert bpy.ops.softpressure.remove_cage() == {"FINISHED"} and not ball.modifiers


@pytest.mark.parametrize("name", ["beetle", "cow", "spot", "teapot"])
def test_meshes_that_people_load_have_cages(name: str) -> None:
    """Open, in parts that cross each other, and without volume in places."""
    obj = add_mesh(name, *shapes.foreign_mesh(f"{name}.obj"))
    before = shown(obj)
    cage = add_cage(obj)
    size = float(np.ptp(before, axis=0).max())
    np.testing.assert_allclose(shown(obj), before, atol=1e-5 * size)
    x, triangles = closed(cage)
    assert signed_volume(x, triangles) > 0.0 and np.ptp(x, axis=0) == pytest.approx(np.ptp(before, axis=0), rel=0.1)
