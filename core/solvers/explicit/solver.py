"""The explicit solver: steps at the limit of stability, thousands per second, none of which iterates.

Airbag and crash codes simulate light skins full of gas, folded and in contact with themselves, in this way. `steps.py`
has the step, `stability.py` its length.
"""

import copy
import functools
import math

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
from ...state import State
from ...team import helped
from ...threads import threads_in_use
from ..kinematics import Motion
from ..loads import late_turn, lifts
from ..notes import FrameNotes, Reason
from .arrays import (
    AGE,
    LACKS_ROOM,
    PRESSING,
    RESUMES,
    RIGID,
    SEARCHES,
    STALLED,
    STEP,
    SWEEPS,
    TICK_END,
    TICK_START,
    WAKES,
)
from .dissipation import LEAST_STEPS, LOSS_TIME
from .exchange import begin_run, fall_free
from .left_out import list_crossing
from .limits import StepLimit, check_plan, check_speed
from .paces import pace_unit, set_paces
from .revision import has_same_elements, has_same_stiffness, revised_plan
from .rigid_flight import note_calm
from .rigid_ticks import TICK_TIME, RigidTicks
from .skins import Skins, skins_of
from .sleep import STILL_TIME, TREMBLING, hold, is_driven, note_still, sleepers, still_speeds
from .soft_hinges import SoftHinges
from .springs import spring_order
from .stability import EDGE_SHARE, Plan, dashpot_times, plan_steps, plan_with
from .start_loads import begin_loads, start_loads_of
from .steps import Scene, advance
from .unsupported import unsupported
from .workspace import Workspace

#: Least blocks of soft bodies per thread: fewer are finished before another thread sees them.
BLOCKS_EACH = 4
#: Time between two measurements of springs that stiffen [s].
STIFFENING_TIME = 1.0 / 240.0
#: Between two measurements of cells that keep their volume: the largest change of a strain, how far bodies may come
#: nearer [edges], and the shortest time [s].
MOST_STRAIN, MOST_WAY, SHORTEST = 0.5, 5.0, 1.0 / 15_360.0
#: Steps that are shorter than at rest by less than this share are not reported.
REPORTED_EXCESS = 0.1


class ExplicitSolver:
    """Advances a model by runs of steps; a run may be as long as a frame."""

    def __init__(
        self, model: Model, substep_time: float, options: MethodOptions = DEFAULTS, plan: Plan | None = None
    ) -> None:
        """`plan`: of the steps, if it is not to be made from the model and the options."""
        missing, remedy = unsupported(model, options)
        if missing:
            raise ParameterError(f"{missing}; the method EXPLICIT does not know that. {remedy}")
        self.model, self.substep_time = model, substep_time
        self._options = options
        self._plan = plan = plan or plan_steps(model, options)
        check_plan(model, plan, substep_time)
        self._limit = StepLimit(model, plan)
        #: Masses that the steps are made with [kg], in the model's order, see `stability.scaled_masses`; shares added.
        self.vertex_mass, self.added_mass = plan.masses, plan.added
        self.space = space = Workspace(model, plan.masses)
        self.counts = space.counts
        self._soft = SoftHinges(model, plan)
        self._scene = Scene(
            contact=space.contact,
            skins=skins_of(model, space.numbering, self._soft.mask),
            glue=space.glue,
            losses=space.losses,
            start_loads=start_loads_of(model, space.numbering, plan.masses, none=options.ramp_time > 0.0),
        )
        self._advance, self._begin_run = Repeated(advance), Repeated(begin_run)
        self._still_speeds, self._rest_size = still_speeds(model), membrane_sizes(model, model.rest_positions)
        self._still, self._none_asleep = np.zeros(model.moving_count, bool), np.zeros(model.membrane_count, bool)
        self._edges = np.full(model.body_count, np.inf)  # mean edge of each soft body [m]
        self._edges[: model.membrane_count] = space.contact.run.scale[: model.membrane_count, 1]
        shapes = convex_shapes(model)
        self._ticks: RigidTicks | None = self._ticks_of(model, shapes) if shapes.simple.any() else None
        self._stiffens, self._crushable = bool(model.stiffening.any()), _lattice_springs(model)
        self._spring_order = spring_order(model, space.numbering) if model.creeps else np.zeros(0, np.int32)

    def revised(self, model: Model) -> "ExplicitSolver | None":
        """The same for a model with other values, see `choice.Solver`: with the masses and contacts of this one."""
        other, plan = copy.copy(self), revised_plan(self._plan, self.model, model)
        other.model, other._limit, other.space = model, StepLimit(model, plan), self.space.revised(model)
        other._scene = self._scene._replace(
            contact=other.space.contact,
            skins=other._skins_like(self.model, plan, self._scene.skins),
            glue=other.space.glue,
            losses=other.space.losses,
        )
        if self._ticks is not None:
            other._ticks = other._ticks_of(model, self._ticks.shapes)
        return other

    def _ticks_of(self, model: Model, shapes: ConvexShapes) -> RigidTicks:
        """The ticks of a model, which damp its simple rigid bodies."""
        losses = self.space.losses
        losses.linear_damping[shapes.simple] = losses.angular_damping[shapes.simple] = 0.0
        return RigidTicks(model, self.space.contact, shapes, self.counts)

    def remade(self, model: Model) -> "ExplicitSolver | None":
        """One for a model with other parts, see `choice.Solver`: with the masses of this one."""
        is_same = has_same_elements(self.model, model)  # as where bonds form
        plan = self._plan if is_same else plan_with(model, self.vertex_mass, self.added_mass)
        return ExplicitSolver(model, self.substep_time, self._options, plan)

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`."""
        springs, order, edges = self._scene.skins.springs, self._spring_order, self.model.edges
        springs.rest_force[:] = springs.stiffness * edges.rest_length[order]

    def _skins_like(self, before: Model, plan: Plan, skins: Skins) -> Skins:
        """The skins of the model, where `skins` are those of the one before."""
        if has_same_stiffness(before, self.model):
            elements = ModelElements(self.model, joints=False, place=self.space.numbering.place)
            return skins._replace(elements=elements.rows)
        self._soft = SoftHinges(self.model, plan)
        return skins_of(self.model, self.space.numbering, self._soft.mask)

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last step."""
        ticks = 0 if self._ticks is None else self._ticks.contacts.pressing_count
        return int(self.space.contact.run.state[PRESSING]) + ticks

    @property
    def candidate_count(self) -> int:
        """Pairs in the contact set."""
        ticks = 0 if self._ticks is None else self._ticks.contacts.count
        return int(self.space.contact.run.found[2:].sum()) + ticks

    def notes(self) -> FrameNotes:
        """What the steps since `start_frame` took, see `choice.Solver`."""
        notes = self.space.notes([] if self._ticks is None else [self._ticks.contacts.pair_contacts()])
        notes.asleep = np.append(self.space.losses.asleep, self.space.contact.rigid.asleep)
        return notes

    def contact_forces(self) -> FloatArray:
        """See `choice.Solver`."""
        return self.space.contact_forces()

    def _fastest_approach(self, time: float) -> tuple[float, tuple[int, int]]:
        """The largest relative speed of two bodies that may meet within a time [s], in edges of the finer one per
        second, and which these are.

        Bodies farther from each other than the way of both have no contact that long steps could miss: what has fallen
        off a table does not shorten the steps of what lies on it.
        """
        x, _, v = (rows[:, :3] for rows in self.space.rows)
        bodies = self.space.contact.bodies
        start, mean = bodies.point_start, bodies.mean.reshape(-1, 4)[:, :3]
        low, high = (one.reduceat(x, start[:-1]) for one in (np.minimum, np.maximum))
        turns = np.where(bodies.kind == RIGID, np.ptp([low, high], axis=0).max(axis=1), 0.0)
        reach = turns + time * max(float(np.ptp(each, axis=0).max()) for each in (v, mean))
        may_meet = (low[:, None] - reach[:, None, None] <= high[None] + reach[None, :, None]).all(axis=2)
        speed = np.sqrt(((mean[:, None] - mean[None]) ** 2).sum(axis=2)) * (may_meet & may_meet.T)
        speed /= np.minimum(self._edges[:, None], self._edges[None])
        first, second = np.unravel_index(int(np.argmax(speed)), speed.shape)
        return float(speed[first, second]), (int(first), int(second))

    def untangle(self, state: State) -> int:
        """See `left_out.list_crossing`."""
        return list_crossing(self.model, state)

    def start_frame(self, state: State) -> None:
        """Drop everything that is not in the state, so that a continued run has the same bits."""
        self.space.start_frame(state)
        if self._ticks is not None:
            self._ticks.start_frame(state)
            self._note_sleep()

    def join(self, _state: State, left: int) -> int:
        """How many of the `left` substeps of a frame to take as one: all, but where springs stiffen."""
        return min(left, max(1, round(STIFFENING_TIME / self.substep_time))) if self._stiffens else left

    def _crush_rate(self, state: State) -> float:
        """How often the cells of solids must be measured [1/s]: their springs stretch fast, or something comes fast."""
        if not len(self._crushable):
            return 0.0
        points, length = self.model.edges.points[self._crushable], self.model.edges.rest_length[self._crushable]
        speed, size = state.velocities[points[:, 1]] - state.velocities[points[:, 0]], float(np.median(length))
        strain = float((np.sqrt(np.einsum("ei,ei->e", speed, speed)) / np.maximum(length, size)).max())
        return max(strain / MOST_STRAIN, float(np.ptp(state.velocities, axis=0).max()) / (MOST_WAY * size))

    def step(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, count: int = 1,
        load: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """`count` substeps as one run of steps, see `choice.Solver`; as several where cells are crushed."""
        left, measures = count * self.substep_time, self._stiffens
        end = share + left / motion.frame_time
        while left > 0.0:
            runs = max(1, math.ceil(left * min(1.0 / SHORTEST, self._crush_rate(before))))
            measures |= runs > 1
            there = before.gas + (gas - before.gas) / runs if runs > 1 else gas
            self._take_load(load)  # anew: the run before has added the loads of the start to it
            self._run(before, after, motion, end - left / motion.frame_time, there, left / runs, load, measures)
            left, before = left - left / runs, after

    def _run(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, time: float,
        load: FloatArray | None, measures: bool,
    ) -> None:  # fmt: skip
        """A run of steps that takes a time [s], see `step`; `measures`: as shapes have changed since the last one."""
        scene, space, model = self._scene, self.space, self.model
        driven = is_driven(before, motion, gas)
        if (before.still >= STILL_TIME).all() and not driven and self._note_still(before):
            hold(before, after)
            return
        if after is not before:
            after.still_pose[:], after.still_time[:], after.held = before.still_pose, before.still_time, before.held
            after.rigid.pose[:], after.wrong_side = before.rigid.pose, before.wrong_side
        fastest, came = space.read(before, motion, share), before.positions[: model.moving_point_count].copy()
        asleep = self._sleepers(before, motion, gas, time)
        space.let_sleep(asleep)
        steps, longest, square = self._steps(time, before, motion, gas, fastest, measures, asleep)
        h = time / steps
        late = late_turn(model, load, self.vertex_mass, before, 0.5 * h, time)
        space.frame.steps, space.frame.step_time = space.frame.steps + steps, h
        space.contact.run.gas_step[:] = (gas - before.gas) / steps
        bodies, rigid, ticks = space.contact.bodies, space.contact.rigid, self._ticks
        fall = np.full((model.moving_count, 3), model.gravity)
        fall[model.membrane_count :] *= rigid.falls[:, None]
        fall[bodies.by_tick[: model.moving_count]] = 0.0
        rigid.pull[:], rigid.twist[:] = rigid.falls[:, None] * model.gravity, 0.0
        fall[: model.membrane_count] += lifts(model, load, self.vertex_mass)
        fall[: model.membrane_count][asleep] = 0.0
        self._fall(before.touching, fall, -0.5 * h)
        set_paces(scene.skins.paces, longest, steps)
        self._begin_run(
            scene.skins, self._soft.soft, space.x, space.v, dashpot_times(square), self._limit.hinge_rows, before.gas,
            h, steps,
        )  # fmt: skip
        state = space.contact.run.state
        begin_loads(scene.start_loads, space.rows[0], scene.skins.load, (before.frame + share) * motion.frame_time, h)
        scene.losses.settling[:] = scene.start_loads.settling if scene.start_loads.every[0] else 0.0
        state[STEP] = state[RESUMES] = 0
        searches, sweeps = int(state[SEARCHES]), int(state[SWEEPS])
        if ticks is None:
            state[TICK_END] = steps
            self._take_steps(steps, h)
        else:
            note_calm(space.contact, space.v, self._still_speeds)
            ticks.read(before, motion)
            each = steps // ticks_in(time)
            while state[STEP] < steps:
                done = state[TICK_START] = int(state[STEP])
                if ticks.sleeps and ticks.is_apart:
                    space.contact.bodies.calm[:] = False  # whatever comes near wakes them
                begin = share + done * h / motion.frame_time
                count, changes = ticks.begin(after, motion, begin, h, each - done % each, steps - done)
                state[TICK_END] = done + count
                if changes:
                    state[AGE] = -1
                    self._note_sleep()
                state[WAKES] = 0
                self._take_steps(steps, h)
                ticks.end(space.contact, space.v, self._still_speeds, (int(state[STEP]) - done) * h, h)
        self.counts.stages += steps
        self.counts.contact_searches += int(state[SEARCHES]) - searches
        self.counts.sweeps += int(state[SWEEPS]) - sweeps
        self._note_touching(after.touching, asleep)
        self._fall(after.touching, fall, 0.5 * h)
        space.write(after, steps, gas, motion, share + time / motion.frame_time)
        if late is not None:
            after.velocities[: model.vertex_count] += late
        after.wrong_side = before.wrong_side
        if ticks is not None:
            ticks.write(after, motion, share + time / motion.frame_time)
        ways = after.positions[: len(came)] - came
        note_still(ways / time, model.body_point_start, self._still_speeds, self._still)
        after.still[:] = np.where(self._still, before.still + time, 0.0)

    def _note_still(self, state: State) -> bool:
        """Note which moving bodies have been given no velocities since they came to rest, and whether none has."""
        limits = TREMBLING**2 * self._still_speeds
        return bool(note_still(state.velocities, self.model.body_point_start, limits, self._still))

    def _sleepers(self, state: State, motion: Motion, gas: FloatArray, time: float) -> BoolArray:
        """The membranes that sleep through a run of a time [s], which have no velocities then."""
        space, model = self.space, self.model
        if not (state.still[: model.membrane_count] >= STILL_TIME).any():
            return self._none_asleep
        self._note_still(state)
        still = np.where(self._still, state.still, 0.0)
        asleep = sleepers(model, state, still, motion, gas, time, space.contact.run.scale[:, 0])
        own = asleep[space.contact.points.body[: model.vertex_count]]
        space.rows[2][: model.vertex_count][own] = 0.0
        return asleep

    def _take_steps(self, steps: int, h: float) -> None:
        """Take the steps of a tick, or of the whole run, see `steps.advance`."""
        space, state = self.space, self.space.contact.run.state
        size = min(threads_in_use(), len(self._scene.skins.blocks.body) // BLOCKS_EACH)
        while True:
            if self._scene.contact is not space.contact:
                self._scene = self._scene._replace(contact=space.contact)
            state[LACKS_ROOM] = 0
            given = (
                self._scene, space.x, space.y, space.v, *space.rows, steps, h, self.model.gravity,
                max(LEAST_STEPS, round(LOSS_TIME / h)),
            )  # fmt: skip
            with helped(space.contact.run.team, size, functools.partial(self._advance, *given)):
                self._advance(*given, 0)
            if state[LACKS_ROOM]:
                space.make_room()
            elif state[STALLED]:
                state[STALLED] = 0
                check_sizes(self.model, space.rows[int(state[STEP]) % 2][:, :3], self._rest_size)
            else:
                break

    def _note_sleep(self) -> None:
        """Let restitution take sleeping rigid bodies as ones that nothing moves.

        What a contact has exchanged with a body that slept tells nothing of how fast that body approaches, once awake.
        """
        model, losses, asleep = self.model, self.space.losses, self.space.contact.rigid.asleep
        moving = slice(model.membrane_count, model.moving_count)
        changed = np.zeros(model.body_count, bool)
        changed[moving] = np.isinf(losses.body_mass[moving]) != asleep
        losses.body_mass[moving] = np.where(asleep, np.inf, model.rigid.mass)
        pairs = losses.pairs
        of_changed = changed[pairs.low] | changed[pairs.high]
        pairs.load[of_changed] = pairs.impulse[of_changed] = pairs.point[of_changed] = 0.0

    def _take_load(self, load: FloatArray | None) -> None:
        """Set the load of the steps that follow [N]; None: none."""
        skins, n = self._scene.skins, self.model.vertex_count
        if n and not len(skins.load) and (load is not None or len(self._scene.start_loads.first)):
            skins = skins._replace(load=np.zeros(4 * n))
            self._scene = self._scene._replace(skins=skins)
        if len(skins.load):
            skins.load.reshape(-1, 4)[:, :3] = 0.0 if load is None else load[self.space.numbering.point[:n]]

    def _fall(self, touching: BoolArray, fall: FloatArray, time: float) -> None:
        """Half a step's gravity and load, see `exchange.fall_free`."""
        model, space, contact = self.model, self.space, self.space.contact
        fall_free(
            touching, contact.points.inverse_mass, model.body_point_start, fall, time, space.v, contact.rigid.velocity
        )  # fmt: skip
        pairs, normal = self._scene.skins.planes
        if len(pairs):
            hold_in_plane(pairs, normal, space.rows[2])

    def _note_touching(self, touching: BoolArray, asleep: BoolArray) -> None:
        """Mark the moving bodies that a contact pushed in the last step; those asleep stay as they were."""
        contact = self.space.contact
        pushed = contact.points.body[contact.pressed.points[: int(contact.pressed.size[0]), ::3]]
        touching[: len(asleep)] &= asleep
        touching[len(asleep) :] = False
        touching |= np.bincount(pushed.ravel(), minlength=self.model.body_count)[: len(touching)] > 0

    def _steps(
        self,
        time: float,
        state: State,
        motion: Motion,
        gas: FloatArray,
        fastest: float,
        measures: bool,
        asleep: BoolArray,
    ) -> tuple[int, FloatArray, FloatArray]:
        """Steps for a time [s], and the longest step [s] and omega^2 [1/s^2] of each membrane, see `StepLimit.steps`.

        `fastest`: largest relative speed of two bodies [m/s]; `measures`: see `_run`.
        """
        if measures or not self.space.frame.steps:  # else the frame's first run has measured
            self._limit.measure(state.positions)
        steps, longest, square = self._limit.steps(time, motion.frame_time, gas, self.space.frame.steps, asleep)
        if self._limit.excess > 1.0 + REPORTED_EXCESS:
            self.space.frame.add(Reason.STIFFER, steps, (self._limit.stiffest,))
        if self.model.body_count > 1 and fastest * time > EDGE_SHARE * float(self._edges.min()) * steps:
            speed, pair = self._fastest_approach(time)
            if speed * time > EDGE_SHARE * steps:
                means = self.space.contact.bodies.mean.reshape(-1, 4)[:, :3]
                check_speed(speed * motion.frame_time / EDGE_SHARE, means)
                steps = math.ceil(speed * time / EDGE_SHARE)
                self.space.frame.add(Reason.FAST, steps, pair)
        multiple = math.lcm(pace_unit(longest), 1 if self._ticks is None else ticks_in(time))
        return multiple * math.ceil(steps / multiple), longest, square


def ticks_in(time: float) -> int:
    """Number of ticks of rigid bodies in a run of steps [s]."""
    return max(1, round(time / TICK_TIME))


def _lattice_springs(model: Model) -> IntArray:
    """Springs of the bodies whose cells keep their volume: crushed and stretched, these are stiffer than at rest."""
    bodies = np.zeros(model.body_count, bool)
    bodies[model.point_body[model.tetrahedra.points[:, 0]]] = True
    return np.flatnonzero(bodies[model.point_body[model.edges.points[:, 0]]]).astype(np.int32)
