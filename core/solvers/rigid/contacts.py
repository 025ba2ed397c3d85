"""All contacts of simple rigid bodies in a step, as rows for the impulse solver; which of the bodies sleep.

Pairs of bodies have manifolds, contacts with colliders come from the contact set. Each keeps its impulse for the next
step to start from. One call of `found.find_rows` finds them, unless it needs other arrays first.
"""

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...bodies.rigid.convex import ConvexShapes
from ...bodies.rigid.motion import set_matrices, turned_tensors
from ...contact.kept_distance import RESTING_SHARE
from ...contact.narrow_phase.manifolds import ManifoldSearch
from ...errors import Diverged
from ...jit import Repeated
from ...model import Model
from ...state import HeldImpulses, RigidMotion, State
from ..counts import Counts
from ..notes import PairRows
from .colliders import ColliderContacts
from .found import (
    COLLIDERS,
    FIRST_GIVEN,
    HELD_COUNT,
    PAIRS,
    READY,
    ROW_COUNT,
    Bodies,
    Found,
    StepArrays,
    Support,
    find_rows,
    finish_step,
    no_held,
    no_support,
)
from .rows import Rows, Solids, new_rows
from .sleep import STILL_TIME, fastest_near


class RigidContacts:
    """The contacts of a model's simple rigid bodies; others take no part."""

    def __init__(
        self, model: Model, step_time: float, shapes: ConvexShapes, counts: Counts, support: Support | None = None
    ) -> None:
        """`step_time` [s]: see `take_step_time`; `support`: none by default."""
        n, rigid = model.rigid_count, model.rigid
        self.model, self.step_time = model, step_time
        self.pairs = ManifoldSearch(model, shapes)
        self.colliders = ColliderContacts(model, step_time, counts)
        self._left_out = ~shapes.simple
        self._find_rows, self._finish_step = Repeated(find_rows), Repeated(finish_step)
        self._is_new = True  # nothing is known yet about the state
        step = StepArrays(
            Bodies(
                shapes, rigid.mass, rigid.inertia, rigid.inverse_inertia, rigid.arm, rigid.point_start,
                model.thickness[model.membrane_count : model.moving_count], model.friction, model.bounciness,
                model.membrane_count, model.moving_count, model.gravity, rigid.falls,
            ),
            new_rows(1024),
            Solids(
                np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n), np.zeros((n, 3, 3)), rigid.radius, np.ones(n, bool)
            ),
            np.zeros((n, 3, 3)), np.zeros((n, 3, 3)), np.zeros(n), np.zeros(n, np.int32), np.zeros(3, np.int64),
        )  # fmt: skip
        self.found = Found(
            step, self.pairs.manifolds, self.pairs.sweep, self.colliders.near, no_held(1024, n), np.zeros(n),
            np.zeros((n, 3)), np.zeros(n, bool), support or no_support(n),
        )  # fmt: skip
        self._bodies = np.zeros((0, 2), np.int32)  # of each row, when the last run of steps ended

    @property
    def rows(self) -> Rows:
        """The rows; `count` of them are in use."""
        return self.found.step.rows

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.found.step.counts[ROW_COUNT])

    @property
    def pressing_count(self) -> int:
        """Rows with an impulse."""
        return int(np.count_nonzero(self.rows.impulse[: self.count, 0]))

    def pair_contacts(self) -> PairRows:
        """Both bodies, normal force [N] and gap [m] of every row that pressed in the last step of a run."""
        rows, bodies = self.rows, self._bodies
        at = np.flatnonzero(rows.impulse[: self.count, 0] > 0.0)
        gap = rows.gap[at] + RESTING_SHARE * rows.thickness[at]
        return bodies[at, 0], bodies[at, 1], rows.impulse[at, 0] / self.step_time, gap

    def end_run(self, state: State, x: FloatArray) -> IntArray:
        """Keep the impulses in the state after a run of steps; returns the points on wrong sides of colliders."""
        rows, held, colliders, counts = self.rows, self.found.held, self.colliders, self.found.step.counts
        self._bodies = rows.body[: self.count] + self.model.membrane_count
        given = slice(counts[FIRST_GIVEN], self.count)
        self._bodies[given, 1] = colliders.near.pairs.bodies[rows.source[given, 1]].max(axis=1)
        kept, pairs = slice(counts[HELD_COUNT]), self.pairs.held()
        state.held = HeldImpulses(*pairs, held.body[kept].copy(), held.anchor[kept].copy(), held.impulse[kept].copy())
        colliders.follow(x)
        return colliders.wrong_side()

    def clear(self) -> None:
        """Remove all rows."""
        self.found.step.counts[ROW_COUNT] = self.found.step.counts[FIRST_GIVEN] = 0

    def start_frame(self, state: State) -> None:
        """Forget what was found on the way to a state, so that a run continued from it has the same bits."""
        self._is_new = True
        rigid = state.rigid
        moves = (rigid.velocity != 0.0).any(axis=1) | (rigid.angular_momentum != 0.0).any(axis=1)
        self.found.resting[:] = self._left_out | (~moves & (state.still_time >= STILL_TIME))

    def start_from(self, state: State) -> None:
        """Begin from a state, unless that was done since `start_frame`."""
        if not self._is_new:
            return
        rigid, held, found = state.rigid, state.held, self.found
        self.pairs.start(held)
        self.colliders.start(state)
        set_matrices(rigid.pose, found.step.matrices)
        turned_tensors(rigid.pose, self.model.rigid.inverse_inertia, found.step.inverse)
        count = found.step.counts[HELD_COUNT] = len(held.body)
        self._reserve(0, count)
        here = self.found.held
        here.body[:count], here.anchor[:count], here.impulse[:count] = held.body, held.anchor, held.impulse
        self._is_new = False

    def take_step_time(self, step_time: float) -> None:
        """Take steps of another length [s] from now on: the same forces give other impulses."""
        if abs(step_time - self.step_time) <= 1e-9 * step_time:
            return
        ratio = step_time / self.step_time
        self.pairs.manifolds.impulse[:] *= ratio
        self.found.held.impulse[:] *= ratio
        self.step_time = self.colliders.step_time = step_time

    def find(
        self, state: State, rigid: RigidMotion, touching: BoolArray, x: FloatArray, v: FloatArray, given: float
    ) -> None:
        """Find the rows of a step and the velocities before its impulses.

        state: of which times and poses of rest change; touching: bodies that get all of gravity's velocity before the
        move, shape (rigid_count,); x, v: of all points [m, m/s]; given: speed of the colliders' fastest point [m/s].
        Raises `Diverged` where a body is not finite.
        """
        while True:
            found = self.found
            if found.pairs is not self.pairs.manifolds or found.near is not self.colliders.near:
                found = self.found = found._replace(
                    pairs=self.pairs.manifolds, sweep=self.pairs.sweep, near=self.colliders.near
                )
            needs = self._find_rows(
                found, rigid.pose, rigid.velocity, rigid.angular_momentum, touching, x, v, state.still_pose,
                state.still_time, self.step_time, given,
            )  # fmt: skip
            if needs == READY:
                return
            if needs == PAIRS:
                # no pairs would ever be complete for what is not finite
                finite = np.isfinite(found.falling + rigid.pose.sum(axis=1))
                if not finite.all():
                    raise Diverged(self.model.membrane_count + int(np.argmin(finite)), "is not finite")
                self.pairs.find_pairs(rigid.pose, found.step.matrices, self.step_time * found.falling, found.resting)
            elif needs == COLLIDERS:
                fastest = fastest_near(found.step.island, found.step.speed + found.support.speed)
                self.colliders.look(x, fastest, found.resting, given)
            else:
                self._reserve(self.count, 0)

    def _reserve(self, rows: int, held: int) -> None:
        """Make room for this many rows, whose contents are lost if there is too little, and held impulses."""
        found, most = self.found, max(rows, held)
        if most > len(found.held.body):
            size, kept = most + most // 2, len(found.held.body)
            larger = no_held(size, self.model.rigid_count)
            for name in ("body", "anchor", "impulse", "local"):
                getattr(larger, name)[:kept] = getattr(found.held, name)
            self.found = found = found._replace(held=larger)
        if rows > len(found.step.rows.gap):
            self.found = found._replace(step=found.step._replace(rows=new_rows(rows + rows // 2)))

    def finish(self, rigid: RigidMotion, x: FloatArray, v: FloatArray) -> None:
        """Keep the impulses of the rows for the next step, and place what was awake in this step or the last one."""
        counts = self.found.step.counts
        self._reserve(0, int(counts[ROW_COUNT] - counts[FIRST_GIVEN] + counts[HELD_COUNT]))
        self._finish_step(self.found, rigid.pose, rigid.velocity, rigid.angular_momentum, x, v)
