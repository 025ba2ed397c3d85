"""Inelastic impulses, contact after contact, until the step can be taken: of those that fail, and what they reach."""

import numpy as np

from ...jit import lean_inline_kernel, lean_kernel
from ...simd import four, lane, load4, store4, sum_spread
from .arrays import GIVEN, RIGID, SOFT
from .carried import middle, place_point, push_body, side_body, try_move
from .turning import LEAST_FREED, push_apart
from .verify import SPENT_SHARE, fails, least_separation, projections, separation

#: Impulses for each contact that fails, and how many contacts there are at least, before points share a motion.
MOST_IMPULSES, FEW = 30, 16
#: `points.stamp` of the first point of a rigid body that impulses have moved.
MOVED = 1
#: By how much a mended contact is left wider than it must be, as a share of its reach.
MARGIN = 1e-6


@lean_inline_kernel
def mover(points, bodies, i):
    """The point that stands for what moves point i: the first one of a rigid body, else itself."""
    b = points.body[i]
    return np.int64(bodies.point_start[b]) if bodies.kind[b] == RIGID else np.int64(i)


@lean_inline_kernel
def moves(points, bodies, i):
    """Whether impulses move point i."""
    return points.inverse_mass[i] > 0.0 or bodies.kind[points.body[i]] == RIGID


@lean_kernel
def mend(contact, x, y, velocity, h):
    """Inelastic impulses until no contact ends nearer than it may; whether that was reached.

    A contact waits in a queue where it fails, and again whenever another one has moved a point of it; where it moved a
    rigid body, once all others have been seen to.
    """
    run = contact.run
    points = contact.points
    bodies = contact.bodies
    rigid = contact.rigid
    queue, waits, head, following = run.queue, run.waits, run.head, run.following
    for i in range(head.shape[0]):
        head[i] = -1
    count, first = 0, 0
    for kind in range(2):
        contacts = contact.corners if kind == 0 else contact.sides
        for c in range(run.found[2 + kind]):
            row = 2 * c + kind
            for k in range(4):
                i = mover(points, bodies, contacts.points[4 * c + k] >> 2)
                if moves(points, bodies, i):
                    following[4 * row + k] = head[i]
                    head[i] = 4 * row + k
            waits[row] = fails(contacts, c)
            if waits[row]:
                queue[count] = row
                count += 1
    left = MOST_IMPULSES * (count + FEW)
    start = bodies.point_start[rigid.first_body[0] :]
    for q in range(rigid.inverse_mass.shape[0]):
        points.stamp[start[q]] = 0
    while left > 0:
        if count == 0:
            for q in range(rigid.inverse_mass.shape[0]):
                if points.stamp[start[q]] == MOVED:
                    points.stamp[start[q]] = 0
                    count = let_wait(start[q], run, first, count)
            if count == 0:
                return True
        row = queue[first]
        first, count = (first + 1) % queue.shape[0], count - 1
        waits[row] = False
        contacts, c = contact.corners if row & 1 == 0 else contact.sides, row >> 1
        if not mend_one(contacts, c, row & 1 == 1, x, y, velocity, points, bodies, rigid, h):
            continue
        left -= 1
        for k in range(4):
            i = contacts.points[4 * c + k] >> 2
            if points.inverse_mass[i] > 0.0:
                count = let_wait(i, run, first, count)
            else:
                points.stamp[mover(points, bodies, i)] = MOVED
    return False


@lean_inline_kernel
def let_wait(i, run, first, count):
    """Put the contacts of point i in the queue; returns how many wait."""
    place = run.head[i]
    while place >= 0:
        row = place >> 2
        if not run.waits[row]:
            run.waits[row] = True
            run.queue[(first + count) % run.queue.shape[0]] = row
            count += 1
        place = run.following[place]
    return count


@lean_kernel
def mend_one(contacts, c, are_edges, x, y, velocity, points, bodies, rigid, h):
    """An inelastic impulse where contact c fails; whether it does."""
    if contacts.carried[c]:
        place_carried(contacts, c, y, points, bodies, rigid)
    s = projections(y, contacts, c)
    sep, least = separation(s, are_edges), least_separation(contacts, c)
    if sep >= (1.0 - SPENT_SHARE) * least:
        return False
    wanted = least + MARGIN * contacts.reach[c]
    weight = load4(contacts.weight, 4 * c)
    gap = lane(sum_spread(s * weight), 0)
    if gap < least:
        part(velocity, x, contacts, c, weight, (wanted - gap) / h, points, bodies, rigid)
    else:  # two corners only
        weight = nearest_points(s, are_edges)
        part(velocity, x, contacts, c, weight, (wanted - sep) / h, points, bodies, rigid)
    for k in range(4):
        i = contacts.points[4 * c + k]
        if points.inverse_mass[i >> 2] > 0.0:
            store4(y, i, load4(x, i) + load4(velocity, i) * h)
    for side in range(2):
        b = side_body(points, bodies, contacts, c, side)
        if b >= 0:
            try_move(rigid, b - rigid.first_body[0], h)
    return True


@lean_kernel
def place_carried(contacts, c, y, points, bodies, rigid):
    """Points of contact c where its rigid bodies are going to be."""
    for k in range(4):
        i = contacts.points[4 * c + k] >> 2
        if bodies.kind[points.body[i]] == RIGID:
            place_point(rigid, points.body[i], i, y)


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
def part(velocity, x, contacts, c, weight, speed, points, bodies, rigid):
    """Change by `speed` [m/s] how fast a weighted sum of the points of contact c grows along its normal.

    A rigid side takes the impulse where the other side does, so that together they are not turned.
    """
    if push_apart(velocity, x, contacts, c, weight, speed, points):
        return
    nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    total = 0.0
    for k in range(4):
        total += lane(weight, k) ** 2 * points.inverse_mass[contacts.points[4 * c + k] >> 2]
    own = total
    px, py, pz = middle(x, points, contacts, c, weight, common_side(contacts, c, points, bodies))
    for side in range(2):
        b = side_body(points, bodies, contacts, c, side)
        if b >= 0:
            ox, oy, oz = middle(x, points, contacts, c, weight, side)
            total += answer(rigid, b - rigid.first_body[0], px, py, pz, ox, oy, oz, nx, ny, nz)
            own += answer(rigid, b - rigid.first_body[0], ox, oy, oz, ox, oy, oz, nx, ny, nz)
    is_common = total > LEAST_FREED * own
    if not own > 0.0:
        return
    size = speed / (total if is_common else own)
    for k in range(4):
        i = contacts.points[4 * c + k]
        share = size * lane(weight, k) * points.inverse_mass[i >> 2]
        velocity[i] += share * nx
        velocity[i + 1] += share * ny
        velocity[i + 2] += share * nz
    for side in range(2):
        b = side_body(points, bodies, contacts, c, side)
        if b >= 0:
            j = size * (1.0 - 2.0 * side)
            if not is_common:
                px, py, pz = middle(x, points, contacts, c, weight, side)
            push_body(rigid, b - rigid.first_body[0], px, py, pz, j * nx, j * ny, j * nz)


@lean_inline_kernel
def common_side(contacts, c, points, bodies):
    """The side of contact c where both take an impulse: a soft one, as a rigid body takes it anywhere."""
    a, b = points.body[contacts.points[4 * c] >> 2], points.body[contacts.points[4 * c + 3] >> 2]
    if bodies.kind[a] == SOFT or bodies.kind[b] == GIVEN:
        return 0
    return 1 if bodies.kind[b] == SOFT or bodies.kind[a] == GIVEN else 0


@lean_kernel
def answer(rigid, q, px, py, pz, ox, oy, oz, nx, ny, nz):
    """Velocity along n that the point o of rigid body q gets from a unit impulse n at p [1/kg]."""
    rx, ry, rz = px - rigid.pose[q, 0], py - rigid.pose[q, 1], pz - rigid.pose[q, 2]
    tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
    rx, ry, rz = ox - rigid.pose[q, 0], oy - rigid.pose[q, 1], oz - rigid.pose[q, 2]
    ux, uy, uz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
    m = rigid.tensor[q]
    return (
        rigid.inverse_mass[q]
        + ux * (m[0, 0] * tx + m[0, 1] * ty + m[0, 2] * tz)
        + uy * (m[1, 0] * tx + m[1, 1] * ty + m[1, 2] * tz)
        + uz * (m[2, 0] * tx + m[2, 1] * ty + m[2, 2] * tz)
    )
