"""Sequential impulses at the contacts of rigid bodies.

A projected Gauss-Seidel method on velocities, started from the last step's impulses (Catto 2005), with relaxation
(Catto, "Solver2D", 2024): penetrations are pushed apart, and sweeps without that push follow once the bodies are moved,
so that it leaves no velocity. Each row changes two bodies by opposite impulses at one point: linear and angular
momentum are conserved.
"""

import math
from typing import NamedTuple

import numpy as np

from ...contact.restitution import parting_speed_kernel
from ...jit import kernel
from .blocks import FIELDS, Blocks, fill_headers, fill_rows, lay_out, sweep_blocks
from .descent import BEFORE, NOW, inertia_of, most_lowered, step_on
from .rows import push, relative_velocity


class Effort(NamedTuple):
    """Least and most sweeps; they end when no row is corrected by more than `enough` of its thickness."""

    fewest: int
    most: int
    enough: float


#: Sweeps that push apart, before the bodies are moved, and sweeps without the push after it, at least and at most.
LEAST_SWEEPS, MOST_SWEEPS = 6, 100
#: Part of a penetration that is pushed apart in a step.
PUSH_SHARE = 0.8
#: Contact stiffness over mass / h^2 at a penetration: a little compliance keeps tall stacks from swaying.
SOFT = 20.0
#: Largest penetration of resting contacts under load, as a share of the thickness.
YIELD = 0.3
#: Sweeps of restitution: rows that meet at once must agree.
BOUNCE_SWEEPS = 20


@kernel
def start_impulses(count, rows, solids):
    """Set every row's impulse to the one it starts from."""
    for row in range(count):
        axes, j = rows.axes[row], rows.impulse[row]
        push(
            row, rows, solids,
            j[0] * axes[0, 0] + j[1] * axes[1, 0] + j[2] * axes[2, 0],
            j[0] * axes[0, 1] + j[1] * axes[1, 1] + j[2] * axes[2, 1],
            j[0] * axes[0, 2] + j[1] * axes[1, 2] + j[2] * axes[2, 2],
        )  # fmt: skip


@kernel
def solve(count, rows, solids, time, is_pushing, effort):
    """Sweep there and back until no row is corrected by more than `effort` allows; returns the sweeps.

    `is_pushing`: whether penetrations are pushed apart. After each sweep but the last the impulses step on to less
    energy (`descent.py`), without which a tall stack takes hundreds of sweeps until the impulses of its lowest box
    converge, and a heavy body on a light one thousands.
    """
    bodies = solids.velocity.shape[0]
    start, between, place = lay_out(count, rows.body, solids.inverse_mass)
    blocks = Blocks(start, between, place)
    header = fill_headers(blocks, solids.inverse_mass, solids.inverse_inertia)
    inertia = inertia_of(solids.inverse_mass, solids.inverse_inertia)
    places = 4 * blocks.start[-1]
    fields, impulses, motions = np.zeros(FIELDS * places), np.zeros((4, 3 * places)), np.zeros((4, bodies + 1, 6))
    impulse, motion = impulses[NOW], motions[NOW]
    fill_rows(blocks, rows, time, is_pushing, SOFT, PUSH_SHARE, YIELD, fields, impulse)
    for body in range(bodies):
        for k in range(3):
            motion[body, k], motion[body, k + 3] = solids.velocity[body, k], solids.spin[body, k]
    sweep, bounds = 0, np.array([math.inf, most_lowered(fields, inertia, motion[:bodies])])
    while True:
        impulses[BEFORE], motions[BEFORE] = impulse, motion
        worst = sweep_blocks(blocks, header, fields, impulse, motion, sweep % 2 == 1)
        sweep += 1
        if sweep >= effort.most or (sweep >= effort.fewest and worst <= effort.enough):
            break
        step_on(blocks, header, fields, inertia, impulses, motions, bounds)
    for body in range(bodies):
        for k in range(3):
            solids.velocity[body, k], solids.spin[body, k] = motion[body, k], motion[body, k + 3]
    for row in range(count):
        at = (blocks.place[row] // 4) * 12 + blocks.place[row] % 4
        for k in range(3):
            rows.impulse[row, k] = impulse[at + 4 * k]
    return sweep


@kernel
def move_rows(count, rows, solids, time):
    """Gaps, and arms to the common point, after the bodies have moved for a time [s] with their present velocities."""
    for row in range(count):
        x, y, z = relative_velocity(row, rows, solids)
        axes = rows.axes[row]
        rows.gap[row] += time * (x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2] + 0.5 * time * rows.bend[row])
        a, b = rows.body[row, 0], rows.body[row, 1]
        if b < 0:
            continue
        # the point halfway goes with the mean of both bodies' velocities there: arms that met in one point still do
        v, w, r, u, s = solids.velocity[a], solids.spin[a], rows.arm[row, 0], solids.velocity[b], rows.arm[row, 1]
        tx = 0.5 * x + w[1] * r[2] - w[2] * r[1]
        ty = 0.5 * y + w[2] * r[0] - w[0] * r[2]
        tz = 0.5 * z + w[0] * r[1] - w[1] * r[0]
        r[0], r[1], r[2] = r[0] + time * tx, r[1] + time * ty, r[2] + time * tz
        s[0] += time * (tx + v[0] - u[0])
        s[1] += time * (ty + v[1] - u[1])
        s[2] += time * (tz + v[2] - u[2])


@kernel
def bounce(count, rows, solids, slow):
    """Rows that are touched part as fast as `restitution.parting_speed` says; `slow` = its resting speed [m/s].

    Returns whether any does.
    """
    any_bounces = False
    for row in range(count):
        if rows.impulse[row, 0] > 0.0 and parting_speed_kernel(rows.bounciness[row], rows.closing[row], slow) > 0.0:
            any_bounces = True
    if not any_bounces:
        return False
    for _ in range(BOUNCE_SWEEPS):
        for row in range(count):
            axes, j = rows.axes[row], rows.impulse[row]
            if not j[0] > 0.0:
                continue
            wanted = parting_speed_kernel(rows.bounciness[row], rows.closing[row], slow)
            x, y, z = relative_velocity(row, rows, solids)
            speed = x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2]
            normal = max(j[0] + rows.mass[row, 0] * (wanted - speed), 0.0)
            change, j[0] = normal - j[0], normal
            push(row, rows, solids, change * axes[0, 0], change * axes[0, 1], change * axes[0, 2])
    return True
