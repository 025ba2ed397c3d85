"""Loops and flat trusses in Blender: edges or flat faces are captured, simulated, baked, and problems are reported."""

from typing import Any

import bpy
import drawn_meshes
import numpy as np
import pytest
import shapes
from bpy_panels import body_rows
from bpy_scene import FallingWorld, add_floor, add_group, add_object, add_primitive, frame, give, key, play, select
from bpy_seen import problem_of, shown, this_session
from softpressure_ext.core.topology import signed_volume
from softpressure_ext.softpressure.bodies import mesh_checks
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.scene_io import mesh_io
from softpressure_ext.softpressure.simulation import capture


def add_outline(flat: Any, faces: Any = (), *, kind: str = "SOFT", edges: Any = None, **settings: Any) -> Any:
    """A mesh in the plane y = 0: a ring of edges, or given faces."""
    count = len(flat)
    mesh = bpy.data.meshes.new("Ring")
    ring = [] if len(faces) else [(i, (i + 1) % count) for i in range(count)]
    mesh.from_pydata(shapes.upright(flat).tolist(), ring if edges is None else edges, [list(face) for face in faces])
    obj = add_object("Ring", mesh)
    select(obj)
    bpy.context.view_layer.update()
    if kind:
        assert bpy.ops.softpressure.add_body(kind=kind) == {"FINISHED"}
    return give(obj, **settings)


def captured() -> Any:
    return capture.start(bpy.context.scene, bpy.context.evaluated_depsgraph_get())


RING = shapes.ring(24, 0.5, (0.0, 0.8))


@pytest.mark.parametrize("faces", [(), (tuple(range(24)),), (tuple(range(24))[::-1],)])
def test_a_ring_of_edges_or_a_flat_face_falls_rests_and_is_baked(faces: Any) -> None:
    scene = bpy.context.scene
    scene.frame_end = 24
    add_floor()
    ring = add_outline(RING, faces, mass=2.0, damping=8.0, bounciness=0.0, depth=0.1)
    assert ring.softpressure.body_type == "LOOP"  # chosen for it
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert not this_session().refusals.error
    frame(24)
    simulated = shown(ring)
    assert simulated.shape == (24, 3) and np.abs(simulated[:, 1]).max() < 1e-7
    assert 0.0 < simulated[:, 2].min() < 0.02
    area = shapes.shoelace(simulated[:, [0, 2]])
    text = status.measurement_text(scene, ring)
    assert text.startswith("Area ") and text.endswith(" Pa")
    ratio = area / shapes.shoelace(RING)
    assert float(text.split()[1]) == pytest.approx(100.0 * ratio, abs=0.051)
    assert bpy.ops.softpressure.bake(target="SHAPE_KEYS") == {"FINISHED"}
    for number in (1, 12, 24):
        frame(number)
    np.testing.assert_allclose(shown(ring), simulated, atol=2e-7)  # float32 at 1 m


def test_a_flat_mesh_with_inner_vertices_is_a_truss_that_takes_them_along() -> None:
    scene = bpy.context.scene
    scene.frame_end, scene.use_gravity = 8, False
    x, triangles = shapes.grid(1.0, 4)
    sheet = add_outline(
        x[:, :2], triangles, modulus=2e4, cell_size=0.25, particle_radius=0.4, velocity=(0.5, 3.0, -1.0)
    )
    assert sheet.softpressure.body_type == "TRUSS"
    body = captured().bodies[0]
    assert body.kind == "TRUSS" and len(body.outline) == 16 and "poisson_ratio" not in body.settings
    assert body.settings["particle_radius"] == pytest.approx(0.4)
    with pytest.raises(RuntimeError, match=r"method EXPLICIT does not know that\. Give a radius of 0, or choose XPBD"):
        bpy.ops.softpressure.simulate()
    sheet.softpressure.particle_radius = 0.0
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(8)
    moved = shown(sheet) - shapes.upright(x[:, :2])
    np.testing.assert_allclose(moved, np.tile([0.5, 0.0, -1.0], (25, 1)) * 7 / 24, atol=1e-5)
    assert status.measurement_text(scene, sheet) == "Volume 100.0 %"


@pytest.mark.usefixtures("falling")
def test_a_loop_is_simulated_by_xpbd_too() -> None:
    """It has no cells, whose softness a note under XPBD tells."""
    add_outline(shapes.ring(24))
    bpy.context.scene.softpressure.solver = "XPBD"
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert this_session().run.cache.last_frame == 10 and not this_session().run.soft_lattices


@pytest.mark.usefixtures("falling")
def test_its_settings_and_edges_are_captured() -> None:
    add_outline(RING, depth=0.25, stretch_modulus=5e3, self_collision=False, gauge_pressure=500.0)
    body = captured().bodies[0]
    assert body.kind == "LOOP" and body.settings["depth"] == 0.25 and not body.settings["self_collision"]
    assert sorted(map(sorted, body.outline.tolist())) == sorted(sorted((i, (i + 1) % 24)) for i in range(24))
    play(1, 2)
    made = FallingWorld.made[-1]
    assert made.model.flat.depth[0] == 0.25 and made.given[-1].gauge_pressure == {0: 500.0}


PROBLEMS = [
    ({"edges": [(i, i + 1) for i in range(23)]}, "Ring: the outline has 2 loose ends"),
    ({"edges": [*((i, (i + 1) % 24) for i in range(24)), (0, 12)]}, "Ring: the outline has 2 branches"),
    ({"edges": [*((i, (i + 1) % 12) for i in range(12)), *((12 + i, 12 + (i + 1) % 12) for i in range(12))]},
     "Ring: more than one outline; one of 12 edges, 12 edges besides"),
]  # fmt: skip


@pytest.mark.parametrize(("mesh", "sentence"), PROBLEMS)
def test_a_mesh_that_is_no_outline_is_reported_in_the_panel(mesh: Any, sentence: str) -> None:
    with pytest.raises(RuntimeError, match=sentence):
        add_outline(RING, **mesh)
    ring = bpy.data.objects["Ring"]
    assert sentence in problem_of(ring) and ring.softpressure.kind == "NONE"


def test_a_type_that_does_not_fit_is_reported_and_restored() -> None:
    ring = add_outline(RING)
    assert problem_of(ring) == ""
    ring.softpressure.body_type, ring.softpressure.simulation_mesh = "MEMBRANE", "DRAWN"
    assert problem_of(ring) == "Ring: is flat. Choose the type Flat Outline (with gas) or Lattice."
    ring.softpressure.body_type = "TRUSS"
    assert problem_of(ring) == ""
    ring.softpressure.body_type = "LOOP"
    cube = add_primitive("cube")
    assert cube.softpressure.body_type == "MEMBRANE"
    cube.softpressure.body_type = "LOOP"
    assert problem_of(cube).startswith("Cube: no edges. A loop needs a closed outline of edges")
    x, triangles = shapes.grid(1.0, 4)
    sheet = add_outline(x[:, :2], triangles)
    sheet.softpressure.body_type = "LOOP"
    assert "9 vertices that are not on the outline" in problem_of(sheet)


def test_files_of_earlier_versions_keep_their_types() -> None:
    """Blender writes the number of a choice."""
    ring = add_outline(RING)
    items = ring.softpressure.bl_rna.properties["body_type"].enum_items
    assert {item.identifier: item.value for item in items} == {"MEMBRANE": 0, "TRUSS": 1, "SOLID": 2, "LOOP": 3}


def test_a_chosen_type_stays() -> None:
    ring = add_outline(RING, kind="")
    ring.softpressure.body_type = "TRUSS"
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert ring.softpressure.body_type == "TRUSS" and captured().bodies[0].outline is not None


def test_pins_follow_the_animation_within_the_plane() -> None:
    ring = add_outline(RING, gauge_pressure=500.0)
    bpy.context.scene.use_gravity = False
    add_group(ring, "pin_group", [0, 12])
    key(ring, "location", (1, (0.0, 0.0, 0.0)), (8, (0.1, 0.3, 0.0)))
    frame(1)
    bpy.context.scene.frame_end = 8
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(8)
    expected = shapes.upright(RING)[[0, 12]] + (0.1, 0.0, 0.0)
    np.testing.assert_allclose(shown(ring)[[0, 12]], expected, atol=1e-6)


def reports(kind: str = "SOFT") -> list[str]:
    """What adding the selected objects says."""
    from softpressure_ext.softpressure.bodies import setup

    notes, refusals = setup.add_all(bpy.context.scene, bpy.context.selected_objects, kind)
    assert not refusals
    return notes


@pytest.mark.usefixtures("falling")
def test_adding_a_flat_mesh_says_its_type_and_whether_gravity_moves_it() -> None:
    plane = add_primitive("plane", None, location=(0, 0, 3))
    note = " ".join(reports())
    assert "Plane: added as a soft body of type Flat Outline, which moves within its own plane only" in note
    assert "gravity does not act in that plane" in note
    assert "gravity does not act in that plane" in " ".join(body_rows(2000))
    told = "Plane: moves within its own plane only, and gravity does not act in that plane. Turn it upright, or"
    assert [flaw.sentence[: len(told)] for flaw in mesh_checks.of_scene(bpy.context.scene)] == [told]
    plane.rotation_euler.x = np.pi / 2
    bpy.context.view_layer.update()
    assert "gravity does not" not in " ".join(body_rows(2000))
    assert mesh_checks.of_scene(bpy.context.scene) == []
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, rotation=(np.pi / 2, 0, 0))
    note = " ".join(reports())
    assert "of type Lattice" in note and "gravity" not in note
    bpy.ops.mesh.primitive_cube_add()
    assert "type" not in " ".join(reports())


@pytest.mark.smoke
@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("cells", [1, 4])
def test_a_flat_mesh_is_offered_a_back_and_gas_between(cells: int) -> None:
    turned = {"location": (0, 0, 3), "rotation": (0.3, 0.2, 0.1)}
    sheet = add_primitive("grid", None, x_subdivisions=cells, y_subdivisions=cells, **turned)
    add_group(sheet, "", [0])
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert "softpressure.inflate" in body_rows()
    assert bpy.ops.softpressure.inflate() == {"FINISHED"}
    assert (sheet.softpressure.kind, sheet.softpressure.body_type) == ("SOFT", "MEMBRANE")
    assert "softpressure.inflate" not in body_rows()
    assert not bpy.ops.softpressure.inflate.poll()
    body = captured().bodies[0]
    assert body.kind == "MEMBRANE"
    assert signed_volume(body.positions, body.triangles) == pytest.approx(2.0 * 2.0 * 0.2, rel=1e-4)
    np.testing.assert_allclose(body.positions.mean(axis=0), (0, 0, 3), atol=1e-5)
    play(1, 4)
    assert shown(sheet)[:, 2].mean() < 3.0


def polygon(radii: Any) -> tuple[Any, Any]:
    """A face around the origin, with corners at these distances from it."""
    turns = np.arange(len(radii)) * 2.0 * np.pi / len(radii)
    return np.stack([radii * np.cos(turns), radii * np.sin(turns)], axis=1), [tuple(range(len(radii)))]


def comb() -> tuple[Any, Any]:
    corners = [(0, 0), (5, 0)] + [
        (i + x, z) for i in (4, 3, 2, 1, 0) for x, z in ((1, 0.2), (0.5, 0.2), (0.5, 1), (0, 1))
    ]
    return np.array(corners, float), [tuple(range(len(corners)))]


def grid(cells: int) -> tuple[Any, Any]:
    x, triangles = shapes.grid(1.0, cells)
    return x[:, :2], triangles.tolist()


FLAT = {
    "circle": polygon(np.ones(64)),
    "star": polygon(np.tile([1.0, 0.2], 9)),
    "heart": polygon(1.0 - 0.7 * np.sin(np.linspace(0.0, 2.0 * np.pi, 48, False))),
    "comb": comb(),
    "slit": (np.array([(0, 0), (1, 0), (1, 1), (0.5, 1), (0.5, 0.02), (0.49, 1), (0, 1)]), [tuple(range(7))]),
    **{f"grid {cells}": grid(cells) for cells in (2, 12, 30)},
}


@pytest.mark.parametrize("name", FLAT)
def test_a_cushion_does_not_cross_itself(name: str) -> None:
    """Neither as drawn, nor what is simulated: `Check` tells of that. The finest grid is simulated by an even mesh."""
    sheet = add_outline(*FLAT[name])
    assert bpy.ops.softpressure.inflate() == {"FINISHED"}
    x = np.array([vertex.co for vertex in sheet.data.vertices])
    assert drawn_meshes.crossing_count(x, mesh_io.read_triangles(sheet.data, np.eye(4))) == 0
    assert bpy.ops.softpressure.check() == {"FINISHED"}
    assert [flaw.sentence for flaw in this_session().checked[1] if "cross" in flaw.sentence] == []


def strip_on_itself() -> tuple[Any, Any]:
    """A strip that goes round once and a fifth."""
    turns = np.linspace(0.0, 2.4 * np.pi, 40)
    ring = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return np.concatenate([ring, 1.4 * ring]), [(i, i + 1, 41 + i, 40 + i) for i in range(39)]


TWO_SQUARES = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (2, 1), (2, 2), (1, 2)], float), [(0, 1, 2, 3), (2, 4, 5, 6)]


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize(
    ("flat", "sentence"),
    [
        (TWO_SQUARES, "Ring: "),
        (strip_on_itself(), "Ring: lies on itself, so that [0-9]+ faces of"),
    ],
    ids=["squares that share a corner", "a strip on itself"],
)
def test_an_object_that_cannot_be_inflated_is_unchanged(flat: Any, sentence: str) -> None:
    sheet = add_outline(*flat, kind="")
    sheet.softpressure.body_type = "TRUSS"
    sheet.softpressure.kind = "SOFT"
    counts = len(sheet.data.vertices), len(sheet.data.polygons)
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.softpressure.inflate()
    assert (len(sheet.data.vertices), len(sheet.data.polygons)) == counts
    assert (sheet.softpressure.kind, sheet.softpressure.body_type) == ("SOFT", "TRUSS")
