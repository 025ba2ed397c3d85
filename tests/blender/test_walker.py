"""A walking figure with a soft belly, a ball and a floor: a rig drives a body by the weights of its goals."""

import itertools
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import frame
from bpy_seen import shown, this_session
from softpressure_ext.sample_blends import samples
from softpressure_ext.softpressure.scene_io import mesh_io

#: The ball is against the belly, and the last foot on the floor.
LAST = 56


@pytest.fixture
def walked() -> tuple[Any, Any, Any]:
    """The goal weights of each vertex; where the bones have the vertices, and where they are, in each frame [m]."""
    scene = samples.build("walker")
    figure = bpy.data.objects["Figure"]
    vertices, weights = mesh_io.group_weights(figure, "Goal")
    np.testing.assert_array_equal(vertices, np.arange(len(figure.data.vertices)))
    figure.modifiers["Subdivision"].show_viewport = False
    posed, simulated = [], []
    scene.frame_end = LAST
    figure.softpressure.kind = "NONE"
    for number in range(1, LAST + 1):
        frame(number)
        posed.append(shown(figure))
    figure.softpressure.kind = "SOFT"
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    for number in range(1, LAST + 1):
        frame(number)
        simulated.append(shown(figure))
    return weights, np.array(posed), np.array(simulated)


def on_springs(path: Any, square: float, damping: float, count: int = 200) -> Any:
    """Where a mass on springs to a moving point is in each frame, shape (n, 3); by small symplectic Euler steps."""
    step = 1.0 / (24.0 * count)
    x, v, found = path[0].copy(), np.zeros(3), [path[0].copy()]
    for before, after in itertools.pairwise(path):
        speed = (after - before) * 24.0
        for k in range(count):
            goal = before + (after - before) * (k + 1) / count
            v += step * (square * (goal - x) - damping * (v - speed) + (0.0, 0.0, -9.81))
            x += step * v
        found.append(x.copy())
    return np.array(found)


def test_the_belly_follows_the_bones_and_jiggles_and_nothing_crosses(walked: Any) -> None:
    weights, posed, simulated = walked
    figure, ball = bpy.data.objects["Figure"], bpy.data.objects["Ball"]
    away = np.linalg.norm(simulated - posed, axis=2)
    assert away[:, weights >= 1.0].max() < 1e-5
    # until the ball comes, the belly as a whole is nearer to its bones than masses on its springs alone would be
    settings = figure.softpressure
    square = settings.goal_stiffness * weights.min() / settings.mass  # of the angular frequency [1/s2]
    belly = weights < 0.3
    middle, offset = posed[:40, belly].mean(axis=1), (simulated - posed)[:40, belly].mean(axis=1)
    alone = on_springs(middle, square, settings.goal_damping) - middle
    assert 0.01 < np.linalg.norm(offset, axis=1).max() < np.linalg.norm(alone, axis=1).max() < 0.15
    height = (simulated - posed)[:40, belly, 2].mean(axis=1)
    assert height.max() - height.min() > 0.01  # it jiggles by more than a centimetre
    # nothing is below the floor, the ball was met and pushed back, no surface crosses another
    assert simulated[:, :, 2].min() > 0.0
    assert shown(ball)[:, 2].min() > 0.0
    session = this_session()
    assert session.refusals.error == "" and not session.refusals.of_objects
    session.run.world._untangle()  # looks for crossings anew
    assert session.run.world.crossing_triangle_count == 0
