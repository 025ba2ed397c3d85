"""Scenes of rigid bodies alone: nothing is stiff, so sequential impulses at 240 steps per second are enough.

One step is a leapfrog: half of gravity's velocity before the move, half after it, so that free flight is exact; bodies
in contact get all of it before, as their contacts balance it at once.
"""

from typing import TYPE_CHECKING

import numpy as np

from ...array_types import BoolArray, FloatArray
from ...bodies.rigid.convex import ConvexShapes
from ...contact.kept_distance import RESTING_SHARE
from ...contact.restitution import resting_speed
from ...model import Model
from ...state import RigidMotion, State
from ..counts import Counts
from ..kinematics import Motion
from ..notes import Finding, FrameNotes, PairContacts, Reason
from .bodies import add_turn, finish_bodies, fly_awake, place_bodies, turn_on
from .contacts import RigidContacts
from .impulses import MOST_SWEEPS, PUSHING, RELAXING, Effort, bounce, move_rows, solve, start_impulses
from .rows import mark_pressing
from .work import Motions, body_energies, bounce_shares, cut_bounce, island_losses, pay_debts

if TYPE_CHECKING:
    from ...papers.step_damping import StepDamping


class RigidSolver:
    """Advances rigid bodies by substeps of `substep_time` [s]; `shapes` must all be simple."""

    def __init__(
        self, model: Model, substep_time: float, shapes: ConvexShapes, damping: "StepDamping | None" = None
    ) -> None:
        self.model, self.substep_time, self.counts, self.vertex_mass = model, substep_time, Counts(), model.vertex_mass
        self._step_damping = damping
        self._contacts = RigidContacts(model, substep_time, shapes, self.counts)
        self._steps = self._unconverged = 0  # of the frame: steps, and those whose sweeps ended at the limit
        self._bodies = np.zeros((0, 2), np.int32)  # of each row, when the frame ended
        rigid = model.rigid
        self._slowed = np.exp(-substep_time * np.stack([rigid.linear_damping, rigid.angular_damping]))[:, :, None]

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last substep."""
        return int(np.count_nonzero(self._contacts.rows.impulse[: self._contacts.count, 0]))

    @property
    def candidate_count(self) -> int:
        """Contact rows of the last substep."""
        return self._contacts.count

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`; there are no springs."""

    def untangle(self, state: State) -> int:
        """Write the points behind a collider's surface into the state; returns how many triangles cross."""
        colliders = self._contacts.colliders
        crossing = colliders.untangle(state.positions)
        state.wrong_side = colliders.wrong_side()
        return crossing

    def start_frame(self, state: State) -> None:
        """Forget what was found on the way to a state, so that a run continued from it has the same bits."""
        self._steps = self._unconverged = 0
        self._contacts.start_frame(state)

    def notes(self) -> FrameNotes:
        """What the steps since `start_frame` took, see `choice.Solver`."""
        rows = self._contacts.rows
        at = np.flatnonzero(rows.impulse[: self._contacts.count, 0] > 0.0)
        bodies, gap = self._bodies[at], rows.gap[at] + RESTING_SHARE * rows.thickness[at]
        pairs = PairContacts.of(bodies[:, 0], bodies[:, 1], rows.impulse[at, 0] / self.substep_time, gap)
        findings = [Finding(Reason.NOT_CONVERGED, self._unconverged)] if self._unconverged else []
        return FrameNotes(self._steps, pairs, findings=findings)

    def contact_forces(self) -> FloatArray:
        """See `choice.Solver`: zeros, as contacts of rigid bodies are not forces on points."""
        return np.zeros(self.model.point_count)

    def join(self, _state: State, _left: int) -> int:
        """How many substeps to take as one: always 1."""
        return 1

    def step(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, _count: int = 1,
        _load: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """One substep, see `choice.Solver`; there are no vertices that a load could act on."""
        h, frame, contacts = self.substep_time, motion.frame_time, self._contacts
        if after is not before:
            _take_over(before, after)
        after.gas[:] = gas
        x, v, given = after.positions, after.velocities, 0.0
        if len(motion.points):
            x[motion.points], v[motion.points] = motion.positions(share), motion.velocities
            given = contacts.colliders.fastest(v)
        moves = given > 0.0 or not contacts.found.resting.all()
        if not moves:
            after.still_time += h
            contacts.clear()
        else:
            contacts.start_from(after)
            self._step(after, x, v, given)
        if len(motion.points):
            x[motion.points] = motion.positions(share + h / frame)
        if moves and share + 1.5 * h / frame > 1.0:  # a frame ends
            self._bodies = contacts.bodies_of_rows()
            after.held = contacts.held()
            contacts.colliders.follow(x)
            after.wrong_side = contacts.colliders.wrong_side()

    def _step(self, state: State, x: FloatArray, v: FloatArray, given: float) -> None:
        """One substep with awake bodies."""
        contacts, rigid = self._contacts, state.rigid
        touching = state.touching[self.model.membrane_count :]
        awake = contacts.find(state, rigid, touching, x, v, given)
        self._move(rigid, touching)
        touching[:] = ~awake
        mark_pressing(contacts.count, contacts.rows.body, contacts.rows.impulse, touching)
        if self._step_damping is not None:
            self._step_damping.apply(state, self.substep_time)
        contacts.finish(rigid, x, v)

    def _move(self, rigid: RigidMotion, touching: BoolArray) -> None:
        """Find the impulses and move the bodies with them."""
        contacts, of, h, gravity = self._contacts, self.model.rigid, self.substep_time, self.model.gravity
        rows, count, solids, first = contacts.rows, contacts.count, contacts.solids, contacts.first_given
        before, awake, momentum = solids.spin.copy(), solids.awake, np.empty_like(solids.spin)
        energy, lost, enough = np.empty((2, len(awake))), np.empty(len(awake)), contacts.enough()
        start = Motions(rigid.velocity, before, rigid.angular_momentum)
        body_energies(awake, of.mass, gravity, rigid.pose, start, energy[0])
        start_impulses(count, rows, solids)
        pushing = solve(count, rows, solids, h, True, Effort(PUSHING, MOST_SWEEPS, enough))
        add_turn(awake, contacts.found.matrices, of.inertia, solids.spin, before, rigid.angular_momentum, momentum)
        fly_awake(awake, rigid.pose.copy(), solids.velocity, momentum, of.inverse_inertia, h, rigid.pose)
        move_rows(count, rows, solids, h)
        finish_bodies(awake, touching, h * gravity, solids.velocity)
        # on with the inertia of the new poses
        place_bodies(~awake, rigid.pose, of.inverse_inertia, contacts.found.matrices, contacts.found.inverse)
        turn_on(awake, contacts.found.inverse, momentum, solids.spin, solids.inverse_inertia)
        turned, whole = solids.spin.copy(), Motions(solids.velocity, solids.spin, np.empty_like(momentum))
        relaxing = solve(count, rows, solids, h, False, Effort(RELAXING, MOST_SWEEPS, enough))
        add_turn(awake, contacts.found.matrices, of.inertia, solids.spin, turned, momentum, whole.momentum)
        self.counts.sweeps += pushing + relaxing
        self._steps += 1
        self._unconverged += max(pushing, relaxing) >= MOST_SWEEPS
        body_energies(awake, of.mass, gravity, rigid.pose, whole, energy[1])
        island_losses(contacts.found.island, energy[0], energy[1], first, count, rows, lost)
        pay_debts(contacts.found.island, awake, of.mass, lost, first, count, rows, whole)
        self._bounce(whole, lost)
        self.counts.stages += 1
        rigid.velocity[:] = whole.velocity * self._slowed[0]
        rigid.angular_momentum[:] = whole.momentum * self._slowed[1]

    def _bounce(self, motion: Motions, lost: FloatArray) -> None:
        """Restitution, within the energy that each island has `lost` in the step [J]; changes the motion."""
        contacts, of = self._contacts, self.model.rigid
        rows, count, solids, island, first = (
            contacts.rows, contacts.count, contacts.solids, contacts.found.island, contacts.first_given,
        )  # fmt: skip
        impulse, calm = rows.impulse[:count, 0].copy(), Motions(*(part.copy() for part in motion))
        if not bounce(count, rows, solids, resting_speed(self.model.gravity, self.substep_time)):
            return
        share = np.empty(len(island))
        add_turn(
            solids.awake, contacts.found.matrices, of.inertia, solids.spin, calm.spin, calm.momentum, motion.momentum
        )
        bounce_shares(island, solids.awake, of.mass, lost, calm, motion, first, count, rows, impulse, share)
        cut_bounce(island, solids.awake, share, calm, motion, count, rows, impulse)


def _take_over(before: State, after: State) -> None:
    """Copy the contents of a state into another."""
    for name in ("positions", "velocities", "touching", "still_pose", "still_time"):
        getattr(after, name)[:] = getattr(before, name)
    after.rigid, after.held, after.wrong_side = before.rigid.copy(), before.held, before.wrong_side
