"""Contacts as inequality constraints, with Coulomb friction and restitution (Müller et al. 2020, 3.5 and 3.6).

    C = g + h n . sum w_i v_i - r >= 0,   J = -C / (h w(n)) >= 0              g: gap where the substep starts
    u = sum w_i v_i along the surface:    j = -u / w(u),   |j| <= mu J

The normal n is frozen for an epoch (`explicit.arrays.Contacts`), so C is linear in the positions x + h v at the end of
the substep: a correction of positions by lambda is an impulse J = lambda / h, and velocities are projected. w(n) is the
generalised inverse mass of both sides along n, of soft vertices and rigid bodies alike. Contacts have no compliance.
They are projected one after the other, in several sweeps, with accumulated J and j; the sums obey both limits. The
impulses on both sides are opposite: momentum is conserved.

A gap below r is restored by a share of r in a substep, so that bodies that start too near are not thrown apart.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray
from ...bodies.flat.plane import hold_in_plane
from ...contact.coulomb import cone_share
from ...contact.restitution import SEQUENTIAL_RESTING_STEPS, parting_speed_kernel, resting_speed_kernel
from ...jit import lean_kernel
from ..explicit.arrays import PRESSING, SOFT
from ..explicit.carried import carried_inverse_mass, pair_of, respin
from ..explicit.press import note, own_inverse_mass, push_sides, sides_velocity, weigh
from ..explicit.turning import slide_into_line

#: Sweeps over the contacts of a substep: few for light skins, more for stacks of rigid bodies.
SWEEPS, RIGID_SWEEPS = 4, 16
#: Sweeps end when no contact moves its sides by more than this share of the distance that it keeps.
SETTLED = 1e-6
#: Part of the distance to keep by which a gap that is too small is restored in a substep.
RETURN_SHARE = 0.25
#: How far beyond its triangle or edge a contact of soft bodies may act, as a share of it.
FARTHEST = 1.0
#: Target of contacts that do not act.
NOTHING = -1e300


class Impulses(NamedTuple):
    """Impulses and targets of the contacts in a substep."""

    along: FloatArray  # J [N s], shape (capacity,)
    across: FloatArray  # j [N s], shape (capacity, 3)
    wanted: FloatArray  # least velocity along the normal [m/s]
    met: FloatArray  # that before the contacts, between bodies that are not soft [m/s]
    last: FloatArray  # what stops the velocities that come at the end of the substep [N s]


def impulses_of(capacity: int) -> Impulses:
    """Empty arrays for `capacity` contacts."""
    along, wanted, met, last = (np.zeros(capacity) for _ in range(4))
    return Impulses(along, np.zeros((capacity, 3)), wanted, met, last)


@lean_kernel
def aim(phase, x, velocity, h):
    """Target velocity and point of action of each contact; clears the impulses."""
    contact = phase.contact
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        impulses = phase.corner_impulses if kind == 0 else phase.side_impulses
        for c in range(contact.run.found[2 + kind]):
            impulses.wanted[c] = NOTHING
            impulses.last[c] = 0.0
            gap, reach = contacts.gap[4 * c], contacts.reach[c]
            if not contacts.presses[c] or contacts.normal[4 * c + 3] == 0.0:
                continue
            impulses.wanted[c] = min(reach - gap, RETURN_SHARE * reach) / h
            ux, uy, uz = sides_velocity(contact, contacts, c, x, velocity)
            nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
            impulses.met[c] = ux * nx + uy * ny + uz * nz
            if impulses.met[c] >= impulses.wanted[c]:
                impulses.along[c] = 0.0
                impulses.across[c, 0] = impulses.across[c, 1] = impulses.across[c, 2] = 0.0
                continue
            slide_into_line(contacts, c, kind == 1, x, 0.0 if contacts.carried[c] else FARTHEST)
            weigh(contact, contacts, c, x)


@lean_kernel
def start_warm(phase, x, velocity):
    """Warm start: apply the impulses of the substep before."""
    contact = phase.contact
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        impulses = phase.corner_impulses if kind == 0 else phase.side_impulses
        for c in range(contact.run.found[2 + kind]):
            across, size = impulses.across[c], impulses.along[c]
            if size > 0.0:
                nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
                jx, jy, jz = size * nx + across[0], size * ny + across[1], size * nz + across[2]
                push_sides(contact, contacts, c, jx, jy, jz, x, velocity)


@lean_kernel
def sweep(phase, x, velocity):
    """Project all contacts once; returns the largest change of a velocity over the distance to keep [1/s]."""
    changed = 0.0
    contact = phase.contact
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        impulses = phase.corner_impulses if kind == 0 else phase.side_impulses
        for c in range(contact.run.found[2 + kind]):
            wanted, before = impulses.wanted[c], impulses.along[c]
            if wanted == NOTHING:
                continue
            nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
            inverse_mass = contacts.normal[4 * c + 3]
            ux, uy, uz = sides_velocity(contact, contacts, c, x, velocity)
            along = ux * nx + uy * ny + uz * nz
            if along >= wanted and before == 0.0:
                continue
            after = max(before + (wanted - along) / inverse_mass, 0.0)
            more = after - before
            impulses.along[c] = after
            changed = max(changed, abs(more) * inverse_mass / contacts.reach[c])
            across = impulses.across[c]
            limit = contacts.friction[c] * after
            if contacts.carried[c]:
                push_sides(contact, contacts, c, more * nx, more * ny, more * nz, x, velocity)
                ux, uy, uz = sides_velocity(contact, contacts, c, x, velocity)
                along, more = ux * nx + uy * ny + uz * nz, 0.0
            ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
            slide = sqrt(ux * ux + uy * uy + uz * uz)
            jx, jy, jz = across[0], across[1], across[2]
            if slide > 0.0 and limit > 0.0:
                if contacts.carried[c]:
                    tx, ty, tz = ux / slide, uy / slide, uz / slide
                    inverse_mass = own_inverse_mass(contacts, c)
                    inverse_mass += carried_inverse_mass(contact, x, contacts, c, tx, ty, tz)
                jx, jy, jz = jx - ux / inverse_mass, jy - uy / inverse_mass, jz - uz / inverse_mass
            share = cone_share(sqrt(jx * jx + jy * jy + jz * jz), limit)
            jx, jy, jz = share * jx, share * jy, share * jz
            ux, uy, uz = more * nx + jx - across[0], more * ny + jy - across[1], more * nz + jz - across[2]
            push_sides(contact, contacts, c, ux, uy, uz, x, velocity)
            across[0], across[1], across[2] = jx, jy, jz
    return changed


@lean_kernel
def press(phase, x, velocity, velocity_rows, h):
    """Project the contacts of all kinds until they converge, and flat bodies into their planes."""
    aim(phase, x, velocity, h)
    start_warm(phase, x, velocity)
    sweeps = RIGID_SWEEPS if phase.contact.rigid.inverse_mass.shape[0] > 0 else SWEEPS
    for _ in range(sweeps):
        changed = sweep(phase, x, velocity)
        hold_in_plane(phase.planes.pairs, phase.planes.normal, velocity_rows)
        if changed * h < SETTLED:
            break


@lean_kernel
def stop_all(phase, x, velocity):
    """Stop the approach at contacts with an impulse, in several sweeps."""
    contact = phase.contact
    for number in range(2 * SWEEPS):
        kind = number % 2
        contacts = contact.corners if kind == 0 else contact.sides
        impulses = phase.corner_impulses if kind == 0 else phase.side_impulses
        for c in range(contact.run.found[2 + kind]):
            if impulses.along[c] <= 0.0:
                continue
            nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
            ux, uy, uz = sides_velocity(contact, contacts, c, x, velocity)
            size = -(ux * nx + uy * ny + uz * nz) / contacts.normal[4 * c + 3]
            if size > 0.0:
                push_sides(contact, contacts, c, size * nx, size * ny, size * nz, x, velocity)
                note(contact, contacts, c, x, phase.losses, size, 0.0, 0.0, 0.0)
                impulses.last[c] += size


@lean_kernel
def note_contacts(phase, x, velocity, gravity, h):
    """Store results of the contacts of a substep: bodies with contact, impulses for dissipation, restitution."""
    phase.contact.run.state[PRESSING] = pressing = note_all(phase, x)
    if phase.late.rigid.shape[0] > 0 and pressing > 0:
        bounce(phase, x, velocity, gravity, h)


@lean_kernel
def note_all(phase, x):
    """Add contact impulses to those of their pairs, and mark the bodies that they push; returns how many act."""
    losses, touching, pressing = phase.losses, phase.touching, 0
    touching[:] = False
    contact = phase.contact
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        impulses = phase.corner_impulses if kind == 0 else phase.side_impulses
        for c in range(contact.run.found[2 + kind]):
            size = impulses.along[c]
            if size <= 0.0:
                continue
            pressing += 1
            a, b = pair_of(contact, contacts, c)
            if a != b:
                for body in (a, b):
                    if body < touching.shape[0]:
                        touching[body] = True
            across = impulses.across[c]
            note(contact, contacts, c, x, losses, size, across[0], across[1], across[2])
    return pressing


@lean_kernel
def aim_bounce(phase, slow):
    """What contacts between bodies that are not soft want once they have stopped: see `restitution.parting_speed`.

    `slow` = its resting speed [m/s]. What corrects a depth or an order of contacts is no motion.
    """
    contact, bounciness = phase.contact, phase.losses.pairs.bounciness
    body_kind = contact.bodies.kind
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        impulses = phase.corner_impulses if kind == 0 else phase.side_impulses
        for c in range(contact.run.found[2 + kind]):
            impulses.wanted[c] = NOTHING
            a, b = pair_of(contact, contacts, c)
            if impulses.along[c] > 0.0 and body_kind[a] != SOFT and body_kind[b] != SOFT:
                pair = min(a, b) * body_kind.shape[0] + max(a, b)
                impulses.wanted[c] = parting_speed_kernel(bounciness[pair], -impulses.met[c], slow)


@lean_kernel
def bounce(phase, x, velocity, gravity, h):
    """Add the velocities of restitution to `phase.late`, which do not move bodies in this substep.

    `velocity` of points: only those of given bodies are read, as soft ones take no part.
    """
    before, late, rigid = phase.free.rigid, phase.late.rigid, phase.contact.rigid
    aim_bounce(phase, resting_speed_kernel(gravity, h, SEQUENTIAL_RESTING_STEPS))
    for q in range(late.shape[0]):
        for axis in range(3):
            before[q, axis], before[q, 3 + axis] = rigid.velocity[q, axis], rigid.momentum[q, axis]
    for _ in range(RIGID_SWEEPS):
        if sweep(phase, x, velocity) * h < SETTLED:
            break
    for q in range(late.shape[0]):
        for axis in range(3):
            late[q, axis] += rigid.velocity[q, axis] - before[q, axis]
            late[q, 3 + axis] += rigid.momentum[q, axis] - before[q, 3 + axis]
            rigid.velocity[q, axis], rigid.momentum[q, axis] = before[q, axis], before[q, 3 + axis]
        respin(rigid, q)
