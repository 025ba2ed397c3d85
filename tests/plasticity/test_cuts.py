"""Sharp bodies cut skins that they press, and tear strains change in time."""

import numpy as np
import pytest
import shapes
from scenes import advance
from softpressure_ext.core import FrameInput, ModelBuilder, World

#: A balloon: strained by 0.15, far below its tear strain.
BALLOON = {
    "mass": 0.05, "gauge_pressure": 3e3, "stretch_modulus": 2e3, "pressure_at": "REST", "drawn_shape": "INFLATED",
    "damping": 2.0, "self_collision": True,
}  # fmt: skip


def needle(tip=(0.0, 0.0, 0.0)):
    """A pyramid of 0.2 m that points downwards."""
    x = np.array([(0, 0, 0), (0.01, 0.01, 0.2), (-0.01, 0.01, 0.2), (-0.01, -0.01, 0.2), (0.01, -0.01, 0.2)])
    faces = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4), (1, 2, 3), (1, 3, 4)]
    return x + tip, np.array(faces)


def world_of(*, sharp, tear_strain=0.5, gap=0.01):
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.icosphere(3, 0.2)
    builder.add_membrane("balloon", x, triangles, tear_strain=tear_strain, **BALLOON)
    tip = (0.0, 0.0, float(x[:, 2].max()) + gap)
    builder.add_collider("needle", *needle(tip), sharp=sharp)
    return World(builder.build(), threads=1), np.array(tip)


def press(world, tip, frames=24):
    """Move the needle down by 0.1 m; returns the gauge pressure at the end."""
    for frame in range(1, frames + 1):
        down = [0.0, 0.0, -0.1 * frame / frames]
        world.advance_frame(FrameInput(collider_positions={0: needle(tip + down)[0]}))
    return world.diagnostics().bodies[0].gauge_pressure


@pytest.mark.parametrize("tear_strain", [0.5, 0.0])
def test_a_needle_pops_a_balloon_only_if_it_is_sharp(tear_strain):
    world, tip = world_of(sharp=False, tear_strain=tear_strain)
    assert press(world, tip) > 2.9e3
    assert not world.torn_triangles(0).any()
    world, tip = world_of(sharp=True, tear_strain=tear_strain)
    assert press(world, tip) < 600.0
    assert world.torn_triangles(0).any()


def test_a_sharp_body_that_does_not_touch_cuts_nothing():
    world, _ = world_of(sharp=True)
    advance(world, 4)
    assert not world.torn_triangles(0).any()
