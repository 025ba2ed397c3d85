"""Patches that keep their shape are not searched for self-contact, and patches tangled from the start have none."""

from typing import Any

import numpy as np
import pytest
import shapes
from contact_reference import closest_on_triangle, edge_distance
from explicit_scene import world_of
from numpy.typing import NDArray
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.solvers.explicit.shape import LEAST_SHARE, fit_shape, keeps_apart

FloatArray = NDArray[np.float64]
#: Half of an epoch [s].
HALF = 5e-4


def distance(contact: Any, P: int, Q: int, x: FloatArray) -> float:
    """Least distance of what two patches own and what shares no vertex with it, at positions x [m]."""
    patches, least = contact.boxes.patches, np.inf
    triangles, edges = patches.triangle.reshape(-1, 3), patches.edge.reshape(-1, 2)
    for one, other in ((P, Q), (Q, P)):
        own = np.arange(patches.vertex_start[one], patches.vertex_end[one])
        faces = triangles[slice(*patches.triangle_start[other : other + 2])]
        i, t = (index.ravel() for index in np.meshgrid(own, np.arange(len(faces)), indexing="ij"))
        apart = ~(faces[t] == i[:, None]).any(axis=1)
        points, corners = x[i[apart]], np.moveaxis(x[faces[t[apart]]], -2, 0)
        away = np.linalg.norm(points - closest_on_triangle(points, *corners), axis=-1)
        least = min(least, away.min(initial=np.inf))
    mine, others = (edges[slice(*patches.edge_start[patch : patch + 2])] for patch in (P, Q))
    e, f = (index.ravel() for index in np.meshgrid(np.arange(len(mine)), np.arange(len(others)), indexing="ij"))
    apart = ~(mine[e][:, :, None] == others[f][:, None, :]).any(axis=(1, 2))
    ends = [x[mine[e[apart], k]] for k in (0, 1)] + [x[others[f[apart], k]] for k in (0, 1)]
    return float(min(least, edge_distance(*ends).min(initial=np.inf)))


def contact_of(positions: FloatArray, triangles: NDArray[np.int32]) -> Any:
    """The contact set of a skin that looks for contact with itself."""
    builder = ModelBuilder()
    builder.add_membrane("skin", positions, triangles, gauge_pressure=500.0, self_collision=True)
    solver: Any = world_of(builder)._solver
    return solver.space.contact


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("noise", "some"), [(0.01, True), (0.05, True), (0.3, False), (1.0, False)])
def test_skipped_patches_keep_their_distance(noise: float, some: bool, seed: int) -> None:
    """Turned, stretched, disturbed and on its way: `noise` in edges."""
    contact = contact_of(*shapes.icosphere(3))
    points, boxes, random = contact.points, contact.boxes, np.random.default_rng(seed)
    kept, edge = contact.bodies.own_thickness[0], contact.run.scale[0, 1]
    rest = boxes.shape.rest.reshape(-1, 4)
    turn = shapes.rotation(random.normal(size=3), 2.0) @ np.diag([1.1, 0.95, 1.0])
    start, flight = points.start.reshape(-1, 4), points.flight.reshape(-1, 4)
    start[:, :3] = rest[:, :3] @ turn.T + 0.1 * noise * edge * random.normal(size=(len(rest), 3))
    start[:, 2] += noise * np.sin(3.0 * start[:, 0])
    flight[:, :3] = noise * edge / HALF * random.normal(size=3) + 0.1 * noise * edge / HALF * random.normal(
        size=(len(rest), 3)
    )
    points.slack[:] = 0.02 * edge
    fit_shape(0, len(boxes.slack), HALF, points, boxes, kept)
    shape = boxes.shape
    pairs = [(P, int(Q)) for P in range(len(shape.start) - 1) for Q in shape.other[shape.start[P] : shape.start[P + 1]]]
    passed = [pair for pair in pairs if keeps_apart(*pair, HALF, points, boxes)]
    assert not some or len(passed) > 0.7 * len(pairs)
    for pair in passed[::3]:
        for time in (0.0, HALF, 2.0 * HALF):
            x = (start + time * flight)[:, :3]
            assert distance(contact, *pair, x) > kept
            away = random.normal(size=x.shape)
            x = x + 0.02 * edge * away / np.linalg.norm(away, axis=1, keepdims=True)
            assert distance(contact, *pair, x) > LEAST_SHARE * kept


def test_folded_patches_are_searched() -> None:
    """The proof does not hold for a shape that is gone: every pair with a point that was moved far is looked at."""
    contact = contact_of(*shapes.icosphere(3))
    points, boxes = contact.points, contact.boxes
    rest, start = boxes.shape.rest.reshape(-1, 4), points.start.reshape(-1, 4)
    start[:] = rest
    start[:, 2] = np.where(start[:, 2] < 0.0, -0.8 * start[:, 2], start[:, 2])  # the lower half lies in the upper one
    points.flight[:] = points.slack[:] = 0.0
    kept = contact.bodies.own_thickness[0]
    fit_shape(0, len(boxes.slack), HALF, points, boxes, kept)
    patches, shape, folded = boxes.patches, boxes.shape, 0
    for P in range(len(shape.start) - 1):
        for Q in shape.other[shape.start[P] : shape.start[P + 1]].tolist():
            if distance(contact, P, Q, start[:, :3]) <= kept:
                assert not keeps_apart(P, Q, HALF, points, boxes)
                folded += 1
    assert folded > 5 and len(patches.body) > folded
