"""The Blender side with the real solver: the defaults give toys; playing, Simulate and baking agree."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_floor, add_primitive, frame, play
from bpy_seen import shown, this_run
from softpressure_ext.core.topology import signed_volume


def volume(obj: Any) -> float:
    obj.data.calc_loop_triangles()
    triangles = np.array([t.vertices[:] for t in obj.data.loop_triangles], np.int32)
    return signed_volume(shown(obj), triangles)


def test_a_sphere_with_the_defaults_is_a_lively_beach_ball() -> None:
    scene = bpy.context.scene
    scene.frame_end = 40
    add_floor()
    ball = add_primitive("uv_sphere", segments=16, ring_count=8, location=(0, 0, 2))
    play(1, 1)
    whole = volume(ball)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    lowest, center, volumes = [], [], []
    for number in range(1, 41):
        frame(number)
        positions = shown(ball)
        lowest.append(positions[:, 2].min())
        center.append(positions[:, 2].mean())
        volumes.append(volume(ball) / whole)
    assert min(lowest) > -1e-3  # never through the floor
    hit = int(np.argmin(center[:20]))
    assert 8 <= hit <= 16  # falls 1 m in 0.45 s, 11 frames
    assert max(center[hit:]) - center[hit] > 0.4  # rebounds
    assert min(volumes) > 0.9 and max(volumes) < 1.1  # holds its gas


@pytest.mark.smoke
def test_playing_and_simulating_give_the_same_bits_and_so_does_the_bake() -> None:
    scene = bpy.context.scene
    scene.frame_end = 16
    add_floor()
    ball = add_primitive("ico_sphere", subdivisions=2, radius=0.5, location=(0, 0, 0.8))
    play(1, 16)
    played = [this_run().cache.positions(0, number).copy() for number in range(1, 17)]
    bpy.ops.softpressure.reset()
    bpy.ops.softpressure.simulate()
    simulated = [this_run().cache.positions(0, number) for number in range(1, 17)]
    np.testing.assert_array_equal(simulated, played)
    bpy.ops.softpressure.bake()
    for number in range(1, 17):
        frame(number)
        np.testing.assert_allclose(shown(ball), simulated[number - 1], atol=2e-7)  # float32 at 1 m
