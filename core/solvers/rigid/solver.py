"""Scenes of rigid bodies alone: no stiff skin asks for an implicit step, so impulses at the contacts are enough.

One step is a leapfrog: half of gravity's velocity before the move, half after it, so that free flight is exact; what
touches something gets the whole of it before, since its contacts answer it at once.
"""

import math

import numpy as np

from ...collide.manifolds import ManifoldSearch
from ...errors import ParameterError
from ...model import BoolArray, FloatArray, Model
from ...options import DEFAULTS, MethodOptions
from ...rigid.convex import ConvexShapes
from ...rigid.flight import fly
from ...rigid.motion import place_points, set_matrices, turned_tensors
from ...state import HeldImpulses, RigidMotion, State
from ..counts import Counts
from ..fixed_steps import FixedSteps
from ..given import Motion
from ..step_damping import StepDamping
from .colliders import ColliderContacts
from .impulses import bounce, move_rows, solve, start_impulses
from .rows import Solids, given_rows, manifold_rows, new_rows
from .sleep import find_islands, settle

#: Sweeps that push apart, before the bodies are moved, and sweeps without the push after it: with fewer, stacks of ten
#: boxes sway for seconds.
SWEEPS = 6
RELAXATIONS = 5
#: In impacts there are more, up to so many, until a sweep moves nothing by more than this share of its thickness.
MOST_SWEEPS = 100
ENOUGH = 0.1
#: What is too near is pushed apart by at most this many radii per second.
PUSH = 2.0
#: What approaches by less than gravity adds in this many steps lies there and does not bounce.
RESTING_STEPS = 4.0
#: Impulses go over to contact points within this share of the body's radius.
SAME_POINT = 0.1


class RigidSolver(FixedSteps):
    """Advances rigid bodies by substeps of `substep_time` [s]; `shapes` must all be simple."""

    def __init__(
        self, model: Model, substep_time: float, shapes: ConvexShapes, options: MethodOptions = DEFAULTS
    ) -> None:
        if not (math.isfinite(substep_time) and substep_time > 0.0):
            raise ParameterError(f"substep: {substep_time} s; give a positive time.")
        self.model, self.substep_time, self.counts = model, substep_time, Counts()
        count = model.rigid_count
        self._step_damping = StepDamping(model, options.stiffest_spring) if options.step_damping else None
        self._pairs = ManifoldSearch(model, shapes)
        self._colliders = ColliderContacts(model, substep_time, self.counts)
        self._rows = new_rows(1024)
        self._local = np.zeros((1024, 3))
        self._count = 0  # rows in use
        self._first_given = 0  # rows from here on are with colliders
        self._matrices = np.zeros((count, 3, 3))
        self._inverse = np.zeros((count, 3, 3))
        self._inertia = np.zeros((count, 3, 3))
        self._island = np.zeros(count, np.int32)

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last substep."""
        return int(np.count_nonzero(self._rows.impulse[: self._count, 0]))

    @property
    def candidate_count(self) -> int:
        """Rows that impulses were sought for in the last substep."""
        return self._count

    def untangle(self, state: State) -> int:
        """Note in the state which points are behind a collider's surface; returns how many triangles cross."""
        crossing = self._colliders.untangle(state.positions)
        state.wrong_side = self._colliders.wrong_side()
        return crossing

    def start_frame(self, state: State) -> None:
        """Forget what was found on the way to a state, so that a run continued from it has the same bits."""
        self._pairs.start(state.held)
        self._colliders.start(state)

    def substep(self, before: State, after: State, motion: Motion, share: float, gas: FloatArray) -> None:
        """One substep from `before` to `after`, which may be the same object."""
        model, h, rigid = self.model, self.substep_time, before.rigid
        x, v = before.positions.copy(), before.velocities.copy()
        if len(motion.points):
            x[motion.points], v[motion.points] = motion.positions(share), motion.velocities
        set_matrices(rigid.pose, self._matrices)
        turned_tensors(rigid.pose, model.rigid.inverse_inertia, self._inverse)
        turned_tensors(rigid.pose, model.rigid.inertia, self._inertia)
        spin = np.einsum("bij,bj->bi", self._inverse, rigid.angular_momentum)
        speed = np.sqrt(np.einsum("bi,bi->b", rigid.velocity, rigid.velocity))
        speed += model.rigid.radius * np.sqrt(np.einsum("bi,bi->b", spin, spin))
        fall = h * model.gravity
        kick = np.where(before.touching[model.membrane_count :, None], 1.0, 0.5) * fall
        velocity = rigid.velocity + kick
        manifolds = self._pairs.update(rigid.pose, self._matrices, velocity, spin, h)
        supported, shaken = self._colliders.meet(x, v, speed)
        find_islands(manifolds.pair, manifolds.count, self._island)
        awake = np.ones(model.rigid_count, dtype=bool)
        still_pose, still_time = before.still_pose.copy(), before.still_time.copy()
        settle(self._island, rigid.pose, model.rigid.radius, supported, shaken, h, still_pose, still_time, awake)
        velocity[~awake], spin[~awake] = 0.0, 0.0
        solids = Solids(
            velocity, spin, np.where(awake, 1.0 / model.rigid.mass, 0.0), self._inverse * awake[:, None, None],
            model.rigid.radius, awake,
        )  # fmt: skip
        self._set_rows(solids, rigid.pose, x, v, before.held)
        if awake.any():
            after.rigid = self._move(rigid, solids, fall - kick)
        else:
            after.rigid = RigidMotion(rigid.pose, velocity, np.zeros_like(velocity))
        touching = ~awake
        pressing = self._rows.body[: self._count][self._rows.impulse[: self._count, 0] > 0.0]
        touching[pressing[pressing >= 0]] = True
        after.touching[model.membrane_count :] = touching
        after.still_pose, after.still_time = still_pose, still_time
        after.held = self._impulses_held(awake, before.held)
        after.gas[:] = gas
        after.wrong_side = self._colliders.wrong_side()
        if self._step_damping is not None:
            self._step_damping.apply(after, h)
        self._place(after, x, v, motion, share + h / motion.frame_time)

    def _move(self, rigid: RigidMotion, solids: Solids, rest_of_fall: FloatArray) -> RigidMotion:
        """Find the impulses and move the bodies with them."""
        rows, count, h, of = self._rows, self._count, self.substep_time, self.model.rigid
        before = solids.spin.copy()
        start_impulses(count, rows, solids)
        self.counts.sweeps += solve(count, rows, solids, h, True, SWEEPS, MOST_SWEEPS, ENOUGH)
        pose = fly(rigid.pose, solids.velocity, self._momentum(rigid, solids, before), of, h)
        move_rows(count, rows, solids, h)
        solids.velocity[:] += rest_of_fall * solids.awake[:, None]
        self.counts.sweeps += solve(count, rows, solids, h, False, RELAXATIONS, MOST_SWEEPS, ENOUGH)
        bounce(count, rows, solids, RESTING_STEPS * h * float(np.linalg.norm(self.model.gravity)))
        self.counts.stages += 1
        return RigidMotion(
            pose,
            solids.velocity * np.exp(-h * of.linear_damping)[:, None],
            self._momentum(rigid, solids, before) * np.exp(-h * of.angular_damping)[:, None],
        )

    def _momentum(self, rigid: RigidMotion, solids: Solids, spin_before: FloatArray) -> FloatArray:
        """Angular momentum [kg m^2/s] after the impulses."""
        momentum = rigid.angular_momentum + np.einsum("bij,bj->bi", self._inertia, solids.spin - spin_before)
        momentum[~solids.awake] = 0.0
        return np.asarray(momentum)

    def _set_rows(self, solids: Solids, poses: FloatArray, x: FloatArray, v: FloatArray, held: HeldImpulses) -> None:
        """Collect the contacts that impulses are sought for."""
        model, contacts, m = self.model, self._colliders.contacts, self._pairs.manifolds
        bodies = slice(model.membrane_count, model.moving_count)
        start = np.searchsorted(held.body, np.arange(model.rigid_count + 1))
        while True:
            count = self._first_given = manifold_rows(
                m.pair, m.count, m.owner, m.anchor, m.normal, m.impulse, m.reach, poses, self._matrices,
                model.thickness[bodies], model.friction[bodies], model.bounciness[bodies], solids, PUSH, self._rows,
            )  # fmt: skip
            if contacts.count:
                count = given_rows(
                    count, contacts.count, contacts.points, contacts.weights, contacts.normal, contacts.gap,
                    contacts.side, contacts.bodies, contacts.thickness, self._colliders.speculation, x, v,
                    model.membrane_count, model.moving_count, poses, self._matrices, model.friction, model.bounciness,
                    start, held.anchor.copy(), held.impulse, SAME_POINT * model.rigid.radius, solids, PUSH, self._rows,
                    self._local,
                )  # fmt: skip
            if count <= len(self._local):
                break
            self._rows, self._local = new_rows(count + count // 2), np.zeros((count + count // 2, 3))
        self._count = count

    def _impulses_held(self, awake: BoolArray, before: HeldImpulses) -> HeldImpulses:
        """What the contacts carry, for the next step and for the state."""
        rows, given, m = self._rows, slice(self._first_given, self._count), self._pairs.manifolds
        carried = np.einsum("rk,rki->ri", rows.impulse[: self._count], rows.axes[: self._count])
        source = rows.source[: self._first_given]
        m.impulse[source[:, 0], source[:, 1]] = carried[: self._first_given]
        # what sleeps keeps what it carried
        asleep = ~awake[before.body]
        body = np.concatenate([rows.body[given, 0], before.body[asleep]])
        order = np.argsort(body, kind="stable")
        anchor = np.concatenate([self._local[given], before.anchor[asleep]])
        impulse = np.concatenate([carried[given], before.impulse[asleep]])
        return HeldImpulses(*self._pairs.held(), body[order], anchor[order], impulse[order])

    def _place(self, state: State, x: FloatArray, v: FloatArray, motion: Motion, share: float) -> None:
        """Positions and velocities of all points."""
        model = self.model
        if len(motion.points):
            x[motion.points] = motion.positions(share)
        place_points(state.rigid.pose, model.rigid.arm, model.rigid.point_start, x)
        turned_tensors(state.rigid.pose, model.rigid.inverse_inertia, self._inverse)
        spin = np.einsum("bij,bj->bi", self._inverse, state.rigid.angular_momentum)
        points = slice(model.vertex_count, model.moving_point_count)
        owner = model.point_body[points] - model.membrane_count
        arm = x[points] - state.rigid.pose[owner, :3]
        v[points] = state.rigid.velocity[owner] + np.cross(spin[owner], arm)
        state.positions[:], state.velocities[:] = x, v
