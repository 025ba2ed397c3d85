"""Contact impulses without torque, and couples on triangles."""

from math import sqrt

from ...jit import lean_inline_kernel, lean_kernel
from ...simd import cross, dot, four, lane, load4, spread, store4, sum_spread, triple
from .carried import cofactors, turned_by

#: Determinant of the tensor of some points over the cube of its trace, below which they are collinear.
LINE = 1e-9
#: The same of a triangle, below which it takes no couple.
FLAT = 1e-6
#: Squared sine of the angle between two sides, seen along the normal, below which nothing is slid into line.
ALONG = 1e-4
#: Least share of an impulse's effect that must be left once its torque is removed.
LEAST_FREED = 0.1


@lean_inline_kernel
def slide_into_line(contacts, c, are_edges, x, beyond):
    """Slide the points of contact c along its sides until the line between them is along the normal.

    An impulse along the normal then has no net torque. They may leave their primitives by the share `beyond` of them.
    Returns whether they could; if not, they stay.
    """
    quad, first = contacts.points, 4 * c
    p, a, b, e = load4(x, quad[first]), load4(x, quad[first + 1]), load4(x, quad[first + 2]), load4(x, quad[first + 3])
    nx, ny, nz = contacts.normal[first], contacts.normal[first + 1], contacts.normal[first + 2]
    normal = triple(nx, ny, nz)
    # way = one * s + other * t within the plane across the normal
    if are_edges:
        way, one, other = b - p, a - p, b - e
    else:
        way, one, other = p - a, b - a, e - a
    over_one, over_other = cross(normal, one), cross(normal, other)
    below = dot(over_one, other)
    if not below * below > ALONG * (dot(one, one) * dot(other, other)):
        return False
    s, t = -dot(over_other, way) / below, dot(over_one, way) / below
    if not (s >= -beyond and t >= -beyond and s <= 1.0 + beyond and t <= 1.0 + beyond):
        return False
    if are_edges:
        store4(contacts.weight, first, four(1.0 - s, s, t - 1.0, -t))
    elif s + t <= 1.0 + beyond:
        store4(contacts.weight, first, four(1.0, s + t - 1.0, -s, -t))
    else:
        return False
    return True


@lean_inline_kernel
def arms(x, quad, weight):
    """Corners of a triangle from their middle, and a vertex from the triangle's point [m].

    `quad`: 4 * point of the vertex and of the corners; `weight` of all four.
    """
    p, a, b, e = load4(x, quad[0]), load4(x, quad[1]), load4(x, quad[2]), load4(x, quad[3])
    middle = (a + b + e) * (1.0 / 3.0)
    way = p + a * lane(weight, 1) + b * lane(weight, 2) + e * lane(weight, 3)
    return a - middle, b - middle, e - middle, way


@lean_inline_kernel
def tensor_of(a, b, e):
    """xx, yy, zz, xy, xz, yz of the inertia of corners of masses 1 at a, b and e [m^2]."""
    xx = yy = zz = xy = xz = yz = 0.0
    for corner in (a, b, e):
        rx, ry, rz = lane(corner, 0), lane(corner, 1), lane(corner, 2)
        xx, yy, zz = xx + ry * ry + rz * rz, yy + rx * rx + rz * rz, zz + rx * rx + ry * ry
        xy, xz, yz = xy - rx * ry, xz - rx * rz, yz - ry * rz
    return xx, yy, zz, xy, xz, yz


@lean_kernel
def turn_of(a, b, e, couple):
    """Angular velocity of a triangle's `arms`, of equal masses 1, by a couple; 0 where it is degenerate."""
    xx, yy, zz, xy, xz, yz = tensor_of(a, b, e)
    turns, wx, wy, wz = turned_by(xx, yy, zz, xy, xz, yz, lane(couple, 0), lane(couple, 1), lane(couple, 2), FLAT)
    return triple(wx, wy, wz) if turns else triple(0.0, 0.0, 0.0)


@lean_kernel
def set_turn(x, quad, row, place):
    """Write the map from a couple to `turn_of` into a row, by columns from `place` on; 0 where it is degenerate."""
    a, b, e, _ = arms(x, quad, spread(0.0))
    cxx, cyy, czz, cxy, cxz, cyz, determinant, cube = cofactors(*tensor_of(a, b, e))
    share = 1.0 / determinant if determinant > FLAT * cube else 0.0
    store4(row, place, triple(cxx, cxy, cxz) * share)
    store4(row, place + 4, triple(cxy, cyy, cyz) * share)
    store4(row, place + 8, triple(cxz, cyz, czz) * share)


@lean_inline_kernel
def is_free(contacts, c, points):
    """Whether all corners of the triangle of contact c are free vertices, so that it can take couples."""
    i, j, k = contacts.points[4 * c + 1], contacts.points[4 * c + 2], contacts.points[4 * c + 3]
    mass = points.inverse_mass
    return mass[i >> 2] != 0.0 and mass[j >> 2] != 0.0 and mass[k >> 2] != 0.0


@lean_inline_kernel
def turn_triangle(velocity, contacts, c, x, points, fx, fy, fz, most):
    """Apply the couple of an impulse f [N s] on the vertex of contact c to the triangle: -d x f, as a rotation.

    The reaction acts at the triangle's own point; d leads from it to the vertex. `most`: twice the energy [J] that the
    couple may give to corners at rest. One that is longer than the triangle is wide would give more than f takes.
    """
    if is_free(contacts, c, points):
        quad = contacts.points[4 * c : 4 * c + 4]
        a, b, e, way = arms(x, quad, load4(contacts.weight, 4 * c))
        turn = turn_of(a, b, e, -cross(way, triple(fx, fy, fz)))
        turn_corners(velocity, quad, a, b, e, points.inverse_mass, turn, most)


@lean_inline_kernel
def turn_by_row(velocity, x, quad, row, place, weight, mass, impulse, most):
    """`turn_triangle` of a free triangle, by a row of `set_turn`."""
    a, b, e, way = arms(x, quad, weight)
    couple = cross(impulse, way)
    turn = load4(row, place) * lane(couple, 0) + load4(row, place + 4) * lane(couple, 1)
    turn = turn + load4(row, place + 8) * lane(couple, 2)
    turn_corners(velocity, quad, a, b, e, mass, turn, most)


@lean_inline_kernel
def turn_corners(velocity, quad, a, b, e, mass, turn, most):
    """Turn corners at a, b and e from their middle by an angular velocity, see `turn_triangle`.

    `mass`: the inverse ones of all points [1/kg].
    """
    i, j, k = quad[1], quad[2], quad[3]
    u, v, w = cross(turn, a), cross(turn, b), cross(turn, e)
    mi, mj, mk = mass[i >> 2], mass[j >> 2], mass[k >> 2]
    twice = lane(sum_spread(u * u * mi + v * v * mj + w * w * mk), 0)
    share = sqrt(most / twice) if twice > most else 1.0
    store4(velocity, i, load4(velocity, i) + u * (share * mi))
    store4(velocity, j, load4(velocity, j) + v * (share * mj))
    store4(velocity, k, load4(velocity, k) + w * (share * mk))


@lean_kernel
def turning_speed(velocity, contacts, c, x):
    """Velocity [m/s] at the vertex from the rotation of the triangle of contact c: w x d.

    w is the least-squares angular velocity, sum of r x v by the tensor of `turn_of`. This map is the transpose of
    `turn_triangle`, so its impulses never add energy.
    """
    quad = contacts.points[4 * c : 4 * c + 4]
    a, b, e, way = arms(x, quad, load4(contacts.weight, 4 * c))
    spin = cross(a, load4(velocity, quad[1])) + cross(b, load4(velocity, quad[2])) + cross(e, load4(velocity, quad[3]))
    return cross(turn_of(a, b, e, spin), way)


@lean_kernel
def turned_inverse_mass(contacts, c, x, points, direction):
    """Inverse mass [1/kg] that an impulse of `turn_triangle` along a unit vector meets at contact c, both sides."""
    quad, weight = contacts.points[4 * c : 4 * c + 4], load4(contacts.weight, 4 * c)
    a, b, e, way = arms(x, quad, weight)
    turn = turn_of(a, b, e, -cross(way, direction))
    found = points.inverse_mass[quad[0] >> 2]
    for n, corner in enumerate((a, b, e)):
        pushed = direction * lane(weight, n + 1) + cross(turn, corner)
        found += points.inverse_mass[quad[n + 1] >> 2] * dot(pushed, pushed)
    return found


@lean_inline_kernel
def push_apart(velocity, x, contacts, c, weight, speed, points):
    """Change the speed at which a weighted sum of the four points of contact c grows along its normal by `speed`
    [m/s].

    The torque of the impulses along the normal on the four points as a whole is removed, so angular momentum is
    conserved. It changes by no more than what ends the approach along the impulses themselves: no energy is added.
    False, and nothing is done, where a point is not free or the correction would leave too little.
    """
    nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    mass, mx, my, mz = 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        i = contacts.points[4 * c + k]
        share = points.inverse_mass[i >> 2]
        if share == 0.0:
            return False
        m = 1.0 / share
        mass, mx, my, mz = mass + m, mx + m * x[i], my + m * x[i + 1], mz + m * x[i + 2]
    mx, my, mz = mx / mass, my / mass, mz / mass
    xx = yy = zz = xy = xz = yz = 0.0
    ax = ay = az = plain = along = sx = sy = sz = 0.0
    for k in range(4):
        i = contacts.points[4 * c + k]
        w = lane(weight, k)
        m = 1.0 / points.inverse_mass[i >> 2]
        rx, ry, rz = x[i] - mx, x[i + 1] - my, x[i + 2] - mz
        xx, yy, zz = xx + m * (ry * ry + rz * rz), yy + m * (rx * rx + rz * rz), zz + m * (rx * rx + ry * ry)
        xy, xz, yz = xy - m * rx * ry, xz - m * rx * rz, yz - m * ry * rz
        ax, ay, az = ax + w * rx, ay + w * ry, az + w * rz
        plain += w * w * points.inverse_mass[i >> 2]
        ux, uy, uz = velocity[i], velocity[i + 1], velocity[i + 2]
        along += w * (ux * nx + uy * ny + uz * nz)
        sx, sy, sz = sx + m * (ry * uz - rz * uy), sy + m * (rz * ux - rx * uz), sz + m * (rx * uy - ry * ux)
    tx, ty, tz = ay * nz - az * ny, az * nx - ax * nz, ax * ny - ay * nx
    turns, wx, wy, wz = turned_by(xx, yy, zz, xy, xz, yz, tx, ty, tz, LINE)
    freed = plain - (tx * wx + ty * wy + tz * wz)
    if not turns or not freed > LEAST_FREED * plain:
        return False
    speed = max(min(speed, wx * sx + wy * sy + wz * sz - along), 0.0)
    size = speed / freed
    for k in range(4):
        i = contacts.points[4 * c + k]
        along = lane(weight, k) * points.inverse_mass[i >> 2]
        rx, ry, rz = x[i] - mx, x[i + 1] - my, x[i + 2] - mz
        velocity[i] += size * (along * nx - (wy * rz - wz * ry))
        velocity[i + 1] += size * (along * ny - (wz * rx - wx * rz))
        velocity[i + 2] += size * (along * nz - (wx * ry - wy * rx))
    return True
