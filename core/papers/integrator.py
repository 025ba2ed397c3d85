"""Integrators of forces, one substep at a time: the methods of the papers.

Same model, forces and rigid flight as the engine, same contacts as XPBD (`sequential/`); the integrator
differs (`schemes`, `simplified`). What it does to the positions is a velocity to the contacts, its move over the
substep; what it does to the velocities beyond that comes after them. Steps are explicit: with stiff springs or light
skins they need many substeps, and a step that is too long ends in `Diverged`, with the length that should do
(`stability`).
"""

import numpy as np

from ..array_types import FloatArray
from ..bodies.flat.plane import Planes
from ..bodies.rigid.motion import place_points, steps_between, turned_tensors
from ..errors import Diverged
from ..options import MethodOptions
from ..solvers.explicit.arrays import RESUMES, STEP
from ..solvers.explicit.workspace import Workspace
from ..solvers.kinematics import Motion
from ..solvers.rigid_motion import rigid_motions
from ..solvers.sequential.contact_phase import AT_SEARCH, ContactPhase, begin, finish
from ..solvers.sequential.solver import Integrator
from ..state import RigidMotion, State
from .circles import Circles
from .flight import fly
from .forces import SoftForces
from .particle_contacts import ParticleContacts
from .reflection import Reflection
from .schemes import SCHEMES
from .simplified import add_spring_damping, kang_change, mesit_change, stiffness_at_vertices
from .stability import stable_time

#: A vertex that moves in one step by more than this share of its body's mean edge, apart from the body, has run away:
#: no wave in a stable step does, and soon everything may touch everything, which takes a search minutes.
RUNAWAY = 1.0


class ForceBased(Integrator):
    """The integrator of one of `choice.FORCE_BASED`."""

    def __init__(
        self, method: str, options: MethodOptions, space: Workspace, phase: ContactPhase, substep_time: float
    ) -> None:
        super().__init__(space, phase, substep_time)
        model, n = space.model, space.model.vertex_count
        self.method, self.phase = method, phase
        self._scheme = SCHEMES.get(method)
        damped = {"SIMPLIFIED": self._scheme is None, "ALL": True, "NONE": False}
        self._damps_neighbours = damped[options.neighbour_damping]
        self._forces = SoftForces(model, options)
        self._planes, self._circles = Planes(model), Circles(model) if len(model.circles.points) else None
        self._restores_momentum = options.restore_momentum
        self._particles: ParticleContacts | None = None
        self._reflection: Reflection | None = None
        if options.detection == "FEATURE_PARTICLES":
            self._particles = ParticleContacts(model, options)
            self.answers[: model.moving_count, : model.moving_count] = True
            np.fill_diagonal(self.answers, False)
        if options.collider_rule == "REFLECTION":
            self._reflection = Reflection(model)
            self.answers |= self._reflection.pairs
        self._owner = model.point_body[n : model.moving_point_count] - model.membrane_count
        self._vertex_body = model.point_body[:n]
        self._stiffness = stiffness_at_vertices(model.edges, n)
        self._edge = space.contact.run.scale[: model.membrane_count, 1]  # mean edge [m]
        self._has_pins = np.logical_or.reduceat(model.pinned, model.body_point_start[: model.membrane_count])
        self._still = np.zeros((model.membrane_count, 16))  # scratch, see `bodies.rigid.motion`
        self._change = np.zeros(n)  # size of each vertex's change of velocity in the last substep [m/s]

    def start_frame(self, state: State) -> None:
        """See `Integrator`."""
        if self._particles is not None:
            self._particles.start(state.particles)

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`."""
        self._forces.take_rest_lengths()

    def end(self, after: State) -> None:
        """See `Integrator`."""
        after.velocity_change = self._change
        particles, reflection = self._particles, self._reflection
        self.answered = 0 if reflection is None else reflection.count
        if particles is not None:
            after.particles = particles.search.features.copy()
            self.answered, self.found = self.answered + particles.pressed, particles.search.count
        self.space.counts.stages = self._forces.evaluations

    def begin(
        self, before: State, motion: Motion, share: float, gas: FloatArray, count: int, load: FloatArray | None
    ) -> None:
        """See `Integrator`."""
        self._change, self._load = before.velocity_change, load
        self._motion, self._share = motion, share
        self._gas, self._gas_step = before.gas.copy(), (gas - before.gas) / count

    def advance(self, phase: ContactPhase, count: int) -> None:
        """See `Integrator`."""
        self.phase, space, h, gravity = phase, self.space, self.substep_time, self.model.gravity
        state, rigid = phase.contact.run.state, phase.contact.rigid
        while state[STEP] < count:
            x, y = (space.x, space.y) if state[STEP] % 2 == 0 else (space.y, space.x)
            y_rows, velocity_rows = y.reshape(-1, 4), space.rows[2]
            if state[RESUMES] != AT_SEARCH:
                start = RigidMotion(rigid.pose.copy(), rigid.velocity.copy(), rigid.momentum.copy())
                if not begin(phase, x, space.v, gravity, h):
                    return
                # what runs away is noticed by what comes out
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                    self._foresee(x.reshape(-1, 4), start, int(state[STEP]))
            if not finish(phase, x, y, space.v, y_rows, velocity_rows, gravity, h, count, self.loss_steps, True):
                return
            if self._particles is not None:
                phase.touching[:] |= self._particles.touching

    # --- without contacts -----------------------------------------------------------------------------------------

    def _foresee(self, x_rows: FloatArray, rigid: RigidMotion, number: int) -> None:
        """Velocities that move everything in substep `number` of a run, and what they are beyond those at its end.

        `rigid`: motion of the rigid bodies at its start.
        """
        model, h, n, phase = self.model, self.substep_time, self.model.vertex_count, self.phase
        place, velocity_rows = self.space.numbering.place, self.space.rows[2]
        x, v0 = x_rows[place, :3], velocity_rows[place[:n], :3]
        share = self._share + number * h / self._motion.frame_time
        gas = self._gas + number * self._gas_step
        moves, v = self._free_step(x, v0, rigid, share, gas)
        self._check(moves, v, gas + self._gas_step, number)
        if self._circles is not None:
            self._circles.keep_apart(x, self.inverse_mass, moves, v, v0, h)
        if self._reflection is not None:
            end = x.copy()
            end[self._motion.points] = self._motion.positions(share + h / self._motion.frame_time)
            self._reflection.reflect(x, end, moves[:n], v[:n], h)
            self._planes.hold(moves)
            self._planes.hold(v)
        moving, late = phase.contact.rigid, phase.late
        mass = model.rigid.mass[:, None]
        moving.velocity[:] += moves[n::2] / mass
        moving.momentum[:] += moves[n + 1 :: 2]
        late.rigid[:, :3] += (v[n::2] - moves[n::2]) / mass
        late.rigid[:, 3:] += v[n + 1 :: 2] - moves[n + 1 :: 2]
        if self._particles is not None:
            self._meet_particles(self._particles, x, rigid, moves, v)
        way = moves[:n] / h
        velocity_rows[place[:n], :3] = way
        late.points.reshape(-1, 4)[place[:n], :3] = v[:n] - way

    def _meet_particles(
        self, particles: ParticleContacts, x: FloatArray, start: RigidMotion, moves: FloatArray, v: FloatArray
    ) -> None:
        """Let contacts that particles find change a substep from x; moves and velocities of the vertices in place."""
        model, h, n, late = self.model, self.substep_time, self.model.vertex_count, self.phase.late.rigid
        moving = self.phase.contact.rigid
        poses = start.pose
        steps_between(poses, fly(poses, moving.velocity, moving.momentum, model.rigid, h), moves[n:])
        free = moves[n:].copy()
        motion = RigidMotion(poses, moving.velocity + late[:, :3], moving.momentum + late[:, 3:])
        pushed = particles.answer(x, poses, moves, v, motion, h)
        inertia = np.empty((model.rigid_count, 3, 3))
        turned_tensors(poses, model.rigid.inertia, inertia)
        shift = (moves[n:] - free) / h
        turn = np.einsum("bij,bj->bi", inertia, shift[1::2])
        moving.velocity[:] += shift[::2]
        moving.momentum[:] += turn
        late[:, :3] += pushed.velocity - motion.velocity - shift[::2]
        late[:, 3:] += pushed.angular_momentum - motion.angular_momentum - turn

    def _free_step(
        self, x: FloatArray, v0: FloatArray, rigid: RigidMotion, share: float, gas: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Moves [m] and velocities [m/s] of the vertices, both of shape (unknown_count, 3).

        Below them the impulses of attachments on the rigid bodies [N s, N m s]: those that act on the way, and all.
        The substep starts from positions x of all points and velocities v0 of the vertices, with nRT = `gas` [J], when
        the part `share` of the frame is over.
        """
        model, h, n = self.model, self.substep_time, self.model.vertex_count
        moves, v = np.zeros((model.unknown_count, 3)), np.zeros((model.unknown_count, 3))
        v[:n] = v0
        if self._scheme is None:
            force = self._force_at(x, rigid, share, gas, 0.0, np.zeros_like(moves), v0)
            change = self._simplified_change(x, v0, force)
            v[:n] += change
            v[n:] = h * force[n:]
            moves[:n] = h * v[:n]
            moves[n:] = v[n:]
            self._change = np.sqrt(np.einsum("ij,ij->i", change, change))
            return moves, v
        scheme, forces = self._scheme, list[FloatArray]()
        per_mass = np.ones((model.unknown_count, 1))
        per_mass[:n, 0] = h / model.vertex_mass
        has_dampers = self._forces.has_dampers or self._damps_neighbours
        for node, weights, speed_weights in zip(scheme.nodes, scheme.stages, scheme.speeds, strict=True):
            stage, speed = np.zeros_like(moves), v0.copy()
            stage[:n] = node * h * v0
            for weight, speed_weight, force in zip(weights, speed_weights, forces, strict=True):
                stage += (weight * h) * per_mass * force
                if has_dampers:
                    speed += speed_weight * per_mass[:n] * force[:n]
            force = self._force_at(x, rigid, share, gas, node, stage, speed)
            if self._damps_neighbours:
                self._damp_neighbours(speed, force)
            forces.append(force)
        moves[:n] = h * v0
        for weight, speed_weight, force in zip(scheme.position, scheme.velocity, forces, strict=True):
            moves += (weight * h) * per_mass * force
            v[:n] += speed_weight * per_mass[:n] * force[:n]
            v[n:] += (speed_weight * h) * force[n:]
        return moves, v

    def _force_at(
        self, x: FloatArray, rigid: RigidMotion, share: float, gas: FloatArray, node: float, stage: FloatArray,
        speed: FloatArray,
    ) -> FloatArray:  # fmt: skip
        """Forces [N], torques [N m] in a stage, shape (unknown_count, 3).

        `node` of the step is over, the vertices have gone the moves [m] of `stage` and have the velocities `speed`
        [m/s], and the impulses below them, over `node`, have acted on the rigid bodies. Given points are where they are
        given.
        """
        model, n, h = self.model, self.model.vertex_count, self.substep_time
        x = x.copy()
        x[:n] += stage[:n]
        poses, motion = rigid.pose, self._motion
        if node > 0.0:
            x[motion.points] = motion.positions(share + node * h / motion.frame_time)
        if self._forces.pulls_rigid:
            if node > 0.0:
                poses = self._flown(rigid, stage[n:] / node, node * h)
            place_points(poses, model.rigid.arm, model.rigid.point_start, x)
        force = np.zeros((model.unknown_count, 3))
        arm = x[n : model.moving_point_count] - poses[self._owner, :3]
        self._forces.evaluate(x, gas + node * self._gas_step, arm, force, speed)
        if self._load is not None:
            force[:n] += self._load
        return force

    def _damp_neighbours(self, v: FloatArray, force: FloatArray) -> None:
        """Add eq. 12 of Mesit 2007 to the forces [N] on the vertices, of velocities v [m/s]."""
        add_spring_damping(v, self.model.edges, self.substep_time, force)
        force[: self.model.vertex_count][self.model.pinned] = 0.0

    def _flown(self, rigid: RigidMotion, impulses: FloatArray, time: float) -> FloatArray:
        """Poses after a time [s] of free flight and gravity with impulses [N s, N m s] that act from the start."""
        velocity = rigid.velocity + 0.5 * time * self.model.rigid.falls[:, None] * self.model.gravity
        velocity += impulses[::2] / self.model.rigid.mass[:, None]
        return fly(rigid.pose, velocity, rigid.angular_momentum + impulses[1::2], self.model.rigid, time)

    def _simplified_change(self, x: FloatArray, v0: FloatArray, force: FloatArray) -> FloatArray:
        """Change of velocity [m/s] by eq. 21 or 24 of Mesit 2007, shape (vertex_count, 3).

        Neither keeps momentum, and with stiff springs free fall would set in only after hundreds of steps. So with
        `restore_momentum`, which the paper does not have, each body that hangs on nothing given gets the rigid motion
        that its momentum and angular momentum lack.
        """
        model, h, n = self.model, self.substep_time, self.model.vertex_count
        change, damped, earlier = np.zeros((n, 3)), force[:n].copy(), self._change
        if self._damps_neighbours:
            self._damp_neighbours(v0, damped)
        if self.method == "IMPLICIT_KANG":
            kang_change(
                damped, earlier, model.vertex_mass, self._stiffness, model.edges, h, change
            )  # fmt: skip
        else:
            mesit_change(damped, earlier, model.vertex_mass, self._stiffness, h, change)
        if self._restores_momentum:
            lack = h * force[:n] / model.vertex_mass[:, None] - change
            rows, own = self._still, self._vertex_body
            rigid_motions(x, lack, model.vertex_mass, model.body_point_start, rows)
            rigid = rows[own, 3:6] + np.cross(rows[own, 6:9], x[:n] - rows[own, :3])
            change += np.where(self._has_pins[own, None], 0.0, rigid)
        self._planes.hold(change)
        change[model.pinned] = 0.0
        return change

    def _check(self, moves: FloatArray, v: FloatArray, gas: FloatArray, number: int) -> None:
        """Raise `Diverged` for the first body whose vertices run away from each other in substep `number` of a run."""
        model = self.model
        for body in range(model.membrane_count):
            own = slice(model.body_point_start[body], model.body_point_start[body + 1])
            part = moves[own]
            if np.isfinite(part).all() and np.isfinite(v[own]).all():
                apart = part - part[0]
                if np.abs(apart).max() <= RUNAWAY * self._edge[body]:
                    continue
            stable = stable_time(model, self._forces, self.method, gas, self._damps_neighbours)
            raise Diverged(body, "grows beyond all bounds", stable, number)
