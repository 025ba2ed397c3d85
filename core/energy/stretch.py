"""Springs on the edges of a skin (Martin 2009, 3.1.1; Mesit 2007, eq. 5).

    E = k/2 (l - L)^2,   force on either end along the edge: momentum and angular momentum stay

with k from `ModelBuilder` (Van Gelder 1998); t = k (1 - L / l) is the tension per length.
"""

import numpy as np

from ..jit import kernel
from ..simd import four, lane, larger, load3, load4, root, spread, store4, sum_spread, transposed


@kernel
def evaluate_stretch(x, edges, chunks, tension, energy):
    """Tension per length of every edge, and the energy [J] per chunk.

    `tension` [N/m], shape (edge_count,). Four edges at a time; the last four of a chunk
    are filled up with its last edge.
    """
    for c in range(chunks.body.shape[0]):
        first, last = chunks.edge_start[c], chunks.edge_start[c + 1]
        even = first + (last - first) // 4 * 4
        sum_of_four = spread(0.0)
        for e in range(first, even, 4):
            length, k = load4(edges.rest_length, e), load4(edges.stiffness, e)
            t, stored = stretch_four(e, e + 1, e + 2, e + 3, length, k, x, edges.points)
            store4(tension, e, t)
            sum_of_four = sum_of_four + stored
        total = lane(sum_spread(sum_of_four), 0)
        if even < last:
            f, g, h = min(even + 1, last - 1), min(even + 2, last - 1), last - 1
            length, k = edges.rest_length, edges.stiffness
            t, stored = stretch_four(
                even, f, g, h, four(length[even], length[f], length[g], length[h]), four(k[even], k[f], k[g], k[h]),
                x, edges.points,
            )  # fmt: skip
            for place in range(last - even):
                tension[even + place] = lane(t, place)
                total += lane(stored, place)
        energy[c] = total


@kernel
def stretch_four(e, f, g, h, rest_length, k, x, points):
    """Tension per length and energy [J] of four edges, as lanes."""
    dx, dy, dz, _ = transposed(
        load3(x, 3 * points[e, 0]) - load3(x, 3 * points[e, 1]),
        load3(x, 3 * points[f, 0]) - load3(x, 3 * points[f, 1]),
        load3(x, 3 * points[g, 0]) - load3(x, 3 * points[g, 1]),
        load3(x, 3 * points[h, 0]) - load3(x, 3 * points[h, 1]),
    )
    length = larger(root(dx * dx + dy * dy + dz * dz), 1e-12 * rest_length)
    stretch = length - rest_length
    t = k * stretch * (1.0 / length)
    return t, 0.5 * k * stretch * stretch


@kernel
def stretch_force(i, here, x, edges, tension):
    """Force on vertex i [N] as lanes; `here` is row i of x."""
    total = spread(0.0)
    for q in range(np.uint64(edges.vertex_start[i]), np.uint64(edges.vertex_start[i + 1])):
        total = total + tension[edges.vertex_edge[q]] * (load3(x, 3 * edges.vertex_other[q]) - here)
    return total
