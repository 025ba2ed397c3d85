"""Broad phase of a body against itself: points against triangles and edges against edges of one skin.

A body's tree is traversed against itself, down pairs of nodes of one level. Let c be the middle of a surface that does
not cross itself. Along every ray from c, triangles that face away from c and triangles that face towards it alternate.
So where two that face away come together, one that faces towards c is between them and touches both: only pairs with a
triangle that may face towards c before the next search are tested. A body that is star-shaped about c has none
(Preparata and Shamos 1985, 7.2.6), so a ball costs next to nothing. This needs no test of contours (Volino and
Magnenat-Thalmann 1994), without which a skin that is crumpled within a half space of normals could cross itself.

Features that share a vertex are no pair. Features that are near at rest get a thickness of at most half that distance,
so a rest shape has no contact forces, unless it crosses itself: then all but neighbours keep their whole thickness.
"""

import math

import numpy as np

from ...inside_out import is_inside_out
from ...jit import kernel
from ...model import BoolArray, FloatArray, IntArray, Model
from ..contacts import Contacts
from ..narrow_phase.closest_points import closest_on_edges_of, closest_on_triangle_of, edge_meets
from ..narrow_phase.nearest_triangle import STACK_SIZE
from ..untangle.overlap import self_crossings
from ..untangle.self_overlap import RINGS, dilated, self_wrong_side
from .box_tree import Trees
from .pair_search import Features, boxes_apart, leaf_places, square_of_edges, square_to_triangle

#: Displacement of corners beyond the reach that the test of facing allows for [thickness]: half, for each of two sides.
STRAY = 0.5
#: Thickness of a pair that is near at rest, at most [distance at rest].
REST_SHARE = 0.5
#: Least thickness of a pair [thickness of the body]: below, its corners nearly coincide and it is left out.
LEAST_SHARE = 0.1


class SelfPairs:
    """Finds the self-contact pairs of one model's bodies; the buffers grow and stay."""

    def __init__(self, model: Model, trees: Trees, features: Features) -> None:
        self._model, self._trees, self._features = model, trees, features
        self.bodies: IntArray = np.flatnonzero(model.self_collision & (trees.depth >= 0)).astype(np.int32)
        self._crossed = self_crossings(model, trees, model.rest_positions, self.bodies)
        self._crossed_bodies = np.zeros(model.body_count, bool)
        if self._crossed.any():
            self._crossed_bodies[model.point_body[self._crossed]] = True
            for body in self.bodies.tolist():
                self._crossed[self_wrong_side(model, trees, model.rest_positions, body)[0]] = True
            self._crossed = dilated(self._crossed, model.surfaces.edges, RINGS)
        self._suspect = np.zeros(len(trees.box), np.bool_)  # nodes with a triangle that may face towards the middle
        self._walk = np.zeros((2 * STACK_SIZE, 2), np.int32)
        self._pairs = np.zeros((1024, 3), np.int32)

    def find(self, x: FloatArray, reach: FloatArray, bodies: IntArray, crossing: IntArray) -> tuple[IntArray, IntArray]:
        """(point, triangle) and (edge, edge) pairs for self-contact of the bodies, sorted, shape (n, 2) each.

        x: positions [m] which the trees fit; reach: how far each body's points may move relative to its common motion
        [m], shape (body_count,); crossing: bodies that cross themselves.
        """
        self._find_suspects(x, reach, bodies, np.isin(bodies, crossing) | self._crossed_bodies[bodies])
        while True:
            count = self._walk_bodies(x, reach, bodies, False)
            if count <= len(self._pairs):
                break
            self._pairs = np.zeros((count + count // 2, 3), np.int32)
        pairs = self._pairs[:count]
        points, edges = pairs[pairs[:, 0] == 0, 1:], pairs[pairs[:, 0] == 1, 1:]
        return points[np.lexsort(points.T[::-1])], edges[np.lexsort(edges.T[::-1])]

    def touches(self, x: FloatArray, body: int) -> bool:
        """Whether a body is inside out, nearer to itself than the thickness of a pair, or crosses itself.

        The trees must fit x.
        """
        if is_inside_out(self._model, x, body):
            return True
        bodies = np.array([body], np.int32)
        reach = np.zeros(self._model.body_count)
        self._find_suspects(x, reach, bodies, np.ones(1, bool))
        return self._walk_bodies(x, reach, bodies, True) > 0

    def _find_suspects(self, x: FloatArray, reach: FloatArray, bodies: IntArray, all_of: BoolArray) -> None:
        """Mark the nodes to traverse; `all_of`: whether that is all of each body."""
        trees, start = self._trees, self._model.body_point_start
        for body, everything in zip(bodies.tolist(), all_of.tolist(), strict=True):
            nodes = slice(trees.node_start[body], trees.node_start[body + 1])
            self._suspect[nodes] = False
            stray = math.inf if everything else float(reach[body] + STRAY * self._model.thickness[body])
            find_suspects(
                x, x[start[body] : start[body + 1]].mean(axis=0), self._model.surfaces.triangles, start[body],
                start[body + 1], stray,
                trees.triangle_order[trees.triangle_start[body] : trees.triangle_start[body + 1]], trees.depth[body],
                self._suspect[nodes],
            )  # fmt: skip

    def _walk_bodies(self, x: FloatArray, reach: FloatArray, bodies: IntArray, only_one: bool) -> int:
        model, trees = self._model, self._trees
        surfaces = model.surfaces
        count: int = find_self_pairs(
            x, model.rest_positions, self._features, surfaces.edge_apex, bodies, model.thickness, reach, trees,
            self._suspect, self._walk, self._crossed, surfaces.point_neighbour_start, surfaces.point_neighbour,
            only_one, self._pairs,
        )  # fmt: skip
        return count

    def set_own_rows(self, contacts: Contacts) -> None:
        """Set the thickness of self-contact rows."""
        count, surfaces = contacts.count, self._model.surfaces
        rows = np.flatnonzero(contacts.bodies[:count, 0] == contacts.bodies[:count, 1])
        write_thickness(
            self._model.rest_positions, surfaces.triangles, self._model.thickness, self._crossed,
            surfaces.point_neighbour_start, surfaces.point_neighbour, rows, contacts.edge_start,
            contacts.points, contacts.triangle, contacts.bodies, contacts.thickness,
        )  # fmt: skip


@kernel
def find_suspects(x, centre, triangles, first, last, stray, order, depth, suspect):
    """Mark the nodes of one body's tree with a triangle that may face towards `centre`, by the triangles in `order`,
    and with its neighbours, to which its corners and edges may belong.

    Six times the volume of a triangle's tetrahedron with the centre changes by at most 3 s f l where its corners move
    by s [m]: f is the longest distance of a point from the centre, l the triangle's longest side.
    """
    far = 0.0
    for i in range(first, last):
        far = max(far, (x[i, 0] - centre[0]) ** 2 + (x[i, 1] - centre[1]) ** 2 + (x[i, 2] - centre[2]) ** 2)
    far = math.sqrt(far) + stray
    marked = np.zeros(last - first, np.bool_)
    for t in order:
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        fx, fy, fz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
        volume = (x[a, 0] - centre[0]) * nx + (x[a, 1] - centre[1]) * ny + (x[a, 2] - centre[2]) * nz
        ee, ff = ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz
        gg = (ex - fx) ** 2 + (ey - fy) ** 2 + (ez - fz) ** 2
        if not volume > 3.0 * stray * far * (math.sqrt(max(ee, ff, gg)) + 2.0 * stray):
            marked[a - first] = marked[b - first] = marked[c - first] = True
    leaves = 1 << depth
    for leaf in range(leaves):
        for place in range(leaf * order.shape[0] // leaves, (leaf + 1) * order.shape[0] // leaves):
            for corner in range(3):
                if marked[triangles[order[place], corner] - first]:
                    suspect[leaves - 1 + leaf] = True
    for node in range(leaves - 2, -1, -1):
        suspect[node] = suspect[2 * node + 1] or suspect[2 * node + 2]


@kernel
def are_apart(x, triangles, s, t, radius):
    """Whether the boxes of two triangles are farther apart than this along an axis."""
    a, b, c = triangles[s, 0], triangles[s, 1], triangles[s, 2]
    d, e, f = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    for axis in range(3):
        p, q, r = x[a, axis], x[b, axis], x[c, axis]
        u, v, w = x[d, axis], x[e, axis], x[f, axis]
        if min(p, q, r) - radius > max(u, v, w) or min(u, v, w) - radius > max(p, q, r):
            return True
    return False


@kernel
def find_self_pairs(
    x, rest, features, edge_apex, bodies, thickness, reach, trees, suspect, walk, crossed, around_start, around,
    only_one, pairs,
):  # fmt: skip
    """Rows (0, point, triangle) and (1, edge, edge); returns their number, which may exceed the room.

    only_one: stop at the first pair.
    """
    count = 0
    triangles = features.triangles
    for body in bodies:
        base, leaves = trees.node_start[body], 1 << trees.depth[body]
        radius = 2.0 * (thickness[body] + reach[body])
        walk[0, 0], walk[0, 1] = 0, 0
        waiting = 1
        while waiting > 0:
            waiting -= 1
            a, b = walk[waiting, 0], walk[waiting, 1]
            if not (suspect[base + a] or suspect[base + b]):
                continue
            if a != b and boxes_apart(trees.box, base + a, base + b, radius):
                continue
            if a < leaves - 1:
                walk[waiting, 0], walk[waiting, 1] = 2 * a + 1, 2 * b + 1
                walk[waiting + 1, 0], walk[waiting + 1, 1] = 2 * a + 2, 2 * b + 2
                walk[waiting + 2, 0], walk[waiting + 2, 1] = 2 * a + 1, 2 * b + 2
                waiting += 3
                if a != b:
                    walk[waiting, 0], walk[waiting, 1] = 2 * a + 2, 2 * b + 1
                    waiting += 1
                continue
            begin, end = leaf_places(trees, body, a)
            other_begin, other_end = leaf_places(trees, body, b)
            for i in range(begin, end):
                for j in range(other_begin, other_end):
                    s, t = trees.triangle_order[i], trees.triangle_order[j]
                    if s == t or are_apart(x, triangles, s, t, radius):
                        continue
                    for corner in range(3):
                        for way in range(2 if a != b else 1):
                            u, w = (s, t) if way == 0 else (t, s)
                            point = features.points[u, corner]
                            if point >= 0 and point_pairs(
                                x, rest, triangles, crossed, around_start, around, point, w, thickness[body],
                                reach[body],
                            ):  # fmt: skip
                                if count < pairs.shape[0]:
                                    pairs[count, 0], pairs[count, 1], pairs[count, 2] = 0, point, w
                                count += 1
                    if a == b and i > j:
                        continue
                    for side in range(9):
                        e, f = features.sides[s, side // 3], features.sides[t, side % 3]
                        if e < 0 or f < 0:
                            continue
                        if edge_pairs(
                            x, rest, features.edges, crossed, around_start, around, e, f, thickness[body], reach[body]
                        ) or (only_one and crosses(x, features.edges, edge_apex, e, f)):
                            if count < pairs.shape[0]:
                                pairs[count, 0], pairs[count, 1], pairs[count, 2] = 1, min(e, f), max(e, f)
                            count += 1
                    if only_one and count > 0:
                        return count
    return count


@kernel
def kept(rest_distance, thickness):
    """Thickness [m] of a pair of features of one body that are this far apart at rest [m]; 0 for none."""
    own = min(2.0 * thickness, REST_SHARE * rest_distance)
    return own if own >= LEAST_SHARE * 2.0 * thickness else 0.0


@kernel
def is_around(point, other, around_start, around):
    """Whether two points are at most two edges apart."""
    for k in range(around_start[point], around_start[point + 1]):
        middle = around[k]
        if middle == other:
            return True
        for i in range(around_start[middle], around_start[middle + 1]):
            if around[i] == other:
                return True
    return point == other


@kernel
def kept_by_point(rest, triangles, crossed, around_start, around, point, triangle, thickness):
    """Thickness [m] of a point and a triangle of one body, 0 for none."""
    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    if (crossed[point] or crossed[a] or crossed[b] or crossed[c]) and not (
        is_around(point, a, around_start, around)
        or is_around(point, b, around_start, around)
        or is_around(point, c, around_start, around)
    ):
        return 2.0 * thickness
    return kept(math.sqrt(closest_on_triangle_of(rest, point, triangles, triangle)[6]), thickness)


@kernel
def kept_by_edges(rest, crossed, around_start, around, p, p_end, q, q_end, thickness):
    """Thickness [m] of two edges of one body, 0 for none."""
    if (crossed[p] or crossed[p_end] or crossed[q] or crossed[q_end]) and not (
        is_around(p, q, around_start, around)
        or is_around(p, q_end, around_start, around)
        or is_around(p_end, q, around_start, around)
        or is_around(p_end, q_end, around_start, around)
    ):
        return 2.0 * thickness
    return kept(math.sqrt(closest_on_edges_of(rest, p, p_end, q, q_end)[5]), thickness)


@kernel
def point_pairs(x, rest, triangles, crossed, around_start, around, point, triangle, thickness, reach):
    """Whether a point and a triangle of one body may come within their thickness."""
    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    if point in (a, b, c):
        return False
    radius = 2.0 * (thickness + reach)
    d = math.sqrt(square_to_triangle(x, point, triangles, triangle, radius))
    if d > radius:
        return False
    own = kept_by_point(rest, triangles, crossed, around_start, around, point, triangle, thickness)
    return own > 0.0 and d <= own + 2.0 * reach


@kernel
def edge_pairs(x, rest, edges, crossed, around_start, around, e, f, thickness, reach):
    """Whether two edges of one body may come within their thickness."""
    p, p_end, q, q_end = edges[e, 0], edges[e, 1], edges[f, 0], edges[f, 1]
    if p in (q, q_end) or p_end in (q, q_end):
        return False
    radius = 2.0 * (thickness + reach)
    d = math.sqrt(square_of_edges(x, p, p_end, q, q_end, radius))
    if d > radius:
        return False
    own = kept_by_edges(rest, crossed, around_start, around, p, p_end, q, q_end, thickness)
    return own > 0.0 and d <= own + 2.0 * reach


@kernel
def crosses(x, edges, edge_apex, e, f):
    """Whether an edge passes through a triangle at the other; not if they share a vertex."""
    for _ in range(2):
        p, p_end, q, q_end = edges[e, 0], edges[e, 1], edges[f, 0], edges[f, 1]
        if p in (q, q_end) or p_end in (q, q_end):
            return False
        for k in range(2):
            c = edge_apex[f, k]
            if c >= 0 and c != p and c != p_end and edge_meets(x, p, p_end, q, q_end, c) >= 0.0:
                return True
        e, f = f, e
    return False


@kernel
def write_thickness(
    rest, triangles, thickness, crossed, around_start, around, rows, edge_start, points, triangle, bodies, out
):
    """Thickness of rows of contacts of a body with itself."""
    for k in range(rows.shape[0]):
        row = rows[k]
        own = thickness[bodies[row, 0]]
        if row < edge_start:
            out[row] = kept_by_point(rest, triangles, crossed, around_start, around, points[row, 0], triangle[row], own)
        else:
            out[row] = kept_by_edges(
                rest, crossed, around_start, around, points[row, 0], points[row, 1], points[row, 2], points[row, 3], own
            )
