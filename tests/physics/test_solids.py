"""Solids in motion: bars and beams, flight, floors, stacks, and recovery from flattening."""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from scenes import advance, energy, momenta, played
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.solvers.xpbd.pressure_retention import compliance_ratio
from solid_scene import bar, model_of, place, static_moves, world_of
from validation import validated

#: Those that are to do all with solids.
SOLVERS = ["EXPLICIT", "XPBD"]


@pytest.mark.parametrize(("kind", "size"), [("TRUSS", 0.1), ("SOLID", 0.1), ("SOLID", 0.05)])
def test_a_hanging_bar_is_stretched_by_its_weight(kind, size):
    """rho g L^2 / 2 E at its end.

    The cells next to the held end cannot shrink across: they stretch by up to 1 - E / M = 26 % less (M the modulus
    without shrinking, nu = 0.3), about half of it on average, and they carry 1 - (1 - cell / L)^2 of the stretch.
    """
    density, modulus, length, width = 1000.0, 5e6, 1.0, 0.1
    mesh = bar(length, width)
    mesh = (mesh[0] @ shapes.rotation((0, 1, 0), np.pi / 2).T, mesh[1])  # from z = 0 downwards
    top = np.flatnonzero(mesh[0][:, 2] > -1e-9)
    world = world_of(
        mesh, floor=False, cell_size=size, kind=kind, density=density, modulus=modulus, poisson_ratio=0.3, pinned=top,
        damping=30.0, frame_rate=24.0, substeps=2,
    )  # fmt: skip
    held = world.positions(0)[top]
    for frame in range(72):  # damping acts on a fifth of this motion alone: the rest is that of a rigid body
        # a held end that moves keeps it awake: it fell asleep where a swing of 0.03 mm turned
        world.advance_frame(FrameInput(pinned_positions={0: held + (0.0, 0.0, 1e-9 * (frame % 2))}))
    expected = density * 9.81 * length**2 / (2.0 * modulus)
    low = world.positions(0)[:, 2].min()
    validated(
        "stretch of a hanging bar", room="bodies/lattice", measured=-low - length, expected=expected, unit="m",
        rel=0.13 * (1.0 - (1.0 - size / length) ** 2) + 0.005, source="ρ g L² / 2E at its end",
        reason="the cells next to the held end cannot shrink across",
    )  # fmt: skip


def beam_world(count, solver="EXPLICIT", substeps=10):
    """A beam of 1.5 m that sticks out of a wall, 0.2 m square, its cells `count` across."""
    mesh = bar(1.5, 0.2)
    return world_of(
        mesh, floor=False, cell_size=0.2 / count, kind="TRUSS", density=10.0, modulus=1e6, damping=10.0, solver=solver,
        pinned=np.flatnonzero(mesh[0][:, 0] < 1e-9), frame_rate=24.0, substeps=substeps,
    )  # fmt: skip


def sagged(world):
    """Where its weight puts all vertices [m], by the linear system; and how far its end is lowered."""
    model = world.model
    moves = static_moves(model, model.vertex_mass[:, None] * model.gravity)
    return model.rest_positions[: len(moves)] + moves, -moves[model.rest_positions[: len(moves), 0] > 1.499, 2].mean()


def test_a_beam_sags_under_its_weight():
    """w L^4 / 8 E I (1 + shear) at its end: with G = E / 2.5 and a factor 5/6, shear adds 4 E I / (5/6 G A L^2).

    Edges lie in n + 1 layers, the outer ones with half the weight: the trapezoid rule for the integral of z^2, which is
    too large by 2 / n^2. So n cells across are too stiff by at most that, and the error falls as 1 / n^2.
    """
    density, modulus, length, width = 10.0, 1e6, 1.5, 0.2
    inertia, area = width**4 / 12.0, width**2
    bending = density * area * 9.81 * length**4 / (8.0 * modulus * inertia)
    shear = 4.0 * modulus * inertia / (5.0 / 6.0 * modulus / 2.5 * area * length**2)
    errors = [bending * (1.0 + shear) / sagged(beam_world(count))[1] - 1.0 for count in (2, 4)]
    for count, error in zip((2, 4), errors, strict=True):
        assert error > 0.0
        validated(
            f"sag of a beam of {count} cells across, over the closed form's", room="bodies/lattice",
            measured=1.0 / (1.0 + error), expected=1.0, abs=1.0 - 1.0 / (1.0 + 2.0 / count**2),
            source="w L⁴ / 8 E I and shear 4 E I / (5/6 G A L²) of it",
            reason="trapezoid rule for the layers' moment: n cells across are too stiff by at most 2 / n²",
        )  # fmt: skip
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize(("solver", "substeps"), [("EXPLICIT", 10), ("XPBD", 400), ("XPBD", 800)])
def test_the_solvers_hold_a_beam_where_statics_puts_it(solver, substeps):
    """It sags by 1 % of its length, for which the linear system is good to about as much.

    With XPBD it is softer by about E h^2 / (density cell^2): one sweep gives an edge no more than about m / h^2.
    """
    world = beam_world(2, solver, substeps)
    x, sag = sagged(world)
    place(world, lambda _: x)
    found = []
    for _ in range(12):
        advance(world, 1)
        found.append(-world.positions(0)[[4, 5, 6, 7], 2].mean())
    softer = 1e6 / (24.0 * substeps) ** 2 / (10.0 * 0.1**2) if solver == "XPBD" else 0.0
    validated(
        "sag of a beam in each solver", room="bodies/lattice", measured=found, expected=sag, unit="m",
        rel=0.02 + softer, source="dense linear system",
        reason="it sags by 1 % of its length; XPBD is softer by E h² / (ρ cell²)",
    )  # fmt: skip


@pytest.mark.parametrize("solver", [*SOLVERS, "RK4"])
def test_free_flight_keeps_momentum(solver):
    world = world_of(
        shapes.icosphere(2, 0.5), gravity=0.0, floor=False, cell_size=0.2, modulus=2e4, mass=2.0, solver=solver,
        substeps=60 if solver == "RK4" else 4, velocity=(1.0, 2.0, 0.0),
    )  # fmt: skip
    state, n = world.save(), world.model.vertex_count
    x = state.positions[:n]
    state.velocities[:n] += np.cross((0.0, 0.0, 5.0), x) + np.stack([0.5 * x[:, 0], -x[:, 1], x[:, 2]], axis=1)
    world.load(state)
    push, turn = momenta(world)
    advance(world, 20)
    now, turned = momenta(world)
    validated(
        "momentum of a solid in flight", room="bodies/lattice", measured=now, expected=push, unit="kg m/s",
        abs=1e-6 * np.abs(push).max(), source="conserved", reason="what sweeps leave",
    )  # fmt: skip
    validated(
        "angular momentum of a solid in flight", room="bodies/lattice", measured=turned, expected=turn, unit="kg m²/s",
        abs=1e-6 * np.abs(turn).max(), source="conserved", reason="what sweeps leave",
    )  # fmt: skip


@pytest.mark.parametrize("solver", [*SOLVERS, "HEUN"])
@pytest.mark.parametrize("kind", ["SOLID", "TRUSS"])
def test_a_cube_falls_rests_and_keeps_its_volume(solver, kind):
    """It stands under its own weight: shorter by rho g L^2 / 2 E = 2.5 %, as wide as friction lets it be."""
    world = world_of(
        shapes.box(1.0, 2, (0.0, 0.0, 0.55)), cell_size=0.34, kind=kind, mass=100.0, modulus=2e4, poisson_ratio=0.35,
        damping=20.0, bounciness=0.0, frame_rate=24.0, substeps=20, solver=solver,
    )  # fmt: skip
    advance(world, 60)
    body = world.diagnostics().bodies[0]
    x = world.positions(0)
    height = x[:, 2].max() - x[:, 2].min()
    speed = np.sqrt(2.0 * body.kinetic_energy / 100.0)
    assert x[:, 2].min() > 0.0 and speed < 0.01
    validated(
        "height of a cube that stands on a floor", room="bodies/lattice", measured=height,
        expected=1.0 - 0.5 * 100.0 * 9.81 / 2e4, unit="m", abs=0.012, source="L - ρ g L² / 2E",
        reason="friction holds its foot: half of the 2.5 %",
    )  # fmt: skip
    # compression p / 2 on average, of the volume (1 - 2 nu) of its strain
    ratio = 0.35 if kind == "SOLID" else 0.25
    validated(
        "V / V0 of a cube that stands on a floor", room="bodies/lattice", measured=body.volume_ratio,
        expected=1.0 - (1.0 - 2.0 * ratio) * 0.5 * 100.0 * 9.81 / 2e4, abs=0.008,
        source="1 - (1 - 2ν) ρ g L / 2E", reason="friction holds its foot",
    )  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("kind", "thickness"), [("SOLID", 0.0), ("TRUSS", 0.3)])
def test_a_flattened_body_recovers(solver, kind, thickness):
    """Springs do not know inside from outside: a truss that has been in a plane may come back folded, a solid not."""
    mesh = shapes.box(1.0, 1)
    world = world_of(
        mesh, gravity=0.0, floor=False, cell_size=0.34, kind=kind, mass=10.0, modulus=2e4, damping=10.0,
        frame_rate=24.0, substeps=20, solver=solver,
    )  # fmt: skip
    place(world, lambda x: x * (1.0, 1.0, thickness))
    advance(world, 48)
    n = world.model.vertex_count
    edges = world.model.edges
    x = world.save().positions[:n]
    length = np.linalg.norm(x[edges.points[:, 0]] - x[edges.points[:, 1]], axis=1)
    assert world.diagnostics().bodies[0].volume_ratio == pytest.approx(1.0, abs=1e-3)
    assert np.abs(length / edges.rest_length - 1.0).max() < 0.01


@pytest.mark.parametrize(("cell_size", "seed"), [(0.025, 2), (0.05, 3)])
def test_a_jelly_that_fingers_lift_is_at_rest_when_they_are(cell_size, seed):
    """Five fingers of half a cell press 20 mm into a ball of 200 mm, hold it, and lift it by 150 mm.

    Whether it trembled depended on the last bits: its vertices are moved by a micrometer.
    """
    radius, finger = 0.1, 0.012
    angles = 2.0 * np.pi * np.arange(5) / 5
    ways = np.column_stack([np.cos(angles), np.sin(angles), np.full(5, -0.15)]) / np.hypot(1.0, 0.15)
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    x, triangles = shapes.icosphere(3, radius)
    x += np.random.default_rng(seed).normal(0.0, 1e-6, x.shape) + (0.0, 0.0, radius + 0.001)
    builder.add_solid("jelly", x, triangles, cell_size=cell_size, mass=1.0, friction=0.5)
    tips = []
    for way in ways:
        tip, faces = shapes.icosphere(2, finger)
        along = tip @ way
        tip = tip + np.outer(np.where(along > 0.0, 0.1, 0.0), way) + (0.0, 0.0, radius)  # a capsule that points inwards
        tips.append((tip, way))
        builder.add_collider(f"finger {len(tips)}", tip + (radius + finger + 0.01) * way, faces, friction=0.5)
    builder.add_collider("floor", *shapes.grid(2.0), friction=0.5)
    world = World(builder.build(), frame_rate=24.0, threads=1)
    moves, before = [], world.positions(0)
    for frame in range(1, 100):
        away = radius + finger + np.interp(frame, [0, 20], [0.01, -0.02])
        lift = np.array([0.0, 0.0, np.interp(frame, [25, 50], [0.0, 0.15])])
        world.advance_frame(
            FrameInput(collider_positions={k: tip + away * way + lift for k, (tip, way) in enumerate(tips)})
        )
        assert_nothing_crosses(world)
        moves.append(float(np.abs(world.positions(0) - before).max()))
        before = world.positions(0)
    assert before[:, 2].mean() > 0.2  # it was not let go
    assert max(moves[-20:]) < 1.5e-3 * 2.0 * radius


def test_a_solid_with_a_skin_and_a_rigid_block():
    """All kinds in one scene: a rigid block on a solid, a skin with gas beside it, glued to the solid."""
    builder = ModelBuilder()
    cushion = builder.add_solid(
        "cushion", *shapes.box(1.0, 2, (0.0, 0.0, 0.52)), cell_size=0.34, mass=20.0, modulus=5e4, damping=8.0,
        bounciness=0.0,
    )  # fmt: skip
    ball = builder.add_membrane(
        "ball", *shapes.icosphere(2, 0.3, (0.85, 0.0, 0.52)), mass=0.3, gauge_pressure=2e3, damping=8.0
    )
    builder.add_rigid("block", *shapes.box(0.4, 1, (0.0, 0.0, 1.26)), mass=10.0)
    near = int(np.argmin(shapes.icosphere(2)[0][:, 0]))
    builder.attach_to_membrane(ball, [near], cushion)
    builder.add_collider("floor", *shapes.grid(10.0))
    world = World(builder.build(), frame_rate=24.0, substeps=10, threads=1, solver="EXPLICIT")
    advance(world, 24)
    bodies = world.diagnostics().bodies
    assert bodies[0].gauge_pressure == 0.0 and bodies[1].gauge_pressure > 300.0
    assert bodies[0].volume_ratio == pytest.approx(1.0, abs=0.02)
    # it lies on the cushion: explicit steps keep the thickness of both between them
    top = int(np.argmin(np.linalg.norm(shapes.box(1.0, 2)[0] - [0.0, 0.0, 0.5], axis=1)))  # in the middle
    gap = world.rigid_positions(0)[:, 2].min() - world.positions(cushion)[top, 2]
    assert gap == pytest.approx(world.model.thickness[cushion] + world.model.thickness[2], rel=0.05)
    assert np.linalg.norm(world.rigid_velocity(0)[0]) < 0.01
    assert world.positions(ball)[near, 0] == pytest.approx(world.positions(cushion)[:, 0].max(), abs=0.1)


@pytest.mark.parametrize(("modulus", "substeps"), [(1e5, 5), (1e6, 20), (1e6, 5)])
def test_xpbd_has_the_predicted_compliance_ratio(modulus, substeps):
    """A bar that hangs, in units of rho g L^2 / 2E, against `pressure_retention.compliance_ratio`."""
    x, triangles = shapes.box(1.0, 4)
    x = x * (0.2, 0.2, 0.4)
    builder = ModelBuilder(gravity=(0, 0, -1.0))
    builder.add_solid(
        "bar", x, triangles, cell_size=0.1, density=1000.0, modulus=modulus, damping=20.0,
        pinned=np.flatnonzero(x[:, 2] > 0.2 - 1e-9),
    )  # fmt: skip
    world = World(builder.build(), frame_rate=24.0, substeps=substeps, solver="XPBD", threads=1)
    advance(world, 60)
    longer = (-0.2 - world.positions(0)[:, 2].min()) / (1000.0 * 0.4**2 / (2.0 * modulus))
    told = compliance_ratio(modulus, 0.1, 1000.0, 1.0 / (24.0 * substeps))
    validated(
        "stretch of a bar that hangs, in units of ρ g L² / 2E", room="solvers/xpbd", measured=longer, expected=told,
        rel=0.1, source="`compliance_ratio`: a closed form of one sweep", reason="an estimate for a long row of edges",
    )  # fmt: skip


def folded_bar(gap=0.14, thickness=0.1, leg=0.5):
    """A bar of `thickness` bent into a U that lies on its side: two legs above each other, a `gap` apart."""
    radius = 0.5 * (gap + thickness)
    x, triangles = shapes.box(1.0, 10)
    along, across, out = ((x + [0.5, 0.0, 0.0]) * (2.0 * leg + np.pi * radius, 0.2, thickness)).T
    turn = np.clip((along - leg) / radius, 0.0, np.pi)
    bent = np.stack([-np.sin(turn), 0.0 * turn, -np.cos(turn)], axis=1) * (radius + out)[:, None]
    straight = np.where(along < leg, leg - along, np.maximum(along - leg - np.pi * radius, 0.0))
    return bent + np.stack([straight, across, 0.0 * turn + radius + 0.5 * thickness + 0.02], axis=1), triangles


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["SOLID", "TRUSS"])
def test_a_folded_bar_rests_on_itself(solver, kind):
    """The upper leg sinks on the lower one and stays there; without contact with itself it sinks into it."""
    x, triangles = folded_bar()
    ends = [np.flatnonzero((x[:, 0] > 0.4) & half) for half in (x[:, 2] < 0.14, x[:, 2] > 0.14)]
    heights = {}
    for touches in (True, False):
        world = world_of(
            (x, triangles), kind=kind, self_collision=touches, cell_size=0.05, mass=5.0, modulus=3e3, damping=5.0,
            bounciness=0.0, solver=solver, substeps=20,
        )  # fmt: skip
        most = energy(world)
        for frame in played(world, 60):
            if touches and frame % 5 == 0:
                assert_nothing_crosses(world)
            assert energy(world) < 1.001 * most
        lower, upper = (world.positions(0)[own, 2].mean() for own in ends)
        heights[touches] = upper - lower
    assert heights[False] < 0.05 < 0.09 < heights[True] < 0.12


@pytest.mark.parametrize(("solver", "cells"), [("EXPLICIT", 4), ("EXPLICIT", 5), ("XPBD", 4)])
def test_a_cube_that_is_dropped_straight_does_not_walk(solver, cells):
    """Its cells are their own mirror images; six tetrahedra each, cut along one diagonal, took it 4 to 12 cm aside."""
    x, triangles = bar(0.8, 0.8)
    world = world_of(
        (x + (-0.4, 0.0, 1.0), triangles), frame_rate=24.0, substeps=40, solver=solver, cell_size=0.8 / cells,
        mass=10.0, modulus=2e4, poisson_ratio=0.48, damping=2.0, bounciness=0.5,
    )  # fmt: skip
    advance(world, 72)
    assert np.abs(world.positions(0)[:, :2].mean(axis=0)).max() < 1e-3


@pytest.mark.parametrize(("ratio", "stiffer"), [(0.3, 0.11), (0.4, 0.16), (0.48, 0.36)])
def test_a_beam_bends_at_any_poisson_ratio(ratio, stiffer):
    """Four cells across: six tetrahedra a cell, each with its own pressure, are too stiff by 12, 28 and 129 %."""
    density, modulus, length, width = 10.0, 1e6, 1.5, 0.2
    inertia, area = width**4 / 12.0, width**2
    bending = density * area * 9.81 * length**4 / (8.0 * modulus * inertia)
    shear = 4.0 * modulus * inertia / (5.0 / 6.0 * modulus / (2.0 + 2.0 * ratio) * area * length**2)
    mesh = bar(length, width)
    model = model_of(
        mesh, cell_size=width / 4.0, density=density, modulus=modulus, poisson_ratio=ratio,
        pinned=np.flatnonzero(mesh[0][:, 0] < 1e-9),
    )  # fmt: skip
    moves = static_moves(model, model.vertex_mass[:, None] * (0.0, 0.0, -9.81))
    sag = -moves[model.rest_positions[:, 0] > length - 1e-9, 2].mean()
    assert bending * (1.0 + shear) / sag == pytest.approx(1.0 + 0.5 * stiffer, abs=0.5 * stiffer)
