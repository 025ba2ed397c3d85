"""Contacts as inequality constraints, with Coulomb friction and bounces (Müller et al. 2020, 3.5 and 3.6).

    C = g + h n . sum w_i v_i - r >= 0,   J = -C / (h w(n)) >= 0              g: gap where the substep starts
    u = sum w_i v_i along the surface:    j = -u / w(u),   |j| <= mu J

The normal n is frozen for an epoch (`explicit.arrays.Contacts`), so C is linear in the positions x + h v at the end of
the substep: a correction of positions by lambda is an impulse J = lambda / h, and it is velocities that are projected.
w(n) is the generalised inverse mass of both sides along n, soft vertices and rigid bodies alike. Contacts have no
compliance. They are projected one after the other, several times, with accumulated J and j; the sums obey both limits.
What a contact does to one side it does to the other: momentum stays.
What is nearer than r comes back by a share of r in a substep: what starts too near is not thrown apart.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...jit import lean_inline_kernel, lean_kernel
from ...lanes import lane
from ...model import FloatArray
from ...plane import hold_in_plane
from ..explicit.arrays import PRESSING, SOFT
from ..explicit.carried import carried_inverse_mass, carried_velocity, push_carried, respin
from ..explicit.glue import pulled_apart
from ..explicit.press import note, own_inverse_mass, push, push_bodies, relative_velocity

#: Sweeps over the contacts of a substep: light skins give way at once, rigid bodies carry each other.
SWEEPS, RIGID_SWEEPS = 4, 16
#: Sweeps end when no contact moves its sides by more than this share of what it keeps.
SETTLED = 1e-6
#: What is too near comes back by this share of what it keeps in a substep.
RETURN_SHARE = 0.25
#: Rigid bodies that meet at less than gravity adds in this many substeps lie on each other and do not bounce.
RESTING_STEPS = 2.0
#: Least weight of a point where a contact acts beyond its triangle or edge.
FARTHEST = -1.0
#: Wanted by what does not press.
NOTHING = -1e300


class Impulses(NamedTuple):
    """What contacts do in a substep."""

    along: FloatArray  # J [N s], shape (capacity,)
    across: FloatArray  # j [N s], shape (capacity, 3)
    wanted: FloatArray  # least velocity along the normal [m/s]
    met: FloatArray  # that before the contacts, between bodies that are not soft [m/s]


def impulses_of(capacity: int) -> Impulses:
    """Room for so many."""
    return Impulses(np.zeros(capacity), np.zeros((capacity, 3)), np.zeros(capacity), np.zeros(capacity))


@lean_inline_kernel
def sides_velocity(contacts, c, x, velocity, points, bodies, rigid):
    """Of side A of contact c to side B [m/s]."""
    ux, uy, uz = relative_velocity(velocity, contacts, c)
    if contacts.carried[c]:
        cx, cy, cz = carried_velocity(rigid, x, points, bodies, contacts, c)
        ux, uy, uz = ux + cx, uy + cy, uz + cz
    return ux, uy, uz


@lean_inline_kernel
def push_sides(contacts, c, jx, jy, jz, x, velocity, points, bodies, rigid):
    """An impulse [N s] on side A of contact c, and the opposite one on side B."""
    push(velocity, contacts, c, jx, jy, jz)
    if contacts.carried[c]:
        push_carried(rigid, x, points, bodies, contacts, c, jx, jy, jz)


@lean_inline_kernel
def is_stiff(contacts, c, points, bodies):
    """Whether neither side of contact c is soft."""
    a, b = points.body[contacts.points[4 * c] >> 2], points.body[contacts.points[4 * c + 3] >> 2]
    return bodies.kind[a] != SOFT and bodies.kind[b] != SOFT


@lean_inline_kernel
def triple_product(ax, ay, az, bx, by, bz, cx, cy, cz):
    """a . b x c."""
    return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)


@lean_kernel
def aim_points(contacts, c, are_edges, x, least):
    """Put the points where contact c acts on one line along its normal, so that its impulse has no torque.

    They stay where they are if a weight would be less than `least`.
    """
    i, j, k, m = (
        contacts.points[4 * c],
        contacts.points[4 * c + 1],
        contacts.points[4 * c + 2],
        contacts.points[4 * c + 3],
    )
    nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    if are_edges:  # s a + t b = m - i across the normal, from the first ends of both
        ax, ay, az = x[j] - x[i], x[j + 1] - x[i + 1], x[j + 2] - x[i + 2]
        bx, by, bz = x[k] - x[m], x[k + 1] - x[m + 1], x[k + 2] - x[m + 2]
        dx, dy, dz = x[k] - x[i], x[k + 1] - x[i + 1], x[k + 2] - x[i + 2]
    else:  # s a + t b = i - j across the normal, from a corner of the triangle
        ax, ay, az = x[k] - x[j], x[k + 1] - x[j + 1], x[k + 2] - x[j + 2]
        bx, by, bz = x[m] - x[j], x[m + 1] - x[j + 1], x[m + 2] - x[j + 2]
        dx, dy, dz = x[i] - x[j], x[i + 1] - x[j + 1], x[i + 2] - x[j + 2]
    across = triple_product(nx, ny, nz, ax, ay, az, bx, by, bz)
    if across == 0.0:
        return
    s = triple_product(nx, ny, nz, dx, dy, dz, bx, by, bz) / across
    t = triple_product(nx, ny, nz, ax, ay, az, dx, dy, dz) / across
    if not min(s, t) >= least or not (max(s, t) if are_edges else s + t) <= 1.0 - least:
        return
    weight = contacts.weight
    if are_edges:
        weight[4 * c], weight[4 * c + 1], weight[4 * c + 2], weight[4 * c + 3] = 1.0 - s, s, t - 1.0, -t
    else:
        weight[4 * c + 1], weight[4 * c + 2], weight[4 * c + 3] = s + t - 1.0, -s, -t


@lean_kernel
def aim(contacts, count, are_edges, impulses, x, velocity, points, bodies, rigid, h):
    """What each contact wants, and where it acts; no impulses yet."""
    for c in range(count):
        impulses.wanted[c] = NOTHING
        gap, reach = contacts.gap[4 * c], contacts.reach[c]
        if contacts.stiffness[c] == 0.0 or contacts.normal[4 * c + 3] == 0.0:
            continue
        impulses.wanted[c] = min(reach - gap, RETURN_SHARE * reach) / h
        ux, uy, uz = sides_velocity(contacts, c, x, velocity, points, bodies, rigid)
        nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
        impulses.met[c] = ux * nx + uy * ny + uz * nz
        if impulses.met[c] >= impulses.wanted[c]:
            impulses.along[c] = 0.0
            impulses.across[c, 0] = impulses.across[c, 1] = impulses.across[c, 2] = 0.0
            continue
        aim_points(contacts, c, are_edges, x, 0.0 if contacts.carried[c] else FARTHEST)
        for k in range(4):
            contacts.share[4 * c + k] = (
                contacts.weight[4 * c + k] * points.inverse_mass[contacts.points[4 * c + k] >> 2]
            )
        total = own_inverse_mass(contacts, c)
        if contacts.carried[c]:
            total += carried_inverse_mass(rigid, x, points, bodies, contacts, c, nx, ny, nz)
        contacts.normal[4 * c + 3] = total


@lean_kernel
def start_warm(contacts, count, impulses, x, velocity, points, bodies, rigid):
    """Begin with the impulses of the substep before."""
    for c in range(count):
        held, size = impulses.across[c], impulses.along[c]
        if size > 0.0:
            nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
            push_sides(
                contacts, c, size * nx + held[0], size * ny + held[1], size * nz + held[2], x, velocity, points,
                bodies, rigid,
            )  # fmt: skip


@lean_kernel
def sweep(contacts, count, impulses, x, velocity, points, bodies, rigid):
    """Project all contacts once; returns the largest change of a velocity over what its contact keeps [1/s]."""
    changed = 0.0
    for c in range(count):
        wanted, before = impulses.wanted[c], impulses.along[c]
        if wanted == NOTHING:
            continue
        nx, ny, nz, inverse_mass = (
            contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2], contacts.normal[4 * c + 3]
        )  # fmt: skip
        ux, uy, uz = sides_velocity(contacts, c, x, velocity, points, bodies, rigid)
        along = ux * nx + uy * ny + uz * nz
        if along >= wanted and before == 0.0:
            continue
        after = max(before + (wanted - along) / inverse_mass, 0.0)
        more = after - before
        impulses.along[c] = after
        changed = max(changed, abs(more) * inverse_mass / contacts.reach[c])
        held = impulses.across[c]
        limit = contacts.friction[c] * after
        if contacts.carried[c]:
            push_sides(contacts, c, more * nx, more * ny, more * nz, x, velocity, points, bodies, rigid)
            ux, uy, uz = sides_velocity(contacts, c, x, velocity, points, bodies, rigid)
            along, more = ux * nx + uy * ny + uz * nz, 0.0
        ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
        slide = sqrt(ux * ux + uy * uy + uz * uz)
        jx, jy, jz = held[0], held[1], held[2]
        if slide > 0.0 and limit > 0.0:
            if contacts.carried[c]:
                tx, ty, tz = ux / slide, uy / slide, uz / slide
                inverse_mass = own_inverse_mass(contacts, c)
                inverse_mass += carried_inverse_mass(rigid, x, points, bodies, contacts, c, tx, ty, tz)
            jx, jy, jz = jx - ux / inverse_mass, jy - uy / inverse_mass, jz - uz / inverse_mass
        size = sqrt(jx * jx + jy * jy + jz * jz)
        if size > limit:
            jx, jy, jz = jx * limit / size, jy * limit / size, jz * limit / size
        push_sides(
            contacts, c, more * nx + jx - held[0], more * ny + jy - held[1], more * nz + jz - held[2], x, velocity,
            points, bodies, rigid,
        )  # fmt: skip
        held[0], held[1], held[2] = jx, jy, jz
    return changed


@lean_kernel
def press(scene, x, velocity, velocity_rows, h):
    """Project the contacts of all kinds until they settle, and flat bodies into their planes."""
    contact = scene.contact
    points = contact.points
    bodies = contact.bodies
    rigid = contact.rigid
    count = contact.run.found
    aim(contact.corners, count[2], False, scene.corner_impulses, x, velocity, points, bodies, rigid, h)
    aim(contact.sides, count[3], True, scene.side_impulses, x, velocity, points, bodies, rigid, h)
    aim(contact.loose, contact.loose_count[0], False, scene.loose_impulses, x, velocity, points, bodies, rigid, h)
    start_warm(contact.corners, count[2], scene.corner_impulses, x, velocity, points, bodies, rigid)
    start_warm(contact.sides, count[3], scene.side_impulses, x, velocity, points, bodies, rigid)
    start_warm(contact.loose, contact.loose_count[0], scene.loose_impulses, x, velocity, points, bodies, rigid)
    sweeps = RIGID_SWEEPS if rigid.inverse_mass.shape[0] > 0 else SWEEPS
    for _ in range(sweeps):
        changed = sweep_all(scene, x, velocity)
        hold_in_plane(scene.skins.pairs, scene.skins.pair_normal, velocity_rows)
        if changed * h < SETTLED:
            break


@lean_kernel
def sweep_all(scene, x, velocity):
    """`sweep` over the contacts of all kinds."""
    contact = scene.contact
    points = contact.points
    bodies = contact.bodies
    rigid = contact.rigid
    count = contact.run.found
    changed = sweep(contact.corners, count[2], scene.corner_impulses, x, velocity, points, bodies, rigid)
    changed = max(changed, sweep(contact.sides, count[3], scene.side_impulses, x, velocity, points, bodies, rigid))
    loose = sweep(contact.loose, contact.loose_count[0], scene.loose_impulses, x, velocity, points, bodies, rigid)
    return max(changed, loose)


@lean_kernel
def note_contacts(scene, x, velocity, gravity, h):
    """What the contacts of a substep leave behind: which bodies touch, what losses need to know, bounces."""
    contact = scene.contact
    points = contact.points
    bodies = contact.bodies
    losses = scene.losses
    count, touching = contact.run.found, scene.touching
    touching[:] = False
    pressing = note_all(contact.corners, count[2], scene.corner_impulses, x, points, bodies, losses, touching)
    pressing += note_all(contact.sides, count[3], scene.side_impulses, x, points, bodies, losses, touching)
    pressing += note_all(
        contact.loose, contact.loose_count[0], scene.loose_impulses, x, points, bodies, losses, touching
    )  # fmt: skip
    contact.run.state[PRESSING] = pressing
    scene.gained[:] = 0.0
    if scene.gained.shape[0] > 0 and pressing > 0:
        bounce(scene, x, velocity, gravity, h)


@lean_kernel
def note_all(contacts, count, impulses, x, points, bodies, losses, touching):
    """Note what contacts did for the losses, and which bodies they push; returns how many press."""
    pressing = 0
    for c in range(count):
        size = impulses.along[c]
        if size <= 0.0:
            continue
        pressing += 1
        a, b = points.body[contacts.points[4 * c] >> 2], points.body[contacts.points[4 * c + 3] >> 2]
        if a != b:
            for body in (a, b):
                if body < touching.shape[0]:
                    touching[body] = True
        held = impulses.across[c]
        note(contacts, c, x, points, bodies, losses, size)
        push_bodies(losses, a, b, held[0], held[1], held[2])
    return pressing


@lean_kernel
def aim_bounce(contacts, count, impulses, points, bodies, bounciness, slow):
    """What contacts between bodies that are not soft want once they have stopped: -e times the speed they met at.

    None of it if that was below `slow` [m/s]. What corrects a depth or an order of contacts is no motion.
    """
    for c in range(count):
        impulses.wanted[c] = NOTHING
        if impulses.along[c] > 0.0 and is_stiff(contacts, c, points, bodies):
            a, b = points.body[contacts.points[4 * c] >> 2], points.body[contacts.points[4 * c + 3] >> 2]
            pair = min(a, b) * bodies.kind.shape[0] + max(a, b)
            impulses.wanted[c] = -bounciness[pair] * impulses.met[c] if impulses.met[c] < -slow else 0.0


@lean_kernel
def bounce(scene, x, velocity, gravity, h):
    """Velocities that rigid bodies have after the substep beyond those that move them, into `scene.gained`.

    `velocity` of points, of which only those of given bodies are read: soft ones have no part in this.
    """
    contact = scene.contact
    points = contact.points
    bodies = contact.bodies
    rigid = contact.rigid
    count = contact.run.found
    gained, bounciness = scene.gained, scene.losses.pairs.bounciness
    slow = RESTING_STEPS * h * sqrt(gravity[0] ** 2 + gravity[1] ** 2 + gravity[2] ** 2)
    aim_bounce(contact.corners, count[2], scene.corner_impulses, points, bodies, bounciness, slow)
    aim_bounce(contact.sides, count[3], scene.side_impulses, points, bodies, bounciness, slow)
    aim_bounce(contact.loose, contact.loose_count[0], scene.loose_impulses, points, bodies, bounciness, slow)
    for q in range(gained.shape[0]):
        for axis in range(3):
            gained[q, axis], gained[q, 3 + axis] = rigid.velocity[q, axis], rigid.momentum[q, axis]
    for _ in range(RIGID_SWEEPS):
        if sweep_all(scene, x, velocity) * h < SETTLED:
            break
    for q in range(gained.shape[0]):
        for axis in range(3):
            before, turning = gained[q, axis], gained[q, 3 + axis]
            gained[q, axis], gained[q, 3 + axis] = rigid.velocity[q, axis] - before, rigid.momentum[q, axis] - turning
            rigid.velocity[q, axis], rigid.momentum[q, axis] = before, turning
        respin(rigid, q)


@lean_kernel
def project_glue(glue, x, velocity, points, bodies, rigid, h):
    """Project every attachment once: C = |sum w_i (x_i + h v_i) - o|, compliance 1 / k (`forces.attachment`)."""
    rows = glue.rows
    for a in range(glue.stiffness.shape[0]):
        ux, uy, uz = sides_velocity(rows, a, x, velocity, points, bodies, rigid)
        pulled = pulled_apart(glue, a, x)
        dx, dy, dz = h * ux + lane(pulled, 0), h * uy + lane(pulled, 1), h * uz + lane(pulled, 2)
        length = sqrt(dx * dx + dy * dy + dz * dz)
        if length == 0.0:
            continue
        give = own_inverse_mass(rows, a)
        if rows.carried[a]:
            give += carried_inverse_mass(rigid, x, points, bodies, rows, a, dx / length, dy / length, dz / length)
        size = -1.0 / (h * give + 1.0 / (glue.stiffness[a] * h))
        push_sides(rows, a, size * dx, size * dy, size * dz, x, velocity, points, bodies, rigid)
