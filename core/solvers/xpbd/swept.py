"""Contacts that a move has passed through: a gap only tells how near two sides are at its end.

A candidate whose point is on the other side of its triangle after a move, and was over the face when it reached the
plane, has passed through it; the same for two edges. Its row then gets the geometry of the end with the side of the
begin, so that its gap is negative and it is pushed back to where it came from. Positions between are interpolated.
"""

import math

import numpy as np

from ...collide.contacts import EDGE_EDGE, POINT_TRIANGLE
from ...collide.features import closest_on_edges, closest_on_triangle, signed_volume
from ...jit import kernel
from ...lanes import lane, larger, load3, spread, sum_spread

#: Time of crossing of a row that is not crossed.
NEVER = 2.0
#: Rows per unit of parallel work.
CHUNK = 256
#: Halvings that find when two edges meet; then they must be this near to each other, relative to before or after.
EDGE_HALVINGS = 12
EDGE_MEETS = 0.05


@kernel
def find_crossed(
    before, after, listed, rows, points, kind, side, bodies, far, ahead, near, weights, normal, gap, crossed
):  # fmt: skip
    """Share of the move at which each of the first `listed` of `rows` was crossed into `crossed`, NEVER for the others;
    returns how many were.

    Rows whose sides are farther apart than `near` [m] for certain (`far` less what they went, `ahead`) are left out:
    what has passed through something is not farther from it than both have moved.
    Crossed rows get their `weights`, `normal` and (negative) `gap` at the positions `after` [m].
    """
    found = 0
    for chunk in range((listed + CHUNK - 1) // CHUNK):
        for place in range(chunk * CHUNK, min(listed, (chunk + 1) * CHUNK)):
            row = rows[place]
            crossed[row] = NEVER
            if side[row] < 0 or far[row] - ahead[bodies[row, 0]] - ahead[bodies[row, 1]] > near:
                continue
            if kind[row] == POINT_TRIANGLE:
                crossed[row] = cross_triangle(before, after, points, row, weights, normal, gap)
            elif kind[row] == EDGE_EDGE:
                crossed[row] = cross_edges(before, after, points, row, weights, normal, gap)
            if crossed[row] < NEVER:
                found += 1
    return found


@kernel
def largest_move(before, after):
    """No less than the longest way of a point [m]: the diagonal of the longest ways along x, y and z."""
    most = spread(0.0)
    for point in range(before.shape[0]):
        i = np.uint32(3) * np.uint32(point)
        move = load3(after, i) - load3(before, i)
        most = larger(move * move, most)
    return math.sqrt(lane(sum_spread(most), 0))


@kernel
def between(before, after, i, t):
    """Position of point i at the share t of the move."""
    s = 1.0 - t
    return (
        s * before[i, 0] + t * after[i, 0],
        s * before[i, 1] + t * after[i, 1],
        s * before[i, 2] + t * after[i, 2],
    )


@kernel
def plane_height(x, p, a, b, c):
    """Height of p over the plane of triangle abc times twice its area [m^3], and the triangle's normal, not unit."""
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    fx, fy, fz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    return (x[p, 0] - x[a, 0]) * nx + (x[p, 1] - x[a, 1]) * ny + (x[p, 2] - x[a, 2]) * nz, nx, ny, nz


@kernel
def cross_triangle(before, after, points, row, weights, normal, gap):
    """When a point passed through its triangle, or NEVER; then with weights, normal and gap."""
    p, a, b, c = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
    old, ox, oy, oz = plane_height(before, p, a, b, c)
    new, nx, ny, nz = plane_height(after, p, a, b, c)
    if old * new > 0.0 or old == 0.0:
        return NEVER
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    old_length = math.sqrt(ox * ox + oy * oy + oz * oz)
    if not (length > 0.0 and old_length > 0.0):
        return NEVER
    old, new = old / old_length, new / length
    t = old / (old - new)
    px, py, pz = between(before, after, p, t)
    ax, ay, az = between(before, after, a, t)
    bx, by, bz = between(before, after, b, t)
    cx, cy, cz = between(before, after, c, t)
    u, v, w, _, _, _, _, where = closest_on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
    if where != 0:
        return NEVER
    sign = 1.0 if old > 0.0 else -1.0
    # the point of the face below it now, so that both sides are pushed along one line and no torque arises
    u_end, v_end, w_end, _, _, _, _, where = closest_on_triangle(
        after[p, 0], after[p, 1], after[p, 2], after[a, 0], after[a, 1], after[a, 2],
        after[b, 0], after[b, 1], after[b, 2], after[c, 0], after[c, 1], after[c, 2],
    )  # fmt: skip
    if where == 0:
        u, v, w = u_end, v_end, w_end
    weights[row, 0], weights[row, 1], weights[row, 2], weights[row, 3] = 1.0, -u, -v, -w
    normal[row, 0], normal[row, 1], normal[row, 2] = sign * nx / length, sign * ny / length, sign * nz / length
    gap[row] = sign * new
    return t


@kernel
def edge_side(before, after, points, row, t):
    """Six times the volume of the tetrahedron of two edges at the share t of the move: its sign is their side."""
    px, py, pz = between(before, after, points[row, 0], t)
    ex, ey, ez = between(before, after, points[row, 1], t)
    qx, qy, qz = between(before, after, points[row, 2], t)
    fx, fy, fz = between(before, after, points[row, 3], t)
    ex, ey, ez, fx, fy, fz = ex - px, ey - py, ez - pz, fx - qx, fy - qy, fz - qz
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    return nx * (px - qx) + ny * (py - qy) + nz * (pz - qz)


@kernel
def edges_between(before, after, points, row, t):
    """Closest points of two edges at the share t of the move: shares, vector between them, squared distance."""
    px, py, pz = between(before, after, points[row, 0], t)
    ex, ey, ez = between(before, after, points[row, 1], t)
    qx, qy, qz = between(before, after, points[row, 2], t)
    fx, fy, fz = between(before, after, points[row, 3], t)
    return closest_on_edges(px, py, pz, ex - px, ey - py, ez - pz, qx, qy, qz, fx - qx, fy - qy, fz - qz)


@kernel
def cross_edges(before, after, points, row, weights, normal, gap):
    """When two edges passed through each other, or NEVER; then with weights, normal and gap."""
    p, p_end, q, q_end = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
    old = signed_volume(before, p, p_end, q, q_end)
    new = signed_volume(after, p, p_end, q, q_end)
    if old * new > 0.0 or old == 0.0:
        return NEVER
    old, low, high = edge_side(before, after, points, row, 0.0), 0.0, 1.0
    for _ in range(EDGE_HALVINGS):
        middle = 0.5 * (low + high)
        if old * edge_side(before, after, points, row, middle) > 0.0:
            low = middle
        else:
            high = middle
    s, t, _, _, _, dd = edges_between(before, after, points, row, high)
    first = edges_between(before, after, points, row, 0.0)[5]
    s_end, t_end, _, _, _, last = edges_between(before, after, points, row, 1.0)
    inside = s > 0.0 and s < 1.0 and t > 0.0 and t < 1.0
    if not inside or dd > EDGE_MEETS * EDGE_MEETS * max(first, last):
        return NEVER
    if s_end > 0.0 and s_end < 1.0 and t_end > 0.0 and t_end < 1.0:
        s, t = s_end, t_end
    ex, ey, ez = after[p_end, 0] - after[p, 0], after[p_end, 1] - after[p, 1], after[p_end, 2] - after[p, 2]
    fx, fy, fz = after[q_end, 0] - after[q, 0], after[q_end, 1] - after[q, 1], after[q_end, 2] - after[q, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if not length > 0.0:
        return NEVER
    if old < 0.0:
        length = -length
    nx, ny, nz = nx / length, ny / length, nz / length
    weights[row, 0], weights[row, 1], weights[row, 2], weights[row, 3] = 1.0 - s, s, t - 1.0, -t
    normal[row, 0], normal[row, 1], normal[row, 2] = nx, ny, nz
    rx, ry, rz = after[p, 0] - after[q, 0], after[p, 1] - after[q, 1], after[p, 2] - after[q, 2]
    gap[row] = nx * rx + ny * ry + nz * rz  # the same for any two points of the edges
    return high
