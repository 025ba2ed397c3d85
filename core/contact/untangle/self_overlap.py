"""Vertices of a skin on the wrong side of its own surface, and the triangle through which each leaves.

The winding number just outside a vertex of a skin that does not intersect itself is 0. A winding number of 1 means that
the vertex has been pushed into the body; -1, that it belongs to a part turned inside out through another.
Such vertices form connected pieces, each of which has passed through another part of the skin. A piece leaves through
the nearest triangle that neither belongs to it nor is adjacent to it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...jit import kernel
from ...model import Model
from ...topology import vertex_normals
from ...union_find import islands_of
from ..box_tree import Trees
from ..narrow_phase.nearest_triangle import ALL, STACK_SIZE, cast_ray, nearest_triangle
from .overlap import NEAR_PLANE

#: Rings of edges around a piece whose triangles count as adjacent [1].
RINGS = 2
#: Distance from a vertex at which the winding number is computed [thickness]: outside its own triangles.
RAY_START = 0.01
#: Added to the vertex's normal for the direction of each of three rays [1]: no ray then hits an edge of a regular mesh.
RAY_TILTS = np.array([[0.171, 0.043, -0.113], [-0.097, 0.151, 0.059], [0.037, -0.139, 0.127]])


def self_wrong_side(model: Model, trees: Trees, x: FloatArray, body: int) -> tuple[IntArray, NDArray[np.int8]]:
    """Points of a closed skin that are on the wrong side of itself at x [m], and the facing of their right side.

    The trees must fit x. Facing is +1 where the right side is that of the normals, else -1.
    """
    surfaces = model.surfaces
    first, last = model.body_point_start[body : body + 2].tolist()
    triangles = surfaces.triangles[surfaces.body_triangle_start[body] : surfaces.body_triangle_start[body + 1]]
    points = np.unique(triangles)
    normal = vertex_normals(x[first:last], triangles - first)[points - first]
    places, tilts = x[points] + RAY_START * model.thickness[body] * normal, RAY_TILTS
    if body < model.membrane_count and model.flat.depth[body] > 0.0:  # a strip without caps: within its plane
        plane = model.flat.normal[body]
        tilts = RAY_TILTS - np.einsum("ri,i,j->rj", RAY_TILTS, plane, plane)
        normal -= np.einsum("vi,i,j->vj", normal, plane, plane)
        copy = 2 * ((points - first) % 2) - 1  # the second copy lies behind
        places += (0.5 - NEAR_PLANE) * model.flat.depth[body] * copy[:, None] * plane
    turns = winding_numbers(x, places, normal, tilts, body, surfaces.triangles, trees)
    wrong = turns != 0
    return points[wrong].astype(np.int32), np.sign(turns[wrong]).astype(np.int8)


def self_exits(model: Model, trees: Trees, x: FloatArray, pairs: IntArray) -> IntArray:
    """Triangle through which the point of each pair (point, its own body) leaves, -1 for none.

    x: positions [m], shape (point_count, 3), which the trees must fit. pairs: sorted, shape (n, 2).
    """
    surfaces = model.surfaces
    found = np.full(len(pairs), -1, np.int32)
    for body in np.unique(pairs[:, 1]).tolist():
        rows = np.flatnonzero(pairs[:, 1] == body)
        first, last = model.body_point_start[body : body + 2].tolist()
        points = pairs[rows, 0] - first
        edges = surfaces.edges[surfaces.edge_body == body] - first
        triangles = surfaces.triangles[surfaces.body_triangle_start[body] : surfaces.body_triangle_start[body + 1]]
        listed = np.zeros(last - first, bool)
        listed[points] = True
        part = islands_of(last - first, *edges[listed[edges].all(axis=1)].T)
        for piece in np.unique(part[points]).tolist():
            near = dilated(listed & (part == piece), edges, RINGS)
            own = rows[part[points] == piece]
            others = ALL._replace(excluded=near[triangles - first].any(axis=1))
            found[own] = nearest_exits(x, pairs[own, 0], body, surfaces.triangles, trees, others)
    return found


@kernel
def winding_numbers(x, places, normal, tilts, body, triangles, trees):
    """Winding number of the body's skin at each place: the median of three rays near the normal."""
    turns, found, stack = np.empty(places.shape[0], np.int32), np.empty(3, np.int32), np.empty(STACK_SIZE, np.int32)
    d = np.empty(3)
    for k in range(places.shape[0]):
        for ray in range(3):
            length = 0.0
            for axis in range(3):
                d[axis] = normal[k, axis] + tilts[ray, axis]
                length += d[axis] * d[axis]
            d /= math.sqrt(length)
            found[ray] = cast_ray(x, places[k], d, body, 1, triangles, trees, stack)[0]
        turns[k] = max(min(found[0], found[1]), min(max(found[0], found[1]), found[2]))  # the middle one
    return turns


def dilated(mask: BoolArray, edges: IntArray, rings: int) -> BoolArray:
    """The vertices of a mask and those up to `rings` edges away, shape (vertex_count,)."""
    for _ in range(rings):
        wider = mask.copy()
        wider[edges[mask[edges].any(axis=1)]] = True
        mask = wider
    return mask


@kernel
def nearest_exits(x, points, body, triangles, trees, choice):
    """The nearest triangle of `body` for each point; -1 for none."""
    found, stack = np.empty(points.shape[0], np.int32), np.empty(STACK_SIZE, np.int32)
    for k in range(points.shape[0]):
        found[k] = nearest_triangle(x, points[k], np.inf, x, body, triangles, trees, choice, stack)
    return found
