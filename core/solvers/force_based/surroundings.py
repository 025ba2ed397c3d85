"""What is near the bodies of a model while they take steps: the contact record, kept complete, and the last bound.

For solvers that know contacts only as gaps and impulses. The mechanisms are those of `core/collide`.
"""

import numpy as np

from ...collide.bound import carry
from ...collide.candidates import Candidates
from ...collide.mobility import Mobility
from ...collide.narrow import evaluate_gaps
from ...collide.step_bound import StepBound
from ...model import FloatArray, IntArray, Model
from ...plane import Planes
from ...rigid.motion import move_poses, place_points, turned_tensors
from ...state import State

#: Reach of a search in units of the move that made it necessary: larger means fewer searches, more candidates.
REACH_FACTOR = 3.0


class Surroundings:
    """The contact record of a model, and how its unknowns yield.

    `among_moving`: whether it has contacts of two moving bodies, or only those with colliders and with itself.
    """

    def __init__(self, model: Model, *, among_moving: bool = True) -> None:
        self._model = model
        self._candidates = Candidates(model, REACH_FACTOR, among_moving=among_moving)
        self._planes = Planes(model)
        self.contacts = self._candidates.contacts
        self._bound = StepBound(model, self._candidates)
        with np.errstate(divide="ignore"):
            inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        self.mobility = Mobility(
            inverse_mass, model.rigid.unknown, model.rigid.arm.copy(), 1.0 / model.rigid.mass,
            model.rigid.inverse_inertia.copy(),
        )  # fmt: skip
        self._owner = model.point_body[model.vertex_count : model.moving_point_count] - model.membrane_count
        self._trial = np.zeros((model.point_count, 3))

    @property
    def searches(self) -> int:
        """Searches for contacts so far."""
        return self._candidates.searches

    def untangle(self, state: State) -> int:
        """Note in the state which points are behind another body's surface; returns how many triangles cross."""
        return self._candidates.untangle(state)

    def wrong_side(self) -> IntArray:
        """(point, body, facing) of the points behind a body's surface, as `State.wrong_side`."""
        return self._candidates.wrong_side()

    def start_from(self, state: State) -> None:
        """List the points behind a surface as a state has them; the next `cover` searches anew."""
        self._candidates.start_frame(state)

    def cover(self, x: FloatArray, trial: FloatArray) -> bool:
        """Make sure that every pair that can touch on the way from x to `trial` [m], all points, is in the record.

        True if it was searched anew; `look` must follow.
        """
        if not self._candidates.cover(x, trial):
            return False
        self.contacts.share[: self.contacts.count] = 1.0  # whether an edge counts is told by what it wants
        return True

    def carry(self, x: FloatArray, poses: FloatArray, points: IntArray, target: FloatArray) -> None:
        """Put given points of x where they will be [m]; what stands in a collider's way is carried along, in place.

        `cover` for the way there comes before.
        """
        colliders = slice(self._model.moving_point_count, None)
        moved = x.copy()
        moved[points] = target
        before = x.copy() if self._planes.any else x
        carry(x, poses, moved[colliders], self.contacts, self._model)
        self._planes.hold_moves(before, x)
        x[colliders] = moved[colliders]
        x[points] = target

    def look(self, x: FloatArray, poses: FloatArray) -> None:
        """Measure all gaps at x, and how bodies yield there."""
        model = self._model
        if self._candidates.tangled:
            self._candidates.recover(x)
        if self.contacts.count:
            evaluate_gaps(x, self.contacts, model.surfaces)
        if model.rigid_count:
            rigid = x[model.vertex_count : model.moving_point_count]
            np.subtract(rigid, poses[self._owner, :3], out=self.mobility.arm)
            turned_tensors(poses, model.rigid.inverse_inertia, self.mobility.rigid_inverse_inertia)

    def bound(self, x: FloatArray, poses: FloatArray, step: FloatArray) -> None:
        """Shorten a step of the unknowns from x, in place, so that nothing is crossed."""
        if not self._bound.shorten(x, step, self.mobility, lambda: self.place(x, poses, step)):
            self._bound.halve(step, lambda: self.place(x, poses, step))

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


def left_over(move: FloatArray, done: FloatArray) -> FloatArray:
    """What is left of moves [m] where a part has been done already: carried by a collider, say."""
    length2 = np.einsum("ij,ij->i", done, done)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(length2 > 0.0, np.einsum("ij,ij->i", move, done) / length2, 0.0)
    left: FloatArray = move - np.clip(share, 0.0, 1.0)[:, None] * done
    return left
