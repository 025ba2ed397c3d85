"""What is near the bodies of a model while they take steps: the contact record, kept complete, and the last bound.

For solvers that know contacts only as gaps and impulses. The mechanisms are those of `core/collide`.
"""

import numpy as np

from ..collide.bound import carry, limit_displacement
from ..collide.broad import ContactSearch
from ..collide.contacts import Contacts
from ..collide.islands import Islands
from ..collide.mobility import Mobility
from ..collide.narrow import evaluate_gaps
from ..collide.own_motion import own_distance
from ..collide.whole import WholeMoves
from ..model import FloatArray, IntArray, Model
from ..rigid.motion import move_poses, place_points, turned_tensors
from ..state import State

#: Reach of a search in units of the move that made it necessary: larger means fewer searches, more candidates.
REACH_FACTOR = 3.0


class Surroundings:
    """The contact record of a model, and how its unknowns yield."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.contacts = Contacts(model.moving_point_count)
        self.searches = 0
        with np.errstate(divide="ignore"):
            inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        self.mobility = Mobility(
            inverse_mass, model.rigid.unknown, model.rigid.arm.copy(), 1.0 / model.rigid.mass,
            model.rigid.inverse_inertia.copy(),
        )  # fmt: skip
        self._search = ContactSearch(model)
        self._islands = Islands(model)
        self._searched = False
        self._owner = model.point_body[model.vertex_count : model.moving_point_count] - model.membrane_count
        self._unpinned = np.zeros(model.body_count, dtype=bool)
        self._unpinned[: model.membrane_count] = ~np.logical_or.reduceat(
            model.pinned, model.body_point_start[: model.membrane_count]
        )
        self._share = np.ones(model.vertex_count + model.rigid_count)
        self._trial = np.zeros((model.point_count, 3))

    def untangle(self, state: State) -> int:
        """Note in the state which points are behind another body's surface; returns how many triangles cross."""
        overlaps = self._search.untangle(state.positions)
        state.wrong_side = self.wrong_side()
        return overlaps.crossing_triangle_count

    def wrong_side(self) -> IntArray:
        """(point, body, facing) of the points behind a body's surface, as `State.wrong_side`."""
        pairs, facing = self._search.wrong_side_pairs, self._search.wrong_side_facing
        own = self._search.suspended
        bodies = np.stack([self._model.body_point_start[own], own, np.zeros_like(own)], axis=1)
        return np.concatenate([np.concatenate([pairs, facing[:, None]], axis=1), bodies]).astype(np.int32)

    def start_from(self, state: State) -> None:
        """List the points behind a surface as a state has them; the next `cover` searches anew."""
        own = state.wrong_side[:, 2] == 0
        self._search.list_wrong_side(state.wrong_side[~own, :2], state.wrong_side[~own, 2].astype(np.int8))
        self._search.suspend(state.wrong_side[own, 1])
        self._searched = False

    def cover(self, x: FloatArray, trial: FloatArray) -> bool:
        """Make sure that every pair that can touch on the way from x to `trial` [m], all points, is in the record.

        True if it was searched anew; `look` must follow.
        """
        model = self._model
        if self._searched and self._search.still_valid(trial):
            return False
        move = trial - x
        farthest = np.maximum.reduceat(np.sqrt(np.einsum("ij,ij->i", move, move)), model.body_point_start[:-1])
        reach = np.maximum(REACH_FACTOR * farthest, 0.5 * model.thickness)
        own_reach = np.zeros(model.body_count)
        for body in np.flatnonzero(model.self_collision).tolist():
            first, last = model.body_point_start[body : body + 2]
            own_reach[body] = max(REACH_FACTOR * own_distance(x, trial, first, last), 0.5 * model.thickness[body])
        self._search.search(x, reach, self.contacts, own_reach)
        if len(model.attachments.body):
            self.contacts.attach(model.attachments, model.point_body, model.body_count)
        self.contacts.share[: self.contacts.count] = 1.0  # whether an edge counts is told by what it wants
        self._islands.follow(self.contacts)
        self._searched = True
        self.searches += 1
        return True

    def carry(self, x: FloatArray, poses: FloatArray, points: IntArray, target: FloatArray) -> None:
        """Put given points of x where they will be [m]; what stands in a collider's way is carried along, in place.

        `cover` for the way there comes before.
        """
        colliders = slice(self._model.moving_point_count, None)
        moved = x.copy()
        moved[points] = target
        carry(x, poses, moved[colliders], self.contacts, self._model)
        x[colliders] = moved[colliders]
        x[points] = target

    def look(self, x: FloatArray, poses: FloatArray) -> None:
        """Measure all gaps at x, and how bodies yield there."""
        model = self._model
        if len(self._search.wrong_side_pairs):
            self._search.recover(x, self.contacts)
        if self.contacts.count:
            evaluate_gaps(x, self.contacts, model.surfaces)
        if model.rigid_count:
            rigid = x[model.vertex_count : model.moving_point_count]
            np.subtract(rigid, poses[self._owner, :3], out=self.mobility.arm)
            turned_tensors(poses, model.rigid.inverse_inertia, self.mobility.rigid_inverse_inertia)

    def bound(self, x: FloatArray, poses: FloatArray, step: FloatArray) -> None:
        """Shorten a step of the unknowns from x, in place, so that nothing is crossed."""
        if self.contacts.count == 0:
            return
        whole = step.copy()
        common = self._islands.take_out(x, step, self.contacts)
        self._shorten(x, step)
        if common is None:
            return
        self._islands.put_back(step, common)
        if not self._search.still_valid(self.place(x, poses, step)):
            # slower bodies of an island would outrun what was searched for them
            step[:] = whole
            self._shorten(x, step)

    def _shorten(self, x: FloatArray, step: FloatArray) -> None:
        model, n = self._model, self._model.vertex_count
        whole = self._whole_moves(x, step)
        limit_displacement(x, step, self.mobility, self.contacts, self._share, whole)
        if whole is None:
            step[:n] *= self._share[:n, None]
        else:
            step[:n] = whole.move + self._share[:n, None] * (step[:n] - whole.move)
        if model.rigid_count:
            step[n:] *= np.repeat(self._share[n:], 2)[:, None]

    def _whole_moves(self, x: FloatArray, step: FloatArray) -> WholeMoves | None:
        """Rigid part of the step of the membranes that may touch themselves."""
        model = self._model
        rows = self.contacts.bodies[: self.contacts.first_attachment]
        wanted = np.zeros(model.body_count, dtype=bool)
        wanted[rows[rows[:, 0] == rows[:, 1], 0]] = True
        bodies = np.flatnonzero(wanted & self._unpinned).astype(np.int32)
        if len(bodies) == 0:
            return None
        return WholeMoves.of(
            x, step, bodies, model.body_point_start, model.point_body[: model.vertex_count], model.membrane_count
        )  # fmt: skip

    def place(self, x: FloatArray, poses: FloatArray, step: FloatArray) -> FloatArray:
        """Positions [m] of all points after a step from x."""
        model, n, trial = self._model, self._model.vertex_count, self._trial
        trial[:] = x
        trial[:n] += step[:n]
        if model.rigid_count:
            place_points(self.moved_poses(poses, step), model.rigid.arm, model.rigid.point_start, trial)
        return trial

    def moved_poses(self, poses: FloatArray, step: FloatArray) -> FloatArray:
        """Poses of the rigid bodies after a step of the unknowns."""
        after = poses.copy()
        move_poses(poses, step[self._model.vertex_count :], 1.0, after)
        return after
