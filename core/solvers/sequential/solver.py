"""The solver whose substeps have a given length and end in the contact phase of `contact_phase.py`.

What moves everything before that is an `Integrator`: that of XPBD, or of a paper.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...array_types import FloatArray
from ...model import Model
from ...state import State
from ..explicit.arrays import LACKS_ROOM, PRESSING, RESUMES, SEARCHES, STEP
from ..explicit.dissipation import LOSS_TIME
from ..explicit.left_out import list_crossing
from ..explicit.workspace import Workspace
from ..kinematics import Motion
from ..notes import FrameNotes
from .contact_phase import ContactPhase, contact_phase_of
from .contacts import impulses_of

if TYPE_CHECKING:
    from ...papers.step_damping import StepDamping


class Integrator:
    """Moves everything in a substep as if nothing touched; base of those with contacts of their own, or none."""

    #: Whether each substep is a run of its own, as something acts on the state between them.
    singly = False

    def __init__(self, space: Workspace, phase: ContactPhase, substep_time: float) -> None:
        """For substeps of a length [s]; `phase`: as `advance` gets it first."""
        self.model, self.space, self.substep_time = space.model, space, substep_time
        place = space.numbering.place[: self.model.vertex_count]
        self.inverse_mass = space.contact.points.inverse_mass[place]  # of the vertices in the model's order [1/kg]
        self.loss_steps = max(1, round(LOSS_TIME / substep_time))
        #: Pairs of bodies whose contacts it answers by itself, shape (body_count, body_count); how many of these exert
        #: a force, and how many it has found.
        self.answers, self.answered, self.found = np.zeros_like(space.model.ignores), 0, 0

    def begin(
        self, before: State, motion: Motion, share: float, gas: FloatArray, count: int, load: FloatArray | None
    ) -> None:
        """Prepare a run of substeps from a state, see `choice.Solver.step`."""
        raise NotImplementedError

    def advance(self, phase: ContactPhase, count: int) -> None:
        """Take the remaining substeps of a run of `count`; stop at `state[LACKS_ROOM]`: a search lacks capacity."""
        raise NotImplementedError

    def start_frame(self, state: State) -> None:
        """Drop everything that is not in the state, so that a continued run has the same bits."""

    def end(self, after: State) -> None:
        """Add to the state after a run what is not in the workspace."""

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`."""
        raise NotImplementedError


#: Makes the integrator for a solver.
IntegratorMaker = Callable[[Workspace, ContactPhase, float], Integrator]


class SequentialSolver:
    """Advances a model by substeps of `substep_time` [s], a run of them at a time."""

    def __init__(
        self, model: Model, substep_time: float, make: IntegratorMaker, damping: "StepDamping | None" = None
    ) -> None:
        """`make`: its integrator; `damping` in each step besides that of the bodies."""
        self.model, self.substep_time, self.vertex_mass = model, substep_time, model.vertex_mass
        self.space = Workspace(model, model.vertex_mass)
        self.counts = self.space.counts
        self.phase = contact_phase_of(self.space)
        self.integrator = make(self.space, self.phase, substep_time)
        self.space.untouching = model.ignores | self.integrator.answers
        self._step_damping = damping

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last substep."""
        return int(self.space.contact.run.state[PRESSING]) + self.integrator.answered

    @property
    def candidate_count(self) -> int:
        """Pairs in the contact set."""
        return int(self.space.contact.run.found[2:].sum()) + self.integrator.found

    def revised(self, _model: Model) -> None:
        """See `choice.Solver`."""

    remade = revised

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`."""
        self.integrator.take_rest_lengths()

    def untangle(self, state: State) -> int:
        """Note which points are behind a surface, but for what the integrator answers; how many triangles cross."""
        count = list_crossing(self.model, state)
        listed = state.wrong_side
        state.wrong_side = listed[~self.integrator.answers[self.model.point_body[listed[:, 0]], listed[:, 1]]]
        return count

    def start_frame(self, state: State) -> None:
        """Drop everything that is not in the state, so that a continued run has the same bits."""
        self.space.start_frame(state)
        self.integrator.start_frame(state)

    def notes(self) -> FrameNotes:
        """What the substeps since `start_frame` took, see `choice.Solver`."""
        return self.space.notes()

    def contact_forces(self) -> FloatArray:
        """See `choice.Solver`."""
        return self.space.contact_forces()

    def join(self, _state: State, left: int) -> int:
        """How many of the `left` substeps of a frame to take as one run: all, unless something acts in each."""
        return 1 if self._step_damping is not None or self.integrator.singly else left

    def step(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, count: int = 1,
        load: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """`count` substeps as one run, see `choice.Solver`."""
        h, space = self.substep_time, self.space
        state = space.contact.run.state
        space.read(before, motion, share)
        self._take_contact()
        self.phase.touching[:] = before.touching
        state[STEP] = state[RESUMES] = 0
        searches = int(state[SEARCHES])
        self.integrator.begin(before, motion, share, gas, count, load)
        while state[STEP] < count:
            state[LACKS_ROOM] = 0
            self.integrator.advance(self.phase, count)
            if state[LACKS_ROOM]:
                space.make_room()
                self._take_contact()
        space.frame.steps, space.frame.step_time = space.frame.steps + count, h
        self.counts.stages += count
        self.counts.contact_searches += int(state[SEARCHES]) - searches
        space.write(after, count, gas, motion, share + count * h / motion.frame_time)
        self.phase.note_impulses()
        after.touching[:] = self.phase.touching
        after.wrong_side = before.wrong_side
        if self._step_damping is not None:
            self._step_damping.apply(after, h)
        self.integrator.end(after)

    def _take_contact(self) -> None:
        """Take the contact set of the workspace into the phase, with impulses for its capacity."""
        contact, room = self.space.contact, len(self.space.contact.corners.reach)
        if contact.corners is not self.phase.contact.corners:
            self.phase = self.phase._replace(corner_impulses=impulses_of(room), side_impulses=impulses_of(room))
        if contact is not self.phase.contact:
            self.phase = self.phase._replace(contact=contact)
