"""The contacts of simple rigid bodies in a step, found in one call: which bodies sleep, and the rows."""

import math
from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...bodies.rigid.convex import ConvexShapes
from ...contact.narrow_phase.manifolds import Manifolds, Sweep, has_pairs, update_pairs
from ...jit import kernel
from .bodies import fall_asleep, place_awake, place_bodies, spins_of, start_bodies
from .colliders import Near, is_near_known, meet
from .rows import Rows, Solids, given_rows, keep_impulses, manifold_rows, share_room
from .sleep import fastest_near, find_islands, settle

#: Sweeps end when one moves no body by more than this share of the bodies' way in the step, within bounds in units of
#: the thickness. Bodies almost at rest need the most sweeps: with fewer, stacks of ten boxes sway for seconds.
CARE, PRECISE, ENOUGH = 0.01, 0.001, 0.1
#: What `find_rows` needs before it can find them: nothing; pairs; a search for colliders; larger arrays.
READY, PAIRS, COLLIDERS, ROOM = range(4)
#: Places of `StepArrays.counts`: rows; the first of them with a collider; held impulses at colliders.
ROW_COUNT, FIRST_GIVEN, HELD_COUNT = range(3)


class Support(NamedTuple):
    """What holds rigid bodies besides contacts with each other and with colliders, for their sleep."""

    holds: BoolArray  # whether a body rests on something that is still, shape (rigid_count,)
    shakes: BoolArray  # whether something touches it that is not
    speed: FloatArray  # that other forces may give it in a step [m/s]


class Bodies(NamedTuple):
    """What is constant of rigid bodies, shape (rigid_count, ...), and of all bodies."""

    shapes: ConvexShapes
    mass: FloatArray  # [kg]
    inertia: FloatArray  # of the start orientation [kg m^2]
    inverse_inertia: FloatArray
    arm: FloatArray  # from the centre to each point in it [m]
    point_start: IntArray
    thickness: FloatArray  # [m]
    friction: FloatArray  # of all bodies, as `bounciness`
    bounciness: FloatArray
    first: int  # number of the first rigid body
    end: int  # number of the first collider
    gravity: FloatArray  # [m/s^2], shape (3,)
    falls: FloatArray  # see `model.RigidBodies`


class Held(NamedTuple):
    """Impulses of the contacts with colliders in the last step, as in `HeldImpulses`; and scratch to sort them."""

    body: IntArray
    anchor: FloatArray
    impulse: FloatArray
    local: FloatArray  # point of each row in its body's frame [m]
    start: IntArray  # CSR over rigid bodies


class StepArrays(NamedTuple):
    """What the impulses of a step read and write; all but constants changes."""

    bodies: Bodies
    rows: Rows
    solids: Solids
    matrices: FloatArray  # of the poses now, shape (rigid_count, 3, 3)
    inverse: FloatArray  # inertia, in world axes
    speed: FloatArray  # of each body's fastest point, where the step begins [m/s]
    island: IntArray  # of each body, see `find_islands`
    counts: IntArray  # int64, see `ROW_COUNT`


class Found(NamedTuple):
    """The same, and what is known of the bodies' contacts."""

    step: StepArrays
    pairs: Manifolds
    sweep: Sweep
    near: Near
    held: Held
    falling: FloatArray  # speed of each body's fastest point, with gravity and other forces [m/s]
    spin: FloatArray  # scratch, shape (rigid_count, 3)
    resting: BoolArray  # bodies that slept in the last step
    support: Support


def no_held(capacity: int, body_count: int) -> Held:
    """No impulses."""
    return Held(
        np.zeros(capacity, np.int32), np.zeros((capacity, 3)), np.zeros((capacity, 3)), np.zeros((capacity, 3)),
        np.zeros(body_count + 1, np.int64),
    )  # fmt: skip


def no_support(body_count: int) -> Support:
    """Nothing holds or shakes any body."""
    return Support(np.zeros(body_count, bool), np.zeros(body_count, bool), np.zeros(body_count))


@kernel
def enough_for(awake, speed, thickness, time):
    """Correction at which the sweeps of a step end, in units of the thickness."""
    total, count = 0.0, 0
    for body in range(awake.shape[0]):
        if awake[body]:
            total += (time * speed[body] / thickness[body]) ** 2
            count += 1
    return min(max(CARE * math.sqrt(total / max(count, 1)), PRECISE), ENOUGH)


@kernel
def find_rows(found, pose, velocity, momentum, touching, x, v, still_pose, still_time, time, given):
    """Wake and lay down bodies, set their velocities before the impulses of a step, and collect the contacts as rows.

    Returns what it needs before it can do so, else READY; called again, it starts anew. Arguments: see
    `RigidContacts.find`.
    """
    step, resting, n = found.step, found.resting, pose.shape[0]
    bodies, solids, awake = step.bodies, step.solids, step.solids.awake
    fall = time * bodies.gravity
    drop = math.sqrt(fall[0] ** 2 + fall[1] ** 2 + fall[2] ** 2)
    place, still = np.empty_like(still_pose), np.empty_like(still_time)
    supported, shaken, fastest = np.empty(n, np.bool_), np.empty(n, np.bool_), np.empty(n)
    while True:
        start_bodies(
            resting, velocity, momentum, step.inverse, solids.radius, touching, bodies.falls, fall, solids.velocity,
            solids.spin, step.speed,
        )  # fmt: skip
        for q in range(n):
            fastest[q] = step.speed[q] + found.support.speed[q]
            found.falling[q] = fastest[q] + drop
            supported[q], shaken[q] = found.support.holds[q], found.support.shakes[q]
        if not has_pairs(found.sweep, pose, solids.radius, found.falling, resting, time):
            return PAIRS
        update_pairs(found.sweep, bodies.shapes, found.pairs, pose, step.matrices, solids, resting, time)
        find_islands(found.pairs.pair, found.pairs.point_count, step.island)
        quick = fastest_near(step.island, fastest)
        if not is_near_known(found.near, x, quick, resting, given, time, drop):
            return COLLIDERS
        meet(found.near, v, given, supported, shaken)
        place[:], still[:] = still_pose, still_time
        settle(step.island, pose, solids.radius, supported, shaken, time, place, still, awake)
        wakes = False
        for q in range(n):
            awake[q] &= bodies.shapes.simple[q]
            if awake[q] and resting[q]:  # bodies that wake may be near pairs that were skipped
                resting[q], wakes = False, True
        if not wakes:
            break
    fall_asleep(
        awake, bodies.mass, solids.velocity, solids.spin, step.inverse, solids.inverse_mass, solids.inverse_inertia
    )
    count = collect_rows(found, pose, x, v)
    if count > found.held.local.shape[0]:
        return ROOM
    still_pose[:], still_time[:] = place, still
    return READY


@kernel
def collect_rows(found, pose, x, v):
    """Write the contacts as rows; returns their number, which may exceed the capacity."""
    step, near, held = found.step, found.near, found.held
    rows = step.rows
    count = step.counts[FIRST_GIVEN] = manifold_rows(found, pose)
    if near.pairs.gap.shape[0] > 0:
        count_by_body(held.body, step.counts[HELD_COUNT], held.start)
        count = given_rows(count, found, pose, x, v)
    step.counts[ROW_COUNT] = count
    if count <= rows.gap.shape[0]:
        share_room(step.counts[FIRST_GIVEN], count, near.pairs.side, rows)
    return count


@kernel
def count_by_body(body, count, start):
    """CSR over bodies of the first `count` entries, which are sorted by body."""
    start[:] = 0
    for k in range(count):
        start[body[k] + 1] += 1
    for b in range(start.shape[0] - 1):
        start[b + 1] += start[b]


@kernel
def keep_given(found):
    """Store the impulses of the rows with colliders, by body; those of sleeping bodies stay."""
    rows, held, awake = found.step.rows, found.held, found.step.solids.awake
    first, last, before = found.step.counts[FIRST_GIVEN], found.step.counts[ROW_COUNT], found.step.counts[HELD_COUNT]
    if first == last and before == 0:
        return
    was, anchor, impulse = held.body[:before].copy(), held.anchor[:before].copy(), held.impulse[:before].copy()
    start = held.start
    start[:] = 0
    for row in range(first, last):
        start[rows.body[row, 0] + 1] += 1
    for k in range(before):
        if not awake[was[k]]:
            start[was[k] + 1] += 1
    for b in range(start.shape[0] - 1):
        start[b + 1] += start[b]
    found.step.counts[HELD_COUNT] = start[start.shape[0] - 1]
    for row in range(first, last):
        at = start[rows.body[row, 0]]
        start[rows.body[row, 0]] += 1
        held.body[at] = rows.body[row, 0]
        for axis in range(3):
            held.anchor[at, axis] = held.local[row, axis]
            held.impulse[at, axis] = (
                rows.impulse[row, 0] * rows.axes[row, 0, axis]
                + rows.impulse[row, 1] * rows.axes[row, 1, axis]
                + rows.impulse[row, 2] * rows.axes[row, 2, axis]
            )
    for k in range(before):
        if not awake[was[k]]:
            at = start[was[k]]
            start[was[k]] += 1
            held.body[at] = was[k]
            for axis in range(3):
                held.anchor[at, axis], held.impulse[at, axis] = anchor[k, axis], impulse[k, axis]


@kernel
def finish_step(found, pose, velocity, momentum, x, v):
    """Keep the impulses of the rows for the next step; orientations, and positions and velocities of all points."""
    bodies, rows, awake, resting = found.step.bodies, found.step.rows, found.step.solids.awake, found.resting
    keep_impulses(found.step.counts[FIRST_GIVEN], rows.impulse, rows.axes, rows.source, found.pairs.impulse)
    keep_given(found)
    for q in range(awake.shape[0]):
        resting[q] &= not awake[q]
    place_bodies(resting, pose, bodies.inverse_inertia, found.step.matrices, found.step.inverse)
    spins_of(resting, found.step.inverse, momentum, found.spin)
    place_awake(resting, pose, velocity, found.spin, bodies.arm, bodies.point_start, x, v)
    for q in range(awake.shape[0]):
        resting[q] = not awake[q]
