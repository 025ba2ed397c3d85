"""Hinges between neighbouring triangles: a bending energy that is nearly a quadratic form.

    E = k/2 |b - c m|^2,   b = sum_s w_s x_s,   m = n / sqrt(|n|^2 + FOLD^2),   n = n1 / |n1_rest| + n2 / |n2_rest|

b [m] is the hinge's bend vector: with the rest triangles' cotangents as weights w, it is |edge| times the sum of the
two unit vectors across the edge, so |b| = |edge| 2 sin(a / 2) at the dihedral angle a, along the bisector of the
normals n1, n2; k = 3 B / area as in Grinspun et al. 2003. For flat rest shapes (c = 0) this is Bergou, Wardetzky,
Harmon, Zorin, Grinspun 2006, "A quadratic bending model for inextensible surfaces"; c and m carry it over to curved
ones. w, c and k are constants of the rest mesh, which is why this model and not the angle's square: an angle's
gradient grows as 1 / height of a crumpled triangle and jumps by pi where it turns over, and Newton's method stalls.

A skin stretched by the factor s at unchanged angles has the bending energy of its curvature 1 / s, as it should.
FOLD keeps m smooth where the two triangles fold onto each other (n = 0); c makes up for it at rest.
Hessian: k J' J with J = d(b - c m)/dx (Gauss-Newton: positive semi-definite, exact where b = c m).
"""

from math import sqrt

from numba import prange

from ..jit import kernel, parallel_kernel

#: Length of the sum of two unit normals below which the rest bend fades: about a fold to within 6 degrees.
FOLD = 0.1


@kernel
def pull_back(h, hinges, turn, rx, ry, rz, result):
    """`result[h]` = k J' r for the four points of hinge h."""
    k = hinges.stiffness[h]
    rx, ry, rz = k * rx, k * ry, k * rz
    fx = turn[h, 0] * rx + turn[h, 3] * ry + turn[h, 6] * rz
    fy = turn[h, 1] * rx + turn[h, 4] * ry + turn[h, 7] * rz
    fz = turn[h, 2] * rx + turn[h, 5] * ry + turn[h, 8] * rz
    gx = turn[h, 9] * rx + turn[h, 12] * ry + turn[h, 15] * rz
    gy = turn[h, 10] * rx + turn[h, 13] * ry + turn[h, 16] * rz
    gz = turn[h, 11] * rx + turn[h, 14] * ry + turn[h, 17] * rz
    w1, w2, w3 = hinges.weight[h, 1], hinges.weight[h, 2], hinges.weight[h, 3]
    s1, s2 = hinges.normal_scale[h, 0], hinges.normal_scale[h, 1]
    ex, ey, ez = w1 * rx + fx, w1 * ry + fy, w1 * rz + fz
    ax, ay, az = w2 * rx - s1 * gx, w2 * ry - s1 * gy, w2 * rz - s1 * gz
    dx, dy, dz = w3 * rx + s2 * gx, w3 * ry + s2 * gy, w3 * rz + s2 * gz
    result[h, 0, 0], result[h, 0, 1], result[h, 0, 2] = -(ex + ax + dx), -(ey + ay + dy), -(ez + az + dz)
    result[h, 1, 0], result[h, 1, 1], result[h, 1, 2] = ex, ey, ez
    result[h, 2, 0], result[h, 2, 1], result[h, 2, 2] = ax, ay, az
    result[h, 3, 0], result[h, 3, 1], result[h, 3, 2] = dx, dy, dz


@kernel
def hinge_energy(h, x, hinges, turn, force):
    """Energy [J] of hinge h, the force [N] on its points into `force[h]` and how c m turns into `turn[h]`."""
    i, j, p, q = hinges.points[h, 0], hinges.points[h, 1], hinges.points[h, 2], hinges.points[h, 3]
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    ax, ay, az = x[p, 0] - x[i, 0], x[p, 1] - x[i, 1], x[p, 2] - x[i, 2]
    dx, dy, dz = x[q, 0] - x[i, 0], x[q, 1] - x[i, 1], x[q, 2] - x[i, 2]
    # the weights sum to zero, so differences do, which are exact far from the origin too
    w1, w2, w3 = hinges.weight[h, 1], hinges.weight[h, 2], hinges.weight[h, 3]
    rx = w1 * ex + w2 * ax + w3 * dx
    ry = w1 * ey + w2 * ay + w3 * dy
    rz = w1 * ez + w2 * az + w3 * dz
    # n = s1 (e x a) + s2 (d x e) = e x f,  f = s1 a - s2 d
    s1, s2 = hinges.normal_scale[h, 0], hinges.normal_scale[h, 1]
    fx, fy, fz = s1 * ax - s2 * dx, s1 * ay - s2 * dy, s1 * az - s2 * dz
    mx, my, mz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    size = 1.0 / sqrt(mx * mx + my * my + mz * mz + FOLD * FOLD)
    mx, my, mz = mx * size, my * size, mz * size
    c = hinges.rest_bend[h]
    rx, ry, rz = rx - c * mx, ry - c * my, rz - c * mz
    # d(c m) = c size (1 - m m') dn,  dn = e x df - f x de
    fill_turn(c * size, fx, fy, fz, mx, my, mz, h, 0, turn)
    fill_turn(c * size, ex, ey, ez, mx, my, mz, h, 9, turn)
    k = hinges.stiffness[h]
    pull_back(h, hinges, turn, -rx, -ry, -rz, force)
    return 0.5 * k * (rx * rx + ry * ry + rz * rz)


@kernel
def fill_turn(scale, vx, vy, vz, mx, my, mz, h, first, turn):
    """`turn[h, first : first + 9]` = scale (1 - m m') [v x], row by row."""
    # m' (v x y) = (m x v)' y
    ux, uy, uz = scale * (my * vz - mz * vy), scale * (mz * vx - mx * vz), scale * (mx * vy - my * vx)
    vx, vy, vz = scale * vx, scale * vy, scale * vz
    turn[h, first], turn[h, first + 1], turn[h, first + 2] = -mx * ux, -vz - mx * uy, vy - mx * uz
    turn[h, first + 3], turn[h, first + 4], turn[h, first + 5] = vz - my * ux, -my * uy, -vx - my * uz
    turn[h, first + 6], turn[h, first + 7], turn[h, first + 8] = -vy - mz * ux, vx - mz * uy, -mz * uz


@parallel_kernel
def evaluate_bend(x, hinges, chunks, turn, force, energy):
    """Force [N] on the points of every hinge, shape (hinge_count, 4, 3), and the energy [J] per chunk.

    `turn`, shape (hinge_count, 18), for the Hessian: two 3 x 3 matrices F and G, d(c m) = G df - F de, with de the
    change of the edge and df that of f, n = e x f.
    """
    for chunk in prange(chunks.body.shape[0]):
        total = 0.0
        for h in range(chunks.hinge_start[chunk], chunks.hinge_start[chunk + 1]):
            total += hinge_energy(h, x, hinges, turn, force)
        energy[chunk] = total


@kernel
def bend_force(i, hinges, force):
    """Force on vertex i [N]."""
    fx = fy = fz = 0.0
    for entry in range(hinges.vertex_start[i], hinges.vertex_start[i + 1]):
        h = hinges.vertex_entry[entry] >> 2
        slot = hinges.vertex_entry[entry] & 3
        fx += force[h, slot, 0]
        fy += force[h, slot, 1]
        fz += force[h, slot, 2]
    return fx, fy, fz


@kernel
def hinge_product(h, p, hinges, turn, pulled):
    """`pulled[h]` = k J' J p for the four points of hinge h, step one of the Hessian product."""
    i, j, u, v = hinges.points[h, 0], hinges.points[h, 1], hinges.points[h, 2], hinges.points[h, 3]
    ex, ey, ez = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
    ax, ay, az = p[u, 0] - p[i, 0], p[u, 1] - p[i, 1], p[u, 2] - p[i, 2]
    dx, dy, dz = p[v, 0] - p[i, 0], p[v, 1] - p[i, 1], p[v, 2] - p[i, 2]
    s1, s2 = hinges.normal_scale[h, 0], hinges.normal_scale[h, 1]
    fx, fy, fz = s1 * ax - s2 * dx, s1 * ay - s2 * dy, s1 * az - s2 * dz
    w1, w2, w3 = hinges.weight[h, 1], hinges.weight[h, 2], hinges.weight[h, 3]
    rx = w1 * ex + w2 * ax + w3 * dx
    ry = w1 * ey + w2 * ay + w3 * dy
    rz = w1 * ez + w2 * az + w3 * dz
    rx += turn[h, 0] * ex + turn[h, 1] * ey + turn[h, 2] * ez - turn[h, 9] * fx - turn[h, 10] * fy - turn[h, 11] * fz
    ry += turn[h, 3] * ex + turn[h, 4] * ey + turn[h, 5] * ez - turn[h, 12] * fx - turn[h, 13] * fy - turn[h, 14] * fz
    rz += turn[h, 6] * ex + turn[h, 7] * ey + turn[h, 8] * ez - turn[h, 15] * fx - turn[h, 16] * fy - turn[h, 17] * fz
    pull_back(h, hinges, turn, rx, ry, rz, pulled)
