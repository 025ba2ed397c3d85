"""What a body loses on top of its elastic motion: vibrations that die away, and a bounce that gives less back.

Both change velocities at the end of a substep by rigid or relative motions only, so linear and angular momentum stay.

Damping: v - v_rigid shrinks by exp(-damping h), with v_rigid the rigid motion of the same momentum and angular
momentum. Falling, flying and rolling are not braked.

Bounciness: while two bodies in contact part again, their contact force is reduced to N (1 - chi v), v the parting
speed at the contact, as in Hunt and Crossley 1975 but for the way out only, so that a body still squashes fully.
chi = c / v_in with v_in the approach speed. For a linear contact spring the speed given back is exactly
e = `bounciness` when   -e c - ln(1 - e c) = c^2 / 2.
The soft body acts as a whole: its light skin alone has no momentum worth damping.
"""

import math

import numpy as np
from numba import prange

from ..jit import kernel, parallel_kernel
from ..model import Model
from ..state import State
from .energy import StageEnergy

#: Less than this share of the approach speed is given back only as a slow return.
LEAST_BOUNCE = 0.05


class Losses:
    """Applies damping and bounciness to a state at the end of a substep of `time` [s]."""

    def __init__(self, model: Model, time: float) -> None:
        self._model = model
        self._time = time
        self._kept = np.exp(-model.damping * time)
        pair = np.sqrt(np.outer(model.bounciness[: model.membrane_count], model.bounciness))
        self._strength = np.vectorize(bounce_strength, otypes=[float])(pair)
        self._damped = bool((model.damping > 0.0).any())
        self._inelastic = bool((pair < 1.0).any())
        shape = (model.membrane_count, model.body_count)
        self._force = np.zeros((*shape, 3))
        self._point = np.zeros((*shape, 3))
        self._load = np.zeros(shape)
        # per membrane: centre, velocity, angular velocity, inverse inertia (6 numbers)
        self._motion = np.zeros((model.membrane_count, 15))

    def apply(self, energy: StageEnergy, state: State) -> None:
        """Change `state.velocities` in place; `energy` holds the contacts of the step just taken."""
        model, contacts = self._model, energy.contacts
        if not (self._damped or self._inelastic):
            return
        x, v = state.positions, state.velocities
        rigid_motions(x, v, model.vertex_mass, model.body_point_start, self._motion)
        if self._inelastic:
            sum_pairs(
                contacts.count, x, contacts.points, contacts.weights, contacts.normal, contacts.bodies,
                energy.normal_force, model.membrane_count, self._force, self._point, self._load,
            )  # fmt: skip
            if self._load.any():
                brake_pairs(
                    x, v, model.membrane_count, model.body_mass, model.body_point_start, self._force, self._point,
                    self._load, self._strength, self._time, self._motion, state.approach_speed,
                )  # fmt: skip
                rigid_motions(x, v, model.vertex_mass, model.body_point_start, self._motion)
            else:
                state.approach_speed[:] = 0.0
        if self._damped:
            relax(x, v, model.chunks, self._motion, self._kept, model.pinned)


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
def rigid_motions(x, v, mass, body_point_start, motion):
    """Centre [m], velocity [m/s], angular velocity [1/s] and inverse inertia [1/(kg m^2)] of each membrane."""
    for body in prange(motion.shape[0]):
        first, last = body_point_start[body], body_point_start[body + 1]
        m = 0.0
        cx = cy = cz = 0.0
        ux = uy = uz = 0.0
        for i in range(first, last):
            w = mass[i]
            m += w
            cx += w * (x[i, 0] - x[first, 0])
            cy += w * (x[i, 1] - x[first, 1])
            cz += w * (x[i, 2] - x[first, 2])
            ux += w * v[i, 0]
            uy += w * v[i, 1]
            uz += w * v[i, 2]
        cx, cy, cz = x[first, 0] + cx / m, x[first, 1] + cy / m, x[first, 2] + cz / m
        ux, uy, uz = ux / m, uy / m, uz / m
        lx = ly = lz = 0.0
        xx = yy = zz = xy = xz = yz = 0.0
        for i in range(first, last):
            w = mass[i]
            rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
            sx, sy, sz = v[i, 0] - ux, v[i, 1] - uy, v[i, 2] - uz
            lx += w * (ry * sz - rz * sy)
            ly += w * (rz * sx - rx * sz)
            lz += w * (rx * sy - ry * sx)
            xx += w * (ry * ry + rz * rz)
            yy += w * (rx * rx + rz * rz)
            zz += w * (rx * rx + ry * ry)
            xy -= w * rx * ry
            xz -= w * rx * rz
            yz -= w * ry * rz
        # a body squashed to a line has no inertia about it: a little is added
        extra = 1e-9 * (xx + yy + zz)
        xx, yy, zz = xx + extra, yy + extra, zz + extra
        ixx, iyy, izz = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
        ixy, ixz, iyz = xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - yz * xx
        inverse = 1.0 / (xx * ixx + xy * ixy + xz * ixz)
        ixx, iyy, izz = ixx * inverse, iyy * inverse, izz * inverse
        ixy, ixz, iyz = ixy * inverse, ixz * inverse, iyz * inverse
        row = motion[body]
        row[0], row[1], row[2] = cx, cy, cz
        row[3], row[4], row[5] = ux, uy, uz
        row[6] = ixx * lx + ixy * ly + ixz * lz
        row[7] = ixy * lx + iyy * ly + iyz * lz
        row[8] = ixz * lx + iyz * ly + izz * lz
        row[9], row[10], row[11], row[12], row[13], row[14] = ixx, iyy, izz, ixy, ixz, iyz


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
def sum_pairs(count, x, points, weights, normal, bodies, normal_force, membrane_count, force, point, load):
    """Net normal force [N] on the lower-numbered membrane of each pair, the point it acts at, and the sum of |N|."""
    force[:] = 0.0
    point[:] = 0.0
    load[:] = 0.0
    for c in range(count):
        n = normal_force[c]
        if n <= 0.0 or bodies[c, 0] == bodies[c, 1]:
            continue
        a, b, sign = bodies[c, 0], bodies[c, 1], 1.0
        if b < a:
            a, b, sign = b, a, -1.0
        load[a, b] += n
        i = points[c, 0]
        for axis in range(3):
            force[a, b, axis] += sign * n * normal[c, axis]
            # halfway between the point and the triangle
            opposite = 0.0
            for slot in range(1, 4):
                opposite -= weights[c, slot] * x[points[c, slot], axis]
            point[a, b, axis] += n * 0.5 * (x[i, axis] + opposite)


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
def push_body(x, v, first, last, motion, body, mass, wx, wy, wz, nx, ny, nz, impulse):
    """Add the rigid velocity of an impulse to a body's vertices and to its row of `motion`."""
    row = motion[body]
    ux, uy, uz = impulse * nx / mass, impulse * ny / mass, impulse * nz / mass
    wx, wy, wz = impulse * wx, impulse * wy, impulse * wz
    for i in range(first, last):
        rx, ry, rz = x[i, 0] - row[0], x[i, 1] - row[1], x[i, 2] - row[2]
        v[i, 0] += ux + wy * rz - wz * ry
        v[i, 1] += uy + wz * rx - wx * rz
        v[i, 2] += uz + wx * ry - wy * rx
    row[3], row[4], row[5] = row[3] + ux, row[4] + uy, row[5] + uz
    row[6], row[7], row[8] = row[6] + wx, row[7] + wy, row[8] + wz


@kernel
def brake_pairs(
    x, v, membrane_count, mass, body_point_start, force, point, load, strength, time, motion, approach_speed
):
    """Brake the parting of every pair in contact; pairs in their order, so that the result is one.

    `approach_speed` [m/s] per pair: positive while the two approach, negative (same size) once they part.
    """
    for a in range(membrane_count):
        for b in range(a + 1, load.shape[1]):
            size = math.sqrt(force[a, b, 0] ** 2 + force[a, b, 1] ** 2 + force[a, b, 2] ** 2)
            if size <= 1e-12 * load[a, b] or load[a, b] == 0.0:
                approach_speed[a, b] = 0.0
                continue
            nx, ny, nz = force[a, b, 0] / size, force[a, b, 1] / size, force[a, b, 2] / size
            px, py, pz = point[a, b, 0] / load[a, b], point[a, b, 1] / load[a, b], point[a, b, 2] / load[a, b]
            ax, ay, az = point_velocity(motion, a, px, py, pz)
            wax, way, waz, turned_a = turn_by(motion, a, px, py, pz, nx, ny, nz)
            mobility = 1.0 / mass[a] + turned_a
            first, last = body_point_start[b], body_point_start[b + 1]
            if b < membrane_count:
                bx, by, bz = point_velocity(motion, b, px, py, pz)
                wbx, wby, wbz, turned_b = turn_by(motion, b, px, py, pz, nx, ny, nz)
                mobility += 1.0 / mass[b] + turned_b
            else:  # a collider moves as its point nearest to the contact does
                nearest, best = first, 1e300
                for i in range(first, last):
                    away = (x[i, 0] - px) ** 2 + (x[i, 1] - py) ** 2 + (x[i, 2] - pz) ** 2
                    if away < best:
                        nearest, best = i, away
                bx, by, bz = v[nearest, 0], v[nearest, 1], v[nearest, 2]
                wbx = wby = wbz = 0.0
            speed = (ax - bx) * nx + (ay - by) * ny + (az - bz) * nz
            known = approach_speed[a, b]
            if speed <= 0.0:
                approach_speed[a, b] = max(known, -speed)  # a new approach (known < 0) starts afresh
                continue
            approach_speed[a, b] = -abs(known)
            if strength[a, b] == 0.0:
                continue
            # N (1 - chi v), implicit in v: stable for any strength
            rate = strength[a, b] * size * mobility * time
            gone = speed * rate / (abs(known) + rate) if rate > 0.0 else 0.0
            impulse = -gone / mobility
            push_body(
                x, v, body_point_start[a], body_point_start[a + 1], motion, a, mass[a],
                wax, way, waz, nx, ny, nz, impulse,
            )  # fmt: skip
            if b < membrane_count:
                push_body(x, v, first, last, motion, b, mass[b], wbx, wby, wbz, nx, ny, nz, -impulse)
