"""Broad phase: all vertex-triangle and edge-edge pairs of different bodies within reach.

The box trees of bodies near each other are walked in pairs of nodes. The result is exact (a pair is reported if and
only if it is within reach) and sorted, so it does not depend on the trees.
"""

import numpy as np
from numpy.typing import NDArray

from ...model import Model
from ..contacts import Contacts
from ..untangle.overlap import Overlaps, find_overlaps
from ..untangle.recovery import WrongSide
from .body_pairs import BodyPairs, any_moved, fit_bodies
from .box_tree import build_trees
from .edge_edge import rim_normals, without_rims, write_edges
from .pair_search import WALK_SIZE, Features, find_pairs, sort_pairs
from .vertex_triangle import write_contacts

FloatArray = NDArray[np.float64]

#: Empty box of a body that is near no other.
NOWHERE = np.array([np.inf] * 3 + [-np.inf] * 3)


class ContactSearch:
    """Finds candidate pairs of one model and tests how long they stay complete.

    Call `search` when `others_valid` is False, then `evaluate_gaps` whenever positions change.
    """

    def __init__(self, model: Model, *, among_moving: bool = True) -> None:
        """`among_moving`: whether contacts of two moving bodies are included, or only those with colliders."""
        surfaces = model.surfaces
        self._model = model
        self._among_moving = among_moving
        self._trees = build_trees(model.rest_positions, surfaces.triangles, surfaces.body_triangle_start)
        self._features = Features.of(surfaces)
        body_count, point_count = model.body_count, model.point_count
        self._reach = np.full(body_count, -1.0)
        self._searched = np.zeros((point_count, 3))
        self._margin = np.zeros(body_count)
        self._body_box = np.zeros((body_count, 6))
        self._active = np.zeros(body_count, np.uint8)
        self._walk = np.zeros((WALK_SIZE, 2), np.int32)
        self._found = np.zeros((1024, 3), np.int32)
        self._first_of_point = np.zeros(point_count + 1, np.int64)
        self._first_of_edge = np.zeros(len(surfaces.edges) + 1, np.int64)
        self._rim = rim_normals(model)
        self._wrong = WrongSide(model)

    @property
    def reach(self) -> FloatArray:
        """Displacement of each body's points that needs no new search [m], shape (body_count,)."""
        return self._reach

    @property
    def searched(self) -> FloatArray:
        """Positions of the last search [m], shape (point_count, 3)."""
        return self._searched

    @property
    def wrong_side_pairs(self) -> NDArray[np.int32]:
        """(point, body) pairs whose point lies behind the body's surface, maybe its own, sorted, shape (n, 2)."""
        return self._wrong.pairs

    @property
    def wrong_side_facing(self) -> NDArray[np.int8]:
        """Side of each pair's triangles on which the point belongs: +1 that of their normals, else -1."""
        return self._wrong.facing

    def list_wrong_side(self, pairs: NDArray[np.int32], facing: NDArray[np.int8]) -> None:
        """Set the (point, body) pairs, shape (n, 2), whose point lies behind the body's surface, and their facing.

        Each search then gives such a pair one row with side -1 at any depth, in place of its ordinary rows with that
        body, and removes pairs that are back on the right side from the list.
        """
        if len(pairs) or len(self._wrong):
            self._wrong.set(pairs, facing)

    def overlaps(self, x: FloatArray) -> Overlaps:
        """Find bodies that cross each other at x [m]; it costs about as much as a hundred searches."""
        return find_overlaps(self._model, self._trees, x)

    def search(
        self,
        x: FloatArray,
        reach: FloatArray,
        contacts: Contacts,
        left_out: NDArray[np.bool_] | None = None,
    ) -> None:
        """Fill `contacts` with every pair of a point and a triangle or two edges that may come within its thickness.

        x: positions [m], shape (point_count, 3), C-contiguous. reach: how far the points of each body may
        move before the next search [m], shape (body_count,). A pair is a candidate when its distance is at
        most the thickness plus the reach of both bodies. `evaluate_gaps` must follow.
        left_out: bodies without contacts, shape (body_count,); none if None.
        """
        model, trees, wrong = self._model, self._trees, self._wrong
        surfaces = model.surfaces
        np.copyto(self._searched, x)
        np.copyto(self._reach, reach)
        fit_bodies(x, model.body_point_start, self._body_box)
        if left_out is not None:
            self._body_box[left_out] = NOWHERE
        np.add(model.thickness, self._reach, out=self._margin)
        partners = BodyPairs.of(
            self._body_box, self._margin, model.moving_count, among_moving=self._among_moving, ignores=model.ignores
        )
        if not len(partners.other) and not len(self._wrong):
            contacts.clear()
            return
        self._active[:] = partners.bodies
        self._active[self._wrong.body] = 1
        trees.refit(x, surfaces.triangles, self._active)
        if len(self._wrong):
            self._wrong.release(x, trees)
        while True:
            count = find_pairs(
                x, self._features, trees, self._margin, partners.start, partners.other, wrong.start, wrong.body,
                self._walk, self._found,
            )  # fmt: skip
            if count <= len(self._found):
                break
            self._found = np.zeros((count + count // 2, 3), np.int32)
        are_edges, pairs = self._found[:count, 0] == 1, self._found[:count, 1:]
        points = wrong.replace(pairs[~are_edges])
        edges = without_rims(pairs[are_edges], self._rim)
        contacts.count = contacts.edge_start = len(points)
        contacts.reserve(len(points) + len(edges))
        ordered = np.empty_like(points)
        sort_pairs(points, self._first_of_point, ordered)
        write_contacts(
            ordered, surfaces.triangles, surfaces.triangle_body, model.point_body, model.thickness,
            wrong.start, wrong.body, wrong.facing,
            contacts.points, contacts.triangle, contacts.bodies, contacts.thickness,
            contacts.side, contacts.facing,
        )  # fmt: skip
        ordered = np.empty_like(edges)
        sort_pairs(edges, self._first_of_edge, ordered)
        write_edges(model, x, ordered, wrong, contacts)
        self._wrong.set_planes(x, contacts)

    def forget(self) -> None:
        """Let the next `others_valid` return False."""
        self._reach[:] = -1.0

    def others_valid(self, x: FloatArray, beyond: FloatArray | None = None) -> bool:
        """Whether every pair of different bodies closer than its thickness is among the candidates.

        That is, no point has moved farther than its body's reach since the last search. beyond: distance added to the
        thickness of pairs with each body [m], shape (body_count,).
        """
        reach = self._reach if beyond is None else self._reach - beyond
        return not any_moved(x, self._searched, reach, self._model.body_point_start)
