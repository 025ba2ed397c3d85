"""Nothing crosses in the scene of the benchmarks whose mesh is Blender's, and energy only falls."""

from importlib import import_module

import pytest
from crossings import assert_nothing_crosses
from explicit_scene import bench_scenes, bench_world
from scenes import energy

meshes = import_module("softpressure_ext.benchmarks.meshes")


@pytest.mark.parametrize("seed", [1, 2])
def test_suzanne_falls_on_a_floor(tmp_path, monkeypatch, seed):
    meshes.write(tmp_path)
    monkeypatch.setattr(bench_scenes, "MESHES", tmp_path)
    world, scene = bench_world("suzanne", 441, seed)
    start = energy(world)
    for _ in range(scene.frames):
        world.advance_frame()
        assert_nothing_crosses(world)
        assert energy(world) <= start
    assert energy(world) < 0.5 * start  # she came down, and lies
