"""Vertices inside a closed body, and how deep (Martin 2009, 5.2.2).

A convex body holds what is behind all its faces; the depth is the least one, that of the face. In any other body a
point is inside where a ray along z crosses an odd number of triangles (the print says an even one), and its depth is
that behind the nearest triangle. His point-in-triangle test counts a ray through an edge twice or not at all; sides
here own one end of their range, so each ray is counted once.
"""

from math import inf, sqrt

from ...contact.narrow_phase.closest_points import closest_on_triangle_of
from ...jit import kernel
from .feature_tests import set_numbers, set_side, triangle_normal


@kernel
def face_over(x, p, triangles, first, last):
    """Triangle of a convex body that point p is least behind, and its height over it [m], below 0 inside."""
    best, height = -1, -inf
    for t in range(first, last):
        a = triangles[t, 0]
        nx, ny, nz = triangle_normal(x, a, triangles[t, 1], triangles[t, 2])
        if nx == 0.0 and ny == 0.0 and nz == 0.0:
            continue
        over = (x[p, 0] - x[a, 0]) * nx + (x[p, 1] - x[a, 1]) * ny + (x[p, 2] - x[a, 2]) * nz
        if over > height:
            best, height = t, over
    return best, height


@kernel
def side_crosses(px, py, ax, ay, bx, by):
    """Whether the way from (px, py) along +x crosses the side ab; each side owns its lower end."""
    if (ay > py) == (by > py):
        return False
    # the same arithmetic whichever way the side is walked
    if ay > by:
        ax, ay, bx, by = bx, by, ax, ay
    return (bx - ax) * (py - ay) > (px - ax) * (by - ay)


@kernel
def is_inside(x, p, triangles, first, last):
    """Whether point p is inside the closed triangles first .. last - 1: parity of the crossings of a ray along +z."""
    inside = False
    px, py, pz = x[p, 0], x[p, 1], x[p, 2]
    for t in range(first, last):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if max(x[a, 2], x[b, 2], x[c, 2]) < pz:
            continue
        covers = side_crosses(px, py, x[a, 0], x[a, 1], x[b, 0], x[b, 1])
        covers ^= side_crosses(px, py, x[b, 0], x[b, 1], x[c, 0], x[c, 1])
        covers ^= side_crosses(px, py, x[c, 0], x[c, 1], x[a, 0], x[a, 1])
        if not covers:
            continue
        nx, ny, nz = triangle_normal(x, a, b, c)
        over = (px - x[a, 0]) * nx + (py - x[a, 1]) * ny + (pz - x[a, 2]) * nz
        if over * nz < 0.0:  # the triangle is above the point
            inside = not inside
    return inside


@kernel
def nearest_face(x, p, triangles, first, last):
    """The triangle nearest to point p, and the distance [m]."""
    best, least = -1, inf
    for t in range(first, last):
        square = closest_on_triangle_of(x, p, triangles, t)[6]
        if square < least:
            best, least = t, square
    return best, sqrt(least)


@kernel
def vertices_inside(x, p_first, p_last, triangles, first, last, convex, hit_count, points, weights, numbers):
    """Hits of the points p_first .. p_last - 1 that are inside a closed body; returns the number of all hits.

    It may exceed the room. The vertex is in slot 0, the triangle in slots 3 to 5, as in `feature_tests`.
    """
    for p in range(p_first, p_last):
        if convex:
            face, height = face_over(x, p, triangles, first, last)
            if height >= 0.0:
                continue
        else:
            if not is_inside(x, p, triangles, first, last):
                continue
            face, distance = nearest_face(x, p, triangles, first, last)
            height = -distance
        if hit_count < points.shape[0]:
            a, b, c = triangles[face, 0], triangles[face, 1], triangles[face, 2]
            nx, ny, nz = triangle_normal(x, a, b, c)
            set_side(points[hit_count], weights[hit_count], 0, p, p, p, 1, 1.0)
            set_side(points[hit_count], weights[hit_count], 3, a, b, c, 3, -1.0)
            set_numbers(numbers[hit_count], nx, ny, nz, height, 1.0, x[p, 0], x[p, 1], x[p, 2])
        hit_count += 1
    return hit_count
