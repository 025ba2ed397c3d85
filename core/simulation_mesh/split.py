"""Split long edges at their middle."""

from ..jit import lean_kernel
from .samples import share_out
from .surface import MOST_EDGES, edge_length, following, join, preceding, set_face


@lean_kernel
def split_edges(m, samples, s, first, last, longest):
    """Split the edges of half-edges first .. last - 1 that are longer than `longest`."""
    for h in range(first, last):
        if m.origin[h] >= 0 and h < m.twin[h] and edge_length(m, h) > longest:
            split(m, samples, s, h)


@lean_kernel
def split(m, samples, s, h):
    """Split one edge, unless there is no room or a vertex would get too many edges."""
    t = m.twin[h]
    a, b, c, d = m.origin[h], m.origin[t], m.origin[preceding(h)], m.origin[preceding(t)]
    if m.counts[1] + 2 > m.first_sample.shape[0] or m.counts[0] + 1 > m.x.shape[0]:
        return
    if m.valence[c] >= MOST_EDGES or m.valence[d] >= MOST_EDGES:
        return
    v, f0, f1, f2, f3 = m.counts[0], h // 3, t // 3, m.counts[1], m.counts[1] + 1
    m.counts[0] += 1
    m.counts[1] += 2
    m.counts[2] += 1
    n0, n1, n2, n3 = m.twin[following(h)], m.twin[preceding(h)], m.twin[following(t)], m.twin[preceding(t)]
    s0, s1, s2, s3 = m.sharp[following(h)], m.sharp[preceding(h)], m.sharp[following(t)], m.sharp[preceding(t)]
    sharp = m.sharp[h]
    for k in range(3):
        m.x[v, k] = 0.5 * (m.x[a, k] + m.x[b, k])
    m.line[v] = max(m.line[a], m.line[b]) if sharp else -1
    set_face(m, f0, a, v, c)
    set_face(m, f1, v, a, d)
    set_face(m, f2, v, b, c)
    set_face(m, f3, b, v, d)
    join(m, 3 * f0, 3 * f1, sharp)
    join(m, 3 * f2, 3 * f3, sharp)
    join(m, 3 * f0 + 1, 3 * f2 + 2, False)
    join(m, 3 * f1 + 2, 3 * f3 + 1, False)
    join(m, 3 * f2 + 1, n0, s0)
    join(m, 3 * f0 + 2, n1, s1)
    join(m, 3 * f1 + 1, n2, s2)
    join(m, 3 * f3 + 2, n3, s3)
    m.outgoing[v], m.outgoing[a], m.outgoing[b] = 3 * f2, 3 * f0, 3 * f3
    m.outgoing[c], m.outgoing[d] = 3 * f0 + 2, 3 * f1 + 2
    m.valence[v] = 4
    m.valence[c] += 1
    m.valence[d] += 1
    m.first_sample[f2] = m.first_sample[f3] = -1
    s.faces[0], s.faces[1], s.faces[2], s.faces[3] = f0, f1, f2, f3
    share_out(m, samples, s, 4)
