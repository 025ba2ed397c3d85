"""The preconditioner's part for rigid bodies: one exact 6 x 6 block per body, inertia and contacts together."""

import math

import numpy as np

from ..jit import kernel


@kernel
def factor_blocks(rigid_mass, rigid_inertia, terms, point_start, blocks):
    """Cholesky factors (lower) of the blocks, shape (body_count, 6, 6).

    `rigid_mass` is mass / tau^2 [N/m], `bodies.rigid.inertia` inertia / tau^2 [N m] in world axes, shape (body_count,
    3, 3); contacts add J' K J with J = (w, -w r x) for each pair of their points.
    """
    blocks[:] = 0.0
    j = np.empty((3, 6))
    kj = np.empty((3, 6))
    for body in range(blocks.shape[0]):
        block = blocks[body]
        for i in range(3):
            block[i, i] = rigid_mass[body]
            for k in range(3):
                block[3 + i, 3 + k] = rigid_inertia[body, i, k]
        first, last = point_start[body], point_start[body + 1]
        for q in range(terms.vertex_start[first], terms.vertex_start[last]):
            c = terms.vertex_entry[q] >> 2
            slot = terms.vertex_entry[q] & 3
            # all slots of the body in this contact act together: its first slot stands for them
            is_first = True
            for s in range(slot):
                if first <= terms.points[c, s] < last:
                    is_first = False
            if not is_first:
                continue
            total = rx = ry = rz = 0.0
            for s in range(slot, 4):
                i = terms.points[c, s]
                if first <= i < last:
                    w = terms.weights[c, s]
                    r = terms.arm[i - terms.vertex_count]
                    total += w
                    rx, ry, rz = rx + w * r[0], ry + w * r[1], rz + w * r[2]
            j[:] = 0.0
            j[0, 0] = j[1, 1] = j[2, 2] = total
            j[0, 4], j[0, 5] = rz, -ry
            j[1, 3], j[1, 5] = -rz, rx
            j[2, 3], j[2, 4] = ry, -rx
            m = terms.matrix[c]
            for col in range(6):
                kj[0, col] = m[0] * j[0, col] + m[3] * j[1, col] + m[4] * j[2, col]
                kj[1, col] = m[3] * j[0, col] + m[1] * j[1, col] + m[5] * j[2, col]
                kj[2, col] = m[4] * j[0, col] + m[5] * j[1, col] + m[2] * j[2, col]
            for row in range(6):
                for col in range(row + 1):
                    block[row, col] += j[0, row] * kj[0, col] + j[1, row] * kj[1, col] + j[2, row] * kj[2, col]
        for row in range(6):
            for col in range(row + 1):
                value = block[row, col]
                for k in range(col):
                    value -= block[row, k] * block[col, k]
                if row == col:
                    block[row, row] = math.sqrt(value)
                else:
                    block[row, col] = value / block[col, col]


@kernel
def solve_blocks(blocks, r, z):
    """Rows of the rigid bodies, the last of r and z, shape (unknown_count, 3): z = (L L')^-1 r."""
    count = blocks.shape[0]
    first = r.shape[0] - 2 * count
    y = np.empty(6)
    for body in range(count):
        block = blocks[body]
        row = first + 2 * body
        for i in range(6):
            value = r[row + i // 3, i % 3]
            for k in range(i):
                value -= block[i, k] * y[k]
            y[i] = value / block[i, i]
        for i in range(5, -1, -1):
            value = y[i]
            for k in range(i + 1, 6):
                value -= block[k, i] * y[k]
            y[i] = value / block[i, i]
            z[row + i // 3, i % 3] = y[i]
