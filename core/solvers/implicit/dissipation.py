"""Dissipation beside that of the energies: damping of vibrations, and restitution.

Both change velocities at the end of a substep and conserve linear and angular momentum.

Damping: v - v_rigid is scaled by exp(-damping h), with v_rigid the rigid motion of the same momentum and angular
momentum. Falling, flying and rolling are not damped.

Restitution (`contact/restitution.py`): while two bodies in contact separate, their contact force is reduced;
compression is not affected. The impulse acts on the whole body, as the vertices near the contact have little momentum.
Vertices in contact are excluded: the contact would only reflect a velocity into the surface.
Two rigid bodies stop each other within a step and have no separation phase: once they have stopped, the resultant of
all their contact points gives them the separation speed of Newton's law of restitution.
"""

import math

import numpy as np

from ...contact.contacts import Contacts
from ...contact.mixing import mixed
from ...contact.restitution import (
    RESTING_STEPS,
    bounce_strength,
    damped_parting_speed,
    parting_speed_kernel,
    resting_speed_kernel,
)
from ...extras import step_damping
from ...jit import kernel
from ...model import FloatArray, Model
from ...options import DEFAULTS, MethodOptions
from ...state import PairSpeeds, State
from ..pair_impulses import PairImpulses
from .rigid_motion import rigid_body_motions, rigid_motions, set_rigid_body_motions

#: Approach speed below which separating bodies stay in the separation phase [first approach speed]: vibrations.
SLIGHT_APPROACH = 0.05
#: Fraction of a body's mass without contacts below which contacts are not excluded [1]: the impulse would act on too
#: little mass.
LEAST_UNTOUCHED = 0.2
#: Approach speed below which two rigid bodies have stopped [first approach speed].
STOPPED_SHARE = 0.1


class Dissipation:
    """Applies damping and bounciness to a state at the end of a step."""

    def __init__(self, model: Model, options: MethodOptions = DEFAULTS) -> None:
        self._model = model
        self._step_damping = step_damping(model, options)
        self._damped = bool((model.damping > 0.0).any())
        self._inelastic = model.rigid_count > 0 or bool((model.bounciness < 1.0).any())
        self._strengths: dict[float, float] = {}
        # per moving body: see `bodies.rigid.motion`
        self._motion = np.zeros((model.moving_count, 15))
        self._untouched_mass = np.zeros(model.vertex_count)

    def bounce(
        self, contacts: Contacts, normal_force: FloatArray, pairs: PairImpulses, state: State, time: float
    ) -> None:
        """Restitution only, after a step of a length [s]: change the velocities of `state` in place.

        `normal_force`: of each contact at its end [N].
        """
        model, x, v, membranes = self._model, state.positions, state.velocities, slice(0, self._model.membrane_count)
        if not self._inelastic:
            return
        if not pairs.load.any():
            state.approach = PairSpeeds.none()
            return
        mass = self._untouched_mass
        mass_without_contacts(
            contacts.count, contacts.points, normal_force, model.vertex_mass, model.body_point_start, mass,
        )  # fmt: skip
        rigid_motions(x, v, mass, model.body_point_start, self._motion[membranes])
        solids = self._motion[model.membrane_count :]
        rigid_body_motions(state.rigid, model.rigid, solids)
        bounciness = mixed(model.bounciness[pairs.low], model.bounciness[pairs.high])
        speeds = pairs.speeds(state.approach)
        apply_restitution(
            x, v, model.membrane_count, model.moving_count, mass, model.body_mass, model.body_point_start,
            pairs.low, pairs.high, pairs.impulse, pairs.point, pairs.load, bounciness,
            self._strengths_of(bounciness), self._motion, time * model.gravity, speeds,
        )  # fmt: skip
        set_rigid_body_motions(solids, model.rigid, state.rigid)
        known = speeds != 0.0
        state.approach = PairSpeeds(pairs.key[known], speeds[known])

    def damp(self, state: State, time: float) -> None:
        """Damping only, after a step of a length [s]: change the velocities of `state` in place."""
        model, x, v = self._model, state.positions, state.velocities
        if self._damped:
            rigid_motions(x, v, model.vertex_mass, model.body_point_start, self._motion[: model.membrane_count])
            relax(x, v, model.chunks, self._motion, np.exp(-model.damping * time), model.pinned)
        if model.rigid_count:
            state.rigid.velocity *= np.exp(-time * model.rigid.linear_damping)[:, None]
            state.rigid.angular_momentum *= np.exp(-time * model.rigid.angular_damping)[:, None]
        if self._step_damping is not None:
            self._step_damping.apply(state, time)

    def _strengths_of(self, bounciness: FloatArray) -> FloatArray:
        """`bounce_strength` of each, computed once per distinct value."""
        for e in set(bounciness.tolist()) - self._strengths.keys():
            self._strengths[e] = bounce_strength(e)
        return np.array([self._strengths[e] for e in bounciness.tolist()])


@kernel
def relax(x, v, chunks, motion, kept, pinned):
    """Scale velocities relative to the body's rigid motion by `kept` [1]."""
    for chunk in range(chunks.body.shape[0]):
        body = chunks.body[chunk]
        relax_points(x, v, chunks.start[chunk], chunks.start[chunk + 1], motion[body], kept[body], pinned)


@kernel
def relax_points(x, v, first, last, row, share, pinned):
    """Scale velocities of the points first .. last - 1 relative to a rigid motion by `share` [1]."""
    for i in range(first, last):
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
def mass_without_contacts(count, points, normal_force, vertex_mass, body_point_start, mass):
    """Vertex masses, 0 for vertices in contact; all of a body's where too little would be left."""
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
def angular_response(motion, body, px, py, pz, nx, ny, nz):
    """Change of angular velocity by a unit impulse n at p, and the resulting change of velocity along n at p."""
    row = motion[body]
    rx, ry, rz = px - row[0], py - row[1], pz - row[2]
    tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
    wx = row[9] * tx + row[12] * ty + row[13] * tz
    wy = row[12] * tx + row[10] * ty + row[14] * tz
    wz = row[13] * tx + row[14] * ty + row[11] * tz
    return wx, wy, wz, tx * wx + ty * wy + tz * wz


@kernel
def push_body(x, v, first, last, motion, body, mass, body_mass, wx, wy, wz, nx, ny, nz, impulse):
    """Add the rigid velocity of an impulse to a body's row of `motion`, and to its vertices that have a mass."""
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
def apply_restitution(
    x, v, membrane_count, moving_count, mass, body_mass, body_point_start, low, high, impulse, point, load,
    bounciness, strength, motion, fall, approach_speed,
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
        mass_a = body_mass[a] if a >= membrane_count else mass[first_a:last_a].sum()
        ax, ay, az = point_velocity(motion, a, px, py, pz)
        wax, way, waz, turned_a = angular_response(motion, a, px, py, pz, nx, ny, nz)
        mobility = 1.0 / mass_a + turned_a
        first_b, last_b = body_point_start[b], min(body_point_start[b + 1], vertex_count)
        mass_b = 0.0
        wbx = wby = wbz = 0.0
        if b < moving_count:
            mass_b = body_mass[b] if b >= membrane_count else mass[first_b:last_b].sum()
            bx, by, bz = point_velocity(motion, b, px, py, pz)
            wbx, wby, wbz, turned_b = angular_response(motion, b, px, py, pz, nx, ny, nz)
            mobility += 1.0 / mass_b + turned_b
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
            # at most the contact's own impulse is removed, so that it never pulls; and it is added to only once
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
            taken = (
                speed - damped_parting_speed(speed, min(size * mobility, speed), abs(known), strength[pair])
            ) / mobility
        push_body(x, v, first_a, last_a, motion, a, mass, mass_a, wax, way, waz, nx, ny, nz, -taken)
        if b < moving_count:
            push_body(x, v, first_b, last_b, motion, b, mass, mass_b, wbx, wby, wbz, nx, ny, nz, taken)
