"""First guess of a step whose colliders jump: bodies in their way are moved along."""

import numpy as np

from ...jit import kernel
from ...model import FloatArray, Model
from ..contacts import POINT_TRIANGLE, Contacts
from ..narrow_phase.closest_points import closest_on_triangle, unit_normal

#: Passes at most over the crossed pairs: bodies touch each other as well as the collider.
CARRY_PASSES = 6


@kernel
def height_of(x, points, row):
    """Unit normal of a pair's triangle on the side of its point, and the point's height over its plane [m]."""
    p, a = points[row, 0], points[row, 1]
    nx, ny, nz = unit_normal(x, a, points[row, 2], points[row, 3])
    h = (x[p, 0] - x[a, 0]) * nx + (x[p, 1] - x[a, 1]) * ny + (x[p, 2] - x[a, 2]) * nz
    if h < 0.0:
        return -nx, -ny, -nz, -h
    return nx, ny, nz, h


def carry(x: FloatArray, poses: FloatArray, given_positions: FloatArray, contacts: Contacts, model: Model) -> int:
    """Move vertices and rigid bodies out of the way of colliders that jump, in place.

    x: positions before [m], shape (point_count, 3); moving points are changed, and the centres of `poses` with them.
    given_positions: of the collider points after the jump. A vertex that a triangle would pass through (or all corners
    of a triangle that a collider's point would pass through) returns to its side, with half of its gap or of the
    thickness, whichever is less; a rigid body as a whole. Returns the number of pairs that stay crossed (bodies
    squeezed from both sides, jumps larger than the collider).
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
    """Displacement [m] that uncrosses each pair, for its point (its corners: reversed); returns the number crossed."""
    crossed = 0
    for row in range(count):
        move[row, 0], move[row, 1], move[row, 2] = 0.0, 0.0, 0.0
        if kind[row] != POINT_TRIANGLE or side[row] < 0:
            continue
        p, a = points[row, 0], points[row, 1]
        nx, ny, nz, old = height_of(before, points, row)
        mx, my, mz, new = height_of(after, points, row)
        # The triangle may have turned: its winding gives the side, not the direction in space.
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
    """Whether the point is over the face when it reaches the plane, or at the end if it does not reach it.

    old, new: heights over the plane before and after [m], interpolated linearly in time.
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
    """Add to each vertex and rigid body the smallest displacement that satisfies its pairs in their order."""
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
    """Displacement [m] that satisfies entries begin .. end - 1 one after the other."""
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
