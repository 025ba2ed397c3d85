"""Reflection of what falls through the ground (Kurmaly and Wu 2021, section 4).

    x' = x - 2 d n,   v' = v - 2 (n . (v - w)) n,   d = n . (x - q) < 0

for each vertex whose step ends behind a triangle of a collider, of normal n and a corner q, that it was in front of
when the step began; w is the velocity of the collider there. Position and velocity are mirrored where the step ends. So
a bounce keeps the speed to rounding, but comes out too high: a vertex that hits at a speed u, and is behind for a time
s of the step, gains 2 u s + g s² of height, u h on average. There is no friction, no bounciness. A vertex is a point:
edges of a collider may stick through the faces of a body. What begins behind a triangle is not seen by it.
"""

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..model import Model
from ..tiny import ROUNDING

#: In a corner a mirror image may lie behind another triangle. What still does after so many turns stays where it was.
MOST_TURNS = 8


class Reflection:
    """Reflects the vertices of a model at its colliders.

    `count`: reflections in the last step. `pairs`: which bodies are kept apart by it, shape (body_count, body_count).
    """

    def __init__(self, model: Model) -> None:
        first = model.surfaces.body_triangle_start[model.moving_count]
        triangles = model.surfaces.triangles[first:]
        self._triangles: IntArray = triangles
        self._collider: IntArray = model.point_body[triangles[:, 0]]
        self._vertices: IntArray = np.flatnonzero(~model.pinned)
        self._body: IntArray = model.point_body[self._vertices]
        corners = model.rest_positions[triangles]
        self._slack = ROUNDING * np.ptp(corners, axis=1).max(axis=1, initial=0.0)
        skins = np.arange(model.body_count) < model.membrane_count
        colliders = np.arange(model.body_count) >= model.moving_count
        self.pairs: BoolArray = np.outer(skins, colliders) | np.outer(colliders, skins)
        self._ignores: BoolArray = model.ignores
        self.count = 0

    def reflect(self, start: FloatArray, end: FloatArray, moves: FloatArray, v: FloatArray, time: float) -> None:
        """Change moves [m] and velocities [m/s] of the vertices over a step of a length [s], in place.

        `start`: positions of all points where it begins; `end`: those of the colliders where it ends [m].
        """
        self.count = 0
        a, b = start[self._triangles], end[self._triangles]
        normal, before = _normals(b), _normals(a)
        low = np.minimum(a, b).min(axis=(0, 1), initial=np.inf)
        high = np.maximum(a, b).max(axis=(0, 1), initial=-np.inf)
        own = self._vertices
        x, y = start[own], start[own] + moves[own]
        near = ((np.minimum(x, y) <= high) & (np.maximum(x, y) >= low)).all(axis=1)
        own, body, x, y = own[near], self._body[near], x[near], y[near]
        meets = ~self._ignores[body[:, None], self._collider]
        depth = np.einsum("vti,ti->vt", x[:, None] - a[:, 0], before)
        in_front = meets & (depth >= -self._slack)
        speed, turned = v[own], np.zeros(len(own), bool)
        for _ in range(MOST_TURNS):
            hit, triangle = _first_hits(x, y, a, b, depth, normal, in_front)
            if not len(hit):
                break
            n, corners = normal[triangle], b[triangle]
            y[hit] -= 2.0 * np.einsum("vi,vi->v", y[hit] - corners[:, 0], n)[:, None] * n
            pull = speed[hit] - (corners - a[triangle]).mean(axis=1) / time
            speed[hit] -= 2.0 * np.einsum("vi,vi->v", pull, n)[:, None] * n
            turned[hit] = True
            self.count += len(hit)
        else:
            hit, triangle = _first_hits(x, y, a, b, depth, normal, in_front)
            y[hit] = x[hit] + (b - a)[triangle].mean(axis=1)
        moves[own[turned]] = (y - x)[turned]
        v[own[turned]] = speed[turned]


def _normals(corners: FloatArray) -> FloatArray:
    """Unit normals of triangles, shape (triangle_count, 3); of those without an area 0."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.sqrt(np.einsum("ti,ti->t", normal, normal))
    unit: FloatArray = normal / np.where(size > 0.0, size, 1.0)[:, None]
    return unit


def _first_hits(
    x: FloatArray, y: FloatArray, a: FloatArray, b: FloatArray, depth: FloatArray, normal: FloatArray,
    in_front: BoolArray,
) -> tuple[IntArray, IntArray]:  # fmt: skip
    """Rows of what goes from x to y [m] through a triangle that goes from a to b, and the first one of each.

    `depth`: distances of x from the triangles [m], shape (row_count, triangle_count); `in_front`: which ones count.
    """
    late = np.einsum("vti,ti->vt", y[:, None] - b[:, 0], normal)
    row, triangle = np.nonzero(in_front & (late < 0.0))
    start, stop = np.maximum(depth[row, triangle], 0.0), late[row, triangle]
    part = start / (start - stop)
    place = x[row] + part[:, None] * (y - x)[row]
    corners = a[triangle] + part[:, None, None] * (b - a)[triangle]
    sides = np.roll(corners, -1, axis=1) - corners
    inward = np.einsum("cki,cki->ck", np.cross(sides, place[:, None] - corners), np.repeat(
        normal[triangle][:, None], 3, axis=1))  # fmt: skip
    inside = (inward >= -ROUNDING * np.einsum("cki,cki->ck", sides, sides)).all(axis=1)
    row, triangle, part = row[inside], triangle[inside], part[inside]
    order = np.lexsort((part, row))
    hit, first = np.unique(row[order], return_index=True)
    return hit, triangle[order][first]
