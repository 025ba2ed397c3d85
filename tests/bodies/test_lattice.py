"""Lattices of solids: cells fill meshes, tetrahedra conform, springs make an isotropic solid, meshes follow."""

import numpy as np
import pytest
import shapes
import solid_scene
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World
from softpressure_ext.core.bodies.automatic_cells import automatic_cell_size
from softpressure_ext.core.bodies.lattice import cells, springs, thin_parts
from softpressure_ext.core.plasticity.pieces import pieces_of
from softpressure_ext.core.simulation_mesh.crossings import crossing_vertices
from softpressure_ext.core.simulation_mesh.nearest import nearest_triangles
from softpressure_ext.core.topology import check_closed_surface, signed_volume

ROUNDING = 1e-12


def stretched(mesh, scale):
    return mesh[0] * scale, mesh[1]


def check_conforming(lattice):
    """Every face of a tetrahedron belongs to one other one, or to the outer surface, which is closed and as large."""
    volumes = cells.tetrahedron_volumes(lattice.positions, lattice.tetrahedra)
    assert volumes.min() > 0.0
    faces = np.sort(lattice.tetrahedra[:, [(1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)]].reshape(-1, 3), axis=1)
    found, uses = np.unique(faces, axis=0, return_counts=True)
    assert set(uses) == {1, 2}
    outer = np.unique(np.sort(lattice.triangles, axis=1), axis=0)
    assert np.array_equal(found[uses == 1], outer)
    used, triangles = np.unique(lattice.triangles, return_inverse=True)
    positions = lattice.positions[used]
    check_closed_surface("lattice", positions, triangles.reshape(-1, 3))
    assert signed_volume(positions, triangles.reshape(-1, 3)) == pytest.approx(volumes.sum(), rel=ROUNDING)


@pytest.mark.parametrize(("scale", "size"), [((1, 1, 1), 0.25), ((3, 1, 1), 0.5), ((1, 0.7, 0.4), 0.2), ((2, 2, 2), 2)])
def test_a_box_is_filled_exactly(scale, size):
    lattice = cells.fill("box", *stretched(shapes.box(1.0, 2), scale), size)
    check_conforming(lattice)
    volumes = cells.tetrahedron_volumes(lattice.positions, lattice.tetrahedra)
    assert volumes.sum() == pytest.approx(np.prod(scale), rel=ROUNDING)
    assert 0.75 * 0.75 * size <= lattice.size.min() and lattice.size.max() <= 1.5 * size


@pytest.mark.parametrize(("size", "error"), [(0.25, 0.035), (0.125, 0.015)])
def test_a_ball_is_filled(size, error):
    """Outer faces with chords c of up to two cells lose c^2 / 8 r of the radius at most: 3 % of the volume at 0.25.

    A few vertices stay off the surface, where a tetrahedron would be flattened.
    """
    mesh = shapes.icosphere(3)
    lattice = cells.fill("ball", *mesh, size)
    check_conforming(lattice)
    volumes = cells.tetrahedron_volumes(lattice.positions, lattice.tetrahedra)
    assert volumes.sum() == pytest.approx(signed_volume(*mesh), rel=error)
    outer = np.unique(lattice.triangles)
    off = np.abs(np.linalg.norm(lattice.positions[outer], axis=1) - 1.0)
    assert np.mean(off < 0.01) > 0.75 and off.max() < 0.5 * size
    assert volumes.min() > 0.05 * np.median(volumes)


def stand_off(lattice, x):
    """Distance of points from the faces of a lattice [m]."""
    face, weights = nearest_triangles(x, np.zeros_like(x), lattice.positions, lattice.triangles, lattice.size.min())
    return np.linalg.norm(x - np.einsum("ik,ikx->ix", weights, lattice.positions[lattice.triangles[face]]), axis=1)


def test_parts_thinner_than_a_cell_have_cells():
    """Legs of a third of a cell: without cells they stand out by two of them."""
    x, triangles = shapes.beast()
    size = 0.25 * np.ptp(x, axis=0).min()
    away = stand_off(cells.fill("beast", x, triangles, size), x)
    assert np.quantile(away, 0.95) < 0.25 * size and away.max() < 0.6 * size


@pytest.mark.parametrize("name", ["box", "beast", "cow.obj"])
def test_a_turned_body_has_turned_cells(name):
    """The grid lies along the main directions of the faces, whatever the axes of the scene."""
    x, triangles = {"box": lambda: shapes.box(1.0, 3), "beast": shapes.beast}.get(
        name, lambda: shapes.foreign_mesh(name)
    )()
    turned = x @ shapes.rotation((0.3, -0.5, 0.8), 0.6).T
    found = [solid_scene.model_of((places, triangles)) for places in (x, turned)]
    volumes = [World(model, solver="EXPLICIT").diagnostics().bodies[0].volume for model in found]
    assert found[1].vertex_count == pytest.approx(found[0].vertex_count, rel=0 if name == "box" else 0.02)
    assert volumes[1] == pytest.approx(volumes[0], rel=1e-9 if name == "box" else 0.01)


def test_the_automatic_cell_size_is_a_quarter_of_the_least_extent():
    model = solid_scene.model_of(stretched(shapes.box(1.0, 1), (1.0, 1.0, 0.5)))
    assert model.vertex_count == 9 * 9 * 5


@pytest.mark.parametrize("count", [300, 1_000, 4_000])
def test_automatic_cells_of_a_plate_or_a_ball_make_no_more_vertices_than_the_detail(count):
    for extent in ((1.0, 1.0, 0.1), (2.0, 0.2, 0.2), (1.0, 1.0, 1.0)):
        for mesh in (shapes.box(1.0, 1), shapes.icosphere(3, 0.5)):
            x, triangles = stretched(mesh, extent)
            size = automatic_cell_size("solid", x, triangles, count=count)
            across = min(extent) / size
            made = solid_scene.model_of((x, triangles), cell_size=size).vertex_count
            assert across == pytest.approx(1.0) or made < 1.25 * count, (extent, across, made)
            assert round(across) <= {300: 3, 1_000: 4, 4_000: 6}[count]


@pytest.mark.parametrize("count", [300, 1_000])
def test_automatic_cells_fit_between_walls_that_are_thinner_than_the_detail_asks(count):
    outer, faces = shapes.box(2.0, 1)
    x, triangles = np.concatenate([outer, 0.9 * outer]), np.concatenate([faces, faces[:, ::-1] + len(outer)])
    size = automatic_cell_size("solid", x, triangles, count=count)
    model = solid_scene.model_of((x, triangles), cell_size=size)
    assert model.vertex_count < 1_600 and np.abs(model.rest_positions).max(axis=1).min() > 0.7  # it is still hollow


def test_a_finer_detail_makes_finer_cells():
    x, triangles = shapes.box(1.0, 1)
    sizes = [automatic_cell_size("solid", x, triangles, count=count) for count in (300, 1_000, 4_000)]
    assert sizes == pytest.approx([1 / 3, 1 / 4, 1 / 6])


def test_a_ring_keeps_its_hole():
    mesh = shapes.torus(1.0, 0.4, 48, 24)
    lattice = cells.fill("ring", *mesh, 0.2)
    check_conforming(lattice)
    volume = cells.tetrahedron_volumes(lattice.positions, lattice.tetrahedra).sum()
    assert volume == pytest.approx(signed_volume(*mesh), rel=0.05)
    assert np.hypot(*lattice.positions[:, :2].T).min() > 0.5
    used = len(np.unique(lattice.triangles))
    edges = len(np.unique(np.sort(lattice.triangles[:, [(0, 1), (1, 2), (2, 0)]].reshape(-1, 2), axis=1), axis=0))
    assert used - edges + len(lattice.triangles) == 0  # Euler's number of a torus


def test_cells_that_meet_in_an_edge_get_a_third():
    kept = np.zeros((3, 3, 3), bool)
    kept[0, 0, 1] = kept[1, 1, 1] = True
    thin_parts.join_cells(kept)
    assert kept.sum() == 3 and (kept[1, 0, 1] or kept[0, 1, 1])


@pytest.mark.parametrize("turn", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_cells_that_meet_in_a_corner_get_two_more(turn):
    kept = np.zeros((3, 3, 3), bool)
    view = kept[:, :: turn[0], :: turn[1]]
    view[0, 0, 1] = view[1, 1, 2] = True
    thin_parts.join_cells(kept)
    assert kept.sum() == 4 and thin_parts.pieces_of_cells(kept).max() == 1


@pytest.mark.parametrize("radius", [0.02, 0.05])
def test_a_thin_spring_is_in_one_piece(radius):
    """Where it passes from one row of cells to the next, none was far from all others: it fell into 4 to 18."""
    model = solid_scene.model_of(shapes.tube(1.0, radius, 4.0, 0.4, 300, 8), cell_size=0.0)
    assert len(np.unique(pieces_of(model.edges.points, model.vertex_count))) == 1


def test_a_long_leg_of_few_triangles_has_cells():
    """Of a leg that is much thinner than cells, at an angle to the grid; its triangles are as long as 60 cells."""
    x, triangles = shapes.box(1.0, 1)
    leg, sides = shapes.box(1.0, 1)
    leg = leg * (0.02, 0.02, 6.0) @ shapes.rotation((1.0, 0.0, 0.0), 0.5).T + (0.0, 3.0, -3.0)
    model = solid_scene.model_of((np.concatenate([x, leg]), np.concatenate([triangles, sides + len(x)])), cell_size=0.1)
    assert len(np.unique(pieces_of(model.edges.points, model.vertex_count))) == 2
    assert model.rest_positions[:, 2].min() < leg[:, 2].min() + 0.1


def test_parts_that_lie_a_cell_apart_stay_apart():
    """Bars side by side, as letters: half a cell of each reaches into the cells between them."""
    x, triangles = shapes.box(1.0, 1)
    bars = [x * (0.24, 3.0, 3.0) + (0.36 * k, 0.0, 0.0) for k in range(3)]
    mesh = np.concatenate(bars), np.concatenate([triangles + k * len(x) for k in range(3)])
    model = solid_scene.model_of(mesh, cell_size=0.1)
    assert len(np.unique(pieces_of(model.edges.points, model.vertex_count))) == 3


def test_small_pieces_are_dropped_and_large_ones_stay():
    kept = np.zeros((12, 4, 4), bool)
    kept[:4], kept[6:9, :2, :2], kept[11, 3, 3] = True, True, True  # 64, 12 and 1 cells
    cells.drop_small_pieces(kept)
    assert kept[:4].all() and kept[6:9, :2, :2].all() and kept.sum() == 76


@pytest.mark.parametrize("count", [3, 6, 7, 8])
@pytest.mark.parametrize("name", ["cow.obj", "spot.obj"])
def test_animals_are_filled_in_one_piece_and_followed(name, count):
    mesh = shapes.foreign_mesh(name)
    size = np.ptp(mesh[0], axis=0).min() / count
    lattice = cells.fill(name, *mesh, size)
    check_conforming(lattice)
    assert not crossing_vertices(lattice.positions, lattice.triangles).any()
    world = World(solid_scene.model_of(mesh, cell_size=size), solver="EXPLICIT")
    assert np.abs(world.positions(0) - mesh[0]).max() < 1e-12 * np.abs(mesh[0]).max()
    piece = np.arange(world.model.vertex_count)
    ends = world.model.edges.points
    for _ in range(len(piece)):
        lowest = np.minimum(piece[ends[:, 0]], piece[ends[:, 1]])
        before = piece.copy()
        np.minimum.at(piece, ends[:, 0], lowest)
        np.minimum.at(piece, ends[:, 1], lowest)
        if np.array_equal(piece, before):
            break
    assert not piece.any()


@pytest.mark.parametrize("scale", [(1, 1, 1), (1.5, 1, 1), (1, 1.3, 0.9)])
def test_springs_make_an_isotropic_solid(scale):
    """Energy of any uniform strain e: V (lambda tr(e)^2 / 2 + mu |e|^2) with lambda = mu."""
    lattice = cells.fill("box", *shapes.box(1.0, 1), 0.5)
    lattice = lattice._replace(positions=lattice.positions * scale, size=lattice.size * scale)
    found = springs.springs_of(lattice, mu=3.0)
    rest = lattice.positions[found.points[:, 1]] - lattice.positions[found.points[:, 0]]
    assert found.stiffness.min() > 0.0
    rng = np.random.default_rng(3)
    for _ in range(5):
        strain = rng.standard_normal((3, 3))
        strain = strain + strain.T
        along = np.einsum("ei,ij,ej->e", rest, strain, rest) / np.linalg.norm(rest, axis=1)
        energy = 0.5 * (found.stiffness * along**2).sum()
        expected = np.prod(scale) * 3.0 * (0.5 * np.trace(strain) ** 2 + (strain**2).sum())
        assert energy == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kind", ["SOLID", "TRUSS"])
def test_the_mesh_follows_affine_motions_exactly(kind):
    mesh = shapes.icosphere(2, 0.5, (3.0, -2.0, 1.0))
    world = World(solid_scene.model_of(mesh, cell_size=0.2, kind=kind), solver="EXPLICIT")
    assert np.allclose(world.positions(0), mesh[0], rtol=0, atol=1e-12)
    rng = np.random.default_rng(0)
    turn, shift = rng.standard_normal((3, 3)), rng.standard_normal(3)
    solid_scene.place(world, lambda x: x @ turn.T + shift)
    assert np.allclose(world.positions(0), mesh[0] @ turn.T + shift, rtol=0, atol=1e-11)


def test_pinned_vertices_hold_the_face_between_them():
    mesh = shapes.box(1.0, 1)
    bottom = np.flatnonzero(mesh[0][:, 2] < 0)
    world = World(solid_scene.model_of(mesh, cell_size=0.25, pinned=bottom), solver="EXPLICIT")
    model = world.model
    low = model.rest_positions[:, 2] < -0.499
    assert np.array_equal(model.pinned, low) and low.sum() == 25
    turn = shapes.rotation((0, 0, 1), 0.3)
    world.advance_frame(FrameInput(pinned_positions={0: mesh[0][bottom] @ turn.T}))
    state = world.save()
    assert np.allclose(state.positions[low], model.rest_positions[low] @ turn.T, rtol=0, atol=1e-12)
    assert np.allclose(world.positions(0)[bottom], mesh[0][bottom] @ turn.T, rtol=0, atol=1e-12)


def test_a_lone_pinned_vertex_holds_the_nearest_one():
    x, triangles = shapes.icosphere(3)
    model = solid_scene.model_of((x, triangles), cell_size=0.3, pinned=[7])
    held = np.flatnonzero(model.pinned)
    outer = np.unique(model.surfaces.triangles)
    assert held == outer[np.argmin(((model.rest_positions[outer] - x[7]) ** 2).sum(axis=1))]


@pytest.mark.parametrize("walls", [0.01, 0.05, 0.15, 0.2])
def test_a_hollow_body_has_cells_without_a_cell_size(walls):
    """As a ball under Solidify: cells of a quarter of its width were larger than its walls.

    It was refused, or, with thicker walls, had 97 vertices, which filled half of the hollow.
    """
    (x, triangles), (inner, _) = shapes.icosphere(4, 1.0), shapes.icosphere(4, 1.0 - walls)
    ball = np.concatenate([x, inner]), np.concatenate([triangles, triangles[:, ::-1] + len(x)])
    model = solid_scene.model_of(ball, cell_size=0.0)
    assert 500 < model.vertex_count < 1_500
    assert np.linalg.norm(model.rest_positions, axis=1).min() > 0.9 * (1.0 - walls)  # it is still hollow


def test_mass_and_density():
    mesh = shapes.box(2.0, 1)
    assert solid_scene.model_of(mesh, cell_size=0.5, mass=3.0).vertex_mass.sum() == pytest.approx(3.0)
    model = solid_scene.model_of(mesh, cell_size=0.5, density=100.0)
    assert model.vertex_mass.sum() == pytest.approx(800.0) == model.body_mass[0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cell_size": 1.5}, "cube: cell size 1.5 m, but the mesh is only 1 m thick. Give at most 1 m."),
        ({"cell_size": 0.01}, "cube: cell size 0.01 m makes 1000000 cells, more than 200000. Give at least 0.019 m."),
    ],
)  # fmt: skip
def test_errors_are_sentences(options, sentence):
    with pytest.raises(ParameterError) as caught:
        ModelBuilder().add_solid("cube", *shapes.box(1.0, 1), **options)
    assert str(caught.value) == sentence


def test_a_shape_that_no_cell_fits_is_refused():
    with pytest.raises(ParameterError, match="no cell fits into the mesh"):
        ModelBuilder().add_solid("wire", *shapes.tube(1.0, 0.04, 2.0, 0.9), cell_size=0.6)


def test_properties_that_a_solid_lacks_are_refused():
    world = World(solid_scene.model_of(shapes.box(1.0, 1), cell_size=0.5), solver="EXPLICIT")
    with pytest.raises(ParameterError, match="gauge pressure; a solid has none"):
        world.advance_frame(FrameInput(gauge_pressure={0: 10.0}))
    with pytest.raises(ParameterError, match="follow a lattice"):
        world.set_positions(0, np.zeros((8, 3)))
