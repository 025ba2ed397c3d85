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
from ...simd import four, lane, load4, store4, sum_spread, triple
from ...union_find import root_of, unite
from .arrays import CARRIED_COUNT, GIVEN, RIGID, SOFT
from .carried import middle, place_point, push_body, respin, side_body, try_move
from .turning import push_apart
from .verify import SPENT_SHARE, fails, holds, least_separation, projections, separation

#: How an attempt limits what fails: by projection, then scaling; to the common velocity; to no motion at all.
APART, TOGETHER, STAY = range(3)
#: Sweeps of impulses, and of projections on planes.
IMPULSE_SWEEPS, PLANE_SWEEPS = 2, 8
#: Rounds in which islands grow.
MOST_ROUNDS = 20
#: By how much impulses leave a contact wider than it must be, as a share of its reach.
MARGIN = 1e-6
#: How far beyond its plane a side may end, as a share of the least separation: both together less than `verify` lets.
BEYOND_SHARE = 0.4 * SPENT_SHARE
#: Numbers of an island, in `Run.islands` at its root's place: mass, V, number of given points, momentum.
MASS, SPEED, GIVEN_COUNT, MOMENTUM, ISLAND_SIZE = 0, 1, 4, 5, 8


@lean_inline_kernel
def mover(points, bodies, i):
    """The point that stands for what moves point i: the first one of a rigid body, else itself."""
    b = points.body[i]
    return np.int64(bodies.point_start[b]) if bodies.kind[b] == RIGID else np.int64(i)


@lean_inline_kernel
def moves(points, bodies, i):
    """Whether point i is free to move: not given."""
    return points.inverse_mass[i] > 0.0 or bodies.kind[points.body[i]] == RIGID


@lean_kernel
def limit_motion(contact, x, y, velocity, h, how):
    """Limit velocities, and y with them, until no contact ends nearer than it may; whether there was anything to limit.

    `how`: APART, TOGETHER or STAY. Contacts between given points stay as they are.
    """
    run, points = contact.run, contact.points
    if how == STAY:
        return stay(contact, x, y, velocity, h)
    if how == APART:
        for sweep in range(IMPULSE_SWEEPS):
            remove_approach(contact, x, y, velocity, h, sweep > 0)
    for i in range(points.parent.shape[0]):
        points.parent[i], points.stamp[i] = i, 0
    for row in range(2 * max(run.found[2], run.found[3])):
        run.is_joined[row] = False
    rows = members = 0
    for _ in range(MOST_ROUNDS):
        place_carried(run, points, contact.bodies, contact.rigid, y)
        failed, rows, members = join_failing(contact, y, rows, members)
        if failed == 0:
            break
        find_islands(contact, velocity, rows, members)
        if how == APART:
            divide(contact, x, y, h, rows)
            for _ in range(PLANE_SWEEPS):
                if project(contact, x, y, velocity, h, rows) == 0:
                    break
        truncate(contact, x, y, velocity, h, rows, members, how)
        keep_momentum(contact, x, y, velocity, h, members)
    return rows > 0 or how == APART


@lean_inline_kernel
def set_velocity(velocity, x, y, h, i, v):
    """Give soft point i a velocity."""
    store4(velocity, 4 * i, v)
    store4(y, 4 * i, load4(x, 4 * i) + v * h)


@lean_kernel
def place_carried(run, points, bodies, rigid, y):
    """Place the points of contacts at the trial poses of their rigid bodies."""
    for k in range(run.state[CARRIED_COUNT]):
        i = run.carried[k]
        if bodies.kind[points.body[i]] == RIGID:
            place_point(rigid, points.body[i], i, y)


@lean_inline_kernel
def place_points(contacts, c, y, points, bodies, rigid):
    """Place the points of contact c at the trial poses of its rigid bodies."""
    if contacts.carried[c]:
        for k in range(4):
            i = contacts.points[4 * c + k] >> 2
            if bodies.kind[points.body[i]] == RIGID:
                place_point(rigid, points.body[i], i, y)


# --- impulses ---------------------------------------------------------------------------------------------------


@lean_kernel
def remove_approach(contact, x, y, velocity, h, again):
    """An inelastic impulse on each contact that fails: as last verified, or `again`, after other impulses."""
    run, points, bodies, rigid = contact.run, contact.points, contact.bodies, contact.rigid
    for kind in range(2):
        contacts = contact.corners if kind == 0 else contact.sides
        for c in range(run.found[2 + kind]):
            if not (again or fails(contacts, c)):
                continue
            place_points(contacts, c, y, points, bodies, rigid)
            s, least = projections(y, contacts, c), least_separation(contacts, c)
            end = separation(s, kind == 1)
            if end >= (1.0 - SPENT_SHARE) * least:
                continue
            wanted, weight = least + MARGIN * contacts.reach[c], load4(contacts.weight, 4 * c)
            gap = lane(sum_spread(s * weight), 0)
            if gap < least:
                stop(velocity, x, contacts, c, weight, (wanted - gap) / h, points, bodies, rigid)
            else:  # two corners only
                weight = nearest_points(s, kind == 1)
                stop(velocity, x, contacts, c, weight, (wanted - end) / h, points, bodies, rigid)
            for k in range(4):
                i = contacts.points[4 * c + k]
                if points.inverse_mass[i >> 2] > 0.0:
                    store4(y, i, load4(x, i) + load4(velocity, i) * h)
            for side in range(2):
                b = side_body(points, bodies, contacts, c, side)
                if b >= 0:
                    try_move(rigid, b - rigid.first_body[0], h)


@lean_inline_kernel
def nearest_points(s, are_edges):
    """Weights of the two points that are nearest along the normal, from their projections."""
    first = 0 if not are_edges or lane(s, 0) <= lane(s, 1) else 1
    second = 2 if lane(s, 2) >= lane(s, 3) else 3
    if not are_edges and lane(s, 1) >= max(lane(s, 2), lane(s, 3)):
        second = 1
    return four(
        1.0 if first == 0 else 0.0, 1.0 if first == 1 else (-1.0 if second == 1 else 0.0),
        -1.0 if second == 2 else 0.0, -1.0 if second == 3 else 0.0,
    )  # fmt: skip


@lean_kernel
def stop(velocity, x, contacts, c, weight, speed, points, bodies, rigid):
    """An impulse that makes a weighted sum of the points of contact c grow faster along its normal by `speed` [m/s].

    At most what stops the approach of the very points that it acts on, so it never adds energy. A rigid side takes it
    where the other side does, so that together they are not turned.
    """
    if push_apart(velocity, x, contacts, c, weight, speed, points, True):
        return
    nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    inverse_mass = along = 0.0
    for k in range(4):
        i, w = contacts.points[4 * c + k], lane(weight, k)
        if bodies.kind[points.body[i >> 2]] != RIGID:
            inverse_mass += w * w * points.inverse_mass[i >> 2]
            along += w * (velocity[i] * nx + velocity[i + 1] * ny + velocity[i + 2] * nz)
    px, py, pz = middle(x, points, contacts, c, weight, common_side(contacts, c, points, bodies))
    for side in range(2):
        b = side_body(points, bodies, contacts, c, side)
        if b >= 0:
            q = b - rigid.first_body[0]
            inverse_mass += answer(rigid, q, px, py, pz, nx, ny, nz)
            along += (1.0 - 2.0 * side) * speed_along(rigid, q, px, py, pz, nx, ny, nz)
    if not (inverse_mass > 0.0 and along < 0.0):
        return
    size = min(speed, -along) / inverse_mass
    for k in range(4):
        i = contacts.points[4 * c + k]
        share = size * lane(weight, k) * points.inverse_mass[i >> 2]
        store4(velocity, i, load4(velocity, i) + triple(nx, ny, nz) * share)
    for side in range(2):
        b = side_body(points, bodies, contacts, c, side)
        if b >= 0:
            j = size * (1.0 - 2.0 * side)
            push_body(rigid, b - rigid.first_body[0], px, py, pz, j * nx, j * ny, j * nz)


@lean_inline_kernel
def common_side(contacts, c, points, bodies):
    """The side of contact c where both take an impulse: a soft one, as a rigid body takes it anywhere."""
    a, b = points.body[contacts.points[4 * c] >> 2], points.body[contacts.points[4 * c + 3] >> 2]
    if bodies.kind[a] == SOFT or bodies.kind[b] == GIVEN:
        return 0
    return 1 if bodies.kind[b] == SOFT or bodies.kind[a] == GIVEN else 0


@lean_kernel
def answer(rigid, q, px, py, pz, nx, ny, nz):
    """Velocity along n that point p of rigid body q gets from a unit impulse n there [1/kg]."""
    rx, ry, rz = px - rigid.pose[q, 0], py - rigid.pose[q, 1], pz - rigid.pose[q, 2]
    tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
    m = rigid.tensor[q]
    return (
        rigid.inverse_mass[q]
        + tx * (m[0, 0] * tx + m[0, 1] * ty + m[0, 2] * tz)
        + ty * (m[1, 0] * tx + m[1, 1] * ty + m[1, 2] * tz)
        + tz * (m[2, 0] * tx + m[2, 1] * ty + m[2, 2] * tz)
    )


@lean_inline_kernel
def speed_along(rigid, q, px, py, pz, nx, ny, nz):
    """Velocity along n of point p of rigid body q [m/s]."""
    rx, ry, rz = px - rigid.pose[q, 0], py - rigid.pose[q, 1], pz - rigid.pose[q, 2]
    v, w = rigid.velocity[q], rigid.spin[q]
    return (
        (v[0] + w[1] * rz - w[2] * ry) * nx + (v[1] + w[2] * rx - w[0] * rz) * ny + (v[2] + w[0] * ry - w[1] * rx) * nz
    )


# --- islands ----------------------------------------------------------------------------------------------------


@lean_kernel
def join_failing(contact, y, rows, members):
    """Unite what moves in each contact that fails at y: how many fail, contacts and movers of all islands so far."""
    run, points, bodies = contact.run, contact.points, contact.bodies
    failed = 0
    for kind in range(2):
        contacts = contact.corners if kind == 0 else contact.sides
        for c in range(run.found[2 + kind]):
            if holds(y, contacts, c, kind == 1):
                continue
            first = -1
            for k in range(4):
                i = contacts.points[4 * c + k] >> 2
                if moves(points, bodies, i):
                    i = mover(points, bodies, i)
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
def island_of(contacts, c, points, bodies):
    """Place of the island of contact c in `Run.islands`."""
    for k in range(4):
        i = contacts.points[4 * c + k] >> 2
        if moves(points, bodies, i):
            return ISLAND_SIZE * root_of(points.parent, mover(points, bodies, i))
    return -1


@lean_kernel
def find_islands(contact, velocity, rows, members):
    """Mass, common velocity and momentum of all islands."""
    run, points, bodies, rigid = contact.run, contact.points, contact.bodies, contact.rigid
    islands = run.islands
    for m in range(members):
        place = ISLAND_SIZE * run.head[m]
        islands[place : place + ISLAND_SIZE] = 0.0
    for q in range(rows):
        contacts, c = contact.corners if run.joined[q] & 1 == 0 else contact.sides, run.joined[q] >> 1
        place = island_of(contacts, c, points, bodies)
        for k in range(4):
            i = contacts.points[4 * c + k]
            if not moves(points, bodies, i >> 2):
                islands[place + GIVEN_COUNT] += 1.0
                for axis in range(3):
                    islands[place + SPEED + axis] += velocity[i + axis]
    add_momenta(run, points, bodies, rigid, velocity, members)
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
def add_momenta(run, points, bodies, rigid, velocity, members):
    """Masses and momenta of all islands, from zero."""
    islands = run.islands
    for m in range(members):
        i = run.head[m]
        place = ISLAND_SIZE * root_of(points.parent, i)
        b = points.body[i]
        if bodies.kind[b] == RIGID:
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
def common_speed(contacts, c, run, points, bodies):
    """Common velocity of the island of contact c along its normal [m/s]."""
    v, normal = load4(run.islands, island_of(contacts, c, points, bodies) + SPEED), load4(contacts.normal, 4 * c)
    return lane(v, 0) * lane(normal, 0) + lane(v, 1) * lane(normal, 1) + lane(v, 2) * lane(normal, 2)


@lean_kernel
def divide(contact, x, y, h, rows):
    """Where side A of each contact of the islands has to stay along the normal, into `Run.planes` [m].

    Side B has to stay behind that by the least separation.
    """
    run, points, bodies = contact.run, contact.points, contact.bodies
    for q in range(rows):
        contacts, c = contact.corners if run.joined[q] & 1 == 0 else contact.sides, run.joined[q] >> 1
        sx = projections(x, contacts, c) + h * common_speed(contacts, c, run, points, bodies)
        sy = projections(y, contacts, c)
        sides, least = 1 + (run.joined[q] & 1), least_separation(contacts, c)
        a, a_end, a_given = np.inf, np.inf, np.inf
        b, b_end, b_given = -np.inf, -np.inf, -np.inf
        for k in range(4):
            is_free = moves(points, bodies, contacts.points[4 * c + k] >> 2)
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
            if not moves(points, bodies, i):
                continue
            b = points.body[i]
            if bodies.kind[b] == RIGID:
                place_point(rigid, b, i, y)
            far = beyond(projections(y, contacts, c), k, sides, run.planes[q], least)
            if far <= BEYOND_SHARE * abs(least):
                continue
            count += 1
            speed = far / h if k < sides else -far / h
            if bodies.kind[b] != RIGID:
                set_velocity(velocity, x, y, h, i, load4(velocity, 4 * i) + triple(nx, ny, nz) * speed)
                continue
            r = b - rigid.first_body[0]
            px, py, pz = x[4 * i], x[4 * i + 1], x[4 * i + 2]
            size = speed / answer(rigid, r, px, py, pz, nx, ny, nz)
            push_body(rigid, r, px, py, pz, size * nx, size * ny, size * nz)
            try_move(rigid, r, h)
            place_point(rigid, b, i, y)
    return count


@lean_kernel
def truncate(contact, x, y, velocity, h, rows, members, how):
    """Scale what moves relative to its island until no point is beyond its plane; TOGETHER: to nothing."""
    run, points, bodies, rigid = contact.run, contact.points, contact.bodies, contact.rigid
    share = points.load
    for m in range(members):
        share[run.head[m]] = 0.0 if how == TOGETHER else 1.0
    if how == APART:
        place_carried(run, points, bodies, rigid, y)
        for q in range(rows):
            contacts, c = contact.corners if run.joined[q] & 1 == 0 else contact.sides, run.joined[q] >> 1
            sides, least, plane = 1 + (run.joined[q] & 1), least_separation(contacts, c), run.planes[q]
            sx = projections(x, contacts, c) + h * common_speed(contacts, c, run, points, bodies)
            sy = projections(y, contacts, c)
            for k in range(4):
                i = contacts.points[4 * c + k] >> 2
                far = beyond(sy, k, sides, plane, least)
                if moves(points, bodies, i) and far > BEYOND_SHARE * abs(least):
                    room = -beyond(sx, k, sides, plane, least)
                    i = mover(points, bodies, i)
                    share[i] = min(share[i], max(room, 0.0) / (max(room, 0.0) + far))
    for m in range(members):
        i = run.head[m]
        if share[i] == 1.0:
            continue
        place, b = ISLAND_SIZE * root_of(points.parent, i) + SPEED, points.body[i]
        common = triple(run.islands[place], run.islands[place + 1], run.islands[place + 2])
        if bodies.kind[b] != RIGID:
            set_velocity(velocity, x, y, h, i, common + (load4(velocity, 4 * i) - common) * share[i])
            continue
        q = b - rigid.first_body[0]
        for axis in range(3):
            own = lane(common, axis)
            rigid.velocity[q, axis] = own + (rigid.velocity[q, axis] - own) * share[i]
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
    add_momenta(run, points, bodies, rigid, velocity, members)
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


# --- no motion --------------------------------------------------------------------------------------------------


@lean_inline_kernel
def is_still(points, bodies, rigid, velocity, i):
    """Whether free point i does not move at all."""
    b = points.body[i]
    if bodies.kind[b] != RIGID:
        return velocity[4 * i] == 0.0 and velocity[4 * i + 1] == 0.0 and velocity[4 * i + 2] == 0.0
    v, w = rigid.velocity[b - rigid.first_body[0]], rigid.momentum[b - rigid.first_body[0]]
    return v[0] == 0.0 and v[1] == 0.0 and v[2] == 0.0 and w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0


@lean_kernel
def stay(contact, x, y, velocity, h):
    """Let what fails stay at x, and what then fails against it; whether anything was left to stop."""
    run, points, bodies, rigid = contact.run, contact.points, contact.bodies, contact.rigid
    any_stopped, stopped = False, True
    while stopped:
        stopped = False
        place_carried(run, points, bodies, rigid, y)
        for kind in range(2):
            contacts = contact.corners if kind == 0 else contact.sides
            for c in range(run.found[2 + kind]):
                if holds(y, contacts, c, kind == 1):
                    continue
                for k in range(4):
                    i = contacts.points[4 * c + k] >> 2
                    if not moves(points, bodies, i) or is_still(points, bodies, rigid, velocity, i):
                        continue
                    stopped = any_stopped = True
                    if bodies.kind[points.body[i]] == RIGID:
                        stop_body(rigid, points.body[i] - rigid.first_body[0], h)
                    else:
                        set_velocity(velocity, x, y, h, i, triple(0.0, 0.0, 0.0))
    return any_stopped


@lean_inline_kernel
def stop_body(rigid, q, h):
    """Let rigid body q stay where it is."""
    for axis in range(3):
        rigid.velocity[q, axis] = rigid.momentum[q, axis] = 0.0
    respin(rigid, q)
    try_move(rigid, q, h)


@lean_kernel
def stop_all(contact, x, y, velocity, h):
    """Let all that is free stay at x."""
    run, points, bodies, rigid = contact.run, contact.points, contact.bodies, contact.rigid
    for i in range(points.inverse_mass.shape[0]):
        if points.inverse_mass[i] > 0.0:
            set_velocity(velocity, x, y, h, i, triple(0.0, 0.0, 0.0))
    for q in range(rigid.inverse_mass.shape[0]):
        stop_body(rigid, q, h)
    place_carried(run, points, bodies, rigid, y)
    for kind in range(2):
        contacts = contact.corners if kind == 0 else contact.sides
        for c in range(run.found[2 + kind]):
            holds(y, contacts, c, kind == 1)
