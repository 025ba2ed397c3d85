"""Flat trusses: their stiffness by closed forms, how they follow their outlines, and in motion."""

import numpy as np
import pytest
import shapes
from flat_scene import in_plane, momenta, out_of_plane, plane_of
from force_scene import spring_energies
from scenes import advance
from softpressure_ext.core import FrameInput, MeshError, ModelBuilder, ParameterError, World
from validation import validated

TILTED = ((1.0, 2.0, 0.5), 0.8)


def bar(length, width, cells=8):
    """Outline of a bar along x, its long sides cut, shape (n, 2)."""
    along = np.linspace(0.0, length, cells + 1)
    lower = np.stack([along, 0 * along - 0.5 * width], axis=1)
    return np.concatenate([lower, (lower * (1, -1))[::-1]])


def truss_world(
    flat, *, turn=None, gravity=-9.81, floor=False, solver="EXPLICIT", substeps=4, **options,
):  # fmt: skip
    turned = plane_of(turn)
    builder = ModelBuilder(gravity=turned @ [0.0, 0.0, gravity])
    builder.add_flat_truss("truss", shapes.upright(flat) @ turned.T, **options)
    if floor:
        x, triangles = shapes.grid(20.0, 2)
        builder.add_collider("floor", x @ turned.T, triangles, bounciness=options.get("bounciness", 1.0))
    return World(builder.build(), frame_rate=60.0, substeps=substeps, threads=1, solver=solver)


def static_sag(model, force):
    """Small moves [m] within the plane y = 0 under forces [N] of shape (pair_count, 2): one dense linear system."""
    count, ends = len(model.flat.pairs), model.edges.points // 2
    x = model.rest_positions[model.flat.pairs[:, 0]][:, [0, 2]]
    along = (x[ends[:, 0]] - x[ends[:, 1]]) / model.edges.rest_length[:, None]
    matrix = np.zeros((count, 2, count, 2))
    for a, b, sign in ((0, 0, 1), (1, 1, 1), (0, 1, -1), (1, 0, -1)):
        blocks = sign * np.einsum("e,ei,ej->eij", model.edges.stiffness, along, along)
        np.add.at(matrix, (ends[:, a], slice(None), ends[:, b]), blocks)
    free = np.flatnonzero(np.repeat(~model.pinned[::2], 2))
    moves = np.zeros(2 * count)
    moves[free] = np.linalg.solve(matrix.reshape(2 * count, -1)[np.ix_(free, free)], force.ravel()[free])
    return moves.reshape(count, 2)


@pytest.mark.parametrize("size", [0.2, 0.1, 0.05])
@pytest.mark.parametrize("shape", [(1.0, 0.2), (0.8, 0.27)])
def test_any_strain_has_the_energy_of_an_elastic_sheet(shape, size):
    """E / (1 - nu^2) and G = E / 2 (1 + nu) with nu = 1/3, in plane stress, whatever the cells."""
    modulus, depth, strain = 3e5, 0.15, 1e-5
    model = truss_world(bar(*shape), modulus=modulus, depth=depth, cell_size=size).model
    volume, stiff = shape[0] * shape[1] * depth, modulus / (1.0 - 1.0 / 9.0)
    x = model.rest_positions
    for move, density in (
        ((1, 0, 0, 0), 0.5 * stiff), ((0, 0, 0, 1), 0.5 * stiff), ((1, 0, 0, -1), stiff * (1.0 - 1.0 / 3.0)),
        ((1, 0, 0, -1 / 3), 0.5 * modulus), ((0, 1, 1, 0), 0.5 * 4.0 * modulus / (2.0 * (4.0 / 3.0))),
    ):  # fmt: skip
        moved = x.copy()
        moved[:, [0, 2]] += strain * x[:, [0, 2]] @ np.reshape(move, (2, 2))
        validated(
            "energy of a strained flat truss", room="bodies/flat", measured=spring_energies(model, moved).sum(),
            expected=density * strain**2 * volume, unit="J", rel=1e-4,
            source="elastic sheet in plane stress, ν = 1/3: five strains", reason="terms of higher order in the strain",
        )  # fmt: skip


def test_a_beam_sags_as_bending_and_shear_say():
    """w L^4 / 8 E I (1 + shear) at its end, w its weight per length, I = D h^3 / 12, shear 4 E I / (5/6 G A L^2).

    Edges lie in n + 1 layers, the outer ones with half the weight: n cells across are too stiff by at most 2 / n^2.
    """
    modulus, density, length, width, depth = 1e6, 10.0, 1.5, 0.2, 0.1
    inertia, area = depth * width**3 / 12.0, depth * width
    bending = density * area * 9.81 * length**4 / (8.0 * modulus * inertia)
    shear = 4.0 * modulus * inertia / (5.0 / 6.0 * modulus / (2.0 * 4.0 / 3.0) * area * length**2)
    errors = []
    for count in (2, 4, 8):
        outline = bar(length, width)
        model = truss_world(
            outline, modulus=modulus, density=density, depth=depth, cell_size=width / count,
            pinned=np.flatnonzero(outline[:, 0] == 0.0),
        ).model  # fmt: skip
        assert model.vertex_mass.sum() == pytest.approx(density * area * length)
        weight = np.zeros((len(model.flat.pairs), 2))
        weight[:, 1] = -9.81 * 2.0 * model.vertex_mass[::2]
        moves = static_sag(model, weight)
        end = model.rest_positions[::2, 0] > length - 1e-6
        errors.append(bending * (1.0 + shear) / -moves[end, 1].mean() - 1.0)
        assert abs(errors[-1]) < 2.0 / count**2
        if count == 8:
            validated(
                "sag of a flat beam of 8 cells across, over the closed form's", room="bodies/flat",
                measured=1.0 + errors[-1], expected=1.0, abs=2.0 / count**2,
                source="w L⁴ / 8 E I and shear 4 E I / (5/6 G A L²) of it",
                reason="trapezoid rule for the layers' moment: too stiff by at most 2 / n²",
            )  # fmt: skip
    assert abs(errors[1]) < 0.4 * abs(errors[0]) and abs(errors[2]) < 0.4 * abs(errors[1])


@pytest.mark.parametrize(("solver", "substeps"), [("EXPLICIT", 4), ("XPBD", 300), ("RK4", 60)])
def test_each_solver_holds_a_beam_where_statics_puts_it(solver, substeps):
    """It sags by 1 % of its length, for which the linear system is good to about as much.

    With XPBD it is softer by about E h^2 / (density cell^2), as one sweep gives an edge no more than about m / h^2, and
    sways about where that puts it.
    """
    outline = bar(1.5, 0.2)
    world = truss_world(
        outline, modulus=1e6, density=10.0, depth=0.1, cell_size=0.1, damping=10.0, solver=solver, substeps=substeps,
        pinned=np.flatnonzero(outline[:, 0] == 0.0),
    )  # fmt: skip
    model, state = world.model, world.save()
    weight = np.zeros((len(model.flat.pairs), 2))
    weight[:, 1] = -9.81 * 2.0 * model.vertex_mass[::2]
    moves = static_sag(model, weight)
    state.positions[: model.vertex_count, [0, 2]] += np.repeat(moves, 2, axis=0)
    world.load(state)
    end = outline[:, 0] == 1.5
    sag = -moves[model.rest_positions[::2, 0] > 1.499, 1].mean()
    found = []
    for _ in range(20):
        advance(world, 1)
        found.append(-in_plane(world)[end, 1].mean())
    softer = 1e6 / (60.0 * substeps) ** 2 / (10.0 * 0.1**2) if solver == "XPBD" else 0.0
    validated(
        "sag of a flat beam in each solver", room="bodies/flat", measured=found, expected=sag, unit="m",
        rel=0.02 + 2.0 * softer, source="dense linear system",
        reason="it sags by 1 % of its length; XPBD is softer by E h² / (ρ cell²) and sways",
    )  # fmt: skip
    assert out_of_plane(world) == (0.0, 0.0)


def test_the_callers_vertices_follow_affine_moves_exactly():
    """On the outline and within it; the weights of both copies put them into the middle of the band."""
    turned = shapes.rotation(*TILTED)
    inner = np.array([(0.1, 0.05), (-0.3, -0.2), (0.0, 0.0)])
    flat = np.concatenate([shapes.bark(80, 0.6), inner])
    builder = ModelBuilder()
    builder.add_flat_truss("slice", shapes.upright(flat) @ turned.T, np.arange(80), cell_size=0.1, depth=0.07)
    world = World(builder.build(), solver="EXPLICIT")
    np.testing.assert_allclose(world.positions(0), shapes.upright(flat) @ turned.T, atol=1e-14)
    state, n = world.save(), world.model.vertex_count
    change = turned @ np.array([[1.1, 0, 0.2], [0, 1, 0], [-0.1, 0, 0.8]]) @ turned.T
    state.positions[:n] = state.positions[:n] @ change.T + turned @ [0.3, 0.0, -0.5]
    world.load(state)
    expected = shapes.upright(flat) @ turned.T @ change.T + turned @ [0.3, 0.0, -0.5]
    np.testing.assert_allclose(world.positions(0), expected, atol=1e-13)


def test_cells_reach_the_outline_and_keep_their_corners():
    """A disc of 0.1 m cells: its area to the share of a chord's segments, every border vertex near the outline."""
    flat = shapes.ring(200, 0.5)
    model = truss_world(flat, cell_size=0.1, depth=0.2).model
    strip = model.surfaces.triangles
    assert np.abs(np.linalg.norm(model.rest_positions[np.unique(strip)][:, [0, 2]], axis=1) - 0.5).max() < 0.02
    uses = np.bincount(np.sort(model.surfaces.edges[:, :1], axis=1).ravel(), minlength=model.vertex_count)
    assert uses.sum() == len(model.surfaces.edges) and len(strip) == 2 * len(np.unique(strip)) // 2
    volume = World(model, solver="EXPLICIT").diagnostics().bodies[0].volume
    assert volume == pytest.approx(0.2 * np.pi * 0.25, rel=0.05)
    assert not model.has_gas(0) and World(model, solver="EXPLICIT").diagnostics().bodies[0].volume_ratio == 1.0


@pytest.mark.parametrize("angle", [0.1, 0.5, np.pi / 4])
def test_a_turned_square_is_filled_exactly(angle):
    """The grid lies along the main directions of the sides."""
    square = 0.5 * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    turned = square @ shapes.rotation((0, 0, 1), angle)[:2, :2]
    found = [truss_world(flat, cell_size=0.2, depth=0.1) for flat in (square, turned)]
    assert found[1].model.vertex_count == found[0].model.vertex_count
    assert found[1].diagnostics().bodies[0].volume == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("turn", [None, TILTED])
def test_it_spins_falls_and_keeps_its_momenta(turn):
    turned = plane_of(turn)
    world = truss_world(bar(1.0, 0.3), turn=turn, gravity=0.0, modulus=1e6, mass=2.0, cell_size=0.1,
                        velocity=turned @ [0.5, 7.0, 1.0])  # fmt: skip
    state, n = world.save(), world.model.vertex_count
    state.velocities[:n] += np.cross(turned @ [0.0, 5.0, 0.0], state.positions[:n])
    world.load(state)
    before = momenta(world, turn)
    advance(world, 30)
    after = momenta(world, turn)
    validated(
        "momentum of a flat truss in flight", room="bodies/flat", measured=after[0], expected=before[0], unit="kg m/s",
        abs=1e-11, source="conserved", reason="rounding of 120 steps",
    )  # fmt: skip
    validated(
        "angular momentum of a flat truss in flight", room="bodies/flat", measured=after[1], expected=before[1],
        unit="kg m²/s", rel=1e-11, source="conserved", reason="rounding of 120 steps",
    )  # fmt: skip
    assert max(out_of_plane(world, turn)) < 1e-11


def test_it_lands_on_a_floor_and_rests():
    world = truss_world(bar(0.6, 0.3) + (0.0, 0.25), floor=True, modulus=5e4, mass=2.0, cell_size=0.1, damping=10.0,
                        bounciness=0.2)  # fmt: skip
    advance(world, 120)
    x = world.positions(0)
    advance(world, 20)
    assert np.abs(world.positions(0) - x).max() < 1e-4
    assert 0.0 < x[:, 2].min() < world.model.thickness[0] + 0.01
    assert out_of_plane(world) == (0.0, 0.0)


def test_pins_on_a_side_hold_the_cells_between_them():
    outline = bar(1.0, 0.4)
    left = np.flatnonzero(outline[:, 0] == 0.0)
    world = truss_world(outline, modulus=1e5, cell_size=0.1, pinned=left, gravity=0.0)
    held = world.model.rest_positions[: world.model.vertex_count][world.model.pinned]
    assert len(held) == 2 * 5 and (np.abs(held[:, 0]) < 1e-12).all()
    start = world.positions(0)[left]
    for frame in range(1, 11):
        world.advance_frame(FrameInput(pinned_positions={0: start + np.array([0.01, 0.05, 0.0]) * frame}))
    np.testing.assert_allclose(world.positions(0)[left], start + [0.1, 0.0, 0.0], atol=1e-12)


def test_a_cell_size_that_does_not_fit_is_refused():
    def add(flat, **options):
        ModelBuilder().add_flat_truss("Bar", shapes.upright(flat), **options)

    with pytest.raises(
        ParameterError, match=r"^Bar: cell size 1 m, but the outline is only 0\.2 m wide\. Give at most"
    ):
        add(bar(1.0, 0.2), cell_size=1.0)
    with pytest.raises(
        ParameterError, match=r"^Bar: cell size 1e-06 m makes .* cells, more than 200000\. Give at least"
    ):
        add(bar(1.0, 0.2), cell_size=1e-6)
    with pytest.raises(ParameterError, match=r"^Bar: Young's modulus 0 Pa; give a number above 0\.$"):
        add(bar(1.0, 0.2), modulus=0.0)
    x = np.concatenate([shapes.upright(bar(1.0, 0.2)), [(0.5, 0.1, 0.0)]])
    with pytest.raises(MeshError, match=r"^Bar: not flat; a vertex is 0\.1 m off the plane"):
        ModelBuilder().add_flat_truss("Bar", x, np.arange(18))
