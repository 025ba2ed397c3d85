"""Whether two features of soft bodies collide: the six tests of Martin 2009, 5.2.1.1.

Every test writes what it finds to a hit: up to three points on each of two sides. The normal is that of the feature of
higher order, of the second one where both are alike, and points outward: from it, whose points are in slots 3 to 5, to
the other, in slots 0 to 2. Points of a side have equal weights that sum to 1 and to -1, so the side yields as the sum
of its masses does (5.3.1). Numbers of a hit: normal, gap along it [m], whether the gap is kept open at the skin's
thickness (a vertex at a triangle), place [m].

Where the print is wrong or silent: a triangle's normal is e0 x e1 of 3.1.2, not its negative; a point is in a triangle
where p.q >= 0 and p.r >= 0; a vertex that is beside a triangle is tried with its edges, having none itself; an edge
that meets a triangle's plane beside it is tried with its three edges.
"""

from math import sqrt

from ...jit import kernel

#: A number of a hit.
GAP, PUSHES, PLACE = 3, 4, 5
NUMBERS = 8


@kernel
def set_side(points, weights, slot, a, b, c, count, sign):
    """Points of one side of a hit; of the last `3 - count` the weights are 0."""
    points[slot], points[slot + 1], points[slot + 2] = a, b, c
    for k in range(3):
        weights[slot + k] = sign / count if k < count else 0.0


@kernel
def set_numbers(numbers, nx, ny, nz, gap, pushes, px, py, pz):
    """Normal, gap and place of a hit."""
    numbers[0], numbers[1], numbers[2], numbers[3], numbers[4] = nx, ny, nz, gap, pushes
    numbers[5], numbers[6], numbers[7] = px, py, pz


@kernel
def triangle_normal(x, a, b, c):
    """Outward unit normal of a triangle; zero where it has no area."""
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    fx, fy, fz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    size = sqrt(nx * nx + ny * ny + nz * nz)
    if size == 0.0:
        return 0.0, 0.0, 0.0
    return nx / size, ny / size, nz / size


@kernel
def vertex_normal(x, graph, p):
    """Unit mean of the normals of the triangles at a vertex."""
    sx = sy = sz = 0.0
    feature = graph.vertex_feature[p]
    for q in range(graph.neighbour_start[feature], graph.neighbour_start[feature + 1]):
        other = graph.neighbour[q]
        if graph.order[other] == 3:
            nx, ny, nz = triangle_normal(x, graph.corners[other, 0], graph.corners[other, 1], graph.corners[other, 2])
            sx, sy, sz = sx + nx, sy + ny, sz + nz
    size = sqrt(sx * sx + sy * sy + sz * sz)
    if size == 0.0:
        return 0.0, 0.0, 0.0
    return sx / size, sy / size, sz / size


@kernel
def edge_normal(x, graph, a, b, share):
    """Unit normal at a share (0 to 1) of the way along an edge: between those of its ends."""
    ax, ay, az = vertex_normal(x, graph, a)
    bx, by, bz = vertex_normal(x, graph, b)
    nx, ny, nz = ax + share * (bx - ax), ay + share * (by - ay), az + share * (bz - az)
    size = sqrt(nx * nx + ny * ny + nz * nz)
    if size == 0.0:
        return 0.0, 0.0, 0.0
    return nx / size, ny / size, nz / size


@kernel
def in_triangle(px, py, pz, x, a, b, c):
    """Whether a point of a triangle's plane is in it (Martin 2009, 5.2.1.1.3; the print has both signs reversed)."""
    ax, ay, az = x[a, 0] - px, x[a, 1] - py, x[a, 2] - pz
    bx, by, bz = x[b, 0] - px, x[b, 1] - py, x[b, 2] - pz
    cx, cy, cz = x[c, 0] - px, x[c, 1] - py, x[c, 2] - pz
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    vx, vy, vz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
    wx, wy, wz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    return ux * vx + uy * vy + uz * vz >= 0.0 and ux * wx + uy * wy + uz * wz >= 0.0


@kernel
def vertices_meet(x, graph, p, q, skin, points, weights, numbers):
    """Two vertices are nearer than two skins (5.2.1.1.1)."""
    dx, dy, dz = x[p, 0] - x[q, 0], x[p, 1] - x[q, 1], x[p, 2] - x[q, 2]
    distance = sqrt(dx * dx + dy * dy + dz * dz)
    if not distance < 2.0 * skin:
        return False
    nx, ny, nz = vertex_normal(x, graph, q)
    set_side(points, weights, 0, p, p, p, 1, 1.0)
    set_side(points, weights, 3, q, q, q, 1, -1.0)
    set_numbers(numbers, nx, ny, nz, distance, 0.0, x[p, 0] - 0.5 * dx, x[p, 1] - 0.5 * dy, x[p, 2] - 0.5 * dz)
    return True


@kernel
def at_edge(px, py, pz, x, a, b, skin):
    """Where a point lies along an edge (share of its length) and how far from its line [m]; -1 beyond two skins."""
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    rx, ry, rz = px - x[a, 0], py - x[a, 1], pz - x[a, 2]
    ee = ex * ex + ey * ey + ez * ez
    share = (rx * ex + ry * ey + rz * ez) / ee if ee > 0.0 else -1.0
    rx, ry, rz = rx - share * ex, ry - share * ey, rz - share * ez
    distance = sqrt(rx * rx + ry * ry + rz * rz)
    return share, distance if distance <= 2.0 * skin else -1.0


@kernel
def vertex_meets_edge(x, graph, p, a, b, skin, points, weights, numbers):
    """A vertex is in the capsule of two skins about an edge (5.2.1.1.2)."""
    share, distance = at_edge(x[p, 0], x[p, 1], x[p, 2], x, a, b, skin)
    if distance < 0.0:
        return False
    if share >= 0.0 and share <= 1.0:
        nx, ny, nz = edge_normal(x, graph, a, b, share)
        set_side(points, weights, 0, p, p, p, 1, 1.0)
        set_side(points, weights, 3, a, b, b, 2, -1.0)
        set_numbers(numbers, nx, ny, nz, distance, 0.0, x[p, 0], x[p, 1], x[p, 2])
        return True
    if vertices_meet(x, graph, p, a, skin, points, weights, numbers):
        return True
    return vertices_meet(x, graph, p, b, skin, points, weights, numbers)


@kernel
def vertex_meets_triangle(x, graph, p, a, b, c, skin, points, weights, numbers):
    """A vertex is nearer to a triangle than a skin, over it or at its border (5.2.1.1.3)."""
    nx, ny, nz = triangle_normal(x, a, b, c)
    height = (x[p, 0] - x[a, 0]) * nx + (x[p, 1] - x[a, 1]) * ny + (x[p, 2] - x[a, 2]) * nz
    if not abs(height) < skin:
        return False
    if in_triangle(x[p, 0] - height * nx, x[p, 1] - height * ny, x[p, 2] - height * nz, x, a, b, c):
        set_side(points, weights, 0, p, p, p, 1, 1.0)
        set_side(points, weights, 3, a, b, c, 3, -1.0)
        set_numbers(numbers, nx, ny, nz, height, 1.0, x[p, 0], x[p, 1], x[p, 2])
        return True
    if vertex_meets_edge(x, graph, p, a, b, skin, points, weights, numbers):
        return True
    if vertex_meets_edge(x, graph, p, b, c, skin, points, weights, numbers):
        return True
    return vertex_meets_edge(x, graph, p, c, a, skin, points, weights, numbers)


@kernel
def edges_meet(x, graph, a, b, p, q, skin, points, weights, numbers):
    """Edge ab meets the capsule of two skins about edge pq (5.2.1.1.4), else two of their ends are near."""
    nx, ny, nz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    mx, my, mz = x[a, 0] - x[p, 0], x[a, 1] - x[p, 1], x[a, 2] - x[p, 2]
    dx, dy, dz = x[q, 0] - x[p, 0], x[q, 1] - x[p, 1], x[q, 2] - x[p, 2]
    ux, uy, uz = dy * nz - dz * ny, dz * nx - dx * nz, dx * ny - dy * nx
    vx, vy, vz = dy * mz - dz * my, dz * mx - dx * mz, dx * my - dy * mx
    aa = ux * ux + uy * uy + uz * uz
    bb = vx * ux + vy * uy + vz * uz
    cc = vx * vx + vy * vy + vz * vz - 4.0 * skin * skin * (dx * dx + dy * dy + dz * dz)
    if bb * bb < aa * cc:
        return False
    t = min(max(-bb / aa, 0.0), 1.0) if aa > 0.0 else 0.5
    rx, ry, rz = x[a, 0] + t * nx, x[a, 1] + t * ny, x[a, 2] + t * nz
    share, distance = at_edge(rx, ry, rz, x, p, q, skin)
    if distance >= 0.0 and share >= 0.0 and share <= 1.0:
        ox, oy, oz = edge_normal(x, graph, p, q, share)
        set_side(points, weights, 0, a, b, b, 2, 1.0)
        set_side(points, weights, 3, p, q, q, 2, -1.0)
        set_numbers(numbers, ox, oy, oz, distance, 0.0, rx, ry, rz)
        return True
    if vertices_meet(x, graph, a, p, skin, points, weights, numbers):
        return True
    if vertices_meet(x, graph, a, q, skin, points, weights, numbers):
        return True
    if vertices_meet(x, graph, b, p, skin, points, weights, numbers):
        return True
    return vertices_meet(x, graph, b, q, skin, points, weights, numbers)


@kernel
def edge_meets_triangle(x, graph, p, q, a, b, c, skin, points, weights, numbers):
    """Edge pq passes through a triangle, or its nearer end is at it (5.2.1.1.5); none where they are parallel."""
    nx, ny, nz = triangle_normal(x, a, b, c)
    along = (x[q, 0] - x[p, 0]) * nx + (x[q, 1] - x[p, 1]) * ny + (x[q, 2] - x[p, 2]) * nz
    if along == 0.0:
        return False
    t = ((x[a, 0] - x[p, 0]) * nx + (x[a, 1] - x[p, 1]) * ny + (x[a, 2] - x[p, 2]) * nz) / along
    if t < 0.0:
        return vertex_meets_triangle(x, graph, p, a, b, c, skin, points, weights, numbers)
    if t > 1.0:
        return vertex_meets_triangle(x, graph, q, a, b, c, skin, points, weights, numbers)
    vx, vy = x[p, 0] + t * (x[q, 0] - x[p, 0]), x[p, 1] + t * (x[q, 1] - x[p, 1])
    vz = x[p, 2] + t * (x[q, 2] - x[p, 2])
    if in_triangle(vx, vy, vz, x, a, b, c):
        set_side(points, weights, 0, p, q, q, 2, 1.0)
        set_side(points, weights, 3, a, b, c, 3, -1.0)
        set_numbers(numbers, nx, ny, nz, 0.0, 0.0, vx, vy, vz)
        return True
    if edges_meet(x, graph, p, q, a, b, skin, points, weights, numbers):
        return True
    if edges_meet(x, graph, p, q, b, c, skin, points, weights, numbers):
        return True
    return edges_meet(x, graph, p, q, c, a, skin, points, weights, numbers)


@kernel
def parts_meet(x, graph, first, second, skin, points, weights, numbers):
    """The edges, then the vertices of one triangle (three points) against another."""
    a, b, c = second[0], second[1], second[2]
    for k in range(3):
        p, q = first[k], first[k + 1 if k < 2 else 0]
        if edge_meets_triangle(x, graph, p, q, a, b, c, skin, points, weights, numbers):
            return True
    for k in range(3):
        if vertex_meets_triangle(x, graph, first[k], a, b, c, skin, points, weights, numbers):
            return True
    return False


@kernel
def features_meet(x, graph, first, second, skin, points, weights, numbers):
    """Whether two features collide; the first hit found is written (5.2.1.1)."""
    f, s = graph.corners[first], graph.corners[second]
    low, high = graph.order[first], graph.order[second]
    if low > high:  # the normal is that of the higher order
        f, s = graph.corners[second], graph.corners[first]
        low, high = high, low
    if low == 1 and high == 1:
        return vertices_meet(x, graph, f[0], s[0], skin, points, weights, numbers)
    if low == 1 and high == 2:
        return vertex_meets_edge(x, graph, f[0], s[0], s[1], skin, points, weights, numbers)
    if low == 1:
        return vertex_meets_triangle(x, graph, f[0], s[0], s[1], s[2], skin, points, weights, numbers)
    if low == 2 and high == 2:
        return edges_meet(x, graph, f[0], f[1], s[0], s[1], skin, points, weights, numbers)
    if low == 2:
        return edge_meets_triangle(x, graph, f[0], f[1], s[0], s[1], s[2], skin, points, weights, numbers)
    if parts_meet(x, graph, f, s, skin, points, weights, numbers):  # 5.2.1.1.6
        return True
    return parts_meet(x, graph, s, f, skin, points, weights, numbers)
