"""Rigid bodies at their own rate: contacts among simple ones, and with colliders, are solved once per tick.

A tick of 1/240 s has three parts:
1. `begin`: impulses, started from those of the last tick, let no pair come too near in the tick (`tick_impulses.py`).
   Bodies in contact get the gravity of the tick at once, and the soft impulse that is foreseen.
2. Soft steps fly the bodies with these velocities and add what soft bodies do to them (`rigid_flight.py`).
3. `end`: impulses without the push apart, by the way that the bodies have really gone; restitution.

Where no rigid body can meet another one or a collider in the rest of a run of steps, that is one tick. A tick ends
early where a body strays from its planned flight by more than a tenth of its thickness, and where a body that sleeps
must wake. Bodies that soft ones touch keep their rigid pairs in the contact set of the steps, which limits
their motion. Bodies that are not simple have their contacts in the steps, as soft bodies have.
"""

import numpy as np

from ...array_types import FloatArray
from ...bodies.rigid.convex import ConvexShapes
from ...jit import Repeated
from ...model import Model
from ...state import RigidMotion, State
from ..counts import Counts
from ..kinematics import Motion
from ..rigid.contacts import RigidContacts
from ..rigid.found import no_support
from .arrays import GIVEN, RIGID
from .carried import start_bodies
from .contact_set import ContactSet
from .rigid_flight import note_support
from .tick_impulses import Impulses, Span, begin_impulses, end_impulses, foresee, tick_of

#: Time between two solutions of the contacts among rigid bodies [s].
TICK_TIME = 1.0 / 240.0
#: Ticks without contacts may be longer; damping, which acts at their end, takes at most this share of a velocity.
MOST_DAMPED = 0.01


class RigidTicks:
    """The ticks of a model's simple rigid bodies."""

    def __init__(self, model: Model, contact: ContactSet, shapes: ConvexShapes, counts: Counts) -> None:
        """`contact`: the contact set of the steps, whose rigid bodies the ticks move."""
        self.model, self.shapes, self._counts = model, shapes, counts
        self._rigid = contact.rigid
        self._foresee, self._begin, self._end = Repeated(foresee), Repeated(begin_impulses), Repeated(end_impulses)
        self._note_support = Repeated(note_support)
        self._motion = RigidMotion(contact.rigid.pose, contact.rigid.velocity, contact.rigid.momentum)
        self._support = no_support(model.rigid_count)
        self.contacts = RigidContacts(model, TICK_TIME, shapes, counts, self._support)
        self._tick = tick_of(model, shapes.simple)
        self._impulses = Impulses(self.contacts.found.step, self._tick, self._rigid, self._support.speed)
        self._given = 0.0  # speed of the fastest point of a collider in this run of steps [m/s]
        self._has_moved = False  # whether any body was awake in this run of steps
        self._moves = False  # whether any body is awake in this tick
        self._is_free = True  # whether no contact of rigid bodies was found near in this run of steps
        most = max(model.rigid.linear_damping.max(initial=0.0), model.rigid.angular_damping.max(initial=0.0))
        self._longest = MOST_DAMPED / most if most > 0.0 else np.inf  # ticks [s]
        self._time = TICK_TIME  # of this tick, as planned [s]
        # of rigid bodies and colliders, in the model's order [m, m/s]
        self._x, self._v = np.zeros((2, model.point_count, 3))
        bodies = slice(model.membrane_count, model.moving_count)
        contact.bodies.by_tick[bodies] = shapes.simple
        contact.bodies.by_tick[model.moving_count :] = True
        self._kind = contact.bodies.kind[bodies]

    def start_frame(self, state: State) -> None:
        """Drop everything that is not in the state, so that a continued run has the same bits."""
        self.contacts.start_frame(state)
        self.contacts.step_time = self.contacts.colliders.step_time = TICK_TIME
        tick, known = self._tick, len(state.soft_load)
        tick.force[:], tick.torque[:] = (state.soft_load[:, :3], state.soft_load[:, 3:]) if known else (0.0, 0.0)
        marks = tick.held, self._support.holds, self._support.shakes
        for mark, values in zip(marks, state.rigid_marks.T if known else (False, False, False), strict=True):
            mark[:] = values
        self._rigid.late[:] = 0.0
        self._rigid.meets[:] = self._rigid.tied
        self._rigid.asleep[:] = False
        self._take_sleep()

    def read(self, state: State, motion: Motion) -> None:
        """Begin a run of steps from a state."""
        first = self.model.vertex_count
        self._given = self.contacts.colliders.fastest_of(motion)
        self._x[first:], self._v[first:] = state.positions[first:], state.velocities[first:]
        self._has_moved, self._is_free = False, True
        self._tick.touching[:] = state.touching[self.model.membrane_count :]

    def begin(self, state: State, motion: Motion, share: float, step: float, count: int, most: int) -> tuple[int, bool]:
        """Begin a tick of `count` soft steps of a length [s], or of the `most` that are left where nothing rigid is
        near; returns its steps, and whether other bodies sleep than before.

        `share`: part of the frame before its start.
        """
        rigid = self._rigid
        self._moves = not self.sleeps
        if len(motion.points):
            self._x[motion.points], self._v[motion.points] = motion.positions(share), motion.velocities
        slept = rigid.asleep.copy()
        if self._moves:
            self._has_moved = True
            self.contacts.start_from(state)
            if most > count and self._is_free and self._find_none(state, most * step):
                count = most
            else:
                self._find(state, count * step)
            self._begin_impulses(count * step, step)
        else:
            count = most if self.is_apart else count
            state.still_time += count * step
            self.contacts.clear()
            rigid.asleep[:] = self.shapes.simple
        self._time = count * step
        changes = bool((slept != rigid.asleep).any())
        if changes:
            self._take_sleep()
            start_bodies(rigid)
        return count, changes

    def _find(self, state: State, time: float) -> None:
        """Find the contacts of a tick of a time [s]."""
        self.contacts.take_step_time(time)
        self._foresee(self._impulses, time)
        self.contacts.find(state, self._motion, self._tick.held, self._x, self._v, self._given)

    def _find_none(self, state: State, time: float) -> bool:
        """Whether no rigid body can come near another one, or a collider, in a time [s]; tried once in a run."""
        if self._given > 0.0 or self._tick.held.any() or time > self._longest:
            return False
        still = state.still_pose.copy(), state.still_time.copy()
        self._find(state, time)
        self._is_free = self.contacts.count == 0
        if not self._is_free:
            state.still_pose[:], state.still_time[:] = still
        return self._is_free

    def _begin_impulses(self, time: float, step: float) -> None:
        """Impulses before soft steps of a time [s]."""
        if self.contacts.found.step is not self._impulses.step:
            self._impulses = self._impulses._replace(step=self.contacts.found.step)
        speculation = self.contacts.found.near.speculation
        self._counts.sweeps += self._begin(self._impulses, speculation, Span(time, 0.0, 1.0, step))

    def _take_sleep(self) -> None:
        """Let the steps take sleeping bodies as given ones."""
        rigid, solid, asleep = self._rigid, self.model.rigid, self._rigid.asleep
        self._kind[:] = np.where(asleep, GIVEN, RIGID)
        rigid.inverse_mass[:] = ~asleep / solid.mass
        rigid.inverse_inertia[:] = ~asleep[:, None, None] * solid.inverse_inertia

    def end(self, contact: ContactSet, velocity: FloatArray, limits: FloatArray, time: float, step: float) -> None:
        """End the tick after soft steps of a time [s]; velocity, limits: see `rigid_flight.note_calm`."""
        contacts, tick, support = self.contacts, self._tick, self._support
        self._note_support(contact, velocity, limits, tick.touching, support.holds, support.shakes)
        if not self._moves:
            return
        contacts.take_step_time(time)
        span = Span(time, max(self._time - time, 0.0), min(1.0, time / TICK_TIME), step)
        self._counts.sweeps += self._end(self._impulses, span)
        contacts.finish(self._motion, self._x, self._v)

    def write(self, state: State, motion: Motion, share: float) -> None:
        """Write what a run of steps leaves into the state, at a share of the frame."""
        tick, contacts, first = self._tick, self.contacts, self.model.membrane_count
        state.soft_load = np.concatenate([tick.force, tick.torque], axis=1)
        state.rigid_marks = np.stack([tick.held, self._support.holds, self._support.shakes], axis=1)
        state.touching[first:] |= tick.held
        if self._has_moved:
            if len(motion.points):
                self._x[motion.points] = motion.positions(share)
            behind = contacts.end_run(state, self._x)
            others = np.minimum(self.model.point_body[state.wrong_side[:, 0]], state.wrong_side[:, 1]) < first
            state.wrong_side = np.concatenate([state.wrong_side[others], behind])

    @property
    def sleeps(self) -> bool:
        """Whether all bodies sleep and nothing wakes them."""
        shaken = self._support.shakes & self.shapes.simple
        return self._given == 0.0 and bool(self.contacts.found.resting.all()) and not shaken.any()

    @property
    def is_apart(self) -> bool:
        """Whether no contact of a soft body with a rigid one is near."""
        return not self._rigid.meets.any()
