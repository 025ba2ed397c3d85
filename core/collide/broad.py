"""Broad phase: every pair of a point and a triangle of different bodies that may touch soon.

Points of each body walk the box trees of the bodies near it, in small groups of neighbours. The result is
exact (a pair is reported if and only if it is within reach) and sorted, so it depends neither on the trees
nor on the thread count.
"""

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from .contacts import WRONG_SIDE, Contacts
from .groups import build_groups, find_movers, fit_groups
from .narrow import evaluate_gaps
from .overlap import Overlaps, find_overlaps, still_behind
from .query import STACK_SIZE, find_pairs, find_partners, start_rows, write_contacts
from .tree import build_trees

FloatArray = NDArray[np.float64]

#: Gap at which a point that comes from the wrong side is let go, as a share of the thickness. A nearly full
#: thickness makes the way back slow and the last contact light.
RECOVERY_SHARE = 0.75

FIRST_REGION = 64  # pairs per chunk that have room before the first search


class ContactSearch:
    """Finds candidate contacts of one model and knows how long they stay complete.

    The order of work: `search` when `still_valid` says no (or at the start of a step), then
    `evaluate_gaps` as often as positions change.
    """

    def __init__(self, model: Model) -> None:
        surfaces = model.surfaces
        self._model = model
        self._trees = build_trees(model.rest_positions, surfaces.triangles, surfaces.body_triangle_start)
        self._groups = build_groups(
            model.rest_positions, surfaces.triangles, surfaces.body_triangle_start, model.body_point_start
        )
        body_count, point_count, chunk_count = model.body_count, model.point_count, self._groups.chunk_count
        self._reach = np.full(body_count, -1.0)
        self._searched = np.zeros((point_count, 3))
        self._margin = np.zeros(body_count)
        self._body_box = np.zeros((body_count, 6))
        self._active = np.zeros(body_count, np.uint8)
        self._partner_start = np.zeros(body_count + 1, np.int32)
        self._partner = np.zeros(max(1, 8 * body_count), np.int32)
        self._stacks = np.zeros((chunk_count, STACK_SIZE), np.int32)
        self._chunk_moved = np.zeros(chunk_count, np.uint8)
        self._point_count = np.zeros(point_count, np.int32)
        self._cursor = np.zeros(point_count, np.int32)
        self._found_count = np.zeros(chunk_count, np.int64)
        self._make_room(np.full(chunk_count, FIRST_REGION, np.int64))
        self.list_wrong_side(np.zeros((0, 2), np.int32), np.zeros(0, np.int8))

    def _make_room(self, room: NDArray[np.int64]) -> None:
        """Give each chunk its region of the found arrays."""
        self._region_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(room)])
        total = int(self._region_start[-1])
        self._found_point = np.zeros(total, np.int32)
        self._found_triangle = np.zeros(total, np.int32)
        self._found_facing = np.zeros(total, np.int8)

    def list_wrong_side(self, pairs: NDArray[np.int32], facing: NDArray[np.int8]) -> None:
        """Set the (point, body) pairs, shape (n, 2), whose point lies behind the body's surface.

        facing: +1 where the right side is the one the triangles' normals point to, else -1, shape (n,).
        Each search then gives such a pair one row with side -1 and the nearest triangle, however deep.
        """
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        self.wrong_side_pairs: NDArray[np.int32] = np.ascontiguousarray(pairs[order], np.int32)
        self.wrong_side_facing = np.ascontiguousarray(facing[order], np.int8)
        # The largest gap [m] each pair has reached by the begin of the current stage.
        self._progress = np.full(len(order), -np.inf)
        self._listed_body = np.ascontiguousarray(self.wrong_side_pairs[:, 1])
        self._listed_start = np.searchsorted(
            self.wrong_side_pairs[:, 0], np.arange(self._model.point_count + 1)
        ).astype(np.int32)

    def untangle(self, x: FloatArray) -> Overlaps:
        """Look for bodies that cross each other at x and list the points on the wrong side.

        Meant for the start of a run: it costs about as much as a hundred searches. The result is for reports.
        """
        overlaps = find_overlaps(self._model, self._trees, x)
        self.list_wrong_side(overlaps.pairs, overlaps.facing)
        return overlaps

    def recover(self, x: FloatArray, contacts: Contacts) -> None:
        """Ask points on the wrong side for their next bit of the way back; call it when a time stage begins at x.

        The gap of such a point is shifted so that it is RECOVERY_SHARE of the thickness where the point has
        been nearest to the right side so far. So it is pushed as a light touch would, all the way out, and
        leaves the list when its true gap is as large: the force never jumps, and no energy is stored in a
        deep overlap. Between two calls the shift stays, through searches too.
        """
        if len(self.wrong_side_pairs) and contacts.count:
            evaluate_gaps(x, contacts, self._model.surfaces)
            rows = self._listed_rows(contacts)
            np.maximum(self._progress, contacts.gap[rows] - contacts.offset[rows], out=self._progress)
            self._shift(contacts, rows)

    def _listed_rows(self, contacts: Contacts) -> NDArray[np.int64]:
        """Rows with side -1, in the order of the pairs: both are sorted, as triangles are numbered body by body."""
        return np.flatnonzero(contacts.side[: contacts.count] == WRONG_SIDE)

    def _shift(self, contacts: Contacts, rows: NDArray[np.int64]) -> None:
        """Offsets of the rows with side -1, for what each pair has reached."""
        contacts.offset[rows] = np.maximum(0.0, RECOVERY_SHARE * contacts.thickness[rows] - self._progress)

    def _release(self, x: FloatArray) -> None:
        """Take points that have come back to the right side off the list."""
        point, body = self.wrong_side_pairs.T
        gap = still_behind(self._model, self._trees, x, self.wrong_side_pairs, self.wrong_side_facing)
        thickness = self._model.thickness[self._model.point_body[point]] + self._model.thickness[body]
        behind = ~((gap > 0.0) & (gap >= RECOVERY_SHARE * thickness))
        progress = np.where(np.isneginf(self._progress), gap, self._progress)[behind]
        self.list_wrong_side(self.wrong_side_pairs[behind], self.wrong_side_facing[behind])
        self._progress = progress

    def search(self, x: FloatArray, reach: FloatArray, contacts: Contacts) -> None:
        """Fill `contacts` with every (point, triangle) pair that may come closer than its thickness.

        x: positions [m], shape (point_count, 3), C-contiguous. reach: how far the points of each body may
        move before the next search [m], shape (body_count,). A pair is a candidate when its distance is at
        most the thickness plus the reach of both bodies. `evaluate_gaps` must follow.
        """
        model, groups, trees = self._model, self._groups, self._trees
        surfaces = model.surfaces
        np.copyto(self._searched, x)
        np.copyto(self._reach, reach)
        np.add(model.thickness, self._reach, out=self._margin)
        fit_groups(x, groups.points, groups.start, groups.chunk_start, groups.box)
        while True:
            partner_count = find_partners(
                self._margin, model.membrane_count, groups.body, groups.box, self._listed_body, self._body_box,
                self._active, self._partner_start, self._partner,
            )  # fmt: skip
            if partner_count <= self._partner.shape[0]:
                break
            self._partner = np.zeros(partner_count + partner_count // 2, np.int32)
        trees.refit(x, surfaces.triangles, self._active)
        if len(self.wrong_side_pairs):
            self._release(x)
        while True:
            find_pairs(
                x, surfaces.triangles, self._margin, groups.points, groups.start, groups.body, groups.box,
                groups.chunk_start, groups.chunk_order, self._partner_start, self._partner,
                trees.triangle_order, trees.triangle_start, trees.node_start, trees.depth, trees.box,
                self._listed_start, self._listed_body, self.wrong_side_facing, self._stacks,
                self._region_start, self._found_point, self._found_triangle, self._found_facing, self._found_count,
                self._point_count,
            )  # fmt: skip
            room = np.diff(self._region_start)
            if (self._found_count <= room).all():
                break
            self._make_room(np.maximum(room, self._found_count + self._found_count // 2))
        contacts.count = start_rows(self._point_count, self._cursor)
        contacts.reserve(contacts.count)
        write_contacts(
            surfaces.triangles, surfaces.triangle_body, model.thickness, model.friction, model.bounciness,
            groups.points, groups.start, groups.body, groups.chunk_start, groups.chunk_order,
            self._region_start, self._found_count, self._found_point, self._found_triangle, self._found_facing,
            self._cursor, self._point_count,
            contacts.points, contacts.kind, contacts.triangle, contacts.bodies, contacts.thickness,
            contacts.friction, contacts.bounciness, contacts.side, contacts.facing,
        )  # fmt: skip
        contacts.index_vertices()
        contacts.offset[: contacts.count] = 0.0
        if len(self.wrong_side_pairs):
            self._shift(contacts, self._listed_rows(contacts))

    def still_valid(self, x: FloatArray) -> bool:
        """Whether no point has moved farther than its body's reach since the last search.

        While this holds, every pair closer than its thickness is among the candidates.
        """
        if self._reach.shape[0] == 0 or self._reach[0] < 0.0:
            return False
        groups = self._groups
        find_movers(
            x, self._searched, self._reach, groups.points, groups.start, groups.body, groups.chunk_start,
            self._chunk_moved,
        )  # fmt: skip
        return not self._chunk_moved.any()
