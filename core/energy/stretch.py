"""Springs on the edges of a skin (Martin 2009, 3.1.1; Mesit 2007, eq. 5).

    E = k/2 (l - L)^2,   force on either end along the edge: momentum and angular momentum stay

with k from `ModelBuilder` (Van Gelder 1998).
Hessian: (k - t) d d' + t 1 with d the direction and t = k (1 - L / l) the tension per length, cut at zero from
below (Teran et al. 2005): positive semi-definite, so conjugate gradients never meet a negative direction.
"""

import numpy as np

from ..jit import kernel
from ..simd import four, lane, larger, load3, load4, root, spread, spread_lane3, store4, sum_spread, transposed


@kernel
def evaluate_stretch(x, edges, chunks, tension, block, energy):
    """Tension per length, Hessian block (sqrt(k - t) d, t) of every edge, and the energy [J] per chunk.

    `tension` [N/m], shape (edge_count,); `block`, shape (edge_count, 4). Four edges at a time; the last four of a chunk
    are filled up with its last edge.
    """
    for c in range(chunks.body.shape[0]):
        first, last = chunks.edge_start[c], chunks.edge_start[c + 1]
        even = first + (last - first) // 4 * 4
        sum_of_four = spread(0.0)
        for e in range(first, even, 4):
            length, k = load4(edges.rest_length, e), load4(edges.stiffness, e)
            t, stored = stretch_four(e, e + 1, e + 2, e + 3, length, k, x, edges.points, block)
            store4(tension, e, t)
            sum_of_four = sum_of_four + stored
        total = lane(sum_spread(sum_of_four), 0)
        if even < last:
            f, g, h = min(even + 1, last - 1), min(even + 2, last - 1), last - 1
            length, k = edges.rest_length, edges.stiffness
            t, stored = stretch_four(
                even, f, g, h, four(length[even], length[f], length[g], length[h]), four(k[even], k[f], k[g], k[h]),
                x, edges.points, block,
            )  # fmt: skip
            for place in range(last - even):
                tension[even + place] = lane(t, place)
                total += lane(stored, place)
        energy[c] = total


@kernel
def stretch_four(e, f, g, h, rest_length, k, x, points, block):
    """Tension per length and energy [J] of four edges, as lanes; writes their Hessian blocks to `block`."""
    dx, dy, dz, _ = transposed(
        load3(x, 3 * points[e, 0]) - load3(x, 3 * points[e, 1]),
        load3(x, 3 * points[f, 0]) - load3(x, 3 * points[f, 1]),
        load3(x, 3 * points[g, 0]) - load3(x, 3 * points[g, 1]),
        load3(x, 3 * points[h, 0]) - load3(x, 3 * points[h, 1]),
    )
    length = larger(root(dx * dx + dy * dy + dz * dz), 1e-12 * rest_length)
    inverse = 1.0 / length
    stretch = length - rest_length
    t = k * stretch * inverse
    across = larger(t, spread(0.0))
    s = root(k - across) * inverse
    of_e, of_f, of_g, of_h = transposed(dx * s, dy * s, dz * s, across)
    store4(block, 4 * e, of_e)
    store4(block, 4 * f, of_f)
    store4(block, 4 * g, of_g)
    store4(block, 4 * h, of_h)
    return t, 0.5 * k * stretch * stretch


@kernel
def stretch_force(i, here, x, edges, tension):
    """Force on vertex i [N] as lanes; `here` is row i of x."""
    total = spread(0.0)
    for q in range(np.uint64(edges.vertex_start[i]), np.uint64(edges.vertex_start[i + 1])):
        total = total + tension[edges.vertex_edge[q]] * (load3(x, 3 * edges.vertex_other[q]) - here)
    return total


@kernel
def stretch_product(i, here, p, edges, block):
    """Row i of the Hessian times p, shape (vertex_count, 3), as lanes; `here` is row i of p."""
    total = spread(0.0)
    for q in range(np.uint64(edges.vertex_start[i]), np.uint64(edges.vertex_start[i + 1])):
        apart = here - load3(p, 3 * edges.vertex_other[q])
        edge = load4(block, 4 * edges.vertex_edge[q])
        total = total + (edge * sum_spread(edge * apart) + spread_lane3(edge) * apart)
    return total
