"""Contacts of rigid bodies with colliders: the contact set, and points that have passed a face."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...contact.broad_phase.body_pairs import any_moved
from ...contact.broad_phase.search import ContactSearch
from ...contact.contacts import Contacts
from ...contact.narrow_phase.edge_edge import evaluate_edges
from ...contact.narrow_phase.vertex_triangle import evaluate_rows
from ...contact.untangle.recovery import find_through
from ...jit import kernel
from ...model import Model
from ...state import State
from ..counts import Counts
from ..kinematics import Motion

#: Reach of a search: the way of bodies in this many steps, a share of their radius, and the speculative distance.
REACH_STEPS = 5.0
REACH = 0.02
#: Speculative distance beyond the thickness, in units of the way in a step.
SPECULATION = 1.5


class Near(NamedTuple):
    """The contacts of a search, as in `contact.contacts.Contacts`, and how long they stay complete."""

    used: int
    edge_start: int
    points: IntArray
    triangle: IntArray
    apex: IntArray
    soft: BoolArray
    bodies: IntArray
    thickness: FloatArray
    side: NDArray[np.int8]
    facing: NDArray[np.int8]
    local: NDArray[np.int8]
    weights: FloatArray
    normal: FloatArray
    distance: FloatArray
    gap: FloatArray
    feature: NDArray[np.int8]
    target_weight: FloatArray
    body: IntArray  # rigid body of each contact
    limit: FloatArray  # scratch: distance up to which each is evaluated as a contact [m]
    above: NDArray[np.int8]  # see `find_through`
    triangles: IntArray  # of all bodies
    triangle_neighbour: IntArray
    point_start: IntArray  # CSR over all bodies
    searched: FloatArray  # positions of all points at the search [m]
    reach: FloatArray  # how far each body's points may move from there [m]
    ahead: FloatArray  # scratch: what is left of it
    followed: FloatArray  # positions of the last check for passed faces [m]
    left_out: BoolArray  # rigid bodies that slept at the search
    speculation: FloatArray  # distance beyond the thickness within which each one's contacts become rows [m]
    first: int  # number of the first rigid body
    end: int  # number of the first collider


class ColliderContacts:
    """The contact set of a model's rigid bodies with its colliders, for steps of a length [s]."""

    def __init__(self, model: Model, step_time: float, counts: Counts) -> None:
        self._model, self.step_time, self._counts = model, step_time, counts
        self._search = ContactSearch(model, among_moving=False)
        self.contacts = Contacts()
        self._ahead, self._followed = np.zeros(model.body_count), np.zeros((model.point_count, 3))
        self._is_followed = False  # whether a check for passed faces was made
        self._left_out = np.zeros(model.rigid_count, dtype=bool)  # of the last search
        self._speculation = np.zeros(model.rigid_count)
        self.near = self._near()

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
        self._left_out[:] = self._is_followed = False
        self.near = self._near()
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

    def look(self, x: FloatArray, speed: FloatArray, resting: BoolArray, given: float) -> None:
        """Search anew, see `is_near_known`; while no collider moves, sleeping bodies keep their contacts, without one.

        x: of all points [m], shape (point_count, 3); speed: largest speed of each body's points [m/s]; resting:
        whether a body has slept since the last step; given: speed of the colliders' fastest point [m/s].
        """
        model, near, first = self._model, self.near, self._model.membrane_count
        move = self.step_time * (speed + given + self.step_time * math.sqrt(model.gravity @ model.gravity))
        near.speculation[:] = SPECULATION * move
        self._list_marked()
        self.follow(x, self._search.others_valid(x, self._beyond()))
        reach = np.full(model.body_count, REACH_STEPS * self.step_time * given)
        reach[first : model.moving_count] = REACH_STEPS * move + REACH * model.rigid.radius + near.speculation
        self._left_out[:] = resting if given == 0.0 else False
        self._look(x, reach)

    def _beyond(self) -> FloatArray:
        """Speculative distance of all bodies [m]."""
        beyond = np.zeros(self._model.body_count)
        beyond[self._model.membrane_count : self._model.moving_count] = self.near.speculation
        return beyond

    def follow(self, x: FloatArray, is_seen: bool = False) -> bool:
        """List the points that have passed a face since the last call, so that they are pushed back; True if there are
        any.

        It is called before a search and at the end of a frame, since the next frame begins with the state alone.
        is_seen: whether no point can have left the reach of the last search.
        """
        model, before = self._model, self._followed
        if model.body_count == model.moving_count:
            return False
        if self._is_followed and not (is_seen or self._search.others_valid(x)):
            # a body was struck and left the reach of the search: search again from its last position
            way = np.linalg.norm(x - before, axis=1)
            self._look(before, np.maximum.reduceat(way, model.body_point_start[:-1]))
        self._is_followed = True
        np.copyto(before, x)
        evaluate(self.near, x)
        return mark_through(self.near, x) and self._list_marked()

    def _look(self, x: FloatArray, reach: FloatArray) -> None:
        """Search at x for pairs within the bodies' reach [m], and store on which side of a collider they are."""
        model, contacts = self._model, self.contacts
        nowhere = np.zeros(model.body_count, dtype=bool)
        nowhere[: model.membrane_count] = True
        nowhere[model.membrane_count : model.moving_count] = self._left_out
        self._search.search(x, reach, contacts, left_out=nowhere)
        self._search.reach[: model.membrane_count] = np.inf  # soft bodies take no part
        self.near = self._near()
        self._counts.contact_searches += 1
        evaluate(self.near, x)
        mark_through(self.near, x)

    def _near(self) -> Near:
        """The contacts of the last search."""
        model, c = self._model, self.contacts
        body = c.bodies[: c.count].min(axis=1) - model.membrane_count  # colliders come last
        return Near(
            c.count, c.edge_start, c.points, c.triangle, c.apex, c.soft, c.bodies, c.thickness, c.side, c.facing,
            c.local, c.weights, c.normal, c.distance, c.gap, c.feature, c.target_weight, body, np.zeros(c.edge_start),
            np.zeros(c.edge_start, np.int8), model.surfaces.triangles, model.surfaces.triangle_neighbour,
            model.body_point_start, self._search.searched, self._search.reach, self._ahead, self._followed,
            self._left_out, self._speculation, model.membrane_count, model.moving_count,
        )  # fmt: skip

    def _list_marked(self) -> bool:
        """List the points that have passed a face, see `mark_through`; True if there are any."""
        contacts, search, above = self.contacts, self._search, self.near.above
        rows = np.flatnonzero(np.abs(above) == 2)
        if not len(rows):
            return False
        pairs = np.stack([contacts.points[rows, 0], contacts.bodies[rows, 1]], axis=1)
        pairs, first = np.unique(np.concatenate([search.wrong_side_pairs, pairs]), axis=0, return_index=True)
        facing = np.concatenate([search.wrong_side_facing, above[rows] // 2])
        search.list_wrong_side(pairs, facing[first].astype(np.int8))
        return True


@kernel
def evaluate(near, x):
    """Gaps of the contacts at x; those of edges that are no contacts are infinite."""
    # contacts need their owners within the whole speculative distance
    for row in range(near.edge_start):
        near.limit[row] = near.thickness[row] + near.speculation[near.body[row]]
    evaluate_rows(
        x, near.triangles, near.triangle_neighbour, near.edge_start, near.points, near.triangle, near.bodies,
        near.limit, near.side, near.facing, near.local, near.weights, near.normal, near.distance, near.gap,
        near.feature,
    )  # fmt: skip
    evaluate_edges(
        x, near.edge_start, near.used, near.points, near.apex, near.soft, near.thickness, near.side, near.weights,
        near.normal, near.distance, near.gap, near.target_weight,
    )  # fmt: skip
    for row in range(near.edge_start, near.used):
        if near.target_weight[row] <= 0.0:
            near.gap[row] = math.inf


@kernel
def mark_through(near, x):
    """Mark the points that have passed a face since the last call in `near.above`; True if there are any."""
    return (
        find_through(
            x, near.edge_start, near.points, near.triangle, near.triangles, near.side, near.feature, near.above
        )
        > 0
    )  # fmt: skip


@kernel
def is_near_known(near, x, speed, resting, given, time, fall):
    """Evaluate the contacts at x; False if a new search must come first, see `ColliderContacts.look`.

    fall: velocity that gravity gives in the `time` [m/s].
    """
    if near.end == near.point_start.shape[0] - 1:
        return True
    for body in range(near.ahead.shape[0]):
        near.ahead[body] = near.reach[body]
    complete = True
    for q in range(resting.shape[0]):
        near.speculation[q] = SPECULATION * time * (speed[q] + given + fall)
        near.ahead[near.first + q] -= near.speculation[q]
        complete &= not near.left_out[q] or (resting[q] and given == 0.0)
    if not complete or any_moved(x, near.searched, near.ahead, near.point_start):
        return False
    for point in range(near.point_start[near.first], x.shape[0]):
        for axis in range(3):
            near.followed[point, axis] = x[point, axis]
    evaluate(near, x)
    return not mark_through(near, x)


@kernel
def meet(near, velocity, given, supported, shaken):
    """Mark the bodies that have contact with a collider, and those that have one with a collider that moves.

    velocity: of all points [m/s].
    """
    for q in range(near.left_out.shape[0]):
        if near.left_out[q]:
            supported[q] = True
    for row in range(near.used):
        if not near.gap[row] < near.thickness[row]:
            continue
        q = near.body[row]
        supported[q] = True
        if given > 0.0:
            last = 0
            for slot in range(4):
                last = max(last, near.points[row, slot])
            if abs(velocity[last, 0]) + abs(velocity[last, 1]) + abs(velocity[last, 2]) > 0.0:
                shaken[q] = True
