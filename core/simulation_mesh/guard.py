"""Guard against crossings: changes are refused whose faces would cross others near them.

Faces are in lists by the cells of a grid that hold the middles of their boxes; the lists follow each change. Without
cells nothing is guarded.
"""

from math import floor

from ..contact.crossings import ROUNDING, pierces
from ..jit import lean_inline_kernel, lean_kernel

#: Positions are within one length of the middle.
NOISE = ROUNDING


@lean_kernel
def list_faces_by_cells(m):
    """Put all faces into the lists of their cells, which are as wide as the largest face."""
    if m.cell_first.shape[0] == 0:
        return
    reach = 1e-12
    for face in range(m.counts[1]):
        if m.origin[3 * face] >= 0:
            reach = max(reach, half_width(m, face))
    m.reach[0], m.reach[1] = reach, 2.0 * reach
    for cell in range(m.cell_first.shape[0]):
        m.cell_first[cell] = -1
    for face in range(m.counts[1]):
        m.cell[face] = -1
        if m.origin[3 * face] >= 0:
            enter(m, face)


@lean_kernel
def half_width(m, face):
    """Half of the longest side of a face's box."""
    a, b, c = m.origin[3 * face], m.origin[3 * face + 1], m.origin[3 * face + 2]
    widest = 0.0
    for k in range(3):
        low, high = min(m.x[a, k], m.x[b, k], m.x[c, k]), max(m.x[a, k], m.x[b, k], m.x[c, k])
        widest = max(widest, 0.5 * (high - low))
    return widest


@lean_inline_kernel
def cell_number(m, i, j, k):
    """Number of a cell; several cells may share one."""
    return ((i * 73856093) ^ (j * 19349663) ^ (k * 83492791)) & (m.cell_first.shape[0] - 1)


@lean_kernel
def enter(m, face):
    """Put a face, new or changed, into the list of its cell; dead ones into none."""
    if m.cell_first.shape[0] == 0:
        return
    if m.cell[face] >= 0:
        before, after = m.face_before[face], m.face_after[face]
        if before >= 0:
            m.face_after[before] = after
        else:
            m.cell_first[m.cell[face]] = after
        if after >= 0:
            m.face_before[after] = before
    m.cell[face] = -1
    a, b, c = m.origin[3 * face], m.origin[3 * face + 1], m.origin[3 * face + 2]
    if a < 0:
        return
    m.reach[0] = max(m.reach[0], half_width(m, face))
    place = cell_number(m, middle(m, a, b, c, 0), middle(m, a, b, c, 1), middle(m, a, b, c, 2))
    first = m.cell_first[place]
    m.cell[face], m.cell_first[place], m.face_before[face], m.face_after[face] = place, face, -1, first
    if first >= 0:
        m.face_before[first] = face


@lean_kernel
def middle(m, a, b, c, k):
    """Along one axis, the cell with the middle of a triangle's box."""
    low, high = min(m.x[a, k], m.x[b, k], m.x[c, k]), max(m.x[a, k], m.x[b, k], m.x[c, k])
    return floor(0.5 * (low + high) / m.reach[1])


@lean_kernel
def would_cross(m, s, n, face_count):
    """Whether one of the `n` new faces crosses another, or a face that is not among the `face_count` old ones."""
    if m.cell_first.shape[0] == 0:
        return False
    for i in range(n):
        for j in range(i):
            if cross_each_other(m, s.corners[i], s.corners[j]):
                return True
    first, last = (0, 0, 0), (0, 0, 0)
    low, high = box_of(m, s, n)
    reach, size = m.reach[0], m.reach[1]
    first = (
        floor((low[0] - reach) / size),
        floor((low[1] - reach) / size),
        floor((low[2] - reach) / size),
    )
    last = (
        floor((high[0] + reach) / size),
        floor((high[1] + reach) / size),
        floor((high[2] + reach) / size),
    )
    for i in range(first[0], last[0] + 1):
        for j in range(first[1], last[1] + 1):
            for k in range(first[2], last[2] + 1):
                face = m.cell_first[cell_number(m, i, j, k)]
                while face >= 0:
                    if meets_box(m, face, low, high) and crosses_one(m, s, n, face_count, face):
                        return True
                    face = m.face_after[face]
    return False


@lean_kernel
def box_of(m, s, n):
    """Lower and upper corner of the box around the new faces."""
    low, high = (1e30, 1e30, 1e30), (-1e30, -1e30, -1e30)
    for i in range(n):
        for corner in range(3):
            v = s.corners[i, corner]
            p, q, r = m.x[v, 0], m.x[v, 1], m.x[v, 2]
            low = (min(low[0], p), min(low[1], q), min(low[2], r))
            high = (max(high[0], p), max(high[1], q), max(high[2], r))
    return low, high


@lean_kernel
def meets_box(m, face, low, high):
    """Whether the box of a face meets another one."""
    a, b, c = m.origin[3 * face], m.origin[3 * face + 1], m.origin[3 * face + 2]
    for k in range(3):
        if min(m.x[a, k], m.x[b, k], m.x[c, k]) > high[k] or max(m.x[a, k], m.x[b, k], m.x[c, k]) < low[k]:
            return False
    return True


@lean_kernel
def crosses_one(m, s, n, face_count, face):
    """Whether a face that is not among the old ones crosses one of the new ones."""
    for i in range(face_count):
        if s.faces[i] == face:
            return False
    corners = m.origin[3 * face : 3 * face + 3]
    for i in range(n):
        if cross_each_other(m, s.corners[i], corners):
            return True
    return False


@lean_kernel
def cross_each_other(m, p, q):
    """Whether an edge of one triangle pierces the other, with which it shares no corner."""
    for k in range(3):
        if min(m.x[p[0], k], m.x[p[1], k], m.x[p[2], k]) > max(m.x[q[0], k], m.x[q[1], k], m.x[q[2], k]) or min(
            m.x[q[0], k], m.x[q[1], k], m.x[q[2], k]
        ) > max(m.x[p[0], k], m.x[p[1], k], m.x[p[2], k]):
            return False
    return has_edge_through(m, p, q) or has_edge_through(m, q, p)


@lean_kernel
def has_edge_through(m, p, q):
    """Whether an edge of the triangle p pierces the triangle q, with which it shares no corner."""
    for k in range(3):
        a, b = p[k], p[(k + 1) % 3]
        if a in (q[0], q[1], q[2]) or b in (q[0], q[1], q[2]):
            continue
        if pierces(m.x, a, b, q[0], q[1], q[2], NOISE):
            return True
    return False
