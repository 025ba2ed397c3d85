"""Volumes of tetrahedra: the volume energy of a soft solid, besides its springs (Macklin et al. 2016; the XPBD page).

    E = K / 2 (V - V0)^2 / V0,   V = (x1 - x0) . (x2 - x0) cross (x3 - x0) / 6,   C = V - V0 (not 6 V as in its text)

K [Pa] is the bulk stiffness of the solid less that of its springs (`bodies.lattice.springs`). V keeps its sign,
so a tetrahedron that is flat or turned inside out is pushed back with a finite force.
"""

from ..jit import kernel

#: Volume of a tetrahedron over its triple product [1].
SIXTH = 1.0 / 6.0


@kernel
def tetrahedron_gradient(t, points, x, gradient):
    """V [m^3] of tetrahedron t; writes dV/dx [m^2] of its four points to `gradient[t]`."""
    i, j, k, m = points[t, 0], points[t, 1], points[t, 2], points[t, 3]
    ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    cx, cy, cz = x[m, 0] - x[i, 0], x[m, 1] - x[i, 1], x[m, 2] - x[i, 2]
    ux, uy, uz = SIXTH * (by * cz - bz * cy), SIXTH * (bz * cx - bx * cz), SIXTH * (bx * cy - by * cx)
    vx, vy, vz = SIXTH * (cy * az - cz * ay), SIXTH * (cz * ax - cx * az), SIXTH * (cx * ay - cy * ax)
    wx, wy, wz = SIXTH * (ay * bz - az * by), SIXTH * (az * bx - ax * bz), SIXTH * (ax * by - ay * bx)
    gradient[t, 1, 0], gradient[t, 1, 1], gradient[t, 1, 2] = ux, uy, uz
    gradient[t, 2, 0], gradient[t, 2, 1], gradient[t, 2, 2] = vx, vy, vz
    gradient[t, 3, 0], gradient[t, 3, 1], gradient[t, 3, 2] = wx, wy, wz
    gradient[t, 0, 0], gradient[t, 0, 1], gradient[t, 0, 2] = -ux - vx - wx, -uy - vy - wy, -uz - vz - wz
    return ax * ux + ay * uy + az * uz
