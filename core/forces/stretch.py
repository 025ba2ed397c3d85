"""Springs on the edges of a skin (Martin 2009, 3.1.1; Mesit 2007, eq. 5).

    E = k/2 (l - L)^2,   force on either end along the edge: momentum and angular momentum stay

with k from `ModelBuilder` (Van Gelder 1998).
Hessian: (k - t) d d' + t 1 with d the direction and t = k (1 - L / l) the tension per length, cut at zero from
below (Teran et al. 2005): positive semi-definite, so conjugate gradients never meet a negative direction.
"""

from math import sqrt

from numba import prange

from ..jit import kernel, parallel_kernel


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
            k = edges.stiffness[e]
            stretch = length - edges.rest_length[e]
            t = k * stretch / length
            total += 0.5 * k * stretch * stretch
            tension[e] = t
            across = max(t, 0.0)
            s = sqrt(k - across) / length
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
def stretch_product(i, p, edges, block):
    """Row i of the Hessian times p, shape (vertex_count, 3)."""
    hx = hy = hz = 0.0
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    for q in range(edges.vertex_start[i], edges.vertex_start[i + 1]):
        j = edges.vertex_other[q]
        e = edges.vertex_edge[q]
        dx, dy, dz = px - p[j, 0], py - p[j, 1], pz - p[j, 2]
        bx, by, bz, across = block[e, 0], block[e, 1], block[e, 2], block[e, 3]
        s = bx * dx + by * dy + bz * dz
        hx += bx * s + across * dx
        hy += by * s + across * dy
        hz += bz * s + across * dz
    return hx, hy, hz
