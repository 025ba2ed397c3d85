"""The preconditioner's part for single vertices: the inverse of each vertex's own 3 x 3 block of the Hessian.

The multigrid's matrix is as stiff across a skin as along it. A skin's true stiffness across is that of its tension
alone, often a hundredth, and that of a contact has a direction. The error from this difference is mostly short-waved,
so each vertex's own block is added to the multigrid cycle (additive Schwarz). On an inflated ball this halves the
iterations with short steps and takes two thirds of them with long ones.
"""

import numpy as np

from ..jit import kernel
from ..simd import lane, load4, rotated, spread

#: Weight of the blocks beside the cycle; iterations hardly depend on it between 0.3 and 1.
WEIGHT = 0.5


@kernel
def invert_vertex_blocks(edges, hinges, chunks, hessian, terms, contact_count, inverse):
    """WEIGHT times the inverse blocks [m/N] as (xx, yy, zz, xy, xz, yz), shape (vertex_count, 6); 0 where pinned.

    Of inertia, springs, hinges (as if flat), tetrahedra and contacts; the gas, which is one rank per body, is left out.
    """
    hinge_count = hinges.points.shape[0]
    tetrahedron_count = hessian.tetrahedra.shape[0]
    for chunk in range(chunks.body.shape[0]):
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            if hessian.pinned[i]:
                inverse[i, :] = 0.0
                continue
            # of edges, sum of (x, y, z, across): lane by lane squared, and x y, y z, z x; `across` resists everywhere
            squares, mixed, summed = spread(0.0), spread(0.0), spread(0.0)
            for q in range(np.uint64(edges.vertex_start[i]), np.uint64(edges.vertex_start[i + 1])):
                block = load4(hessian.edge_block, 4 * edges.vertex_edge[q])
                squares = squares + block * block
                mixed = mixed + block * rotated(block)
                summed = summed + block
            around = hessian.inertia[i] + lane(summed, 3)
            if hinge_count > 0:
                around += hinges.diagonal[i]
            xx, yy, zz = lane(squares, 0), lane(squares, 1), lane(squares, 2)
            xy, yz, xz = lane(mixed, 0), lane(mixed, 1), lane(mixed, 2)
            if tetrahedron_count > 0:
                for q in range(hessian.tetrahedron_start[i], hessian.tetrahedron_start[i + 1]):
                    t, slot = hessian.tetrahedron_entry[q] >> 2, hessian.tetrahedron_entry[q] & 3
                    g, s = hessian.tetrahedron_gradient[t, slot], hessian.tetrahedron_stiffness[t]
                    xx, yy, zz = xx + s * g[0] * g[0], yy + s * g[1] * g[1], zz + s * g[2] * g[2]
                    xy, xz, yz = xy + s * g[0] * g[1], xz + s * g[0] * g[2], yz + s * g[1] * g[2]
            if contact_count > 0:
                for q in range(terms.vertex_start[i], terms.vertex_start[i + 1]):
                    c = terms.vertex_entry[q] >> 2
                    w = terms.weights[c, terms.vertex_entry[q] & 3]
                    m = terms.matrix[c]
                    xx, yy, zz = xx + w * w * m[0], yy + w * w * m[1], zz + w * w * m[2]
                    xy, xz, yz = xy + w * w * m[3], xz + w * w * m[4], yz + w * w * m[5]
            xx, yy, zz = xx + around, yy + around, zz + around
            ax, ay, az = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
            scale = WEIGHT / (xx * ax + xy * ay + xz * az)
            inverse[i, 0], inverse[i, 3], inverse[i, 4] = ax * scale, ay * scale, az * scale
            inverse[i, 1] = (xx * zz - xz * xz) * scale
            inverse[i, 2] = (xx * yy - xy * xy) * scale
            inverse[i, 5] = (xy * xz - xx * yz) * scale


@kernel
def add_vertex_blocks(chunks, inverse, residual, z):
    """Add the inverse blocks times the residual [N] to z [m]."""
    for chunk in range(chunks.body.shape[0]):
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            x, y, w = residual[i, 0], residual[i, 1], residual[i, 2]
            z[i, 0] += inverse[i, 0] * x + inverse[i, 3] * y + inverse[i, 4] * w
            z[i, 1] += inverse[i, 3] * x + inverse[i, 1] * y + inverse[i, 5] * w
            z[i, 2] += inverse[i, 4] * x + inverse[i, 5] * y + inverse[i, 2] * w
