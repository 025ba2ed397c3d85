"""Time Stretching and Speed: the time of the simulation is that of the scene's animation, scaled."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import FallingWorld, add_ball, frame, interpolate, key, select
from bpy_seen import shown, state_text

pytestmark = pytest.mark.usefixtures("falling")


def stretch(old: int, new: int) -> None:
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = old, new


def simulate() -> None:
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}


def heights(obj: Any) -> list[float]:
    """Mean heights at all frames and between two of them."""
    found = []
    for number, subframe in [*((number, 0.0) for number in range(1, 11)), (5, 0.5)]:
        frame(number, subframe)
        found.append(float(shown(obj)[:, 2].mean()))
    return found


@pytest.mark.smoke
def test_stretched_time_is_the_time_of_the_simulation() -> None:
    ball = add_ball()
    keyed = add_ball("Keyed", location=(3, 0, 0), kind=None)
    key(keyed, "location", (0, 0.0), (100, 100.0), index=2)
    interpolate(keyed)
    select(keyed)
    assert bpy.ops.softpressure.add_body(kind="COLLIDER") == {"FINISHED"}
    bpy.ops.object.effector_add(type="FORCE")
    field = bpy.context.object.field
    key(field, "strength", (0, 0.0), (100, 100.0))
    interpolate(bpy.context.object)
    stretch(100, 200)
    simulate()
    world = FallingWorld.made[-1]
    assert world.frame_rate == 48.0
    first, last = (world.given[number].collider_positions[0][:, 2].mean() for number in (0, 8))
    assert last - first == pytest.approx(4.0)  # what the solver is given of frames 2 and 10
    pushes = [abs(world.given[number].fields[0].strength) for number in (0, 8)]
    assert pushes[1] - pushes[0] == pytest.approx(4.0)
    frame(1)
    start, keyed_start = shown(ball)[:, 2].mean(), keyed.matrix_world[2][3]
    frame(9)
    assert keyed.matrix_world[2][3] - keyed_start == pytest.approx(4.0)  # half of eight frames
    fall = 9.81 * 8 * 9 / 2 / 48.0**2
    assert start - shown(ball)[:, 2].mean() == pytest.approx(fall, rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "target"), [("SOFT", "SHAPE_KEYS"), ("SOFT", "RELATIVE_KEYS"), ("RIGID", "SHAPE_KEYS")]
)
def test_a_bake_plays_what_the_preview_shows_in_stretched_time(kind: str, target: str) -> None:
    obj = add_ball(kind=kind)
    stretch(100, 300)
    simulate()
    before = heights(obj)
    assert before[0] > before[4] > before[9]
    assert bpy.ops.softpressure.bake(target=target) == {"FINISHED"}
    np.testing.assert_allclose(heights(obj), before, atol=2e-4 if target == "RELATIVE_KEYS" else 1e-5)


@pytest.mark.parametrize(("speed", "rate"), [(0.5, 48.0), (1.0, 24.0), (10.0, 2.4)])
def test_speed_scales_the_time_of_the_simulation(speed: float, rate: float) -> None:
    add_ball()
    bpy.context.scene.softpressure.speed = speed
    simulate()
    assert FallingWorld.made[-1].frame_rate == pytest.approx(rate)


@pytest.mark.parametrize("change", [lambda: stretch(100, 200), lambda: stretch(50, 100)])
def test_other_time_makes_the_cache_out_of_date(change: Any) -> None:
    add_ball()
    simulate()
    assert "out of date" not in state_text().lower()
    stretch(200, 200)  # the same time
    assert "out of date" not in state_text().lower()
    change()
    assert "out of date" in state_text().lower()
    stretch(100, 100)
    assert "out of date" not in state_text().lower()
    bpy.context.scene.softpressure.speed = 2.0
    assert "out of date" in state_text().lower()
