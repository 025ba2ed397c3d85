"""Impulses that stop rigid bodies at their contacts: sweeps over all rows, each after the one before.

A projected Gauss-Seidel method on velocities, started from the last step's impulses (Catto 2005), with
relaxation (Catto, "Solver2D", 2024): what is too near is pushed apart, and sweeps without that push follow once the
bodies are moved, so that it leaves no speed behind. Each row changes two bodies by opposite impulses at one
point: linear and angular momentum stay.
"""

import math

import numpy as np

from ...jit import kernel
from .rows import push, relative_velocity

#: Share of what is too near that is pushed apart in a step.
PUSH_SHARE = 0.8
#: Stiffness of what is too near against its mass and the step: what presses gives way a little, which keeps tall
#: stacks from swaying.
SOFT = 20.0
#: Most that a load may press together what rests on each other, as a share of the thickness.
YIELD = 0.3
#: Sweeps in which bounces find each other; rows that meet at once must agree.
BOUNCE_SWEEPS = 20


@kernel
def start_impulses(count, rows, solids):
    """Give every row the impulse it starts from."""
    for row in range(count):
        axes, j = rows.axes[row], rows.impulse[row]
        push(
            row, rows, solids,
            j[0] * axes[0, 0] + j[1] * axes[1, 0] + j[2] * axes[2, 0],
            j[0] * axes[0, 1] + j[1] * axes[1, 1] + j[2] * axes[2, 1],
            j[0] * axes[0, 2] + j[1] * axes[1, 2] + j[2] * axes[2, 2],
        )  # fmt: skip


@kernel
def sweep_rows(count, rows, solids, time, is_pushing, is_backward):
    """One sweep: the normal, then friction, of every row, in order or backward.

    `is_pushing`: whether what is too near is pushed apart. Returns the largest correction along a normal, as a move
    in this step in units of the thickness.
    """
    worst = 0.0
    for place in range(count):
        row = count - 1 - place if is_backward else place
        axes, j, mass = rows.axes[row], rows.impulse[row], rows.mass[row]
        x, y, z = relative_velocity(row, rows, solids)
        speed = x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2]
        gap = rows.gap[row]
        if gap > 0.0:
            change = -mass[0] * (speed + gap / time)
        elif is_pushing:
            soft = max(SOFT, rows.load[row] * time / (mass[0] * YIELD * PUSH_SHARE * rows.thickness[row]))
            speed += max(PUSH_SHARE * gap / time, -rows.speed_limit[row])
            change = -(mass[0] * soft * speed + j[0]) / (1.0 + soft)
        else:
            change = -mass[0] * speed
        normal = max(j[0] + change, 0.0)
        change, j[0] = normal - j[0], normal
        worst = max(worst, time * abs(change) / (mass[0] * rows.thickness[row]))
        push(row, rows, solids, change * axes[0, 0], change * axes[0, 1], change * axes[0, 2])
        # friction: both directions together, within the cone of what presses now
        limit = rows.friction[row] * normal
        if limit == 0.0 and j[1] == 0.0 and j[2] == 0.0:
            continue
        x, y, z = relative_velocity(row, rows, solids)
        slip = x * axes[1, 0] + y * axes[1, 1] + z * axes[1, 2]
        other = x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2]
        one = j[1] - mass[2] * slip - mass[3] * other
        two = j[2] - mass[3] * slip - mass[4] * other
        if one * one + two * two > limit * limit:
            # it slides: friction must be against the slip, whatever the bodies set against it in each direction
            one, two = j[1] - mass[1] * slip, j[2] - mass[1] * other
            size = math.sqrt(one * one + two * two)
            if size > limit:
                one, two = one * limit / size, two * limit / size
        one, two, j[1], j[2] = one - j[1], two - j[2], one, two
        push(
            row, rows, solids,
            one * axes[1, 0] + two * axes[2, 0],
            one * axes[1, 1] + two * axes[2, 1],
            one * axes[1, 2] + two * axes[2, 2],
        )  # fmt: skip
    return worst


@kernel
def solve(count, rows, solids, time, is_pushing, fewest, most, enough):
    """Sweep there and back until no row is corrected by more than `enough`; returns the sweeps.

    Between sweeps the impulses go on along a conjugate direction (Silcowitz-Hansen, Niebe and Erleben 2010), without
    which it takes hundreds of sweeps until a tall stack agrees on what its lowest box must carry.
    """
    bodies = solids.velocity.shape[0]
    before, way = np.empty((count, 3)), np.zeros((count, 3))
    # the same of the bodies: what impulses change is linear in them
    motion, motion_way = np.empty((bodies, 6)), np.zeros((bodies, 6))
    length = 0.0
    for sweep in range(most):
        is_last = sweep + 1 == most
        if not is_last:
            for row in range(count):
                for k in range(3):
                    before[row, k] = rows.impulse[row, k]
            for body in range(bodies):
                for k in range(3):
                    motion[body, k], motion[body, k + 3] = solids.velocity[body, k], solids.spin[body, k]
        worst = sweep_rows(count, rows, solids, time, is_pushing, sweep % 2 == 1)
        if is_last or (sweep + 1 >= fewest and worst <= enough):
            return sweep + 1
        now = 0.0
        for row in range(count):
            if rows.mass[row, 0] > 0.0:
                for k in range(3):
                    now += (rows.impulse[row, k] - before[row, k]) ** 2 / rows.mass[row, 0]
        share = now / length if length > 0.0 else 2.0
        if share > 1.0:
            share = 0.0
        length = now
        for row in range(count):
            for k in range(3):
                step = share * way[row, k]
                way[row, k] = step + rows.impulse[row, k] - before[row, k]
                rows.impulse[row, k] += step
        for body in range(bodies):
            for k in range(3):
                step = share * motion_way[body, k]
                motion_way[body, k] = step + solids.velocity[body, k] - motion[body, k]
                solids.velocity[body, k] += step
                step = share * motion_way[body, k + 3]
                motion_way[body, k + 3] = step + solids.spin[body, k] - motion[body, k + 3]
                solids.spin[body, k] += step
    return most


@kernel
def move_rows(count, rows, solids, time):
    """Gaps, and arms to the common point, after the bodies have moved for a time [s] with their present velocities."""
    for row in range(count):
        x, y, z = relative_velocity(row, rows, solids)
        axes = rows.axes[row]
        rows.gap[row] += time * (x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2])
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
    """Rows that were approached faster than `slow` [m/s] and are touched part with `bounciness` of that speed."""
    any_bounces = False
    for row in range(count):
        if rows.closing[row] > slow and rows.impulse[row, 0] > 0.0 and rows.bounciness[row] > 0.0:
            any_bounces = True
    if not any_bounces:
        return
    for _ in range(BOUNCE_SWEEPS):
        for row in range(count):
            axes, j = rows.axes[row], rows.impulse[row]
            if not j[0] > 0.0:
                continue
            wanted = rows.bounciness[row] * rows.closing[row] if rows.closing[row] > slow else 0.0
            x, y, z = relative_velocity(row, rows, solids)
            speed = x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2]
            normal = max(j[0] + rows.mass[row, 0] * (wanted - speed), 0.0)
            change, j[0] = normal - j[0], normal
            push(row, rows, solids, change * axes[0, 0], change * axes[0, 1], change * axes[0, 2])
