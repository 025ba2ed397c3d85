"""Upper bounds of stiffness at given positions, vertex by vertex: they bound omega^2 and so the stable step.

K <= diag(s) as quadratic forms, so omega^2 <= max s / m. To s of a vertex add up

* springs: what joins two vertices counts twice, 2 k (d d' + t (1 - d d')) with t = max(0, 1 - L / l),
* cells: what joins n counts n times: 4 k g g' with g = dV/dx of a corner's tetrahedron, and 8 k g g' of the sum,
* hinges: the row sums of their Gauss-Newton Hessian k J' J, k |J_s| sum_t |J_t| with J = w - c dm/dx, m = n / S:
  |J_s|^2 ~ w_s^2 + (c / S)^2 |dn/dx_s|^2, which is w_s^2 (1 + tan^2(a / 2)) at an angle a (`energy/bend.py`).

The first two are added as 3 x 3 blocks, of which the largest eigenvalue counts. Only sums, products and roots are used:
the same bits on every machine.
"""

from ...energy.bend import FOLD
from ...energy.volume import sum_gradient, volume_gradient
from ...jit import lean_inline_kernel, lean_kernel
from ...tiny import TINY

#: Newton steps towards the largest eigenvalue of a block, from above: at worst 0.5 % too large.
NEWTON_STEPS = 6


@lean_kernel
def fill_blocks(x, edges, hinges, tetrahedra, blocks, rows):
    """Blocks of springs and cells, and row sums of hinges [N/m].

    Blocks: xx, yy, zz, xy, xz, yz, shape (6, vertex_count). `x`: positions [m], shape (point_count, 3); groups of the
    model.
    """
    for i in range(rows.shape[0]):
        rows[i] = 0.0
        for j in range(6):
            blocks[j, i] = 0.0
    for e in range(edges.points.shape[0]):
        a, b = edges.points[e, 0], edges.points[e, 1]
        dx, dy, dz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        square = dx * dx + dy * dy + dz * dz + TINY
        across = 2.0 * edges.stiffness[e] * max(0.0, 1.0 - edges.rest_length[e] / square**0.5)
        along = (2.0 * edges.stiffness[e] - across) / square
        add_square(blocks, a, along, dx, dy, dz, across)
        add_square(blocks, b, along, dx, dy, dz, across)
    for t in range(tetrahedra.points.shape[0]):
        for slot in range(4):
            gx, gy, gz = volume_gradient(t, slot, tetrahedra.points, x)
            add_square(blocks, tetrahedra.points[t, slot], 4.0 * tetrahedra.stiffness[t], gx, gy, gz, 0.0)
        gx, gy, gz = sum_gradient(t // 8, t % 8, tetrahedra.points, x)
        add_square(blocks, tetrahedra.points[t, 0], 8.0 * tetrahedra.sum_stiffness[t // 8], gx, gy, gz, 0.0)
    for h in range(hinges.points.shape[0]):
        add_hinge(x, hinges, h, rows)


@lean_inline_kernel
def add_square(blocks, i, k, dx, dy, dz, rest):
    """Add k d d' + rest to a block."""
    blocks[0, i] += k * dx * dx + rest
    blocks[1, i] += k * dy * dy + rest
    blocks[2, i] += k * dz * dz + rest
    blocks[3, i] += k * dx * dy
    blocks[4, i] += k * dx * dz
    blocks[5, i] += k * dy * dz


@lean_inline_kernel
def add_hinge(x, hinges, h, rows):
    """Add the row sums of one hinge."""
    i, j, p, q = hinges.points[h, 0], hinges.points[h, 1], hinges.points[h, 2], hinges.points[h, 3]
    s1, s2 = hinges.normal_scale[h, 0], hinges.normal_scale[h, 1]
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    fx = s1 * (x[p, 0] - x[i, 0]) - s2 * (x[q, 0] - x[i, 0])
    fy = s1 * (x[p, 1] - x[i, 1]) - s2 * (x[q, 1] - x[i, 1])
    fz = s1 * (x[p, 2] - x[i, 2]) - s2 * (x[q, 2] - x[i, 2])
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    turn = hinges.rest_bend[h] ** 2 / (nx * nx + ny * ny + nz * nz + FOLD * FOLD)
    e2, f2, ef = ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz, ex * fx + ey * fy + ez * fz
    more = s1 - s2
    # |dn| for unit moves: the first point takes along e and f, the second e, the apexes f
    ji = (hinges.weight[h, 0] ** 2 + turn * max(0.0, f2 - 2.0 * more * ef + more * more * e2)) ** 0.5
    jj = (hinges.weight[h, 1] ** 2 + turn * f2) ** 0.5
    jp = (hinges.weight[h, 2] ** 2 + turn * s1 * s1 * e2) ** 0.5
    jq = (hinges.weight[h, 3] ** 2 + turn * s2 * s2 * e2) ** 0.5
    total = hinges.stiffness[h] * (ji + jj + jp + jq)
    rows[i] += total * ji
    rows[j] += total * jj
    rows[p] += total * jp
    rows[q] += total * jq


@lean_inline_kernel
def largest(blocks, i):
    """A block's largest eigenvalue, by Newton's method from above on its characteristic polynomial."""
    middle = (blocks[0, i] + blocks[1, i] + blocks[2, i]) / 3.0
    a, b, c = blocks[0, i] - middle, blocks[1, i] - middle, blocks[2, i] - middle
    d, e, f = blocks[3, i], blocks[4, i], blocks[5, i]
    # y^3 - p y - q for the block less its mean
    p = 0.5 * (a * a + b * b + c * c) + d * d + e * e + f * f
    q = a * b * c + 2.0 * d * e * f - a * f * f - b * e * e - c * d * d
    y = 2.0 * (p / 3.0) ** 0.5
    for _ in range(NEWTON_STEPS):
        slope = 3.0 * y * y - p
        if slope > 0.0:
            y -= max(0.0, y * (y * y - p) - q) / slope
    return middle + y


@lean_kernel
def gas_sums(x, fans, start, inverse_mass, sums):
    """Terms of each membrane's gas in omega^2, shape (membrane_count, 3).

    Its volume V [m^3]; sum of |dV/dx|^2 / m [m^4/kg], to be multiplied by -dp/dV; the largest row sum of d^2V/dx^2 over
    a mass [m/kg], to be multiplied by the gauge pressure. `start`: first vertex of each body.
    """
    for body in range(sums.shape[0]):
        first = start[body]
        ox, oy, oz = x[first, 0], x[first, 1], x[first, 2]
        volume, total, most = 0.0, 0.0, 0.0
        for i in range(first, start[body + 1]):
            gx, gy, gz, row = 0.0, 0.0, 0.0, 0.0
            px, py, pz = x[i, 0], x[i, 1], x[i, 2]
            for c in range(fans.vertex_start[i], fans.vertex_start[i + 1]):
                j, k = fans.corners[c, 0], fans.corners[c, 1]
                ux, uy, uz = x[j, 0] - ox, x[j, 1] - oy, x[j, 2] - oz
                wx, wy, wz = x[k, 0] - ox, x[k, 1] - oy, x[k, 2] - oz
                gx += uy * wz - uz * wy
                gy += uz * wx - ux * wz
                gz += ux * wy - uy * wx
                row += ((x[j, 0] - px) ** 2 + (x[j, 1] - py) ** 2 + (x[j, 2] - pz) ** 2) ** 0.5
                row += ((x[k, 0] - px) ** 2 + (x[k, 1] - py) ** 2 + (x[k, 2] - pz) ** 2) ** 0.5
            volume += (px - ox) * gx + (py - oy) * gy + (pz - oz) * gz
            total += (gx * gx + gy * gy + gz * gz) * inverse_mass[i]
            most = max(most, row * inverse_mass[i])
        sums[body, 0] = volume / 18.0
        sums[body, 1] = total / 36.0
        sums[body, 2] = most / 6.0


@lean_kernel
def measure(x, edges, hinges, tetrahedra, fans, start, inverse_mass, blocks, rows, stiffness, sums):
    """Blocks, stiffness and gas sums at positions x [m], shape (point_count, 3)."""
    fill_blocks(x, edges, hinges, tetrahedra, blocks, rows)
    for i in range(rows.shape[0]):  # of blocks that lie side by side, number by number: for several at once
        stiffness[i] = largest(blocks, i) + rows[i]
    gas_sums(x, fans, start, inverse_mass, sums)
