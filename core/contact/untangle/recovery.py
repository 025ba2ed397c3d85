"""Vertices on the wrong side of a surface: the direction and speed of their way back, and when they are released."""

import numpy as np
from numpy.typing import NDArray

from ...jit import kernel
from ...model import BoolArray, FloatArray, IntArray, Model
from ..broad_phase.box_tree import Trees
from ..contacts import WRONG_SIDE, Contacts
from ..kept_distance import RECOVERY_SHARE
from ..narrow_phase.closest_points import unit_normal
from ..narrow_phase.nearest_triangle import NOTHING_BARRED, STACK_SIZE, nearest_triangle
from ..narrow_phase.vertex_triangle import aim, evaluate_gaps, measure
from .self_overlap import self_way_out, self_wrong_side

#: By how much more than it has reached a point of a skin that crosses itself is asked for in each stage, as a share of
#: the gap at which it is let go: what the skin's own springs hold back is pushed harder and harder.
INSISTENCE = 0.3
#: Gap that is left of that one where a point does not give way.
LEAST_GAP = 0.1

#: A skin that crosses itself is left as it is when this many points more than at the frame's start are on the wrong
#: side: an impact presses it into itself faster than it comes apart, and pushing would only make it fly.
SLIGHTLY_WORSE = 2

#: Length of the mean normal of what lies on the wrong side (1: flat) from which on it tells how to come apart.
CLEAR_DIRECTION = 0.05


class WrongSide:
    """List of (point, body) pairs whose point is behind the body's surface, sorted.

    pairs: shape (n, 2); facing: +1 where the right side is the one the triangles' normals point to, else -1,
    shape (n,); start: CSR of pairs over points, shape (point_count + 1,); body: second column of pairs;
    direction: unit vectors along which the points come back, zero where unknown, shape (n, 3);
    progress: gap [m] that counts as reached, shape (n,); own: whether body is the point's own, shape (n,);
    exit: the triangle by which a point leaves its own body, of the other pairs -1, shape (n,).
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._parting = True
        self._most = np.full(model.body_count, np.inf)  # points of each skin on its own wrong side
        self.set(np.zeros((0, 2), np.int32), np.zeros(0, np.int8))

    def __len__(self) -> int:
        return len(self.pairs)

    def drive_apart(self, parting: bool, wrong_side: IntArray) -> None:
        """Begin a frame with a state's `wrong_side`: what crosses itself is driven apart, unless that gets worse.

        Where not `parting` it stays as it is.
        """
        self._parting = parting
        body, facing = wrong_side[:, 1], wrong_side[:, 2]
        own = (facing != 0) & (self._model.point_body[wrong_side[:, 0]] == body)
        self._most[:] = np.bincount(body[own], minlength=len(self._most)) + SLIGHTLY_WORSE

    def set(self, pairs: IntArray, facing: NDArray[np.int8]) -> None:
        """Replace the list; every point starts from where it is at the next search."""
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        self.pairs: IntArray = np.ascontiguousarray(pairs[order], np.int32)
        self.facing: NDArray[np.int8] = np.ascontiguousarray(facing[order], np.int8)
        self.body: IntArray = np.ascontiguousarray(self.pairs[:, 1])
        self.direction: FloatArray = np.zeros((len(order), 3))
        self.progress: FloatArray = np.full(len(order), -np.inf)
        self.own: BoolArray = self._model.point_body[self.pairs[:, 0]] == self.body
        self.exit: IntArray = np.full(len(order), -1, np.int32)
        self.start: IntArray = np.searchsorted(self.pairs[:, 0], np.arange(self._model.point_count + 1)).astype(
            np.int32
        )

    def release(self, x: FloatArray, trees: Trees) -> None:
        """Take points that have come back to the right side off the list, and aim the others.

        What crosses itself is looked at anew: its points may go through others on the way out.
        x: positions [m], shape (point_count, 3), which the trees must fit.
        """
        model = self._model
        inside = self._renew_own(x, trees)
        body = model.point_body[self.pairs[:, 0]]
        way = np.full(len(self), -1, np.int32)
        way[self.own] = self_way_out(model, trees, x, self.pairs[self.own])
        gap = signed_gaps(model, trees, x, self.pairs, self.facing, way)
        enough = RECOVERY_SHARE * (model.thickness[body] + model.thickness[self.body])
        behind = ~((gap > 0.0) & (gap >= enough)) | inside
        count = np.bincount(self.body[behind & self.own], minlength=len(self._most))
        behind &= ~(self.own & ((way < 0) | (not self._parting) | (count > self._most)[self.body]))
        progress = self.progress[behind]
        self.set(self.pairs[behind], self.facing[behind])
        self.progress, self.exit = progress, way[behind]
        self._aim(x)

    def _renew_own(self, x: FloatArray, trees: Trees) -> BoolArray:
        """Add to the list what else is on the wrong side of bodies that cross themselves; returns which pairs are."""
        if not self._parting:
            return np.zeros(len(self), bool)
        kept = ~self.own
        pairs, facing, progress = [self.pairs[kept]], [self.facing[kept]], [self.progress[kept]]
        inside = [np.zeros(int(kept.sum()), bool)]
        for body in np.unique(self.body[self.own]).tolist():
            rows = np.flatnonzero(self.own & (self.body == body))
            wrong, side = self_wrong_side(self._model, trees, x, body)
            points = np.union1d(self.pairs[rows, 0], wrong).astype(np.int32)
            known = np.isin(points, self.pairs[rows, 0])
            listed = np.isin(points, wrong)
            now, reached = np.zeros(len(points), np.int8), np.full(len(points), -np.inf)
            now[known], reached[known] = self.facing[rows], self.progress[rows]
            now[listed] = side
            pairs.append(np.stack([points, np.full_like(points, body)], axis=1))
            facing.append(now)
            progress.append(reached)
            inside.append(listed)
        joined = np.concatenate(pairs)
        order = np.lexsort((joined[:, 1], joined[:, 0]))
        self.set(joined, np.concatenate(facing))
        self.progress = np.concatenate(progress)[order]
        return np.asarray(np.concatenate(inside)[order])

    def _aim(self, x: FloatArray) -> None:
        """Directions in which bodies come apart: against the mean normal of the skin that is on the wrong side.

        The area vector of a piece of surface depends on its rim only, which is where the bodies cross; so it
        tells the way out however deep the piece is. Both bodies of a pair get opposite directions.
        """
        model, surfaces = self._model, self._model.surfaces
        body = model.point_body[self.pairs[:, 0]]
        keys = set(zip(np.minimum(body, self.body).tolist(), np.maximum(body, self.body).tolist(), strict=True))
        for low, high in sorted(keys):
            if low == high:
                continue  # the pieces of a skin that crosses itself have ways of their own
            vector, area = np.zeros(3), 0.0
            for a, b, sign in ((low, high, -1.0), (high, low, 1.0)):
                listed = (body == a) & (self.body == b)
                if a >= model.moving_count or not listed.any():
                    continue  # colliders may be wound in any way
                wrong = np.zeros(model.point_count, bool)
                wrong[self.pairs[listed, 0]] = True
                first, last = surfaces.body_triangle_start[a], surfaces.body_triangle_start[a + 1]
                corners = surfaces.triangles[first:last]
                share = wrong[corners].mean(axis=1)
                corners, share = corners[share > 0.0], share[share > 0.0]
                normal = np.cross(x[corners[:, 1]] - x[corners[:, 0]], x[corners[:, 2]] - x[corners[:, 0]])
                vector += sign * (share[:, None] * normal).sum(axis=0)
                area += float((share * np.linalg.norm(normal, axis=1)).sum())
            length = float(np.linalg.norm(vector))
            if length > CLEAR_DIRECTION * area:
                self.direction[(body == low) & (self.body == high)] = vector / length
                self.direction[(body == high) & (self.body == low)] = -vector / length

    def replace_own(self, found: IntArray) -> tuple[IntArray, NDArray[np.int8]]:
        """(point, triangle) pairs of bodies with themselves, of listed points their way out, and the facing of each.

        `found` and the result are sorted, shape (n, 2); facing is 0 for ordinary pairs, shape (n,).
        """
        if not self.own.any():
            return found, np.zeros(len(found), np.int8)
        points = self.pairs[self.own, 0]
        found = found[~np.isin(found[:, 0], points)]
        pairs = np.concatenate([found, np.stack([points, self.exit[self.own]], axis=1)])
        facing = np.concatenate([np.zeros(len(found), np.int8), self.facing[self.own]])
        order = np.lexsort(pairs.T[::-1])
        return np.ascontiguousarray(pairs[order]), facing[order]

    def shift(self, x: FloatArray, contacts: Contacts, new_stage: bool) -> None:
        """Set the offsets of the rows with side -1 from what each point has reached.

        The gap then reads RECOVERY_SHARE of the thickness where the point has been nearest to the right
        side by the begin of the stage. Progress is given up only where a point is so far behind it (pushed
        deeper, or sent another way) that the gap would read less than none.
        """
        if len(self.pairs) == 0 or contacts.count == 0:
            return
        # Rows and pairs are in the same order: triangles are numbered body by body.
        rows = np.flatnonzero(contacts.side[: contacts.edge_start] == WRONG_SIDE)
        if self.own.any():
            aim(x, rows[self.own], contacts.points, contacts.facing, contacts.weights, contacts.normal)
        evaluate_gaps(x, contacts, self._model.surfaces)
        gap = contacts.gap[rows] - contacts.offset[rows]
        step = RECOVERY_SHARE * contacts.thickness[rows]
        if new_stage:
            np.maximum(self.progress, gap, out=self.progress)
            own = self.own
            asked = np.minimum(self.progress + INSISTENCE * step, gap + (1.0 - LEAST_GAP) * step)
            self.progress[own] = np.maximum(self.progress, asked)[own]
        self.progress[:] = np.where(np.isneginf(self.progress), gap, np.minimum(self.progress, gap + step))
        # a point of the same skin may have to go farther than it would rest, where the skin presses on it
        contacts.offset[rows] = np.maximum(np.where(self.own, -np.inf, 0.0), step - self.progress)


def signed_gaps(
    model: Model, trees: Trees, x: FloatArray, pairs: IntArray, facing: NDArray[np.int8], way: IntArray
) -> FloatArray:
    """Gap [m] of each (point, body) pair to the nearest triangle of the body: below zero while behind it.

    way: the triangle to be taken instead, or -1. The trees must fit x; shape of the result: (pair_count,).
    """
    count = pairs.shape[0]
    gap = np.zeros(count)
    listed_gaps(
        x, model.surfaces.triangles, model.surfaces.triangle_neighbour, pairs, facing, way, trees.triangle_order,
        trees.triangle_start, trees.node_start, trees.depth, trees.box, np.zeros(STACK_SIZE, np.int32),
        np.zeros((count, 4)), np.zeros((count, 3)), np.zeros(count), np.zeros(count, np.int8), gap,
    )  # fmt: skip
    return gap


@kernel
def listed_gaps(
    x, triangles, triangle_neighbour, pairs, facing, way, triangle_order, triangle_start, node_start, depth, box,
    stack, weights, normal, distance, feature, gap,
):  # fmt: skip
    """Signed gaps of pairs (point, body); weights to feature are scratch."""
    for row in range(pairs.shape[0]):
        triangle = way[row]
        if triangle < 0:
            triangle = nearest_triangle(
                x, pairs[row, 0], pairs[row, 1], NOTHING_BARRED, triangles, triangle_order, triangle_start, node_start,
                depth, box, stack,
            )  # fmt: skip
        measure(
            x, triangles, triangle_neighbour, pairs[row, 0], triangle, -1, facing[row], False, row,
            weights, normal, distance, gap, feature,
        )  # fmt: skip


@kernel
def find_through(x, edge_start, points, triangle, triangles, side, feature, above):
    """Rows whose point now lies over the other side of the triangle's face than `above` says; marks them in it by 2.

    above: +1 or -1 for the side of the triangle's plane on which each row's point was, 0 where that is not known.
    Beside the face the side may change: there it goes around a corner. Returns the number of rows found.
    """
    found = 0
    for row in range(edge_start):
        t = triangles[triangle[row]]
        nx, ny, nz = unit_normal(x, t[0], t[1], t[2])
        p = points[row, 0]
        height = (x[p, 0] - x[t[0], 0]) * nx + (x[p, 1] - x[t[0], 1]) * ny + (x[p, 2] - x[t[0], 2]) * nz
        here = 1 if height > 0.0 else -1
        if side[row] > 0 and feature[row] == 0 and above[row] == -here:
            above[row] *= 2
            found += 1
        else:
            above[row] = here
    return found
