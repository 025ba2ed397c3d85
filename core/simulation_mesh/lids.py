"""Lids: what closes a hole of the drawn mesh is flat, and has vertices at its rim alone.

Nobody sees it: bulged by the gas, it would hold the body up from the floor, and pull its rim in.
"""

import numpy as np

from ..array_types import FloatArray, IntArray
from .crossings import crossing_vertices
from .holes import fill_holes
from .nearest import nearest_triangles
from .repair import Mesh
from .surface import Numbers, is_closed

#: Vertices that are nearer to what is drawn are at a rim [edge lengths].
WITHIN = 0.1
#: What the shapes of a lid's triangles count beside their areas.
SHAPE = 2e-3


def with_lids(
    x: FloatArray, triangles: IntArray, face: Numbers, filled: Mesh, drawn_count: int, length: float
) -> tuple[FloatArray, IntArray, Numbers]:
    """Vertices, triangles and the triangle of each drawn vertex (-1: a lid), with lids where an even mesh closes holes.

    `filled`: of its triangles those from number `drawn_count` on fill the holes.
    Unchanged where lids would cross something; some vertices within a hole stay where its rim would touch itself.
    """
    normals = np.zeros_like(x)
    within = nearest_triangles(x, normals, filled.x, filled.triangles, length)[0] >= drawn_count
    drawn = filled.triangles[:drawn_count]
    near, weights = nearest_triangles(x, normals, filled.x, drawn, length)
    off = x - np.einsum("ik,ikx->ix", weights, filled.x[drawn[near]])
    within &= np.linalg.norm(off, axis=1) > WITHIN * length
    while True:
        stays = ~within[triangles].any(axis=1)
        touching = _touching(triangles[~stays])
        if len(touching) == 0:
            break
        within[triangles[np.isin(triangles, touching).any(axis=1)]] = False
    if stays.all() or not stays.any():
        return x, triangles, face
    closed = fill_holes(Mesh(x, triangles[stays].astype(np.int64), np.arange(len(x))), SHAPE)
    if not is_closed(closed.triangles) or crossing_vertices(closed.x, closed.triangles.astype(np.int32)).any():
        return x, triangles, face
    used, renumbered = np.unique(closed.triangles, return_inverse=True)
    moved = np.where(stays, np.cumsum(stays) - 1, -1)
    return closed.x[used], renumbered.reshape(-1, 3).astype(np.int32), np.where(face >= 0, moved[face], -1)


def _touching(triangles: Numbers) -> Numbers:
    """Vertices that the rim of triangles passes more than once."""
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    edges, count = np.unique(sides, axis=0, return_counts=True)
    return np.flatnonzero(np.bincount(edges[count == 1].ravel()) > 2)
