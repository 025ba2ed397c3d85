"""What people know from the caches of Blender's own physics: Calculate to Frame, the range in the timeline."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, frame, this_run
from softpressure_ext.panels import menus, scene
from softpressure_ext.softpressure.viewport import cached_range

pytestmark = pytest.mark.usefixtures("falling")


def ranges() -> list[tuple[int, int]]:
    return [(first, last) for first, last, _ in cached_range.bars(bpy.context.scene)]


def color() -> Any:
    return cached_range.bars(bpy.context.scene)[-1][2]


def test_calculate_to_frame_ends_there_and_simulate_continues() -> None:
    add_ball()
    bpy.ops.softpressure.simulate()
    whole = this_run().cache
    bpy.ops.softpressure.reset()
    frame(6)
    assert bpy.ops.softpressure.simulate(to_frame=True) == {"FINISHED"}
    first, cache = this_run().world, this_run().cache
    assert cache.last_frame == 6 and bpy.context.scene.frame_current == 6
    assert bpy.ops.softpressure.simulate(to_frame=True) == {"FINISHED"} and cache.last_frame == 6
    bpy.ops.softpressure.simulate()
    assert this_run().world is first and this_run().cache.last_frame == 10
    np.testing.assert_array_equal(this_run().cache.positions(0, 10), whole.positions(0, 10))


@pytest.mark.parametrize("number", [-3, 11])
def test_calculate_to_a_frame_outside_the_range_says_so(number: int) -> None:
    add_ball()
    frame(number)
    with pytest.raises(RuntimeError, match="is outside the range of the simulation, 1 to 10"):
        bpy.ops.softpressure.simulate(to_frame=True)


def test_the_timeline_shows_the_cached_range_and_whether_it_is_out_of_date() -> None:
    assert ranges() == []
    ball = add_ball()
    frame(4)
    bpy.ops.softpressure.simulate(to_frame=True)
    assert ranges() == [(1, 10), (1, 4)]
    valid = color()
    ball.softpressure.mass = 3.0
    assert ranges() == [(1, 10), (1, 4)] and color() != valid
    bpy.ops.softpressure.simulate()
    assert ranges() == [(1, 10), (1, 10)] and color() == valid
    bpy.ops.softpressure.delete_cache()
    assert ranges()[0] == (1, 10) and ranges()[-1][1] < 10


def test_our_buttons_stand_beside_blender_s() -> None:
    add_ball()
    cache = next(panel for panel in scene.SIDEBAR if panel.section == "cache")
    assert {"softpressure.simulate", "ptcache.bake_all"} <= {*drawn(cache)}
    for name in ("PHYSICS_PT_cloth_cache", "PHYSICS_PT_softbody_cache", "SCENE_PT_rigid_body_cache"):
        panel = getattr(bpy.types, name)
        assert menus._draw_cache in panel._dyn_ui_initialize()
