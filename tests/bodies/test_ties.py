"""Threads inside a skin keep its sides together."""

import numpy as np
import pytest
import shapes
from softpressure_ext.core import ModelBuilder, ParameterError, World

CELLS = 8


def mattress():
    """2 x 2 x 0.5 m, and its vertices at every second crossing of the top and the bottom."""
    x, triangles = shapes.box(2.0, CELLS)
    places = np.round((x[:, :2] + 1.0) * CELLS / 2.0).astype(int)
    inner = (np.abs(x[:, 2]) > 0.99) & (places % 2 == 0).all(axis=1) & (np.abs(x[:, :2]) < 0.9).all(axis=1)
    return x * [1.0, 1.0, 0.25], triangles, np.flatnonzero(inner)


def world_of(*, tied):
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles, chosen = mattress()
    builder.add_membrane(
        "mattress", x, triangles, mass=2.0, gauge_pressure=2e3, stretch_modulus=2e4, bend_modulus=0.01, damping=5.0,
        pressure_at="REST", drawn_shape="INFLATED",
    )  # fmt: skip
    count = builder.tie(0, chosen) if tied else 0
    return World(builder.build(), threads=1), chosen, count


def test_each_tie_joins_the_vertex_below():
    world, chosen, count = world_of(tied=True)
    assert count == len(chosen) // 2
    model = world.model
    surface = {*map(tuple, np.sort(model.surfaces.edges, axis=1).tolist())}
    ties = np.array([edge for edge in np.sort(model.edges.points, axis=1).tolist() if tuple(edge) not in surface])
    assert len(ties) == count
    way = np.abs(model.rest_positions[ties[:, 0]] - model.rest_positions[ties[:, 1]])
    assert way == pytest.approx(np.tile([0.0, 0.0, 0.5], (count, 1)), abs=1e-9)


def test_a_tufted_mattress_stays_flat():
    heights = []
    for tied in (False, True):
        world, chosen, _ = world_of(tied=tied)
        for _ in range(30):
            world.advance_frame()
        z = world.positions(0)[:, 2]
        heights.append(float(np.ptp(z[chosen])))
        assert world.diagnostics().bodies[0].gauge_pressure == pytest.approx(2e3, rel=0.02)
    assert heights[0] > 0.9  # it swells to a pillow
    assert heights[1] < 0.6


def test_vertices_of_one_side_are_refused():
    builder = ModelBuilder()
    x, triangles, chosen = mattress()
    builder.add_membrane("mattress", x, triangles)
    with pytest.raises(ParameterError, match="Paint both sides"):
        builder.tie(0, chosen[x[chosen, 2] > 0.0])
