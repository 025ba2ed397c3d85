"""Flip edges towards six edges at each vertex."""

from ..jit import lean_inline_kernel, lean_kernel
from .guard import enter, list_faces_by_cells, would_cross
from .samples import TOLERANCE, commit, gather, hand_over
from .surface import MOST_EDGES, dot_rows, following, join, preceding, set_face, set_normal

#: Least quality of a triangle that a flip for valences may make, unless it was nearly as bad before.
FAIR = 0.5
#: A triangle of less quality is bad: any flip that makes it better is welcome.
BAD = 0.4
#: Least cosine between a normal before and after: 60 degrees.
MOST_TURN = 0.5


@lean_kernel
def flip_edges(m, samples, s, first, last):
    """Flip the edges of half-edges first .. last - 1 where that is better."""
    list_faces_by_cells(m)
    for h in range(first, last):
        if m.origin[h] >= 0 and h < m.twin[h] and not m.sharp[h]:
            flip(m, samples, s, h)


@lean_inline_kernel
def off_six(valence):
    """How far a vertex is from six edges."""
    return (valence - 6) * (valence - 6)


@lean_kernel
def flip(m, samples, s, h):
    """Flip one edge, where valences or the worse triangle get better and samples stay near."""
    t = m.twin[h]
    a, b, c, d = m.origin[h], m.origin[t], m.origin[preceding(h)], m.origin[preceding(t)]
    va, vb, vc, vd = m.valence[a], m.valence[b], m.valence[c], m.valence[d]
    if va <= 4 or vb <= 4 or c == d or vc >= MOST_EDGES or vd >= MOST_EDGES:
        return
    gain = off_six(va) + off_six(vb) + off_six(vc) + off_six(vd)
    gain -= off_six(va - 1) + off_six(vb - 1) + off_six(vc + 1) + off_six(vd + 1)
    before = min(set_normal(m.x, a, b, c, s.old, 0), set_normal(m.x, b, a, d, s.old, 1))
    after = min(set_normal(m.x, c, a, d, s.normals, 0), set_normal(m.x, d, b, c, s.normals, 1))
    for_valence = gain > 0 and (after > FAIR or after > 0.9 * before)
    for_shape = (gain == 0 and after > before + 0.05) or (before < BAD and after > before + 0.1)
    if not (for_valence or for_shape):
        return
    if before > 1e-3:
        for i in range(2):
            for j in range(2):
                if dot_rows(s.normals, i, s.old, j) < MOST_TURN:
                    return
    first = m.outgoing[c]
    g = first
    while True:  # the new edge may exist already
        if m.origin[following(g)] == d:
            return
        g = m.twin[preceding(g)]
        if g == first:
            break
    f0, f1 = h // 3, t // 3
    s.faces[0], s.faces[1] = f0, f1
    s.corners[0, 0], s.corners[0, 1], s.corners[0, 2] = c, a, d
    s.corners[1, 0], s.corners[1, 1], s.corners[1, 2] = d, b, c
    n = gather(m, s, 2)
    if not hand_over(m, samples, s, n, 2, TOLERANCE) or would_cross(m, s, 2, 2):
        return
    n0, n1, n2, n3 = m.twin[following(h)], m.twin[preceding(h)], m.twin[following(t)], m.twin[preceding(t)]
    s0, s1, s2, s3 = m.sharp[following(h)], m.sharp[preceding(h)], m.sharp[following(t)], m.sharp[preceding(t)]
    set_face(m, f0, c, a, d)
    set_face(m, f1, d, b, c)
    join(m, 3 * f0 + 2, 3 * f1 + 2, False)
    join(m, 3 * f0, n1, s1)
    join(m, 3 * f0 + 1, n2, s2)
    join(m, 3 * f1, n3, s3)
    join(m, 3 * f1 + 1, n0, s0)
    m.outgoing[c], m.outgoing[a], m.outgoing[d], m.outgoing[b] = 3 * f0, 3 * f0 + 1, 3 * f1, 3 * f1 + 1
    m.valence[a] -= 1
    m.valence[b] -= 1
    m.valence[c] += 1
    m.valence[d] += 1
    commit(m, samples, s, n, 2, s.faces)
    enter(m, f0)
    enter(m, f1)
