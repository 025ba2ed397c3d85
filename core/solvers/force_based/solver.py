"""Solvers that integrate forces and answer contacts with impulses: the methods of the papers, one substep at a time.

Same model, forces, contact record and rigid flight as the implicit solver; the integrator differs (`schemes`,
`simplified`), and what contacts do (`impulses`). Steps are explicit: with stiff springs or light skins they need many
substeps, and a step that is too long ends in `Diverged`, with the length that should do (`stability`).
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from ...collide.contacts import Contacts
from ...errors import Diverged, ParameterError
from ...model import BoolArray, FloatArray, Model
from ...options import DEFAULTS, MethodOptions
from ...plane import Planes
from ...rigid.flight import fly, velocity_rows
from ...rigid.motion import place_points, steps_between, turned_tensors
from ...state import PairSpeeds, RigidMotion, State, StuckContacts
from ..circles import Circles
from ..counts import Counts
from ..fixed_steps import FixedSteps
from ..given import Motion
from ..losses import Losses
from ..pairs import PairImpulses
from ..rigid_motion import rigid_motions
from .forces import SoftForces
from .impulses import Impulses
from .schemes import SCHEMES
from .simplified import add_spring_damping, kang_change, mesit_change, stiffness_at_vertices
from .stability import stable_time
from .surroundings import Surroundings, left_over

if TYPE_CHECKING:
    from .particle_contacts import ParticleContacts

#: A vertex that moves in one step by more than this share of its body's size, apart from the body, has run away.
RUNAWAY = 1.0
#: Bounciness is looked after once in this time [s].
BRAKING_TIME = 1.0 / 240.0
#: Most searches for contacts in a step.
SEARCHES = 4


class ForceBasedSolver(FixedSteps):
    """Advances a model by substeps of `substep_time` [s] with an integrator of `choice.FORCE_BASED`."""

    def __init__(self, model: Model, substep_time: float, method: str, options: MethodOptions = DEFAULTS) -> None:
        if not (math.isfinite(substep_time) and substep_time > 0.0):
            raise ParameterError(f"substep: {substep_time} s; give a positive time.")
        n = model.vertex_count
        self.model = model
        self.substep_time = substep_time
        self.method = method
        self._scheme = SCHEMES.get(method)
        self._forces = SoftForces(model, options)
        self._particles = _particle_contacts(model) if options.detection == "FEATURE_PARTICLES" else None
        self._surroundings = Surroundings(model, among_moving=self._particles is None)
        self._impulses = Impulses(model)
        self._losses = Losses(model, options)
        self._planes = Planes(model)
        self._circles = Circles(model)
        self._pairs = PairImpulses(model)
        self._owner = model.point_body[n : model.moving_point_count] - model.membrane_count
        self._vertex_body = model.point_body[:n]
        self._arm = model.rigid.arm.copy()
        self._stiffness = np.zeros(n)
        stiffness_at_vertices(model.edges, model.chunks, self._stiffness)
        start = model.body_point_start[: model.membrane_count]
        skin = model.rest_positions[:n]
        self._size = np.linalg.norm(np.maximum.reduceat(skin, start) - np.minimum.reduceat(skin, start), axis=1)
        self._has_pins = np.logical_or.reduceat(model.pinned, start)
        self._motion = np.zeros((model.membrane_count, 15))
        self._braking_steps = max(1, round(BRAKING_TIME / substep_time))
        self._unbraked = 0  # steps whose impulses are summed up in `_pairs`

    @property
    def counts(self) -> Counts:
        """How much work was done since the start; a stage is an evaluation of all forces."""
        return Counts(stages=self._forces.evaluations, contact_searches=self._surroundings.searches)

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last substep."""
        found = 0 if self._particles is None else self._particles.pressed
        return found + int(np.count_nonzero(self._impulses.push[: self._surroundings.contacts.count]))

    @property
    def candidate_count(self) -> int:
        """Pairs in the contact record."""
        found = 0 if self._particles is None else self._particles.count
        return found + self._surroundings.contacts.count

    def untangle(self, state: State) -> int:
        """Note in the state which points are behind another body's surface; returns how many triangles cross."""
        return self._surroundings.untangle(state)

    def start_frame(self, state: State) -> None:
        """Forget what was found on the way to a state, so that a run continued from it has the same bits."""
        self._surroundings.start_from(state)
        if self._particles is not None:
            self._particles.start(state.particles)
        self._impulses.push[:] = 0.0
        self._pairs.clear()
        self._unbraked = 0

    def substep(self, before: State, after: State, motion: Motion, share: float, gas: FloatArray) -> None:
        """One substep from `before` to `after`, which may be the same object.

        `share` is the part of the frame (0 to 1) that lies behind at its start; `gas` nRT [J] at its end.
        """
        # what runs away is noticed by what comes out
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            moves, v, change = self._free_step(before, motion, share, gas)
        self._check(moves, v, gas)
        if self._circles.any:
            mobility = self._surroundings.mobility
            self._circles.keep_apart(
                before.positions, mobility, moves, v, before.velocities[: self.model.vertex_count], self.substep_time
            )
        self._settle(before, after, motion, share, moves, v)
        after.gas[:] = gas
        after.velocity_change = change
        after.stuck, after.approach = StuckContacts.none(), before.approach
        self._bounce(after, motion, share)
        self._losses.damp(after, self.substep_time)
        self._planes.hold(after.velocities)
        self._set_given_velocities(after, motion)

    # --- without contacts -----------------------------------------------------------------------------------------

    def _free_step(
        self, before: State, motion: Motion, share: float, gas: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Moves [m] and velocities [m/s] of the vertices, both of shape (unknown_count, 3).

        Below them the impulses of attachments on the rigid bodies [N s, N m s]: those that act on the way, and all.
        Also the size of each vertex's last change of velocity [m/s].
        """
        model, h, n = self.model, self.substep_time, self.model.vertex_count
        v0 = before.velocities[:n]
        moves, v = np.zeros((model.unknown_count, 3)), np.zeros((model.unknown_count, 3))
        v[:n] = v0
        if self._scheme is None:
            force = self._force_at(before, motion, share, gas, 0.0, np.zeros_like(moves))
            change = self._simplified_change(before, force)
            v[:n] += change
            v[n:] = h * force[n:]
            moves[:n] = h * v[:n]
            moves[n:] = v[n:]
            return moves, v, np.sqrt(np.einsum("ij,ij->i", change, change))
        scheme, forces = self._scheme, list[FloatArray]()
        per_mass = np.ones((model.unknown_count, 1))
        per_mass[:n, 0] = h / model.vertex_mass
        for node, weights in zip(scheme.nodes, scheme.stages, strict=True):
            stage = np.zeros_like(moves)
            stage[:n] = node * h * v0
            for weight, force in zip(weights, forces, strict=True):
                stage += (weight * h) * per_mass * force
            forces.append(self._force_at(before, motion, share, gas, node, stage))
        moves[:n] = h * v0
        for weight, speed_weight, force in zip(scheme.position, scheme.velocity, forces, strict=True):
            moves += (weight * h) * per_mass * force
            v[:n] += speed_weight * per_mass[:n] * force[:n]
            v[n:] += (speed_weight * h) * force[n:]
        return moves, v, before.velocity_change

    def _force_at(
        self, before: State, motion: Motion, share: float, gas: FloatArray, node: float, stage: FloatArray
    ) -> FloatArray:
        """Forces [N], torques [N m] in a stage, shape (unknown_count, 3).

        `node` of the step is over, the vertices have gone the moves [m] of `stage`, and the impulses below them, over
        `node`, have acted on the rigid bodies. Given points are where they are given.
        """
        model, n, h = self.model, self.model.vertex_count, self.substep_time
        x = before.positions.copy()
        x[:n] += stage[:n]
        poses = before.rigid.pose
        if node > 0.0:
            x[motion.points] = motion.positions(share + node * h / motion.frame_time)
            if len(model.attachments.body) and model.rigid_count:
                poses = self._flown(before.rigid, stage[n:] / node, node * h)
                place_points(poses, model.rigid.arm, model.rigid.point_start, x)
        force = np.zeros((model.unknown_count, 3))
        arm = x[n : model.moving_point_count] - poses[self._owner, :3]
        self._forces.evaluate(x, before.gas + node * (gas - before.gas), arm, force)
        return force

    def _flown(self, rigid: RigidMotion, impulses: FloatArray, time: float) -> FloatArray:
        """Poses after a time [s] of free flight and gravity with impulses [N s, N m s] that act from the start."""
        velocity = rigid.velocity + 0.5 * time * self.model.gravity
        velocity += impulses[::2] / self.model.rigid.mass[:, None]
        return fly(rigid.pose, velocity, rigid.angular_momentum + impulses[1::2], self.model.rigid, time)

    def _simplified_change(self, before: State, force: FloatArray) -> FloatArray:
        """Change of velocity [m/s] by eq. 21 or 24 of Mesit 2007, shape (vertex_count, 3).

        Neither keeps momentum, and with stiff springs free fall would set in only after hundreds of steps. So each
        body that hangs on nothing given gets the rigid motion that its momentum and angular momentum lack.
        """
        model, h, n = self.model, self.substep_time, self.model.vertex_count
        change, damped, earlier = np.zeros((n, 3)), force[:n].copy(), before.velocity_change
        add_spring_damping(before.velocities, model.edges, model.chunks, h, damped)
        damped[model.pinned] = 0.0
        if self.method == "IMPLICIT_KANG":
            kang_change(
                damped, earlier, model.vertex_mass, self._stiffness, model.edges, model.chunks, h, change
            )  # fmt: skip
        else:
            mesit_change(damped, earlier, model.vertex_mass, self._stiffness, model.chunks, h, change)
        lack = h * force[:n] / model.vertex_mass[:, None] - change
        x, rows = before.positions, self._motion
        rigid_motions(x, lack, model.vertex_mass, model.body_point_start, rows)
        own = self._vertex_body
        rigid = rows[own, 3:6] + np.cross(rows[own, 6:9], x[:n] - rows[own, :3])
        change += np.where(self._has_pins[own, None], 0.0, rigid)
        self._planes.hold(change)
        change[model.pinned] = 0.0
        return change

    def _check(self, moves: FloatArray, v: FloatArray, gas: FloatArray) -> None:
        """Raise `Diverged` for the first body whose vertices run away from each other."""
        model = self.model
        for body in range(model.membrane_count):
            own = slice(model.body_point_start[body], model.body_point_start[body + 1])
            part = moves[own]
            if np.isfinite(part).all() and np.isfinite(v[own]).all():
                apart = part - part[0]
                if np.abs(apart).max() <= RUNAWAY * self._size[body]:
                    continue
            stable = stable_time(model, self._forces, self.method, gas)
            raise Diverged(body, "grows beyond all bounds", stable)

    # --- with contacts --------------------------------------------------------------------------------------------

    def _settle(
        self, before: State, after: State, motion: Motion, share: float, moves: FloatArray, v: FloatArray
    ) -> None:
        """From the step without contacts to the one with them, into `after`.

        `moves` and `v` as `_free_step` gives them.
        """
        model, h, n, near = self.model, self.substep_time, self.model.vertex_count, self._surroundings
        x0, start = before.positions.copy(), before.rigid
        target = motion.positions(share + h / motion.frame_time)
        given = np.zeros_like(x0)
        given[motion.points] = target - x0[motion.points]
        velocity: FloatArray = start.velocity + h * model.gravity
        velocity += v[n::2] / model.rigid.mass[:, None]
        rigid = RigidMotion(start.pose, velocity, start.angular_momentum + v[n + 1 :: 2])
        flown = self._flown(start, moves[n:], h)
        steps_between(start.pose, flown, moves[n:])
        if self._particles is not None:
            rigid = self._particles.answer(x0, start.pose, near, moves, v, rigid, h)
            after.particles = self._particles.features

        x, poses = x0.copy(), start.pose.copy()
        ahead = near.place(x0, poses, moves) + given
        ahead[motion.points] = target
        near.cover(x0, ahead)
        if len(motion.points):
            near.carry(x, poses, motion.points, target)
            moves[:n][model.pinned] = 0.0
            moves[:n] = left_over(moves[:n], x[:n] - x0[:n] - given[:n])
            moves[n::2] = left_over(moves[n::2], poses[:, :3] - start.pose[:, :3])
            near.cover(x, near.place(x, poses, moves))
        contacts, mobility, free_moves = near.contacts, near.mobility, moves.copy()
        for attempt in range(SEARCHES):
            near.look(x, poses)
            moves[:] = free_moves
            self._impulses.correct_moves(x, given, contacts, mobility, moves)
            self._planes.hold(moves)
            # contacts may push farther than was searched
            if attempt == SEARCHES - 1 or not near.cover(x, near.place(x, poses, moves)):
                break
        near.bound(x, poses, moves)

        rows_before = velocity_rows(before.velocities[:n], start, mobility)
        rows = velocity_rows(v[:n], rigid, mobility)
        speeds = motion.velocities
        rows[:n][model.pinned] = self._pin_speeds(motion)
        before_given = before.velocities
        after_given = before_given.copy()
        after_given[motion.points] = speeds
        free = rows.copy()
        self._impulses.correct_velocities(contacts, mobility, after_given, before_given, rows, rows_before, h)
        self._planes.hold(rows)
        after.positions[:] = near.place(x, poses, moves)
        after.positions[motion.points] = target
        after.velocities[:n] = rows[:n]
        after.rigid = self._pushed(rigid, near.moved_poses(poses, moves), rows[n:] - free[n:])
        after.touching[:] = self._impulses.touching(contacts)
        if self._particles is not None:
            after.touching |= self._particles.touching
        after.wrong_side = near.wrong_side()

    def _bounce(self, after: State, motion: Motion, share: float) -> None:
        """Bounciness of bodies with a skin, once in a while: their contacts chatter, so a single step tells little."""
        contacts, near, h = self._surroundings.contacts, self._surroundings, self.substep_time
        if contacts.count:
            self._pairs.add(contacts, near.searches, after.positions, self._impulses.skin_push(contacts) / h, h)
        number = round(share * motion.frame_time / h) + 1
        self._unbraked += 1
        if number % self._braking_steps and number < round(motion.frame_time / h):
            return
        count, known = contacts.count, after.approach
        touched = (contacts.gap[:count] < contacts.thickness[:count]).astype(float)
        self._losses.bounce(contacts, touched, self._pairs, after, self._unbraked * h)
        after.approach = kept_approach(known, after.approach, contacts, touched > 0.0, self.model.body_count)
        self._pairs.clear()
        self._unbraked = 0

    def _pin_speeds(self, motion: Motion) -> FloatArray:
        """Velocities of the pinned vertices [m/s], which come first among the given points."""
        return motion.velocities[: int(np.count_nonzero(self.model.pinned))]

    def _pushed(self, rigid: RigidMotion, poses: FloatArray, change: FloatArray) -> RigidMotion:
        """Rigid motion in new poses after its velocities and angular velocities have changed by the rows of `change`.

        The impulses acted where the step began: that orientation turns them into angular momentum.
        """
        count = self.model.rigid_count
        inertia = np.empty((count, 3, 3))
        turned_tensors(rigid.pose, self.model.rigid.inertia, inertia)
        turn = np.einsum("bij,bj->bi", inertia, change[1::2])
        momentum: FloatArray = rigid.angular_momentum + turn
        velocity: FloatArray = rigid.velocity + change[::2]
        return RigidMotion(poses, velocity, momentum)

    def _set_given_velocities(self, state: State, motion: Motion) -> None:
        """Velocities of what follows from others: of given points, and of the rigid bodies' points."""
        model = self.model
        state.velocities[motion.points] = motion.velocities
        if model.rigid_count:
            points = slice(model.vertex_count, model.moving_point_count)
            inverse = np.empty((model.rigid_count, 3, 3))
            turned_tensors(state.rigid.pose, model.rigid.inverse_inertia, inverse)
            spin = np.einsum("bij,bj->bi", inverse, state.rigid.angular_momentum)
            arm = state.positions[points] - state.rigid.pose[self._owner, :3]
            state.velocities[points] = state.rigid.velocity[self._owner] + np.cross(spin[self._owner], arm)


def _particle_contacts(model: Model) -> "ParticleContacts":
    from .particle_contacts import ParticleContacts  # on first use: few look for contacts so

    return ParticleContacts(model)


def kept_approach(
    known: PairSpeeds, found: PairSpeeds, contacts: Contacts, near: BoolArray, body_count: int
) -> PairSpeeds:
    """`found`, and what was known of pairs that are still near each other though nothing has pushed them."""
    bodies = contacts.bodies[: contacts.count].astype(np.int64)[near]
    here = bodies.min(axis=1, initial=body_count) * body_count + bodies.max(axis=1, initial=0)
    kept = np.isin(known.key, here) & ~np.isin(known.key, found.key)
    key, speed = np.append(found.key, known.key[kept]), np.append(found.speed, known.speed[kept])
    order = np.argsort(key, kind="stable")
    return PairSpeeds(key[order], speed[order])
