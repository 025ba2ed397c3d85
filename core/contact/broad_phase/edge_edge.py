"""Broad phase of edges against edges: pairs of edges closer than the margins of both bodies.

Every edge is assigned to one of its triangles and so to one leaf of its body's tree; pairs of trees are traversed
together.
"""

import numpy as np
from numpy.typing import NDArray

from ...jit import inline_kernel, kernel
from ...model import FloatArray, IntArray, Model
from ..contacts import EDGE_EDGE, RIGHT_SIDE, WRONG_SIDE, Contacts
from ..mixing import mixed_kernel
from ..narrow_phase.closest_points import closest_on_edges_of, edge_meets
from ..untangle.recovery import WrongSide
from .body_pairs import BodyPairs
from .box_tree import Trees

#: Cosine between the normals of two planes above which they are parallel [1].
PARALLEL = 1.0 - 1e-9
WALK_SIZE = 128  # stack of node pairs: at most one per level of each tree and one more


def owned_edges(triangles: IntArray, edges: IntArray) -> IntArray:
    """The edge of each triangle's side (corner k, corner k + 1), -1 where an earlier triangle has it.

    Shape (triangle_count, 3).
    """
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    span = int(triangles.max(initial=0)) + 1
    number = np.searchsorted(edges[:, 0].astype(np.int64) * span + edges[:, 1], sides.astype(np.int64) @ [span, 1])
    owned = np.full(number.shape, -1, np.int32)
    found, first = np.unique(number, return_index=True)
    owned[first] = found
    return owned.reshape(-1, 3)


def rim_normals(model: Model) -> FloatArray:
    """Unit normal of the plane of each edge along a flat body's outline, 0 of all others, shape (edge_count, 3).

    Empty where nothing is flat.
    """
    edges, flat = model.surfaces.edges, model.flat
    if not len(flat.pairs):
        return np.zeros((0, 3))
    body = np.minimum(model.surfaces.edge_body, model.membrane_count - 1)
    is_flat = (model.surfaces.edge_body < model.membrane_count) & (flat.depth[body] > 0.0)
    copy = (edges - model.body_point_start[body][:, None]) % 2
    return np.asarray(np.where((is_flat & (copy[:, 0] == copy[:, 1]))[:, None], flat.normal[body], 0.0))


class EdgePairs:
    """Finds the pairs of edges for one model; the buffers grow and stay."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._owned = owned_edges(model.surfaces.triangles, model.surfaces.edges)
        #: First edge of each body, and the last one's end.
        self.body_start = np.searchsorted(model.surfaces.edge_body, np.arange(model.body_count + 1))
        self._walk = np.zeros((WALK_SIZE, 2), np.int32)
        self._found = np.zeros((1024, 2), np.int32)
        self._first = np.zeros(len(model.surfaces.edges) + 1, np.int64)
        self._rim = rim_normals(model)

    def find(
        self, x: FloatArray, margin: FloatArray, partners: BodyPairs, trees: Trees, own: IntArray
    ) -> NDArray[np.int32]:
        """Pairs (lower, higher) of edges of different bodies within the margins [m] of both, sorted, shape (n, 2).

        `own`: self-contact pairs to merge in.
        """
        surfaces = self._model.surfaces
        while True:
            count = find_edge_pairs(
                x, surfaces.edges, self._owned, margin, partners.start, partners.other, trees.triangle_order,
                trees.triangle_start, trees.node_start, trees.depth, trees.box, self._walk, self._found,
            )  # fmt: skip
            if count <= len(self._found):
                break
            self._found = np.zeros((count + count // 2, 2), np.int32)
        pairs = np.concatenate([self._found[:count], own])
        if len(self._rim):
            # in one plane they would cross at distance 0; the bands' points and other edges have the contacts
            normal = self._rim[pairs]
            pairs = pairs[np.abs(np.einsum("pi,pi->p", normal[:, 0], normal[:, 1])) < PARALLEL]
        ordered = np.empty_like(pairs)
        sort_pairs(pairs, self._first, ordered)
        return ordered

    def take(self, model: Model) -> None:
        """Use another model that differs in values only (`animation/segments.py`)."""
        self._model = model

    def write(self, x: FloatArray, pairs: IntArray, wrong: WrongSide, contacts: Contacts) -> None:
        """Append a row for each pair of edges to the contacts, which have room for them.

        Its side is -1 where an end of one is on the wrong side of the other's body, or one passes through a triangle at
        the other: such a pair limits no step.
        """
        model, first = self._model, contacts.count
        surfaces = model.surfaces
        contacts.edge_start = first
        contacts.invalidate_edges()
        contacts.count = first + len(pairs)
        write_rows(
            first, pairs, surfaces.edges, surfaces.edge_apex, surfaces.edge_body, model.membrane_count,
            model.thickness, model.friction, contacts.kind, contacts.points, contacts.triangle, contacts.edges,
            contacts.apex, contacts.bodies, contacts.soft, contacts.thickness, contacts.friction, contacts.facing,
        )  # fmt: skip
        set_sides(
            x, first, contacts.count, contacts.points, contacts.apex, contacts.bodies, wrong.start, wrong.body,
            contacts.side,
        )  # fmt: skip


@kernel
def write_rows(
    first, pairs, edge_points, edge_apex, edge_body, membrane_count, body_thickness, body_friction,
    kind, points, triangle, edges, apex, bodies, soft, thickness, friction, facing,
):  # fmt: skip
    """Write the constant fields of edge pairs, from row `first` on."""
    for pair in range(pairs.shape[0]):
        row = first + pair
        kind[row], triangle[row], facing[row] = EDGE_EDGE, -1, 0
        for side in range(2):
            edge = pairs[pair, side]
            edges[row, side], bodies[row, side] = edge, edge_body[edge]
            soft[row, side] = edge_body[edge] < membrane_count
            for end in range(2):
                points[row, 2 * side + end] = edge_points[edge, end]
                apex[row, 2 * side + end] = edge_apex[edge, end]
        a, b = bodies[row, 0], bodies[row, 1]
        thickness[row] = body_thickness[a] + body_thickness[b]
        friction[row] = mixed_kernel(body_friction[a], body_friction[b])


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


@kernel
def find_edge_pairs(
    x, edges, owned, margin, partner_start, partner, triangle_order, triangle_start, node_start, depth, box, walk, found
):  # fmt: skip
    """Traverse the trees of every pair of partners; returns the number of pairs, which may exceed the room in `found`.

    The pairs are unsorted.
    """
    count = 0
    for body in range(depth.shape[0]):
        for entry in range(partner_start[body], partner_start[body + 1]):
            other = partner[entry]
            if other >= body and depth[body] >= 0 and depth[other] >= 0:
                count = walk_trees(
                    x, edges, owned, body, other, margin[body] + margin[other], triangle_order, triangle_start,
                    node_start, depth, box, walk, found, count,
                )  # fmt: skip
    return count


@kernel
def walk_trees(
    x, edges, owned, body, other, radius, triangle_order, triangle_start, node_start, depth, box, walk, found, count
):  # fmt: skip
    """Add the pairs of edges of two bodies; returns the number of pairs so far."""
    walk[0, 0], walk[0, 1] = 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        a, b = walk[waiting, 0], walk[waiting, 1]
        if boxes_apart(box, node_start[body] + a, node_start[other] + b, radius):
            continue
        split_a, split_b = a < (1 << depth[body]) - 1, b < (1 << depth[other]) - 1
        if split_a and not split_b and leaf_apart(
            x, edges, owned, box, node_start[body] + a, other, b, radius, triangle_order, triangle_start, depth,
        ):  # fmt: skip
            continue
        if split_a and split_b:
            split_a = box_size(box, node_start[body] + a) >= box_size(box, node_start[other] + b)
        if split_a:
            walk[waiting, 0], walk[waiting, 1] = 2 * a + 1, b
            walk[waiting + 1, 0], walk[waiting + 1, 1] = 2 * a + 2, b
            waiting += 2
        elif split_b:
            walk[waiting, 0], walk[waiting, 1] = a, 2 * b + 1
            walk[waiting + 1, 0], walk[waiting + 1, 1] = a, 2 * b + 2
            waiting += 2
        else:
            count = pair_leaves(
                x, edges, owned, body, other, a, b, box[node_start[other] + b], radius, triangle_order,
                triangle_start, depth, found, count,
            )  # fmt: skip
    return count


@kernel
def leaf_apart(x, edges, owned, box, node, body, leaf_node, radius, triangle_order, triangle_start, depth):
    """Whether all edges of a leaf are farther from a node's box than the radius along an axis.

    Tighter than the box of a large triangle: the edges of a floor are far from most bodies on it.
    """
    leaves, first = 1 << depth[body], triangle_start[body]
    leaf, size = leaf_node - leaves + 1, triangle_start[body + 1] - first
    for j in range(first + leaf * size // leaves, first + (leaf + 1) * size // leaves):
        for side in range(3):
            e = owned[triangle_order[j], side]
            if e >= 0 and not edge_outside(x, edges[e, 0], edges[e, 1], box[node], radius):
                return False
    return True


@kernel
def edge_outside(x, p, q, box, radius):
    """Whether an edge's box and another box are farther apart than the radius along an axis."""
    for axis in range(3):
        if min(x[p, axis], x[q, axis]) - radius > box[axis + 3] or box[axis] - radius > max(x[p, axis], x[q, axis]):
            return True
    return False


@kernel
def mark_met(x, body_box, margin, partner_start, partner, body_point_start, edges, edge_start, met):
    """Mark bodies that a point or an edge of a partner may come near; the others are skipped."""
    for body in range(met.shape[0]):
        met[body] = 0
        for entry in range(partner_start[body], partner_start[body + 1]):
            other = partner[entry]
            radius = margin[body] + margin[other]
            for i in range(body_point_start[other], body_point_start[other + 1]):
                if not edge_outside(x, i, i, body_box[body], radius):
                    met[body] = 1
                    break
            if met[body]:
                break
            for e in range(edge_start[other], edge_start[other + 1]):
                if not edge_outside(x, edges[e, 0], edges[e, 1], body_box[body], radius):
                    met[body] = 1
                    break
            if met[body]:
                break


@inline_kernel
def pair_leaves(
    x, edges, owned, body, other, a, b, other_box, radius, triangle_order, triangle_start, depth, found, count
):  # fmt: skip
    """Add the pairs of edges of two leaves, one of each body; returns the number of pairs so far.

    `other_box`: box of the second leaf, to reject most edges of the first at once.
    """
    leaves_a, leaves_b = 1 << depth[body], 1 << depth[other]
    first_a, first_b = triangle_start[body], triangle_start[other]
    size_a, size_b = triangle_start[body + 1] - first_a, triangle_start[other + 1] - first_b
    leaf_a, leaf_b = a - leaves_a + 1, b - leaves_b + 1
    for i in range(first_a + leaf_a * size_a // leaves_a, first_a + (leaf_a + 1) * size_a // leaves_a):
        for side_i in range(3):
            e = owned[triangle_order[i], side_i]
            if e < 0:
                continue
            p, p_end = edges[e, 0], edges[e, 1]
            if edge_outside(x, p, p_end, other_box, radius):
                continue
            for j in range(first_b + leaf_b * size_b // leaves_b, first_b + (leaf_b + 1) * size_b // leaves_b):
                for side_j in range(3):
                    f = owned[triangle_order[j], side_j]
                    if f < 0:
                        continue
                    q, q_end = edges[f, 0], edges[f, 1]
                    if edges_apart(x, p, p_end, q, q_end, radius):
                        continue
                    if closest_on_edges_of(x, p, p_end, q, q_end)[5] > radius * radius:
                        continue
                    if count < found.shape[0]:
                        found[count, 0], found[count, 1] = min(e, f), max(e, f)
                    count += 1
    return count


@kernel
def set_sides(x, first, last, points, apex, bodies, listed_start, listed_body, side):
    """Write the sides of edge pairs first .. last - 1, see `EdgePairs.write`."""
    for row in range(first, last):
        p, p_end, q, q_end = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
        crossed = (
            is_listed(p, bodies[row, 1], listed_start, listed_body)
            or is_listed(p_end, bodies[row, 1], listed_start, listed_body)
            or is_listed(q, bodies[row, 0], listed_start, listed_body)
            or is_listed(q_end, bodies[row, 0], listed_start, listed_body)
        )
        for k in range(2):
            c, d = apex[row, k], apex[row, 2 + k]
            if d >= 0 and d != p and d != p_end:
                crossed = crossed or edge_meets(x, p, p_end, q, q_end, d) >= 0.0
            if c >= 0 and c != q and c != q_end:
                crossed = crossed or edge_meets(x, q, q_end, p, p_end, c) >= 0.0
        side[row] = WRONG_SIDE if crossed else RIGHT_SIDE


@inline_kernel
def is_listed(point, body, listed_start, listed_body):
    """Whether (point, body) is on the list of points on the wrong side."""
    for k in range(listed_start[point], listed_start[point + 1]):
        if listed_body[k] == body:
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
def edges_apart(x, p, p_end, q, q_end, radius):
    """Whether the boxes of two edges are farther apart than the radius along an axis."""
    for axis in range(3):
        if (
            min(x[p, axis], x[p_end, axis]) - radius > max(x[q, axis], x[q_end, axis])
            or min(x[q, axis], x[q_end, axis]) - radius > max(x[p, axis], x[p_end, axis])
        ):  # fmt: skip
            return True
    return False
