"""Contacts of rigid bodies with colliders: the contact set, and points that have passed a face."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...contact.box_tree import Trees, build_trees
from ...contact.narrow_phase.edge_edge import evaluate_edges
from ...contact.narrow_phase.vertex_triangle import evaluate_rows
from ...contact.near_pairs import NO_PAIRS, NearPairs
from ...contact.untangle.recovery import WrongSide, find_through
from ...jit import kernel
from ...model import Model
from ...state import State
from ..counts import Counts
from ..kinematics import Motion
from .collider_search import ColliderSearch, crossing_edges

#: Reach of a search: the way of bodies in this time [s], or in a longer step; a share of their radius; and the
#: speculative distance.
REACH_TIME = 5.0 / 240.0
REACH = 0.02
#: Speculative distance beyond the thickness, in units of the way in a step.
SPECULATION = 1.5


class Near(NamedTuple):
    """The pairs of a search, and how long they stay complete."""

    pairs: NearPairs
    body: IntArray  # rigid body of each pair
    limit: FloatArray  # scratch: distance up to which each is evaluated as a contact [m]
    above: NDArray[np.int8]  # see `find_through`
    surface: tuple[IntArray, IntArray]  # triangles of all bodies, and their neighbours
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
        self._search: ColliderSearch | None = None  # made when it is first needed
        self._wrong = WrongSide(model)
        self._trees: Trees | None = None  # made likewise
        self._is_followed = False  # whether a check for passed faces was made
        shape = (model.point_count, 3)
        self.near = Near(
            NO_PAIRS, NO_PAIRS.triangle, NO_PAIRS.gap, NO_PAIRS.side,
            (model.surfaces.triangles, model.surfaces.triangle_neighbour), model.body_point_start,
            np.zeros(shape), np.full(model.body_count, -1.0), np.zeros(model.body_count), np.zeros(shape),
            np.zeros(model.rigid_count, dtype=bool), np.zeros(model.rigid_count), model.membrane_count,
            model.moving_count,
        )  # fmt: skip

    def wrong_side(self) -> IntArray:
        """(point, body, facing) of the points behind a surface, shape (wrong_count, 3)."""
        return np.concatenate([self._wrong.pairs, self._wrong.facing[:, None]], axis=1).astype(np.int32)

    def start(self, state: State) -> None:
        """Search again in the next step."""
        self.near.reach[:] = -1.0
        self.near.left_out[:] = self._is_followed = False
        self._take(NO_PAIRS)
        model, listed = self._model, state.wrong_side
        body, other = model.point_body[listed[:, 0]], listed[:, 1]
        listed = listed[np.minimum(body, other) >= model.membrane_count]
        self._wrong.set(listed[:, :2], np.sign(listed[:, 2]).astype(np.int8))

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
        self.follow(x, _is_complete(near, x, near.speculation))
        steps = max(REACH_TIME / self.step_time, 1.0)
        reach = np.full(model.body_count, steps * self.step_time * given)
        reach[first : model.moving_count] = steps * move + REACH * model.rigid.radius + near.speculation
        near.left_out[:] = resting if given == 0.0 else False
        self._look(x, reach)

    def follow(self, x: FloatArray, is_seen: bool = False) -> bool:
        """List the points that have passed a face since the last call, so that they are pushed back; True if there are
        any.

        It is called before a search and at the end of a frame, since the next frame begins with the state alone.
        is_seen: whether no point can have left the reach of the last search.
        """
        model, before = self._model, self.near.followed
        if model.body_count == model.moving_count:
            return False
        if self._is_followed and not (is_seen or _is_complete(self.near, x, 0.0)):
            # a body was struck and left the reach of the search: search again from its last position
            way = np.linalg.norm(x - before, axis=1)
            self._look(before, np.maximum.reduceat(way, model.body_point_start[:-1]))
        self._is_followed = True
        np.copyto(before, x)
        evaluate(self.near, x)
        return mark_through(self.near, x) and self._list_marked()

    def _look(self, x: FloatArray, reach: FloatArray) -> None:
        """Search at x for pairs within the bodies' reach [m], and store on which side of a collider they are."""
        model, near, wrong, surfaces = self._model, self.near, self._wrong, self._model.surfaces
        near.searched[:], near.reach[:] = x, reach
        near.reach[: model.membrane_count] = np.inf  # soft bodies take no part
        if len(wrong):
            start = model.rest_positions, surfaces.triangles, surfaces.body_triangle_start
            self._trees = self._trees or build_trees(*start)
            self._trees.refit(x, surfaces.triangles)
            wrong.release(x, self._trees)
        self._search = self._search or ColliderSearch(model)
        pairs = self._search.find(x, reach, near.left_out, wrong.pairs, wrong.exit, wrong.facing)
        self._take(pairs)
        self._counts.contact_searches += 1
        if len(pairs.points):
            self._take(self._judge(x, pairs))
            mark_through(self.near, x)

    def _judge(self, x: FloatArray, pairs: NearPairs) -> NearPairs:
        """Those of the pairs found at x that are within reach, with edges that cross marked."""
        near, search, wrong = self.near, self._search, self._wrong
        assert search is not None
        evaluate(near, x)
        near_enough = pairs.distance <= pairs.thickness + near.reach[pairs.bodies].sum(axis=1)
        pairs = pairs.only(near_enough | (pairs.side < 0))
        ends, others = pairs.points[pairs.edge_start :], pairs.bodies[pairs.edge_start :, ::-1].repeat(2, axis=1)
        behind = search.is_listed(ends.astype(np.int64), others, wrong.pairs)
        pairs.side[pairs.edge_start :][crossing_edges(x, pairs, behind)] = -1
        return pairs

    def _take(self, pairs: NearPairs) -> None:
        """Use these pairs, with gaps if there are any."""
        body = pairs.bodies.min(axis=1) - self._model.membrane_count  # colliders come last
        above = np.zeros(pairs.edge_start, np.int8)
        self.near = self.near._replace(pairs=pairs, body=body, limit=np.zeros(pairs.edge_start), above=above)

    def _list_marked(self) -> bool:
        """List the points that have passed a face, see `mark_through`; True if there are any."""
        near, wrong, above = self.near.pairs, self._wrong, self.near.above
        rows = np.flatnonzero(np.abs(above) == 2)
        if not len(rows):
            return False
        pairs = np.stack([near.points[rows, 0], near.bodies[rows, 1]], axis=1)
        pairs, first = np.unique(np.concatenate([wrong.pairs, pairs]), axis=0, return_index=True)
        wrong.set(pairs, np.concatenate([wrong.facing, above[rows] // 2])[first])
        return True


def _is_complete(near: Near, x: FloatArray, beyond: "FloatArray | float") -> bool:
    """Whether all pairs closer than the thickness, and a distance of each rigid body beyond it [m], are known."""
    near.ahead[:] = near.reach
    near.ahead[near.first : near.end] -= beyond
    return not any_moved(x, near.searched, near.ahead, near.point_start, len(near.ahead))


@kernel
def evaluate(near, x):
    """Gaps of the pairs at x; those of edges that are no contacts are infinite."""
    pairs = near.pairs
    # contacts need their owners within the whole speculative distance
    for row in range(pairs.edge_start):
        near.limit[row] = pairs.thickness[row] + near.speculation[near.body[row]]
    evaluate_rows(x, near.surface, near.limit, pairs)
    evaluate_edges(x, pairs)
    for row in range(pairs.edge_start, pairs.gap.shape[0]):
        if pairs.target_weight[row] <= 0.0:
            pairs.gap[row] = math.inf


@kernel
def mark_through(near, x):
    """Mark the points that have passed a face since the last call in `near.above`; True if there are any."""
    return find_through(x, near.pairs, near.above) > 0


@kernel
def any_moved(x, x_searched, reach, body_point_start, last):
    """Whether a point is farther than its body's reach from where it was searched, not finite, or its reach below 0.

    Of the bodies up to number `last` - 1.
    """
    for body in range(last):
        if not reach[body] >= 0.0:
            return True
        limit = reach[body] * reach[body]
        for point in range(body_point_start[body], body_point_start[body + 1]):
            dx = x[point, 0] - x_searched[point, 0]
            dy = x[point, 1] - x_searched[point, 1]
            dz = x[point, 2] - x_searched[point, 2]
            if not dx * dx + dy * dy + dz * dz <= limit:
                return True
    return False


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
    last = near.ahead.shape[0] if given > 0.0 else near.end  # colliders that rest are where they were searched
    if not complete or any_moved(x, near.searched, near.ahead, near.point_start, last):
        return False
    for point in range(near.point_start[near.first], near.point_start[last]):
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
    pairs = near.pairs
    for row in range(pairs.gap.shape[0]):
        if not pairs.gap[row] < pairs.thickness[row]:
            continue
        q = near.body[row]
        supported[q] = True
        if given > 0.0:
            last = 0
            for slot in range(4):
                last = max(last, pairs.points[row, slot])
            if abs(velocity[last, 0]) + abs(velocity[last, 1]) + abs(velocity[last, 2]) > 0.0:
                shaken[q] = True
