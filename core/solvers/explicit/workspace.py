"""What a solver with a contact set works on: positions and velocities in its order, the set, and notes of the frame.

Explicit steps and the substeps of `sequential/` own one each.
"""

import copy
from collections.abc import Sequence

import numpy as np

from ...array_types import BoolArray, FloatArray
from ...jit import Repeated
from ...model import Model
from ...state import PairSpeeds, State
from ...tiny import TINY
from ..counts import Counts
from ..kinematics import Motion
from ..notes import Finding, FrameCounts, FrameNotes, LeastShare, PairContacts, PairRows, Reason
from .arrays import AGE, ALLOWED, CARRIED_COUNT, GIVEN, LIMITED, SOFT, SPAN, STALLS, STARTS, WORK, Pressed
from .carried import place_all, start_bodies
from .contact_set import contact_set, with_room
from .dissipation import losses_of
from .exchange import read_points, write_points
from .failures import KEPT_APART, NO_ROOM, STOPPED
from .glue import glue_of
from .layout import lay_out
from .left_out import leave_out

#: Steps of the first epoch of a frame, and its slack as a share of the distance to keep, without measured deviations.
FIRST_SPAN, FIRST_SLACK = 4, 0.25
#: What the guarantee of `verify.py` did, as a reason in reports.
GUARANTEED = {KEPT_APART: Reason.KEPT_APART, STOPPED: Reason.STOPPED, NO_ROOM: Reason.NO_ROOM}


class Workspace:
    """Arrays of a model in the solver's order, its contact set, attachments and losses."""

    def __init__(self, model: Model, mass: FloatArray) -> None:
        """`mass` of the vertices [kg], in the model's order."""
        self.model, self.mass, self.counts, self.frame = model, mass, Counts(), FrameCounts()
        #: Pairs of bodies that do not touch, or whose contacts others answer, shape (body_count, body_count).
        self.untouching = model.ignores
        self.numbering, patches = lay_out(model)
        self.x, self.y, self.v = np.zeros((3, 4 * model.point_count))
        self.rows = self.x.reshape(-1, 4), self.y.reshape(-1, 4), self.v.reshape(-1, 4)
        order = self.numbering.point[: model.vertex_count]
        inverse = np.zeros(model.point_count)
        with np.errstate(divide="ignore"):
            inverse[: model.vertex_count] = np.where(model.pinned, 0.0, 1.0 / mass)[order]
        self._inverse_mass = inverse
        self.contact = contact_set(model, self.numbering, patches, inverse.copy())
        self.glue = glue_of(model, self.numbering, inverse)
        self.losses = losses_of(model, mass[order], model.pinned[order])
        self._read_points = Repeated(read_points, 7)
        self._is_ball = self.contact.bodies.is_ball.copy()
        owner = patches.body
        self._first_slack = np.where(owner < model.moving_count, FIRST_SLACK * self.contact.run.scale[owner, 0], 0.0)

    def revised(self, model: Model) -> "Workspace":
        """The same for a model with other values, with the masses and contacts of this one."""
        other, order = copy.copy(self), self.numbering.point[: model.vertex_count]
        other.model = model
        other.contact = self.contact._replace(bodies=self.contact.bodies._replace(friction=model.friction))
        other.glue = glue_of(model, self.numbering, self._inverse_mass)
        other.losses = losses_of(model, self.mass[order], model.pinned[order])
        return other

    def start_frame(self, state: State) -> None:
        """Drop everything that is not in the state, so that a continued run has the same bits."""
        run, boxes, bodies = self.contact.run, self.contact.boxes, self.contact.bodies
        run.state[AGE], run.state[SPAN], run.state[STARTS] = -1, FIRST_SPAN, state.begins
        run.state[WORK] = run.state[ALLOWED] = 0
        run.stopped[:] = False
        boxes.slack[:] = self._first_slack
        run.found[:] = 0
        self.contact.pressed.size[:] = 0
        boxes.strayed[:] = 0.0
        run.state[CARRIED_COUNT] = 0
        if self._rejected() != self.frame.rejected:
            run.failures[:], run.least_share[:], run.gap_left[:], run.cut[:] = 0, 1.0, np.inf, 0.0
        self.frame = FrameCounts(self._rejected())
        left_out = leave_out(self.model, self.numbering, bodies, self.untouching, self._is_ball, state)
        if left_out != bodies.any_left_out:
            self.contact = self.contact._replace(bodies=bodies._replace(any_left_out=left_out))
        bodies.watched[:] = False

    def _rejected(self) -> int:
        """How often the guarantee rejected a step since the start: else there is nothing new in `Run.failures`."""
        return int(self.contact.run.state[LIMITED] + self.contact.run.state[STALLS])

    def let_sleep(self, asleep: BoolArray) -> None:
        """Let these membranes be obstacles at rest in the run that begins, and wake the others."""
        contact, model = self.contact, self.model
        kind, patches = contact.bodies.kind[: model.membrane_count], contact.boxes.patches.body
        if not (asleep | (kind == GIVEN)).any():
            return
        contact.boxes.slack[np.append(asleep, np.zeros(model.body_count - len(asleep), bool))[patches]] = 0.0
        self.losses.asleep[:], woken = asleep, (kind == GIVEN) & ~asleep
        if not woken.any() and not (asleep & (kind != GIVEN)).any():
            return
        kind[:] = np.where(asleep, GIVEN, SOFT)
        free = ~asleep[contact.points.body[: model.vertex_count]]
        contact.points.inverse_mass[: model.vertex_count] = self._inverse_mass[: model.vertex_count] * free
        contact.run.state[AGE] = -1
        own = np.append(woken, np.zeros(model.body_count - len(woken), bool))[patches]
        contact.boxes.slack[own] = FIRST_SLACK * contact.run.scale[patches[own], 0]

    def make_room(self) -> None:
        """Double the capacity for candidates and contacts."""
        self.contact = with_room(self.contact, 2 * len(self.contact.corners.reach))

    # --- a run of steps -------------------------------------------------------------------------------------------

    def read(self, state: State, motion: Motion, share: float) -> float:
        """Copy everything into the solver's order; returns the largest relative speed of two bodies [m/s]."""
        rigid = self.contact.rigid
        fastest: float = self._read_points(
            state.positions, state.velocities, motion.points, motion.positions(share), motion.velocities,
            self.numbering.place, self.contact.points.body, self.contact.bodies, self.contact.run, self.x, self.y,
            self.v,
        )  # fmt: skip
        rigid.pose[:], rigid.velocity[:] = state.rigid.pose, state.rigid.velocity
        rigid.momentum[:] = state.rigid.angular_momentum
        if self.model.rigid_count:
            start_bodies(rigid)
        self.losses.load[:] = state.load
        self.losses.pairs.approach[:] = 0.0
        self.losses.pairs.approach[state.approach.key] = state.approach.speed
        return fastest

    def write(self, state: State, steps: int, gas: FloatArray, motion: Motion, share: float) -> None:
        """The state after a run of steps."""
        model, rigid, approach = self.model, self.contact.rigid, self.losses.pairs.approach
        x = self.x if steps % 2 == 0 else self.y
        if model.rigid_count:
            place_all(rigid, self.contact.bodies, x, self.v)
        write_points(
            x, self.v, self.numbering.place, model.moving_point_count, motion.points, motion.positions(share),
            motion.velocities, state.positions, state.velocities,
        )  # fmt: skip
        state.rigid.pose[:], state.rigid.velocity[:] = rigid.pose, rigid.velocity
        state.rigid.angular_momentum[:] = rigid.momentum
        state.gas[:], state.load[:] = gas, self.losses.load
        key = np.flatnonzero(approach)
        state.approach = PairSpeeds(key.astype(np.int64), approach[key])

    # --- what is told of a frame ----------------------------------------------------------------------------------

    def notes(self, others: Sequence[PairRows] = ()) -> FrameNotes:
        """What the steps since `start_frame` took; `others`: further contacts, as `PairContacts.of` takes them."""
        contact, run, frame = self.contact, self.contact.run, self.frame
        pressed = self.pressed()
        low, high = contact.points.body[pressed.points[:, ::3]].T
        rows: PairRows = (low, high, pressed.impulse / max(frame.step_time, TINY), pressed.gap)
        if others:
            rows = tuple(map(np.concatenate, zip(rows, *others, strict=True)))  # type: ignore[assignment]
        pairs = PairContacts.of(*rows)
        findings = [Finding(reason, count, bodies) for (reason, bodies), count in frame.findings.items()]
        shares = []
        if self._rejected() != frame.rejected:
            for how, low, high in np.argwhere(run.failures).tolist():
                gap = float(run.gap_left[low, high]) if how != KEPT_APART else None
                findings.append(Finding(GUARANTEED[how], int(run.failures[how, low, high]), (low, high), gap))
            for low, high in np.argwhere(run.least_share < 1.0).tolist():
                shares.append(LeastShare(float(run.least_share[low, high]), (low, high)))
        return FrameNotes(frame.steps, pairs, shares, findings, momentum_cut=run.cut.copy())

    def contact_forces(self) -> FloatArray:
        """See `choice.Solver`."""
        pressed = self.pressed()
        shares = np.abs(pressed.weight) * (pressed.impulse / max(self.frame.step_time, TINY))[:, None]
        force = np.bincount(pressed.points.ravel(), shares.ravel(), self.model.point_count)
        return np.asarray(force[self.numbering.place], float)

    def pressed(self) -> Pressed:
        """The contacts that pushed in the last step."""
        count = int(self.contact.pressed.size[0])
        return Pressed._make(each[:count] for each in self.contact.pressed)
