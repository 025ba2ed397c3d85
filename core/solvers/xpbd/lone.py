"""Vertices that meet only something given, as most on a floor do: found, projected and looked at again in one pass.

Nothing else moves either side, so one projection is all that sweeps would come to. Which face is below, whether it has
been passed through, the push, the friction and whether it is passed through now are told one vertex after the other,
while its numbers are at hand. A plane that stands still is set up once for all vertices in a row that are over it.
"""

from math import sqrt

from ...collide.features import FLATTEST_FACE
from ...collide.narrow import measure, settle
from ...jit import kernel
from ...lanes import fused, lane, load3, rotated, spread, triple
from .looking import (
    DONE,
    IDLE,
    KEPT_SHARE,
    SWEPT,
    choose_run,
    list_swept,
    look_at_edges,
    look_at_points,
    mark_busy,
    sleeps,
)
from .spin import moments_of_chunk
from .swept import NEVER, cross_triangle


@kernel
def face_of(x, triangles, triangle):
    """First corner, two edges from there, unit normal, and what its height over the edges is to be divided by: one over
    twice the area [1/m^2], 0 where a triangle has no face.
    """
    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    ax, ay, az = x[a, 0], x[a, 1], x[a, 2]
    ex, ey, ez = x[b, 0] - ax, x[b, 1] - ay, x[b, 2] - az
    fx, fy, fz = x[c, 0] - ax, x[c, 1] - ay, x[c, 2] - az
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    nn = nx * nx + ny * ny + nz * nz
    if not nn > FLATTEST_FACE * (ex * ex + ey * ey + ez * ez) * (fx * fx + fy * fy + fz * fz):
        return ax, ay, az, ex, ey, ez, fx, fy, fz, 0.0, 0.0, 1.0, 0.0
    shrink = 1.0 / sqrt(nn)
    return ax, ay, az, ex, ey, ez, fx, fy, fz, shrink * nx, shrink * ny, shrink * nz, shrink


@kernel
def changes_side(x, start, triangles, triangle, point):
    """Whether a point is not on the side of a triangle's plane, which stands still, on which it started."""
    ax, ay, az, _, _, _, _, _, _, nx, ny, nz, _ = face_of(x, triangles, triangle)
    old = (start[point, 0] - ax) * nx + (start[point, 1] - ay) * ny + (start[point, 2] - az) * nz
    new = (x[point, 0] - ax) * nx + (x[point, 1] - ay) * ny + (x[point, 2] - az) * nz
    return not old * new > 0.0 and old != 0.0


@kernel
def press_lone(
    x, start, still, chunk_row, alone, busy, ahead, behind, triangles, triangle_neighbour, points, kind, triangle,
    bodies, thickness, friction, side, facing, local, weights, normal, distance, gap, feature, inverse_mass, mass,
    time, body_point_start, chunks, far, crossed, lack, mark, reached, sums, pushed, doubt,
):  # fmt: skip
    """Move the vertices that lack their distance from x [m] on, and add to `sums` what that costs (`spin.take_step`).

    `still`: whether no given point moves. `busy`: whether a vertex is in a row that is swept. Rows that are projected
    are marked DONE with lambda [kg m] in `reached`; where a vertex has several, or is busy, they are marked SWEPT.
    Per chunk: `pushed`, the longest push [m], and `doubt`, whether a vertex may have passed through a face, or is left.
    """
    for c in range(chunks.body.shape[0]):
        pushed[c] = 0.0
        doubt[c] = False
        if chunk_row[c] < chunk_row[c + 1]:
            press_chunk(
                c, x, start, still, chunk_row, alone, busy, ahead, behind, triangles, triangle_neighbour, points, kind,
                triangle, bodies, thickness, friction, side, facing, local, weights, normal, distance, gap, feature,
                inverse_mass, mass, time, body_point_start, chunks, far, crossed, lack, mark, reached, sums, pushed,
                doubt,
            )  # fmt: skip


@kernel
def press_chunk(
    c, x, start, still, chunk_row, alone, busy, ahead, behind, triangles, triangle_neighbour, points, kind, triangle,
    bodies, thickness, friction, side, facing, local, weights, normal, distance, gap, feature, inverse_mass, mass,
    time, body_point_start, chunks, far, crossed, lack, mark, reached, sums, pushed, doubt,
):  # fmt: skip
    """`press_lone` for the vertices of one chunk."""
    known = -1  # the triangle of which the plane is set up
    ax = ay = az = ex = ey = ez = fx = fy = fz = nx = ny = nz = shrink = height = 0.0
    lost = spread(0.0)
    moved, farthest = False, 0.0
    end, stop = chunk_row[c], chunk_row[c + 1]
    while end < stop:
        begin = end
        i = points[begin, 0]
        end += 1
        while end < stop and points[end, 0] == i:
            end += 1
        if not alone[begin]:
            continue
        px, py, pz = x[i, 0], x[i, 1], x[i, 2]
        awake = False
        for row in range(begin, end):
            crossed[row], mark[row], reached[row] = NEVER, IDLE, 0.0
            if sleeps(row, bodies, thickness, far, ahead):
                continue
            awake = True
            t = triangle[row]
            over = False
            if still:
                if t != known:
                    ax, ay, az, ex, ey, ez, fx, fy, fz, nx, ny, nz, shrink = face_of(x, triangles, t)
                    known = t
                rx, ry, rz = px - ax, py - ay, pz - az
                height = rx * nx + ry * ny + rz * nz
                # `features.closest_on_triangle` for a point over the face
                v = ((ry * fz - rz * fy) * nx + (rz * fx - rx * fz) * ny + (rx * fy - ry * fx) * nz) * shrink
                w = ((ey * rz - ez * ry) * nx + (ez * rx - ex * rz) * ny + (ex * ry - ey * rx) * nz) * shrink
                u = 1.0 - v - w
                if shrink > 0.0 and u >= 0.0 and v >= 0.0 and w >= 0.0:
                    over = True
                    up = -1.0 if height < 0.0 else 1.0
                    weights[row, 0], weights[row, 1], weights[row, 2], weights[row, 3] = 1.0, -u, -v, -w
                    normal[row, 0], normal[row, 1], normal[row, 2] = up * nx, up * ny, up * nz
                    distance[row] = gap[row] = abs(height)
                    feature[row] = 0
            if not over:
                measure(
                    x, triangles, triangle_neighbour, i, t, side[row], facing[row], False, row, weights, normal,
                    distance, gap, feature,
                )  # fmt: skip
            far[row] = distance[row] + behind[bodies[row, 0]] + behind[bodies[row, 1]]
        if not awake:
            continue
        if end > begin + 1:
            settle(begin, end, points, bodies, thickness, side, normal, distance, feature, local, gap)
        for row in range(begin, end):
            if still and triangle[row] == known:  # `height` is the one over its plane, which was the last to be set up
                old = (start[i, 0] - ax) * nx + (start[i, 1] - ay) * ny + (start[i, 2] - az) * nz
                if old * height > 0.0:
                    continue
            crossed[row] = cross_triangle(start, x, points, row, weights, normal, gap)
        if end == begin + 1:  # the same, without a call for each vertex of a floor
            chosen = 0
            if gap[begin] < thickness[begin]:
                lack[begin], mark[begin], chosen = KEPT_SHARE * thickness[begin] - gap[begin], SWEPT, 1
        else:
            chosen = choose_run(begin, end, points, bodies, kind, side, thickness, gap, crossed, 0.0, lack, mark)
        if chosen == 0:
            continue
        if chosen > 1 or busy[i]:
            doubt[c] = True
            continue
        row = begin
        while mark[row] != SWEPT:
            row += 1
        mark[row] = DONE
        if not inverse_mass[i] > 0.0 or not lack[row] > 0.0:
            doubt[c] = doubt[c] or crossed[row] < NEVER
            continue
        m = mass[i]
        kx, ky, kz = normal[row, 0], normal[row, 1], normal[row, 2]
        force = m * lack[row]
        reached[row] = force
        ux, uy, uz = px - start[i, 0], py - start[i, 1], pz - start[i, 2]
        if not still:
            for slot in range(1, 4):
                g, share = points[row, slot], weights[row, slot]
                ux += share * (x[g, 0] - start[g, 0])
                uy += share * (x[g, 1] - start[g, 1])
                uz += share * (x[g, 2] - start[g, 2])
        un = ux * kx + uy * ky + uz * kz
        ux, uy, uz = ux - un * kx, uy - un * ky, uz - un * kz
        # what friction can hold holds all slip, otherwise it goes on by the rest
        slip2, hold = ux * ux + uy * uy + uz * uz, friction[row] * lack[row]
        kept = 1.0 if slip2 <= hold * hold else hold / sqrt(slip2)
        dx, dy, dz = lack[row] * kx - kept * ux, lack[row] * ky - kept * uy, lack[row] * kz - kept * uz
        step, way = triple(dx, dy, dz), load3(x, 3 * i) - load3(start, 3 * i)
        lost = fused(spread(-m / time), step * rotated(way) - rotated(step) * way, lost)
        px, py, pz = px + dx, py + dy, pz + dz
        x[i, 0], x[i, 1], x[i, 2] = px, py, pz
        farthest = max(farthest, dx * dx + dy * dy + dz * dz)
        moved = True
        if not still:
            doubt[c] = True
            continue
        for row in range(begin, end):
            if triangle[row] == known:
                old = (start[i, 0] - ax) * nx + (start[i, 1] - ay) * ny + (start[i, 2] - az) * nz
                if old * ((px - ax) * nx + (py - ay) * ny + (pz - az) * nz) > 0.0:
                    continue
            doubt[c] = doubt[c] or changes_side(x, start, triangles, triangle[row], i)
    if moved:
        pushed[c] = sqrt(farthest)
        lost = rotated(lost)
        sums[c, 0] += lane(lost, 0)
        sums[c, 1] += lane(lost, 1)
        sums[c, 2] += lane(lost, 2)
        moments_of_chunk(c, x, start, mass, body_point_start, chunks, sums)


@kernel
def look_and_press(
    x, start, still, count, listed, of_points, others, chunk_row, alone, busy, ahead, behind, back, triangles,
    triangle_neighbour, points, kind, triangle, bodies, thickness, friction, side, facing, offset, local, apex, soft,
    share, weights, normal, distance, gap, feature, wanted, inverse_mass, mass, time, body_point_start, chunks, far,
    crossed, lack, mark, reached, sums, pushed, doubt, rows, depth,
):  # fmt: skip
    """Look at all rows (`looking.py`), and press those that stand alone.

    Returns the number of rows that are to be swept, which are listed in `rows` with their `depth`, whether rows that
    stand alone are to be looked at again, and the longest push so far [m].
    """
    if of_points > 0:
        look_at_points(
            x, start, of_points, others, ahead, behind, back, triangles, triangle_neighbour, points, kind, triangle,
            bodies, thickness, side, facing, offset, local, weights, normal, distance, gap, feature, far, crossed, lack,
            mark, reached,
        )  # fmt: skip
    if listed > of_points:
        look_at_edges(
            x, start, of_points, listed, others, ahead, behind, points, kind, bodies, apex, soft, thickness, side,
            share, weights, normal, distance, gap, wanted, far, crossed, lack, mark, reached,
        )  # fmt: skip
    swept = listed > 0 and mark_busy(listed, others, mark, points, busy, True)
    doubtful, farthest = False, 0.0
    if count > listed:
        press_lone(
            x, start, still, chunk_row, alone, busy, ahead, behind, triangles, triangle_neighbour, points, kind,
            triangle, bodies, thickness, friction, side, facing, local, weights, normal, distance, gap, feature,
            inverse_mass, mass, time, body_point_start, chunks, far, crossed, lack, mark, reached, sums, pushed, doubt,
        )  # fmt: skip
        for c in range(doubt.shape[0]):
            doubtful = doubtful or doubt[c]
            farthest = max(farthest, pushed[c])
    if swept:
        mark_busy(listed, others, mark, points, busy, False)
    return list_swept(count, mark, lack, rows, depth) if swept or doubtful else 0, doubtful, farthest
