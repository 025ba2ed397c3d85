"""Constants of every hinge, from the rest mesh (see `bend.py`)."""

import numpy as np

from .. import topology
from ..model import FloatArray, Hinges, IntArray
from .bend import FOLD


def rest_hinges(positions: FloatArray, triangles: IntArray, vertex_modulus: FloatArray) -> Hinges:
    """Hinges of the membranes that bend, with k = 3 B / area (Grinspun et al. 2003).

    `positions` [m] at rest, shape (point_count, 3); `triangles` of the membranes; `vertex_modulus` B of each vertex's
    membrane [N m], shape (vertex_count,).
    """
    vertex_count = len(vertex_modulus)
    points = topology.hinges(triangles)
    points = np.ascontiguousarray(points[vertex_modulus[points[:, 0]] > 0.0])
    p0, p1, p2, p3 = (positions[points[:, slot]] for slot in range(4))
    edge = p1 - p0
    edge2 = (edge**2).sum(axis=1)
    normal = np.stack([np.cross(edge, p2 - p0), np.cross(p3 - p0, edge)], axis=1)
    size = np.linalg.norm(normal, axis=2)
    # edge / height = edge^2 / |normal|; the foot of each height divides the edge in the shares 1 - foot and foot
    steep = edge2[:, None] / size
    foot = np.stack([((p - p0) * edge).sum(axis=1) for p in (p2, p3)], axis=1) / edge2[:, None]
    weight = np.stack(
        [(steep * (1.0 - foot)).sum(axis=1), (steep * foot).sum(axis=1), -steep[:, 0], -steep[:, 1]], axis=1
    )
    bend = np.einsum("hs,hsk->hk", weight, positions[points])
    bisector = (normal / size[:, :, None]).sum(axis=1)
    length2 = (bisector**2).sum(axis=1)
    # shapes folded flat at rest keep a bounded bend
    faded = np.sqrt(length2 + FOLD**2) / np.maximum(length2, FOLD**2)
    rest_bend = (bend * bisector).sum(axis=1) * faded
    stiffness = 6.0 * vertex_modulus[points[:, 0]] / size.sum(axis=1)
    start, entry = topology.grouped(points.ravel(), vertex_count)
    return Hinges(
        points=points,
        weight=weight,
        rest_bend=rest_bend,
        normal_scale=1.0 / size,
        stiffness=stiffness,
        vertex_start=start,
        vertex_entry=entry,
    )
