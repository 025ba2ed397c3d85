"""Nothing may cross: how far vertices may move, and vertices that a moving collider takes along.

A triangle is convex, so the plane through its closest point, normal to the direction n towards the point,
has the triangle on one side and the point at distance d on the other. While the point moves less than its
share of d along -n, and each corner less than its share along +n, with shares that add up to less than d,
the plane between them still separates both: no contact is crossed, whatever happens along the plane.
"""

import math

import numba
import numpy as np

from ..jit import kernel, parallel_kernel
from ..model import FloatArray
from .contacts import POINT_TRIANGLE, Contacts
from .features import closest_on_triangle, unit_normal

CHUNK = 256  # contacts, or vertices, per unit of parallel work
SHARE_OF_BOTH = 0.45  # of the distance, for each side, where both sides are free to move
SHARE_OF_ONE = 0.9  # where the other side is given
CARRY_PASSES = 4


def limit_displacement(x: FloatArray, dx: FloatArray, contacts: Contacts, scale: FloatArray) -> None:
    """Factors by which the moves of the unknown vertices must be multiplied so that no candidate is crossed.

    x: positions [m], dx: moves [m], both (point_count, 3); scale: output, 0 to 1, shape (vertex_count,).
    Moves of given points (colliders) are taken as done already. Rows with side -1 are free to come back.
    Smaller factors than these are safe as well. Pairs that are not candidates are covered as long as
    `ContactSearch.still_valid` holds for the new positions.
    """
    limit_rows(
        x, dx, contacts.count, contacts.points, contacts.kind, contacts.side, contacts.slot_scale,
        contacts.vertex_start, contacts.vertex_entry, scale,
    )  # fmt: skip


@parallel_kernel
def limit_rows(x, dx, count, points, kind, side, slot_scale, vertex_start, vertex_entry, scale):
    """Factors of each slot of each row, then the least of each vertex."""
    vertex_count = scale.shape[0]
    for chunk in numba.prange((count + CHUNK - 1) // CHUNK):
        for row in range(chunk * CHUNK, min(count, (chunk + 1) * CHUNK)):
            for slot in range(4):
                slot_scale[row, slot] = 1.0
            if kind[row] != POINT_TRIANGLE or side[row] < 0:
                continue
            nx, ny, nz, d = direction_of(x, points, row)
            point_free = points[row, 0] < vertex_count
            corner_free = False
            for slot in range(1, 4):
                corner_free = corner_free or points[row, slot] < vertex_count
            allowed = d * (SHARE_OF_BOTH if point_free and corner_free else SHARE_OF_ONE)
            for slot in range(4):
                point = points[row, slot]
                if point < vertex_count:
                    along = dx[point, 0] * nx + dx[point, 1] * ny + dx[point, 2] * nz
                    if slot == 0:
                        along = -along
                    if along > allowed:
                        slot_scale[row, slot] = allowed / along
    for chunk in numba.prange((vertex_count + CHUNK - 1) // CHUNK):
        for vertex in range(chunk * CHUNK, min(vertex_count, (chunk + 1) * CHUNK)):
            least = 1.0
            for k in range(vertex_start[vertex], vertex_start[vertex + 1]):
                entry = vertex_entry[k]
                least = min(least, slot_scale[entry // 4, entry % 4])
            scale[vertex] = least


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


def carry(x: FloatArray, collider_positions: FloatArray, contacts: Contacts) -> int:
    """Move vertices out of the way of colliders that jump, along the contact normals, in place.

    x: positions before [m], shape (point_count, 3), of which rows 0 .. vertex_count - 1 are changed;
    collider_positions: rows vertex_count .. after the jump. Meant as a first guess for the solver: each
    vertex in the way keeps half of its gap or of the thickness, whichever is less. Returns the number of
    rows that are still crossed (bodies squeezed from both sides, jumps larger than the bodies).
    """
    count = contacts.count
    if count == 0:
        return 0
    vertex_count = contacts.vertex_count
    before = x.copy()
    after = x.copy()
    after[vertex_count:] = collider_positions
    move = np.zeros((count, 3))
    crossed = 0
    for index in range(CARRY_PASSES + 1):
        crossed = find_carried(
            before, after, index == 0, count, contacts.points, contacts.kind, contacts.side, contacts.thickness,
            vertex_count, move,
        )  # fmt: skip
        if index == CARRY_PASSES or (index > 0 and crossed == 0):
            break
        move_carried(move, contacts.points, contacts.vertex_start, contacts.vertex_entry, after)
    x[:vertex_count] = after[:vertex_count]
    return int(crossed)


@kernel
def find_carried(before, after, first, count, points, kind, side, thickness, vertex_count, move):
    """The move [m] each row asks of its point (and, reversed, of its corners); returns how many are crossed.

    At first, by how far a collider's side comes nearer along the contact normal; then, for rows whose point
    has changed sides of the triangle all the same, by how deep it is.
    """
    crossed = 0
    for row in range(count):
        move[row, 0], move[row, 1], move[row, 2] = 0.0, 0.0, 0.0
        if kind[row] != POINT_TRIANGLE or side[row] < 0:
            continue
        p, a, b, c = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
        point_free, corner_free = p < vertex_count, a < vertex_count
        if first and point_free and corner_free:
            continue
        u, v, w, qx, qy, qz, dd, _ = closest_on_triangle(
            before[p, 0], before[p, 1], before[p, 2], before[a, 0], before[a, 1], before[a, 2],
            before[b, 0], before[b, 1], before[b, 2], before[c, 0], before[c, 1], before[c, 2],
        )  # fmt: skip
        d = math.sqrt(dd)
        keep = 0.5 * min(d, thickness[row])
        if first:
            if d == 0.0:
                continue
            closer = 0.0
            for axis in range(3):
                n = (qx if axis == 0 else qy if axis == 1 else qz) / d
                foot = (
                    u * (after[a, axis] - before[a, axis])
                    + v * (after[b, axis] - before[b, axis])
                    + w * (after[c, axis] - before[c, axis])
                )
                closer += n * (foot - (after[p, axis] - before[p, axis]))
            amount = max(0.0, closer - (d - keep))
            move[row, 0], move[row, 1], move[row, 2] = amount * qx / d, amount * qy / d, amount * qz / d
            continue
        nx, ny, nz = unit_normal(before, a, b, c)
        mx, my, mz = unit_normal(after, a, b, c)
        height = nx * (before[p, 0] - before[a, 0]) + ny * (before[p, 1] - before[a, 1])
        height += nz * (before[p, 2] - before[a, 2])
        _, _, _, rx, ry, rz, ss, where = closest_on_triangle(
            after[p, 0], after[p, 1], after[p, 2], after[a, 0], after[a, 1], after[a, 2],
            after[b, 0], after[b, 1], after[b, 2], after[c, 0], after[c, 1], after[c, 2],
        )  # fmt: skip
        deep = -(rx * mx + ry * my + rz * mz)
        if height < 0.0:
            mx, my, mz, deep = -mx, -my, -mz, -deep
        # The path must have gone through the face, not around its border.
        if where == 0 and deep >= 0.0 and passes_through(before, after, p, a, b, c):
            crossed += 1
            amount = deep + keep
            if point_free and corner_free:
                amount *= 0.5
            move[row, 0], move[row, 1], move[row, 2] = amount * mx, amount * my, amount * mz
    return crossed


@kernel
def passes_through(before, after, p, a, b, c):
    """Whether the point's straight path, seen from the moving triangle, meets the face.

    Taken at the moment when the point is in the triangle's plane, with heights interpolated in time.
    """
    nx, ny, nz = unit_normal(before, a, b, c)
    mx, my, mz = unit_normal(after, a, b, c)
    h = k = 0.0
    for axis in range(3):
        n = nx if axis == 0 else ny if axis == 1 else nz
        m = mx if axis == 0 else my if axis == 1 else mz
        h += n * (before[p, axis] - before[a, axis])
        k += m * (after[p, axis] - after[a, axis])
    if h == k:
        return True
    t = min(1.0, max(0.0, h / (h - k)))
    s = 1.0 - t
    _, _, _, _, _, _, _, where = closest_on_triangle(
        s * before[p, 0] + t * after[p, 0], s * before[p, 1] + t * after[p, 1], s * before[p, 2] + t * after[p, 2],
        s * before[a, 0] + t * after[a, 0], s * before[a, 1] + t * after[a, 1], s * before[a, 2] + t * after[a, 2],
        s * before[b, 0] + t * after[b, 0], s * before[b, 1] + t * after[b, 1], s * before[b, 2] + t * after[b, 2],
        s * before[c, 0] + t * after[c, 0], s * before[c, 1] + t * after[c, 1], s * before[c, 2] + t * after[c, 2],
    )  # fmt: skip
    return where == 0


@kernel
def move_carried(move, points, vertex_start, vertex_entry, after):
    """Give each vertex the smallest move that satisfies its rows one after the other, in their fixed order."""
    for vertex in range(vertex_start.shape[0] - 1):
        ux = uy = uz = 0.0
        for k in range(vertex_start[vertex], vertex_start[vertex + 1]):
            row = vertex_entry[k] // 4
            sign = 1.0 if vertex_entry[k] % 4 == 0 else -1.0
            mx, my, mz = sign * move[row, 0], sign * move[row, 1], sign * move[row, 2]
            mm = mx * mx + my * my + mz * mz
            if mm > 0.0:
                missing = 1.0 - (ux * mx + uy * my + uz * mz) / mm
                if missing > 0.0:
                    ux, uy, uz = ux + missing * mx, uy + missing * my, uz + missing * mz
        after[vertex, 0] += ux
        after[vertex, 1] += uy
        after[vertex, 2] += uz
