"""What a body loses on top of its elastic motion: vibrations that die away, and a bounce that gives less back.

Both change velocities at the end of a substep by rigid or relative motions only, so linear and angular momentum stay.

Damping: v - v_rigid shrinks by exp(-damping h), with v_rigid the rigid motion of the same momentum and angular
momentum. Falling, flying and rolling are not braked.

Bounciness: while two bodies in contact part again, their contact force is reduced to N (1 - chi v), v the parting
speed at the contact, as in Hunt and Crossley 1975 but for the way out only, so that a body still squashes fully.
chi = c / v_in with v_in the approach speed. For a linear contact spring the speed given back is exactly
e = `bounciness` when   -e c - ln(1 - e c) = c^2 / 2. Over a step with the impulse J the speed tends to v_in / c as
exp(-c J / (m v_in)), which holds for any step.
A soft body acts as a whole, for its light skin alone has no momentum worth damping. What touches is left out: it is
held by the contact, and a velocity into the surface would only be thrown back.
"""

import math

import numpy as np
from numba import prange

from ..jit import kernel, parallel_kernel
from ..model import Model
from ..state import State
from .energy import StageEnergy
from .momentum import PairImpulses
from .rigid_motion import rigid_motions

#: Two bodies that part and approach again by less than this share of their first approach are still parting.
SLIGHT_APPROACH = 0.05
#: A body of which less than this share of the mass is untouched is braked as a whole.
LEAST_UNTOUCHED = 0.2
#: Less than this share of the approach speed is given back only as a slow return.
LEAST_BOUNCE = 0.05


class Losses:
    """Applies damping and bounciness to a state at the end of a step."""

    def __init__(self, model: Model) -> None:
        self._model = model
        pair = np.sqrt(np.outer(model.bounciness[: model.membrane_count], model.bounciness))
        self._strength = np.vectorize(bounce_strength, otypes=[float])(pair)
        self._damped = bool((model.damping > 0.0).any())
        self._inelastic = bool((pair < 1.0).any())
        # per membrane: centre, velocity, angular velocity, inverse inertia (6 numbers)
        self._motion = np.zeros((model.membrane_count, 15))
        self._untouched_mass = np.zeros(model.vertex_count)

    def apply(self, energy: StageEnergy, pairs: PairImpulses, state: State, time: float) -> None:
        """Change `state.velocities` in place.

        `energy` holds the contacts at the end of the step just taken, `pairs` their impulses during it, `time` its
        length [s].
        """
        model, contacts = self._model, energy.contacts
        if not (self._damped or self._inelastic):
            return
        x, v = state.positions, state.velocities
        if self._inelastic:
            if pairs.load.any():
                mass = self._untouched_mass
                leave_out_touched(
                    contacts.count, contacts.points, energy.normal_force, model.vertex_mass, model.body_point_start,
                    mass,
                )  # fmt: skip
                rigid_motions(x, v, mass, model.body_point_start, self._motion)
                brake_pairs(
                    x, v, model.membrane_count, mass, model.body_point_start, pairs.impulse, pairs.point, pairs.load,
                    self._strength, self._motion, time * model.gravity, state.approach_speed,
                )  # fmt: skip
            else:
                state.approach_speed[:] = 0.0
        if self._damped:
            rigid_motions(x, v, model.vertex_mass, model.body_point_start, self._motion)
            relax(x, v, model.chunks, self._motion, np.exp(-model.damping * time), model.pinned)


def bounce_strength(bounciness: float) -> float:
    """c for a bounciness e: the root of -e c - ln(1 - e c) = c^2 / 2; 0 for e = 1."""
    if bounciness >= 1.0:
        return 0.0
    e = max(bounciness, LEAST_BOUNCE)
    # g(c) = -e c - ln(1 - e c) - c^2 / 2 is negative just above 0 and infinite at c = 1 / e
    low, high = 1e-9, 1.0 / e
    for _ in range(200):
        middle = 0.5 * (low + high)
        s = e * middle
        if s < 1.0 and -s - math.log1p(-s) < 0.5 * middle * middle:
            low = middle
        else:
            high = middle
    return low


@parallel_kernel
def relax(x, v, chunks, motion, kept, pinned):
    """Shrink velocities relative to the body's rigid motion to the share `kept`."""
    for chunk in prange(chunks.body.shape[0]):
        body = chunks.body[chunk]
        row = motion[body]
        share = kept[body]
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            if pinned[i]:
                continue
            rx, ry, rz = x[i, 0] - row[0], x[i, 1] - row[1], x[i, 2] - row[2]
            sx = row[3] + row[7] * rz - row[8] * ry
            sy = row[4] + row[8] * rx - row[6] * rz
            sz = row[5] + row[6] * ry - row[7] * rx
            v[i, 0] = sx + share * (v[i, 0] - sx)
            v[i, 1] = sy + share * (v[i, 1] - sy)
            v[i, 2] = sz + share * (v[i, 2] - sz)


@kernel
def leave_out_touched(count, points, normal_force, vertex_mass, body_point_start, mass):
    """Vertex masses without those that a contact pushes; all of a body's where hardly any would be left."""
    vertex_count = mass.shape[0]
    mass[:] = vertex_mass
    for c in range(count):
        if normal_force[c] > 0.0:
            for slot in range(4):
                if points[c, slot] < vertex_count:
                    mass[points[c, slot]] = 0.0
    for body in range(body_point_start.shape[0] - 1):
        first, last = body_point_start[body], body_point_start[body + 1]
        if last > vertex_count:
            break
        untouched = 0
        for i in range(first, last):
            untouched += mass[i] > 0.0
        # three vertices or fewer may have no inertia about some axis
        if untouched < 4 or mass[first:last].sum() < LEAST_UNTOUCHED * vertex_mass[first:last].sum():
            mass[first:last] = vertex_mass[first:last]


@kernel
def point_velocity(motion, body, px, py, pz):
    """Velocity of a body's rigid motion at a point."""
    row = motion[body]
    rx, ry, rz = px - row[0], py - row[1], pz - row[2]
    return (
        row[3] + row[7] * rz - row[8] * ry,
        row[4] + row[8] * rx - row[6] * rz,
        row[5] + row[6] * ry - row[7] * rx,
    )


@kernel
def turn_by(motion, body, px, py, pz, nx, ny, nz):
    """Change of angular velocity by a unit impulse n at p, and the change of speed along n that it brings."""
    row = motion[body]
    rx, ry, rz = px - row[0], py - row[1], pz - row[2]
    tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
    wx = row[9] * tx + row[12] * ty + row[13] * tz
    wy = row[12] * tx + row[10] * ty + row[14] * tz
    wz = row[13] * tx + row[14] * ty + row[11] * tz
    return wx, wy, wz, tx * wx + ty * wy + tz * wz


@kernel
def push_body(x, v, first, last, motion, body, mass, body_mass, wx, wy, wz, nx, ny, nz, impulse):
    """Add the rigid velocity of an impulse to the vertices of a body that have a mass, and to its row of `motion`."""
    row = motion[body]
    ux, uy, uz = impulse * nx / body_mass, impulse * ny / body_mass, impulse * nz / body_mass
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
def brake_pairs(
    x, v, membrane_count, mass, body_point_start, impulse, point, load, strength, motion, fall, approach_speed
):
    """Brake the parting of every pair in contact; pairs in their order, so that the result is one.

    `mass` [kg] and `motion` are of the vertices that no contact pushes.
    `approach_speed` [m/s] per pair: positive while the two approach, negative (same size) once they part.
    """
    body_mass = np.empty(membrane_count)
    for body in range(membrane_count):
        body_mass[body] = mass[body_point_start[body] : body_point_start[body + 1]].sum()
    for a in range(membrane_count):
        for b in range(a + 1, load.shape[1]):
            size = math.sqrt(impulse[a, b, 0] ** 2 + impulse[a, b, 1] ** 2 + impulse[a, b, 2] ** 2)
            if size <= 1e-12 * load[a, b] or load[a, b] == 0.0:
                approach_speed[a, b] = 0.0
                continue
            nx, ny, nz = impulse[a, b, 0] / size, impulse[a, b, 1] / size, impulse[a, b, 2] / size
            px, py, pz = point[a, b, 0] / load[a, b], point[a, b, 1] / load[a, b], point[a, b, 2] / load[a, b]
            ax, ay, az = point_velocity(motion, a, px, py, pz)
            wax, way, waz, turned_a = turn_by(motion, a, px, py, pz, nx, ny, nz)
            mobility = 1.0 / body_mass[a] + turned_a
            first, last = body_point_start[b], body_point_start[b + 1]
            if b < membrane_count:
                bx, by, bz = point_velocity(motion, b, px, py, pz)
                wbx, wby, wbz, turned_b = turn_by(motion, b, px, py, pz, nx, ny, nz)
                mobility += 1.0 / body_mass[b] + turned_b
            else:  # a collider moves as its point nearest to the contact does
                nearest, best = first, 1e300
                for i in range(first, last):
                    away = (x[i, 0] - px) ** 2 + (x[i, 1] - py) ** 2 + (x[i, 2] - pz) ** 2
                    if away < best:
                        nearest, best = i, away
                bx, by, bz = v[nearest, 0], v[nearest, 1], v[nearest, 2]
                wbx = wby = wbz = 0.0
            speed = (ax - bx) * nx + (ay - by) * ny + (az - bz) * nz
            # before the step, which has added the contact's impulse and, against a collider, gravity's
            earlier = speed - size * mobility
            if b >= membrane_count:
                earlier -= nx * fall[0] + ny * fall[1] + nz * fall[2]
            known = approach_speed[a, b]
            if -earlier > SLIGHT_APPROACH * abs(known):
                known = max(known, -earlier)  # a new approach (known < 0) starts afresh
            if speed <= 0.0:
                approach_speed[a, b] = known
                continue
            approach_speed[a, b] = -abs(known)
            if strength[a, b] == 0.0:
                continue
            # the step has added all of N dt; what N (1 - chi v) leaves is exact for a steady N, from v = 0 or later
            added = min(size * mobility, speed)
            limit = abs(known) / strength[a, b]
            kept = limit + (speed - added - limit) * math.exp(-added / limit) if limit > 0.0 else 0.0
            taken = (speed - kept) / mobility
            push_body(
                x, v, body_point_start[a], body_point_start[a + 1], motion, a, mass, body_mass[a],
                wax, way, waz, nx, ny, nz, -taken,
            )  # fmt: skip
            if b < membrane_count:
                push_body(x, v, first, last, motion, b, mass, body_mass[b], wbx, wby, wbz, nx, ny, nz, taken)
