"""The guarantee: at the end of a step the frozen planes of all contacts separate what they separated before.

A normal n separates two convex primitives where sep = min over A of n . x - max over B of n . x > 0. Where that holds
at both ends of a step, and points move straight in between, they never touch. A step that would end nearer than a tenth
of what the pair keeps, or than it began, gets another plane if one separates both sides at both ends. Otherwise it is
mended: by inelastic impulses, contact after contact; if these do not settle, points whose contacts fail move as one
(`move_as_one`), which leaves the distances between them as they are.
"""

import numpy as np

from ...jit import kernel, lean_inline_kernel, lean_kernel
from ...lanes import four, lane, load4, store4, sum_spread, transposed
from .arrays import RIGID, SOFT
from .carried import place_point, push_body, push_carried, try_move
from .press import push
from .search import LEAST_SHARE

#: Sweeps of inelastic impulses before points move as one.
MOST_SWEEPS = 30
#: By how much a mended contact is left wider than it must be, as a share of its reach.
MARGIN = 1e-6
#: Determinant of the tensor of a contact's points over the cube of its trace, below which they are a line.
FLAT = 1e-9
#: Least share of an impulse's effect that must be left once it turns nothing.
LEAST_FREED = 0.5
#: Least length of the mean of two unit normals for it to be one.
LEAST_LENGTH = 0.1


@lean_inline_kernel
def projections(y, contacts, c):
    """The four points of contact c along its normal [m]."""
    px, py, pz, _ = transposed(
        load4(y, contacts.points[4 * c]), load4(y, contacts.points[4 * c + 1]), load4(y, contacts.points[4 * c + 2]),
        load4(y, contacts.points[4 * c + 3]),
    )  # fmt: skip
    return px * contacts.normal[4 * c] + py * contacts.normal[4 * c + 1] + pz * contacts.normal[4 * c + 2]


@lean_inline_kernel
def separation(s, are_edges):
    """sep from the projections."""
    if are_edges:
        return min(lane(s, 0), lane(s, 1)) - max(lane(s, 2), lane(s, 3))
    return lane(s, 0) - max(lane(s, 1), max(lane(s, 2), lane(s, 3)))


@lean_inline_kernel
def least_separation(contacts, c):
    """What contact c may end with [m]."""
    return min(LEAST_SHARE * contacts.reach[c], contacts.gap[4 * c + 1])


@lean_inline_kernel
def fails(contacts, c):
    """Whether contact c ends nearer than it may, as last verified."""
    return not contacts.gap[4 * c + 3] >= least_separation(contacts, c)


@lean_kernel
def holds(y, contacts, c, are_edges):
    """Whether contact c ends no nearer at y than it may."""
    contacts.gap[4 * c + 3] = separation(projections(y, contacts, c), are_edges)
    return not fails(contacts, c)


@lean_kernel
def replace(contacts, c, other, q):
    """Normal, weights and gaps of contact c become those of contact q of the others."""
    store4(contacts.normal, 4 * c, load4(other.normal, 4 * q))
    store4(contacts.weight, 4 * c, load4(other.weight, 4 * q))
    store4(contacts.gap, 4 * c, load4(other.gap, 4 * q))


@lean_kernel
def separate(x, y, contacts, c, other, q, are_edges):
    """Whether the normal of contact q of the others, or the mean of it and contact c's, separates c's sides at x and y.

    If so contact c takes it; it keeps what it may end with. c's normal is from the closest points at x, q's from y.
    """
    least = least_separation(contacts, c)
    ax, ay, az = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    bx, by, bz = other.normal[4 * q], other.normal[4 * q + 1], other.normal[4 * q + 2]
    for share in (0.0, 0.5):
        nx, ny, nz = bx + share * (ax - bx), by + share * (ay - by), bz + share * (az - bz)
        length = (nx * nx + ny * ny + nz * nz) ** 0.5
        if not length > LEAST_LENGTH:
            continue
        contacts.normal[4 * c] = nx / length
        contacts.normal[4 * c + 1] = ny / length
        contacts.normal[4 * c + 2] = nz / length
        before, after = projections(x, contacts, c), separation(projections(y, contacts, c), are_edges)
        if separation(before, are_edges) > 0.0 and after >= least:
            contacts.gap[4 * c + 3] = after
            return True
    contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2] = ax, ay, az
    return False


@lean_kernel
def verify(y, contacts, count, are_edges):
    """Gaps at the end of the step y; returns how many contacts end nearer than they may."""
    failed = 0
    for c in range(count):
        failed += not holds(y, contacts, c, are_edges)
    return failed


@lean_kernel
def accept(y, contacts, count):
    """The end of the step becomes the present."""
    for c in range(count):
        contacts.gap[4 * c + 2] = contacts.gap[4 * c]
        contacts.gap[4 * c] = lane(sum_spread(projections(y, contacts, c) * load4(contacts.weight, 4 * c)), 0)
        contacts.gap[4 * c + 1] = contacts.gap[4 * c + 3]


@lean_kernel
def mend_sweep(sweep, contacts, count, are_edges, x, y, velocity, points, bodies, rigid, h):
    """One sweep of inelastic impulses over the contacts whose points moved lately; returns how many failed."""
    failed = 0
    for c in range(count):
        stamp = points.stamp
        quad = contacts.points
        latest = max(
            max(stamp[quad[4 * c] >> 2], stamp[quad[4 * c + 1] >> 2]),
            max(stamp[quad[4 * c + 2] >> 2], stamp[quad[4 * c + 3] >> 2]),
        )
        least = least_separation(contacts, c)
        if not contacts.carried[c] and latest < sweep - 1 and (sweep > 0 or contacts.gap[4 * c + 3] >= least):
            continue
        s = projections(y, contacts, c)
        sep = separation(s, are_edges)
        if sep >= least:
            continue
        failed += 1
        wanted = least + MARGIN * contacts.reach[c]
        nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
        gap = lane(sum_spread(s * load4(contacts.weight, 4 * c)), 0)
        if not gap < wanted:  # two corners only
            push_worst(s, are_edges, wanted - sep, c, contacts, x, velocity, points, bodies, rigid, h)
        elif not push_apart(velocity, x, contacts, c, load4(contacts.weight, 4 * c), (wanted - gap) / h, points):
            if contacts.normal[4 * c + 3] > 0.0:
                size = (wanted - gap) / (h * contacts.normal[4 * c + 3])
                push(velocity, contacts, c, size * nx, size * ny, size * nz)
                if contacts.carried[c]:
                    push_carried(rigid, x, points, bodies, contacts, c, size * nx, size * ny, size * nz)
        for k in range(4):
            i = quad[4 * c + k]
            stamp[i >> 2] = sweep
            if points.inverse_mass[i >> 2] > 0.0:
                store4(y, i, load4(x, i) + load4(velocity, i) * h)
        if contacts.carried[c]:
            for side in range(2):
                b = points.body[quad[4 * c + 3 * side] >> 2]
                if bodies.kind[b] == RIGID:
                    try_move(rigid, b - rigid.first_body[0], h)
            for k in range(4):
                i = quad[4 * c + k] >> 2
                if bodies.kind[points.body[i]] == RIGID:
                    place_point(rigid, points.body[i], i, y)
    return failed


@lean_inline_kernel
def push_apart(velocity, x, contacts, c, weight, speed, points):
    """Change by `speed` [m/s] how fast a weighted sum of the points of contact c grows along its normal.

    The impulses along the normal are freed from what turns the four points as a whole, so angular momentum stays.
    False, and nothing is done, where a point does not move by itself or the four would have to turn.
    """
    nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    mass, mx, my, mz = 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        i = contacts.points[4 * c + k]
        share = points.inverse_mass[i >> 2]
        if share == 0.0:
            return False
        m = 1.0 / share
        mass, mx, my, mz = mass + m, mx + m * x[i], my + m * x[i + 1], mz + m * x[i + 2]
    mx, my, mz = mx / mass, my / mass, mz / mass
    xx = yy = zz = xy = xz = yz = 0.0
    ax = ay = az = plain = 0.0
    for k in range(4):
        i = contacts.points[4 * c + k]
        w = lane(weight, k)
        m = 1.0 / points.inverse_mass[i >> 2]
        rx, ry, rz = x[i] - mx, x[i + 1] - my, x[i + 2] - mz
        xx, yy, zz = xx + m * (ry * ry + rz * rz), yy + m * (rx * rx + rz * rz), zz + m * (rx * rx + ry * ry)
        xy, xz, yz = xy - m * rx * ry, xz - m * rx * rz, yz - m * ry * rz
        ax, ay, az = ax + w * rx, ay + w * ry, az + w * rz
        plain += w * w * points.inverse_mass[i >> 2]
    tx, ty, tz = ay * nz - az * ny, az * nx - ax * nz, ax * ny - ay * nx
    cxx, cyy, czz = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
    cxy, cxz, cyz = xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - yz * xx
    determinant = xx * cxx + xy * cxy + xz * cxz
    if not determinant > FLAT * (xx + yy + zz) ** 3:
        return False
    share = 1.0 / determinant
    wx = share * (cxx * tx + cxy * ty + cxz * tz)
    wy = share * (cxy * tx + cyy * ty + cyz * tz)
    wz = share * (cxz * tx + cyz * ty + czz * tz)
    freed = plain - (tx * wx + ty * wy + tz * wz)
    if not freed > LEAST_FREED * plain:
        return False
    size = speed / freed
    for k in range(4):
        i = contacts.points[4 * c + k]
        along = lane(weight, k) * points.inverse_mass[i >> 2]
        rx, ry, rz = x[i] - mx, x[i + 1] - my, x[i + 2] - mz
        velocity[i] += size * (along * nx - (wy * rz - wz * ry))
        velocity[i + 1] += size * (along * ny - (wz * rx - wx * rz))
        velocity[i + 2] += size * (along * nz - (wx * ry - wy * rx))
    return True


@lean_kernel
def push_worst(s, are_edges, lack, c, contacts, x, velocity, points, bodies, rigid, h):
    """Part the two points of contact c that are nearest along its normal, by `lack` [m] in a step."""
    first, second = 0, 1
    if are_edges:
        first = 0 if lane(s, 0) <= lane(s, 1) else 1
        second = 2 if lane(s, 2) >= lane(s, 3) else 3
    elif lane(s, 1) < max(lane(s, 2), lane(s, 3)):
        second = 2 if lane(s, 2) >= lane(s, 3) else 3
    weight = four(
        1.0 if first == 0 else 0.0, 1.0 if first == 1 else (-1.0 if second == 1 else 0.0),
        -1.0 if second == 2 else 0.0, -1.0 if second == 3 else 0.0,
    )  # fmt: skip
    if push_apart(velocity, x, contacts, c, weight, lack / h, points):
        return
    i, j = contacts.points[4 * c + first], contacts.points[4 * c + second]
    nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    total = 0.0
    for k in range(2):
        p = i if k == 0 else j
        b = points.body[p >> 2]
        total += points.inverse_mass[p >> 2]
        if bodies.kind[b] == RIGID:
            q = b - rigid.first_body[0]
            rx, ry, rz = x[p] - rigid.pose[q, 0], x[p + 1] - rigid.pose[q, 1], x[p + 2] - rigid.pose[q, 2]
            tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
            m = rigid.tensor[q]
            total += rigid.inverse_mass[q]
            total += tx * (m[0, 0] * tx + m[0, 1] * ty + m[0, 2] * tz)
            total += ty * (m[1, 0] * tx + m[1, 1] * ty + m[1, 2] * tz)
            total += tz * (m[2, 0] * tx + m[2, 1] * ty + m[2, 2] * tz)
    if total == 0.0:
        return
    size = lack / (h * total)
    for k in range(2):
        p, sign = (i, 1.0) if k == 0 else (j, -1.0)
        b = points.body[p >> 2]
        if bodies.kind[b] == RIGID:
            push_body(
                rigid, b - rigid.first_body[0], x[p], x[p + 1], x[p + 2], sign * size * nx, sign * size * ny,
                sign * size * nz,
            )  # fmt: skip
        else:
            share = sign * size * points.inverse_mass[p >> 2]
            velocity[p] += share * nx
            velocity[p + 1] += share * ny
            velocity[p + 2] += share * nz


@lean_kernel
def mend(corners, sides, count, x, y, velocity, points, bodies, rigid, h):
    """Inelastic impulses until no contact ends nearer than it may; whether that was reached."""
    for kind in range(2):
        contacts = corners if kind == 0 else sides
        for q in range(4 * count[kind]):
            points.stamp[contacts.points[q] >> 2] = -9
    for sweep in range(MOST_SWEEPS):
        failed = mend_sweep(sweep, corners, count[0], False, x, y, velocity, points, bodies, rigid, h)
        failed += mend_sweep(sweep, sides, count[1], True, x, y, velocity, points, bodies, rigid, h)
        if failed == 0:
            return True
    return False


@lean_kernel
def root_of(parent, i):
    """The representative of point i."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@lean_kernel
def join_failed(contacts, count, are_edges, y, parent, fixed):
    """Join the points of contacts that end nearer than they may; returns how many do. `fixed`: what is given."""
    failed = 0
    for c in range(count):
        sep = separation(projections(y, contacts, c), are_edges)
        if sep >= least_separation(contacts, c) - MARGIN * contacts.reach[c]:
            continue
        failed += 1
        a = root_of(parent, np.int64(contacts.points[4 * c] >> 2))
        for k in range(1, 4):
            b = root_of(parent, np.int64(contacts.points[4 * c + k] >> 2))
            if a != b:
                if fixed >= 0 and b == root_of(parent, fixed):
                    a, b = b, a
                parent[b] = a
    return failed


@kernel
def move_as_one(corners, sides, count, x, y, velocity, points, bodies, rigid, h):
    """Points whose contacts fail take their common mean velocity, again and again until none fails.

    Sets only grow, so this ends; momentum stays, and a mean has the least energy. A set with a point of a given body
    takes the velocity of the first such point of the scene: exact where given bodies stand still. Returns whether no
    contact fails; where a pinned vertex or a collider that moves drives a contact, one may.
    """
    parent = points.parent
    n = parent.shape[0]
    fixed = -1
    for i in range(n):
        parent[i] = i
    for b in range(bodies.kind.shape[0]):  # a rigid body is one, and so is all that is given
        if bodies.kind[b] != SOFT:
            first = bodies.point_start[b]
            for i in range(first, bodies.point_start[b + 1]):
                parent[i] = first
            if bodies.kind[b] != RIGID:
                if fixed >= 0:
                    parent[first] = fixed
                else:
                    fixed = first
    momentum, size = np.zeros((n, 4)), np.zeros(n, np.int64)
    for _ in range(n):
        failed = join_failed(corners, count[0], False, y, parent, fixed)
        failed += join_failed(sides, count[1], True, y, parent, fixed)
        if failed == 0:
            return True
        momentum[:] = 0.0
        size[:] = 0
        for i in range(n):
            p = root_of(parent, i)
            size[p] += 1
            if points.inverse_mass[i] > 0.0:
                mass = 1.0 / points.inverse_mass[i]
                momentum[p, 3] += mass
                for axis in range(3):
                    momentum[p, axis] += mass * velocity[4 * i + axis]
        for q in range(rigid.inverse_mass.shape[0]):
            p, mass = root_of(parent, bodies.point_start[q + rigid.first_body[0]]), 1.0 / rigid.inverse_mass[q]
            momentum[p, 3] += mass
            for axis in range(3):
                momentum[p, axis] += mass * rigid.velocity[q, axis]
        held = root_of(parent, fixed) if fixed >= 0 else -1
        for q in range(rigid.inverse_mass.shape[0]):
            b = q + rigid.first_body[0]
            p = root_of(parent, bodies.point_start[b])
            if size[p] > bodies.point_start[b + 1] - bodies.point_start[b]:
                for axis in range(3):
                    rigid.momentum[q, axis] = rigid.spin[q, axis] = 0.0
                    rigid.velocity[q, axis] = (
                        velocity[4 * held + axis] if p == held else momentum[p, axis] / momentum[p, 3]
                    )
                try_move(rigid, q, h)
        for i in range(n):
            p = root_of(parent, i)
            if points.inverse_mass[i] > 0.0 and size[p] > 1:
                for axis in range(3):
                    speed = velocity[4 * held + axis] if p == held else momentum[p, axis] / momentum[p, 3]
                    velocity[4 * i + axis] = speed
                    y[4 * i + axis] = x[4 * i + axis] + h * speed
            elif bodies.kind[points.body[i]] == RIGID and size[p] > 1:
                place_point(rigid, points.body[i], i, y)
    return False
