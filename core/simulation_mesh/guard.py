"""Guard against crossings: changes are refused whose faces would cross others near them.

Faces are in lists by the cells of grids that hold the middles of their boxes, large faces in grids of wider cells; the
lists follow each change. Without cells nothing is guarded.
"""

from math import floor

from ..contact.crossings import ROUNDING, pierces
from ..jit import lean_kernel


@lean_kernel
def list_faces_by_cells(m):
    """Put all faces into the lists of their cells; those of the finest grid are twice as wide as the mean face."""
    if m.cell_first.shape[0] == 0:
        return
    total, n = 0.0, 0
    for face in range(m.counts[1]):
        if m.origin[3 * face] >= 0:
            low, high = face_box(m, face)
            total += widest(low, high)
            n += 1
    m.grids[0], m.grids[1] = max(2.0 * total / n, 1e-9), 0.0
    m.cell_first[:] = -1
    m.cell[:] = -1
    for face in range(m.counts[1]):
        enter(m, face)


@lean_kernel
def widest(low, high):
    """Longest side of a box."""
    return max(high[0] - low[0], high[1] - low[1], high[2] - low[2])


@lean_kernel
def face_box(m, face):
    """Lower and upper corner of the box around a face."""
    return corner_box(m, m.origin[3 * face], m.origin[3 * face + 1], m.origin[3 * face + 2])


@lean_kernel
def corner_box(m, a, b, c):
    """Lower and upper corner of the box around three vertices."""
    x = m.x
    low = min(x[a, 0], x[b, 0], x[c, 0]), min(x[a, 1], x[b, 1], x[c, 1]), min(x[a, 2], x[b, 2], x[c, 2])
    high = max(x[a, 0], x[b, 0], x[c, 0]), max(x[a, 1], x[b, 1], x[c, 1]), max(x[a, 2], x[b, 2], x[c, 2])
    return low, high


@lean_kernel
def meet(low, high, other_low, other_high):
    """Whether two boxes meet."""
    return (
        low[0] <= other_high[0] and low[1] <= other_high[1] and low[2] <= other_high[2]
        and high[0] >= other_low[0] and high[1] >= other_low[1] and high[2] >= other_low[2]
    )  # fmt: skip


@lean_kernel
def list_of(m, i, j, k, grid):
    """The list of a cell; several cells may share one."""
    return ((i * 73856093) ^ (j * 19349663) ^ (k * 83492791) ^ (grid * 50331653)) & (m.cell_first.shape[0] - 1)


@lean_kernel
def enter(m, face):
    """Put a face, which is new or changed, into the list of its cell; a dead one into none."""
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
    if m.origin[3 * face] < 0:
        return
    low, high = face_box(m, face)
    size, grid = m.grids[0], 0
    while size < widest(low, high):
        size, grid = 2.0 * size, grid + 1
    m.grids[1] = max(m.grids[1], grid)
    i, j, k = (
        floor(0.5 * (low[0] + high[0]) / size),
        floor(0.5 * (low[1] + high[1]) / size),
        floor(0.5 * (low[2] + high[2]) / size),
    )
    cell = list_of(m, i, j, k, grid)
    first = m.cell_first[cell]
    m.cell[face], m.cell_first[cell], m.face_before[face], m.face_after[face] = cell, face, -1, first
    if first >= 0:
        m.face_before[first] = face


@lean_kernel
def would_cross(m, s, n, face_count):
    """Whether one of the `n` new faces, `s.corners`, crosses another, or a face that is not among the old `s.faces`."""
    if m.cell_first.shape[0] == 0:
        return False
    low, high = (1e30, 1e30, 1e30), (-1e30, -1e30, -1e30)
    for i in range(n):
        for j in range(i):
            if cross_each_other(m, s.corners[i], s.corners[j]):
                return True
        a, b = corner_box(m, s.corners[i, 0], s.corners[i, 1], s.corners[i, 2])
        low = min(low[0], a[0]), min(low[1], a[1]), min(low[2], a[2])
        high = max(high[0], b[0]), max(high[1], b[1]), max(high[2], b[2])
    size = m.grids[0]
    for grid in range(int(m.grids[1]) + 1):
        for i in range(floor(low[0] / size - 0.5), floor(high[0] / size + 0.5) + 1):
            for j in range(floor(low[1] / size - 0.5), floor(high[1] / size + 0.5) + 1):
                for k in range(floor(low[2] / size - 0.5), floor(high[2] / size + 0.5) + 1):
                    face = m.cell_first[list_of(m, i, j, k, grid)]
                    while face >= 0:
                        a, b = face_box(m, face)
                        if meet(a, b, low, high) and crosses_new(m, s, n, face_count, face):
                            return True
                        face = m.face_after[face]
        size *= 2.0
    return False


@lean_kernel
def crosses_new(m, s, n, face_count, face):
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
    low, high = corner_box(m, p[0], p[1], p[2])
    other_low, other_high = corner_box(m, q[0], q[1], q[2])
    return meet(low, high, other_low, other_high) and (has_edge_through(m, p, q) or has_edge_through(m, q, p))


@lean_kernel
def has_edge_through(m, p, q):
    """Whether an edge of the triangle p pierces the triangle q, with which it shares no corner."""
    for k in range(3):
        a, b = p[k], p[(k + 1) % 3]
        is_apart = a != q[0] and a != q[1] and a != q[2] and b != q[0] and b != q[1] and b != q[2]
        if is_apart and pierces(m.x, a, b, q[0], q[1], q[2], ROUNDING):  # positions are within 1 of the middle
            return True
    return False
