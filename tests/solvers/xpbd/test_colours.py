"""The order in which XPBD projects constraints."""

import numpy as np
import pytest
import shapes
from scenes import BEACH_BALL, add_ball
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.solvers.xpbd import colours


@pytest.fixture(scope="module")
def model():
    """Two balls of 2 562 and 162 vertices and a torus: several blocks, and vertices of many valences."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 4, bend_modulus=1e-3)
    add_ball(builder, BEACH_BALL, 2, (1.0, 0.0, 0.0), bend_modulus=1e-3)
    builder.add_membrane("ring", *shapes.torus(0.3, 0.1, centre=(2.0, 0.0, 0.0)), bend_modulus=1e-3)
    return builder.build()


def constraints(model, kind):
    """Vertices of each constraint, shape (count, 2 to 4)."""
    skin = model.surfaces.triangles[: model.surfaces.body_triangle_start[model.membrane_count]]
    return {"edges": model.edges.points, "hinges": model.hinges.points, "triangles": skin}[kind]


def block_starts(model):
    return colours.vertex_blocks(model.body_point_start[: model.membrane_count + 1])


def scheduled(model, points):
    return colours.schedule(points, block_starts(model), model.vertex_count)


@pytest.mark.parametrize("kind", ["edges", "hinges", "triangles"])
def test_no_two_constraints_of_a_colour_share_a_vertex(model, kind):
    points = constraints(model, kind)
    colour = colours.colours_of(points, model.vertex_count)
    for number in range(colour.max() + 1):
        vertices = points[colour == number].ravel()
        assert len(vertices) > 0 and len(np.unique(vertices)) == len(vertices)
    # greedy: what has a colour meets all lower ones, so the count is at most the number of neighbours plus one
    uses = np.bincount(points.ravel())
    assert colour.max() <= (uses[points] - 1).sum(axis=1).max()


@pytest.mark.parametrize("kind", ["edges", "hinges", "triangles"])
def test_each_block_has_a_task_and_the_borders_have_the_last(model, kind):
    points = constraints(model, kind)
    order = scheduled(model, points)
    assert sorted(order.order.tolist()) == list(range(len(points)))  # each once
    block_start = block_starts(model)
    assert len(order.task_start) == len(block_start) + 1
    assert order.task_start[0] == 0 and order.task_start[-1] == len(points)
    block = np.searchsorted(block_start, points[order.order], side="right") - 1
    for task, (first, last) in enumerate(zip(order.task_start[:-1], order.task_start[1:], strict=True)):
        assert last > first
        inside = (block[first:last] == block[first:last, :1]).all(axis=1)
        if task < len(block_start) - 1:
            assert inside.all() and (block[first:last] == task).all()
        else:
            assert not inside.any()


@pytest.mark.parametrize("kind", ["edges", "hinges"])
def test_fours_are_the_tasks_in_order_and_share_no_vertex(model, kind):
    points = constraints(model, kind)
    order = scheduled(model, points)
    entry, task_start = colours.fours(order)
    assert task_start[-1] == len(entry) < len(points) / 3  # most are full
    for task in range(len(order.task_start) - 1):
        own = entry[task_start[task] : task_start[task + 1]]
        kept = [number for four in own.tolist() for number in dict.fromkeys(four)]  # the first one fills up
        assert np.array_equal(kept, order.order[order.task_start[task] : order.task_start[task + 1]])
    for four in entry:
        vertices = points[np.unique(four)].ravel()
        assert len(vertices) > 0 and len(np.unique(vertices)) == len(vertices)
