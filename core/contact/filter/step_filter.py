"""The step filter: fractions of the vertices' displacements without intersections; colliders carry what they meet.

A triangle is convex, so the plane through its closest point, normal to the direction n towards the point,
has the triangle on one side and the point at distance d on the other. While the point moves less than its
share of d along -n, and each corner less than its share along +n, with shares that add up to less than d,
the plane between them still separates both, whatever the tangential motion.
Edges against edges likewise. Where that plane blocks a sliding motion, other separating planes are tried.
"""

import math

import numpy as np

from ...jit import inline_kernel, kernel
from ...model import FloatArray, Model
from ..barrier import rigid_point_step
from ..contacts import EDGE_EDGE, POINT_TRIANGLE, Contacts
from ..inverse_mass import InverseMass
from ..narrow_phase.closest_points import closest_on_edges_of, closest_on_triangle, least_distance, unit_normal
from ..narrow_phase.edge_edge import across
from .rigid_fit import RigidFits, plane_move, shorten_whole

CHUNK = 256  # contacts, or vertices, per unit of parallel work
SHARE_OF_BOTH = 0.45  # of the distance, for each side, where both sides are free to move
SHARE_OF_ONE = 0.9  # where the other side is given
CARRY_PASSES = 6
NO_DISTANCES: FloatArray = np.zeros(0)


def limit_displacement(
    x: FloatArray,
    step: FloatArray,
    mobility: InverseMass,
    contacts: Contacts,
    scale: FloatArray,
    whole: RigidFits | None = None,
    distance: FloatArray | None = None,
) -> None:
    """Factors by which a step of the unknowns must be multiplied so that no candidate is crossed.

    x: positions [m], shape (point_count, 3); step: rows of unknowns, shape (unknown_count, 3); scale: output, 0 to 1,
    one per vertex, then one per rigid body. Colliders do not move. Rows with side -1 are free to come back.
    Smaller factors than these are safe as well. Pairs that are not candidates are covered as long as
    `ContactSearch.still_valid` holds for the new positions.

    whole: the vertices then move by whole.move + scale (step - whole.move). Its moves are shortened in place where
    another body is in the way.
    distance: of each row at x [m], if known: rows that are too far apart for the step are then passed over.
    """
    vertex_count = len(mobility.inverse_mass)
    if distance is None:
        distance = NO_DISTANCES
    if whole is None:
        whole = RigidFits.none()
    else:
        shorten_whole(
            x, contacts.first_element, contacts.points, contacts.kind, contacts.side, contacts.bodies,
            vertex_count, whole.vertex_body, distance, whole.move, whole.turn,
        )  # fmt: skip
    # a row of far points is passed over if no slot can go as far as its share of the distance
    length = np.zeros(0)
    if len(distance):
        length = np.zeros(vertex_count + len(mobility.unknown))
        measure_steps(step, whole.move, whole.turn, whole.vertex_body, mobility.unknown, mobility.arm, length)
    limit_rows(
        x, step, whole.move, whole.turn, contacts.bodies, mobility.unknown, mobility.arm, vertex_count,
        contacts.count, contacts.points, contacts.kind, contacts.apex, contacts.side, distance, length,
        contacts.slot_scale, contacts.held,
    )  # fmt: skip
    scale[:] = 1.0
    gather_shares(
        contacts.count, contacts.points, contacts.held, contacts.slot_scale, vertex_count, mobility.unknown, scale
    )


@kernel
def measure_steps(step, whole, turn, vertex_body, unknown, arm, length):
    """The most that each moving point can go along any direction in a step, or apart from its whole [m]."""
    vertex_count = length.shape[0] - unknown.shape[0]
    for i in range(vertex_count):
        if turn.shape[0] == 0:
            length[i] = math.sqrt(step[i, 0] ** 2 + step[i, 1] ** 2 + step[i, 2] ** 2)
            continue
        w = whole[i]
        rest = math.sqrt((step[i, 0] - w[0]) ** 2 + (step[i, 1] - w[1]) ** 2 + (step[i, 2] - w[2]) ** 2)
        length[i] = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) + (1.0 + turn[vertex_body[i]]) * rest
    for i in range(unknown.shape[0]):
        x, y, z = rigid_point_step(i, unknown, arm, step)
        length[vertex_count + i] = math.sqrt(x * x + y * y + z * z) + bulge_of_arc(step[unknown[i] + 1], arm[i])


@kernel
def gather_shares(count, points, held, slot_scale, vertex_count, unknown, scale):
    """The least factor of each vertex and of each rigid body, of the rows that hold something back."""
    last = vertex_count + unknown.shape[0]
    for row in range(count):
        if not held[row]:
            continue
        for slot in range(4):
            point = points[row, slot]
            if point < vertex_count:
                scale[point] = min(scale[point], max(slot_scale[row, slot], 0.0))
            elif point < last:
                body = vertex_count + (unknown[point - vertex_count] - vertex_count) // 2
                scale[body] = min(scale[body], slot_scale[row, slot])


@kernel
def limit_rows(
    x, step, whole, turn, bodies, unknown, arm, vertex_count, count, points, kind, apex, side, distance, length,
    slot_scale, held,
):  # fmt: skip
    """Factors of each slot of each row that is near, and whether it is."""
    known = distance.shape[0] > 0
    longest = length.max() if known else np.inf
    for chunk in range((count + CHUNK - 1) // CHUNK):
        for row in range(chunk * CHUNK, min(count, (chunk + 1) * CHUNK)):
            held[row] = False
            if side[row] < 0 or longest < SHARE_OF_BOTH * (distance[row] if known else 0.0):
                continue
            if known:
                farthest = 0.0
                for slot in range(4):
                    if points[row, slot] < length.shape[0]:
                        farthest = max(farthest, length[points[row, slot]])
                if farthest < SHARE_OF_BOTH * distance[row]:
                    continue
            held[row] = True
            for slot in range(4):
                slot_scale[row, slot] = 1.0
            if kind[row] == EDGE_EDGE:
                limit_edges(x, step, whole, turn, bodies, unknown, arm, points, apex, row, vertex_count, slot_scale)
                continue
            if kind[row] != POINT_TRIANGLE:
                continue
            limit_point(x, step, whole, turn, bodies, unknown, arm, points, row, vertex_count, slot_scale)


@kernel
def limit_point(x, step, whole, turn, bodies, unknown, arm, points, row, vertex_count, slot_scale):
    """Factors of the slots of a row of a point and a triangle, with the plane that holds less back.

    The triangle's own plane separates as well as the one through its closest point. It is the better one for a point
    that slides over a surface towards this triangle's border.
    """
    fx, fy, fz, first = direction_of(x, points, row)
    nx, ny, nz, d = fx, fy, fz, first
    least = before = 0.0
    for attempt in range(3):
        if attempt == 1:
            if least >= 1.0:
                return
            before = least
            nx, ny, nz, d = height_of(x, points, row)
        elif attempt == 2:
            if least >= before:
                return
            nx, ny, nz, d = fx, fy, fz, first
        least = limit_along(
            nx, ny, nz, d, x, step, whole, turn, bodies, unknown, arm, points, row, vertex_count, slot_scale
        )


@inline_kernel
def limit_along(nx, ny, nz, d, x, step, whole, turn, bodies, unknown, arm, points, row, vertex_count, slot_scale):
    """Factors of a row's slots for a plane with unit normal n, d [m] between both sides; returns the least."""
    last = vertex_count + unknown.shape[0]
    point_free = points[row, 0] < last
    corner_free = points[row, 1] < last
    allowed = d * (SHARE_OF_BOTH if point_free and corner_free else SHARE_OF_ONE)
    if d < least_distance(x, points[row, 0]):
        allowed = 0.0
    least, ahead = 1.0, 0.0
    if turn.shape[0] > 0:
        ahead = plane_move(row, 1, nx, ny, nz, points, vertex_count, whole)
    for slot in range(4):
        point = points[row, slot]
        if point >= last:
            continue
        sign = -1.0 if slot == 0 else 1.0
        slot_scale[row, slot] = share_of(
            point, sign * nx, sign * ny, sign * nz, allowed, sign * ahead, step, whole, turn, bodies, row, unknown, arm,
            vertex_count,
        )  # fmt: skip
        least = min(least, slot_scale[row, slot])
    return least


@inline_kernel
def share_of(point, nx, ny, nz, room, ahead, step, whole, turn, bodies, row, unknown, arm, vertex_count):
    """Share of its step that a moving point may take to go at most `room` [m] farther along the unit vector n than a
    plane that goes `ahead` [m] itself.

    -1 where the move of the whole alone goes farther: the plane is of no use.
    """
    if point >= vertex_count or turn.shape[0] == 0:
        along = point_along(point, nx, ny, nz, step, unknown, arm, vertex_count)
        return room / along if along > room else 1.0
    rx, ry, rz = step[point, 0] - whole[point, 0], step[point, 1] - whole[point, 1], step[point, 2] - whole[point, 2]
    along = rx * nx + ry * ny + rz * nz
    if bodies[row, 0] == bodies[row, 1]:
        # both sides take part in the move of the whole, which turns the plane between them
        along += turn[bodies[row, 0]] * math.sqrt(rx * rx + ry * ry + rz * rz)
    else:
        room -= whole[point, 0] * nx + whole[point, 1] * ny + whole[point, 2] * nz - ahead
        if room < 0.0:
            return -1.0
    return room / along if along > room else 1.0


@kernel
def point_along(point, nx, ny, nz, step, unknown, arm, vertex_count):
    """How far a step takes a moving point along a vector at most [m]: a rigid one goes along an arc.

    A share s of the step strays from the straight way by at most s^2 |t|^2 |r| / 2 <= s times that.
    """
    if point < vertex_count:
        return step[point, 0] * nx + step[point, 1] * ny + step[point, 2] * nz
    ux, uy, uz = rigid_point_step(point - vertex_count, unknown, arm, step)
    bulge = bulge_of_arc(step[unknown[point - vertex_count] + 1], arm[point - vertex_count])
    return ux * nx + uy * ny + uz * nz + bulge


@kernel
def bulge_of_arc(turn, arm):
    """By how much a point on an arm may stray from the straight way in a turn [rad], see `point_along` [m]."""
    square = turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]
    return 0.5 * square * math.sqrt(arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2])


@inline_kernel
def limit_edges(x, step, whole, turn, bodies, unknown, arm, points, apex, row, vertex_count, slot_scale):
    """Factors of the slots of a row of two edges: of the planes tried, the one that holds fewest back."""
    p, p_end, q, q_end = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
    best = total = -np.inf
    nx = ny = nz = bx = by = bz = 0.0
    # The plane between the closest points, the plane along both edges, then the planes of the triangles at them: for
    # what slides over a surface. Then the best of them once more, if it was not the last.
    for attempt in range(7):
        if best >= 4.0 or (attempt == 6 and total >= best):
            return
        if attempt < 2:
            nx, ny, nz, _ = across(x, p, p_end, q, q_end)
            if attempt == 0:
                _, _, vx, vy, vz, dd = closest_on_edges_of(x, p, p_end, q, q_end)
                length = math.sqrt(dd)
                if length > 0.0:
                    nx, ny, nz = vx / length, vy / length, vz / length
        elif attempt == 6:
            nx, ny, nz = bx, by, bz
        elif apex[row, attempt - 2] < 0:
            continue
        elif attempt < 4:
            nx, ny, nz = unit_normal(x, p, p_end, apex[row, attempt - 2])
        else:
            nx, ny, nz = unit_normal(x, q, q_end, apex[row, attempt - 2])
        total = limit_between(
            x, step, whole, turn, bodies, unknown, arm, nx, ny, nz, points, row, vertex_count, slot_scale
        )
        if total > best:
            best, bx, by, bz = total, nx, ny, nz


@inline_kernel
def height(x, point, nx, ny, nz):
    """How far a point lies along a unit vector [m]."""
    return x[point, 0] * nx + x[point, 1] * ny + x[point, 2] * nz


@inline_kernel
def limit_between(x, step, whole, turn, bodies, unknown, arm, nx, ny, nz, points, row, vertex_count, slot_scale):
    """Factors of the slots of a row of two edges for a plane between them with unit normal n; returns a mark.

    Each end may go as far as the plane, from where it is. 0 where no such plane separates the edges.
    The mark is the number of ends that are free and the largest factor of the others: what is held back more is
    so by its own triangles as well.
    """
    last = vertex_count + unknown.shape[0]
    p, p_end = height(x, points[row, 0], nx, ny, nz), height(x, points[row, 1], nx, ny, nz)
    q, q_end = height(x, points[row, 2], nx, ny, nz), height(x, points[row, 3], nx, ny, nz)
    if p + p_end < q + q_end:
        nx, ny, nz = -nx, -ny, -nz
        p, p_end, q, q_end = -p, -p_end, -q, -q_end
    low, high = min(p, p_end), max(q, q_end)
    d = low - high
    # Rounding of heights that should be equal is no crossing: what touches may part.
    separates = d > -1e-12 * (abs(low) + abs(high))
    allowed = d if d > least_distance(x, points[row, 0]) else 0.0
    allowed *= SHARE_OF_BOTH if points[row, 0] < last and points[row, 2] < last else SHARE_OF_ONE
    free, held, useless, ahead = 0, 0.0, False, 0.0
    if turn.shape[0] > 0:
        ahead = plane_move(row, 2, nx, ny, nz, points, vertex_count, whole)
    for slot in range(4):
        point = points[row, slot]
        if point >= last:
            free += 1
            continue
        sign = -1.0 if slot < 2 else 1.0
        room = height(x, point, nx, ny, nz)
        room = allowed + (room - low if slot < 2 else high - room)
        share = share_of(
            point, sign * nx, sign * ny, sign * nz, room, sign * ahead, step, whole, turn, bodies, row, unknown, arm,
            vertex_count,
        )  # fmt: skip
        slot_scale[row, slot] = share if separates else 0.0
        useless = useless or share < 0.0
        if slot_scale[row, slot] >= 1.0:
            free += 1
        else:
            held = max(held, slot_scale[row, slot])
    return -1.0 if useless else free + held


@kernel
def direction_of(x, points, row):
    """Unit vector from the closest point of a row's triangle to its point, and their distance [m]."""
    p, a, b, c = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
    _, _, _, qx, qy, qz, d, _ = closest_on_triangle(
        x[p, 0], x[p, 1], x[p, 2], x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1], x[c, 2]
    )
    d = math.sqrt(d)
    if d > 0.0:
        return qx / d, qy / d, qz / d, d
    nx, ny, nz = unit_normal(x, a, b, c)
    return nx, ny, nz, d


@kernel
def height_of(x, points, row):
    """Unit normal of a row's triangle on the side of its point, and the point's height over its plane [m]."""
    p, a = points[row, 0], points[row, 1]
    nx, ny, nz = unit_normal(x, a, points[row, 2], points[row, 3])
    h = (x[p, 0] - x[a, 0]) * nx + (x[p, 1] - x[a, 1]) * ny + (x[p, 2] - x[a, 2]) * nz
    if h < 0.0:
        return -nx, -ny, -nz, -h
    return nx, ny, nz, h


def carry(x: FloatArray, poses: FloatArray, given_positions: FloatArray, contacts: Contacts, model: Model) -> int:
    """Move vertices and rigid bodies out of the way of colliders that jump, in place.

    x: positions before [m], shape (point_count, 3), whose moving points are changed, and with them the centres of
    `poses`; given_positions: of the collider points after the jump. Meant as a first guess for the solver: a vertex
    that a triangle would pass through (or all corners of a triangle that a collider's point would pass
    through) is put back on its side, with half of its gap or of the thickness, whichever is less; a rigid body as a
    whole. Returns the number of rows that stay crossed (bodies squeezed from both sides, jumps larger than the
    collider).
    """
    count = contacts.count
    if count == 0:
        return 0
    moving = model.moving_point_count
    before = x.copy()
    after = x.copy()
    after[moving:] = given_positions
    move = np.zeros((count, 3))
    for attempt in range(CARRY_PASSES + 1):
        crossed = find_crossed(
            before, after, count, contacts.points, contacts.kind, contacts.side, contacts.thickness, moving, move
        )
        if crossed == 0 or attempt == CARRY_PASSES:
            break
        move_carried(
            move, contacts.points, contacts.vertex_start, contacts.vertex_entry, model.vertex_count,
            model.rigid.point_start, poses, after,
        )  # fmt: skip
    x[:moving] = after[:moving]
    return int(crossed)


@kernel
def find_crossed(before, after, count, points, kind, side, thickness, moving, move):
    """The move [m] each crossed row asks of its point (and, reversed, of its corners); returns their number."""
    crossed = 0
    for row in range(count):
        move[row, 0], move[row, 1], move[row, 2] = 0.0, 0.0, 0.0
        if kind[row] != POINT_TRIANGLE or side[row] < 0:
            continue
        p, a = points[row, 0], points[row, 1]
        nx, ny, nz, old = height_of(before, points, row)
        mx, my, mz, new = height_of(after, points, row)
        # The triangle may have turned: its side is told by its winding, not by the direction in space.
        sx, sy, sz = unit_normal(before, a, points[row, 2], points[row, 3])
        tx, ty, tz = unit_normal(after, a, points[row, 2], points[row, 3])
        if (nx * sx + ny * sy + nz * sz) * (mx * tx + my * ty + mz * tz) < 0.0:
            mx, my, mz, new = -mx, -my, -mz, -new
        keep = 0.5 * min(old, thickness[row])
        if new > 0.25 * keep or not meets_face(before, after, points, row, old, new):
            continue
        crossed += 1
        amount = keep - new
        if p < moving and a < moving:
            amount *= 0.5
        move[row, 0], move[row, 1], move[row, 2] = amount * mx, amount * my, amount * mz
    return crossed


@kernel
def meets_face(before, after, points, row, old, new):
    """Whether the point is over the face when it reaches the plane, or at the end if it only comes close.

    Heights over the plane before and after, old and new [m], are interpolated in time.
    """
    t = min(1.0, old / (old - new)) if old > new else 1.0
    s = 1.0 - t
    p, a, b, c = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
    where = closest_on_triangle(
        s * before[p, 0] + t * after[p, 0], s * before[p, 1] + t * after[p, 1], s * before[p, 2] + t * after[p, 2],
        s * before[a, 0] + t * after[a, 0], s * before[a, 1] + t * after[a, 1], s * before[a, 2] + t * after[a, 2],
        s * before[b, 0] + t * after[b, 0], s * before[b, 1] + t * after[b, 1], s * before[b, 2] + t * after[b, 2],
        s * before[c, 0] + t * after[c, 0], s * before[c, 1] + t * after[c, 1], s * before[c, 2] + t * after[c, 2],
    )[7]  # fmt: skip
    return where == 0


@kernel
def move_carried(move, points, vertex_start, vertex_entry, vertex_count, rigid_start, poses, after):
    """Give each vertex and rigid body the smallest move that satisfies its rows one after the other, in their order."""
    for vertex in range(vertex_count):
        ux, uy, uz = satisfy(move, vertex_start[vertex], vertex_start[vertex + 1], vertex_entry)
        after[vertex, 0] += ux
        after[vertex, 1] += uy
        after[vertex, 2] += uz
    for body in range(poses.shape[0]):
        first, last = rigid_start[body], rigid_start[body + 1]
        ux, uy, uz = satisfy(move, vertex_start[first], vertex_start[last], vertex_entry)
        poses[body, 0] += ux
        poses[body, 1] += uy
        poses[body, 2] += uz
        for point in range(first, last):
            after[point, 0] += ux
            after[point, 1] += uy
            after[point, 2] += uz


@kernel
def satisfy(move, begin, end, vertex_entry):
    """The move [m] that entries begin .. end - 1 ask for."""
    ux = uy = uz = 0.0
    for k in range(begin, end):
        row = vertex_entry[k] // 4
        sign = 1.0 if vertex_entry[k] % 4 == 0 else -1.0
        mx, my, mz = sign * move[row, 0], sign * move[row, 1], sign * move[row, 2]
        mm = mx * mx + my * my + mz * mz
        if mm > 0.0:
            missing = 1.0 - (ux * mx + uy * my + uz * mz) / mm
            if missing > 0.0:
                ux, uy, uz = ux + missing * mx, uy + missing * my, uz + missing * mz
    return ux, uy, uz
