"""Newton's method on the energy of one time stage, along a path without intersections.

Each step solves for a direction with conjugate gradients, filters it where surfaces are near
(`contact.filter.step_filter`), and halves it until the energy decreases sufficiently (Armijo). Contacts are searched
anew when a vertex is about to leave the reach of the last search, so the energy contains every pair within its
thickness.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from ...bodies.flat.plane import Planes
from ...bodies.rigid.motion import move_poses, place_points, steps_between, turned_tensors
from ...contact.broad_phase.candidates import Candidates
from ...contact.filter.carry import carry
from ...contact.filter.step_filter import StepFilter
from ...contact.inverse_mass import InverseMass
from ...linear.conjugate_gradient import Scratch
from ...linear.direction import newton_direction
from ...model import FloatArray, IntArray, Model
from ...options import DEFAULTS, MethodOptions
from ...state import FrictionSprings, State
from ...team import helped
from ...threads import threads_in_use
from ..counts import Counts
from .contact_scale import ContactScale
from .preconditioner import Preconditioners
from .stage_energy import StageEnergy
from .stage_notes import StageNotes
from .sums import inner

#: Decrease of the energy below which a Newton step is the last [largest decrease of the stage]. 0.01 saves an eighth of
#: the work, but a ball of 10 242 vertices then sags by a tenth more than one of 642.
LEAST_DECREASE = 5e-4
#: Factor of the tolerances without candidate pairs [1]: momentum is conserved in any case (`momentum.py`).
FREE_TOLERANCE = 2.0
#: Reach of a search [displacement that made it necessary]: larger means fewer searches and more candidates.
REACH_FACTOR = 1.6


@dataclass(frozen=True, slots=True)
class NewtonSettings:
    """Accuracy of a stage; the defaults are chosen by the hold and bounce tests."""

    newton_limit: int = 40  # Newton steps per stage
    linear_limit: int = 60  # conjugate gradient iterations per Newton step
    linear_tolerance: float = 0.1  # reduction of the residual per Newton step
    newton_tolerance: float = 0.003  # reduction of the residual per stage
    rest_acceleration: float = 0.05  # residual force per mass that is accepted [m/s^2]


class StageMinimiser:
    """Minimises the energy of stages of length `stage_time` [s]; `x` holds the result, all points."""

    def __init__(
        self,
        model: Model,
        stage_time: float,
        settings: NewtonSettings,
        options: MethodOptions = DEFAULTS,
        like: "StageMinimiser | None" = None,
    ) -> None:
        """`like`: minimiser of a model with other values; its contacts and preconditioners are reused."""
        unknown_count = model.unknown_count
        self.model = model
        self.settings = settings
        self.counts: Counts = like.counts if like else Counts()
        candidates = like.candidates if like else Candidates(model, REACH_FACTOR, far=True, prune=True)
        self.candidates: Candidates = candidates
        self.candidates.take(model)
        self.contacts = self.candidates.contacts
        self._step_filter = StepFilter(model, self.candidates)
        self.energy = StageEnergy(model, self.contacts, stage_time, options)
        self._planes = Planes(model)
        self.x = np.zeros((model.point_count, 3))
        self.poses = np.zeros((model.rigid_count, 7))
        with np.errstate(divide="ignore"):
            inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        self._mobility = InverseMass(
            inverse_mass, model.rigid.unknown, self.energy.arm, 1.0 / model.rigid.mass,
            model.rigid.inverse_inertia.copy(),
        )  # fmt: skip
        self._preconditioners: Preconditioners = like._preconditioners if like else Preconditioners(model, stage_time)
        self._multigrid = self._preconditioners.of(model)
        self._rest_energy = _rest_energy(model, settings.rest_acceleration * stage_time)
        self._stage_time = stage_time
        self._contact_scale = ContactScale(model)
        self._gas = np.zeros(model.membrane_count)
        self._speed = np.zeros(model.body_count)
        self._stuck = FrictionSprings.none()
        self._trial = np.zeros((model.point_count, 3))
        self._trial_poses = np.zeros((model.rigid_count, 7))
        self._step, self._unfiltered = np.zeros((2, unknown_count, 3))
        self._force = np.zeros((unknown_count, 3))
        self._residual = np.zeros((unknown_count, 3))
        self._direction = np.zeros((unknown_count, 3))
        self._diagonal = np.zeros((model.vertex_count, 3))
        self._scratch = Scratch.of(model)
        self.notes = StageNotes(model)
        self._enough = np.zeros(model.moving_count)  # accepted residual r'Br [J]
        self.has_converged = True  # whether the last stage ended before the limit of Newton steps

    def set_stage_time(self, stage_time: float) -> None:
        """Use stages of another length [s] from now on."""
        self.energy.set_stage_time(stage_time)
        count = 2 ** max(round(math.log2(stage_time / self._stage_time)), 0)
        self._multigrid = self._preconditioners.of(self.model, count)

    def start_frame(self, state: State) -> None:
        """Evaluate a state anew: contacts and energies then depend on the state only."""
        self.candidates.start_frame(state)
        self.notes = StageNotes(self.model)
        self.energy.shares.forget()
        self.energy.damp(None)
        self.start(state, state.gas, np.zeros(self.model.body_count))
        self._step[:] = 0.0
        self._cover()
        self.energy.begin(self.x[: self.model.vertex_count], self.poses, state.gas, self._stage_time)
        self.energy.evaluate(self.x, self.poses)

    def start(self, state: State, gas: FloatArray, speed: FloatArray) -> None:
        """Begin a substep from a state, with nRT [J] of each membrane at its end.

        `speed`: largest speed of each body [m/s]; fast rigid bodies get a stiffer contact.
        """
        self.x[:] = state.positions
        self.poses[:] = state.rigid.pose
        self._gas[:] = gas
        self._speed[:] = speed
        self._stuck = state.stuck
        self.energy.start(self.x)
        self.energy.restore_friction(self._stuck)
        self._set_contact_scale()

    def renew_contacts(self) -> float:
        """Update the contact weights of edges at the start of a step; returns the change of the energy [J]."""
        if not self.candidates.searched or self.contacts.first_element == self.contacts.edge_start:
            return 0.0
        if self.candidates.choose(self.x, self.x):
            self._update_record()
        self.energy.evaluate(self.x, self.poses)
        scale = self._contact_scale.of(self._gas, self._stage_time)
        return self.energy.update_contact_weights(self.x, self.poses, scale, self._stage_time * self._speed)

    def move_kinematic_points(self, points: IntArray, target: FloatArray) -> None:
        """Move pinned vertices and colliders to `target` [m]; bodies in a collider's way are moved along."""
        if not (target != self.x[points]).any():
            return
        self._trial[:] = self.x
        self._trial[points] = target
        self._cover_trial()
        given = slice(self.model.moving_point_count, None)
        moved = self.x.copy()
        moved[points] = target
        before = self.x.copy() if self._planes.any else self.x
        carry(self.x, self.poses, moved[given], self.contacts, self.model)
        self._planes.hold_moves(before, self.x)
        self.x[given] = moved[given]
        self.x[points] = target

    def minimise(
        self,
        elapsed: float,
        *,
        target: FloatArray,
        guess: FloatArray,
        rigid_target: FloatArray,
        rigid_guess: FloatArray,
    ) -> None:
        """Minimise the energy of a stage: sets `x` and `poses`, starting at the guesses.

        `elapsed`: end of the stage [s] after the start of the substep. `target`, `guess`: positions of vertices [m];
        the others: poses. Leaves the energy linearised at `x`.
        """
        model, energy, settings, counts = self.model, self.energy, self.settings, self.counts
        n = model.vertex_count
        counts.stages += 1
        self.has_converged = True
        energy.begin(target, rigid_target, self._gas, elapsed)
        np.subtract(guess, self.x[:n], out=self._step[:n])
        self._step[:n][model.pinned] = 0.0
        self._planes.hold(self._step)
        steps_between(self.poses, rigid_guess, self._step[n:])
        self._cover()
        energy.lag_gas(self.x, self.poses)
        self._guess()

        enough, island, start = self._enough, self._scratch.island, self._scratch.islands[0]
        enough[:] = self._rest_energy
        largest = np.zeros(model.moving_count)  # residual of each island so far [J]
        most = 0.0  # largest decrease of the energy in one step [J]
        for newton_step in range(settings.newton_limit):
            total = energy.linearise(self.x)
            energy.residual(self.x, self._force)
            self._planes.hold(self._force)
            self._residual[:] = self._force
            energy.rigid_blocks(self._scratch.blocks)
            # without contacts the energy is nearly quadratic: one accurate step is enough
            loose, reduction = 1.0, settings.linear_tolerance
            if not self.contacts.count:
                loose, reduction = FREE_TOLERANCE, FREE_TOLERANCE * settings.newton_tolerance
            given = (
                model.edges, model.hinges, model.chunks, energy.hessian, energy.acting, energy.acting_count,
                energy.contact_stretched, model.point_body, self._multigrid.levels, self._diagonal, self._residual,
                self._scratch, reduction, enough, settings.linear_limit, self._direction,
            )  # fmt: skip
            with helped(self._scratch.team, threads_in_use(), functools.partial(newton_direction, *given)):
                iterations = newton_direction(*given, 0)
            counts.linear_iterations += iterations
            if iterations == 0:
                return
            left = start[island]
            np.maximum(largest, left, out=largest)
            if not self.contacts.count:
                self._balance()
            fall = self._descend(total)
            most = max(most, fall)
            if fall <= LEAST_DECREASE * most:
                break
            counts.newton_steps += 1
            if newton_step == 0:
                np.maximum(enough, (loose * settings.newton_tolerance) ** 2 * start[island], out=enough)
        else:
            self.has_converged = False
            self.notes.add_unconverged(left > enough[island])
        self.notes.add_residual(left, largest)
        energy.linearise(self.x)  # contact forces at the result

    def _balance(self) -> None:
        """Correct the direction so that no free body has a resultant of the residual left: only inertia resists it."""
        model, start = self.model, self.model.body_point_start[: self.model.membrane_count]
        if len(start):
            left = np.add.reduceat(self._residual[: model.vertex_count], start)
            shift = left / np.add.reduceat(self.energy.inertia, start)[:, None]
            shift[np.logical_or.reduceat(model.pinned, start)] = 0.0
            self._direction[: model.vertex_count] += shift[model.point_body[: model.vertex_count]]

    def _guess(self) -> None:
        """Take the filtered step to the first guess, unless the start has less energy, as it has at rest."""
        energy = self.energy
        held = energy.evaluate(self.x, self.poses)
        if self.contacts.count or self.candidates.exceeds_reach.any():
            self._filter()
        self._place(1.0)
        if energy.evaluate(self._trial, self._trial_poses) < held or not self.contacts.count:
            self._accept()
        else:
            energy.evaluate(self.x, self.poses)

    def _descend(self, total: float) -> float:
        """Line search along the direction; returns the decrease of the energy [J], 0 with `x` unchanged if none."""
        self._step[:] = self._direction
        if self._cover():
            self.energy.evaluate(self.x, self.poses)
            total = self.energy.linearise(self.x)
        self._filter()
        fall = self._search_line(total, 5)
        if fall > 0.0:
            return fall
        # the filtered direction is not always one of descent; the unfiltered one, shortened as a whole, is
        self._step[:] = self._direction
        renewed = self._cover()
        self.energy.evaluate(self.x, self.poses)
        if renewed:
            total = self.energy.linearise(self.x)
        self._step_filter.shorten(self.x, self._step, self.current_mobility(), self._trial_points)
        fall = self._search_line(total, 12)
        if not fall > 0.0:
            self.energy.evaluate(self.x, self.poses)
        return fall

    def _search_line(self, total: float, halvings: int) -> float:
        """Halve the step until the energy is sufficiently below `total`; returns the decrease [J], or 0."""
        slope = inner(self._force, self._step)
        if not slope > 0.0:
            return 0.0
        rounding = 1e-12 * abs(total)
        scale = 1.0
        for _ in range(halvings):
            self._place(scale)
            reached = self.energy.evaluate(self._trial, self._trial_poses)
            if reached <= total - 1e-4 * scale * slope + rounding:
                self._accept()
                return max(total - reached, rounding)
            self.counts.shortened_steps += 1
            scale *= 0.5
        return 0.0

    def _place(self, scale: float) -> None:
        """Write positions and poses after `scale` times the step to `_trial`, `_trial_poses`."""
        model, n = self.model, self.model.vertex_count
        self._trial[:] = self.x
        self._trial[:n] += scale * self._step[:n]
        if model.rigid_count:
            move_poses(self.poses, self._step[n:], scale, self._trial_poses)
            place_points(self._trial_poses, model.rigid.arm, model.rigid.point_start, self._trial)

    def _accept(self) -> None:
        """Accept the trial positions and poses of `_place`."""
        self.x[:] = self._trial
        self.poses[:] = self._trial_poses

    def _trial_points(self) -> FloatArray:
        """Positions of all points after the step [m]."""
        self._place(1.0)
        return self._trial

    def _filter(self) -> None:
        """Apply the step filter to the step."""
        self._unfiltered[:] = self._step
        self._step_filter.filter(self.x, self._step, self.current_mobility(), self._trial_points)
        self.notes.add_filtered(self._unfiltered, self._step, self.contacts)

    def current_mobility(self) -> InverseMass:
        """Inverse masses and inertias at `x`, where the energy was evaluated last."""
        if self.model.rigid_count:
            turned_tensors(self.poses, self.model.rigid.inverse_inertia, self._mobility.rigid_inverse_inertia)
        return self._mobility

    def _cover(self) -> bool:
        """Ensure that every pair that can touch during the step is in the contact set; True if the set has changed."""
        self._place(1.0)
        return self._cover_trial()

    def _cover_trial(self) -> bool:
        """`_cover` for the path from `x` to `_trial`."""
        before = self.candidates.searches
        if not self.candidates.cover(self.x, self._trial):
            return False
        self.counts.contact_searches += self.candidates.searches - before
        self._update_record()
        return True

    def _update_record(self) -> None:
        """Update the energy after a change of the contact set."""
        self.energy.update_contacts(self.x, self._stuck)
        self._set_contact_scale()

    def _set_contact_scale(self) -> None:
        """Set kappa of every contact for the amount of gas and the speeds of the substep."""
        scale = self._contact_scale.of(self._gas, self._stage_time)
        self.energy.set_contact_scale(scale, self._stage_time * self._speed)


def _rest_energy(model: Model, speed: float) -> float:
    """Accepted residual r'Br [J]: of forces that change the lightest body's speed by `speed` [m/s] in a stage."""
    return float(model.body_mass[: model.moving_count].min()) * speed**2
