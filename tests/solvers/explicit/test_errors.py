"""Explicit steps refuse runs of too many steps, or that diverge, with a sentence and a remedy."""

import re
from typing import Any

import numpy as np
import pytest
import shapes
from explicit_scene import world_of
from scenes import advance
from softpressure_ext.core import ModelBuilder, SoftPressureError, World

REMEDY = r"\b(give|lower|raise|reduce|increase|choose|use|make|merge|scale|look)\b"
#: A pressure that no number of steps follows, as the input of a frame.
TOO_MUCH: dict[str, Any] = {"gauge_pressure": {0: 1e8}}


def ball(edge: float = 0.0, **changes: float) -> World:
    """A ball of 642 vertices over a floor; `edge` is the length of one of its edges [m], if it is another one."""
    x, triangles = shapes.icosphere(3, 0.2, (0.0, 0.0, 0.25))
    if edge:
        a, b = triangles[0, :2]
        along = x[b] - x[a]
        x[b] = x[a] + edge / np.linalg.norm(along) * along
    options = {"mass": 0.1, "stretch_modulus": 1e5, "gauge_pressure": 2e3} | changes
    builder = ModelBuilder()
    builder.add_membrane("toy", x, triangles, **options)
    builder.add_collider("floor", *shapes.grid(4.0))
    return world_of(builder)


@pytest.mark.parametrize(
    ("changes", "given", "value"),
    [
        ({"gauge_pressure": 1e8}, {}, r"1e\+?08|100000000"),
        ({}, TOO_MUCH, r"1e\+?08|100000000"),
        ({"stretch_modulus": 1e12}, {}, r"1e\+?12|1000000000000"),
        ({"mass": 1e-6}, {}, r"1e-0?6|0\.000001"),
        ({"edge": 1e-6}, {}, r"\b1(\.0+)?e-0?6|9\.9+\d*e-0?7|0\.000001"),
    ],
    ids=["pressure", "keyed pressure", "stiffness", "mass", "edge"],
)
def test_runs_of_too_many_steps_are_refused(changes: dict[str, float], given: dict[str, Any], value: str) -> None:
    with pytest.raises(SoftPressureError) as refused:
        advance(ball(**changes), 3, **given)
    said = str(refused.value)
    assert said.startswith("toy: ") and said.endswith("."), said
    assert re.search(value, said), f"the value is not in: {said}"
    assert re.search(REMEDY, said, re.IGNORECASE), f"no remedy in: {said}"


def test_a_refused_pressure_leaves_the_world_as_it_was() -> None:
    world = ball()
    world.advance_frame()
    before, again = world.save(), ball()
    again.load(before)
    with pytest.raises(SoftPressureError):
        advance(world, 3, **TOO_MUCH)
    world.load(before)
    advance(world, 1, gauge_pressure={0: 2e3})
    again.advance_frame()
    np.testing.assert_array_equal(world.positions(0), again.positions(0))
