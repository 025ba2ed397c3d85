"""Hinges between neighbouring triangles: discrete shells (Grinspun, Hirani, Desbrun, Schroeder 2003).

    E = k/2 q1 q2 (a - a_rest)^2,   a the dihedral angle, 0 = flat, ridges positive

q = (1 + c) A^2 / (A^2 + c A_rest^2), c = 0.01, is 1 for a triangle of its rest area A_rest and fades to 0 for a
sliver. Without it the energy would jump when a crumpled triangle turns over (its normal flips, so the angle jumps by
pi), and forces would grow as 1 / height before that. This factor is not in the paper.
Hessian: k q1 q2 grad a grad a' (Gauss-Newton, positive semi-definite; exact where the angle is the rest angle).
"""

from math import atan2, pi, sqrt

from numba import prange

from ..jit import kernel, parallel_kernel

#: c of the fading factor: a triangle counts fully down to about a fifth of its rest area.
SLIVER = 0.01


@kernel
def wrapped(angle):
    """The same angle in (-pi, pi]."""
    while angle > pi:
        angle -= 2.0 * pi
    while angle <= -pi:
        angle += 2.0 * pi
    return angle


@kernel
def fading(n2, rest):
    """q and dq/d(n2) for |normal|^2 = n2 [m^4], `rest` the same at rest; normals are twice the areas long."""
    part = SLIVER * rest
    sum = n2 + part
    return (1.0 + SLIVER) * n2 / sum, (1.0 + SLIVER) * part / (sum * sum)


@kernel
def hinge_angle(x, hinge, rest_normal, gradient, fade):
    """Dihedral angle [rad] and q1 q2 of one hinge (four points).

    The gradients of the angle [1/m] and of q1 q2 [1/m] go into `gradient` and `fade`, shape (4, 3) each.
    """
    i, j, k, m = hinge[0], hinge[1], hinge[2], hinge[3]
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    ax, ay, az = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    bx, by, bz = x[m, 0] - x[i, 0], x[m, 1] - x[i, 1], x[m, 2] - x[i, 2]
    # normals n of (start, end, apex) and r of (end, start, other apex), twice the areas long
    nx, ny, nz = ey * az - ez * ay, ez * ax - ex * az, ex * ay - ey * ax
    rx, ry, rz = by * ez - bz * ey, bz * ex - bx * ez, bx * ey - by * ex
    edge2 = max(ex * ex + ey * ey + ez * ez, 1e-300)
    edge = sqrt(edge2)
    n2, r2 = nx * nx + ny * ny + nz * nz, rx * rx + ry * ry + rz * rz
    q1, slope1 = fading(n2, rest_normal[0])
    q2, slope2 = fading(r2, rest_normal[1])
    cx, cy, cz = ny * rz - nz * ry, nz * rx - nx * rz, nx * ry - ny * rx
    angle = atan2((cx * ex + cy * ey + cz * ez) / edge, nx * rx + ny * ry + nz * rz)
    s = -edge / max(n2, 1e-9 * rest_normal[0])
    t = -edge / max(r2, 1e-9 * rest_normal[1])
    # share of each apex's projection along the edge
    u = (ax * ex + ay * ey + az * ez) / edge2
    v = (bx * ex + by * ey + bz * ez) / edge2
    gradient[2, 0], gradient[2, 1], gradient[2, 2] = s * nx, s * ny, s * nz
    gradient[3, 0], gradient[3, 1], gradient[3, 2] = t * rx, t * ry, t * rz
    for axis in range(3):
        gradient[0, axis] = -(1.0 - u) * gradient[2, axis] - (1.0 - v) * gradient[3, axis]
        gradient[1, axis] = -u * gradient[2, axis] - v * gradient[3, axis]
    # d|n|^2 = 2 (a x n) . de + 2 (n x e) . da,  d|r|^2 = 2 (e x r) . db + 2 (r x b) . de
    f, g = 2.0 * slope1 * q2, 2.0 * slope2 * q1
    fade[2, 0], fade[2, 1], fade[2, 2] = f * (ny * ez - nz * ey), f * (nz * ex - nx * ez), f * (nx * ey - ny * ex)
    fade[3, 0], fade[3, 1], fade[3, 2] = g * (ey * rz - ez * ry), g * (ez * rx - ex * rz), g * (ex * ry - ey * rx)
    fade[1, 0] = f * (ay * nz - az * ny) + g * (ry * bz - rz * by)
    fade[1, 1] = f * (az * nx - ax * nz) + g * (rz * bx - rx * bz)
    fade[1, 2] = f * (ax * ny - ay * nx) + g * (rx * by - ry * bx)
    for axis in range(3):
        fade[0, axis] = -fade[1, axis] - fade[2, axis] - fade[3, axis]
    return angle, q1 * q2


@parallel_kernel
def evaluate_bend(x, hinges, chunks, force, root, energy):
    """Force [N] on the points of every hinge, sqrt(k q1 q2) grad a for the Hessian, and the energy [J] per chunk.

    `force` and `root`, shape (hinge_count, 4, 3).
    """
    for c in prange(chunks.body.shape[0]):
        total = 0.0
        for h in range(chunks.hinge_start[c], chunks.hinge_start[c + 1]):
            angle, fading_factor = hinge_angle(x, hinges.points[h], hinges.rest_normal[h], root[h], force[h])
            k = hinges.stiffness[h]
            turn = wrapped(angle - hinges.rest_angle[h])
            total += 0.5 * k * fading_factor * turn * turn
            moment = k * fading_factor * turn
            half = 0.5 * k * turn * turn
            scale = sqrt(k * fading_factor)
            for slot in range(4):
                for axis in range(3):
                    force[h, slot, axis] = -moment * root[h, slot, axis] - half * force[h, slot, axis]
                    root[h, slot, axis] *= scale
        energy[c] = total


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
def hinge_turn(h, p, hinges, root):
    """sqrt(k q1 q2) times the change of the angle of hinge h when its points move by p; step one of the product."""
    turn = 0.0
    for slot in range(4):
        i = hinges.points[h, slot]
        turn += root[h, slot, 0] * p[i, 0] + root[h, slot, 1] * p[i, 1] + root[h, slot, 2] * p[i, 2]
    return turn


@kernel
def bend_product(i, hinges, turned, root):
    """Row i of the Hessian product, step two; `turned` holds `hinge_turn` of every hinge."""
    hx = hy = hz = 0.0
    for entry in range(hinges.vertex_start[i], hinges.vertex_start[i + 1]):
        h = hinges.vertex_entry[entry] >> 2
        slot = hinges.vertex_entry[entry] & 3
        hx += turned[h] * root[h, slot, 0]
        hy += turned[h] * root[h, slot, 1]
        hz += turned[h] * root[h, slot, 2]
    return hx, hy, hz
