"""Bodies that cross at the start, or where positions were set: points behind a surface are moved back.

The planes of the contact set keep every point on its present side, so pairs of bodies with points on the wrong side are
excluded from it (`explicit.arrays.Bodies.crosses`). Their contacts are those of `contact/broad_phase/search.py`, which
knows the right side. They are found anew in every substep, projected with the others and not verified: points behind a
surface return at the same rate as points that are too near. Once all its points have returned a pair of bodies belongs
to the contact set again, unless edges still cross triangles between their ends: then the distance that the pair keeps
grows until they do not.
"""

import numpy as np

from ...contact.broad_phase.search import ContactSearch
from ...contact.contacts import Contacts as Record
from ...contact.narrow_phase.vertex_triangle import evaluate_gaps
from ...model import BoolArray, FloatArray, IntArray, Model
from ...state import State
from .arrays import Contacts, contacts_of
from .layout import Numbering

#: Frames in which edges are looked for that still cross, and skins leave themselves.
UNTANGLING_FRAMES = 24
#: Growth of the distance of pairs whose edges alone still cross, per substep, as a share of the thickness.
FURTHER = 0.1


class Parting:
    """The crossing bodies of a model and their contacts."""

    def __init__(self, model: Model, numbering: Numbering) -> None:
        self._model, self._place = model, numbering.place
        self._search = ContactSearch(model)
        self._thickness = float(model.thickness.max(initial=0.0))
        self._record = Record(model.moving_point_count)
        #: Pairs of bodies that are left out of the contact set, and those of them without points on the wrong side.
        self.crosses: BoolArray = np.zeros((model.body_count, model.body_count), bool)
        self._hooked = self.crosses.copy()
        self._further = 0.0  # distance that these keep besides their thickness [m]
        self._unhooks = True  # whether they are looked for

    def untangle(self, x: FloatArray) -> int:
        """Find crossings at x [m], shape (point_count, 3); returns how many triangles cross."""
        return len(self._find(x))

    def _find(self, x: FloatArray) -> IntArray:
        """The triangles that cross at x; lists the points on the wrong side."""
        found = self._search.untangle(x).crossing_triangles
        self._search.suspend(np.zeros(0, np.int32))  # self-contact is handled by the contact set
        self._mark()
        return found

    def _mark(self) -> None:
        """Mark the pairs of bodies with points on the wrong side, no others."""
        pairs = self._search.wrong_side_pairs
        a, b = self._model.point_body[pairs[:, 0]], pairs[:, 1]
        self._hooked[:] = self.crosses[:] = False
        self.crosses[a, b] = self.crosses[b, a] = True

    def start_frame(self, state: State) -> None:
        """Read the crossing points from a state."""
        listed, self._further = state.wrong_side, 0.0
        self._unhooks = state.frame < UNTANGLING_FRAMES
        behind, hooked = listed[listed[:, 2] != 0], listed[listed[:, 2] == 0]
        self._search.drive_apart(self._unhooks, behind)
        self._search.relist(behind)
        self._mark()
        a, b = self._model.point_body[hooked[:, 0]], hooked[:, 1]
        self._hooked[a, b] = self._hooked[b, a] = True
        self.crosses |= self._hooked

    def wrong_side(self) -> IntArray:
        """Points on the wrong side for `State.wrong_side`; facing 0 marks the first point of a body with crossing
        edges only.
        """
        listed = self._search.wrong_side()
        if not self._hooked.any():
            return listed
        a, b = np.nonzero(np.triu(self._hooked))
        hooked = np.stack([self._model.body_point_start[a], b, np.zeros_like(b)], axis=1)
        return np.concatenate([listed, hooked]).astype(np.int32)

    def contacts(self, x: FloatArray, move: FloatArray, room: Contacts) -> tuple[Contacts, int]:
        """Contacts between bodies that cross at x [m], and their number; in `room` if its capacity suffices.

        `move`: displacement of the points in a substep [m], shape (point_count, 3) as x.
        """
        model, record, search = self._model, self._record, self._search
        way = np.sqrt(np.maximum.reduceat(np.einsum("ij,ij->i", move, move), model.body_point_start[:-1]))
        search.search(x, way + self._further, record, left_out=~self.crosses.any(axis=0))
        evaluate_gaps(x, record, model.surfaces)
        bodies, gap = record.bodies[: record.edge_start], record.gap[: record.edge_start]
        rows = np.flatnonzero(self.crosses[bodies[:, 0], bodies[:, 1]] & np.isfinite(gap))
        count = len(rows)
        found = room if count <= len(room.reach) else contacts_of(2 * count)
        found.points[: 4 * count] = 4 * self._place[record.points[rows]].ravel()
        found.normal.reshape(-1, 4)[:count, :3] = record.normal[rows]
        found.weight[: 4 * count] = record.weights[rows].ravel()
        found.gap[: 4 * count : 4] = gap[rows]
        found.reach[:count] = record.thickness[rows]
        found.reach[:count] += self._further * self._hooked[bodies[rows, 0], bodies[rows, 1]]
        found.stiffness[:count] = 1.0
        self._let_go(x)
        return found, count

    def _let_go(self, x: FloatArray) -> None:
        """Return bodies whose last point is back to the contact set, unless triangles still cross."""
        before = self.crosses.copy()
        self._mark()
        left = before & ~self.crosses
        if self._unhooks and left.any():
            body = np.zeros(self._model.body_count, bool)
            body[self._model.surfaces.triangle_body[self._find(x)]] = True
            self._hooked[:] = left & ~self.crosses & np.outer(body, body)
            self.crosses |= self._hooked
        self._further = self._further + FURTHER * self._thickness if self._hooked.any() else 0.0
