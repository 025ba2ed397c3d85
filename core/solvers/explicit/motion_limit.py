"""Motion limit by dividing planes: what would cross is cut in its step, never pushed beyond it, so no energy is added.

Planar divide and truncate (Planar-DAT, "Divide and Truncate: A Penetration and Inversion Free Framework for Coupled
Multi-physics Systems", SIGGRAPH 2026; IPC Toolkit, `TrustRegion::planar_filter_step`). A plane separates the sides of a
contact at x. It divides the room between them by how far each would go towards the other; each point's step ends where
it meets its plane, so both sides are apart at y.

1. Inelastic impulses on contacts that fail, two sweeps. They conserve both momenta and only remove approach.
2. What still fails is united in islands. An island has a common velocity V: that of its momentum, or that of the pins
   and colliders in it. Planes move with V, so points that move with V stay apart, and v = V is always allowed.
3. Normal part: v - V is projected on the planes, point by point, a rigid body by the impulse at its point that meets
   the plane. That is the nearest motion allowed, so sliding goes on, and the energy of v - V only falls.
4. Where projections have not met all planes, v - V is scaled down until it does, of a rigid body as its least point.
5. A free island gets back the momentum that was cut by a common velocity, which costs energy only.
6. What is cut may stand in the way of others: again, with larger islands, until nothing fails.

Given points cannot be cut. Planes lie at their ends at y, and the other side is projected there.
"""

import numpy as np

from ...jit import lean_inline_kernel, lean_kernel
from ...simd import dot, lane, load4, triple
from ...union_find import root_of, unite
from .approach import remove_approach
from .arrays import RIGID, WORK
from .carried import (
    answer,
    mover,
    moves,
    place_carried,
    place_point,
    push_body,
    respin,
    set_velocity,
    try_move,
)
from .verify import SPENT_SHARE, holds, least_separation, projections

#: How an attempt limits what fails: by projection, then scaling; to the common velocity.
APART, TOGETHER = range(2)
#: Sweeps of impulses, and of projections on planes.
IMPULSE_SWEEPS, PLANE_SWEEPS = 2, 8
#: Rounds in which islands grow.
MOST_ROUNDS = 8
#: How far beyond its plane a side may end, as a share of the least separation: both together less than `verify` lets.
BEYOND_SHARE = 0.4 * SPENT_SHARE
#: Numbers of an island, in `Run.islands` at its root's place: mass, V, number of given points, momentum.
MASS, SPEED, GIVEN_COUNT, MOMENTUM, ISLAND_SIZE = 0, 1, 4, 5, 8


@lean_kernel
def limit_motion(contact, x, y, velocity, h, how):
    """Limit velocities, and y with them, until no contact ends nearer than it may, or all rounds are over.

    `how`: APART or TOGETHER. Contacts between given points stay as they are.
    """
    run, points = contact.run, contact.points
    if how == APART:
        for sweep in range(IMPULSE_SWEEPS):
            remove_approach(contact, x, y, velocity, h, sweep > 0)
    for i in range(points.parent.shape[0]):
        points.parent[i], points.stamp[i] = i, 0
    for row in range(2 * max(run.found[2], run.found[3])):
        run.is_joined[row] = False
    rows = members = 0
    for _ in range(MOST_ROUNDS):
        place_carried(contact, y)
        failed, rows, members = join_failing(contact, y, rows, members)
        if failed == 0:
            break
        run.state[WORK] += run.found[2] + run.found[3] + PLANE_SWEEPS * rows
        find_islands(contact, velocity, rows, members)
        if how == APART:
            divide(contact, x, y, h, rows)
            for _ in range(PLANE_SWEEPS):
                if project(contact, x, y, velocity, h, rows) == 0:
                    break
        truncate(contact, x, y, velocity, h, rows, members, how)
        keep_momentum(contact, x, y, velocity, h, members)


# --- islands ----------------------------------------------------------------------------------------------------


@lean_kernel
def join_failing(contact, y, rows, members):
    """Unite what moves in each contact that fails at y: how many fail, contacts and movers of all islands so far."""
    run, points = contact.run, contact.points
    failed = 0
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(run.found[2 + kind]):
            if holds(y, contacts, c, kind == 1):
                continue
            first = -1
            for k in range(4):
                i = contacts.points[4 * c + k] >> 2
                if moves(contact, i):
                    i = mover(contact, i)
                    if points.stamp[i] == 0:
                        points.stamp[i] = 1
                        run.head[members] = i
                        members += 1
                    if first < 0:
                        first = i
                    unite(points.parent, first, i)
            if first < 0:
                continue
            failed += 1
            if not run.is_joined[2 * c + kind]:
                run.is_joined[2 * c + kind] = True
                run.joined[rows] = 2 * c + kind
                rows += 1
    return failed, rows, members


@lean_kernel
def island_of(contact, contacts, c):
    """Place of the island of contact c in `Run.islands`."""
    for k in range(4):
        i = contacts.points[4 * c + k] >> 2
        if moves(contact, i):
            return ISLAND_SIZE * root_of(contact.points.parent, mover(contact, i))
    return -1


@lean_kernel
def find_islands(contact, velocity, rows, members):
    """Mass, common velocity and momentum of all islands."""
    run, points, islands = contact.run, contact.points, contact.run.islands
    for m in range(members):
        place = ISLAND_SIZE * run.head[m]
        islands[place : place + ISLAND_SIZE] = 0.0
    for q in range(rows):
        contacts, c = contact.corners if run.joined[q] & 1 == 0 else contact.sides, run.joined[q] >> 1
        place = island_of(contact, contacts, c)
        for k in range(4):
            i = contacts.points[4 * c + k]
            if not moves(contact, i >> 2):
                islands[place + GIVEN_COUNT] += 1.0
                for axis in range(3):
                    islands[place + SPEED + axis] += velocity[i + axis]
    add_momenta(contact, velocity, members)
    for m in range(members):
        place = ISLAND_SIZE * run.head[m]
        if points.parent[run.head[m]] != run.head[m]:
            continue
        for axis in range(3):
            if islands[place + GIVEN_COUNT] > 0.0:
                islands[place + SPEED + axis] /= islands[place + GIVEN_COUNT]
            else:
                islands[place + SPEED + axis] = islands[place + MOMENTUM + axis] / islands[place + MASS]


@lean_kernel
def add_momenta(contact, velocity, members):
    """Masses and momenta of all islands, from zero."""
    points, rigid, islands = contact.points, contact.rigid, contact.run.islands
    for m in range(members):
        i = contact.run.head[m]
        place, b = ISLAND_SIZE * root_of(points.parent, i), points.body[i]
        if contact.bodies.kind[b] == RIGID:
            q = b - rigid.first_body[0]
            mass = 1.0 / rigid.inverse_mass[q]
            v = triple(rigid.velocity[q, 0], rigid.velocity[q, 1], rigid.velocity[q, 2])
        else:
            mass, v = 1.0 / points.inverse_mass[i], load4(velocity, 4 * i)
        islands[place + MASS] += mass
        for axis in range(3):
            islands[place + MOMENTUM + axis] += mass * lane(v, axis)


# --- planes -----------------------------------------------------------------------------------------------------


@lean_inline_kernel
def common_speed(contact, contacts, c):
    """Common velocity of the island of contact c along its normal [m/s]."""
    v, normal = load4(contact.run.islands, island_of(contact, contacts, c) + SPEED), load4(contacts.normal, 4 * c)
    return lane(v, 0) * lane(normal, 0) + lane(v, 1) * lane(normal, 1) + lane(v, 2) * lane(normal, 2)


@lean_kernel
def divide(contact, x, y, h, rows):
    """Where side A of each contact of the islands has to stay along the normal, into `Run.planes` [m].

    Side B has to stay behind that by the least separation.
    """
    run = contact.run
    for q in range(rows):
        contacts, c = contact.corners if run.joined[q] & 1 == 0 else contact.sides, run.joined[q] >> 1
        sx = projections(x, contacts, c) + h * common_speed(contact, contacts, c)
        sy = projections(y, contacts, c)
        sides, least = 1 + (run.joined[q] & 1), least_separation(contacts, c)
        a, a_end, a_given = np.inf, np.inf, np.inf
        b, b_end, b_given = -np.inf, -np.inf, -np.inf
        for k in range(4):
            is_free = moves(contact, contacts.points[4 * c + k] >> 2)
            if k < sides and is_free:
                a, a_end = min(a, lane(sx, k)), min(a_end, lane(sy, k))
            elif k < sides:
                a_given = min(a_given, lane(sy, k))
            elif is_free:
                b, b_end = max(b, lane(sx, k)), max(b_end, lane(sy, k))
            else:
                b_given = max(b_given, lane(sy, k))
        if a == np.inf:
            plane = a_given
        elif b == -np.inf:
            plane = b_given + least
        else:
            towards_b, towards_a = max(a - a_end, 0.0), max(b_end - b, 0.0)
            room, both = max(a - b - least, 0.0), towards_b + towards_a
            plane = a - room * (towards_b / both if both > 0.0 else 0.5)
            plane = min(max(plane, b_given + least), a_given)
        run.planes[q] = plane


@lean_inline_kernel
def beyond(s, k, sides, plane, least):
    """How far point k of a contact is beyond its plane, from the projections [m]."""
    return plane - lane(s, k) if k < sides else lane(s, k) - (plane - least)


@lean_kernel
def project(contact, x, y, velocity, h, rows):
    """Project the ends of the islands' points on their planes, one after the other; how many were beyond."""
    run, points, bodies, rigid = contact.run, contact.points, contact.bodies, contact.rigid
    count = 0
    for q in range(rows):
        contacts, c = contact.corners if run.joined[q] & 1 == 0 else contact.sides, run.joined[q] >> 1
        sides, least = 1 + (run.joined[q] & 1), least_separation(contacts, c)
        nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
        for k in range(4):
            i = contacts.points[4 * c + k] >> 2
            if not moves(contact, i):
                continue
            b = points.body[i]
            place_point(contact, i, y)
            far = beyond(projections(y, contacts, c), k, sides, run.planes[q], least)
            if far <= BEYOND_SHARE * abs(least):
                continue
            count += 1
            speed = far / h if k < sides else -far / h
            if bodies.kind[b] != RIGID:
                run.cut[b] += abs(speed) / points.inverse_mass[i]
                set_velocity(velocity, x, y, h, i, load4(velocity, 4 * i) + triple(nx, ny, nz) * speed)
                continue
            r = b - rigid.first_body[0]
            px, py, pz = x[4 * i], x[4 * i + 1], x[4 * i + 2]
            size = speed / answer(rigid, r, px, py, pz, nx, ny, nz, 0.0)
            run.cut[b] += abs(size)
            push_body(rigid, r, px, py, pz, size * nx, size * ny, size * nz)
            try_move(rigid, r, h)
            place_point(contact, i, y)
    return count


@lean_kernel
def truncate(contact, x, y, velocity, h, rows, members, how):
    """Scale what moves relative to its island until no point is beyond its plane; TOGETHER: to nothing."""
    run, points, bodies, rigid = contact.run, contact.points, contact.bodies, contact.rigid
    share = points.load
    for m in range(members):
        share[run.head[m]] = 0.0 if how == TOGETHER else 1.0
    if how == APART:
        place_carried(contact, y)
        for q in range(rows):
            contacts, c = contact.corners if run.joined[q] & 1 == 0 else contact.sides, run.joined[q] >> 1
            sides, least, plane = 1 + (run.joined[q] & 1), least_separation(contacts, c), run.planes[q]
            sx = projections(x, contacts, c) + h * common_speed(contact, contacts, c)
            sy = projections(y, contacts, c)
            for k in range(4):
                i = contacts.points[4 * c + k] >> 2
                far = beyond(sy, k, sides, plane, least)
                if moves(contact, i) and far > BEYOND_SHARE * abs(least):
                    room = -beyond(sx, k, sides, plane, least)
                    i = mover(contact, i)
                    share[i] = min(share[i], max(room, 0.0) / (max(room, 0.0) + far))
    for m in range(members):
        i = run.head[m]
        if share[i] == 1.0:
            continue
        place, b = ISLAND_SIZE * root_of(points.parent, i) + SPEED, points.body[i]
        common = triple(run.islands[place], run.islands[place + 1], run.islands[place + 2])
        if bodies.kind[b] != RIGID:
            lost = (load4(velocity, 4 * i) - common) * (1.0 - share[i])
            run.cut[b] += dot(lost, lost) ** 0.5 / points.inverse_mass[i]
            set_velocity(velocity, x, y, h, i, load4(velocity, 4 * i) - lost)
            continue
        q = b - rigid.first_body[0]
        own = triple(rigid.velocity[q, 0], rigid.velocity[q, 1], rigid.velocity[q, 2]) - common
        run.cut[b] += (1.0 - share[i]) * dot(own, own) ** 0.5 / rigid.inverse_mass[q]
        for axis in range(3):
            rigid.velocity[q, axis] = lane(common, axis) + share[i] * lane(own, axis)
            rigid.momentum[q, axis] *= share[i]
        respin(rigid, q)
        try_move(rigid, q, h)


@lean_kernel
def keep_momentum(contact, x, y, velocity, h, members):
    """Give free islands the momentum back that was cut, as a common velocity."""
    run, points, bodies, rigid = contact.run, contact.points, contact.bodies, contact.rigid
    islands = run.islands
    for m in range(members):
        place = ISLAND_SIZE * run.head[m]
        islands[place + MASS] = 0.0
        islands[place + MOMENTUM : place + MOMENTUM + 3] = 0.0
    add_momenta(contact, velocity, members)
    for m in range(members):
        i = run.head[m]
        place, b = ISLAND_SIZE * root_of(points.parent, i), points.body[i]
        if islands[place + GIVEN_COUNT] > 0.0:
            continue
        mass = islands[place + MASS]
        lost = triple(
            islands[place + SPEED] - islands[place + MOMENTUM] / mass,
            islands[place + SPEED + 1] - islands[place + MOMENTUM + 1] / mass,
            islands[place + SPEED + 2] - islands[place + MOMENTUM + 2] / mass,
        )
        if bodies.kind[b] != RIGID:
            set_velocity(velocity, x, y, h, i, load4(velocity, 4 * i) + lost)
            continue
        q = b - rigid.first_body[0]
        for axis in range(3):
            rigid.velocity[q, axis] += lane(lost, axis)
        try_move(rigid, q, h)
