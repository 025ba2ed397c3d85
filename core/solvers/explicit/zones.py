"""Rigid impact zones (after Provot 1997): points of contacts that impulses cannot mend approach a rigid motion.

A zone's rigid motion is the mean one of its points: with their momentum, their angular momentum, and the least energy
of all that have them. Given points prescribe it: a zone with a pinned vertex or a collider takes their motion. Rigid
motion changes no separation, and separations are concave along the way to it, so there is a largest share of the
relative motion that no contact forbids. The zone keeps that share.
"""

from ...jit import lean_inline_kernel, lean_kernel
from ...simd import lane, load4, store4, triple
from ...union_find import root_of, unite
from .arrays import CARRIED_COUNT, RIGID
from .carried import place_point, respin, try_move, turned_by
from .mend import MARGIN, mover, moves
from .turning import LINE
from .verify import SPENT_SHARE, holds, least_separation, projections, separation

#: Numbers of a zone, in `Run.zones` at its root's place. Sums become means.
MASS, PLACE, SPEED, SPIN = 0, 1, 4, 7
XX, YY, ZZ, XY, XZ, YZ, IS_GIVEN, SHARE, STRAIGHT, ZONE_SIZE = range(10, 20)
#: Rounds in which zones grow.
MOST_ROUNDS = 40
#: `points.stamp` of members.
MEMBER = 1


@lean_kernel
def share_motion(contact, x, y, velocity, h, all_contacts, go_on):
    """Move zones towards their rigid motions until no contact fails; whether that was reached.

    With `all_contacts` zones are connected by any contacts, and take the mean translation whole, without rotation. If
    such zones `go_on` growing from attempt to attempt, with new searches in between, that must end.
    """
    run = contact.run
    points = contact.points
    bodies = contact.bodies
    rigid = contact.rigid
    corners = contact.corners
    sides = contact.sides
    parent, stamp, joined, members = points.parent, points.stamp, run.following, run.head
    for i in range(parent.shape[0]):
        if not go_on:
            parent[i] = i
        stamp[i] = 0
    place_carried(run, points, bodies, rigid, y)
    joined_count = member_count = 0
    for attempt in range(MOST_ROUNDS):
        failed = 0
        for kind in range(2):
            contacts = corners if kind == 0 else sides
            for c in range(run.found[2 + kind]):
                if holds(y, contacts, c, kind == 1):
                    if not (all_contacts and attempt == 0):
                        continue
                else:
                    failed += 1
                if joined_count == joined.shape[0]:
                    continue
                joined[joined_count] = 2 * c + kind
                joined_count += 1
                member_count = join(contacts, c, points, bodies, members, member_count)
        if failed == 0:
            return True
        add_up(
            corners, sides, points, bodies, rigid, run.zones, x, velocity, joined, joined_count, members, member_count,
            attempt == 0, all_contacts,
        )  # fmt: skip
        bound(corners, sides, contact.spare, points, bodies, run.zones, x, y, h, joined, joined_count, all_contacts)
        take(points, bodies, rigid, run.zones, x, y, velocity, h, members, member_count)
        place_carried(run, points, bodies, rigid, y)
    return False


@lean_kernel
def join(contacts, c, points, bodies, members, count):
    """Unite the moving sides of contact c in one zone; returns the new number of members of all zones."""
    first = -1
    for k in range(4):
        i = contacts.points[4 * c + k] >> 2
        if moves(points, bodies, i):
            i = mover(points, bodies, i)
            if points.stamp[i] != MEMBER:
                points.stamp[i] = MEMBER
                members[count] = i
                count += 1
            if first < 0:
                first = i
            unite(points.parent, first, i)
    return count


@lean_kernel
def zone_of(contacts, c, points, bodies):
    """Root of the zone of contact c, -1 where it has none."""
    for k in range(4):
        i = contacts.points[4 * c + k] >> 2
        if moves(points, bodies, i):
            return root_of(points.parent, mover(points, bodies, i))
    return -1


@lean_inline_kernel
def add(zones, z, mass, rx, ry, rz, vx, vy, vz):
    """Add a mass at r that moves with v to a zone's sums."""
    zones[z + MASS] += mass
    px, py, pz = mass * vx, mass * vy, mass * vz
    zones[z + PLACE] += mass * rx
    zones[z + PLACE + 1] += mass * ry
    zones[z + PLACE + 2] += mass * rz
    zones[z + SPEED] += px
    zones[z + SPEED + 1] += py
    zones[z + SPEED + 2] += pz
    zones[z + SPIN] += ry * pz - rz * py
    zones[z + SPIN + 1] += rz * px - rx * pz
    zones[z + SPIN + 2] += rx * py - ry * px
    add_inertia(zones, z, mass, rx, ry, rz)


@lean_inline_kernel
def add_inertia(zones, z, mass, rx, ry, rz):
    """Add the inertia of a mass at r."""
    zones[z + XX] += mass * (ry * ry + rz * rz)
    zones[z + YY] += mass * (rx * rx + rz * rz)
    zones[z + ZZ] += mass * (rx * rx + ry * ry)
    zones[z + XY] -= mass * rx * ry
    zones[z + XZ] -= mass * rx * rz
    zones[z + YZ] -= mass * ry * rz


@lean_kernel
def add_up(
    corners, sides, points, bodies, rigid, zones, x, velocity, joined, joined_count, members, member_count, is_first,
    all_contacts,
):  # fmt: skip
    """Rigid motion of every zone."""
    for m in range(member_count):
        z = ZONE_SIZE * members[m]
        for k in range(STRAIGHT):
            zones[z + k] = 0.0
        zones[z + SHARE] = 1.0
        if is_first:
            zones[z + STRAIGHT] = 1.0 if all_contacts else 0.0
    for m in range(member_count):  # what is straight stays straight
        root = root_of(points.parent, members[m])
        zones[ZONE_SIZE * root + STRAIGHT] = max(
            zones[ZONE_SIZE * root + STRAIGHT], zones[ZONE_SIZE * members[m] + STRAIGHT]
        )
    for q in range(joined_count):
        contacts, c = corners if joined[q] & 1 == 0 else sides, joined[q] >> 1
        root = zone_of(contacts, c, points, bodies)
        for k in range(4):
            i = contacts.points[4 * c + k]
            if root >= 0 and not moves(points, bodies, i >> 2):
                z, r = ZONE_SIZE * root, load4(x, i) - load4(x, 4 * root)
                zones[z + IS_GIVEN] = 1.0
                add(zones, z, 1.0, lane(r, 0), lane(r, 1), lane(r, 2), velocity[i], velocity[i + 1], velocity[i + 2])
    for m in range(member_count):
        i = members[m]
        root = root_of(points.parent, i)
        z = ZONE_SIZE * root
        if zones[z + IS_GIVEN] == 1.0:
            continue
        b = points.body[i]
        if bodies.kind[b] == RIGID:
            add_rigid(zones, z, rigid, b - rigid.first_body[0], x, root)
        else:
            r = load4(x, 4 * i) - load4(x, 4 * root)
            add(
                zones, z, 1.0 / points.inverse_mass[i], lane(r, 0), lane(r, 1), lane(r, 2), velocity[4 * i],
                velocity[4 * i + 1], velocity[4 * i + 2],
            )  # fmt: skip
    for m in range(member_count):
        if points.parent[members[m]] == members[m]:
            average(zones, ZONE_SIZE * members[m], x, 4 * members[m])


@lean_kernel
def add_rigid(zones, z, rigid, q, x, root):
    """Add rigid body q to a zone's sums."""
    pose, v, mass = rigid.pose[q], rigid.velocity[q], 1.0 / rigid.inverse_mass[q]
    rx, ry, rz = pose[0] - x[4 * root], pose[1] - x[4 * root + 1], pose[2] - x[4 * root + 2]
    add(zones, z, mass, rx, ry, rz, v[0], v[1], v[2])
    for axis in range(3):
        zones[z + SPIN + axis] += rigid.momentum[q, axis]
    xx, yy, zz, xy, xz, yz = inertia(rigid.tensor[q])
    zones[z + XX] += xx
    zones[z + YY] += yy
    zones[z + ZZ] += zz
    zones[z + XY] += xy
    zones[z + XZ] += xz
    zones[z + YZ] += yz


@lean_inline_kernel
def inertia(m):
    """Inverse of a symmetric tensor."""
    xx, yy, zz = m[1, 1] * m[2, 2] - m[1, 2] ** 2, m[0, 0] * m[2, 2] - m[0, 2] ** 2, m[0, 0] * m[1, 1] - m[0, 1] ** 2
    xy, xz = m[0, 2] * m[1, 2] - m[0, 1] * m[2, 2], m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]
    yz = m[0, 1] * m[0, 2] - m[0, 0] * m[1, 2]
    share = 1.0 / (m[0, 0] * xx + m[0, 1] * xy + m[0, 2] * xz)
    return share * xx, share * yy, share * zz, share * xy, share * xz, share * yz


@lean_kernel
def average(zones, z, x, origin):
    """Turn the sums of a zone, taken from an origin, into its centre, velocity and angular velocity."""
    mass = zones[z + MASS]
    cx, cy, cz = zones[z + PLACE] / mass, zones[z + PLACE + 1] / mass, zones[z + PLACE + 2] / mass
    px, py, pz = zones[z + SPEED], zones[z + SPEED + 1], zones[z + SPEED + 2]
    add_inertia(zones, z, -mass, cx, cy, cz)
    _, wx, wy, wz = turned_by(
        zones[z + XX], zones[z + YY], zones[z + ZZ], zones[z + XY], zones[z + XZ], zones[z + YZ],
        zones[z + SPIN] - (cy * pz - cz * py), zones[z + SPIN + 1] - (cz * px - cx * pz),
        zones[z + SPIN + 2] - (cx * py - cy * px), LINE,
    )  # fmt: skip
    still = 0.0 if zones[z + STRAIGHT] == 1.0 and zones[z + IS_GIVEN] == 0.0 else 1.0
    zones[z + SPIN], zones[z + SPIN + 1], zones[z + SPIN + 2] = still * wx, still * wy, still * wz
    for axis, place, momentum in ((0, cx, px), (1, cy, py), (2, cz, pz)):
        zones[z + PLACE + axis] = place + x[origin + axis]
        zones[z + SPEED + axis] = momentum / mass


@lean_inline_kernel
def rigid_velocity(zones, z, px, py, pz):
    """Velocity of a zone's rigid motion at p [m/s]."""
    rx, ry, rz = px - zones[z + PLACE], py - zones[z + PLACE + 1], pz - zones[z + PLACE + 2]
    wx, wy, wz = zones[z + SPIN], zones[z + SPIN + 1], zones[z + SPIN + 2]
    return (
        zones[z + SPEED] + wy * rz - wz * ry,
        zones[z + SPEED + 1] + wz * rx - wx * rz,
        zones[z + SPEED + 2] + wx * ry - wy * rx,
    )


@lean_kernel
def bound(corners, sides, spare, points, bodies, zones, x, y, h, joined, joined_count, all_contacts):
    """Largest share of the relative motion that every zone can keep.

    `spare`: scratch; its row 0 holds the trial end positions of a contact's points.
    """
    for q in range(joined_count):
        kind, c = joined[q] & 1, joined[q] >> 1
        contacts = corners if kind == 0 else sides
        root = zone_of(contacts, c, points, bodies)
        if root < 0:
            continue
        z = ZONE_SIZE * root
        if all_contacts:
            zones[z + SHARE] = 0.0
            continue
        wanted = (1.0 - SPENT_SHARE) * least_separation(contacts, c)
        ends = separation(projections(y, contacts, c), kind == 1)
        if ends >= wanted:
            continue
        wanted += MARGIN * contacts.reach[c]
        for k in range(4):
            i = contacts.points[4 * c + k]
            end = load4(y, i)
            if moves(points, bodies, i >> 2):
                vx, vy, vz = rigid_velocity(zones, z, x[i], x[i + 1], x[i + 2])
                end = load4(x, i) + triple(vx, vy, vz) * h
            store4(spare.grip, 4 * k, end)
            spare.points[k] = 4 * k
        store4(spare.normal, 0, load4(contacts.normal, 4 * c))
        as_rigid = separation(projections(spare.grip, spare, 0), kind == 1)
        if as_rigid > wanted:
            zones[z + SHARE] = min(zones[z + SHARE], (as_rigid - wanted) / (as_rigid - ends))
        else:
            zones[z + SHARE] = 0.0
            zones[z + STRAIGHT] = 1.0


@lean_kernel
def take(points, bodies, rigid, zones, x, y, velocity, h, members, member_count):
    """Give members the remaining share of their zones' relative motion."""
    for m in range(member_count):
        i = members[m]
        z = ZONE_SIZE * root_of(points.parent, i)
        share = zones[z + SHARE]
        if share == 1.0:
            continue
        b = points.body[i]
        if bodies.kind[b] != RIGID:
            vx, vy, vz = rigid_velocity(zones, z, x[4 * i], x[4 * i + 1], x[4 * i + 2])
            common = triple(vx, vy, vz)
            v = common + (load4(velocity, 4 * i) - common) * share
            store4(velocity, 4 * i, v)
            store4(y, 4 * i, load4(x, 4 * i) + v * h)
            continue
        q = b - rigid.first_body[0]
        common = rigid_velocity(zones, z, rigid.pose[q, 0], rigid.pose[q, 1], rigid.pose[q, 2])
        wx, wy, wz = zones[z + SPIN], zones[z + SPIN + 1], zones[z + SPIN + 2]
        xx, yy, zz, xy, xz, yz = inertia(rigid.tensor[q])
        turn = (xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz)
        for axis in range(3):
            rigid.velocity[q, axis] = share * rigid.velocity[q, axis] + (1.0 - share) * common[axis]
            rigid.momentum[q, axis] = share * rigid.momentum[q, axis] + (1.0 - share) * turn[axis]
        respin(rigid, q)
        try_move(rigid, q, h)


@lean_kernel
def place_carried(run, points, bodies, rigid, y):
    """Place the points of contacts at the trial poses of their rigid bodies."""
    for k in range(run.state[CARRIED_COUNT]):
        i = run.carried[k]
        if bodies.kind[points.body[i]] == RIGID:
            place_point(rigid, points.body[i], i, y)
