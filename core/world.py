"""`World`: a model, its state, a solver and a clock. The interface for the adapter, scripts and tests."""

import math

import numpy as np
from numpy.typing import ArrayLike

from .animation.held import HeldMotion
from .animation.keyed import changed, of_version, reattached
from .animation.segments import Segments
from .array_types import BoolArray, FloatArray
from .bodies.flat.plane import loop_points
from .bodies.lattice.follow import followed
from .bodies.rigid.motion import turns
from .checks import vector
from .contact.beside import Feet, beside, feet_of, followed_beside
from .contact.crossings import crossings_by_bodies
from .diagnostics import Diagnostics, Measured, Measurements
from .divergence import UNBOUNDED, check_divergence, check_trembling, membrane_sizes
from .energy.mechanical import rigid_motion
from .errors import Diverged, DivergenceError, ParameterError
from .extras import gas_rules, gas_supply, particle_places
from .flow.ticks import GasFlow, turned
from .frame_input import FrameInput
from .frame_reading import points_of, read_gas, read_goals, read_motion, shaped
from .impulses.pulls import Handle, handle_at
from .impulses.ticks import LONGEST, TICK, Impulses, next_tick
from .inside_out import inside_out_text
from .model import Model
from .noted_frame import NotedFrame
from .options import DEFAULTS, MethodOptions
from .parameters import SCENE, builder_defaults, named
from .parameters.methods import ENGINE
from .plasticity.pieces import broken_bodies
from .plasticity.ticks import plastic_ticks
from .reports import StepReport, reports_of
from .settings import checked
from .simulation_mesh.follower import Follower
from .solvers.choice import (  # fmt: skip
    Solver,
    SolverMaker,
    StepPlan,
    check_bodies,
    check_method,
    current_method,
    plan_run,
    solver_maker,
)
from .solvers.explicit.limits import MOST_STEPS
from .solvers.notes import Finding, Reason
from .state import State
from .threads import thread_count, use_threads

PLAIN = builder_defaults(SCENE)


class World:
    """Simulates a model frame by frame.

    Parameters: `frame_rate` [1/s]; `substeps` per frame, of solvers that do not choose the length of their steps;
    `threads` (0: by the size of the scene, `threads.py`); `solver`: a name of `solvers.choice.SOLVERS`, of which AUTO
    and IMPLICIT of earlier versions mean EXPLICIT, or a factory of a solver, which then has `options` of its own;
    `options`: choices beside the solver; `check_crossings`: whether every frame is checked for edges that go through
    triangles, which the reports then tell. Steps are deterministic: the same model and input give the same bits with
    any number of threads.

    Attributes `steps_per_frame`, and `added_mass`: the largest share of its mass that a soft body is given, so that
    explicit steps can be longer. `first_frame` is what the caller calls the start, for messages.
    """

    def __init__(
        self,
        model: Model,
        *,
        frame_rate: float = 24.0,
        substeps: int = PLAIN.substeps,
        threads: int = PLAIN.threads,
        solver: str | SolverMaker = ENGINE,
        options: MethodOptions = DEFAULTS,
        check_crossings: bool = False,
    ) -> None:
        if not (math.isfinite(frame_rate) and frame_rate > 0.0):
            raise ParameterError(f"frame rate: {frame_rate} per second; give a positive number.")
        self.model = model
        self.first_frame = 0
        self.frame_rate = float(frame_rate)
        self.substeps = checked("scene", named("substeps"), substeps)
        self.threads = checked("scene", named("threads"), threads)
        self.solver = current_method(solver) if isinstance(solver, str) else ""  # its name; empty for a factory
        self.options = options
        plan = StepPlan(self.substeps, 0.0)
        if self.solver:
            check_method(self.solver, options)
            check_bodies(self.solver, model)
            plan = plan_run(self.solver, model, 1.0 / self.frame_rate, self.substeps, options)
        self.steps_per_frame, self.added_mass = plan
        self._thread_count = thread_count(self.solver, model.vertex_count, self.threads)
        make = solver if callable(solver) else solver_maker(self.solver, options)
        self._supply = gas_supply(model, options)
        step_time = 1.0 / (self.frame_rate * self.steps_per_frame)
        self._segments = Segments(model, make, step_time, holds_gravity=self._supply.holds_gravity)
        self._gas_rules = gas_rules(model, options)
        self._impulses = Impulses(model, 1.0 / self.frame_rate)
        self._plastic = plastic_ticks(model)
        self._flow = GasFlow(model, self._plastic)
        self._state = self._start()
        self._before: State | None = None  # state at the start of the last frame
        #: Impulses of the pulls of the last frame [N s], shape (pull_count, 3).
        self.pull_impulses: FloatArray = np.zeros((0, 3))
        self._moved = self._state.wrong_side  # rows of points that were moved before it, as they crossed
        self._rest_size, self._torn = membrane_sizes(model, model.rest_positions), self._state.keyed.torn
        self._measurements, self._noted = Measurements(model), NotedFrame()
        self._feet: dict[int, Feet] = {}  # of the callers' vertices of lattices
        self.check_crossings = check_crossings
        self._crossings: dict[tuple[int, int], int] = {}  # of the last frame, where that is checked
        self.crossing_triangle_count = 0  # triangles that crossed another body's surface at the start
        self._untangle()

    @property
    def frame(self) -> int:
        """Whole frames since the start."""
        return self._state.frame

    def reset(self) -> None:
        """Return to the rest shape and the start velocities."""
        self._state, self._before = self._start(), None
        self._use(self._state)
        self._untangle()

    def save(self) -> State:
        """A copy of the state, from which a run can continue."""
        return self._state.copy()

    def load(self, state: State) -> None:
        """Continue from a saved state of the same model."""
        if state.positions.shape != self._state.positions.shape or state.gas.shape != self._state.gas.shape:
            raise ParameterError(
                f"state: {len(state.positions)} points, the model has {self.model.point_count}. "
                "Load a state that was saved from the same model."
            )
        state = state.copy()
        state.keyed = of_version(self.model, state.keyed)
        if not len(state.lost_gas):  # of an earlier version
            state.lost_gas = np.zeros(self.model.membrane_count)
        self._use(state)
        self._state, self._before = state, None

    def positions(self, membrane: int) -> FloatArray:
        """Positions [m] of a membrane, world frame, in the caller's vertex order, shape (vertex_count, 3).

        The vertices that follow a lattice lie on it where it touches other bodies (`contact/beside.py`).
        """
        points, x = points_of(self.model, membrane), self._state.positions
        drawn = followed(self.model, membrane, points, x)
        if not self.model.is_lattice(membrane):
            return drawn
        if membrane not in self._feet:
            rest = followed(self.model, membrane, points, self.model.rest_positions)
            self._feet[membrane] = feet_of(self.model, membrane, rest)
        return beside(self._segments.model, membrane, x, drawn, self._feet[membrane].at(x))

    def beside(self, membrane: int, drawn: FloatArray, follower: Follower, followed: FloatArray) -> FloatArray:
        """Drawn vertices [m] that follow a membrane's at `followed` [m], out of what the membrane touches."""
        return followed_beside(self._segments.model, membrane, self._state.positions, drawn, follower, followed)

    def velocities(self, membrane: int) -> FloatArray:
        """Velocities [m/s] of a membrane in the caller's vertex order, shape (vertex_count, 3)."""
        return followed(self.model, membrane, points_of(self.model, membrane), self._state.velocities)

    def contact_forces(self, membrane: int) -> FloatArray:
        """Sum of the normal forces of contacts on each vertex at the end of the last frame [N], caller's order.

        A vertex that follows a lattice has the interpolated force of the lattice's points. Zero before a frame was
        simulated, and after a state was loaded or changed. Shape (vertex_count,).
        """
        points = points_of(self.model, membrane)
        forces = np.zeros(self.model.point_count) if self._before is None else self._noted.contact_forces(self._solver)
        return followed(self.model, membrane, points, forces[:, None])[:, 0]

    def rigid_transform(self, rigid: int) -> FloatArray:
        """Matrix (4, 4) that takes the start shape of a rigid body, world frame, to where it is now."""
        return self.rigid_transforms()[self._rigid_number(rigid)]

    def rigid_transforms(self) -> FloatArray:
        """`rigid_transform` of all rigid bodies, shape (rigid_count, 4, 4)."""
        poses, centres = self._state.rigid.pose, self.model.rigid.centre
        found = np.tile(np.eye(4), (len(poses), 1, 1))
        found[:, :3, :3] = turns(poses)
        found[:, :3, 3] = poses[:, :3] - np.einsum("bij,bj->bi", found[:, :3, :3], centres)
        return found

    def rigid_positions(self, rigid: int) -> FloatArray:
        """Positions [m] of a rigid body's vertices, world frame, in the caller's order, shape (vertex_count, 3)."""
        number, solids = self._rigid_number(rigid), self.model.rigid
        first = solids.point_start[number]
        return self._state.positions[first : first + solids.vertex_count[number]].copy()

    def rigid_velocity(self, rigid: int) -> tuple[FloatArray, FloatArray]:
        """Velocity [m/s] of a rigid body's centre of mass, and its angular velocity [1/s] in world axes."""
        number = self._rigid_number(rigid)
        turn = self.rigid_transform(rigid)[:3, :3]
        state, inverse = self._state.rigid, self.model.rigid.inverse_inertia[number]
        return state.velocity[number].copy(), turn @ inverse @ turn.T @ state.angular_momentum[number]

    def handle(self, body: int, place: ArrayLike) -> Handle:
        """Where `FrameInput.pulls` hold a body: around a place on its surface [m]; membranes first, then rigid bodies.

        Raises `ParameterError` if the body has nothing that moves.
        """
        return handle_at(self.model, self._state, body, vector("world", "place", place, "m"))  # type: ignore[arg-type]

    def handle_place(self, handle: Handle) -> FloatArray:
        """Where a handle is [m], shape (3,)."""
        return handle.place(self.model, self._state)

    def particle_places(self) -> FloatArray:
        """Where feature particles rest [m], shape (particle_count, 3); none without them, or before the first step."""
        features = self._state.particles
        return particle_places(self.model, self._state.positions, features) if len(features) else np.zeros((0, 3))

    def torn_triangles(self, membrane: int, triangles: ArrayLike | None = None) -> BoolArray:
        """Triangles of a membrane that are torn, as given to the builder: those of skins have a torn side.

        Of a solid: those among `triangles`, vertices in the caller's order, shape (triangle_count, 3), with a corner in
        a deleted cell or corners on different pieces. Raises `ParameterError` if they are missing or name other
        vertices.
        """
        points_of(self.model, membrane)
        if len(self.model.cells) and (self.model.point_body[self.model.cells[:, 0]] == membrane).any():
            count, name = int(np.diff(self.model.followers.vertex_start)[membrane]), self.model.body_names[membrane]
            corners = np.zeros((0, 0), np.int64) if triangles is None else np.asarray(triangles, np.int64)
            if corners.shape != (len(corners), 3) or not ((corners >= 0) & (corners < count)).all():
                raise ParameterError(f"{name}: give the triangles of the solid's mesh, corners from 0 to {count - 1}.")
            none = np.zeros(len(corners), bool)
            return none if self._plastic is None else self._plastic.torn_faces(self._state, membrane, corners)
        if self._plastic is None:
            return np.zeros(np.diff(self.model.surfaces.body_triangle_start)[membrane], bool)
        return self._plastic.torn_triangles(self._state, membrane)

    def set_positions(self, membrane: int, positions: ArrayLike) -> None:
        """Move the vertices of a skin, or of a loop within its plane, by hand [m], caller's order; velocities stay."""
        points, model = points_of(self.model, membrane), self.model
        if model.is_lattice(membrane) and not model.has_gas(membrane):
            raise ParameterError(
                f"{self.model.body_names[membrane]}: its vertices follow a lattice; positions cannot be set. "
                "Change a saved state, whose points are the lattice's, and load it."
            )
        count = len(points) if not model.is_lattice(membrane) else len(points) // 2
        given = shaped(model.body_names[membrane], "positions", positions, (count, 3))
        if model.is_lattice(membrane):
            points, given = loop_points(model, membrane, given)
        self._state.positions[points] = given
        self._state.still[:] = 0.0
        self._before = None
        self._measurements.forget()
        self._untangle()

    def advance_frame(self, given: FrameInput | None = None) -> None:
        """Simulate one frame.

        Raises `ParameterError` for input of the wrong shape and `DivergenceError` when a state is not finite or a body
        grows beyond all bounds; the world then still holds the frame before.
        """
        given, self._before = given or FrameInput(), None
        state = self._take(given)
        motion = read_motion(self.model, given, self._segments.given, state, 1.0 / self.frame_rate)
        gas_end = read_gas(self.model, given, state.final_gas)
        goals, acting = read_goals(self.model, given, state.goals), self._segments.model
        rigid = given.held_rigid
        held = HeldMotion(self.model, acting, state, rigid, motion.frame_time) if rigid else None
        impulses = self._impulses.frame(
            given.fields, given.gravity_shares, state, goals, acting.pinned, self._solver.vertex_mass, given.pulls,
            given.liquid_level,
        )  # fmt: skip
        substep_time = 1.0 / (self.frame_rate * self.steps_per_frame)
        gas_start = state.final_gas.copy()
        use_threads(self._thread_count)
        if impulses is not None:
            self._supply.hold_gravity(acting, state.keyed.gravity, self._time(0))
            impulses.wake(state, acting.gravity)
        if held is not None:
            held.wake(state)
        self._moved = self._segments.relaxation.run(state) if len(state.wrong_side) else state.wrong_side
        self._solver.start_frame(state)
        self._noted = NotedFrame()
        flows, substep = self._flow.acts(state), 0
        ticks = [TICK] if self._plastic is not None or flows else []
        if held is not None:
            ticks.append(LONGEST)
        if impulses is not None:
            ticks.append(impulses.tick)
        while substep < self.steps_per_frame:
            begin = substep
            left = self.steps_per_frame - begin
            left = next_tick(left, substep_time, min(ticks)) if ticks else left
            substep += self._solver.join(state, 1 if self._supply.runs(self._time(begin)) else left)
            gas = gas_start + substep / self.steps_per_frame * (gas_end - gas_start)
            gas = self._supply.gas(gas, self._time(substep))
            gravity, tick = self._segments.model.gravity, (substep - begin) * substep_time
            self._supply.hold_gravity(self._segments.model, state.keyed.gravity, self._time(begin))
            if flows:
                gas = self._flow.before(state, self._segments.model, gas, tick)
            load = None
            if impulses is not None:
                load = impulses.before(state, begin / self.steps_per_frame, gravity, tick)
            if held is not None:
                held.before(state, begin / self.steps_per_frame)
            try:
                self._solver.step(state, state, motion, begin / self.steps_per_frame, gas, substep - begin, load)
                if impulses is not None:
                    impulses.after(state, substep / self.steps_per_frame, gravity, tick)
                self._check(state)
                if self._plastic is not None:
                    self._yield(state, tick)
            except Diverged as diverged:
                raise self._divergence(diverged, begin + diverged.substep) from diverged
        if held is not None:
            held.finish(state)
        state.positions[motion.points] = motion.end  # exactly, without rounding
        state.final_gas, state.goals = gas_end, goals
        state.frame += 1
        state.begins = False
        self.pull_impulses = np.zeros((0, 3)) if impulses is None else impulses.pulls.impulses
        self._before, self._state = self._state, state
        if self.check_crossings:
            self._crossings = crossings_by_bodies(self._segments.model, state.positions)

    def _use(self, state: State) -> None:
        """Set the solver and the forces from outside for what a state holds, attaches and has torn."""
        self._segments.use(state.keyed, state.rest_lengths)
        self._impulses.take(self._segments.model)
        if state.keyed.torn is not self._torn:
            self._torn = state.keyed.torn
            self._rest_size = membrane_sizes(self.model, self.model.rest_positions)
            self._rest_size[broken_bodies(self._segments.model) & self._torn.any()] = UNBOUNDED

    def _yield(self, state: State, tick: float) -> None:
        """Plastic changes after a tick [s], and the solver for them."""
        assert self._plastic is not None
        model, broken, torn = self._segments.model, state.keyed.bond_broken, state.keyed.torn
        is_other = self._plastic.after(state, model, self._solver.vertex_mass, tick)
        if is_other:
            self._noted.keep(self._solver)
        self._use(state)
        if state.keyed.torn is not torn:
            self._flow.opened(state, model, self._segments.model)
            state.particles = state.particles[:0]  # they rest on triangles of other numbers
        if state.keyed.bond_broken is not broken:  # as where attachments are switched off
            state.begins = True
            self._solver.untangle(state)
        if is_other:
            self._solver.start_frame(state)

    def diagnostics(self) -> Diagnostics:
        """Volumes, pressures and counts at the current frame."""
        state, reports = self._state, self.reports()  # first, as it also measures the frame before
        volumes = self._measured(state).volumes
        gas_volumes = volumes if self._gas_rules is None else self._gas_rules.volumes(state.positions)
        return Diagnostics(
            bodies=self._measurements.bodies(
                state, self._segments.model, volumes, gas_volumes, self._impulses.fluids.levels(state)
            ),
            contact_count=self._noted.contact_count(self._solver),
            candidate_count=self._noted.candidate_count(self._solver),
            counts=self._segments.counts,
            reports=reports,
            rigid_energies=rigid_motion(self.model, state) if self.model.rigid_count else np.zeros(0),
        )

    def reports(self) -> tuple[StepReport, ...]:
        """Work of the last frame for each island of bodies, and the reasons for shortened steps.

        Computed on demand. Empty before a frame was simulated, and after a state was loaded or changed.
        """
        before, state = self._before, self._state
        if before is None:
            return ()
        change = -self._measured(before).energy  # first, as the other one is kept
        change += self._measured(state).energy
        change[state.keyed.held] = 0.0  # their motion is kinematic
        crossed = np.concatenate([self._moved, state.wrong_side])
        notes = self._noted.notes(self._solver)
        notes.findings += [Finding(Reason.CROSSED, count, pair) for pair, count in self._crossings.items()]
        return reports_of(self._segments.model, notes, crossed, change)

    def _measured(self, state: State) -> Measured:
        left = self._segments.left(state.rest_lengths)
        return self._measurements.at(state, self._segments.model, self._solver.vertex_mass, left)

    def _start(self) -> State:
        state = State.at_rest(self.model)
        state.gas = self._supply.gas(state.gas, 0.0)
        return state

    def _time(self, substep: int) -> float:
        """Time since the start at which a substep of the next frame begins [s]."""
        return (self._state.frame + substep / self.steps_per_frame) / self.frame_rate

    def _untangle(self) -> None:
        self.crossing_triangle_count = self._solver.untangle(self._state)

    def _rigid_number(self, rigid: int) -> int:
        if not 0 <= rigid < self.model.rigid_count:
            raise ParameterError(f"rigid body: {rigid}; the model has {self.model.rigid_count}, counted from 0.")
        return rigid

    @property
    def _solver(self) -> Solver:
        return self._segments.solver

    def _take(self, given: FrameInput) -> State:
        """Copy the state with the animated values of the next frame, and set the solver for them."""
        model, state = self.model, self._state.copy()
        before = state.keyed
        keyed = changed(model, before, given.values, given.attached, given.held, given.held_rigid, given.gravity)
        keyed = reattached(model, before, keyed, state.positions, state.rigid.pose)
        self._segments.use(keyed, state.rest_lengths)
        is_other = not keyed.has_parts_of(before)
        if is_other or not keyed.has_values_of(before):
            state.keyed = keyed
            state.still[:] = 0.0  # resting bodies may begin to move
            state.still_time[:] = 0.0
        state.valves = turned(model, state.valves, given.valves)
        if is_other:  # detached bodies may touch, and released ones may have contact
            state.begins = True
            self._solver.untangle(state)
        return state

    def _check(self, state: State) -> None:
        """Raise `Diverged` for the first body that is not finite or has grown beyond all bounds."""
        check_divergence(self.model, state, self._rest_size)
        if self._gas_rules is not None:
            check_trembling(self.model, state, self._rest_size * self.frame_rate * self.steps_per_frame)

    def _divergence(self, found: Diverged, substep: int) -> DivergenceError:
        enough = math.ceil(1.0 / (self.frame_rate * found.stable_time)) if found.stable_time > 0.0 else 0
        more = enough if enough > self.steps_per_frame else 2 * self.steps_per_frame
        remedy = "look for extreme pressures, stiffness, force fields or animation"
        if self.options.volume != "EXACT" and self.model.ambient_pressure > 0.0:
            remedy = f"use the exact volume or no air outside, or {remedy}"
        name, frame = self.model.body_names[found.body], self.first_frame + self.frame + 1
        subject = f"{name}: the motion {found.how} in frame {frame}"
        if self.solver == ENGINE:  # finds the length of its steps itself
            began = inside_out_text(self.model, self._state.positions, found.body)
            return DivergenceError(f"{subject}{began}. {remedy.capitalize()}.")
        first = f"Raise the substeps to about {more}, choose" if more <= MOST_STEPS else "Choose"
        return DivergenceError(
            f"{subject}, substep {substep + 1} of {self.steps_per_frame}. {first} the method {ENGINE}, or {remedy}."
        )
