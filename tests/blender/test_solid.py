"""Solids in Blender: a cube is captured, simulated and baked; panels show the settings of the type."""

from itertools import permutations
from typing import Any

import bpy
import numpy as np
import pytest
import shapes
from bpy_panels import body_rows
from bpy_scene import FallingWorld, add_floor, add_mesh, add_primitive, frame, give, play
from bpy_seen import shown, this_session
from contact_reference import inside
from mathutils.bvhtree import BVHTree
from softpressure_ext.core.topology import signed_volume
from softpressure_ext.softpressure.properties import automatic
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.scene_io import mesh_io
from softpressure_ext.softpressure.simulation import capture


def add_cube(**settings: Any) -> Any:
    return give(add_primitive("cube", size=1.0, location=(0, 0, 0.8)), **settings)


@pytest.mark.parametrize("kind", ["TRUSS", "SOLID"])
def test_a_cube_of_eight_vertices_falls_rests_and_is_baked(kind: str) -> None:
    scene = bpy.context.scene
    scene.frame_end = 30
    add_floor()
    cube = add_cube(body_type=kind, mass=20.0, modulus=50_000.0, damping=10.0, bounciness=0.0)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert not this_session().refusals.error
    frame(30)
    simulated = shown(cube)
    assert simulated.shape == (8, 3)
    assert 0.0 < simulated[:, 2].min() < 0.05 and simulated[:, 2].mean() == pytest.approx(0.5, abs=0.05)
    assert signed_volume(simulated, mesh_io.read_triangles(cube.data, np.eye(4))) == pytest.approx(1.0, abs=0.02)
    assert status.measurement_text(scene, cube).startswith("Volume ") and "Pa" not in status.measurement_text(
        scene, cube
    )
    assert bpy.ops.softpressure.bake(target="SHAPE_KEYS") == {"FINISHED"}
    assert cube.softpressure.is_baked
    for number in (1, 12, 30):
        frame(number)
    np.testing.assert_allclose(shown(cube), simulated, atol=2e-7)  # float32 at 1 m


@pytest.mark.parametrize("kind", ["TRUSS", "SOLID"])
def test_what_is_drawn_lies_on_the_floor(kind: str) -> None:
    """A flat disc, upright, and a beast whose legs are thinner than its cells: their lattices stand off the drawing."""
    bpy.context.scene.frame_end = 40
    add_floor()
    if kind == "TRUSS":
        upright = {"location": (0, 0, 0.52), "rotation": (np.pi / 2, 0, 0)}
        obj = add_primitive("circle", None, radius=0.5, fill_type="NGON", **upright)
    else:
        x, triangles = shapes.beast()
        obj = add_mesh("Beast", (x - (0, 0, x[:, 2].min() - 0.02)).tolist(), triangles.tolist())
    obj.softpressure.body_type, obj.softpressure.bounciness = kind, 0.0
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    for number in (30, 40):
        frame(number)
        assert 0.0 < shown(obj)[:, 2].min() < 3e-3


@pytest.mark.usefixtures("falling")
def test_its_settings_are_captured_and_its_type_makes_the_cache_out_of_date() -> None:
    cube = add_cube(body_type="SOLID", cell_size=0.25, modulus=1e4, poisson_ratio=0.4)
    start = capture.start(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    assert start.bodies[0].kind == "SOLID" and start.bodies[0].settings["modulus"] == 1e4
    assert "gauge_pressure" not in start.bodies[0].settings
    play(1, 2)
    assert not this_session().is_out_of_date(bpy.context.scene)
    cube.softpressure.body_type = "TRUSS"
    assert this_session().is_out_of_date(bpy.context.scene)
    play(1, 2)
    model = FallingWorld.made[-1].model
    assert model.is_lattice(0) and FallingWorld.made[-1].given[-1].gauge_pressure == {}


@pytest.mark.parametrize("detail", ["DRAFT", "NORMAL", "FINE"])
def test_the_detail_chooses_its_cells_as_the_panel_says(detail: str) -> None:
    scene, cube = bpy.context.scene, add_cube(body_type="SOLID")
    scene.softpressure.detail = detail
    start = capture.start(scene, bpy.context.evaluated_depsgraph_get())
    size = start.bodies[0].settings["cell_size"]
    assert size == pytest.approx({"DRAFT": 1 / 3, "NORMAL": 1 / 4, "FINE": 1 / 6}[detail])
    assert automatic.value(cube.softpressure, "cell_size") == pytest.approx(size)


def test_a_cell_size_that_does_not_fit_is_reported() -> None:
    add_cube(body_type="SOLID", cell_size=2.0)
    with pytest.raises(RuntimeError, match="Cube: cell size 2 m, but the mesh is only 1 m thick"):
        bpy.ops.softpressure.simulate()


def test_the_panel_shows_what_only_some_methods_read_with_them_or_where_the_others_refuse_it() -> None:
    cube, scene = add_cube(body_type="TRUSS"), bpy.context.scene
    names: dict[str, Any] = {"particle_radius": 0.3, "rigid_springs": True}

    def offered() -> set[str]:
        return names.keys() & {*body_rows()}

    scene.softpressure.solver = "EXPLICIT"
    assert not offered()
    scene.softpressure.solver = "XPBD"
    assert offered() == names.keys()
    scene.softpressure.solver = "EXPLICIT"
    for name, value in names.items():
        setattr(cube.softpressure, name, value)
    assert offered() == names.keys()


def add_bowl() -> Any:
    """Half a hollow ball with a wall of 5 cm, standing on z = 0."""
    x, triangles = shapes.uv_sphere(24, 32, 0.8)
    below = (x[triangles][:, :, 2] < 0.05).all(axis=1)
    bowl = add_mesh("Bowl", (x + (0.0, 0.0, 0.85)).tolist(), triangles[below].tolist())
    wall = bowl.modifiers.new("Wall", "SOLIDIFY")
    wall.thickness, wall.offset = 0.05, 1.0
    assert bpy.ops.softpressure.add_body(kind="COLLIDER") == {"FINISHED"}
    return bowl


def test_animals_of_jelly_in_a_bowl_do_not_go_into_each_other() -> None:
    """With legs thinner than a cell, drawn finer than their cells are: a drawn vertex in another body is one of 500.

    It is in it by less than a hundredth of the body's size; none is in the bowl.
    """
    bpy.context.scene.frame_end = 30
    add_bowl()
    x, triangles = shapes.beast()
    x = 0.35 * (x - x.mean(axis=0)) / float(np.ptp(x, axis=0).max())
    turns = np.random.default_rng(2).normal(size=(8, 3))
    animals = []
    for number, axis in enumerate(turns):
        turned = x @ shapes.rotation(axis, float(np.linalg.norm(axis))).T
        place = np.array([0.17 * (-1) ** number, 0.17 * (-1) ** (number // 2), 0.45 + 0.33 * (number // 4)])
        animals.append(add_mesh(f"Animal {number}", (turned + place).tolist(), triangles.tolist()))
        assert bpy.ops.softpressure.add_body() == {"FINISHED"}
        assert bpy.ops.softpressure.set_type(type="SOLID") == {"FINISHED"}
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    within, touching = 0, 0
    for number in (20, 25, 30):
        frame(number)
        drawn = [shown(animal) for animal in animals]
        for i, j in permutations(range(len(animals)), 2):
            low, high = drawn[j].min(axis=0), drawn[j].max(axis=0)
            near = drawn[i][((drawn[i] > low) & (drawn[i] < high)).all(axis=1)]
            touching += len(near) > 0
            deep = near[inside(near, drawn[j], triangles)]
            within += len(deep)
            surface = BVHTree.FromPolygons(drawn[j].tolist(), triangles.tolist())
            assert all(surface.find_nearest(place)[3] < 0.0035 for place in deep.tolist())
        assert all(np.linalg.norm(y - (0.0, 0.0, 0.85), axis=1).max() < 0.8 for y in drawn)
    assert touching > 20 and within <= 3 * sum(map(len, drawn)) / 500
