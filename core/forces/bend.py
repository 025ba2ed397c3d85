"""Hinges between neighbouring triangles: discrete shells (Grinspun, Hirani, Desbrun, Schroeder 2003).

    E = k/2 (a - a_rest)^2,   a the dihedral angle, 0 = flat, ridges positive

Hessian: k grad a grad a' (Gauss-Newton, positive semi-definite; exact where the moment vanishes).
"""

from math import atan2, pi, sqrt

from numba import prange

from ..jit import kernel, parallel_kernel


@kernel
def wrapped(angle):
    """The same angle in (-pi, pi]."""
    while angle > pi:
        angle -= 2.0 * pi
    while angle <= -pi:
        angle += 2.0 * pi
    return angle


@kernel
def hinge_angle(x, hinge, gradient):
    """Dihedral angle [rad] of one hinge (four points); its gradient [1/m] goes into `gradient`, shape (4, 3)."""
    i, j, k, m = hinge[0], hinge[1], hinge[2], hinge[3]
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    ax, ay, az = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    bx, by, bz = x[m, 0] - x[i, 0], x[m, 1] - x[i, 1], x[m, 2] - x[i, 2]
    # normals of (start, end, apex) and (end, start, other apex), twice the areas long
    nx, ny, nz = ey * az - ez * ay, ez * ax - ex * az, ex * ay - ey * ax
    qx, qy, qz = by * ez - bz * ey, bz * ex - bx * ez, bx * ey - by * ex
    edge2 = ex * ex + ey * ey + ez * ez
    edge = sqrt(edge2)
    n2 = max(nx * nx + ny * ny + nz * nz, 1e-12 * edge2 * edge2)
    q2 = max(qx * qx + qy * qy + qz * qz, 1e-12 * edge2 * edge2)
    cx, cy, cz = ny * qz - nz * qy, nz * qx - nx * qz, nx * qy - ny * qx
    sine = (cx * ex + cy * ey + cz * ez) / edge
    angle = atan2(sine, nx * qx + ny * qy + nz * qz)
    s, t = -edge / n2, -edge / q2
    # share of each apex's projection along the edge
    u = (ax * ex + ay * ey + az * ez) / edge2
    v = (bx * ex + by * ey + bz * ez) / edge2
    gradient[2, 0], gradient[2, 1], gradient[2, 2] = s * nx, s * ny, s * nz
    gradient[3, 0], gradient[3, 1], gradient[3, 2] = t * qx, t * qy, t * qz
    for axis in range(3):
        gradient[0, axis] = -(1.0 - u) * gradient[2, axis] - (1.0 - v) * gradient[3, axis]
        gradient[1, axis] = -u * gradient[2, axis] - v * gradient[3, axis]
    return angle


@parallel_kernel
def evaluate_bend(x, hinges, chunks, moment, gradient, energy):
    """Moment [N m] and angle gradient [1/m] of every hinge, and the energy [J] per chunk."""
    for c in prange(chunks.body.shape[0]):
        total = 0.0
        for h in range(chunks.hinge_start[c], chunks.hinge_start[c + 1]):
            angle = hinge_angle(x, hinges.points[h], gradient[h])
            k = hinges.stiffness[h]
            turn = wrapped(angle - hinges.rest_angle[h])
            total += 0.5 * k * turn * turn
            moment[h] = k * turn
        energy[c] = total


@kernel
def bend_force(i, hinges, moment, gradient):
    """Force on vertex i [N]."""
    fx = fy = fz = 0.0
    for q in range(hinges.vertex_start[i], hinges.vertex_start[i + 1]):
        h = hinges.vertex_entry[q] >> 2
        slot = hinges.vertex_entry[q] & 3
        m = moment[h]
        fx -= m * gradient[h, slot, 0]
        fy -= m * gradient[h, slot, 1]
        fz -= m * gradient[h, slot, 2]
    return fx, fy, fz


@kernel
def hinge_turn(h, p, hinges, gradient):
    """Moment change of hinge h when its points move by p [N m]; step one of the Hessian product."""
    turn = 0.0
    for slot in range(4):
        i = hinges.points[h, slot]
        turn += gradient[h, slot, 0] * p[i, 0] + gradient[h, slot, 1] * p[i, 1] + gradient[h, slot, 2] * p[i, 2]
    return hinges.stiffness[h] * turn


@kernel
def bend_product(i, hinges, turned, gradient):
    """Row i of the Hessian product, step two; `turned` holds `hinge_turn` of every hinge."""
    hx = hy = hz = 0.0
    for q in range(hinges.vertex_start[i], hinges.vertex_start[i + 1]):
        h = hinges.vertex_entry[q] >> 2
        slot = hinges.vertex_entry[q] & 3
        hx += turned[h] * gradient[h, slot, 0]
        hy += turned[h] * gradient[h, slot, 1]
        hz += turned[h] * gradient[h, slot, 2]
    return hx, hy, hz
