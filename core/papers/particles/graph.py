"""Features of the skins, vertices, edges and triangles, as places on which a particle can rest (Martin 2009, 5.2.1)."""

from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray, IntArray
from ...latest import keep_latest
from ...model import Model


class FeatureGraph(NamedTuple):
    """Features of all membranes, body by body: of each its vertices, then its edges, then its triangles.

    A particle goes from a vertex to the edges and triangles at it, from an edge to its ends and its triangles, and
    from a triangle to its corners and edges.
    """

    body_start: IntArray  # first feature of each membrane, shape (membrane_count + 1,)
    corners: IntArray  # points of each feature, the last one repeated, shape (feature_count, 3)
    order: IntArray  # number of its points: 1, 2, 3, shape (feature_count,)
    neighbour_start: IntArray  # CSR over features, shape (feature_count + 1,)
    neighbour: IntArray
    vertex_feature: IntArray  # feature of each vertex, -1 of those inside a lattice, shape (vertex_count,)


def particle_places(model: Model, x: FloatArray, features: IntArray) -> FloatArray:
    """Where particles on features are at x [m]: the means of their points, shape (particle_count, 3)."""
    graph = feature_graph(model)
    order, points = graph.order[features], x[graph.corners[features]]
    counts = np.arange(3) < order[:, None]  # the last point is repeated
    places: FloatArray = np.einsum("fk,fki->fi", counts / order[:, None], points)
    return places


@keep_latest
def feature_graph(model: Model) -> FeatureGraph:
    """The features of a model's membranes."""
    surfaces, count = model.surfaces, model.membrane_count
    vertex_feature = np.full(model.vertex_count, -1, np.int32)
    body_start, corners, joined, total = [0], [], [], 0
    for body in range(count):
        triangles = surfaces.triangles[surfaces.body_triangle_start[body] : surfaces.body_triangle_start[body + 1]]
        edges = surfaces.edges[surfaces.edge_body == body]
        vertices = np.unique(triangles)
        first_edge = total + len(vertices)
        first_triangle = first_edge + len(edges)
        vertex_feature[vertices] = np.arange(total, first_edge)
        corners += [np.repeat(vertices[:, None], 3, axis=1), edges[:, [0, 1, 1]], triangles]
        base = np.array([model.point_count, 1], np.int64)  # edges are sorted, low end and high
        sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2) @ base
        joined += [
            _joined(vertex_feature[edges], first_edge),
            _joined(vertex_feature[triangles], first_triangle),
            _joined(first_edge + np.searchsorted(edges @ base, sides), first_triangle),
        ]
        total = first_triangle + len(triangles)
        body_start.append(total)
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *joined])
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    points = np.concatenate([np.zeros((0, 3), np.int32), *corners]).astype(np.int32)
    order = 1 + (points[:, 1] != points[:, 0]).astype(np.int32) + (points[:, 2] != points[:, 1]).astype(np.int32)
    return FeatureGraph(
        body_start=np.array(body_start, np.int32),
        corners=points,
        order=order,
        neighbour_start=np.searchsorted(pairs[:, 0], np.arange(total + 1)).astype(np.int32),
        neighbour=np.ascontiguousarray(pairs[:, 1], np.int32),
        vertex_feature=vertex_feature,
    )


def _joined(parts: IntArray, first: int) -> IntArray:
    """Rows of (part, whole): features of each whole, shape (whole_count, k), and the wholes from number `first` on."""
    count, k = parts.shape
    return np.stack([parts.ravel(), first + np.repeat(np.arange(count), k)], axis=1)
