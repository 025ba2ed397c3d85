"""Collapse short edges: one end moves into the other, or both into the middle."""

from ..jit import lean_kernel
from .flip import MOST_TURN
from .guard import enter, list_faces_by_cells, would_cross
from .samples import CLOSE, FAR, TOLERANCE, commit, gather, hand_over
from .surface import (
    LARGEST_RING,
    dot_rows,
    edge_length,
    following,
    join,
    preceding,
    ring_of,
    set_face,
    set_normal,
    sharp_edge_count,
)

#: Edges shorter than this share of the wanted length must go, by looser rules: one of them sets the step of the body.
MUST = 0.45
#: The same; what stays of these may cost more of the drawn shape.
STUCK = 0.25
#: Least quality of a triangle that a collapse makes, unless there was one nearly as bad before.
FLOOR = 0.25
#: Most edges of a vertex after a collapse.
MOST_AFTER = 10
#: A collapse makes no edge longer than this many wanted lengths, which would be split again.
LONGEST = 1.34
#: Least cosine between a normal before and after where an edge must go: 78 degrees.
MUST_TURN = 0.2


@lean_kernel
def collapse_edges(m, samples, s, first, last, shortest, is_lax):
    """Collapse the edges of half-edges first .. last - 1 that are shorter than `shortest`, or at a vertex of three.

    is_lax: edges that are stuck may go at the cost of small parts.
    """
    list_faces_by_cells(m)
    for h in range(first, last):
        if m.origin[h] < 0 or h > m.twin[h]:
            continue
        a, b = m.origin[h], m.origin[following(h)]
        if m.valence[a] + m.valence[b] > LARGEST_RING:
            continue
        if edge_length(m, h) < shortest or min(m.valence[a], m.valence[b]) == 3:
            ka, kb = sharp_edge_count(m, a), sharp_edge_count(m, b)
            if ka > 0 and (kb == 0 or (ka != 2 and kb == 2)):  # the sharper end stays
                if kb == 0 or m.sharp[h]:
                    collapse(m, samples, s, m.twin[h], kb, ka, is_lax)
            else:
                collapse(m, samples, s, h, ka, kb, is_lax)


@lean_kernel
def is_allowed(m, s, h, ka, kb, long, is_must):
    """Whether an edge may be collapsed as far as connections go: valences, sharp lines and the link condition.

    The vertices next to both ends must be the two apexes alone (Dey et al. 1999). Sets both rings.
    """
    a, b, t = m.origin[h], m.origin[following(h)], m.twin[h]
    c, d = m.origin[preceding(h)], m.origin[preceding(t)]
    if c == d:
        return False
    if is_must and (
        (m.valence[c] == 4 and sharp_edge_count(m, c) > 0) or (m.valence[d] == 4 and sharp_edge_count(m, d) > 0)
    ):
        return False
    after = m.valence[a] + m.valence[b] - 4
    if min(m.valence[c] - 1, m.valence[d] - 1, after) < (3 if is_must else 4) or after > MOST_AFTER:
        return False
    if ka > 0 and not (m.sharp[h] and ka == 2) and long > 0.5 * m.edge_length[0]:
        return False
    na, nb = ring_of(m, a, s.ring_a), ring_of(m, b, s.ring_b)
    common = 0
    for i in range(na):
        for j in range(nb):
            common += m.origin[following(s.ring_a[i])] == m.origin[following(s.ring_b[j])]
    return common == 2


@lean_kernel
def list_faces(m, s, h, na, nb):
    """The faces around an edge, first the two that vanish, what becomes of the others; their number, worst quality."""
    a, b = m.origin[h], m.origin[following(h)]
    s.faces[0], s.faces[1] = h // 3, m.twin[h] // 3
    n, worst = 0, 1.0
    for side in range(2):
        for i in range(na if side == 0 else nb):
            face = (s.ring_a[i] if side == 0 else s.ring_b[i]) // 3
            if face == s.faces[0] or face == s.faces[1]:
                continue
            i0, i1, i2 = m.origin[3 * face], m.origin[3 * face + 1], m.origin[3 * face + 2]
            worst = min(worst, set_normal(m.x, i0, i1, i2, s.old, n))
            s.corners[n, 0], s.corners[n, 1], s.corners[n, 2] = (
                b if i0 == a else i0,
                b if i1 == a else i1,
                b if i2 == a else i2,
            )
            s.faces[n + 2], s.targets[n] = face, face
            n += 1
    return n, worst


@lean_kernel
def is_good(m, s, h, na, nb, n, worst, least_cosine, has_short):
    """Whether the new faces are well shaped and turned by little, and no edge gets long; `s.normals` are set."""
    a, b = m.origin[h], m.origin[following(h)]
    for i in range(n):
        quality = set_normal(m.x, s.corners[i, 0], s.corners[i, 1], s.corners[i, 2], s.normals, i)
        if quality < min(FLOOR, 0.9 * worst):
            return False
        if worst > 1e-3 and dot_rows(s.normals, i, s.old, i) < least_cosine:
            return False
    if has_short:
        return True
    for side in range(2):
        for i in range(na if side == 0 else nb):
            o = m.origin[following(s.ring_a[i] if side == 0 else s.ring_b[i])]
            if o in (a, b):
                continue
            d = (m.x[o, 0] - m.x[b, 0]) ** 2 + (m.x[o, 1] - m.x[b, 1]) ** 2 + (m.x[o, 2] - m.x[b, 2]) ** 2
            if d > (LONGEST * m.edge_length[0]) ** 2:
                return False
    return True


@lean_kernel
def collapse(m, samples, s, h, ka, kb, is_lax):
    """Collapse one edge, start into end, where connections, shapes and samples allow it.

    ka, kb: sharp edges at its start and end.
    """
    a, b, t = m.origin[h], m.origin[following(h)], m.twin[h]
    size, long = m.edge_length[0], edge_length(m, h)
    has_three = m.valence[a] == 3 or m.valence[b] == 3
    is_must = long < MUST * size or has_three
    if not is_allowed(m, s, h, ka, kb, long, is_must):
        return
    na, nb = m.valence[a], m.valence[b]
    n, worst = list_faces(m, s, h, na, nb)
    bound = CLOSE if is_must else TOLERANCE
    if has_three or (is_lax and long < STUCK * size):
        bound = FAR
    least_cosine = -1.0 if has_three else (MUST_TURN if is_must else MOST_TURN)
    ax, ay, az, bx, by, bz = m.x[a, 0], m.x[a, 1], m.x[a, 2], m.x[b, 0], m.x[b, 1], m.x[b, 2]
    for trial in range(3 if ka + kb == 0 else 1):
        w = 0.0 if ka + kb > 0 or trial == 1 else (0.5 if trial == 0 else 1.0)
        m.x[b, 0], m.x[b, 1], m.x[b, 2] = bx + w * (ax - bx), by + w * (ay - by), bz + w * (az - bz)
        if not is_good(m, s, h, na, nb, n, worst, least_cosine, is_must):
            continue
        gathered = gather(m, s, n + 2)
        if not hand_over(m, samples, s, gathered, n, bound) or would_cross(m, s, n, n + 2):
            continue
        remove(m, s, h, t, na)
        commit(m, samples, s, gathered, n + 2, s.targets)
        for i in range(n + 2):
            enter(m, s.faces[i])
        return
    m.x[b, 0], m.x[b, 1], m.x[b, 2] = bx, by, bz


@lean_kernel
def remove(m, s, h, t, na):
    """Remove the two faces of an edge and its start; the faces around the start get its end."""
    a, b = m.origin[h], m.origin[following(h)]
    c, d = m.origin[preceding(h)], m.origin[preceding(t)]
    n0, p0, n1, p1 = m.twin[following(h)], m.twin[preceding(h)], m.twin[following(t)], m.twin[preceding(t)]
    s0 = m.sharp[following(h)] or m.sharp[preceding(h)]
    s1 = m.sharp[following(t)] or m.sharp[preceding(t)]
    for i in range(na):
        m.origin[s.ring_a[i]] = b
    join(m, n0, p0, s0)  # from c to b, and back
    join(m, n1, p1, s1)  # from d to b, and back
    m.outgoing[c], m.outgoing[d], m.outgoing[b], m.outgoing[a] = n0, n1, p0, -1
    m.valence[b] += m.valence[a] - 4
    m.valence[c] -= 1
    m.valence[d] -= 1
    m.counts[2] -= 1
    if m.line[b] < 0:
        m.line[b] = m.line[a]
    set_face(m, h // 3, -1, -1, -1)
    set_face(m, t // 3, -1, -1, -1)
