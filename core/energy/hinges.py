"""Constants of every hinge, from the rest mesh (see `bend.py`).

A hinge at a sliver is far stiffer than others, as one over its height to the third power, and would set the step of
the whole scene. So the row sum of the hinges at a vertex is limited: to a share of the stiffness of its springs, or to
a multiple of the lower quartile of its body, whichever is more. The stiffest of its hinges give way, down to one level,
and the others keep what they are given: even meshes all.
"""

import numpy as np

from .. import topology
from ..array_types import FloatArray, IntArray
from ..model import Edges, Hinges
from .bend import FOLD

#: Largest row sum of the hinges at a vertex over the stiffness of its springs [1]: bending then takes at most 1.2 times
#: the steps of stretching. Largest one over the lower quartile of its body, as more than half may be slivers.
BEND_SHARE, OUTSTANDING = 0.44, 3.0


def rest_hinges(
    positions: FloatArray, triangles: IntArray, vertex_modulus: FloatArray, body: IntArray, edges: Edges
) -> Hinges:
    """Hinges of the membranes that bend, with k = 3 B / area (Grinspun et al. 2003), less at slivers.

    `positions` [m] at rest, shape (point_count, 3); `triangles` of the membranes; `vertex_modulus` B of each vertex's
    membrane [N m], shape (vertex_count,); `body`: its number, the same shape; `edges`: the springs.
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
    # |J| of the bend vector less the rest bend along the normal: |w| / cos(a / 2) at an angle a
    lever = 2.0 * np.abs(weight) / np.sqrt(np.maximum(length2, FOLD**2))[:, None]
    stiffness *= kept_shares(points, lever, stiffness, body[:vertex_count], edges)
    return Hinges(
        points=points,
        weight=weight,
        rest_bend=rest_bend,
        normal_scale=1.0 / size,
        stiffness=stiffness,
    )


def kept_shares(points: IntArray, lever: FloatArray, stiffness: FloatArray, body: IntArray, edges: Edges) -> FloatArray:
    """Share of its stiffness [N/m] that each hinge keeps; `lever` |J| of its points, shape (hinge_count, 4)."""
    ends, count = edges.points.ravel(), len(body)
    most, both = np.zeros(count), np.repeat(edges.stiffness, 2)
    np.maximum.at(most, ends, both)
    # the largest eigenvalue of a sum of 2 k d d' in a plane is at least that
    springs = np.maximum(np.bincount(ends, both, count), 2.0 * most)
    row = ((stiffness * lever.sum(axis=1))[:, None] * lever).ravel()
    sums, limit = np.bincount(points.ravel(), row, count), BEND_SHARE * springs
    for number in np.unique(body[points[:, 0]]):
        own = body == number
        limit[own] = np.maximum(limit[own], OUTSTANDING * np.sort(sums[own])[np.count_nonzero(own) // 4])
    level = levels(row, points.ravel(), limit)[points.ravel()]
    kept: FloatArray = np.divide(level, row, out=np.ones(len(row)), where=row > level).reshape(points.shape).min(axis=1)
    return kept


def levels(row: FloatArray, place: IntArray, limit: FloatArray) -> FloatArray:
    """Most that each of the rows at a place may be, so that min(row, level) add up to its limit there; inf for no need.

    `row`, at `place`: shape (row_count,); `limit`: shape (place_count,), as the result. What a row leaves below an
    equal share of the limit is for the larger ones, so those that are small keep all they are.
    """
    count, level = len(limit), np.zeros(len(limit))
    while True:
        high = row > level[place]
        left = np.bincount(place[high], minlength=count)
        rest = limit - np.bincount(place[~high], row[~high], count)
        found = np.divide(rest, left, out=np.full(count, np.inf), where=left > 0)
        if (found <= level).all():
            return level
        level = np.maximum(found, level)
