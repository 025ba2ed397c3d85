"""Given motion: pinned vertices and moving colliders."""

import numpy as np
import pytest
import shapes
from scenes import AMBIENT, BEACH_BALL, LIVELY, add_ball, gas_law_error
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World
from validation import validated


def test_a_plate_presses_a_ball_to_half_its_height():
    radius = BEACH_BALL.radius
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, centre=(0.0, 0.0, radius + 0.005), **LIVELY)
    builder.add_collider("floor", *shapes.grid(3.0))
    plate, triangles = shapes.grid(3.0, 4, 2 * radius + 0.03)
    upper = builder.add_collider("plate", plate, triangles)
    world = World(builder.build(), frame_rate=24.0, substeps=10, threads=1, solver="EXPLICIT")
    rest, gas = world.diagnostics().bodies[0].volume, float(world.save().gas[0])
    for frame in range(1, 49):
        down = plate - [0.0, 0.0, (radius + 0.03) * min(frame / 24.0, 1.0)]
        world.advance_frame(FrameInput(collider_positions={upper: down}))
        height = world.positions(0)[:, 2]
        assert height.min() > 0.0 and height.max() < down[0, 2]
        validated(
            "(p + pa) V / nRT - 1 of a ball pressed to half its height", room="solvers/explicit",
            measured=gas_law_error(world, gas), expected=0.0, abs=1e-12, source="ideal gas", reason="rounding",
        )  # fmt: skip
    found = world.diagnostics().bodies[0]
    assert np.ptp(height) == pytest.approx(radius, rel=0.05)  # less the gaps that the thickness keeps
    # Between plates it bulges: a skin of 2e4 N/m gives way more than the gas, whose pressure rises all the same.
    assert found.gauge_pressure > BEACH_BALL.gauge_pressure
    assert found.volume < rest and (found.gauge_pressure + AMBIENT) * found.volume == pytest.approx(gas)
    assert np.abs(np.ptp(world.positions(0), axis=0)[:2] - 2 * radius).min() > 0.1 * radius


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
