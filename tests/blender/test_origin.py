"""*Origin Follows*: the object moves with its soft body, and the simulation does not notice."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, add_group, add_object, frame, play
from bpy_seen import fingerprint, shown, this_run, this_session

pytestmark = pytest.mark.usefixtures("falling")


def place(obj: Any) -> np.ndarray:
    graph = bpy.context.evaluated_depsgraph_get()
    return np.array(obj.evaluated_get(graph).matrix_world.translation)


def falling_ball(**settings: Any) -> Any:
    """A turned and scaled ball, off its parent, which falls and moves sideways."""
    ball = add_ball(velocity=(1.0, 0.0, 0.0), **settings)
    ball.rotation_euler, ball.scale = (0.3, 0.2, 0.1), (1.1, 0.9, 1.3)
    return ball


def check(ball: Any, number: int) -> None:
    """The vertices are where they were simulated, and the origin has moved as their mean."""
    cache = this_run().cache
    mean = [cache.positions(0, at).mean(axis=0) for at in (1, number)]
    np.testing.assert_allclose(place(ball), [0.0, 0.0, 5.0] + mean[1] - mean[0], atol=1e-5)
    np.testing.assert_allclose(shown(ball), cache.positions(0, number), atol=1e-5)


@pytest.mark.smoke
def test_the_origin_moves_with_the_body_and_is_given_back() -> None:
    ball = falling_ball()
    camera = add_object("Camera", bpy.data.cameras.new("Camera"))
    camera.constraints.new("COPY_LOCATION").target = ball
    bpy.ops.softpressure.simulate()
    frame(1)
    before = fingerprint(ball)
    ball.softpressure.origin_follows = True
    for number in (10, 4, 1, 7):
        frame(number)
        check(ball, number)
        np.testing.assert_allclose(place(camera), place(ball), atol=1e-6)
    assert np.linalg.norm(place(ball) - [0.0, 0.0, 5.0]) > 0.2
    assert tuple(ball.location) == (0.0, 0.0, 5.0) and not this_session().is_out_of_date(bpy.context.scene)
    ball.softpressure.origin_follows = False
    np.testing.assert_allclose(place(ball), [0.0, 0.0, 5.0], atol=1e-6)
    np.testing.assert_allclose(shown(ball), this_run().cache.positions(0, 7), atol=1e-5)
    bpy.ops.softpressure.remove_body()
    assert not ball.constraints and before


@pytest.mark.parametrize("has_pins", [False, True])
@pytest.mark.parametrize("way", ["play", "simulate"])
def test_the_simulation_is_the_same_wherever_the_origin_is(has_pins: bool, way: str) -> None:
    def run() -> list[np.ndarray]:
        if way == "play":
            play(1, 10)
        else:
            frame(8)
            bpy.ops.softpressure.simulate()
        return [this_run().cache.positions(0, number).copy() for number in range(1, 11)]

    ball = falling_ball()
    if has_pins:
        add_group(ball, "pin_group", [0, 1, 2])
    expected = run()
    ball.softpressure.origin_follows = True
    frame(9)
    this_session().clear()
    np.testing.assert_array_equal(run(), expected)
    transforms = [this_run().cache.transform(0, number) for number in (1, 10)]
    np.testing.assert_array_equal(*transforms)  # its own place, which bakes and point caches are relative to


@pytest.mark.parametrize("target", ["SHAPE_KEYS", "RELATIVE_KEYS"])
def test_a_bake_keeps_the_vertices_and_a_freed_one_follows_again(target: str) -> None:
    ball = falling_ball(origin_follows=True)
    bpy.context.scene.softpressure.key_error = 1e-5
    bpy.ops.softpressure.simulate()
    frame(6)
    assert bpy.ops.softpressure.bake(target=target) == {"FINISHED"}
    for number in (3, 10):
        frame(number)
        if target == "SHAPE_KEYS":
            check(ball, number)
        np.testing.assert_allclose(shown(ball), this_run().cache.positions(0, number), atol=2e-5)
    bpy.ops.softpressure.free_bake()
    for number in (3, 10):
        frame(number)
        check(ball, number)
    assert tuple(ball.location) == (0.0, 0.0, 5.0)


def test_a_bake_leaves_the_cached_frames_as_they_are() -> None:
    falling_ball(origin_follows=True)
    bpy.ops.softpressure.simulate()
    cache = this_run().cache
    before = [cache.transform(0, number).copy() for number in (1, 10)]
    assert bpy.ops.softpressure.bake() == bpy.ops.softpressure.free_bake() == {"FINISHED"}
    np.testing.assert_array_equal([cache.transform(0, number) for number in (1, 10)], before)  # of later bakes, too
