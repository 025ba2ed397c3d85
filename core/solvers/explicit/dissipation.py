"""Dissipation once in many steps: damping, damping of bodies that come to rest, and restitution below 1.

Restitution is that of `solvers/restitution.py`, with the contact impulses since it was applied last. A stiff contact
gives back the energy that a skin has stored whatever its own restitution is, so restitution brakes the vertices without
contact, as a whole, while two bodies separate. A soft body is calm if its contacts support its weight and its centre
hardly moves; the vibrations of its skin, which no contact damps, then get additional damping.
"""

from math import exp
from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray
from ...contact.mixing import mixed
from ...contact.restitution import bounce_strength
from ...jit import lean_kernel
from ...model import Model
from ..restitution import LEAST_UNTOUCHED, apply_restitution
from ..rigid_motion import relax_points, rigid_motions
from .arrays import Rigid
from .carried import respin

#: How often losses are applied [s], and in how many steps at least.
LOSS_TIME, LEAST_STEPS = 1.0 / 240.0, 8
#: Time over which the load of a body is averaged [s].
LOAD_TIME = 0.1
#: A body is calm if its load differs from its weight by less than this share, and its centre is slower than this [m/s].
LOAD_SLACK, CALM_SPEED = 0.2, 0.1
#: Rate at which the relative motion of a calm body dies away besides its own damping [1/s].
CALM_RATE = 60.0


class Pairs(NamedTuple):
    """Pairs of bodies, number a * body_count + b with a < b, and their contact impulses since the last call."""

    low: np.ndarray[tuple[int], np.dtype[np.int32]]
    high: np.ndarray[tuple[int], np.dtype[np.int32]]
    impulse: FloatArray  # along the normals on the lower body [N s], shape (pair_count, 3); changes
    point: FloatArray  # where it acts [m], times the load; changes
    load: FloatArray  # sum of the sizes [N s]; changes
    approach: FloatArray  # see `apply_restitution` [m/s]; changes
    bounciness: FloatArray
    strength: FloatArray
    counts: BoolArray  # whether one of them moves, and contacts do not give back as much by themselves


class Dissipation(NamedTuple):
    """Data of dissipation besides positions and velocities."""

    pairs: Pairs
    mass: FloatArray  # of the vertices [kg], pinned ones too
    untouched: FloatArray  # of those that no contact has pushed; changes
    pinned: BoolArray
    damping: FloatArray  # of each membrane [1/s]
    settling: FloatArray  # besides, of one that nothing touches; changes
    asleep: BoolArray  # whether a membrane sleeps through the run; changes
    body_mass: FloatArray  # [kg]
    linear_damping: FloatArray  # of the rigid bodies [1/s]
    angular_damping: FloatArray
    fall: FloatArray  # scratch, shape (3,)
    motion: FloatArray  # rigid motions, scratch, shape (moving_count, 16)
    load: FloatArray  # of each membrane, averaged, over its weight, shape (membrane_count, 3); changes
    push: FloatArray  # sum of all impulses of contacts on each body [N s], shape (body_count, 3); changes


def losses_of(model: Model, mass: FloatArray, pinned: BoolArray) -> Dissipation:
    """The losses of a model; `mass` [kg] and `pinned` in the solver's order."""
    count = model.body_count
    low, high = (part.ravel().astype(np.int32) for part in np.indices((count, count)))
    bounciness = mixed(model.bounciness[low], model.bounciness[high])
    strengths = {e: bounce_strength(e) for e in set(bounciness.tolist())}
    return Dissipation(
        pairs=Pairs(
            low=low,
            high=high,
            impulse=np.zeros((count * count, 3)),
            point=np.zeros((count * count, 3)),
            load=np.zeros(count * count),
            approach=np.zeros(count * count),
            bounciness=bounciness,
            strength=np.array([strengths[e] for e in bounciness.tolist()]),
            counts=(low < high) & (low < model.moving_count) & ((bounciness < 1.0) | (low >= model.membrane_count)),
        ),
        mass=mass,
        untouched=mass.copy(),
        pinned=pinned,
        damping=model.damping,
        settling=np.zeros(model.membrane_count),
        asleep=np.zeros(model.membrane_count, bool),
        body_mass=model.body_mass.copy(),
        linear_damping=model.rigid.linear_damping.copy(),
        angular_damping=model.rigid.angular_damping.copy(),
        fall=np.zeros(3),
        motion=np.zeros((model.moving_count, 16)),
        load=np.zeros((model.membrane_count, 3)),
        push=np.zeros((count, 3)),
    )


@lean_kernel
def leave_some(untouched, mass, point_start, body_count):
    """Take all vertices of a body where hardly any vertex is without contact."""
    for body in range(body_count):
        count, left, total = 0, 0.0, 0.0
        for i in range(point_start[body], point_start[body + 1]):
            count += untouched[i] > 0.0
            left += untouched[i]
            total += mass[i]
        if count < 4 or left < LEAST_UNTOUCHED * total:  # three vertices may have no inertia about some axis
            for i in range(point_start[body], point_start[body + 1]):
                untouched[i] = mass[i]


@lean_kernel
def brake(x, velocity, losses, rigid: Rigid, point_start, gravity, time):
    """Restitution from the contact impulses of a time [s]; those of a single step are too noisy."""
    pairs, motion, membranes = losses.pairs, losses.motion, losses.damping.shape[0]
    touches = False
    for pair in range(pairs.load.shape[0]):
        touches |= pairs.load[pair] > 0.0
    for axis in range(3):
        losses.fall[axis] = gravity[axis] * time
    if touches:
        leave_some(losses.untouched, losses.mass, point_start, membranes)
        rigid_motions(x, velocity, losses.untouched, point_start, motion[:membranes])
        note_solids(rigid, losses, membranes)
        apply_restitution(
            x, velocity, membranes, motion.shape[0], losses.untouched, point_start, pairs.low, pairs.high,
            pairs.impulse, pairs.point, pairs.load, pairs.bounciness, pairs.strength, motion, losses.fall,
            pairs.approach,
        )  # fmt: skip
        move_solids(rigid, motion, membranes)
    else:
        pairs.approach[:] = 0.0
    pairs.load[:] = 0.0
    pairs.impulse[:] = 0.0
    pairs.point[:] = 0.0
    for i in range(losses.mass.shape[0]):
        losses.untouched[i] = losses.mass[i]


@lean_kernel
def damp(x, velocity, losses, rigid: Rigid, point_start, gravity, time):
    """Damping of relative motion for a time [s]."""
    motion, membranes = losses.motion, losses.damping.shape[0]
    rigid_motions(x, velocity, losses.mass, point_start, motion[:membranes])
    strength2 = gravity[0] ** 2 + gravity[1] ** 2 + gravity[2] ** 2
    for body in range(membranes):
        if losses.asleep[body]:
            velocity[point_start[body] : point_start[body + 1]] = 0.0
            continue
        rate = losses.damping[body]
        if losses.push[body, 0] == 0.0 and losses.push[body, 1] == 0.0 and losses.push[body, 2] == 0.0:
            rate += losses.settling[body]
        if strength2 > 0.0 and is_calm(body, losses, gravity, strength2, time):
            rate += CALM_RATE
        if rate > 0.0:
            kept = exp(-rate * time)
            relax_points(x, velocity, point_start[body], point_start[body + 1], motion[body], kept, losses.pinned)
    for q in range(rigid.inverse_mass.shape[0]):
        for axis in range(3):
            rigid.velocity[q, axis] *= exp(-losses.linear_damping[q] * time)
            rigid.momentum[q, axis] *= exp(-losses.angular_damping[q] * time)
        respin(rigid, q)
    losses.push[:] = 0.0


@lean_kernel
def is_calm(body, losses, gravity, strength2, time):
    """Average the contact load of a body; whether it supports the weight and the centre is at rest."""
    share = min(1.0, time / LOAD_TIME)
    off2, speed2 = 0.0, 0.0
    for axis in range(3):
        load = losses.push[body, axis] / (losses.body_mass[body] * time)
        losses.load[body, axis] += share * (load - losses.load[body, axis])
        off2 += (losses.load[body, axis] + gravity[axis]) ** 2
        speed2 += losses.motion[body, 3 + axis] ** 2
    return off2 < LOAD_SLACK**2 * strength2 and speed2 < CALM_SPEED**2


@lean_kernel
def note_solids(rigid, losses, first):
    """Write the rigid bodies as rows of rigid motion, from row `first` on."""
    for q in range(rigid.inverse_mass.shape[0]):
        row, tensor = losses.motion[first + q], rigid.tensor[q]
        for axis in range(3):
            row[axis] = rigid.pose[q, axis]
            row[3 + axis], row[6 + axis] = rigid.velocity[q, axis], rigid.spin[q, axis]
            row[9 + axis] = tensor[axis, axis]
        row[12], row[13], row[14] = tensor[0, 1], tensor[0, 2], tensor[1, 2]
        row[15] = losses.body_mass[first + q]


@lean_kernel
def move_solids(rigid, motion, first):
    """Read the rigid bodies' velocities from their rows; changes of angular velocity go to the angular momentum."""
    for q in range(rigid.inverse_mass.shape[0]):
        row, tensor = motion[first + q], rigid.tensor[q]
        wx, wy, wz = row[6] - rigid.spin[q, 0], row[7] - rigid.spin[q, 1], row[8] - rigid.spin[q, 2]
        for axis in range(3):
            rigid.velocity[q, axis] = row[3 + axis]
        if wx == 0.0 and wy == 0.0 and wz == 0.0:
            continue
        # solve tensor * change = w by cofactors
        a, b, c, d, e, f = tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]
        xx, yy, zz = b * c - f * f, a * c - e * e, a * b - d * d
        xy, xz, yz = e * f - d * c, d * f - e * b, d * e - f * a
        share = 1.0 / (a * xx + d * xy + e * xz)
        rigid.momentum[q, 0] += share * (xx * wx + xy * wy + xz * wz)
        rigid.momentum[q, 1] += share * (xy * wx + yy * wy + yz * wz)
        rigid.momentum[q, 2] += share * (xz * wx + yz * wy + zz * wz)
        respin(rigid, q)
