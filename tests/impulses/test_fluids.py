"""Buoyancy, drag and the weight of what fills a skin, against closed forms, with every family of solvers."""

from dataclasses import replace

import numpy as np
import pytest
import shapes
from scenes import GRAVITY, advance, assert_continues, momentum, played, velocity
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World
from softpressure_ext.core.impulses.fluids import Fluids
from softpressure_ext.core.impulses.slosh import SLOSH_DAMPING
from softpressure_ext.core.impulses.wetting import facets_of, volume_below

SOLVERS = ("EXPLICIT", "XPBD")
AIR, HELIUM, WATER = 1.2, 0.17, 1000.0
UP = np.array([0.0, 0.0, 1.0])


def helium_world(solver, **scene):
    builder = ModelBuilder(air_density=AIR, **scene)
    positions, triangles = shapes.icosphere(2, 0.15)
    builder.add_membrane(
        "balloon", positions, triangles, mass=0.003, gauge_pressure=500.0, stretch_modulus=500.0, damping=5.0,
        pressure_at="REST", drawn_shape="INFLATED", fill_density=HELIUM,
    )  # fmt: skip
    return World(builder.build(), frame_rate=24, substeps=10, solver=solver)


def cross_section(positions, triangles, axis):
    """Area of a convex body across an axis, by its shadow."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    return 0.25 * np.abs(np.cross(b - a, c - a) @ axis).sum()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_helium_balloon_rises_as_archimedes_and_newton_say(solver):
    """m v' = (rho V - m) g - 1/2 rho c A v^2 has v = v_t tanh(t a / v_t); without drag v = a t."""
    for drag in (0.0, 0.5):
        world = helium_world(solver, drag_coefficient=drag)
        mass, frames = world.model.body_mass[0], 6 if drag == 0.0 else 18
        assert mass == pytest.approx(0.003 + HELIUM * world.model.rest_volume[0])
        advance(world, frames)
        positions, volume, time = world.positions(0), world.model.rest_volume[0], frames / 24
        if solver == "XPBD":  # does not hold the volume at rest, but does not vibrate
            volume = world.diagnostics().bodies[0].volume
        lift = (AIR * volume - mass) * GRAVITY
        speed = lift / mass * time
        if drag:
            area = cross_section(positions, shapes.icosphere(2)[1], [0.0, 0.0, 1.0])
            limit = np.sqrt(2.0 * lift / (AIR * drag * area))
            speed = limit * np.tanh(speed / limit)
        assert momentum(world) / mass == pytest.approx([0.0, 0.0, speed], rel=2e-3, abs=2e-3 * speed)


def floating_depth(radius, share):
    """How deep a ball lies in the liquid where it displaces a share of its volume: h^2 (3 r - h) = 4 r^3 share."""
    roots = np.roots([-1.0, 3.0 * radius, 0.0, -4.0 * radius**3 * share])
    return float(next(root.real for root in roots if abs(root.imag) < 1e-9 and 0.0 < root.real < 2.0 * radius))


@pytest.mark.parametrize("solver", ["RIGID", "EXPLICIT", "XPBD"])
def test_a_ball_floats_as_deep_as_archimedes_says(solver):
    """A rigid ball with RIGID, else a skin."""
    builder, radius = ModelBuilder(liquid_density=WATER, liquid_level=0.3, drag_coefficient=2.0), 0.1
    positions, triangles = shapes.icosphere(3, radius)
    placed = positions + [0.0, 0.0, 0.3]
    mass = 0.3 * WATER * 4.0 / 3.0 * np.pi * radius**3
    if solver == "RIGID":
        builder.add_rigid("ball", placed, triangles, mass=mass, linear_damping=20.0)
    else:
        builder.add_membrane(
            "ball", placed, triangles, mass=mass, gauge_pressure=2e4, stretch_modulus=1e5, damping=5.0,
            pressure_at="REST", drawn_shape="INFLATED",
        )  # fmt: skip
    world = World(builder.build(), frame_rate=24, substeps=10, solver="EXPLICIT" if solver == "RIGID" else solver)
    heights, displaced = [], []
    settled, frames = (24, 36) if solver == "RIGID" else (60, 90)
    for frame in played(world, frames):
        at = world.rigid_positions(0) if solver == "RIGID" else world.positions(0)
        if frame > settled:
            heights.append(at[:, 2].min())
            facets = facets_of(at, triangles, UP)
            displaced.append(volume_below(0.3, facets.height, facets.rise)[0])
    assert np.mean(displaced) == pytest.approx(mass / WATER, rel=0.01)
    if solver != "XPBD":  # which is too soft to stay a ball
        assert 0.3 - np.mean(heights) == pytest.approx(floating_depth(radius, 0.3), abs=0.02 * radius)


def test_a_soft_raft_floats_at_its_density():
    builder = ModelBuilder(liquid_density=WATER, drag_coefficient=2.0)
    positions, triangles = shapes.box(0.2, 1)
    raft = positions * [2.0, 2.0, 0.5]
    builder.add_solid("raft", raft, triangles, cell_size=0.05, mass=4.8, modulus=1e6, damping=5.0)
    world = World(builder.build(), frame_rate=24, substeps=10)
    advance(world, 48)
    heights = [world.positions(0)[:, 2].mean() for _ in played(world, 48)]
    assert 0.05 - np.mean(heights) == pytest.approx(0.3 * 0.1, abs=2e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_under_water_spins_on(solver):
    """The pressure on it has no torque, though it is constant over a tick in which the ball turns on."""
    builder = ModelBuilder(liquid_density=WATER, liquid_level=1.0)
    positions, triangles = shapes.icosphere(2, 0.1)
    builder.add_membrane(
        "ball", positions, triangles, mass=3.9, gauge_pressure=2e4, stretch_modulus=1e5, damping=5.0,
        pressure_at="REST", drawn_shape="INFLATED", gas_hold="AMOUNT" if solver == "XPBD" else "VOLUME",
    )  # fmt: skip
    world = World(builder.build(), frame_rate=24, substeps=10, solver=solver)
    model, state = world.model, world.save()
    n = model.vertex_count
    state.velocities[:n] = np.cross([0.0, 4.0, 0.0], state.positions[:n])
    world.load(state)

    def spin():
        x, v, mass = world.positions(0), world.velocities(0), model.vertex_mass[:, None]
        return (mass * np.cross(x - (mass * x).sum(axis=0) / mass.sum(), v)).sum(axis=0)

    start = spin()
    advance(world, 24)
    np.testing.assert_allclose(spin(), start, rtol=0.0, atol=0.01 * np.abs(start).max())


def test_an_upright_box_is_righted_and_a_heavier_body_sinks():
    builder = ModelBuilder(liquid_density=WATER, drag_coefficient=1.0)
    positions, triangles = shapes.box(0.2, 1)
    flat = positions * [2.0, 2.0, 0.5] @ shapes.rotation((0.0, 1.0, 0.0), 0.5).T
    raft = builder.add_rigid("raft", flat, triangles, mass=8.0, angular_damping=3.0, linear_damping=1.0)
    stone = builder.add_rigid("stone", positions + [2.0, 0.0, -1.0], triangles, mass=16.0)
    world = World(builder.build(), frame_rate=24, substeps=10)
    advance(world, 6)
    velocity, _ = world.rigid_velocity(stone)
    fall, limit = 0.5 * GRAVITY, np.sqrt(0.5 * GRAVITY * 16.0 / (0.5 * WATER * 0.04))
    assert velocity[2] == pytest.approx(-limit * np.tanh(fall * 0.25 / limit), rel=0.01)
    advance(world, 114)
    up = world.rigid_transform(raft)[:3, :3] @ shapes.rotation((0.0, 1.0, 0.0), 0.5) @ [0.0, 0.0, 1.0]
    assert up[2] == pytest.approx(1.0, abs=2e-3)
    assert 0.05 - world.rigid_positions(raft)[:, 2].mean() == pytest.approx(8.0 / WATER / 0.16, abs=2e-3)


def balloon(builder, *, level=3, share=1.0, mass=0.05, centre=0.12, pressure=1500.0, held="VOLUME"):
    positions, triangles = shapes.icosphere(level, 0.1)
    return builder.add_membrane(
        "balloon", positions + [0.0, 0.0, centre], triangles, mass=mass, gauge_pressure=pressure, stretch_modulus=600.0,
        damping=10.0, bounciness=0.0, pressure_at="REST", drawn_shape="INFLATED", gas_hold=held,
        fill_density=WATER, fill_share=share,
    )  # fmt: skip


def test_a_water_balloon_sags_keeps_its_volume_and_rests():
    """It rests with the mass of its water, so the floor carries its weight."""
    builder = ModelBuilder()
    balloon(builder)
    builder.add_collider("floor", *shapes.grid(1.0), friction=0.6)
    world = World(builder.build(), frame_rate=24, substeps=10, solver="EXPLICIT")
    start = world.positions(0)
    advance(world, 48)
    speeds = [velocity(world)[2] for _ in played(world, 24)]
    found, at = world.diagnostics().bodies[0], world.positions(0)
    assert found.volume_ratio == pytest.approx(1.0, abs=1e-3)
    assert world.model.body_mass[0] == pytest.approx(0.05 + WATER * found.volume, rel=1e-3)
    assert np.abs(speeds).max() < 0.01
    assert np.ptp(at[:, 2]) < 0.9 * np.ptp(start[:, 2]) and np.ptp(at[:, 0]) > 1.05 * np.ptp(start[:, 0])
    assert found.liquid_level == pytest.approx(at[:, 2].max(), abs=1e-3)


def test_a_full_skin_that_falls_comes_to_rest():
    """Four tons in a skin that gives way: a pressure that followed the motion kept its top swinging by 0.8 m."""
    builder = ModelBuilder()
    ball, triangles = shapes.icosphere(2)
    builder.add_membrane(
        "ball", ball + [0.0, 0.0, 1.3], triangles, mass=12.5, gauge_pressure=2000.0, stretch_modulus=2e4, damping=2.0,
        pressure_at="REST", drawn_shape="INFLATED", fill_density=WATER,
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(10.0))
    world = World(builder.build(), frame_rate=24)
    tops = [world.positions(0)[:, 2].max() for _ in played(world, 168)]
    assert np.ptp(tops[:48]) > 0.8 and np.ptp(tops[144:]) < 0.02


@pytest.mark.parametrize(("solver", "share"), [("EXPLICIT", 0.6), ("XPBD", 1.0)])
def test_the_floor_carries_the_weight_of_a_water_balloon(solver, share):
    """Also in the forces of a single step: the weight acts within it, where the contacts balance it."""
    builder = ModelBuilder()
    balloon(builder, level=2, share=share, held="AMOUNT" if solver == "XPBD" else "VOLUME")
    builder.add_collider("floor", *shapes.grid(1.0), friction=0.6)
    world = World(builder.build(), frame_rate=24, substeps=20, solver=solver)
    advance(world, 36)
    forces = [world.contact_forces(0).sum() for _ in played(world, 12)]
    weight = GRAVITY * world.model.body_mass[0]
    assert np.mean(forces) == pytest.approx(weight, rel=0.02)
    assert np.ptp(forces) < 0.1 * weight


def test_what_fills_a_skin_neither_moves_nor_deforms_it_in_free_flight():
    builder = ModelBuilder()
    balloon(builder, centre=0.0)
    world = World(builder.build(), frame_rate=24, substeps=10)
    start = world.positions(0)
    advance(world, 12)
    at = world.positions(0)
    assert at[:, 2].mean() - start[:, 2].mean() == pytest.approx(-0.5 * GRAVITY * 0.25, rel=0.01)
    np.testing.assert_allclose(at - at.mean(axis=0), start - start.mean(axis=0), atol=5e-4)


def test_a_tank_is_pressed_by_the_depth_below_the_level():
    """On the floor rho g h of each area, on a wall 1/2 rho g h^2 of each width; all of it is the liquid's weight."""
    builder = ModelBuilder()
    positions, triangles = shapes.box(0.2, 4)
    builder.add_membrane(
        "tank", positions, triangles, mass=0.1, gauge_pressure=0.0, stretch_modulus=1e4, fill_density=WATER,
        fill_share=0.4, pinned=np.arange(len(positions)),
    )  # fmt: skip
    world = World(builder.build(), frame_rate=24, substeps=10)
    advance(world, 6)
    assert world.diagnostics().bodies[0].liquid_level == pytest.approx(-0.1 + 0.4 * 0.2, abs=1e-9)
    model, state = world.model, world.save()
    state.felt_gravity[:] = model.gravity
    force = Fluids(model).pressure(state, model.gravity, 0.0, model.vertex_mass).force
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-9)  # without the weight, which is that of the masses
    force += model.vertex_mass[:, None] * model.gravity * model.fill_mass[0] / model.body_mass[0]
    at, depth = state.positions[: model.vertex_count], 0.4 * 0.2
    assert force[at[:, 2] < -0.09, 2].sum() == pytest.approx(-WATER * GRAVITY * depth * 0.2**2)
    assert force[at[:, 0] > 0.09, 0].sum() == pytest.approx(0.5 * WATER * GRAVITY * depth**2 * 0.2)


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_surrounds_and_what_filled_a_burst_skin_does_not_push_it(solver):
    """It is open: on one side alone the pressure would drive it on. It sinks as it falls without a liquid."""

    def sunk(**scene):
        builder = ModelBuilder(**scene)
        positions, triangles = shapes.icosphere(2, 0.1)
        builder.add_membrane(
            "ball", positions, triangles, mass=0.05, gauge_pressure=1500.0, stretch_modulus=800.0, tear_strain=5.0,
            fill_density=WATER, fill_share=0.5,
        )  # fmt: skip
        world = World(builder.build(), frame_rate=24, substeps=20, threads=1, solver=solver)
        state, edges = world.save(), world.model.edges.points
        above = state.positions[edges, 0] > 0.05
        state.keyed = replace(state.keyed, torn=above[:, 0] != above[:, 1])
        world.load(state)
        advance(world, 4)
        assert np.isnan(world.diagnostics().bodies[0].liquid_level)
        return world.positions(0)

    under_water = sunk(liquid_density=WATER, liquid_level=2.0, drag_coefficient=0.0)
    np.testing.assert_allclose(under_water, sunk(), rtol=0, atol=1e-9)


def test_a_run_with_fluids_continues_to_the_bit():
    def world():
        builder = ModelBuilder(air_density=AIR, liquid_density=WATER, liquid_level=-0.1)
        balloon(builder, share=0.6, centre=0.0)
        return World(builder.build(), frame_rate=24, substeps=10)

    assert_continues(world, 4, 2)


def test_a_rising_level_lifts_what_floats():
    """The level rises by 0.3 m; the ball goes with it and lies as deep as before."""
    builder, radius = ModelBuilder(liquid_density=WATER, drag_coefficient=2.0), 0.1
    positions, triangles = shapes.icosphere(1, radius)
    mass = 0.3 * WATER * 4.0 / 3.0 * np.pi * radius**3
    builder.add_rigid("ball", positions, triangles, mass=mass, linear_damping=20.0)
    world = World(builder.build(), frame_rate=24, substeps=10)
    levels, heights = [*[0.0] * 24, *np.linspace(0.0, 0.3, 24), *[0.3] * 24], []
    for level in levels:
        world.advance_frame(FrameInput(liquid_level=level))
        heights.append(world.rigid_positions(0)[:, 2].mean())
    assert np.mean(heights[-8:]) - np.mean(heights[16:24]) == pytest.approx(0.3, abs=0.003)
    assert np.std(heights[-8:]) < 0.003
    with pytest.raises(ParameterError, match="liquid: level nan"):
        world.advance_frame(FrameInput(liquid_level=np.nan))


@pytest.mark.parametrize(
    ("vessel", "square"),
    [
        (shapes.icosphere(2, 0.1), lambda _: 1.5602 * GRAVITY / 0.1),  # half a sphere
        (shapes.box(0.2, 2), lambda volume: GRAVITY * np.pi / 0.2 * np.tanh(np.pi * volume / 0.2**3)),
    ],
    ids=["sphere", "cube"],
)
def test_a_surface_sloshes_as_fast_as_theory_says(vessel, square):
    """In a rigid vessel, after gravity was askew for a second; its amplitude falls at the rate of its damping.

    That is told two periods apart, after the turn of gravity, at which the swing has no peak.
    """
    builder = ModelBuilder()
    builder.add_membrane(
        "vessel", *vessel, mass=0.05, gauge_pressure=2000.0, stretch_modulus=600.0, gas_hold="VOLUME",
        pressure_at="REST", drawn_shape="INFLATED", fill_density=WATER, fill_share=0.5,
    )  # fmt: skip
    world = World(builder.build(), frame_rate=96, substeps=5)
    at, tilts = world.positions(0), []
    for frame in range(288):
        world.advance_frame(FrameInput(gravity=(2.0 if frame < 96 else 0.0, 0.0, -GRAVITY), held={0: at}))
        tilts.append(float(world.save().surface[0, 0]))
    swing = np.array(tilts[96:])
    before = np.flatnonzero(np.diff(np.sign(swing)))
    turns = before + swing[before] / (swing[before] - swing[before + 1])
    found = np.pi * 96 * (len(turns) - 1) / (turns[-1] - turns[0])
    assert found == pytest.approx(np.sqrt(square(world.model.fill_mass[0] / WATER)), rel=0.03)
    period = round(2.0 * np.pi / found * 96)
    assert np.mean(tilts[96 - period : 96]) == pytest.approx(-2.0 / np.hypot(2.0, GRAVITY), rel=0.1)
    first, late = (np.abs(swing[start : start + period]).max() for start in (period // 2, period // 2 + 2 * period))
    assert late / first == pytest.approx(np.exp(-SLOSH_DAMPING * found * 2 * period / 96), rel=0.03)
