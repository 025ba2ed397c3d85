"""Nearest triangle of a body to a point, rays, and the exit triangle of a point behind the body's surface."""

import math
from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray
from ...jit import inline_kernel, kernel
from ...tiny import TINY
from .closest_points import closest_on_corners, closest_on_triangle_of, unit_normal


class Choice(NamedTuple):
    """Which triangles of a body count as near."""

    excluded: BoolArray  # those that are left out, shape (triangles of body,), or empty
    unit: FloatArray  # normals of the triangles where the points have some, too, shape (triangle_count, 3), or empty
    normals: FloatArray  # of the points, shape (point_count, 3), or empty
    turn_cost: float  # of a full turn from one to the other [m^2]


ALL = Choice(np.zeros(0, np.bool_), np.zeros((0, 3)), np.zeros((0, 3)), 0.0)
STACK_SIZE = 64  # stack of nodes in a traversal: at most one per level and one more; trees have < 31 levels

#: Cosine between the direction to the nearest triangle and the one in which two bodies separate, above which the
#: nearest triangle is the exit [1]: 60 degrees.
ALIGNED = 0.5


@kernel
def nearest_triangle(points, point, most, x, body, triangles, trees, choice, stack):
    """Triangle of `body` at x nearest to row `point` of `points` (the lowest-numbered of equals), -1 if it has none.

    most: squared distance [m^2] up to which it counts, with what `choice` adds.
    """
    best, nearest = most, -1
    levels = trees.depth[body]
    if levels < 0:
        return nearest
    base, first = trees.node_start[body], trees.triangle_start[body]
    size = trees.triangle_start[body + 1] - first
    leaves = 1 << levels
    px, py, pz = points[point, 0], points[point, 1], points[point, 2]
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if box_distance(px, py, pz, trees.box, base + node) > best:
            continue
        if node >= leaves - 1:
            leaf = node - leaves + 1
            for place in range(first + leaf * size // leaves, first + (leaf + 1) * size // leaves):
                triangle = trees.triangle_order[place]
                if choice.excluded.shape[0] > 0 and choice.excluded[triangle - first]:
                    continue
                a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
                d = closest_on_corners(points, point, x, a, b, c)[6]
                if choice.unit.shape[0] > 0:
                    n, m = choice.unit[triangle], choice.normals[point]
                    d += choice.turn_cost * max(0.0, -(n[0] * m[0] + n[1] * m[1] + n[2] * m[2]))
                if d < best or (d == best and (nearest < 0 or triangle < nearest)):
                    best, nearest = d, triangle
        else:
            # The nearer child is visited first.
            left, right = 2 * node + 1, 2 * node + 2
            if box_distance(px, py, pz, trees.box, base + left) < box_distance(px, py, pz, trees.box, base + right):
                left, right = right, left
            stack[waiting] = left
            stack[waiting + 1] = right
            waiting += 2
    return nearest


@kernel
def box_distance(px, py, pz, box, node):
    """Squared distance [m^2] from p to a node's box, 0 inside."""
    dx = max(box[node, 0] - px, 0.0, px - box[node, 3])
    dy = max(box[node, 1] - py, 0.0, py - box[node, 4])
    dz = max(box[node, 2] - pz, 0.0, pz - box[node, 5])
    return dx * dx + dy * dy + dz * dz


@inline_kernel
def inverse_of(d):
    """One over a component of a direction, finite where that is 0."""
    return 1.0 / d if abs(d) > TINY else 1.0 / TINY


@inline_kernel
def ray_to_box(p, ix, iy, iz, box, node, far):
    """Distance to a node's box along a ray from p (3,), infinite where it is more than `far`.

    ix, iy, iz: `inverse_of` its direction.
    """
    sx, tx = (box[node, 0] - p[0]) * ix, (box[node, 3] - p[0]) * ix
    sy, ty = (box[node, 1] - p[1]) * iy, (box[node, 4] - p[1]) * iy
    sz, tz = (box[node, 2] - p[2]) * iz, (box[node, 5] - p[2]) * iz
    near = max(0.0, min(sx, tx), min(sy, ty), min(sz, tz))
    far = min(far, max(sx, tx), max(sy, ty), max(sz, tz))
    return near if near <= far * (1.0 + 1e-12) else math.inf


@kernel
def cast_ray(x, p, d, body, facing, triangles, trees, stack):
    """Exits minus entries of a ray from p (3,) along unit vector d (3,) through `body`, and its first exit, -1 if none.

    The difference is the winding number at p. An exit is where facing times the triangle's normal points along d.
    """
    best, first_exit, total = math.inf, -1, 0
    levels = trees.depth[body]
    if levels < 0:
        return total, first_exit
    base, first = trees.node_start[body], trees.triangle_start[body]
    size = trees.triangle_start[body + 1] - first
    leaves = 1 << levels
    ix, iy, iz = inverse_of(d[0]), inverse_of(d[1]), inverse_of(d[2])
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if ray_to_box(p, ix, iy, iz, trees.box, base + node, math.inf) == math.inf:
            continue
        if node < leaves - 1:
            stack[waiting], stack[waiting + 1] = 2 * node + 1, 2 * node + 2
            waiting += 2
            continue
        leaf = node - leaves + 1
        for place in range(first + leaf * size // leaves, first + (leaf + 1) * size // leaves):
            triangle = trees.triangle_order[place]
            t = ray_to_triangle(x, p, d, triangles, triangle, facing)
            if t >= 0.0:
                total += facing
                if t < best or (t == best and triangle < first_exit):
                    best, first_exit = t, triangle
            elif ray_to_triangle(x, p, d, triangles, triangle, -facing) >= 0.0:
                total -= facing
    return total, first_exit


@kernel
def ray_to_triangle(x, p, d, triangles, triangle, facing):
    """Distance [m] along unit vector d (3,) at which a ray from p (3,) leaves through the triangle, -1 if it does not.

    Moeller and Trumbore 1997, with the determinant's sign as the side.
    """
    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    fx, fy, fz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    rx, ry, rz = p[0] - x[a, 0], p[1] - x[a, 1], p[2] - x[a, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    along = nx * d[0] + ny * d[1] + nz * d[2]
    if along * facing <= 0.0:
        return -1.0
    mx, my, mz = ry * d[2] - rz * d[1], rz * d[0] - rx * d[2], rx * d[1] - ry * d[0]  # r x d
    v = -(fx * mx + fy * my + fz * mz) / along
    w = (ex * mx + ey * my + ez * mz) / along
    if v < 0.0 or w < 0.0 or v + w > 1.0:
        return -1.0
    return -(rx * nx + ry * ny + rz * nz) / along


@kernel
def choose_exit(x, point, body, facing, d, triangles, trees, choice, stack):
    """Triangle of `body` through which a point behind its surface should leave.

    The nearest one, if it lies roughly along d, the direction in which the bodies separate (zero: unknown). A point
    deep inside may be nearer to the far side of the body; then the first triangle along d.
    """
    nearest = nearest_triangle(x, point, math.inf, x, body, triangles, trees, choice, stack)
    if nearest < 0 or (d[0] == 0.0 and d[1] == 0.0 and d[2] == 0.0):
        return nearest
    _, _, _, qx, qy, qz, dd, _ = closest_on_triangle_of(x, point, triangles, nearest)
    nx, ny, nz = unit_normal(x, triangles[nearest, 0], triangles[nearest, 1], triangles[nearest, 2])
    if facing * (qx * nx + qy * ny + qz * nz) >= 0.0:
        return nearest  # it is out already
    if -(qx * d[0] + qy * d[1] + qz * d[2]) >= ALIGNED * math.sqrt(dd):
        return nearest
    _, found = cast_ray(x, x[point], d, body, facing, triangles, trees, stack)
    return found if found >= 0 else nearest
