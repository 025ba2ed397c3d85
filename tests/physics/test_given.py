"""Given motion: pinned vertices and moving colliders."""

import numpy as np
import pytest
import shapes
from scenes import BEACH_BALL, add_ball
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            FrameInput(pinned_positions={0: np.zeros((3, 3))}),
            r"ball: pinned positions of shape \(3, 3\); give \(2, 3\)\.",
        ),
        (FrameInput(collider_positions={0: np.zeros((5, 3))}), r"lift: positions of shape \(5, 3\); give \(4, 3\)\."),
        (FrameInput(collider_positions={1: np.zeros((4, 3))}), r"collider: 1; the model has 1, counted from 0\."),
        (FrameInput(collider_positions={0: np.full((4, 3), np.nan)}), r"lift: positions hold NaN or infinity\. Check"),
        (FrameInput(gauge_pressure={0: -2e5}), r"ball: gauge pressure -200000 Pa; give a number of at least -101325\."),
        (FrameInput(gauge_pressure={0: np.nan}), r"ball: gauge pressure nan Pa"),
        (FrameInput(gauge_pressure={7: 0.0}), r"membrane: 7; the model has 1, counted from 0\."),
    ],
)
def test_wrong_input_is_refused_and_changes_nothing(given, sentence):
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 1, centre=(0.0, 0.0, 1.0), pinned=[3, 5])
    builder.add_collider("lift", *shapes.grid(3.0))
    world = World(builder.build(), threads=1, solver="EXPLICIT")
    world.advance_frame()
    before = world.positions(0)
    with pytest.raises(ParameterError, match=sentence):
        world.advance_frame(given)
    assert world.frame == 1 and (world.positions(0) == before).all()
