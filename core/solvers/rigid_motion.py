"""The rigid motion of a body as a row of 16 numbers; of a soft body, the one with its momentum and angular momentum.

Centre [m], velocity [m/s], angular velocity [1/s], inverse inertia [1/(kg m^2)] as xx, yy, zz, xy, xz, yz, mass [kg].
"""

from ..jit import kernel


@kernel
def rigid_motions(x, v, mass, body_point_start, motion):
    """Centre [m], velocity [m/s], angular velocity [1/s], inverse inertia [1/(kg m^2)], mass [kg] of each membrane."""
    for body in range(motion.shape[0]):
        first, last = body_point_start[body], body_point_start[body + 1]
        m = 0.0
        cx = cy = cz = 0.0
        ux = uy = uz = 0.0
        for i in range(first, last):
            w = mass[i]
            m += w
            cx += w * (x[i, 0] - x[first, 0])
            cy += w * (x[i, 1] - x[first, 1])
            cz += w * (x[i, 2] - x[first, 2])
            ux += w * v[i, 0]
            uy += w * v[i, 1]
            uz += w * v[i, 2]
        cx, cy, cz = x[first, 0] + cx / m, x[first, 1] + cy / m, x[first, 2] + cz / m
        ux, uy, uz = ux / m, uy / m, uz / m
        lx = ly = lz = 0.0
        xx = yy = zz = xy = xz = yz = 0.0
        for i in range(first, last):
            w = mass[i]
            rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
            sx, sy, sz = v[i, 0] - ux, v[i, 1] - uy, v[i, 2] - uz
            lx += w * (ry * sz - rz * sy)
            ly += w * (rz * sx - rx * sz)
            lz += w * (rx * sy - ry * sx)
            xx += w * (ry * ry + rz * rz)
            yy += w * (rx * rx + rz * rz)
            zz += w * (rx * rx + ry * ry)
            xy -= w * rx * ry
            xz -= w * rx * rz
            yz -= w * ry * rz
        # a body compressed to a line has no inertia about it: a little is added
        extra = 1e-13 * (xx + yy + zz)
        xx, yy, zz = xx + extra, yy + extra, zz + extra
        ixx, iyy, izz = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
        ixy, ixz, iyz = xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - yz * xx
        inverse = 1.0 / (xx * ixx + xy * ixy + xz * ixz)
        ixx, iyy, izz = ixx * inverse, iyy * inverse, izz * inverse
        ixy, ixz, iyz = ixy * inverse, ixz * inverse, iyz * inverse
        row = motion[body]
        row[0], row[1], row[2] = cx, cy, cz
        row[3], row[4], row[5] = ux, uy, uz
        row[6] = ixx * lx + ixy * ly + ixz * lz
        row[7] = ixy * lx + iyy * ly + iyz * lz
        row[8] = ixz * lx + iyz * ly + izz * lz
        row[9], row[10], row[11], row[12], row[13], row[14] = ixx, iyy, izz, ixy, ixz, iyz
        row[15] = m


@kernel
def point_velocity(motion, body, px, py, pz):
    """Velocity of a body's rigid motion at a point."""
    row = motion[body]
    rx, ry, rz = px - row[0], py - row[1], pz - row[2]
    return (
        row[3] + row[7] * rz - row[8] * ry,
        row[4] + row[8] * rx - row[6] * rz,
        row[5] + row[6] * ry - row[7] * rx,
    )


@kernel
def angular_response(motion, body, px, py, pz, nx, ny, nz):
    """Change of angular velocity by a unit impulse n at p, and the resulting change of velocity along n at p."""
    row = motion[body]
    rx, ry, rz = px - row[0], py - row[1], pz - row[2]
    tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
    wx = row[9] * tx + row[12] * ty + row[13] * tz
    wy = row[12] * tx + row[10] * ty + row[14] * tz
    wz = row[13] * tx + row[14] * ty + row[11] * tz
    return wx, wy, wz, tx * wx + ty * wy + tz * wz


@kernel
def relax_points(x, v, first, last, row, share, pinned):
    """Scale velocities of the points first .. last - 1 relative to a rigid motion by `share` [1]."""
    for i in range(first, last):
        if pinned[i]:
            continue
        rx, ry, rz = x[i, 0] - row[0], x[i, 1] - row[1], x[i, 2] - row[2]
        sx = row[3] + row[7] * rz - row[8] * ry
        sy = row[4] + row[8] * rx - row[6] * rz
        sz = row[5] + row[6] * ry - row[7] * rx
        v[i, 0] = sx + share * (v[i, 0] - sx)
        v[i, 1] = sy + share * (v[i, 1] - sy)
        v[i, 2] = sz + share * (v[i, 2] - sz)
