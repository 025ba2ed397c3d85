"""Broad phase of different bodies: points against triangles and edges against edges within the margins of both.

Every corner and every edge is assigned to one of its triangles and so to one leaf of its body's tree; pairs of trees
are traversed together.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...array_types import IntArray
from ...jit import inline_kernel, kernel
from ...model import Surfaces
from ..narrow_phase.closest_points import closest_on_edges_of, closest_on_triangle_of

WALK_SIZE = 128  # stack of node pairs: at most one per level of each tree and one more


class Features(NamedTuple):
    """Triangles and edges of all bodies, and which triangle each corner and edge is assigned to."""

    triangles: Any  # shape (triangle_count, 3)
    edges: Any  # shape (edge_count, 2)
    points: Any  # corners of each triangle, -1 where an earlier triangle has them, shape (triangle_count, 3)
    sides: Any  # edge from corner k to corner k + 1 of each triangle, -1 likewise, shape (triangle_count, 3)

    @classmethod
    def of(cls, surfaces: Surfaces) -> "Features":
        """Assign the features of surfaces."""
        triangles, edges = surfaces.triangles, surfaces.edges
        sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
        span = int(triangles.max(initial=0)) + 1
        number = np.searchsorted(edges[:, 0].astype(np.int64) * span + edges[:, 1], sides.astype(np.int64) @ [span, 1])
        return cls(triangles, edges, _firsts(triangles.ravel()), _firsts(number))


def _firsts(numbers: IntArray) -> IntArray:
    """`numbers`, -1 where one has occurred before, in rows of three."""
    owned = np.full(numbers.shape, -1, np.int32)
    found, first = np.unique(numbers, return_index=True)
    owned[first] = found
    return owned.reshape(-1, 3)


@kernel
def find_pairs(x, features, trees, margin, partner_start, partner, listed_start, listed_body, walk, found):
    """Rows (0, point, triangle) and (1, lower edge, higher edge) of every pair of partners, unsorted.

    Returns their number, which may exceed the room in `found`. A point that is listed with a body has no pairs with it.
    """
    count = 0
    for body in range(trees.depth.shape[0]):
        for entry in range(partner_start[body], partner_start[body + 1]):
            other = partner[entry]
            if other >= body and trees.depth[body] >= 0 and trees.depth[other] >= 0:
                count = walk_trees(
                    x, features, trees, body, other, margin[body] + margin[other], listed_start, listed_body, walk,
                    found, count,
                )  # fmt: skip
    return count


@kernel
def walk_trees(x, features, trees, body, other, radius, listed_start, listed_body, walk, found, count):
    """Add the pairs of two bodies; returns the number of pairs so far."""
    box, base, other_base = trees.box, trees.node_start[body], trees.node_start[other]
    leaves, other_leaves = 1 << trees.depth[body], 1 << trees.depth[other]
    walk[0, 0], walk[0, 1] = 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        a, b = walk[waiting, 0], walk[waiting, 1]
        if boxes_apart(box, base + a, other_base + b, radius):
            continue
        split_a, split_b = a < leaves - 1, b < other_leaves - 1
        if split_a and split_b:
            split_a = box_size(box, base + a) >= box_size(box, other_base + b)
        if split_a:
            walk[waiting, 0], walk[waiting, 1] = 2 * a + 1, b
            walk[waiting + 1, 0], walk[waiting + 1, 1] = 2 * a + 2, b
            waiting += 2
        elif split_b:
            walk[waiting, 0], walk[waiting, 1] = a, 2 * b + 1
            walk[waiting + 1, 0], walk[waiting + 1, 1] = a, 2 * b + 2
            waiting += 2
        else:
            count = pair_points(x, features, trees, body, other, a, b, radius, listed_start, listed_body, found, count)
            count = pair_points(x, features, trees, other, body, b, a, radius, listed_start, listed_body, found, count)
            count = pair_edges(x, features, trees, body, other, a, b, radius, found, count)
    return count


@inline_kernel
def leaf_places(trees, body, node):
    """First place and end of a leaf's triangles in `Trees.triangle_order`."""
    first, leaves = trees.triangle_start[body], 1 << trees.depth[body]
    size, leaf = trees.triangle_start[body + 1] - first, node - leaves + 1
    return first + leaf * size // leaves, first + (leaf + 1) * size // leaves


@kernel
def pair_points(x, features, trees, body, other, a, b, radius, listed_start, listed_body, found, count):
    """Add the pairs of points of one leaf and triangles of another; returns the number of pairs so far."""
    begin, end = leaf_places(trees, body, a)
    other_begin, other_end = leaf_places(trees, other, b)
    other_box = trees.box[trees.node_start[other] + b]
    for i in range(begin, end):
        for corner in range(3):
            point = features.points[trees.triangle_order[i], corner]
            if point < 0 or edge_outside(x, point, point, other_box, radius):
                continue
            if is_listed(point, other, listed_start, listed_body):
                continue
            for j in range(other_begin, other_end):
                triangle = trees.triangle_order[j]
                if square_to_triangle(x, point, features.triangles, triangle, radius) <= radius * radius:
                    if count < found.shape[0]:
                        found[count, 0], found[count, 1], found[count, 2] = 0, point, triangle
                    count += 1
    return count


@kernel
def pair_edges(x, features, trees, body, other, a, b, radius, found, count):
    """Add the pairs of edges of two leaves; returns the number of pairs so far."""
    begin, end = leaf_places(trees, body, a)
    other_begin, other_end = leaf_places(trees, other, b)
    box, edges = trees.box[trees.node_start[body] + a], features.edges
    for j in range(other_begin, other_end):
        for side in range(3):
            f = features.sides[trees.triangle_order[j], side]
            # tighter than the box of a large triangle: the edges of a floor are far from most bodies on it
            if f < 0 or edge_outside(x, edges[f, 0], edges[f, 1], box, radius):
                continue
            for i in range(begin, end):
                for k in range(3):
                    e = features.sides[trees.triangle_order[i], k]
                    if e < 0:
                        continue
                    if (
                        square_of_edges(x, edges[e, 0], edges[e, 1], edges[f, 0], edges[f, 1], radius)
                        <= radius * radius
                    ):
                        if count < found.shape[0]:
                            found[count, 0], found[count, 1], found[count, 2] = 1, min(e, f), max(e, f)
                        count += 1
    return count


@inline_kernel
def square_to_triangle(x, point, triangles, triangle, radius):
    """Square of the distance of a point and a triangle [m^2], inf where it exceeds the radius along an axis."""
    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    for axis in range(3):
        p = x[point, axis]
        if (
            p - radius > max(x[a, axis], x[b, axis], x[c, axis])
            or p + radius < min(x[a, axis], x[b, axis], x[c, axis])
        ):  # fmt: skip
            return math.inf
    return closest_on_triangle_of(x, point, triangles, triangle)[6]


@inline_kernel
def square_of_edges(x, p, p_end, q, q_end, radius):
    """Square of the distance of two edges [m^2], inf where it exceeds the radius along an axis."""
    for axis in range(3):
        if (
            min(x[p, axis], x[p_end, axis]) - radius > max(x[q, axis], x[q_end, axis])
            or min(x[q, axis], x[q_end, axis]) - radius > max(x[p, axis], x[p_end, axis])
        ):  # fmt: skip
            return math.inf
    return closest_on_edges_of(x, p, p_end, q, q_end)[5]


@inline_kernel
def edge_outside(x, p, q, box, radius):
    """Whether an edge's box and another box are farther apart than the radius along an axis."""
    for axis in range(3):
        if min(x[p, axis], x[q, axis]) - radius > box[axis + 3] or box[axis] - radius > max(x[p, axis], x[q, axis]):
            return True
    return False


@inline_kernel
def boxes_apart(box, a, b, radius):
    """Whether two nodes' boxes are farther apart than the radius along an axis."""
    for axis in range(3):
        if box[a, axis] - radius > box[b, axis + 3] or box[b, axis] - radius > box[a, axis + 3]:
            return True
    return False


@inline_kernel
def box_size(box, node):
    """Longest side of a node's box [m]."""
    return max(box[node, 3] - box[node, 0], box[node, 4] - box[node, 1], box[node, 5] - box[node, 2])


@inline_kernel
def is_listed(point, body, listed_start, listed_body):
    """Whether (point, body) is on the list of points on the wrong side."""
    for k in range(listed_start[point], listed_start[point + 1]):
        if listed_body[k] == body:
            return True
    return False


@kernel
def sort_pairs(pairs, first, ordered):
    """Pairs sorted by both columns: counting sort by the first, then insertion sort of each group, which is small."""
    first[:] = 0
    for row in range(pairs.shape[0]):
        first[pairs[row, 0] + 1] += 1
    for key in range(1, first.shape[0]):
        first[key] += first[key - 1]
    placed = np.zeros(first.shape[0] - 1, np.int32)
    for row in range(pairs.shape[0]):
        key, other = pairs[row, 0], pairs[row, 1]
        begin = first[key]
        place = begin + placed[key]
        ordered[place, 0] = key
        placed[key] += 1
        while place > begin and ordered[place - 1, 1] > other:
            ordered[place, 1] = ordered[place - 1, 1]
            place -= 1
        ordered[place, 1] = other
