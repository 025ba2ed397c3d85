"""Contacts of rigid bodies with colliders: the contact set, and points that have passed a face."""

import math

import numpy as np

from ...contact.broad_phase.search import ContactSearch
from ...contact.contacts import Contacts
from ...contact.narrow_phase.vertex_triangle import evaluate_gaps
from ...contact.untangle.recovery import find_through
from ...model import BoolArray, FloatArray, IntArray, Model
from ...state import State
from ..counts import Counts
from ..kinematics import Motion

#: Reach of a search: the way of bodies in this many steps, a share of their radius, and the speculative distance.
REACH_STEPS = 5.0
REACH = 0.02
#: Speculative distance beyond the thickness, in units of the way in a step.
SPECULATION = 1.5


class ColliderContacts:
    """The contact set of a model's rigid bodies with its colliders, for steps of a length [s]."""

    def __init__(self, model: Model, step_time: float, counts: Counts) -> None:
        self._model, self.step_time, self._counts = model, step_time, counts
        self._search = ContactSearch(model, among_moving=False)
        self.contacts = Contacts()
        self.speculation = np.zeros(model.rigid_count)  # beyond the thickness [m]
        self._thickness = np.zeros(0)
        self._body = np.zeros(0, np.int32)  # number of the rigid body in each row
        self._above = np.zeros(0, np.int8)  # see `find_through`
        self._left_out = np.zeros(model.rigid_count, dtype=bool)  # of the last search
        self._followed: FloatArray | None = None  # positions of the last check for passed faces

    def untangle(self, x: FloatArray) -> int:
        """List the points behind a collider's surface; returns how many triangles cross, of all bodies."""
        overlaps = self._search.overlaps(x)
        pairs, facing = overlaps.pairs, overlaps.facing
        # two bodies that cross are told apart by their axes
        given = self._model.moving_count
        kept = (self._model.point_body[pairs[:, 0]] >= given) | (pairs[:, 1] >= given)
        self._search.list_wrong_side(pairs[kept], facing[kept])
        return overlaps.crossing_triangle_count

    def wrong_side(self) -> IntArray:
        """(point, body, facing) of the points behind a surface, shape (wrong_count, 3)."""
        pairs, facing = self._search.wrong_side_pairs, self._search.wrong_side_facing
        return np.concatenate([pairs, facing[:, None]], axis=1).astype(np.int32)

    def start(self, state: State) -> None:
        """Search again in the next step."""
        self._search.forget()
        self.contacts.clear()
        self._left_out[:] = False
        self._above = np.zeros(0, np.int8)
        self._followed = None
        model, listed = self._model, state.wrong_side
        body, other = model.point_body[listed[:, 0]], listed[:, 1]
        listed = listed[np.minimum(body, other) >= model.membrane_count]
        self._search.list_wrong_side(listed[:, :2], np.sign(listed[:, 2]).astype(np.int8))

    def fastest(self, v: FloatArray) -> float:
        """Speed of the fastest point of a collider [m/s], from the velocities of all points."""
        v = v[self._model.moving_point_count :]
        return float(np.sqrt(np.einsum("ij,ij->i", v, v).max(initial=0.0)))

    def fastest_of(self, motion: Motion) -> float:
        """The same from the motion of a frame."""
        way = (motion.end - motion.start)[motion.points >= self._model.moving_point_count]
        return float(np.sqrt(np.einsum("ij,ij->i", way, way).max(initial=0.0))) / motion.frame_time

    def meet(
        self, x: FloatArray, v: FloatArray, speed: FloatArray, resting: BoolArray, given: float
    ) -> tuple[BoolArray, BoolArray]:
        """Update the contact set; returns which bodies have contact with a collider, and which with one that moves.

        x, v: of all points [m, m/s], shape (point_count, 3); speed: largest speed of each body's points [m/s]; resting:
        whether a body has slept since the last step; given: speed of the colliders' fastest point [m/s]. While no
        collider moves, sleeping bodies keep their contacts, without a search.
        """
        model, contacts, first = self._model, self.contacts, self._model.membrane_count
        supported, shaken = np.zeros((2, model.rigid_count), dtype=bool)
        if model.body_count == model.moving_count:
            return supported, shaken
        left_out = resting if given == 0.0 else np.zeros_like(resting)
        move = self.step_time * (speed + given + self.step_time * math.sqrt(model.gravity @ model.gravity))
        self.speculation = SPECULATION * move
        ahead = np.zeros(model.body_count)
        ahead[first : model.moving_count] = self.speculation
        is_seen = self._search.others_valid(x, ahead)
        listed = self.follow(x, is_seen)
        if listed or (self._left_out & ~left_out).any() or not is_seen:
            reach = np.full(model.body_count, REACH_STEPS * self.step_time * given)
            reach[first : model.moving_count] = REACH_STEPS * move + REACH * model.rigid.radius + self.speculation
            self._left_out = left_out.copy()
            self._look(x, reach)
        near = contacts.gap[: contacts.count] < self._thickness
        body = self._body[near]
        supported[body] = True
        supported[self._left_out] = True
        if given > 0.0:
            other = v[contacts.points[: contacts.count].max(axis=1)[near]]
            shaken[body[np.abs(other).sum(axis=1) > 0.0]] = True
        return supported, shaken

    def follow(self, x: FloatArray, is_seen: bool = False) -> bool:
        """List the points that have passed a face since the last call, so that they are pushed back; True if there are
        any.

        It is called at the start of a step and at the end of a frame, since the next frame begins with the state alone.
        is_seen: whether no point can have left the reach of the last search.
        """
        model, before = self._model, self._followed
        if model.body_count == model.moving_count:
            return False
        if before is None:
            self._followed = x.copy()
        else:
            if not (is_seen or self._search.others_valid(x)):
                # a body was struck and left the reach of the search: search again from its last position
                way = np.linalg.norm(x - before, axis=1)
                self._look(before, np.maximum.reduceat(way, model.body_point_start[:-1]))
            np.copyto(before, x)
        self._evaluate(x)
        return self._list_through(x)

    def _look(self, x: FloatArray, reach: FloatArray) -> None:
        """Search at x for pairs within the bodies' reach [m], and store on which side of a collider they are."""
        model, contacts = self._model, self.contacts
        nowhere = np.zeros(model.body_count, dtype=bool)
        nowhere[: model.membrane_count] = True
        nowhere[model.membrane_count : model.moving_count] = self._left_out
        self._search.search(x, reach, contacts, left_out=nowhere)
        self._search.reach[: model.membrane_count] = np.inf  # soft bodies take no part
        self._thickness = contacts.thickness[: contacts.count].copy()
        self._body = contacts.bodies[: contacts.count].min(axis=1) - model.membrane_count  # colliders come last
        self._above = np.zeros(contacts.edge_start, np.int8)
        self._counts.contact_searches += 1
        self._evaluate(x)
        self._list_through(x)

    def _evaluate(self, x: FloatArray) -> None:
        """Gaps of the contact set at x."""
        contacts = self.contacts
        points, edges = slice(0, contacts.edge_start), slice(contacts.edge_start, contacts.count)
        # contacts need their owners within the whole speculative distance
        contacts.thickness[points] = self._thickness[points] + self.speculation[self._body[points]]
        evaluate_gaps(x, contacts, self._model.surfaces)
        contacts.thickness[points] = self._thickness[points]
        contacts.gap[edges][contacts.target_weight[edges] <= 0.0] = np.inf

    def _list_through(self, x: FloatArray) -> bool:
        """List points that have passed a face since the last step; True if there are any."""
        contacts, search = self.contacts, self._search
        found = find_through(
            x, contacts.edge_start, contacts.points, contacts.triangle, self._model.surfaces.triangles, contacts.side,
            contacts.feature, self._above,
        )  # fmt: skip
        if found:
            rows = np.flatnonzero(np.abs(self._above) == 2)
            pairs = np.stack([contacts.points[rows, 0], contacts.bodies[rows, 1]], axis=1)
            pairs, first = np.unique(np.concatenate([search.wrong_side_pairs, pairs]), axis=0, return_index=True)
            facing = np.concatenate([search.wrong_side_facing, self._above[rows] // 2])
            search.list_wrong_side(pairs, facing[first].astype(np.int8))
        return found > 0
