"""Impulses among rigid bodies and colliders in a tick: before its soft steps, and after them.

The impulses before the steps must foresee what soft bodies will do in them: a body that others press on a soft one
would else be pushed into it for a tick, and thrown back by it. So the mean soft force of the last tick is given at
once; in the steps the body returns its share of that and receives the real one.
"""

from math import exp, sqrt
from typing import Any, NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray
from ...bodies.rigid.motion import turned_tensors
from ...contact.restitution import RESTING_STEPS, resting_speed_kernel
from ...jit import kernel
from ...model import Model
from ..rigid.bodies import add_turn
from ..rigid.found import ROW_COUNT, StepArrays
from ..rigid.impulses import MOST_SWEEPS, bounce, move_rows
from ..rigid.rows import forget_unmet, mark_pressing, relative_velocity
from ..rigid.step import exchange
from .arrays import Rigid
from .carried import respin

#: Largest displacement of a body with contacts from the flight that its tick has planned, in thicknesses.
ROOM_SHARE = 0.1


class Tick(NamedTuple):
    """Rigid bodies in a tick besides `arrays.Rigid`, shape (rigid_count, ...)."""

    takes_part: BoolArray
    mass: FloatArray  # [kg]
    damping: FloatArray  # linear, angular [1/s]
    force: FloatArray  # of soft bodies, mean of about a tick [N]; changes
    torque: FloatArray  # [N m]; changes
    held: BoolArray  # whether impulses pressed it in the last tick, or it slept; changes
    touching: BoolArray  # whether a soft body pushed it in the last step; changes
    lags: BoolArray  # whether its velocity is half a step late in the soft steps; changes
    start: FloatArray  # centre where the tick began [m]; changes
    start_velocity: FloatArray
    start_momentum: FloatArray
    start_spin: FloatArray
    push: FloatArray  # velocity by the foreseen soft impulse [m/s]; changes
    turn: FloatArray  # angular velocity by it [1/s]; changes
    momentum: FloatArray  # scratch
    spin: FloatArray  # scratch
    tensor: FloatArray  # scratch, shape (rigid_count, 3, 3)


class Impulses(NamedTuple):
    """What the impulses of a tick read and write."""

    step: StepArrays
    tick: Tick
    rigid: Rigid
    soft_speed: FloatArray  # that soft forces give each body in the tick [m/s]


class Span(NamedTuple):
    """Times of a tick."""

    time: float  # of the soft steps [s]
    left: float  # by which it ended early [s]
    share: float  # weight of it in the mean soft force
    step: float  # length of a soft step [s]


def tick_of(model: Model, takes_part: BoolArray) -> Tick:
    """The rigid bodies of a model at rest."""
    rigid, count = model.rigid, model.rigid_count
    names = (
        "force", "torque", "start", "start_velocity", "start_momentum", "start_spin", "push", "turn", "momentum",
        "spin",
    )  # fmt: skip
    vectors: dict[str, Any] = {name: np.zeros((count, 3)) for name in names}
    marks: dict[str, Any] = {name: np.zeros(count, bool) for name in ("held", "touching", "lags")}
    return Tick(
        takes_part=takes_part,
        mass=rigid.mass,
        damping=np.stack([rigid.linear_damping, rigid.angular_damping], axis=1),
        tensor=np.zeros((count, 3, 3)),
        **vectors,
        **marks,
    )


@kernel
def foresee(impulses, time):
    """Give bodies that are held the soft impulse of a time [s]; the speeds that soft forces give in it."""
    tick, rigid = impulses.tick, impulses.rigid
    for q in range(tick.held.shape[0]):
        f = tick.force[q]
        impulses.soft_speed[q] = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) * time / tick.mass[q]
        for axis in range(3):
            tick.start_velocity[q, axis] = rigid.velocity[q, axis]
            if tick.held[q]:
                rigid.velocity[q, axis] += time * f[axis] / tick.mass[q]
                rigid.momentum[q, axis] += time * tick.torque[q, axis]


@kernel
def note_closing(count, rows, solids, tick, time):
    """Speeds of approach without the foreseen impulse [m/s]: what is only pressed does not bounce."""
    any_pushed = False
    for q in range(tick.held.shape[0]):
        for axis in range(3):
            tick.push[q, axis] = tick.turn[q, axis] = 0.0
        if tick.held[q] and solids.awake[q]:
            w, torque = solids.inverse_inertia[q], tick.torque[q]
            for axis in range(3):
                tick.push[q, axis] = time * tick.force[q, axis] / tick.mass[q]
                tick.turn[q, axis] = time * (
                    w[axis, 0] * torque[0] + w[axis, 1] * torque[1] + w[axis, 2] * torque[2]
                )  # fmt: skip
                any_pushed |= tick.push[q, axis] != 0.0 or tick.turn[q, axis] != 0.0
    if not any_pushed:
        return
    add_foreseen(solids, tick, -1.0)
    for row in range(count):
        x, y, z = relative_velocity(row, rows, solids)
        axes = rows.axes[row]
        rows.closing[row] = -(x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2])
    add_foreseen(solids, tick, 1.0)


@kernel
def add_foreseen(solids, tick, sign):
    """Add the foreseen velocities, or take them away."""
    for q in range(tick.held.shape[0]):
        for axis in range(3):
            solids.velocity[q, axis] += sign * tick.push[q, axis]
            solids.spin[q, axis] += sign * tick.turn[q, axis]


@kernel
def begin_impulses(impulses, speculation, span):
    """Impulses that let no pair come too near in the tick, and the flight for its soft steps; returns the sweeps.

    speculation: distance beyond the thickness within which contacts are rows [m], shape (rigid_count,).
    """
    step, tick, rigid = impulses.step, impulses.tick, impulses.rigid
    rows, solids, count, thickness = step.rows, step.solids, step.counts[ROW_COUNT], step.bodies.thickness
    note_closing(count, rows, solids, tick, span.time)
    sweeps = exchange(step, rigid.momentum, span.time, True, MOST_SWEEPS, tick.momentum)
    for q in range(tick.held.shape[0]):
        rigid.room[q] = float("inf")
        if tick.takes_part[q]:
            set_flight(q, solids, tick, rigid, step.bodies.gravity, span)
            if not rigid.asleep[q]:
                rigid.room[q] = speculation[q] + thickness[q]
    for row in range(count):
        for side in range(2):
            q = rows.body[row, side]
            if q >= 0 and not rigid.asleep[q]:
                rigid.room[q] = ROOM_SHARE * thickness[q]
    return sweeps


@kernel
def set_flight(q, solids, tick, rigid, gravity, span):
    """Velocities, acceleration and torque of body q in the soft steps, and the flight that its tick foresees."""
    h, held, falls = span.time, tick.held[q], rigid.falls[q]
    rigid.asleep[q] = not solids.awake[q]
    tick.lags[q] = False
    if rigid.asleep[q]:
        lay_down(q, tick, rigid)
        return
    # the foreseen impulse is given only as far as the rows have taken it
    kept = square = 0.0
    for axis in range(3):
        kept += (solids.velocity[q, axis] - tick.start_velocity[q, axis]) * tick.push[q, axis]
        square += tick.push[q, axis] ** 2
    rest = min(max(kept / square, 0.0), 1.0) if square > 0.0 else 0.0
    tick.lags[q] = not held and not tick.touching[q]
    for axis in range(3):
        rigid.velocity[q, axis] = solids.velocity[q, axis] - rest * tick.push[q, axis]
        rigid.momentum[q, axis] = tick.momentum[q, axis]
        rigid.pull[q, axis], rigid.twist[q, axis] = falls * gravity[axis], 0.0
        if held:
            rigid.momentum[q, axis] -= rest * h * tick.torque[q, axis]
            rigid.pull[q, axis] = (rest - 1.0) * tick.force[q, axis] / tick.mass[q]
            rigid.twist[q, axis] = (rest - 1.0) * tick.torque[q, axis]
        else:
            rigid.velocity[q, axis] -= 0.5 * h * falls * gravity[axis]
        tick.start[q, axis] = rigid.pose[q, axis]
        tick.start_velocity[q, axis] = rigid.velocity[q, axis]
        tick.start_momentum[q, axis] = rigid.momentum[q, axis]
        tick.start_spin[q, axis] = solids.spin[q, axis]
        rigid.plan[q, axis], rigid.plan[q, 6 + axis] = rigid.velocity[q, axis], solids.spin[q, axis]
        rigid.plan[q, 3 + axis] = 0.0 if held else falls * gravity[axis]
        rigid.path[q, axis] = 0.0
        if tick.lags[q]:
            rigid.velocity[q, axis] -= 0.5 * span.step * falls * gravity[axis]
    for k in range(6):
        rigid.strayed[q, k] = 0.0
    respin(rigid, q)


@kernel
def lay_down(q, tick, rigid):
    """Let body q sleep through the tick."""
    for axis in range(3):
        rigid.velocity[q, axis] = rigid.momentum[q, axis] = rigid.spin[q, axis] = 0.0
        rigid.pull[q, axis] = rigid.twist[q, axis] = 0.0
        tick.start[q, axis] = rigid.pose[q, axis]
        tick.start_velocity[q, axis] = tick.start_momentum[q, axis] = tick.start_spin[q, axis] = 0.0


@kernel
def end_impulses(impulses, span):
    """Impulses after the soft steps, without the push apart, then restitution and damping; returns the sweeps."""
    step, tick, rigid = impulses.step, impulses.tick, impulses.rigid
    rows, solids, count, gravity = step.rows, step.solids, step.counts[ROW_COUNT], step.bodies.gravity
    h, bodies, awake = span.time, tick.held.shape[0], solids.awake
    turned_tensors(rigid.pose, step.bodies.inverse_inertia, tick.tensor)
    for q in range(bodies):
        for axis in range(3):
            tick.spin[q, axis] = solids.velocity[q, axis] = solids.spin[q, axis] = 0.0
        if not awake[q]:
            continue
        note_soft(q, tick, rigid, gravity, span)
        w, momentum = tick.tensor[q], rigid.momentum[q]
        for axis in range(3):
            spin = w[axis, 0] * momentum[0] + w[axis, 1] * momentum[1] + w[axis, 2] * momentum[2]
            tick.spin[q, axis] = spin
            # gaps change by the way that bodies have really gone
            solids.velocity[q, axis] = (rigid.pose[q, axis] - tick.start[q, axis]) / h
            solids.spin[q, axis] = 0.5 * (tick.start_spin[q, axis] + spin)
    move_rows(count, rows, solids, h)
    for q in range(bodies):
        for axis in range(3):
            solids.velocity[q, axis] = rigid.velocity[q, axis] if awake[q] else 0.0
            solids.spin[q, axis] = tick.spin[q, axis]
    sweeps = exchange(step, rigid.momentum, h, False, MOST_SWEEPS, tick.momentum)
    slow = resting_speed_kernel(gravity, h, RESTING_STEPS)
    if bounce(count, rows, solids, slow):
        add_turn(
            awake, step.matrices, step.bodies.inertia, solids.spin, tick.spin, rigid.momentum, tick.momentum
        )  # fmt: skip
    for q in range(bodies):
        if not tick.takes_part[q]:
            continue
        tick.held[q] = not awake[q]
        along, about = exp(-h * tick.damping[q, 0]), exp(-h * tick.damping[q, 1])
        for axis in range(3):
            rigid.velocity[q, axis] = solids.velocity[q, axis] * along
            rigid.momentum[q, axis] = tick.momentum[q, axis] * about
        respin(rigid, q)
    mark_pressing(count, rows.body, rows.impulse, tick.held)
    forget_unmet(count, rows, solids, h, slow)
    return sweeps


@kernel
def return_moment(q, tick, rigid, span):
    """Angular momentum for the distance between where body q was given the foreseen impulse and where it returns it."""
    pose, start, pull, m = rigid.pose[q], tick.start[q], rigid.pull[q], tick.mass[q]
    x, y, z = rigid.path[q, 0], rigid.path[q, 1], rigid.path[q, 2]
    x += span.left * pose[0] - (span.time + span.left) * start[0]
    y += span.left * pose[1] - (span.time + span.left) * start[1]
    z += span.left * pose[2] - (span.time + span.left) * start[2]
    rigid.momentum[q, 0] -= m * (y * pull[2] - z * pull[1])
    rigid.momentum[q, 1] -= m * (z * pull[0] - x * pull[2])
    rigid.momentum[q, 2] -= m * (x * pull[1] - y * pull[0])


@kernel
def note_soft(q, tick, rigid, gravity, span):
    """Mean soft force and torque on body q; gravity and foreseen impulses of the time by which the tick ended early.

    The mean is one over about a tick: an impulse of one step is no force that goes on. What was foreseen acted where
    the tick began and is returned along the way, so its moment is, too.
    """
    h, falls = span.time, rigid.falls[q]
    if tick.held[q]:
        return_moment(q, tick, rigid, span)
    for axis in range(3):
        if tick.lags[q] and not tick.touching[q]:
            rigid.velocity[q, axis] += 0.5 * span.step * falls * gravity[axis]
        force = tick.mass[q] * ((rigid.velocity[q, axis] - tick.start_velocity[q, axis]) / h - rigid.pull[q, axis])
        torque = (rigid.momentum[q, axis] - tick.start_momentum[q, axis]) / h - rigid.twist[q, axis]
        tick.force[q, axis] += span.share * (force - tick.force[q, axis])
        tick.torque[q, axis] += span.share * (torque - tick.torque[q, axis])
        if tick.held[q]:
            rigid.velocity[q, axis] -= span.left * (falls * gravity[axis] - rigid.pull[q, axis])
            rigid.momentum[q, axis] += span.left * rigid.twist[q, axis]
