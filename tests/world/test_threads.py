"""How many threads a run takes, and that those of explicit steps share the work and change no bit."""

import numpy as np
import pytest
from explicit_scene import bench_world
from rigid_scene import block
from softpressure_ext.core import ModelBuilder, World, team
from softpressure_ext.core.threads import ALL_FROM, available_threads, thread_count

HAS_TWO = pytest.mark.skipif(available_threads() < 2, reason="one core")


@pytest.mark.parametrize("method", sorted(ALL_FROM))
def test_large_scenes_take_all_threads_and_small_ones_one(method: str) -> None:
    assert thread_count(method, ALL_FROM[method]) == available_threads()
    assert thread_count(method, ALL_FROM[method] - 1) == 1


def test_methods_whose_steps_are_not_shared_take_one() -> None:
    assert thread_count("XPBD", 10**6) == thread_count("RK4", 10**6) == 1


def test_a_number_that_is_given_is_taken_as_far_as_there_are_threads() -> None:
    assert thread_count("EXPLICIT", 10, 1) == 1
    assert thread_count("EXPLICIT", 10**6, 1) == 1
    assert thread_count("EXPLICIT", 10, 10**6) == available_threads()


def pair() -> World:
    return bench_world("pair", 2562, 1)[0]


def jelly() -> World:
    builder = ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_solid("jelly", *block((0.4, 0.4, 0.4), (0, 0, 0.25)), cell_size=0.05, mass=5.0, modulus=2e4)
    builder.add_collider("floor", *block((2.0, 2.0, 0.1), (0, 0, -0.05)))
    return World(builder.build(), frame_rate=24.0, substeps=4, solver="EXPLICIT")


@HAS_TWO
@pytest.mark.parametrize("scene", [pair, jelly])
def test_explicit_steps_have_the_same_bits_with_two_threads(scene) -> None:
    model, found = scene().model, []
    for threads in (1, 2):
        world = World(model, frame_rate=24.0, substeps=4, threads=threads, solver="EXPLICIT")
        frames = []
        for _ in range(8):
            world.advance_frame()
            frames.append(world.save().positions)
        found.append(np.array(frames))
        assert world.diagnostics().counts.stages > 100
    np.testing.assert_array_equal(*found)


@HAS_TWO
def test_a_second_thread_does_its_part_of_explicit_steps() -> None:
    """Within some frames, however busy the machine is."""
    world = World(pair().model, frame_rate=24.0, threads=2, solver="EXPLICIT")
    words = world._solver._scene.contact.run.team
    for _ in range(50):
        world.advance_frame()
        if words[2 * team._LINE_WORDS + team._DONE] > 0:
            return
    raise AssertionError
