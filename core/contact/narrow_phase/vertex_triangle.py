"""Narrow phase of vertices against triangles: gap, normal and weights of every candidate, and its ownership.

A point may be near many triangles of one surface, but has one contact with it. A row owns its contact if its closest
point is a local minimum of the distance over the whole surface (the feature blocks of Offset Geometric Contact, Chen et
al. 2025: the point lies in the block of the closest face, edge or corner), and no nearer row of the same point and body
has a similar normal. So a flat floor acts as one plane for any triangulation; both walls of a corner exert a force.

Neighbouring triangles need no look-up: those with the closest feature are candidates of the same point, as they are at
the same distance.
"""

import math

import numpy as np

from ...jit import inline_kernel, kernel
from ...tiny import ROUNDING
from .closest_points import FIRST_CORNER, FIRST_EDGE, closest_on_corners, unit_normal

#: Cosine of 30 degrees [1]: two minima of one surface with a smaller angle between their normals are one contact, the
#: nearer. Without it the force on a point in a shallow dent would double near the crease; with a much wider angle a
#: point in a valley would alternate between the walls.
SAME_DIRECTION = math.cos(math.radians(30.0))


@kernel
def evaluate_rows(x, surface, limit, pairs):
    """Write weights, normal, distance, gap and feature of the pairs of points for positions x [m].

    surface: triangles of all bodies, and their neighbours. Ownership is tested where the distance is below the limit
    [m]; beyond, the gap is the distance. Pairs with side -1 always own their contact.
    """
    points, begin, count = pairs.points, 0, pairs.edge_start
    while begin < count:
        end = begin
        while end < count and points[end, 0] == points[begin, 0]:
            measure(x, surface, end, pairs)
            end += 1
        if end > begin + 1:
            assign_owners(begin, end, limit, pairs)
        begin = end


@inline_kernel
def measure(x, surface, row, pairs):
    """Write closest point, unit normal and gap of one pair, before ownership.

    The gap of a point behind its own body's surface is its height over the triangle's plane, with the normal and
    weights of `set_plane_weights`: linear in the positions at any depth.
    """
    points, weights, normal, side = pairs.points, pairs.weights, pairs.normal, pairs.side[row]
    point, a, b, c = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
    if side < 0 and pairs.bodies[row, 0] == pairs.bodies[row, 1]:
        height = 0.0
        for axis in range(3):
            foot = weights[row, 1] * x[a, axis] + weights[row, 2] * x[b, axis] + weights[row, 3] * x[c, axis]
            height += normal[row, axis] * (x[point, axis] + foot)
        pairs.distance[row], pairs.gap[row], pairs.feature[row] = abs(height), height, 0
        return
    u, v, w, qx, qy, qz, d, where = closest_on_corners(x, point, x, a, b, c)
    d = math.sqrt(d)
    # The direction of a vector shorter than this is rounding.
    vague = 1e-14 * (abs(x[point, 0]) + abs(x[point, 1]) + abs(x[point, 2]))
    nx, ny, nz = 0.0, 0.0, 0.0
    signed = d
    if where == 0 or side < 0 or not d > vague:
        nx, ny, nz = unit_normal(x, a, b, c)
        if side < 0:
            triangles, neighbours, triangle, facing = surface[0], surface[1], pairs.triangle[row], pairs.facing[row]
            if where >= FIRST_CORNER:
                nx, ny, nz = corner_normal(x, triangles, neighbours, triangle, where - FIRST_CORNER)
            elif where > 0:
                nx, ny, nz = edge_normal(x, triangles, neighbours, triangle, where - FIRST_EDGE)
            nx, ny, nz = facing * nx, facing * ny, facing * nz
            if qx * nx + qy * ny + qz * nz < 0.0:
                signed = -d
        elif qx * nx + qy * ny + qz * nz < 0.0:
            nx, ny, nz = -nx, -ny, -nz
    if where != 0 and d > vague:
        nx, ny, nz = qx / signed, qy / signed, qz / signed
    weights[row, 0], weights[row, 1], weights[row, 2], weights[row, 3] = 1.0, -u, -v, -w
    normal[row, 0], normal[row, 1], normal[row, 2] = nx, ny, nz
    pairs.distance[row], pairs.gap[row], pairs.feature[row] = d, signed, where


@kernel
def set_plane_weights(x, rows, pairs):
    """Write weights and normals of rows whose points are behind their own body's surface, constant until the next call.

    The weights are the barycentric coordinates of the point's projection on the triangle's plane, also outside it.
    """
    points, facing, weights, normal = pairs.points, pairs.facing, pairs.weights, pairs.normal
    for row in rows:
        p, a, b, c = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
        ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        fx, fy, fz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        rx, ry, rz = x[p, 0] - x[a, 0], x[p, 1] - x[a, 1], x[p, 2] - x[a, 2]
        ee, ef, ff = ex * ex + ey * ey + ez * ez, ex * fx + ey * fy + ez * fz, fx * fx + fy * fy + fz * fz
        er, fr = ex * rx + ey * ry + ez * rz, fx * rx + fy * ry + fz * rz
        area = ee * ff - ef * ef
        v = w = 1.0 / 3.0
        if area > 0.0:
            v, w = (ff * er - ef * fr) / area, (ee * fr - ef * er) / area
        nx, ny, nz = unit_normal(x, a, b, c)
        normal[row, 0], normal[row, 1], normal[row, 2] = facing[row] * nx, facing[row] * ny, facing[row] * nz
        weights[row, 0], weights[row, 1], weights[row, 2], weights[row, 3] = 1.0, v + w - 1.0, -v, -w


@kernel
def edge_normal(x, triangles, triangle_neighbour, triangle, edge):
    """Mean of the unit normals at an edge (Baerentzen and Aanaes 2005: tells inside from outside)."""
    nx, ny, nz = unit_normal(x, triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2])
    other = triangle_neighbour[triangle, edge]
    if other >= 0:
        mx, my, mz = unit_normal(x, triangles[other, 0], triangles[other, 1], triangles[other, 2])
        nx, ny, nz = nx + mx, ny + my, nz + mz
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length > 0.0:
        return nx / length, ny / length, nz / length
    return unit_normal(x, triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2])


@kernel
def corner_normal(x, triangles, triangle_neighbour, triangle, corner):
    """Sum of the normals around a corner, weighted by the angle of each triangle there, made unit.

    Walks from triangle to triangle across the edges at the corner; at a border also the other way round.
    """
    point = triangles[triangle, corner]
    nx = ny = nz = 0.0
    for direction in range(2):
        current = triangle
        if direction == 1:
            current = triangle_neighbour[triangle, (corner + 2) % 3]
        steps = 0
        while current >= 0 and steps < triangles.shape[0]:  # neighbours may be inconsistent
            k = 0
            while k < 2 and triangles[current, k] != point:
                k += 1
            b, c = triangles[current, (k + 1) % 3], triangles[current, (k + 2) % 3]
            ex, ey, ez = x[b, 0] - x[point, 0], x[b, 1] - x[point, 1], x[b, 2] - x[point, 2]
            fx, fy, fz = x[c, 0] - x[point, 0], x[c, 1] - x[point, 1], x[c, 2] - x[point, 2]
            cx, cy, cz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
            sine = math.sqrt(cx * cx + cy * cy + cz * cz)
            if sine > 0.0:
                share = math.atan2(sine, ex * fx + ey * fy + ez * fz) / sine
                nx, ny, nz = nx + share * cx, ny + share * cy, nz + share * cz
            current = triangle_neighbour[current, k if direction == 0 else (k + 2) % 3]
            steps += 1
            if current == triangle:
                break
        if current == triangle:
            break
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length > 0.0:
        return nx / length, ny / length, nz / length
    return unit_normal(x, triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2])


@inline_kernel
def has_corner(points, row, point):
    """Whether the row's triangle has this corner."""
    return points[row, 1] == point or points[row, 2] == point or points[row, 3] == point


@inline_kernel
def assign_owners(begin, end, limit, pairs):
    """Set the gap of rows begin .. end - 1 (of one point) to +inf where they do not own their contact."""
    points, side, distance, local, normal = pairs.points, pairs.side, pairs.distance, pairs.local, pairs.normal
    for row in range(begin, end):
        local[row] = 0
        if side[row] < 0 or not distance[row] < limit[row]:
            continue
        local[row] = 1
        where = pairs.feature[row]
        if where == 0:
            continue
        if where >= FIRST_CORNER:
            first = points[row, 1 + where - FIRST_CORNER]
            second = first
        else:
            first = points[row, where]
            second = points[row, 1 + where % 3]
        nearer = distance[row] * (1.0 - ROUNDING)
        for other in range(begin, end):
            if distance[other] < nearer and has_corner(points, other, first) and has_corner(points, other, second):
                local[row] = 0
                break
    for row in range(begin, end):
        if side[row] < 0 or not distance[row] < limit[row]:
            continue
        owned = local[row] == 1
        for other in range(begin, end):
            if not owned:
                break
            if other != row and local[other] == 1 and pairs.bodies[other, 1] == pairs.bodies[row, 1]:
                before = distance[other] < distance[row] or (distance[other] == distance[row] and other < row)
                cosine = (
                    normal[row, 0] * normal[other, 0]
                    + normal[row, 1] * normal[other, 1]
                    + normal[row, 2] * normal[other, 2]
                )
                if before and cosine > SAME_DIRECTION:
                    owned = False
        if not owned:
            pairs.gap[row] = np.inf
