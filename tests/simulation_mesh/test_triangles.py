"""One ball in three triangulations and at two details: what it does does not depend on its triangles."""

from functools import cache

import numpy as np
import pytest
import shapes
from scenes import advance
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.simulation_mesh.even import even_mesh

#: Vertices of the scene's details.
NORMAL, FINE = 1_000, 4_000


def scattered(count):
    """A ball of random vertices."""
    x = np.random.default_rng(3).normal(size=(count, 3))
    return shapes.hull(x / np.linalg.norm(x, axis=1)[:, None])


DRAWN = {"icosphere": shapes.icosphere(4), "UV sphere": shapes.uv_sphere(32, 64), "random": scattered(3_000)}


def world_of(name, count, height, speed, mass=1.0, damping=1.0):
    """The ball as even mesh with the settings of a new body, this high over a floor [m] and with a speed along x."""
    mesh, builder = even_mesh(*DRAWN[name], count), ModelBuilder()
    builder.add_membrane(
        "ball", mesh.positions + (0.0, 0.0, 1.0 + height), mesh.triangles, mass=mass, stretch_modulus=2e4,
        bend_modulus=0.01, gauge_pressure=2e3, damping=damping, bounciness=0.5, friction=0.5, self_collision=True,
        velocity=(speed, 0.0, 0.0),
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(40.0, 2))
    return World(builder.build(), frame_rate=24.0)


@cache
def bounce(name, count):
    """Restitution of a drop of 0.5 m [1], and the volume over that of the drawn shape [1]."""
    world, heights = world_of(name, count, 0.5, 0.0), []
    for _ in range(20):  # it turns in the eighth, and is highest in the fourteenth
        world.advance_frame()
        heights.append(world.positions(0)[:, 2].mean())
    lowest = int(np.argmin(heights[:16]))
    return np.sqrt((max(heights[lowest:]) - 1.0) / 0.5), world.diagnostics().bodies[0].volume_ratio


def test_rebound_and_volume_do_not_depend_on_triangles():
    found = {name: bounce(name, NORMAL) for name in DRAWN}
    rebound, volume = np.array(list(found.values())).T
    assert rebound.min() > 0.4
    assert rebound.max() < 1.03 * rebound.min() and volume.max() < 1.005 * volume.min(), found


def test_rebound_hardly_depends_on_detail():
    assert bounce("icosphere", FINE)[0] == pytest.approx(bounce("icosphere", NORMAL)[0], rel=0.05)


def test_sag_hardly_depends_on_detail():
    """A ball that its weight flattens by a thirtieth: a patch of twice the edges of NORMAL."""
    sags = []
    for count in (NORMAL, FINE):
        world = world_of("icosphere", count, 0.0, 0.0, mass=40.0, damping=4.0)
        advance(world, 72)
        assert np.abs(world.velocities(0)).max() < 0.02
        sags.append(2.0 - np.ptp(world.positions(0)[:, 2]))
    assert sags[1] > 0.06 and sags[0] == pytest.approx(sags[1], rel=0.05), sags


def test_the_speed_of_rolling_does_not_depend_on_triangles():
    speeds = []
    for name in DRAWN:
        world = world_of(name, NORMAL, 0.02, 2.0)
        advance(world, 24)
        speeds.append(float(world.velocities(0)[:, 0].mean()))
    assert max(speeds) < 1.03 * min(speeds) and min(speeds) > 1.0, speeds
