"""Hinges between neighbouring triangles: a bending energy that is nearly a quadratic form.

    E = k/2 |b - c m|^2,   b = sum_s w_s x_s,   m = n / sqrt(|n|^2 + FOLD^2),   n = n1 / |n1_rest| + n2 / |n2_rest|

b [m] is the hinge's bend vector: with the rest triangles' cotangents as weights w, it is |edge| times the sum of the
two unit vectors across the edge, so |b| = |edge| 2 sin(a / 2) at the dihedral angle a, along the bisector of the
normals n1, n2; k = 3 B / area as in Grinspun et al. 2003. For flat rest shapes (c = 0) this is Bergou, Wardetzky,
Harmon, Zorin, Grinspun 2006, "A quadratic bending model for inextensible surfaces"; c and m carry it over to curved
ones. w, c and k are constants of the rest mesh. The square of the angle is not used: its gradient grows as 1 / height
of a crumpled triangle and jumps by pi where the triangle turns over.

A skin stretched by the factor s at unchanged angles has the bending energy of its curvature 1 / s.
FOLD keeps m smooth where the two triangles fold onto each other (n = 0); c compensates for it at rest.
"""

from ..jit import lean_inline_kernel, lean_kernel
from ..simd import root

#: Length of the sum of two unit normals below which the rest bend fades out [1]: a fold to within about 6 degrees.
FOLD = 0.1


@lean_inline_kernel
def bent(h, x, hinges):
    """b - c m of hinge h [m]; e and f; m and 1 / sqrt(|n|^2 + FOLD^2)."""
    i, j, p, q = hinges.points[h, 0], hinges.points[h, 1], hinges.points[h, 2], hinges.points[h, 3]
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    ax, ay, az = x[p, 0] - x[i, 0], x[p, 1] - x[i, 1], x[p, 2] - x[i, 2]
    dx, dy, dz = x[q, 0] - x[i, 0], x[q, 1] - x[i, 1], x[q, 2] - x[i, 2]
    w1, w2, w3 = hinges.weight[h, 1], hinges.weight[h, 2], hinges.weight[h, 3]
    s1, s2, c = hinges.normal_scale[h, 0], hinges.normal_scale[h, 1], hinges.rest_bend[h]
    # the weights sum to zero, so differences suffice; they are accurate far from the origin
    rx = w1 * ex + w2 * ax + w3 * dx
    ry = w1 * ey + w2 * ay + w3 * dy
    rz = w1 * ez + w2 * az + w3 * dz
    # n = s1 (e x a) + s2 (d x e) = e x f,  f = s1 a - s2 d
    fx, fy, fz = s1 * ax - s2 * dx, s1 * ay - s2 * dy, s1 * az - s2 * dz
    mx, my, mz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    size = 1.0 / root(mx * mx + my * my + mz * mz + FOLD * FOLD)
    mx, my, mz = mx * size, my * size, mz * size
    return rx - c * mx, ry - c * my, rz - c * mz, ex, ey, ez, fx, fy, fz, mx, my, mz, size


@lean_inline_kernel
def bend_energy(h, x, hinges):
    """Energy [J] of hinge h."""
    rx, ry, rz, _, _, _, _, _, _, _, _, _, _ = bent(h, x, hinges)
    return 0.5 * hinges.stiffness[h] * (rx * rx + ry * ry + rz * rz)


@lean_kernel
def hinge_energy(h, x, hinges, force):
    """Energy [J] of hinge h; writes the force [N] on its points to `force[h]`."""
    w1, w2, w3 = hinges.weight[h, 1], hinges.weight[h, 2], hinges.weight[h, 3]
    s1, s2, c, k = hinges.normal_scale[h, 0], hinges.normal_scale[h, 1], hinges.rest_bend[h], hinges.stiffness[h]
    rx, ry, rz, ex, ey, ez, fx, fy, fz, mx, my, mz, size = bent(h, x, hinges)
    rx, ry, rz = k * rx, k * ry, k * rz
    # k r' d(c m) = g' dn = g . (e x df - f x de) = (g x e) . df + (f x g) . de
    along = rx * mx + ry * my + rz * mz
    turned = c * size
    gx, gy, gz = turned * (rx - along * mx), turned * (ry - along * my), turned * (rz - along * mz)
    ux, uy, uz = gy * ez - gz * ey, gz * ex - gx * ez, gx * ey - gy * ex
    energy = 0.5 / k * (rx * rx + ry * ry + rz * rz)
    on_e = fy * gz - fz * gy - w1 * rx, fz * gx - fx * gz - w1 * ry, fx * gy - fy * gx - w1 * rz
    on_a = s1 * ux - w2 * rx, s1 * uy - w2 * ry, s1 * uz - w2 * rz
    on_d = -s2 * ux - w3 * rx, -s2 * uy - w3 * ry, -s2 * uz - w3 * rz
    for axis in range(3):
        force[h, 0, axis] = -(on_e[axis] + on_a[axis] + on_d[axis])
        force[h, 1, axis] = on_e[axis]
        force[h, 2, axis] = on_a[axis]
        force[h, 3, axis] = on_d[axis]
    return energy
