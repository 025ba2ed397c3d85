"""Springs on the edges of a skin (Martin 2009, 3.1.1; Mesit 2007, eq. 5).

    E = k/2 (l - L)^2,   force on either end along the edge: momentum and angular momentum stay

with k from `ModelBuilder` (Van Gelder 1998).
Hessian: (k - t) d d' + t 1 with d the direction and t = k (1 - L / l) the tension per length, cut at zero from
below (Teran et al. 2005): positive semi-definite, so conjugate gradients never meet a negative direction.
"""

from math import sqrt

import numpy as np
from numba import prange

from ..jit import kernel, parallel_kernel
from ..lanes import load3, load4, spread, spread_lane3, sum_spread


@parallel_kernel
def evaluate_stretch(x, edges, chunks, tension, block, energy):
    """Tension per length, Hessian block (sqrt(k - t) d, t) of every edge, and the energy [J] per chunk.

    `tension` [N/m], shape (edge_count,); `block`, shape (edge_count, 4).
    """
    for c in prange(chunks.body.shape[0]):
        total = 0.0
        for e in range(chunks.edge_start[c], chunks.edge_start[c + 1]):
            i, j = edges.points[e, 0], edges.points[e, 1]
            dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            length = max(sqrt(dx * dx + dy * dy + dz * dz), 1e-12 * edges.rest_length[e])
            inverse = 1.0 / length
            k = edges.stiffness[e]
            stretch = length - edges.rest_length[e]
            t = k * stretch * inverse
            total += 0.5 * k * stretch * stretch
            tension[e] = t
            across = max(t, 0.0)
            s = sqrt(k - across) * inverse
            block[e, 0], block[e, 1], block[e, 2], block[e, 3] = dx * s, dy * s, dz * s, across
        energy[c] = total


@kernel
def stretch_force(i, x, edges, tension):
    """Force on vertex i [N]."""
    fx = fy = fz = 0.0
    for q in range(edges.vertex_start[i], edges.vertex_start[i + 1]):
        j = edges.vertex_other[q]
        t = tension[edges.vertex_edge[q]]
        fx += t * (x[j, 0] - x[i, 0])
        fy += t * (x[j, 1] - x[i, 1])
        fz += t * (x[j, 2] - x[i, 2])
    return fx, fy, fz


@kernel
def stretch_product(i, here, p, edges, block):
    """Row i of the Hessian times p, shape (vertex_count, 3), as lanes; `here` is row i of p."""
    total = spread(0.0)
    for q in range(np.uint64(edges.vertex_start[i]), np.uint64(edges.vertex_start[i + 1])):
        apart = here - load3(p, 3 * edges.vertex_other[q])
        edge = load4(block, 4 * edges.vertex_edge[q])
        total = total + (edge * sum_spread(edge * apart) + spread_lane3(edge) * apart)
    return total
