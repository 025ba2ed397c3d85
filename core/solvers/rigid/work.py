"""The work of a step: no island ends it with more energy than it began with and colliders have added.

Newton's law of restitution knows the speed of approach where the step begins, not where the bodies meet, and gravity's
velocity of the whole step. With many contacts at once it returns more than it took. So a bounce returns at most what
the step has taken from its island. What is pushed out of a collider gains height: its motion pays for it.
"""

import math
from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray
from ...jit import kernel
from ...union_find import root_of


class Motions(NamedTuple):
    """Velocity [m/s], angular velocity [1/s] and angular momentum [kg m^2/s] of all bodies, shape (rigid_count, 3)."""

    velocity: FloatArray
    spin: FloatArray
    momentum: FloatArray


@kernel
def body_energies(awake, mass, weight, gravity, poses, motion, out):
    """Energy of motion and of height of each awake body [J], of a `weight` [kg] under gravity [m/s^2]; 0 for others."""
    for body in range(awake.shape[0]):
        out[body] = 0.0
        if awake[body]:
            for axis in range(3):
                out[body] += 0.5 * mass[body] * motion.velocity[body, axis] ** 2
                out[body] += 0.5 * motion.spin[body, axis] * motion.momentum[body, axis]
                out[body] -= weight[body] * gravity[axis] * poses[body, axis]


@kernel
def island_losses(island, before, after, first, count, rows, out):
    """Energy that each island has lost in a step [J], at its root, from its bodies' energies before and after.

    What moving colliders have added counts as well: rows first .. count - 1 are contacts with colliders.
    """
    for body in range(island.shape[0]):
        out[body] = 0.0
    for body in range(island.shape[0]):
        out[root_of(island, body)] += before[body] - after[body]
    for row in range(first, count):
        axes, j, given = rows.axes[row], rows.impulse[row], rows.given[row]
        work = 0.0
        for k in range(3):
            along = axes[k, 0] * given[0] + axes[k, 1] * given[1] + axes[k, 2] * given[2]
            work -= j[k] * along
        out[root_of(island, rows.body[row, 0])] += work


@kernel
def bounce_shares(island, awake, mass, lost, calm, bounced, first, count, rows, calm_impulse, out):
    """Share of its bounce, 0 to 1, that each island may have, at its root: it gives back no more than was `lost` [J].

    calm, bounced: motion before and after the bounce; calm_impulse: normal impulse of each row before it [N s]. Rows
    first .. count - 1 are contacts with colliders, whose work counts.
    """
    linear, square = np.zeros(island.shape[0]), np.zeros(island.shape[0])
    for body in range(island.shape[0]):
        if not awake[body]:
            continue
        root = root_of(island, body)
        for axis in range(3):
            v, w = calm.velocity[body, axis], calm.spin[body, axis]
            dv, dw = bounced.velocity[body, axis] - v, bounced.spin[body, axis] - w
            dl = bounced.momentum[body, axis] - calm.momentum[body, axis]
            linear[root] += mass[body] * v * dv + w * dl
            square[root] += 0.5 * (mass[body] * dv * dv + dw * dl)
    for row in range(first, count):
        normal, given = rows.axes[row, 0], rows.given[row]
        speed = normal[0] * given[0] + normal[1] * given[1] + normal[2] * given[2]
        linear[root_of(island, rows.body[row, 0])] += (rows.impulse[row, 0] - calm_impulse[row]) * speed
    for body in range(island.shape[0]):
        a, b, most = square[body], linear[body], max(lost[body], 0.0)
        out[body] = 1.0
        if a + b > most and a > 0.0:
            # a s^2 + b s = most
            out[body] = min(max((math.sqrt(b * b + 4.0 * a * most) - b) / (2.0 * a), 0.0), 1.0)


@kernel
def pay_debts(island, awake, mass, lost, first, count, rows, motion):
    """Slow down islands that lean on a collider and have gained energy, as where they were pushed up, by what they
    have gained.

    rows first .. count - 1 are contacts with colliders; an island whose colliders move is left alone. What floats
    freely cannot gain height by pushing, and keeps its momenta.
    """
    bodies = island.shape[0]
    leans, moving, kinetic = np.zeros(bodies, np.bool_), np.zeros(bodies), np.zeros(bodies)
    for row in range(first, count):
        if rows.impulse[row, 0] > 0.0:
            root = root_of(island, rows.body[row, 0])
            leans[root] = True
            for axis in range(3):
                moving[root] += abs(rows.given[row, axis])
    for body in range(bodies):
        if awake[body]:
            root = root_of(island, body)
            for axis in range(3):
                kinetic[root] += 0.5 * mass[body] * motion.velocity[body, axis] ** 2
                kinetic[root] += 0.5 * motion.spin[body, axis] * motion.momentum[body, axis]
    for body in range(bodies):
        root = root_of(island, body)
        debt = -lost[root]
        if awake[body] and leans[root] and moving[root] == 0.0 and debt > 0.0:
            share = math.sqrt(max(1.0 - debt / kinetic[root], 0.0)) if kinetic[root] > 0.0 else 0.0
            for axis in range(3):
                motion.velocity[body, axis] *= share
                motion.spin[body, axis] *= share
                motion.momentum[body, axis] *= share


@kernel
def cut_bounce(island, awake, share, calm, bounced, count, rows, calm_impulse):
    """Leave each island the share of its bounce, in `bounced` and in the rows' impulses."""
    for body in range(island.shape[0]):
        s = share[root_of(island, body)]
        if not awake[body] or s == 1.0:
            continue
        for axis in range(3):
            for now, was in (
                (bounced.velocity, calm.velocity), (bounced.spin, calm.spin), (bounced.momentum, calm.momentum)
            ):  # fmt: skip
                now[body, axis] = was[body, axis] + s * (now[body, axis] - was[body, axis])
    for row in range(count):
        s = share[root_of(island, rows.body[row, 0])]
        rows.impulse[row, 0] = calm_impulse[row] + s * (rows.impulse[row, 0] - calm_impulse[row])
