"""The implicit solver: unconditionally stable steps of second order with little numerical dissipation.

A substep h has two stages of length tau = gamma h, gamma = 1 - 1/sqrt(2) (Alexander 1977, SDIRK2, L-stable):

    stage 1   X1 = x0 + tau V1,                        V1 = v0 + tau A1
    stage 2   X2 = x0 + (h - tau) V1 + tau V2,         V2 = v0 + (h - tau) A1 + tau A2
    result    x = X2, v = V2

Each stage is an implicit Euler step from a base b (x0; x0 + (h - tau) V1) and minimises the energy of
`stage_energy.StageEnergy` by Newton's method: conjugate gradients, then a line search, so that the energy never rises.
Compared with BDF2 at the same number of solves per second it dissipates an eighth of the energy in a bounce, and it has
no history that an impact, a pin or an edited pressure could invalidate.
"""

import math
from dataclasses import replace

import numpy as np

from ...bodies.flat.plane import Planes
from ...bodies.rigid.flight import fly, pushed, shifted, velocity_rows
from ...bodies.rigid.motion import turned_tensors
from ...errors import ParameterError
from ...model import FloatArray, Model
from ...options import DEFAULTS, MethodOptions
from ...state import RigidMotion, State
from ..counts import Counts
from ..kinematics import Motion
from ..notes import Finding, FrameNotes, PairContacts, Reason
from .dissipation import Dissipation
from .impact import overshoot
from .momentum import MomentumBalance
from .newton import NewtonSettings, StageMinimiser
from .step_control import LONGER_BELOW, StepControl
from .step_parts import StepParts
from .sums import sum_moments, weighted_squares

#: Length of a stage [step]: of second order, and stiff motion dies out (Alexander 1977).
GAMMA = 1.0 - 1.0 / math.sqrt(2.0)


#: Growth of the energy in a step above which the step is repeated in halves [kinetic energy].
ENERGY_SLACK = 0.05
#: Speed of the fastest point [m/s] between which soft bodies in contact take every substep by itself: in longer steps
#: their last motion would not decay.
AT_REST, SETTLING = 1e-3, 0.2
#: Halvings at most of a step whose energy grows; then it is taken with implicit Euler.
HALVINGS = 2


class ImplicitSolver:
    """Advances a model by substeps of `substep_time` [s]."""

    def __init__(
        self,
        model: Model,
        substep_time: float,
        settings: NewtonSettings | None = None,
        options: MethodOptions = DEFAULTS,
        like: "ImplicitSolver | None" = None,
    ) -> None:
        """`like`: solver of a model with other values, see `revised`."""
        if not (math.isfinite(substep_time) and substep_time > 0.0):
            raise ParameterError(f"substep: {substep_time} s; give a positive time.")
        self.model = model
        self.substep_time = substep_time
        self._settings = settings = settings or NewtonSettings()
        self._options = options
        self._rest_acceleration = settings.rest_acceleration
        self._minimiser: StageMinimiser = StageMinimiser(
            model, GAMMA * substep_time, settings, options, like._minimiser if like else None
        )
        self._momentum = MomentumBalance(model, settings.rest_acceleration)
        self._losses = Dissipation(model, options)
        self._fast = StepParts(model)
        # other gas rules, and contacts of rigid bodies, need steps of constant length
        is_lagged = options.changes_gas or model.weighs_pressure
        joins = options.step_error > 0.0 and model.rigid_count == 0 and not is_lagged
        self._step_error = StepControl(model, GAMMA, options.step_error) if joins else None
        self._error = math.inf  # of the last step [tolerance]
        self._counts_at_start = replace(self.counts)  # at the start of the frame
        self._steps = 0  # of the frame
        self._planes = Planes(model)
        self._moment = np.zeros(3)

    def revised(self, model: Model) -> "ImplicitSolver":
        """The same for a model with other values, see `choice.Solver`."""
        return ImplicitSolver(model, self.substep_time, self._settings, self._options, self)

    @property
    def counts(self) -> Counts:
        """Work done since the start."""
        return self._minimiser.counts

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last substep."""
        return int(np.count_nonzero(self._minimiser.energy.normal_force[: self.candidate_count]))

    @property
    def candidate_count(self) -> int:
        """Pairs in the contact set."""
        return self._minimiser.contacts.count

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`: springs are evaluated with the model's arrays, anew at the next step."""
        self._minimiser.energy.forget_bodies()

    def untangle(self, state: State) -> int:
        """Write the points on the wrong side of a surface to the state; returns the number of crossing triangles."""
        return self._minimiser.candidates.untangle(state)

    def start_frame(self, state: State) -> None:
        """Discard all history except the state, so that a run continued from it has the same bits."""
        self._minimiser.start_frame(state)
        self._counts_at_start, self._steps = replace(self.counts), 0

    def notes(self) -> FrameNotes:
        """Statistics of the steps since `start_frame`, see `choice.Solver`."""
        now, begun, stage = self.counts, self._counts_at_start, self._minimiser.notes
        contacts, force = self._minimiser.contacts, self._minimiser.energy.normal_force
        rows = np.flatnonzero(force[: contacts.first_element])
        bodies = contacts.bodies[rows]
        counted = {
            Reason.FAST: now.divided_steps - begun.divided_steps,
            Reason.INACCURATE: now.split_steps - begun.split_steps,
            Reason.ENERGY_GAIN: now.halved_steps - begun.halved_steps,
            Reason.DAMPED: now.damped_steps - begun.damped_steps,
            Reason.NEWTON_SHORTENED: now.shortened_steps - begun.shortened_steps,
        }
        findings = [Finding(Reason.FILTERED, stage.filtered, stage.least.bodies)] if stage.filtered else []
        unconverged = np.flatnonzero(stage.unconverged).tolist()
        findings += [Finding(Reason.NOT_CONVERGED, int(stage.unconverged[body]), (body,)) for body in unconverged]
        findings += [Finding(reason, number) for reason, number in counted.items() if number]
        return FrameNotes(
            steps=self._steps,
            pairs=PairContacts.of(bodies[:, 0], bodies[:, 1], force[rows], contacts.gap[rows]),
            shares=[stage.least] if stage.least.bodies else [],
            findings=findings,
            residual=stage.residual,
        )

    def contact_forces(self) -> FloatArray:
        """See `choice.Solver`."""
        contacts, force = self._minimiser.contacts, self._minimiser.energy.normal_force
        rows = np.flatnonzero(force[: contacts.first_element])
        shares = np.abs(contacts.weights[rows]) * force[rows, None]
        return np.bincount(contacts.points[rows].ravel(), shares.ravel(), self.model.point_count).astype(float)

    def join(self, state: State, left: int) -> int:
        """Number of the `left` substeps of a frame to take as one: all of them, or halved repeatedly."""
        if self._step_error is None:
            return 1
        speed, count = self._fast.speeds(state), left
        while count > 1 and (count > state.joined or self._fast.parts(state, speed, count * self.substep_time) > 1):
            count //= 2
        return count

    def step(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, count: int = 1,
        load: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """Take `count` substeps as one, in parts if its error is too large, from `before` to `after`, maybe the same.

        `share`: time at its start as a fraction of the frame, 0 to 1; `gas`: nRT [J] at its end; `load` [N], see
        `choice.Solver`.
        """
        speed = self._fast.speeds(before)
        stage = self._minimiser
        stage.start(before, gas, speed)
        energy = self._kinetic_energy(before.velocities, before.rigid)
        energy += self._potential_energy(before.positions, before.rigid.pose, gas) + before.stuck.energy
        whole = count * self.substep_time
        n = self.model.vertex_count
        stage.energy.load.give(load, before.positions[:n] + 0.5 * whole * before.velocities[:n])
        parts = self._fast.parts(before, speed, whole)
        time = whole / parts
        stage.counts.divided_steps += parts > 1
        state = before
        for part in range(parts):
            begin = share + part * time / motion.frame_time
            energy = self._advance(state, after, motion, begin, gas, time, energy, HALVINGS)
            state = after

    def _advance(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, time: float, energy: float,
        halvings: int,
    ) -> float:  # fmt: skip
        """Advance by `time` [s]: in two parts if the error or the energy grows too much, at last with implicit Euler.

        Takes the mechanical energy [J] before and returns the one after.
        """
        stage = self._minimiser
        speed = self._fast.speeds(before)
        stage.start(before, gas, speed)
        energy += stage.renew_contacts()
        velocities, rigid = self._two_stages(before, motion, share, time)
        count = max(round(time / self.substep_time), 1)
        if count > 1 and not self._error <= 1.0:
            stage.counts.split_steps += 1
            part = count // 2 * self.substep_time
            middle = self._advance(before, after, motion, share, gas, part, energy, halvings)
            share += part / motion.frame_time
            return self._advance(after, after, motion, share, gas, time - part, middle, halvings)
        kinetic = self._kinetic_energy(before.velocities, before.rigid)
        reached_kinetic = self._kinetic_energy(velocities, rigid)
        stuck = stage.energy.stuck(stage.x)
        reached = reached_kinetic + self._potential_energy(stage.x, stage.poses, gas) + stuck.energy
        slack = (
            ENERGY_SLACK * max(kinetic, reached_kinetic)
            + self._tolerated_energy(time)
            + self._external_work(motion, time)
        )
        slack += stage.energy.unstored_work(before.positions, stage.x)
        if not reached - energy <= slack:
            if halvings > 0:
                stage.counts.halved_steps += 1
                half = 0.5 * time
                middle = self._advance(before, after, motion, share, gas, half, energy, halvings - 1)
                share += half / motion.frame_time
                return self._advance(after, after, motion, share, gas, half, middle, halvings - 1)
            stage.counts.damped_steps += 1
            stage.start(before, gas, speed)
            velocities, rigid = self._one_stage(before, motion, share, time)
            stuck = stage.energy.stuck(stage.x)
        self._steps += 1
        after.positions[:] = stage.x
        after.velocities[:] = velocities
        after.rigid = rigid
        after.touching[:] = stage.energy.touching()
        after.gas[:] = gas
        after.wrong_side = before.wrong_side
        after.stuck = stuck
        after.approach = before.approach
        self._losses.bounce(stage.contacts, stage.energy.normal_force, self._momentum.pairs, after, time)
        self._losses.damp(after, time)
        self._planes.hold(after.velocities)
        self._set_point_velocities(after)
        after.joined = 2 * count if self._error < LONGER_BELOW else count
        if stage.energy.pressed_together():
            if AT_REST < self._fast.speeds(after)[: self.model.moving_count].max() < SETTLING:
                after.joined = 1
        kinetic = self._kinetic_energy(after.velocities, after.rigid)
        return kinetic + self._potential_energy(stage.x, stage.poses, gas) + stuck.energy

    def _two_stages(self, before: State, motion: Motion, share: float, h: float) -> tuple[FloatArray, RigidMotion]:
        """Step of second order; positions in the minimiser's `x`, returns velocities of points and rigid bodies."""
        n, stage, solids = self.model.vertex_count, self._minimiser, self.model.rigid
        tau, rest = GAMMA * h, (1.0 - GAMMA) * h
        step_share = h / motion.frame_time
        x0, v0 = before.positions, before.velocities[:n]
        fall = tau * tau * self.model.gravity
        stage.set_stage_time(tau)
        self._momentum.start(x0, v0, before.rigid)

        base = x0.copy()
        flight = fly(before.rigid.pose, before.rigid.velocity, before.rigid.angular_momentum, solids, tau)
        self._minimise(motion, share + GAMMA * step_share, tau, rest, base, v0, v0, 1.0, before, flight, flight)
        poses1 = stage.poses.copy()
        change = rest * (((stage.x[:n] - base[:n]) / tau - v0) / tau)
        rigid_change = RigidMotion(
            poses1,
            rest / tau * ((poses1[:, :3] - before.rigid.pose[:, :3]) / tau - before.rigid.velocity),
            rest / tau * pushed(shifted(flight, fall), poses1, solids, tau),
        )
        self._momentum.balance(stage.x, change, rigid_change)
        v1, v_ahead = v0 + tau / rest * change, v0 + change
        rigid1 = rigid_change.added_to(before.rigid, tau / rest)
        rigid_ahead = rigid_change.added_to(before.rigid, 1.0)
        if stage.contacts.count:
            mobility = stage.current_mobility()
            rows1, rows_ahead = velocity_rows(v1, rigid1, mobility), velocity_rows(v_ahead, rigid_ahead, mobility)
            slip = stage.energy.slip_velocities(stage.x, tau)
            change, taken = overshoot(stage.energy, mobility, rows1, rows_ahead, slip, rest)
            self._planes.hold(change)
            v_ahead += change[:n]
            rigid_ahead = self._changed(rigid_ahead, change[n:])
            self._momentum.subtract_impulses(stage.energy, stage.x, stage.poses, change, taken)

        base[:n] = x0[:n] + rest * v1
        rigid_base = fly(before.rigid.pose, rigid1.velocity, rigid1.angular_momentum, solids, rest)
        flight = fly(rigid_base, rigid_ahead.velocity, rigid_ahead.angular_momentum, solids, tau)
        rigid_guess = fly(rigid_base, rigid1.velocity, rigid1.angular_momentum, solids, tau)
        end = share + step_share
        self._minimise(motion, end, h, tau, base, v_ahead, v1, rest / tau, before, flight, rigid_guess)
        velocities, rigid = self._reached(base, rigid_base, shifted(flight, fall), rigid_ahead.angular_momentum)
        if self._step_error is not None:
            self._error = self._step_error.of(v0, v1, v_ahead, velocities, h)
        self._momentum.settle(stage.x, velocities, rigid)
        return velocities, rigid

    def _one_stage(self, before: State, motion: Motion, share: float, h: float) -> tuple[FloatArray, RigidMotion]:
        """Step of implicit Euler: dissipates energy where the step of second order would gain it.

        Where the stage has not converged, velocities are those of the displacements, which cannot grow without bound:
        the impulses of its contacts are not what moved the bodies.
        """
        stage, rigid0 = self._minimiser, before.rigid
        self._error = math.inf  # unknown
        stage.set_stage_time(h)
        v0 = before.velocities[: self.model.vertex_count]
        self._momentum.start(before.positions, v0, rigid0)
        base = before.positions.copy()
        flight = fly(rigid0.pose, rigid0.velocity, rigid0.angular_momentum, self.model.rigid, h)
        self._minimise(motion, share + h / motion.frame_time, h, h, base, v0, v0, 1.0, before, flight, flight)
        rigid_target = shifted(flight, h * h * self.model.gravity)
        velocities, rigid = self._reached(base, rigid0.pose, rigid_target, rigid0.angular_momentum)
        if stage.has_converged:
            self._momentum.settle(stage.x, velocities, rigid)
        return velocities, rigid

    def _minimise(
        self, motion: Motion, share: float, elapsed: float, lasting: float, base: FloatArray, drawn: FloatArray,
        drift: FloatArray, fallen: float, before: State, flight: FloatArray, rigid_guess: FloatArray,
    ) -> None:  # fmt: skip
        """Minimise the energy of a stage whose vertices start at `base` [m] with velocities `drawn` [m/s].

        share, elapsed: its end as a fraction of the frame, and [s] after the start of the step. lasting: time [s] for
        which its forces act. The first guess uses velocities `drift` and, of bodies without contact in `before`,
        `fallen` of the displacement by gravity. flight, rigid_guess: the same of rigid bodies, without gravity.
        """
        model, stage = self.model, self._minimiser
        time, n = stage.energy.stage_time, model.vertex_count
        fall = time * time * model.gravity
        guessed = fallen * np.where(before.touching[:, None], 0.0, fall)
        self._move_kinematic_points(motion, share, base)
        stage.energy.damp(base)
        stage.minimise(
            elapsed,
            target=base[:n] + time * drawn + fall,
            guess=base[:n] + time * drift + guessed[model.point_body[:n]],
            rigid_target=shifted(flight, fall),
            rigid_guess=shifted(rigid_guess, guessed[model.membrane_count :]),
        )
        self._momentum.add_forces(stage.energy, stage.x, stage.poses, lasting)

    def _reached(
        self, base: FloatArray, rigid_base: FloatArray, rigid_target: FloatArray, spin: FloatArray
    ) -> tuple[FloatArray, RigidMotion]:
        """Velocities of points and rigid bodies at the end of a stage; `spin`: angular momenta without its torques."""
        stage, poses = self._minimiser, self._minimiser.poses.copy()
        time = stage.energy.stage_time
        velocity = (poses[:, :3] - rigid_base[:, :3]) / time
        turned = spin + pushed(rigid_target, poses, self.model.rigid, time)
        return (stage.x - base) / time, RigidMotion(poses, velocity, turned)

    def _changed(self, rigid: RigidMotion, change: FloatArray) -> RigidMotion:
        """Rigid motion after a change of velocities and angular velocities by the rows of `change`."""
        count = self.model.rigid_count
        if count == 0:
            return rigid
        inertia = np.empty((count, 3, 3))
        turned_tensors(rigid.pose, self.model.rigid.inertia, inertia)
        turn = np.einsum("bij,bj->bi", inertia, change[1::2])
        return RigidMotion(rigid.pose, rigid.velocity + change[::2], rigid.angular_momentum + turn)

    def _set_point_velocities(self, state: State) -> None:
        """Set the velocities of the rigid bodies' points from their motion."""
        model = self.model
        if model.rigid_count:
            points = slice(model.vertex_count, model.moving_point_count)
            owner = model.point_body[points] - model.membrane_count
            inverse = np.empty((model.rigid_count, 3, 3))
            turned_tensors(state.rigid.pose, model.rigid.inverse_inertia, inverse)
            spin = np.einsum("bij,bj->bi", inverse, state.rigid.angular_momentum)
            arm = state.positions[points] - state.rigid.pose[owner, :3]
            state.velocities[points] = state.rigid.velocity[owner] + np.cross(spin[owner], arm)

    def _move_kinematic_points(self, motion: Motion, share: float, base: FloatArray) -> None:
        """Move pinned vertices and colliders to the end of a stage, and set `base` to match their velocity."""
        if len(motion.points):
            target = motion.positions(share)
            base[motion.points] = target - self._minimiser.energy.stage_time * motion.velocities
            self._minimiser.move_kinematic_points(motion.points, target)

    def _kinetic_energy(self, velocities: FloatArray, rigid: RigidMotion) -> float:
        model = self.model
        energy = 0.5 * weighted_squares(model.vertex_mass, velocities)
        if model.rigid_count:
            inverse = np.empty((model.rigid_count, 3, 3))
            turned_tensors(rigid.pose, model.rigid.inverse_inertia, inverse)
            spin = rigid.angular_momentum
            energy += 0.5 * float(np.einsum("i,ij,ij->", model.rigid.mass, rigid.velocity, rigid.velocity))
            energy += 0.5 * float(np.einsum("bi,bij,bj->", spin, inverse, spin))
        return energy

    def _potential_energy(self, x: FloatArray, poses: FloatArray, gas: FloatArray) -> float:
        """Energy of elasticity, contact, gas and gravity [J] at x, which the minimiser has evaluated last."""
        model = self.model
        sum_moments(model.vertex_mass, x, model.rest_positions, self._moment)
        weight = float((self._moment * model.gravity).sum())
        if model.rigid_count:
            height = poses[:, :3] - model.rigid.centre
            weight += float(np.einsum("i,ij,j->", model.rigid.mass, height, model.gravity))
        return self._minimiser.energy.stored_energy(gas) - weight

    def _tolerated_energy(self, time: float) -> float:
        """Bound of the work [J] of residual forces that are accepted, in a step of a length [s] and the one before."""
        speed = 2.0 * self._rest_acceleration * max(time, self.substep_time)
        return float(self.model.body_mass.sum()) * speed**2

    def _external_work(self, motion: Motion, time: float) -> float:
        """Bound of the work of moving colliders and pins in a time [s] [J]; infinite if pins move."""
        moving = motion.velocities
        speed = float(np.sqrt((moving * moving).sum(axis=1).max(initial=0.0)))
        if speed == 0.0:
            return 0.0
        if self.model.pinned.any():
            return math.inf
        forces = self._minimiser.energy.normal_force[: self.candidate_count]
        return 2.0 * speed * float(forces.sum()) * time
