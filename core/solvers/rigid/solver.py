"""Scenes of rigid bodies alone: without a stiff skin there is no need of implicit steps; sequential impulses are
enough.

One step is a leapfrog: half of gravity's velocity before the move, half after it, so that free flight is exact; bodies
in contact get all of it before, as their contacts balance it at once.
"""

import math
from typing import NamedTuple

import numpy as np

from ...bodies.rigid.convex import ConvexShapes
from ...bodies.rigid.motion import set_matrices, turned_tensors
from ...contact.kept_distance import RESTING_SHARE
from ...contact.narrow_phase.manifolds import ManifoldSearch
from ...contact.restitution import resting_speed
from ...errors import ParameterError
from ...extras import step_damping
from ...model import BoolArray, FloatArray, IntArray, Model
from ...options import DEFAULTS, MethodOptions
from ...state import HeldImpulses, RigidMotion, State
from ..counts import Counts
from ..fixed_steps import FixedSteps
from ..kinematics import Motion
from ..notes import Finding, FrameNotes, PairContacts, Reason
from .bodies import add_turn, fall_asleep, finish_bodies, fly_awake, place_awake, place_bodies, spins_of, start_bodies
from .colliders import ColliderContacts
from .impulses import Effort, bounce, move_rows, solve, start_impulses
from .rows import Solids, given_rows, keep_impulses, manifold_rows, mark_pressing, new_rows
from .sleep import STILL_TIME, fastest_near, find_islands, settle

#: Sweeps that push apart, before the bodies are moved, and sweeps without the push after it, at least and at most.
PUSHING, RELAXING = 6, 6
MOST_SWEEPS = 100
#: They end when a sweep moves no body by more than this share of the bodies' way in the step, within bounds in units
#: of the thickness. Bodies almost at rest need the most sweeps: with fewer, stacks of ten boxes sway for seconds.
CARE, PRECISE, ENOUGH = 0.01, 0.001, 0.1
#: Largest speed at which penetrations are pushed apart, in radii per second.
PUSH = 2.0
#: Impulses go over to contact points within this share of the body's radius.
SAME_POINT = 0.1


class RigidSolver(FixedSteps):
    """Advances rigid bodies by substeps of `substep_time` [s]; `shapes` must all be simple."""

    def __init__(
        self, model: Model, substep_time: float, shapes: ConvexShapes, options: MethodOptions = DEFAULTS
    ) -> None:
        if not (math.isfinite(substep_time) and substep_time > 0.0):
            raise ParameterError(f"substep: {substep_time} s; give a positive time.")
        self.model, self.substep_time, self.counts = model, substep_time, Counts()
        count = model.rigid_count
        self._step_damping = step_damping(model, options)
        self._pairs = ManifoldSearch(model, shapes)
        self._colliders = ColliderContacts(model, substep_time, self.counts)
        self._rows = new_rows(1024)
        self._local = np.zeros((1024, 3))
        self._given = _Given(np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 3)))
        self._count = 0  # rows in use
        self._first_given = 0  # rows from here on are with colliders
        self._matrices = np.zeros((count, 3, 3))  # of the poses now
        self._inverse = np.zeros((count, 3, 3))  # inertia, in world axes
        self._spin = np.zeros((count, 3))
        self._solids = Solids(
            np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count), np.zeros((count, 3, 3)), model.rigid.radius,
            np.ones(count, dtype=bool),
        )  # fmt: skip
        self._speed = np.zeros(count)  # of each body's fastest point, where the step begins [m/s]
        self._resting = np.zeros(count, dtype=bool)  # bodies that slept in the last step
        self._island = np.zeros(count, np.int32)
        self._is_new = True  # nothing is known yet about the state
        self._steps = self._unconverged = 0  # of the frame: steps, and those whose sweeps ended at the limit
        self._bodies = np.zeros((0, 2), np.int32)  # of each row, when the frame ended
        rigid = model.rigid
        self._slowed = np.exp(-substep_time * np.stack([rigid.linear_damping, rigid.angular_damping]))[:, :, None]

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last substep."""
        return int(np.count_nonzero(self._rows.impulse[: self._count, 0]))

    @property
    def candidate_count(self) -> int:
        """Contact rows of the last substep."""
        return self._count

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`; there are no springs."""

    def untangle(self, state: State) -> int:
        """Write the points behind a collider's surface into the state; returns how many triangles cross."""
        crossing = self._colliders.untangle(state.positions)
        state.wrong_side = self._colliders.wrong_side()
        return crossing

    def start_frame(self, state: State) -> None:
        """Forget what was found on the way to a state, so that a run continued from it has the same bits."""
        self._is_new, self._steps, self._unconverged = True, 0, 0
        rigid = state.rigid
        moves = (rigid.velocity != 0.0).any(axis=1) | (rigid.angular_momentum != 0.0).any(axis=1)
        self._resting = ~moves & (state.still_time >= STILL_TIME)

    def notes(self) -> FrameNotes:
        """What the steps since `start_frame` took, see `choice.Solver`."""
        rows = self._rows
        at = np.flatnonzero(rows.impulse[: self._count, 0] > 0.0)
        bodies, gap = self._bodies[at], rows.gap[at] + RESTING_SHARE * rows.thickness[at]
        pairs = PairContacts.of(bodies[:, 0], bodies[:, 1], rows.impulse[at, 0] / self.substep_time, gap)
        findings = [Finding(Reason.NOT_CONVERGED, self._unconverged)] if self._unconverged else []
        return FrameNotes(self._steps, pairs, findings=findings)

    def contact_forces(self) -> FloatArray:
        """See `choice.Solver`: zeros, as contacts of rigid bodies are not forces on points."""
        return np.zeros(self.model.point_count)

    def _bodies_of_rows(self) -> IntArray:
        """Numbers of both bodies of each row, as in the model, shape (row_count, 2)."""
        count, first = self._count, self.model.membrane_count
        bodies: IntArray = self._rows.body[:count] + first
        given = slice(self._first_given, count)
        record = self._rows.source[given, 1]
        bodies[given, 1] = self._colliders.contacts.bodies[record].max(axis=1)
        return bodies

    def _find_anew(self, state: State) -> None:
        """Begin from a state."""
        rigid, model = state.rigid, self.model.rigid
        self._pairs.start(state.held)
        self._colliders.start(state)
        set_matrices(rigid.pose, self._matrices)
        turned_tensors(rigid.pose, model.inverse_inertia, self._inverse)
        self._given = _Given(state.held.body, state.held.anchor, state.held.impulse)
        self._is_new = False

    def substep(self, before: State, after: State, motion: Motion, share: float, gas: FloatArray) -> None:
        """One substep from `before` to `after`, which may be the same object."""
        h, frame = self.substep_time, motion.frame_time
        if after is not before:
            _take_over(before, after)
        after.gas[:] = gas
        x, v, given = after.positions, after.velocities, 0.0
        if len(motion.points):
            x[motion.points], v[motion.points] = motion.positions(share), motion.velocities
            given = self._colliders.fastest(v)
        moves = given > 0.0 or not self._resting.all()
        if not moves:
            after.still_time += h
            self._count = self._first_given = 0
        else:
            if self._is_new:
                self._find_anew(after)
            self._step(after, x, v, given)
        if len(motion.points):
            x[motion.points] = motion.positions(share + h / frame)
        if moves and share + 1.5 * h / frame > 1.0:  # a frame ends
            self._bodies = self._bodies_of_rows()
            after.held = HeldImpulses(*self._pairs.held(), self._given.body, self._given.anchor, self._given.impulse)
            self._colliders.follow(x)
            after.wrong_side = self._colliders.wrong_side()

    def _step(self, state: State, x: FloatArray, v: FloatArray, given: float) -> None:
        """One substep with awake bodies."""
        model, h, rigid, solids = self.model, self.substep_time, state.rigid, self._solids
        touching, fall = state.touching[model.membrane_count :], h * model.gravity
        awake = self._wake(state, x, v, given)
        resting = ~awake & self._resting  # slept before, too: nothing about them changes
        fall_asleep(
            awake, model.rigid.mass, solids.velocity, solids.spin, self._inverse, solids.inverse_mass,
            solids.inverse_inertia,
        )  # fmt: skip
        self._set_rows(solids, rigid.pose, x, v)
        self._move(rigid, touching, fall)
        rows, count = self._rows, self._count
        touching[:] = ~awake
        mark_pressing(count, rows.body, rows.impulse, touching)
        keep_impulses(self._first_given, rows.impulse, rows.axes, rows.source, self._pairs.manifolds.impulse)
        self._keep_given(awake)
        if self._step_damping is not None:
            self._step_damping.apply(state, h)
        place_bodies(resting, rigid.pose, model.rigid.inverse_inertia, self._matrices, self._inverse)
        spins_of(resting, self._inverse, rigid.angular_momentum, self._spin)
        place_awake(resting, rigid.pose, rigid.velocity, self._spin, model.rigid.arm, model.rigid.point_start, x, v)
        self._resting = ~awake

    def _wake(self, state: State, x: FloatArray, v: FloatArray, given: float) -> BoolArray:
        """Update pairs and islands, wake bodies, and set their velocities before the impulses."""
        model, h, rigid, solids = self.model, self.substep_time, state.rigid, self._solids
        touching, fall = state.touching[model.membrane_count :], h * model.gravity
        still_pose, still_time = state.still_pose.copy(), state.still_time.copy()
        awake = solids.awake
        while True:
            start_bodies(
                self._resting, rigid.velocity, rigid.angular_momentum, self._inverse, model.rigid.radius, touching,
                fall, solids.velocity, solids.spin, self._speed,
            )  # fmt: skip
            falling = self._speed + float(np.linalg.norm(fall))
            manifolds = self._pairs.update(
                rigid.pose, self._matrices, solids.velocity, solids.spin, falling, self._resting, h
            )
            find_islands(manifolds.pair, manifolds.count, self._island)
            quick = fastest_near(self._island, self._speed)
            supported, shaken = self._colliders.meet(x, v, quick, self._resting, given)
            state.still_pose[:], state.still_time[:] = still_pose, still_time
            settle(
                self._island, rigid.pose, model.rigid.radius, supported, shaken, h, state.still_pose, state.still_time,
                awake,
            )  # fmt: skip
            if not (self._resting & awake).any():
                return awake
            self._resting &= ~awake  # bodies that wake may be near pairs that were skipped

    def _move(self, rigid: RigidMotion, touching: BoolArray, fall: FloatArray) -> None:
        """Find the impulses and move the bodies with them."""
        rows, count, h, of, solids = self._rows, self._count, self.substep_time, self.model.rigid, self._solids
        before, awake, momentum = solids.spin.copy(), solids.awake, np.empty_like(solids.spin)
        enough = self._enough()
        start_impulses(count, rows, solids)
        pushing = solve(count, rows, solids, h, True, Effort(PUSHING, MOST_SWEEPS, enough))
        add_turn(awake, self._matrices, of.inertia, solids.spin, before, rigid.angular_momentum, momentum)
        fly_awake(awake, rigid.pose.copy(), solids.velocity, momentum, of.inverse_inertia, h, rigid.pose)
        move_rows(count, rows, solids, h)
        finish_bodies(awake, touching, fall, solids.velocity)
        relaxing = solve(count, rows, solids, h, False, Effort(RELAXING, MOST_SWEEPS, enough))
        self.counts.sweeps += pushing + relaxing
        self._steps += 1
        self._unconverged += max(pushing, relaxing) >= MOST_SWEEPS
        bounce(count, rows, solids, resting_speed(self.model.gravity, h))
        self.counts.stages += 1
        add_turn(awake, self._matrices, of.inertia, solids.spin, before, rigid.angular_momentum, momentum)
        rigid.velocity[:] = solids.velocity * self._slowed[0]
        rigid.angular_momentum[:] = momentum * self._slowed[1]

    def _enough(self) -> float:
        """Correction at which sweeps end, in units of the thickness."""
        model, awake = self.model, self._solids.awake
        thickness = model.thickness[model.membrane_count : model.moving_count]
        moves = self.substep_time * self._speed[awake] / thickness[awake]
        mean = math.sqrt(float(moves @ moves) / max(len(moves), 1))
        return min(max(CARE * mean, PRECISE), ENOUGH)

    def _set_rows(self, solids: Solids, poses: FloatArray, x: FloatArray, v: FloatArray) -> None:
        """Collect the contacts as rows."""
        model, contacts, m, held = self.model, self._colliders.contacts, self._pairs.manifolds, self._given
        bodies = slice(model.membrane_count, model.moving_count)
        start = np.searchsorted(held.body, np.arange(model.rigid_count + 1))
        while True:
            count = self._first_given = manifold_rows(
                m.pair, m.count, m.owner, m.anchor, m.normal, m.impulse, m.reach, poses, self._matrices,
                model.thickness[bodies], model.friction[bodies], model.bounciness[bodies], solids, PUSH, self._rows,
            )  # fmt: skip
            if contacts.count:
                count = given_rows(
                    count, contacts.count, contacts.points, contacts.weights, contacts.normal, contacts.gap,
                    contacts.side, contacts.bodies, contacts.thickness, self._colliders.speculation, x, v,
                    model.membrane_count, model.moving_count, poses, self._matrices, model.friction, model.bounciness,
                    start, held.anchor.copy(), held.impulse, SAME_POINT * model.rigid.radius, solids, PUSH, self._rows,
                    self._local,
                )  # fmt: skip
            if count <= len(self._local):
                break
            self._rows, self._local = new_rows(count + count // 2), np.zeros((count + count // 2, 3))
        self._count = count

    def _keep_given(self, awake: BoolArray) -> None:
        """Store the impulses of the contacts with colliders for the next step."""
        rows, given, before = self._rows, slice(self._first_given, self._count), self._given
        if given.start == given.stop and len(before.body) == 0:
            return
        carried = np.einsum("rk,rki->ri", rows.impulse[given], rows.axes[given])
        # sleeping bodies keep their impulses
        asleep = ~awake[before.body]
        body = np.concatenate([rows.body[given, 0], before.body[asleep]])
        order = np.argsort(body, kind="stable")
        anchor = np.concatenate([self._local[given], before.anchor[asleep]])
        impulse = np.concatenate([carried, before.impulse[asleep]])
        self._given = _Given(body[order], anchor[order], impulse[order])


class _Given(NamedTuple):
    """Impulses of the contacts with colliders, as in `HeldImpulses`."""

    body: IntArray
    anchor: FloatArray
    impulse: FloatArray


def _take_over(before: State, after: State) -> None:
    """Copy the contents of a state into another."""
    for name in ("positions", "velocities", "touching", "still_pose", "still_time"):
        getattr(after, name)[:] = getattr(before, name)
    after.rigid, after.held, after.wrong_side = before.rigid.copy(), before.held, before.wrong_side
