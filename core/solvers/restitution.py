"""Restitution: while two bodies in contact separate, their contact force is reduced; compression is not affected.

The laws are those of `contact/restitution.py`. The impulse acts on the whole body, as the vertices near the contact
have little momentum; vertices in contact are excluded: the contact would only reflect a velocity into the surface. Two
rigid bodies stop each other within a step and have no separation phase: once they have stopped, the resultant of all
their contact points gives them the separation speed of Newton's law of restitution. No more is taken of a contact's
impulse than it was, so contacts never pull. Linear and angular momentum are conserved.
"""

import math

from ..contact.restitution import RESTING_STEPS, damped_parting_speed, parting_speed_kernel, resting_speed_kernel
from ..jit import kernel
from .rigid_motion import angular_response, point_velocity

#: Approach speed below which separating bodies stay in the separation phase [first approach speed]: vibrations.
SLIGHT_APPROACH = 0.05
#: Fraction of a body's mass without contacts below which contacts are not excluded [1]: the impulse would act on too
#: little mass.
LEAST_UNTOUCHED = 0.2
#: Approach speed below which two rigid bodies have stopped [first approach speed].
STOPPED_SHARE = 0.1


@kernel
def push_body(x, v, first, last, motion, body, mass, wx, wy, wz, nx, ny, nz, impulse):
    """Add the rigid velocity of an impulse to a body's row of `motion`, and to its vertices that have a mass."""
    row = motion[body]
    ux, uy, uz = impulse * nx / row[15], impulse * ny / row[15], impulse * nz / row[15]
    wx, wy, wz = impulse * wx, impulse * wy, impulse * wz
    for i in range(first, last):
        if mass[i] > 0.0:
            rx, ry, rz = x[i, 0] - row[0], x[i, 1] - row[1], x[i, 2] - row[2]
            v[i, 0] += ux + wy * rz - wz * ry
            v[i, 1] += uy + wz * rx - wx * rz
            v[i, 2] += uz + wx * ry - wy * rx
    row[3], row[4], row[5] = row[3] + ux, row[4] + uy, row[5] + uz
    row[6], row[7], row[8] = row[6] + wx, row[7] + wy, row[8] + wz


@kernel
def apply_restitution(
    x, v, membrane_count, moving_count, mass, body_point_start, low, high, impulse, point, load, bounciness,
    strength, motion, fall, approach_speed,
):  # fmt: skip
    """Correct the separation speed of every pair in contact; serial, in the order of pairs, so deterministic.

    `mass` [kg], `motion`: of the vertices without contact, and of rigid bodies. `approach_speed` [m/s] per pair:
    positive while the two approach, negative (same size) once they separate.
    """
    vertex_count = mass.shape[0]
    for pair in range(load.shape[0]):
        a, b = low[pair], high[pair]
        if a == b or load[pair] <= 0.0:  # cancelling forces leave rounding of either sign
            approach_speed[pair] = 0.0
            continue
        jx, jy, jz = impulse[pair, 0], impulse[pair, 1], impulse[pair, 2]
        size = math.sqrt(jx * jx + jy * jy + jz * jz)
        if size <= 1e-12 * load[pair]:
            approach_speed[pair] = 0.0
            continue
        nx, ny, nz = jx / size, jy / size, jz / size
        px, py, pz = point[pair, 0] / load[pair], point[pair, 1] / load[pair], point[pair, 2] / load[pair]
        first_a, last_a = body_point_start[a], min(body_point_start[a + 1], vertex_count)
        ax, ay, az = point_velocity(motion, a, px, py, pz)
        wax, way, waz, turned_a = angular_response(motion, a, px, py, pz, nx, ny, nz)
        mobility = 1.0 / motion[a, 15] + turned_a
        first_b, last_b = body_point_start[b], min(body_point_start[b + 1], vertex_count)
        wbx = wby = wbz = 0.0
        if b < moving_count:
            bx, by, bz = point_velocity(motion, b, px, py, pz)
            wbx, wby, wbz, turned_b = angular_response(motion, b, px, py, pz, nx, ny, nz)
            mobility += 1.0 / motion[b, 15] + turned_b
        else:  # a collider: velocity of its point nearest to the contact
            nearest, best = first_b, 1e300
            for i in range(first_b, body_point_start[b + 1]):
                away = (x[i, 0] - px) ** 2 + (x[i, 1] - py) ** 2 + (x[i, 2] - pz) ** 2
                if away < best:
                    nearest, best = i, away
            bx, by, bz = v[nearest, 0], v[nearest, 1], v[nearest, 2]
        speed = (ax - bx) * nx + (ay - by) * ny + (az - bz) * nz
        # before the step, which has added the impulse of the contact and, against a collider, of gravity
        earlier = speed - size * mobility
        if b >= moving_count:
            earlier -= nx * fall[0] + ny * fall[1] + nz * fall[2]
        known = approach_speed[pair]
        if -earlier > SLIGHT_APPROACH * abs(known):
            known = max(known, -earlier)  # a new approach (known < 0) replaces the old one
        if a >= membrane_count:
            # two rigid bodies: they stop within a step or two, and separate by Newton's law of restitution
            resting = resting_speed_kernel(fall, 1.0, RESTING_STEPS)
            wanted = parting_speed_kernel(bounciness[pair], abs(known), resting)
            if abs(known) <= resting:
                approach_speed[pair] = 0.0  # a resting contact
                continue
            if known > 0.0 and speed < -STOPPED_SHARE * known:
                approach_speed[pair] = known  # not stopped yet
                continue
            approach_speed[pair] = -abs(known)
            # added to only once
            taken = min((speed - wanted) / mobility, size)
            if known < 0.0:
                taken = max(taken, 0.0)
        else:
            if speed <= 0.0:
                approach_speed[pair] = known
                continue
            approach_speed[pair] = -abs(known)
            if strength[pair] == 0.0:
                continue
            # the step has added all of N dt
            left = damped_parting_speed(speed, min(size * mobility, speed), abs(known), strength[pair])
            taken = min((speed - left) / mobility, size)
        push_body(x, v, first_a, last_a, motion, a, mass, wax, way, waz, nx, ny, nz, -taken)
        if b < moving_count:
            push_body(x, v, first_b, last_b, motion, b, mass, wbx, wby, wbz, nx, ny, nz, taken)
