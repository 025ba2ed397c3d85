"""Bounding boxes over the triangles of each body: built once, refitted to moved points.

One complete binary tree per body, stored as a heap (children of node i: 2 i + 1 and 2 i + 2). Triangles are ordered
along a space-filling curve at rest, so a tree is balanced for any mesh and keeps its structure while the body deforms;
only the boxes are refitted.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel
from ..topology import space_filling_order

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

LEAF_SIZE = 3  # a leaf holds LEAF_SIZE / 2 to LEAF_SIZE triangles


class Trees(NamedTuple):
    """Box trees of all bodies. Body b owns nodes `node_start[b] ..`, its leaves are the last 2^depth[b]."""

    triangle_order: Any  # triangles, sorted by body and then by leaf, shape (triangle_count,)
    triangle_start: Any  # first place of each body in triangle_order, shape (body_count + 1,)
    node_start: Any  # shape (body_count + 1,)
    depth: Any  # levels below the root, -1 for a body without triangles, shape (body_count,)
    box: Any  # lower corner, upper corner [m], shape (node_count, 6)

    def refit(self, x: FloatArray, triangles: IntArray) -> None:
        """Fit the boxes to positions x [m], shape (point_count, 3)."""
        refit(x, triangles, self)


def build_trees(rest_positions: FloatArray, triangles: IntArray, body_triangle_start: IntArray) -> Trees:
    """Build the trees of all bodies from rest positions [m], shape (point_count, 3)."""
    body_count = body_triangle_start.shape[0] - 1
    centres = rest_positions[triangles].mean(axis=1)
    order = np.empty(triangles.shape[0], np.int32)
    node_start = np.zeros(body_count + 1, np.int32)
    depth = np.full(body_count, -1, np.int32)
    for body in range(body_count):
        start, end = int(body_triangle_start[body]), int(body_triangle_start[body + 1])
        nodes = 0
        if end > start:
            levels = 0
            while (end - start) > LEAF_SIZE << levels:
                levels += 1
            depth[body] = levels
            nodes = (2 << levels) - 1
            order[start:end] = start + space_filling_order(centres[start:end])
        node_start[body + 1] = node_start[body] + nodes
    return Trees(
        triangle_order=order,
        triangle_start=np.ascontiguousarray(body_triangle_start, np.int32),
        node_start=node_start,
        depth=depth,
        box=np.zeros((int(node_start[-1]), 6)),
    )


def tree_of(x: FloatArray, triangles: IntArray) -> Trees:
    """The tree of one surface at x, as that of body 0."""
    trees = build_trees(x, triangles, np.array([0, len(triangles)]))
    trees.refit(x, triangles)
    return trees


@kernel
def refit(x, triangles, trees):
    """Boxes of the nodes of all bodies: of the leaves, then of the levels above them."""
    box = trees.box
    for body in range(trees.depth.shape[0]):
        if trees.depth[body] < 0:
            continue
        base, first = trees.node_start[body], trees.triangle_start[body]
        size = trees.triangle_start[body + 1] - first
        leaves = 1 << trees.depth[body]
        for leaf in range(leaves):
            lx = ly = lz = np.inf
            ux = uy = uz = -np.inf
            for place in range(first + leaf * size // leaves, first + (leaf + 1) * size // leaves):
                for corner in range(3):
                    point = triangles[trees.triangle_order[place], corner]
                    px, py, pz = x[point, 0], x[point, 1], x[point, 2]
                    lx, ly, lz = min(lx, px), min(ly, py), min(lz, pz)
                    ux, uy, uz = max(ux, px), max(uy, py), max(uz, pz)
            node = base + leaves - 1 + leaf
            box[node, 0], box[node, 1], box[node, 2] = lx, ly, lz
            box[node, 3], box[node, 4], box[node, 5] = ux, uy, uz
        for node in range(leaves - 2, -1, -1):
            left, right = base + 2 * node + 1, base + 2 * node + 2
            for axis in range(3):
                box[base + node, axis] = min(box[left, axis], box[right, axis])
                box[base + node, axis + 3] = max(box[left, axis + 3], box[right, axis + 3])
