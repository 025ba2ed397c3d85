"""Springs on the edges of a skin (Martin 2009, 3.1.1; Mesit 2007, eq. 5).

    E = k/2 (l - L)^2,   force on either end along the edge: momentum and angular momentum stay

with k from `ModelBuilder` (Van Gelder 1998); t = k (1 - L / l) is the tension per length.
"""

import numpy as np

from ..jit import kernel
from ..simd import four, lane, larger, load3, load4, root, spread, store4, transposed


@kernel
def evaluate_stretch(x, edges, tension):
    """Tension per length of every edge [N/m], shape (edge_count,).

    Four edges at a time; the last four are filled up with the last edge.
    """
    count, length, k = edges.points.shape[0], edges.rest_length, edges.stiffness
    even = count // 4 * 4
    for e in range(0, even, 4):
        store4(tension, e, stretch_four(e, e + 1, e + 2, e + 3, load4(length, e), load4(k, e), x, edges.points))
    if even < count:
        f, g, h = min(even + 1, count - 1), min(even + 2, count - 1), count - 1
        t = stretch_four(
            even, f, g, h, four(length[even], length[f], length[g], length[h]), four(k[even], k[f], k[g], k[h]),
            x, edges.points,
        )  # fmt: skip
        for place in range(count - even):
            tension[even + place] = lane(t, place)


@kernel
def stretch_four(e, f, g, h, rest_length, k, x, points):
    """Tension per length of four edges, as lanes."""
    dx, dy, dz, _ = transposed(
        load3(x, 3 * points[e, 0]) - load3(x, 3 * points[e, 1]),
        load3(x, 3 * points[f, 0]) - load3(x, 3 * points[f, 1]),
        load3(x, 3 * points[g, 0]) - load3(x, 3 * points[g, 1]),
        load3(x, 3 * points[h, 0]) - load3(x, 3 * points[h, 1]),
    )
    length = larger(root(dx * dx + dy * dy + dz * dz), 1e-12 * rest_length)
    return k * (length - rest_length) * (1.0 / length)


@kernel
def stretch_force(i, here, x, edges, tension):
    """Force on vertex i [N] as lanes; `here` is row i of x."""
    total = spread(0.0)
    for q in range(np.uint64(edges.vertex_start[i]), np.uint64(edges.vertex_start[i + 1])):
        total = total + tension[edges.vertex_edge[q]] * (load3(x, 3 * edges.vertex_other[q]) - here)
    return total
