"""Bodies that cannot be at rest as drawn start softly, and nothing else changes."""

import numpy as np
import pytest
import shapes
from scenes import advance, played
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.inflation.start_loads import RISE_TIME, loads_at_start, settling_rates

DEFAULT = {
    "mass": 1.0, "gauge_pressure": 2e3, "stretch_modulus": 2e4, "bend_modulus": 0.01, "damping": 2.0,
    "pressure_at": "REST",
}  # fmt: skip


def world_of(mesh, drawn="INFLATED", velocity=(0.0, 0.0, 0.0), **options):
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_membrane("body", *mesh, drawn_shape=drawn, velocity=velocity, **{**DEFAULT, **options})
    return World(builder.build(), threads=1)


def motion(world):
    """Momentum, angular momentum about the origin, kinetic energy."""
    x, v, mass = world._state.positions, world._state.velocities, world._solver.vertex_mass[:, None]
    return (mass * v).sum(axis=0), (mass * np.cross(x, v)).sum(axis=0), 0.5 * float((mass * v * v).sum())


@pytest.mark.parametrize("drawn", ["INFLATED", "SLACK"])
@pytest.mark.parametrize("size", [0.5, 2.0])
def test_a_cube_does_not_jump_at_the_start(drawn, size):
    """Its faces bulge within half a second; all at once they got 36 J at 1 m and 577 J at 2 m."""
    world = world_of(shapes.box(size, 6), drawn)
    way, before, energy = 0.0, world.positions(0), 0.0
    for _ in played(world, 24):
        now = world.positions(0)
        way, before = max(way, float(np.linalg.norm(now - before, axis=1).max())), now
        energy = max(energy, motion(world)[2])
    assert energy < 1.0
    assert way < 0.03 * size
    assert world.diagnostics().bodies[0].gauge_pressure == pytest.approx(2e3, rel=0.02)
    assert np.abs(now).max() > 0.53 * size  # it has bulged


def test_a_cube_does_not_jump_beside_a_fast_jelly():
    """Frames are several runs of steps then, each of which added its loads to those of the one before: 20 J."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_membrane("cube", *shapes.box(1.0, 6), drawn_shape="INFLATED", **DEFAULT)
    jelly, triangles = shapes.box(0.5, 2)
    builder.add_solid(
        "jelly", jelly + [0.0, 5.0, 0.0], triangles, cell_size=0.25, mass=1.0, modulus=2e4, velocity=(100.0, 0.0, 0.0)
    )
    world = World(builder.build(), threads=1)
    energy = 0.0
    for _ in played(world, 12):
        energy = max(energy, world.diagnostics().bodies[0].kinetic_energy)
    assert energy < 1.0


def test_fading_loads_keep_momentum_of_a_cube_that_spins():
    world = world_of(shapes.box(1.0, 6))
    state = world.save()
    state.velocities[:] = np.cross([0.0, 3.0, 5.0], state.positions) + [1.0, 0.0, 2.0]
    world.load(state)
    before = motion(world)
    advance(world, round(24 * RISE_TIME))
    after = motion(world)
    assert after[0] == pytest.approx(before[0], abs=1e-9)
    # a load keeps its direction within a tick
    assert after[1] == pytest.approx(before[1], abs=0.01 * np.linalg.norm(before[1]))


def test_a_body_at_rest_as_drawn_has_no_loads():
    assert not loads_at_start(world_of(shapes.icosphere(2, 0.5)).model)


def test_a_body_that_tears_at_the_start_flies_apart_with_no_more_than_the_energy_of_its_gas():
    """Its loads went on pushing on what was torn off: the shreds of this cube got some kJ."""
    gas, frames = 2e3 * 0.5**3, 6
    world = world_of(shapes.box(0.5, 6), tear_strain=0.002, stretch_modulus=2e3)
    advance(world, frames)
    assert world.torn_triangles(0, world.model.surfaces.triangles).any()
    assert motion(world)[2] < gas


def test_what_no_gas_pushes_is_not_damped_at_the_start():
    model = world_of(shapes.box(1.0, 6), gauge_pressure=0.0).model
    assert not settling_rates(model, loads_at_start(model)).any()
