"""Scenes of rigid bodies alone: nothing is stiff, so sequential impulses at 240 steps per second are enough.

One step is a leapfrog: half of gravity's velocity before the move, half after it, so that free flight is exact; bodies
in contact get all of it before, as their contacts balance it at once.
"""

from typing import TYPE_CHECKING

import numpy as np

from ...array_types import FloatArray
from ...bodies.rigid.convex import ConvexShapes
from ...contact.untangle.at_start import crossing_triangles, in_colliders
from ...contact.untangle.overlap import NO_BODIES
from ...jit import Repeated
from ...model import Model
from ...state import State
from ..counts import Counts
from ..kinematics import Motion
from ..notes import Finding, FrameNotes, PairContacts, Reason
from .contacts import RigidContacts
from .impulses import MOST_SWEEPS
from .step import take_step

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
        self._take_step = Repeated(take_step)
        rigid = model.rigid
        self._kept = np.exp(-substep_time * np.stack([rigid.linear_damping, rigid.angular_damping]))[:, :, None]

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last substep."""
        return self._contacts.pressing_count

    @property
    def candidate_count(self) -> int:
        """Contact rows of the last substep."""
        return self._contacts.count

    def revised(self, _model: Model) -> None:
        """See `choice.Solver`."""

    remade = revised

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`; there are no springs."""

    def untangle(self, state: State) -> int:
        """Write the points behind a collider's surface into the state; returns how many triangles cross.

        Two bodies that cross are told apart by their axes.
        """
        state.wrong_side = in_colliders(self.model, state.positions)
        return len(crossing_triangles(self.model, state.positions, NO_BODIES))

    def start_frame(self, state: State) -> None:
        """Forget what was found on the way to a state, so that a run continued from it has the same bits."""
        self._steps = self._unconverged = 0
        self._contacts.start_frame(state)

    def notes(self) -> FrameNotes:
        """What the steps since `start_frame` took, see `choice.Solver`."""
        pairs = PairContacts.of(*self._contacts.pair_contacts())
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
            after.wrong_side = contacts.end_run(after, x)

    def _step(self, state: State, x: FloatArray, v: FloatArray, given: float) -> None:
        """One substep with awake bodies."""
        contacts, rigid = self._contacts, state.rigid
        touching = state.touching[self.model.membrane_count :]
        contacts.find(state, rigid, touching, x, v, given)
        sweeps = self._take_step(
            contacts.found.step, rigid.pose, rigid.velocity, rigid.angular_momentum, touching, self._kept,
            self.substep_time, MOST_SWEEPS,
        )  # fmt: skip
        self.counts.sweeps += sum(sweeps)
        self.counts.stages += 1
        self._steps += 1
        self._unconverged += max(sweeps) >= MOST_SWEEPS
        if self._step_damping is not None:
            self._step_damping.apply(state, self.substep_time)
        contacts.finish(rigid, x, v)


def _take_over(before: State, after: State) -> None:
    """Copy the contents of a state into another."""
    for name in ("positions", "velocities", "touching", "still_pose", "still_time"):
        getattr(after, name)[:] = getattr(before, name)
    after.rigid, after.held, after.wrong_side = before.rigid.copy(), before.held, before.wrong_side
