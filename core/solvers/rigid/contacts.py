"""All contacts of simple rigid bodies in a step, as rows for the impulse solver; which of the bodies sleep.

Pairs of bodies have manifolds, contacts with colliders come from the contact set. Each keeps its impulse for the next
step to start from.
"""

import math
from typing import NamedTuple

import numpy as np

from ...bodies.rigid.convex import ConvexShapes
from ...bodies.rigid.motion import set_matrices, turned_tensors
from ...contact.narrow_phase.manifolds import ManifoldSearch
from ...jit import kernel
from ...model import BoolArray, FloatArray, IntArray, Model
from ...state import HeldImpulses, RigidMotion, State
from ..counts import Counts
from .bodies import fall_asleep, place_awake, place_bodies, spins_of, start_bodies
from .colliders import ColliderContacts
from .rows import (
    GivenContacts,
    HeldContacts,
    Scene,
    Solids,
    given_rows,
    keep_impulses,
    manifold_rows,
    new_rows,
    share_room,
)
from .sleep import STILL_TIME, fastest_near, find_islands, settle

#: Sweeps end when one moves no body by more than this share of the bodies' way in the step, within bounds in units of
#: the thickness. Bodies almost at rest need the most sweeps: with fewer, stacks of ten boxes sway for seconds.
CARE, PRECISE, ENOUGH = 0.01, 0.001, 0.1
#: Largest speed at which penetrations are pushed apart, in radii per second.
PUSH = 2.0
#: Impulses go over to contact points within this share of the body's radius.
SAME_POINT = 0.1


class Support(NamedTuple):
    """What holds rigid bodies besides contacts with each other and with colliders, for their sleep."""

    holds: BoolArray  # whether a body rests on something that is still, shape (rigid_count,)
    shakes: BoolArray  # whether something touches it that is not
    speed: FloatArray  # that other forces may give it in a step [m/s]


class RigidContacts:
    """The contacts of a model's simple rigid bodies; others take no part."""

    def __init__(self, model: Model, step_time: float, shapes: ConvexShapes, counts: Counts) -> None:
        """`step_time` [s]: see `take_step_time`."""
        count = model.rigid_count
        self.model, self.step_time = model, step_time
        self.pairs = ManifoldSearch(model, shapes)
        self.colliders = ColliderContacts(model, step_time, counts)
        self.rows = new_rows(1024)
        self.count = 0  # rows in use
        self.first_given = 0  # rows from here on are with colliders
        self.solids = Solids(
            np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count), np.zeros((count, 3, 3)), model.rigid.radius,
            np.ones(count, dtype=bool),
        )  # fmt: skip
        self.matrices = np.zeros((count, 3, 3))  # of the poses now
        self.inverse = np.zeros((count, 3, 3))  # inertia, in world axes
        self.speed = np.zeros(count)  # of each body's fastest point, where the step begins [m/s]
        self.resting = np.zeros(count, dtype=bool)  # bodies that slept in the last step
        self.island = np.zeros(count, np.int32)  # of each body, see `find_islands`
        self._left_out = ~shapes.simple
        self._thickness = model.thickness[model.membrane_count : model.moving_count]
        self._spin = np.zeros((count, 3))
        self._local = np.zeros((1024, 3))
        self._given = _Given(np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 3)))
        self._unsupported = Support(np.zeros(count, dtype=bool), np.zeros(count, dtype=bool), np.zeros(count))
        self._is_new = True  # nothing is known yet about the state

    def start_frame(self, state: State) -> None:
        """Forget what was found on the way to a state, so that a run continued from it has the same bits."""
        self._is_new = True
        rigid = state.rigid
        moves = (rigid.velocity != 0.0).any(axis=1) | (rigid.angular_momentum != 0.0).any(axis=1)
        self.resting = self._left_out | (~moves & (state.still_time >= STILL_TIME))

    def start_from(self, state: State) -> None:
        """Begin from a state, unless that was done since `start_frame`."""
        if not self._is_new:
            return
        rigid, model = state.rigid, self.model.rigid
        self.pairs.start(state.held)
        self.colliders.start(state)
        set_matrices(rigid.pose, self.matrices)
        turned_tensors(rigid.pose, model.inverse_inertia, self.inverse)
        self._given = _Given(state.held.body, state.held.anchor, state.held.impulse)
        self._is_new = False

    def take_step_time(self, step_time: float) -> None:
        """Take steps of another length [s] from now on: the same forces give other impulses."""
        if abs(step_time - self.step_time) <= 1e-9 * step_time:
            return
        ratio = step_time / self.step_time
        self.pairs.manifolds.impulse *= ratio
        self._given = self._given._replace(impulse=ratio * self._given.impulse)
        self.step_time = self.colliders.step_time = step_time

    def held(self) -> HeldImpulses:
        """The impulses of the last step."""
        return HeldImpulses(*self.pairs.held(), self._given.body, self._given.anchor, self._given.impulse)

    def bodies_of_rows(self) -> IntArray:
        """Numbers of both bodies of each row, as in the model, shape (row_count, 2)."""
        bodies: IntArray = self.rows.body[: self.count] + self.model.membrane_count
        given = slice(self.first_given, self.count)
        record = self.rows.source[given, 1]
        bodies[given, 1] = self.colliders.contacts.bodies[record].max(axis=1)
        return bodies

    def find(
        self,
        state: State,
        rigid: RigidMotion,
        touching: BoolArray,
        x: FloatArray,
        v: FloatArray,
        given: float,
        support: Support | None = None,
    ) -> BoolArray:
        """Find the rows of a step and the velocities before its impulses; returns which bodies are awake.

        state: of which times and poses of rest change; touching: bodies that get all of gravity's velocity before the
        move, shape (rigid_count,); x, v: of all points [m, m/s]; given: speed of the colliders' fastest point [m/s].
        """
        awake = self._wake(state, rigid, touching, x, v, given, support or self._unsupported)
        of, solids = self.model.rigid, self.solids
        fall_asleep(
            awake, of.mass, solids.velocity, solids.spin, self.inverse, solids.inverse_mass, solids.inverse_inertia
        )
        self._set_rows(rigid.pose, x, v)
        return awake

    def _wake(
        self, state: State, rigid: RigidMotion, touching: BoolArray, x: FloatArray, v: FloatArray, given: float,
        support: Support,
    ) -> BoolArray:  # fmt: skip
        """Update pairs and islands, wake bodies, and set their velocities before the impulses."""
        model, h, solids = self.model, self.step_time, self.solids
        fall = h * model.gravity
        still_pose, still_time = state.still_pose.copy(), state.still_time.copy()
        awake = solids.awake
        while True:
            start_bodies(
                self.resting, rigid.velocity, rigid.angular_momentum, self.inverse, model.rigid.radius, touching,
                fall, solids.velocity, solids.spin, self.speed,
            )  # fmt: skip
            fastest = self.speed + support.speed
            falling = fastest + math.sqrt(fall @ fall)
            manifolds = self.pairs.update(
                rigid.pose, self.matrices, solids.velocity, solids.spin, falling, self.resting, h
            )
            find_islands(manifolds.pair, manifolds.count, self.island)
            quick = fastest_near(self.island, fastest)
            supported, shaken = self.colliders.meet(x, v, quick, self.resting, given)
            supported |= support.holds
            shaken |= support.shakes
            state.still_pose[:], state.still_time[:] = still_pose, still_time
            settle(
                self.island, rigid.pose, model.rigid.radius, supported, shaken, h, state.still_pose, state.still_time,
                awake,
            )  # fmt: skip
            awake &= ~self._left_out
            if not (self.resting & awake).any():
                return awake
            self.resting &= ~awake  # bodies that wake may be near pairs that were skipped

    def _set_rows(self, poses: FloatArray, x: FloatArray, v: FloatArray) -> None:
        """Collect the contacts as rows."""
        model, solids, c, m = self.model, self.solids, self.colliders.contacts, self.pairs.manifolds
        bodies = slice(model.membrane_count, model.moving_count)
        given = GivenContacts(
            c.count, c.points, c.weights, c.normal, c.gap, c.side, c.bodies, c.thickness, self.colliders.speculation
        )
        scene = Scene(
            x, v, poses, self.matrices, model.friction, model.bounciness, model.membrane_count, model.moving_count
        )
        start = np.searchsorted(self._given.body, np.arange(model.rigid_count + 1))
        while True:
            count = self.first_given = manifold_rows(
                m.pair, m.count, m.owner, m.anchor, m.normal, m.impulse, m.reach, poses, self.matrices,
                model.thickness[bodies], model.friction[bodies], model.bounciness[bodies], solids, PUSH, self.rows,
            )  # fmt: skip
            if given.used:
                held = HeldContacts(
                    start, self._given.anchor.copy(), self._given.impulse, SAME_POINT * model.rigid.radius
                )
                count = given_rows(count, given, scene, held, solids, PUSH, self.rows, self._local)
            if count <= len(self._local):
                break
            self.rows, self._local = new_rows(count + count // 2), np.zeros((count + count // 2, 3))
        share_room(self.first_given, count, given.side, self.rows)
        self.count = count

    def enough(self) -> float:
        """Correction at which sweeps end, in units of the thickness."""
        mean = mean_way(self.solids.awake, self.speed, self._thickness, self.step_time)
        return min(max(CARE * mean, PRECISE), ENOUGH)

    def keep(self) -> None:
        """Store the impulses of the rows for the next step."""
        rows, awake = self.rows, self.solids.awake
        keep_impulses(self.first_given, rows.impulse, rows.axes, rows.source, self.pairs.manifolds.impulse)
        given, before = slice(self.first_given, self.count), self._given
        if given.start == given.stop and len(before.body) == 0:
            return
        carried = np.einsum("rk,rki->ri", rows.impulse[given], rows.axes[given])
        # sleeping bodies keep their impulses
        asleep = ~awake[before.body]
        body = np.concatenate([rows.body[given, 0], before.body[asleep]])
        order = np.argsort(body, kind="stable")
        anchor = np.concatenate([self._local[given], before.anchor[asleep]])
        impulse = np.concatenate([carried, before.impulse[asleep]])
        self._given = _Given(body[order], anchor[order], impulse[order])

    def place(self, rigid: RigidMotion, x: FloatArray, v: FloatArray) -> None:
        """Orientations, and positions and velocities of all points, of what was awake in this step or the last one."""
        of, awake = self.model.rigid, self.solids.awake
        resting = ~awake & self.resting
        place_bodies(resting, rigid.pose, of.inverse_inertia, self.matrices, self.inverse)
        spins_of(resting, self.inverse, rigid.angular_momentum, self._spin)
        place_awake(resting, rigid.pose, rigid.velocity, self._spin, of.arm, of.point_start, x, v)
        self.resting = ~awake


@kernel
def mean_way(awake, speed, thickness, time):
    """Root mean square of the awake bodies' ways in a time [s], each over its thickness."""
    total, count = 0.0, 0
    for body in range(awake.shape[0]):
        if awake[body]:
            total += (time * speed[body] / thickness[body]) ** 2
            count += 1
    return math.sqrt(total / max(count, 1))


class _Given(NamedTuple):
    """Impulses of the contacts with colliders, as in `HeldImpulses`."""

    body: IntArray
    anchor: FloatArray
    impulse: FloatArray
