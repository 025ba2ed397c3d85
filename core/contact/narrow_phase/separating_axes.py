"""Contact of two simple convex bodies: the axis of greatest separation, and the contact points.

The axes that can separate two polyhedra are the normals of their faces and the cross products of their edges
(Gottschalk 1996; Martin 2009, 5.2.3); of the edges only those pairs matter that build a face of the Minkowski sum
(Gregorius, "The separating axis test between convex polyhedra", GDC 2013). Where a face separates best, the most
opposite face of the other body is clipped to its outline; the corners are the contact points. Else the closest points
of two edges are the contact point; so they are where the face has nothing near before it, and bodies that turn or pass
come nearest with their rims.
"""

import math

from ...jit import kernel
from .closest_points import closest_on_edges

#: Contact points of a pair at most: as many as two clipped quadrilaterals have.
MOST_POINTS = 8
#: Room for the corners of a clipped face.
MOST_CORNERS = 64
#: Squared sine below which two edges are parallel [1].
PARALLEL = 1e-8


@kernel
def place_shape(shapes, body, poses, matrices, corners, normals):
    """Corners [m] and face normals of a simple body in the world."""
    m = matrices[body]
    for i in range(shapes.corner_start[body], shapes.corner_start[body + 1]):
        r = shapes.corners[i]
        for axis in range(3):
            corners[i, axis] = poses[body, axis] + m[axis, 0] * r[0] + m[axis, 1] * r[1] + m[axis, 2] * r[2]
    for i in range(shapes.face_start[body], shapes.face_start[body + 1]):
        r = shapes.normals[i]
        for axis in range(3):
            normals[i, axis] = m[axis, 0] * r[0] + m[axis, 1] * r[1] + m[axis, 2] * r[2]


@kernel
def place_shapes(shapes, poses, matrices, corners, normals):
    """Corners [m] and face normals of all simple bodies in the world, from each body's rotation matrix."""
    for body in range(poses.shape[0]):
        place_shape(shapes, body, poses, matrices, corners, normals)


@kernel
def dot(a, b):
    """Scalar product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def lowest_over_face(shapes, face, body, other, poses, corners, normals):
    """Height of the other body's lowest corner over a face [m]; negative where it penetrates."""
    n = normals[face]
    level = dot(n, poses[body]) + shapes.offsets[face]
    lowest = math.inf
    for i in range(shapes.corner_start[other], shapes.corner_start[other + 1]):
        lowest = min(lowest, dot(n, corners[i]) - level)
    return lowest


@kernel
def best_face(shapes, body, other, poses, corners, normals, enough):
    """Face of `body` that separates the other best, and by how much [m]; stops at more than `enough`."""
    best, best_gap = -1, -math.inf
    for face in range(shapes.face_start[body], shapes.face_start[body + 1]):
        gap = lowest_over_face(shapes, face, body, other, poses, corners, normals)
        if gap > best_gap:
            best, best_gap = face, gap
            if gap > enough:
                break
    return best, best_gap


@kernel
def best_edges(shapes, a, b, poses, corners, normals, enough):
    """Edges of bodies a and b whose common normal separates best, by how much [m], and that unit normal, a to b."""
    best_a, best_b, best_gap = -1, -1, -math.inf
    bx = by = bz = 0.0
    for i in range(shapes.edge_start[a], shapes.edge_start[a + 1]):
        p, p_end = corners[shapes.edges[i, 0]], corners[shapes.edges[i, 1]]
        ex, ey, ez = p_end[0] - p[0], p_end[1] - p[1], p_end[2] - p[2]
        n, m = normals[shapes.edges[i, 2]], normals[shapes.edges[i, 3]]
        ax, ay, az = m[1] * n[2] - m[2] * n[1], m[2] * n[0] - m[0] * n[2], m[0] * n[1] - m[1] * n[0]
        length_e = ex * ex + ey * ey + ez * ez
        for j in range(shapes.edge_start[b], shapes.edge_start[b + 1]):
            u, v = normals[shapes.edges[j, 2]], normals[shapes.edges[j, 3]]
            # arcs n-m and (-u)-(-v) on the sphere of normals must cross
            cba = -(u[0] * ax + u[1] * ay + u[2] * az)
            dba = -(v[0] * ax + v[1] * ay + v[2] * az)
            if cba * dba >= 0.0:
                continue
            cx, cy, cz = v[1] * u[2] - v[2] * u[1], v[2] * u[0] - v[0] * u[2], v[0] * u[1] - v[1] * u[0]
            adc = n[0] * cx + n[1] * cy + n[2] * cz
            bdc = m[0] * cx + m[1] * cy + m[2] * cz
            if adc * bdc >= 0.0 or cba * bdc <= 0.0:
                continue
            q, q_end = corners[shapes.edges[j, 0]], corners[shapes.edges[j, 1]]
            fx, fy, fz = q_end[0] - q[0], q_end[1] - q[1], q_end[2] - q[2]
            gx, gy, gz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
            square = gx * gx + gy * gy + gz * gz
            if square <= PARALLEL * length_e * (fx * fx + fy * fy + fz * fz):
                continue
            scale = 1.0 / math.sqrt(square)
            if gx * (p[0] - poses[a, 0]) + gy * (p[1] - poses[a, 1]) + gz * (p[2] - poses[a, 2]) < 0.0:
                scale = -scale
            gx, gy, gz = scale * gx, scale * gy, scale * gz
            gap = gx * (q[0] - p[0]) + gy * (q[1] - p[1]) + gz * (q[2] - p[2])
            if gap > best_gap:
                best_a, best_b, best_gap, bx, by, bz = i, j, gap, gx, gy, gz
                if gap > enough:
                    return best_a, best_b, best_gap, bx, by, bz
    return best_a, best_b, best_gap, bx, by, bz


@kernel
def cut(polygon, count, px, py, pz, nx, ny, nz, out):
    """The part of a polygon that lies behind the plane through p with normal n, into `out`; returns its corners."""
    kept = 0
    for k in range(count):
        after = k + 1 if k + 1 < count else 0
        here = (polygon[k, 0] - px) * nx + (polygon[k, 1] - py) * ny + (polygon[k, 2] - pz) * nz
        there = (polygon[after, 0] - px) * nx + (polygon[after, 1] - py) * ny + (polygon[after, 2] - pz) * nz
        if here <= 0.0 and kept < out.shape[0]:
            for axis in range(3):
                out[kept, axis] = polygon[k, axis]
            kept += 1
        if (here < 0.0 and there > 0.0) or (here > 0.0 and there < 0.0):
            share = here / (here - there)
            if kept < out.shape[0]:
                for axis in range(3):
                    out[kept, axis] = polygon[k, axis] + share * (polygon[after, axis] - polygon[k, axis])
                kept += 1
    return kept


@kernel
def facing(shapes, other, corners, normals, n):
    """The face of the other body with its lowest corner along n whose normal is most opposite to n."""
    lowest, height = -1, math.inf
    for i in range(shapes.corner_start[other], shapes.corner_start[other + 1]):
        if dot(n, corners[i]) < height:
            lowest, height = i, dot(n, corners[i])
    best, least = -1, math.inf
    for face in range(shapes.face_start[other], shapes.face_start[other + 1]):
        along = dot(n, normals[face])
        if along < least:
            for k in range(shapes.loop_start[face], shapes.loop_start[face + 1]):
                if shapes.loops[k] == lowest:
                    best, least = face, along
    return best


@kernel
def is_near(points, count, i, distance):
    """Whether point i is nearer than a distance to one of the first `count` points."""
    for k in range(count):
        x, y, z = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], points[k, 2] - points[i, 2]
        if x * x + y * y + z * z < distance * distance:
            return True
    return False


@kernel
def face_points(shapes, face, body, other, poses, corners, normals, margin, slack, polygon, scratch):
    """Write points of the other body over a face and nearer than `margin` to `polygon`; returns their number.

    Of points nearer than `slack` to each other one is kept. Also returns the least height of any [m], else `margin`.
    """
    n = normals[face]
    incident = facing(shapes, other, corners, normals, n)
    count = 0
    for k in range(shapes.loop_start[incident], shapes.loop_start[incident + 1]):
        if count < MOST_CORNERS:
            for axis in range(3):
                polygon[count, axis] = corners[shapes.loops[k], axis]
            count += 1
    first, last = shapes.loop_start[face], shapes.loop_start[face + 1]
    for k in range(first, last):
        p = corners[shapes.loops[k]]
        q = corners[shapes.loops[k + 1 if k + 1 < last else first]]
        ex, ey, ez = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        # outward from the face, in its plane
        sx, sy, sz = ey * n[2] - ez * n[1], ez * n[0] - ex * n[2], ex * n[1] - ey * n[0]
        kept = cut(polygon, count, p[0], p[1], p[2], sx, sy, sz, scratch)
        for i in range(kept):
            for axis in range(3):
                polygon[i, axis] = scratch[i, axis]
        count = kept
        if count == 0:
            return 0, margin
    level = dot(n, poses[body]) + shapes.offsets[face]
    kept, lowest = 0, margin
    for i in range(count):
        height = dot(n, polygon[i]) - level
        lowest = min(lowest, height)
        if height < margin and not is_near(polygon, kept, i, slack):
            for axis in range(3):
                polygon[kept, axis] = polygon[i, axis]
            kept += 1
    if kept > MOST_POINTS:  # spread over the outline
        for i in range(MOST_POINTS):
            k = i * kept // MOST_POINTS
            for axis in range(3):
                polygon[i, axis] = polygon[k, axis]
        kept = MOST_POINTS
    return kept, lowest


@kernel
def to_local(matrix, pose, x, out):
    """A point of the world in a body's frame."""
    rx, ry, rz = x[0] - pose[0], x[1] - pose[1], x[2] - pose[2]
    for axis in range(3):
        out[axis] = matrix[0, axis] * rx + matrix[1, axis] * ry + matrix[2, axis] * rz


@kernel
def turn_back(matrix, x, y, z, out):
    """A direction of the world in a body's frame."""
    for axis in range(3):
        out[axis] = matrix[0, axis] * x + matrix[1, axis] * y + matrix[2, axis] * z


@kernel
def place_between(shapes, edge_a, edge_b, a, b, poses, matrices, corners, scratch, anchor):
    """Write the closest points of two edges as the anchors of a contact point."""
    p, p_end = corners[shapes.edges[edge_a, 0]], corners[shapes.edges[edge_a, 1]]
    q, q_end = corners[shapes.edges[edge_b, 0]], corners[shapes.edges[edge_b, 1]]
    s, t, _, _, _, _ = closest_on_edges(
        p[0], p[1], p[2], p_end[0] - p[0], p_end[1] - p[1], p_end[2] - p[2],
        q[0], q[1], q[2], q_end[0] - q[0], q_end[1] - q[1], q_end[2] - q[2],
    )  # fmt: skip
    for axis in range(3):
        scratch[0, axis] = p[axis] + s * (p_end[axis] - p[axis])
        scratch[1, axis] = q[axis] + t * (q_end[axis] - q[axis])
    to_local(matrices[a], poses[a], scratch[0], anchor[0])
    to_local(matrices[b], poses[b], scratch[1], anchor[1])


@kernel
def nearest_edges(shapes, a, b, corners):
    """Edges of bodies a and b that are nearest to each other, their distance [m], and the unit normal from a to b."""
    best_a, best_b, least = -1, -1, math.inf
    nx = ny = nz = 0.0
    for i in range(shapes.edge_start[a], shapes.edge_start[a + 1]):
        p, p_end = corners[shapes.edges[i, 0]], corners[shapes.edges[i, 1]]
        for j in range(shapes.edge_start[b], shapes.edge_start[b + 1]):
            q, q_end = corners[shapes.edges[j, 0]], corners[shapes.edges[j, 1]]
            _, _, x, y, z, square = closest_on_edges(
                p[0], p[1], p[2], p_end[0] - p[0], p_end[1] - p[1], p_end[2] - p[2],
                q[0], q[1], q[2], q_end[0] - q[0], q_end[1] - q[1], q_end[2] - q[2],
            )  # fmt: skip
            if square < least:
                best_a, best_b, least, nx, ny, nz = i, j, square, -x, -y, -z
    least = math.sqrt(least)
    return best_a, best_b, least, nx / least, ny / least, nz / least


@kernel
def meet(shapes, a, b, poses, matrices, corners, normals, margin, slack, polygon, scratch, anchor, normal):
    """Contact points of bodies a and b that are nearer than `margin` [m]; returns their number and the normal's owner.

    anchor: output, each point on a and on b in their frames [m], shape (MOST_POINTS, 2, 3); normal: output, unit,
    from a to b, in the frame of its owner (0: a, 1: b), whose face it belongs to. Faces are preferred to edges, and
    a's to b's, unless those separate better by more than `slack` [m].
    """
    face_a, gap_a = best_face(shapes, a, b, poses, corners, normals, margin)
    if gap_a > margin:
        return 0, 0
    face_b, gap_b = best_face(shapes, b, a, poses, corners, normals, margin)
    if gap_b > margin:
        return 0, 0
    edge_a, edge_b, gap_e, nx, ny, nz = best_edges(shapes, a, b, poses, corners, normals, margin)
    if gap_e > margin:
        return 0, 0
    owner, face, gap, sign = (1, face_b, gap_b, -1.0) if gap_b > gap_a + slack else (0, face_a, gap_a, 1.0)
    body, other = (b, a) if owner == 1 else (a, b)
    n = normals[face]
    level = dot(n, poses[body]) + shapes.offsets[face]
    by_edges, count = edge_a >= 0 and gap_e > max(gap_a, gap_b) + slack, 0
    if not by_edges:
        count, lowest = face_points(shapes, face, body, other, poses, corners, normals, margin, slack, polygon, scratch)
        if lowest > max(gap + slack, 0.0):  # what comes nearest is not before the face
            if gap > 0.0:
                edge_a, edge_b, gap_e, nx, ny, nz = nearest_edges(shapes, a, b, corners)
                if gap_e <= gap + slack:  # edges that touch have no direction
                    nx, ny, nz = sign * n[0], sign * n[1], sign * n[2]
            by_edges = edge_a >= 0 and gap_e < lowest
    if by_edges:
        place_between(shapes, edge_a, edge_b, a, b, poses, matrices, corners, scratch, anchor[0])
        turn_back(matrices[a], nx, ny, nz, normal)
        return 1, 0
    for i in range(count):
        height = dot(n, polygon[i]) - level
        to_local(matrices[other], poses[other], polygon[i], anchor[i, 1 - owner])
        for axis in range(3):
            scratch[0, axis] = polygon[i, axis] - height * n[axis]
        to_local(matrices[body], poses[body], scratch[0], anchor[i, owner])
    turn_back(matrices[body], sign * n[0], sign * n[1], sign * n[2], normal)
    return count, owner
