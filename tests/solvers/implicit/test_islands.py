"""Bodies that do not push each other are systems of their own."""

import numpy as np
import pytest
from scenes import Ball, add_ball
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.linear.conjugate_gradient import join_islands
from softpressure_ext.core.options import MethodOptions

SOFT = Ball(0.2, 0.2, 2e3, 2e3)
STIFF = Ball(0.2, 2.0, 2e5, 1e6)


def soft_ball_beside(squashed, frames=6):
    """Where a wobbling ball is after some frames, with a stiff one a metre off that starts out of its shape."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, SOFT, 2, (0.0, 0.0, 0.0))
    add_ball(builder, STIFF, 2, (1.0, 0.0, 0.0), name="stiff")
    world = World(
        builder.build(),
        frame_rate=60.0,
        substeps=4,
        threads=1,
        options=MethodOptions(step_error=0.0),
        solver="IMPLICIT",
    )
    world.set_positions(0, world.positions(0) * [1.05, 1.0, 0.95])
    if squashed:
        stiff = world.positions(1) - [1.0, 0.0, 0.0]
        world.set_positions(1, stiff * [0.7, 1.2, 1.2] + [1.0, 0.0, 0.0])
    for _ in range(frames):
        world.advance_frame()
    return world.positions(0), world.diagnostics().counts


def test_a_stiff_body_elsewhere_changes_nothing():
    """One step length for both would carry its larger forces over: 6 mm in these frames.

    What is left is a last Newton step, which is not taken where the energy of the whole scene hardly falls any more.
    """
    alone, few = soft_ball_beside(squashed=False)
    beside, many = soft_ball_beside(squashed=True)
    assert many.newton_steps > few.newton_steps  # the stiff one takes more
    np.testing.assert_allclose(beside, alone, rtol=0, atol=1e-8)


@pytest.mark.parametrize("pairs", [[(1, 0), (3, 2), (2, 0)], [(0, 3), (2, 3), (1, 0)], [(3, 2), (3, 1), (1, 0)]])
def test_islands_are_connected_components(pairs):
    """Five moving bodies of two points, one that is given; a contact's first and last points belong to its sides."""
    point_body = np.repeat(np.arange(6), 2)
    points = np.array([(2 * a, 0, 0, 2 * b + 1) for a, b in [*pairs, (4, 5), (0, 5), (2, 2)]], np.int32)
    island, enough = np.full(5, -1, np.int32), np.array([1.0, 5.0, 2.0, 0.5, 3.0])
    join_islands(len(points), points, point_body, island, enough)
    np.testing.assert_array_equal(island, [0, 0, 0, 0, 4])
    assert enough[0] == 5.0 and enough[4] == 3.0
