"""Closest points of a point and a triangle, with the triangle's closest feature, and of two edges.

Features: 0 the face, 1 to 3 the edge from corner k - 1 to its successor, 4 to 6 the corner k - 4.
"""

import math

from ...jit import inline_kernel, kernel

#: First numbers of edges and corners among the features.
FIRST_EDGE = 1
FIRST_CORNER = 4

#: Squared sine of a corner angle below which a triangle has no face, only edges [1].
FLATTEST_FACE = 1e-20

#: Squared sine of the angle of two edges below which they are parallel [1]: their closest points are then at an end.
PARALLEL = 1e-16
#: The same below which rounding spoils the closest points of two lines, so that the ends are tested too [1].
NEARLY_PARALLEL = 1e-8


@kernel
def closest_on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Closest point of triangle abc to p.

    Returns (u, v, w, qx, qy, qz, distance_squared, feature): barycentric coordinates, the vector from the
    closest point to p, its squared length [m^2], the feature. Differences are taken before any product, so
    the result keeps its accuracy far from the origin. Degenerate triangles act as their edges.
    """
    # e, f edges from a; r from a to p; n normal (not unit)
    ex, ey, ez = bx - ax, by - ay, bz - az
    fx, fy, fz = cx - ax, cy - ay, cz - az
    rx, ry, rz = px - ax, py - ay, pz - az
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    nn = nx * nx + ny * ny + nz * nz
    ee = ex * ex + ey * ey + ez * ez
    ff = fx * fx + fy * fy + fz * fz
    u = v = w = -1.0
    if nn > FLATTEST_FACE * ee * ff:
        v = ((ry * fz - rz * fy) * nx + (rz * fx - rx * fz) * ny + (rx * fy - ry * fx) * nz) / nn
        w = ((ey * rz - ez * ry) * nx + (ez * rx - ex * rz) * ny + (ex * ry - ey * rx) * nz) / nn
        u = 1.0 - v - w
        if u >= 0.0 and v >= 0.0 and w >= 0.0:
            h = (rx * nx + ry * ny + rz * nz) / nn
            return u, v, w, h * nx, h * ny, h * nz, h * h * nn, 0
    # Outside the face the closest point lies on an edge with a negative barycentric coordinate.
    best = math.inf
    best_t = 0.0
    qx = qy = qz = 0.0
    edge = 0
    corner = -1
    if w < 0.0:  # edge ab
        d, t, sx, sy, sz, k = closest_on_edge(rx, ry, rz, ex, ey, ez, ee, px - bx, py - by, pz - bz, 0, 1)
        if d < best:
            best, best_t, qx, qy, qz, edge, corner = d, t, sx, sy, sz, 0, k
    if u < 0.0:  # edge bc
        gx, gy, gz = cx - bx, cy - by, cz - bz
        gg = gx * gx + gy * gy + gz * gz
        d, t, sx, sy, sz, k = closest_on_edge(
            px - bx, py - by, pz - bz, gx, gy, gz, gg, px - cx, py - cy, pz - cz, 1, 2
        )  # fmt: skip
        if d < best:
            best, best_t, qx, qy, qz, edge, corner = d, t, sx, sy, sz, 1, k
    if v < 0.0:  # edge ca, measured from a so that corner a gives the same bits as in edge ab
        d, t, sx, sy, sz, k = closest_on_edge(rx, ry, rz, fx, fy, fz, ff, px - cx, py - cy, pz - cz, 0, 2)
        if d < best:
            best, best_t, qx, qy, qz, edge, corner = d, 1.0 - t, sx, sy, sz, 2, k
    feature = edge + FIRST_EDGE if corner < 0 else corner + FIRST_CORNER
    if edge == 0:
        return 1.0 - best_t, best_t, 0.0, qx, qy, qz, best, feature
    if edge == 1:
        return 0.0, 1.0 - best_t, best_t, qx, qy, qz, best, feature
    return best_t, 0.0, 1.0 - best_t, qx, qy, qz, best, feature


@inline_kernel
def closest_on_edge(rx, ry, rz, ex, ey, ez, ee, sx, sy, sz, start, end):
    """Squared distance [m^2] of a point from an edge e, its place on it, the vector from there, and the corner or -1.

    r, s: from the edge's start and end to the point; `start`, `end`: which corners they are.
    """
    t = (rx * ex + ry * ey + rz * ez) / ee if ee > 0.0 else 0.0
    corner = -1
    if t <= 0.0:
        t, sx, sy, sz, corner = 0.0, rx, ry, rz, start
    elif t >= 1.0:
        t, corner = 1.0, end
    else:
        sx, sy, sz = rx - t * ex, ry - t * ey, rz - t * ez
    return sx * sx + sy * sy + sz * sz, t, sx, sy, sz, corner


@inline_kernel
def closest_on_triangle_of(x, point, triangles, triangle):
    """`closest_on_triangle` for a point and a triangle given by number; x positions (point_count, 3)."""
    return closest_on_corners(x, point, x, triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2])


@inline_kernel
def closest_on_corners(points, point, x, a, b, c):
    """The same for row `point` of `points` and the triangle with these corners at x."""
    return closest_on_triangle(
        points[point, 0], points[point, 1], points[point, 2],
        x[a, 0], x[a, 1], x[a, 2],
        x[b, 0], x[b, 1], x[b, 2],
        x[c, 0], x[c, 1], x[c, 2],
    )  # fmt: skip


@inline_kernel
def unit_normal(x, a, b, c):
    """Unit normal of triangle abc (right-handed), +z where the triangle has no area."""
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    fx, fy, fz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length > 0.0:
        return nx / length, ny / length, nz / length
    return 0.0, 0.0, 1.0


@kernel
def closest_on_edges(px, py, pz, ex, ey, ez, qx, qy, qz, fx, fy, fz):
    """Closest points of the edges p + s e and q + t f, 0 <= s, t <= 1.

    Returns (s, t, x, y, z, distance_squared): the vector leads from the second edge's point to the first's.
    """
    rx, ry, rz = px - qx, py - qy, pz - qz
    ee = ex * ex + ey * ey + ez * ez
    ff = fx * fx + fy * fy + fz * fz
    ef = ex * fx + ey * fy + ez * fz
    er = ex * rx + ey * ry + ez * rz
    fr = fx * rx + fy * ry + fz * rz
    # |e x f|^2 by its components: ee ff - ef^2 would cancel
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    nn = nx * nx + ny * ny + nz * nz
    best = math.inf
    s = t = vx = vy = vz = 0.0
    if nn > PARALLEL * ee * ff:
        s = ((ry * fz - rz * fy) * nx + (rz * fx - rx * fz) * ny + (rx * fy - ry * fx) * nz) / -nn
        t = ((ry * ez - rz * ey) * nx + (rz * ex - rx * ez) * ny + (rx * ey - ry * ex) * nz) / -nn
        if s >= 0.0 and s <= 1.0 and t >= 0.0 and t <= 1.0:
            vx, vy, vz = rx + s * ex - t * fx, ry + s * ey - t * fy, rz + s * ez - t * fz
            best = vx * vx + vy * vy + vz * vz
            if nn > NEARLY_PARALLEL * ee * ff:
                return s, t, vx, vy, vz, best
    # Otherwise one of the four ends is closest: each against the other edge.
    for end in range(4):
        if end < 2:
            a = float(end)
            b = min(1.0, max(0.0, (fr + a * ef) / ff)) if ff > 0.0 else 0.0
        else:
            b = float(end - 2)
            a = min(1.0, max(0.0, (b * ef - er) / ee)) if ee > 0.0 else 0.0
        ux, uy, uz = rx + a * ex - b * fx, ry + a * ey - b * fy, rz + a * ez - b * fz
        d = ux * ux + uy * uy + uz * uz
        if d < best:
            best, s, t, vx, vy, vz = d, a, b, ux, uy, uz
    return s, t, vx, vy, vz, best


@inline_kernel
def closest_on_edges_of(x, p, p_end, q, q_end):
    """`closest_on_edges` for edges given by the numbers of their ends; x positions (point_count, 3)."""
    return closest_on_edges(
        x[p, 0], x[p, 1], x[p, 2],
        x[p_end, 0] - x[p, 0], x[p_end, 1] - x[p, 1], x[p_end, 2] - x[p, 2],
        x[q, 0], x[q, 1], x[q, 2],
        x[q_end, 0] - x[q, 0], x[q_end, 1] - x[q, 1], x[q_end, 2] - x[q, 2],
    )  # fmt: skip
