"""Vertex clustering (Rossignac and Borrel 1993): meshes of very many vertices are shrunk before they are repaired."""

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray
from ..topology import triangle_areas
from ..union_find import islands_of
from .repair import Mesh, without_doubles
from .surface import Numbers, is_closed

#: Meshes of more vertices than this are shrunk, to about so many: the fewest that keep the mesh a manifold.
LARGE, ABOUT = 100_000, (60_000, 120_000, 240_000)
#: Clusters of a plane in all directions, per square of a cell's side.
PER_CELL = 1.5


class Shrunk(NamedTuple):
    """A mesh of clusters of vertices."""

    x: FloatArray  # means of the clusters, shape (cluster_count, 3)
    triangles: Numbers  # of clusters, shape (n, 3)
    cluster: Numbers  # of each given vertex
    first: Numbers  # a given vertex of each cluster


def shrunk(x: FloatArray, triangles: Numbers) -> Shrunk | None:
    """A mesh of fewer vertices; None where it cannot be shrunk and stay closed."""
    was_closed = is_closed(triangles)
    for about in ABOUT:
        found = _clustered(x, triangles, about)
        if 2 * len(found.x) >= len(x):
            break
        plain = without_doubles(Mesh(found.x, found.triangles, np.arange(len(found.x))))
        if not was_closed or is_closed(plain.triangles):
            return found
    return None


def _clustered(x: FloatArray, triangles: Numbers, about: int) -> Shrunk:
    """Vertices joined where sides lead from one to the next within a cell of a grid, for about so many.

    So the two sides of a thin part stay apart. Triangles that vanish are left out.
    """
    side = np.sqrt(PER_CELL * float(triangle_areas(x, triangles).sum()) / about)
    place = np.floor((x - x.min(axis=0)) / max(side, 1e-300)).astype(np.int64)
    shape = place.max(axis=0) + 1
    cells = (place[:, 0] * shape[1] + place[:, 1]) * shape[2] + place[:, 2]
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    within = cells[start] == cells[end]
    names = islands_of(len(x), start[within], end[within])
    _, first, cluster, counts = np.unique(names, return_index=True, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(cluster, x[:, axis], len(first)) for axis in range(3)], axis=1) / counts[:, None]
    a, b, c = cluster[triangles].T
    kept = cluster[triangles[(a != b) & (b != c) & (c != a)]]
    return Shrunk(means, kept, cluster, first)
