"""The explicit solver: steps at the limit of stability, thousands per second, none of which iterates.

Airbag and crash codes simulate light skins full of gas, folded and in contact with themselves, in this way. `steps.py`
has the step, `stability.py` its length.
"""

import copy
import functools
import math
from collections.abc import Iterator

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...bodies.flat.plane import hold_in_plane
from ...bodies.rigid.convex import ConvexShapes, convex_shapes
from ...divergence import check_sizes, membrane_sizes
from ...energy.energies import ModelElements
from ...errors import ParameterError
from ...jit import Repeated
from ...model import Model
from ...options import DEFAULTS, MethodOptions
from ...state import PairSpeeds, State
from ...team import helped
from ...threads import threads_in_use
from ...tiny import TINY
from ..counts import Counts
from ..kinematics import Motion
from ..loads import add_late_turn, lifts
from ..notes import Finding, FrameCounts, FrameNotes, LeastShare, PairContacts, Reason
from .arrays import (  # fmt: skip
    AGE,
    CARRIED_COUNT,
    LACKS_ROOM,
    LIMITED,
    PRESSING,
    RESUMES,
    SEARCHES,
    SPAN,
    STALLED,
    STALLS,
    STARTS,
    STEP,
    TICK_END,
    TICK_START,
    WAKES,
    WORK,
    Contacts,
)
from .carried import place_all, start_bodies
from .contact_set import contact_set, with_room
from .dissipation import LEAST_STEPS, LOSS_TIME, losses_of
from .exchange import fall_free, note_touching, read_points, write_points
from .failures import KEPT_APART, NO_ROOM, STOPPED
from .glue import glue_of
from .layout import lay_out
from .left_out import leave_out, list_crossing
from .limits import StepLimit, check_plan, check_speed
from .revision import has_same_stiffness, revised_plan
from .rigid_flight import note_calm
from .rigid_ticks import TICK_TIME, RigidTicks
from .skins import Skins, skins_of, spring_order, start_lengths
from .sleep import STILL_TIME, are_still, hold, is_driven, still_speeds
from .soft_hinges import SoftHinges
from .stability import DASHPOT_RATIO, EDGE_SHARE, Plan, plan_steps, plan_with
from .start_loads import begin_run, start_loads_of
from .steps import Scene, advance
from .unsupported import unsupported

#: Least blocks of soft bodies per thread: fewer are finished before another thread sees them.
BLOCKS_EACH = 4
#: Time between two measurements of springs that stiffen [s].
STIFFENING_TIME = 1.0 / 240.0
#: Steps of the first epoch of a frame, and its slack as a share of the distance to keep, without measured deviations.
FIRST_SPAN, FIRST_SLACK = 4, 0.25
#: Steps that are shorter than at rest by less than this share are not told of.
TOLD_EXCESS = 0.1
#: What the guarantee of `verify.py` did, as a reason in reports.
GUARANTEED = {KEPT_APART: Reason.KEPT_APART, STOPPED: Reason.STOPPED, NO_ROOM: Reason.NO_ROOM}


class ExplicitSolver:
    """Advances a model by runs of steps; a run may be as long as a frame."""

    #: Pairs of bodies that do not touch, or whose contacts others answer, shape (body_count, body_count).
    _untouching: BoolArray

    def __init__(
        self, model: Model, substep_time: float, options: MethodOptions = DEFAULTS, plan: Plan | None = None
    ) -> None:
        """`plan`: of the steps, if it is not to be made from the model and the options."""
        if not (math.isfinite(substep_time) and substep_time > 0.0):
            raise ParameterError(f"substep: {substep_time} s; give a positive time.")
        missing, remedy = unsupported(model, options)
        if missing:
            raise ParameterError(f"{missing}; the method EXPLICIT does not know that. {remedy}")
        self.model, self.substep_time, self.counts = model, substep_time, Counts()
        self._untouching = model.ignores
        self._numbering, patches = lay_out(model)
        count = model.point_count
        self._options = options
        self._plan = plan = plan or plan_steps(model, options)
        check_plan(model, plan, substep_time)
        self._limit = StepLimit(model, plan)
        masses, self.added_mass = plan.masses, plan.added
        order = self._numbering.point[: model.vertex_count]
        inverse = np.zeros(count)
        inverse[: model.vertex_count] = np.where(model.pinned, 0.0, 1.0 / masses)[order]
        self._x, self._y, self._v = np.zeros((3, 4 * count))
        self._soft = SoftHinges(model, plan)
        self._rows = self._x.reshape(-1, 4), self._y.reshape(-1, 4), self._v.reshape(-1, 4)
        self._scene = Scene(
            contact=contact_set(model, self._numbering, patches, inverse),
            skins=skins_of(model, self._numbering, self._soft.mask),
            glue=glue_of(model, self._numbering, inverse),
            losses=losses_of(model, masses[order], model.pinned[order]),
            start_loads=start_loads_of(model, self._numbering, masses, none=options.ramp_time > 0.0),
        )
        self._inverse_mass = inverse
        self._is_ball = self._scene.contact.bodies.is_ball.copy()
        self._advance = Repeated(advance)
        self._masses = masses
        self._still_speeds, self._rest_size = still_speeds(model), membrane_sizes(model, model.rest_positions)
        self._least_edge = float(self._scene.contact.run.scale[: model.membrane_count, 1].min(initial=np.inf))
        self._frame = FrameCounts()
        shapes = convex_shapes(model)
        self._ticks: RigidTicks | None = self._ticks_of(model, shapes) if shapes.simple.any() else None
        self._stiffens = bool(model.stiffening.any())
        self._spring_order = spring_order(model, self._numbering) if model.creeps else np.zeros(0, np.int32)

    def revised(self, model: Model) -> "ExplicitSolver | None":
        """The same for a model with other values, see `choice.Solver`: with the masses and contacts of this one."""
        other, scene, order = copy.copy(self), self._scene, self._numbering.point[: model.vertex_count]
        plan = revised_plan(self._plan, self.model, model)
        other.model, other._limit = model, StepLimit(model, plan)
        bodies = scene.contact.bodies._replace(friction=model.friction)
        other._scene = scene._replace(
            contact=scene.contact._replace(bodies=bodies),
            skins=other._skins_like(self.model, plan, scene.skins),
            glue=glue_of(model, self._numbering, self._inverse_mass),
            losses=losses_of(model, self._masses[order], model.pinned[order]),
        )
        if self._ticks is not None:
            other._ticks = other._ticks_of(model, self._ticks.shapes)
        return other

    def _ticks_of(self, model: Model, shapes: ConvexShapes) -> RigidTicks:
        """The ticks of a model, which damp its simple rigid bodies."""
        losses = self._scene.losses
        losses.linear_damping[shapes.simple] = losses.angular_damping[shapes.simple] = 0.0
        return RigidTicks(model, self._scene.contact, shapes, self.counts)

    def remade(self, model: Model) -> "ExplicitSolver | None":
        """One for a model with other parts, see `choice.Solver`: with the masses of this one."""
        plan = plan_with(model, self._masses, self.added_mass)
        return ExplicitSolver(model, self.substep_time, self._options, plan)

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`."""
        springs, order, edges = self._scene.skins.springs, self._spring_order, self.model.edges
        springs.rest_force[: len(order)] = edges.stiffness[order] * edges.rest_length[order]

    def _skins_like(self, before: Model, plan: Plan, skins: Skins) -> Skins:
        """The skins of the model, where `skins` are those of the one before."""
        if has_same_stiffness(before, self.model):
            elements = ModelElements(self.model, joints=False, place=self._numbering.place)
            return skins._replace(elements=elements.rows)
        self._soft = SoftHinges(self.model, plan)
        return skins_of(self.model, self._numbering, self._soft.mask)

    @property
    def vertex_mass(self) -> FloatArray:
        """Masses that the steps are made with [kg], in the model's order: see `stability.scaled_masses`."""
        return self._masses

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last step."""
        ticks = 0 if self._ticks is None else self._ticks.pressing_count
        return int(self._scene.contact.run.state[PRESSING]) + ticks

    @property
    def candidate_count(self) -> int:
        """Pairs in the contact set."""
        ticks = 0 if self._ticks is None else self._ticks.row_count
        return int(self._scene.contact.run.found[2:].sum()) + ticks

    def notes(self) -> FrameNotes:
        """What the steps since `start_frame` took, see `choice.Solver`."""
        run, frame = self._scene.contact.run, self._frame
        findings = [Finding(reason, count, bodies) for (reason, bodies), count in frame.findings.items()]
        shares = []
        if self._rejected() != frame.rejected:
            for how, low, high in np.argwhere(run.failures).tolist():
                gap = float(run.gap_left[low, high]) if how != KEPT_APART else None
                findings.append(Finding(GUARANTEED[how], int(run.failures[how, low, high]), (low, high), gap))
            for low, high in np.argwhere(run.least_share < 1.0).tolist():
                shares.append(LeastShare(float(run.least_share[low, high]), (low, high)))
        return FrameNotes(frame.steps, self._pair_contacts(), shares, findings, momentum_cut=run.cut.copy())

    def _rejected(self) -> int:
        """How often the guarantee rejected a step since the start: else there is nothing new in `Run.failures`."""
        state = self._scene.contact.run.state
        return int(state[LIMITED] + state[STALLS])

    def contact_forces(self) -> FloatArray:
        """See `choice.Solver`."""
        count = self.model.point_count
        force = np.zeros(count)
        for contacts, rows, pressed in self._pressing():
            points = contacts.points.reshape(-1, 4)[rows] >> 2
            shares = np.abs(contacts.weight.reshape(-1, 4)[rows]) * pressed[:, None]
            force += np.bincount(points.ravel(), shares.ravel(), count)
        return force[self._numbering.place]

    def _pair_contacts(self) -> PairContacts:
        """The contacts that pressed in the last step."""
        contact, found = self._scene.contact, []
        for contacts, rows, pressed in self._pressing():
            body = [contact.points.body[contacts.points[4 * rows + slot] >> 2] for slot in (0, 3)]
            found.append((*body, pressed, contacts.gap[4 * rows]))
        if self._ticks is not None:
            found.append(self._ticks.pair_contacts())
        return PairContacts.of(*map(np.concatenate, zip(*found, strict=True)))

    def _pressing(self) -> Iterator[tuple[Contacts, IntArray, FloatArray]]:
        """Of each kind of contacts: all, the rows that pressed in the last step, and their normal forces [N]."""
        contact = self._scene.contact
        kinds, counts = (contact.corners, contact.sides), contact.run.found[2:].tolist()
        for contacts, impulse, count in zip(kinds, self._normal_impulses(), counts, strict=True):
            rows = np.flatnonzero(impulse[:count] > 0.0)
            yield contacts, rows, impulse[rows] / max(self._frame.step_time, TINY)

    def _normal_impulses(self) -> tuple[FloatArray, FloatArray]:
        """Those of the last step [N s], of the contacts of vertices and triangles, and of edges."""
        contact = self._scene.contact
        return contact.corners.grip[3::4], contact.sides.grip[3::4]

    def _fastest_pair(self) -> tuple[int, int]:
        """The two bodies of the largest relative speed where the run starts."""
        mean = self._scene.contact.bodies.mean.reshape(-1, 4)[:, :3]
        square = ((mean[:, None] - mean[None]) ** 2).sum(axis=2)
        low, high = np.unravel_index(int(np.argmax(square)), square.shape)
        return int(low), int(high)

    def untangle(self, state: State) -> int:
        """See `left_out.list_crossing`."""
        return list_crossing(self.model, state)

    def start_frame(self, state: State) -> None:
        """Drop everything that is not in the state, so that a continued run has the same bits."""
        run, boxes = self._scene.contact.run, self._scene.contact.boxes
        run.state[AGE], run.state[SPAN], run.state[STARTS] = -1, FIRST_SPAN, state.begins
        run.state[WORK], run.stopped[:] = 0, False
        kept = run.scale[boxes.patches.body, 0]
        boxes.slack[:] = np.where(boxes.patches.body < self.model.moving_count, FIRST_SLACK * kept, 0.0)
        run.found[:] = 0
        boxes.strayed[:] = 0.0
        run.state[CARRIED_COUNT] = 0
        if self._rejected() != self._frame.rejected:
            run.failures[:], run.least_share[:], run.gap_left[:], run.cut[:] = 0, 1.0, np.inf, 0.0
        self._frame = FrameCounts(self._rejected())
        contact = self._scene.contact
        left_out = leave_out(self.model, self._numbering, contact.bodies, self._untouching, self._is_ball, state)
        if left_out != contact.bodies.any_left_out:
            contact = contact._replace(bodies=contact.bodies._replace(any_left_out=left_out))
            self._scene = self._scene._replace(contact=contact)
        self._scene.contact.bodies.watched[:] = False
        if self._ticks is not None:
            self._ticks.start_frame(state)
            self._note_sleep()

    def join(self, _state: State, left: int) -> int:
        """How many of the `left` substeps of a frame to take as one: all, but where springs stiffen."""
        return min(left, max(1, round(STIFFENING_TIME / self.substep_time))) if self._stiffens else left

    def step(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, count: int = 1,
        load: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """`count` substeps as one run of steps, see `choice.Solver`."""
        self._take_load(load)
        scene, model = self._scene, self.model
        time = count * self.substep_time
        driven, still = is_driven(before, motion, gas), before.still
        if still >= STILL_TIME and not driven and self._is_still(before):
            hold(before, after)
            return
        if after is not before:
            after.still_pose[:], after.still_time[:], after.held = before.still_pose, before.still_time, before.held
            after.rigid.pose[:], after.wrong_side = before.rigid.pose, before.wrong_side
        start = self._start_of(before, load)
        steps, frequency = self._steps(time, before, motion, gas, self._read(before, motion, share))
        h = time / steps
        self._frame.steps, self._frame.step_time = self._frame.steps + steps, h
        scene.skins.gas.amount[:] = before.gas
        scene.contact.run.gas_step[:] = (gas - before.gas) / steps
        bodies, rigid, ticks = scene.contact.bodies, scene.contact.rigid, self._ticks
        fall = np.full((model.moving_count, 3), model.gravity)
        fall[bodies.by_tick[: model.moving_count]] = 0.0
        rigid.pull[:], rigid.twist[:] = model.gravity, 0.0
        fall[: model.membrane_count] += lifts(model, load, self._masses)
        self._fall(before.touching, fall, -0.5 * h)
        start_lengths(self._x, self._v, h, scene.skins.springs)
        state, damping = scene.contact.run.state, 2.0 * DASHPOT_RATIO / (frequency * h)
        self._soft.set_pace(scene.skins, self._limit.hinge_rows, h, damping)
        begin_run(scene.start_loads, self._rows[0], scene.skins.load, (before.frame + share) * motion.frame_time, h)
        scene.losses.settling[:] = scene.start_loads.settling if scene.start_loads.every[0] else 0.0
        state[STEP] = state[RESUMES] = 0
        searches = int(state[SEARCHES])
        if ticks is None:
            state[TICK_END] = steps
            self._take_steps(steps, h, damping)
        else:
            note_calm(scene.contact, self._v, self._still_speeds)
            ticks.read(before, motion)
            each = steps // ticks_in(time)
            while state[STEP] < steps:
                done = state[TICK_START] = int(state[STEP])
                if ticks.sleeps and ticks.is_apart:
                    scene.contact.bodies.calm[:] = False  # whatever comes near wakes them
                begin = share + done * h / motion.frame_time
                count, changes = ticks.begin(after, motion, begin, h, each - done % each, steps - done)
                state[TICK_END] = done + count
                if changes:
                    state[AGE] = -1
                    self._note_sleep()
                state[WAKES] = 0
                self._take_steps(steps, h, damping)
                ticks.end(self._scene.contact, self._v, self._still_speeds, (int(state[STEP]) - done) * h, h)
        self.counts.stages += steps
        self.counts.contact_searches += int(state[SEARCHES]) - searches
        self._note_touching(after.touching)
        self._fall(after.touching, fall, 0.5 * h)
        self._write(after, self._x if steps % 2 == 0 else self._y, gas, motion, share + time / motion.frame_time)
        self._turn_late(load, start, after, h, time)
        after.wrong_side = before.wrong_side
        if ticks is not None:
            ticks.write(after, motion, share + time / motion.frame_time)
        after.still = still + time if not driven and self._is_still(after) else 0.0

    def _is_still(self, state: State) -> bool:
        """Whether all moving bodies are still; a state that was at rest may have been given velocities."""
        return bool(are_still(state.velocities, self.model.body_point_start, self._still_speeds))

    def _take_steps(self, steps: int, h: float, damping: float) -> None:
        """Take the steps of a tick, or of the whole run, see `steps.advance`."""
        state, scene = self._scene.contact.run.state, self._scene
        size = min(threads_in_use(), len(scene.skins.blocks.body) // BLOCKS_EACH)
        while True:
            state[LACKS_ROOM] = 0
            given = (
                self._scene, self._x, self._y, self._v, *self._rows, steps, h, damping, self.model.gravity,
                max(LEAST_STEPS, round(LOSS_TIME / h)),
            )  # fmt: skip
            with helped(scene.contact.run.team, size, functools.partial(self._advance, *given)):
                self._advance(*given, 0)
            if state[LACKS_ROOM]:
                self._make_room()
            elif state[STALLED]:
                state[STALLED] = 0
                check_sizes(self.model, self._rows[int(state[STEP]) % 2][:, :3], self._rest_size)
            else:
                break

    def _note_sleep(self) -> None:
        """Let restitution take sleeping rigid bodies as ones that nothing moves."""
        model, contact = self.model, self._scene.contact
        moving = slice(model.membrane_count, model.moving_count)
        self._scene.losses.body_mass[moving] = np.where(contact.rigid.asleep, np.inf, model.rigid.mass)

    def _take_load(self, load: FloatArray | None) -> None:
        """Set the load of the steps that follow [N]; None: none."""
        skins, n = self._scene.skins, self.model.vertex_count
        if (load is not None or len(self._scene.start_loads.first)) and not len(skins.load):
            skins = skins._replace(load=np.zeros(4 * n))
            self._scene = self._scene._replace(skins=skins)
        if len(skins.load):
            skins.load.reshape(-1, 4)[:, :3] = 0.0 if load is None else load[self._numbering.point[:n]]

    def _start_of(self, before: State, load: FloatArray | None) -> FloatArray:
        """Positions [m] and velocities [m/s] of the vertices where a load begins; the states may be the same object."""
        n = self.model.vertex_count
        return np.zeros((2, 0, 3)) if load is None else np.stack([before.positions[:n], before.velocities[:n]])

    def _turn_late(self, load: FloatArray | None, start: FloatArray, after: State, step: float, time: float) -> None:
        """See `loads.add_late_turn`; `start`: see `_start_of`, `step` [s] of the steps of this `time` [s]."""
        if load is not None:
            add_late_turn(self.model, load, self._masses, start[0], start[1], 0.5 * step, time, after.velocities)

    def _fall(self, touching: BoolArray, fall: FloatArray, time: float) -> None:
        """Half a step's gravity and load, see `exchange.fall_free`."""
        model, contact = self.model, self._scene.contact
        fall_free(
            touching, contact.points.inverse_mass, model.body_point_start, fall, time, self._v, contact.rigid.velocity
        )  # fmt: skip
        pairs, normal = self._scene.skins.planes
        if len(pairs):
            hold_in_plane(pairs, normal, self._rows[2])

    def _note_touching(self, touching: BoolArray) -> None:
        """Mark the moving bodies that a contact pushed in the last step."""
        contact = self._scene.contact
        touching[:] = False
        for contacts, count in zip((contact.corners, contact.sides), contact.run.found[2:].tolist(), strict=True):
            note_touching(contacts.points, contacts.grip, count, contact.points.body, touching)

    def _steps(self, time: float, state: State, motion: Motion, gas: FloatArray, fastest: float) -> tuple[int, float]:
        """Steps for a time [s], and the frequency of the stiffest oscillation [1/s].

        `fastest`: largest relative speed of two bodies [m/s].
        """
        if self._stiffens or not self._frame.steps:  # else the frame's first run has measured
            self._limit.measure(state.positions)
        steps, square = self._limit.steps(time, motion.frame_time, gas)
        if self._limit.excess > 1.0 + TOLD_EXCESS:
            self._frame.add(Reason.STIFFER, steps, (self._limit.stiffest,))
        if self.model.body_count > 1:
            if self._least_edge < np.inf:
                needed = math.ceil(fastest * time / (EDGE_SHARE * self._least_edge))
                if needed > steps:
                    steps = needed
                    self._frame.add(Reason.FAST, steps, self._fastest_pair())
            check_speed(steps * motion.frame_time / time, self._scene.contact.bodies.mean.reshape(-1, 4)[:, :3])
        if self._ticks is not None:
            steps = ticks_in(time) * math.ceil(steps / ticks_in(time))
        return steps, max(math.sqrt(square), TINY)

    def _read(self, state: State, motion: Motion, share: float) -> float:
        """Copy everything into the solver's order; returns the largest relative speed of two bodies [m/s]."""
        scene, bodies = self._scene, self._scene.contact.bodies
        run, rigid = scene.contact.run, scene.contact.rigid
        fastest: float = read_points(
            state.positions, state.velocities, motion.points, motion.start, motion.end, share, motion.frame_time,
            self._numbering.place, bodies.kind, bodies.point_start, run.pinned, self._x, self._y, run.given_start,
            self._v, run.pinned_velocity, run.moves, bodies.mean,
        )  # fmt: skip
        rigid.pose[:], rigid.velocity[:], rigid.momentum[:] = (
            state.rigid.pose,
            state.rigid.velocity,
            state.rigid.angular_momentum,
        )
        if self.model.rigid_count:
            start_bodies(rigid)
        scene.losses.load[:] = state.load
        scene.losses.pairs.approach[:] = 0.0
        scene.losses.pairs.approach[state.approach.key] = state.approach.speed
        return fastest

    def _write(self, state: State, x: FloatArray, gas: FloatArray, motion: Motion, share: float) -> None:
        """The state after a run of steps."""
        model, rigid, losses = self.model, self._scene.contact.rigid, self._scene.losses
        if model.rigid_count:
            place_all(rigid, self._scene.contact.bodies, x, self._v)
        write_points(
            x, self._v, self._numbering.place, model.moving_point_count, motion.points, motion.start, motion.end, share,
            motion.frame_time, state.positions, state.velocities,
        )  # fmt: skip
        state.rigid.pose[:], state.rigid.velocity[:], state.rigid.angular_momentum[:] = (
            rigid.pose,
            rigid.velocity,
            rigid.momentum,
        )
        state.gas[:] = gas
        state.load[:] = losses.load
        key = np.flatnonzero(losses.pairs.approach)
        state.approach = PairSpeeds(key.astype(np.int64), losses.pairs.approach[key])

    def _make_room(self) -> None:
        """Double the capacity for candidates and contacts."""
        contact = self._scene.contact
        self._scene = self._scene._replace(contact=with_room(contact, 2 * len(contact.corners.reach)))


def ticks_in(time: float) -> int:
    """Number of ticks of rigid bodies in a run of steps [s]."""
    return max(1, round(time / TICK_TIME))
