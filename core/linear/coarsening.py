"""Smoothed aggregation: from one level of a multigrid hierarchy to the next coarser one.

A level is a symmetric matrix `diag(diagonal) - coupling` over n unknowns in CSR without its diagonal
(`start`, `other`, `coupling`; coupling = minus the off-diagonal entry, mostly positive). Unknowns are grouped
into aggregates around a root; each aggregate becomes one unknown of the coarser level, interpolated by
`P = (I - w D^-1 A_F) T`, T the indicator of the aggregates, A_F the matrix without its weak couplings
(lumped into the diagonal), and the coarser matrix is `P^T A P`.
Source: Vanek, Mandel, Brezina 1996, "Algebraic multigrid by smoothed aggregation".

All of it is serial, float64, linear in the number of couplings, and runs once per model.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

#: A coupling is strong for a row if it reaches this share of the row's largest. Small enough that a mesh with
#: triangles of uneven shape still has six strong neighbours, large enough to see a stiff patch in a soft skin.
STRONG_SHARE = 0.1
#: Damping of the one Jacobi step that smooths the interpolation. Below 1 the weights of P stay >= 0.
INTERPOLATION_DAMPING = 0.7
#: An unknown whose diagonal exceeds the sum of its couplings this many times needs no coarse correction.
DOMINANT_RATIO = 5.0


class Matrix(NamedTuple):
    """One level: `diag(diagonal) - coupling` [N/m], CSR without the diagonal."""

    start: IntArray  # shape (n + 1,)
    other: IntArray  # shape (m,)
    coupling: FloatArray  # [N/m], shape (m,)
    diagonal: FloatArray  # [N/m], shape (n,)


class Transfer(NamedTuple):
    """Sparse rectangular matrix in CSR: interpolation P (rows fine) or restriction P^T (rows coarse)."""

    start: IntArray
    other: IntArray
    weight: FloatArray


def remove_pinned(
    start: IntArray, other: IntArray, weight: FloatArray, diagonal: FloatArray, pinned: NDArray[np.bool_]
) -> Matrix:
    """Matrix of the finest level: springs to pinned vertices act on the diagonal only; pinned rows are empty."""
    count = diagonal.shape[0]
    row_start = np.zeros(count + 1, np.int32)
    row_other = np.empty(other.shape[0], np.int32)
    row_coupling = np.empty(other.shape[0])
    row_diagonal = np.zeros(count)
    filled = _remove_pinned(start, other, weight, diagonal, pinned, row_start, row_other, row_coupling, row_diagonal)
    return Matrix(row_start, row_other[:filled].copy(), row_coupling[:filled].copy(), row_diagonal)


@kernel
def _remove_pinned(start, other, weight, diagonal, pinned, row_start, row_other, row_coupling, row_diagonal):
    filled = 0
    for i in range(diagonal.shape[0]):
        if not pinned[i]:
            total = diagonal[i]
            for q in range(start[i], start[i + 1]):
                total += weight[q]
                if not pinned[other[q]] and weight[q] != 0.0:
                    row_other[filled] = other[q]
                    row_coupling[filled] = weight[q]
                    filled += 1
            row_diagonal[i] = total
        row_start[i + 1] = filled
    return filled


def components(matrix: Matrix, excluded: NDArray[np.bool_]) -> tuple[IntArray, int]:
    """Connected component of each unknown, numbered by first member (-1 where excluded), and their number."""
    component = np.full(matrix.diagonal.shape[0], -1, np.int32)
    count = _components(matrix.start, matrix.other, excluded, np.empty_like(component), component)
    return component, int(count)


@kernel
def _components(start, other, excluded, stack, component):
    count = 0
    for first in range(start.shape[0] - 1):
        if excluded[first] or component[first] >= 0:
            continue
        component[first] = count
        stack[0] = first
        height = 1
        while height > 0:
            height -= 1
            i = stack[height]
            for q in range(start[i], start[i + 1]):
                j = other[q]
                if component[j] < 0:
                    component[j] = count
                    stack[height] = j
                    height += 1
        count += 1
    return count


def aggregate(matrix: Matrix, component: IntArray, component_count: int) -> tuple[IntArray, IntArray]:
    """Group the unknowns: (aggregate of each unknown or -1, component of each aggregate).

    Unknowns that smoothing alone solves (no neighbours, or mass far above stiffness) join none.

    Aggregates are numbered component by component and within one along the unknowns, so that neighbours stay
    close in memory and each component is one run of the coarser level.
    """
    count = matrix.diagonal.shape[0]
    largest = np.zeros(count)
    root_of = np.full(count, -1, np.int32)
    wanted = component >= 0
    _choose_roots(*matrix, wanted, largest, root_of)
    roots = np.flatnonzero(root_of == np.arange(count, dtype=np.int32))
    roots = roots[np.argsort(component[roots], kind="stable")]
    number = np.full(count, -1, np.int32)
    number[roots] = np.arange(roots.shape[0], dtype=np.int32)
    aggregate_of = np.where(root_of >= 0, number[root_of], np.int32(-1)).astype(np.int32)
    return aggregate_of, component[roots]


@kernel
def _choose_roots(start, other, coupling, diagonal, wanted, largest, root_of):
    n = start.shape[0] - 1
    for i in range(n):
        total = 0.0
        for q in range(start[i], start[i + 1]):
            largest[i] = max(largest[i], coupling[q])
            total += abs(coupling[q])
        if largest[i] <= 0.0 or diagonal[i] > DOMINANT_RATIO * total:
            wanted[i] = False
    # 1. A root takes all neighbours to which it is strongly tied both ways, if all of them are free.
    for i in range(n):
        if not wanted[i] or root_of[i] >= 0:
            continue
        free = True
        tied = 0
        for q in range(start[i], start[i + 1]):
            j = other[q]
            if wanted[j] and coupling[q] > STRONG_SHARE * max(largest[i], largest[j]):
                tied += 1
                if root_of[j] >= 0:
                    free = False
                    break
        if not free or tied == 0:
            continue
        root_of[i] = i
        for q in range(start[i], start[i + 1]):
            j = other[q]
            if wanted[j] and coupling[q] > STRONG_SHARE * max(largest[i], largest[j]):
                root_of[j] = i
    # 2. The rest joins the aggregate of its stiffest neighbour that has one (-2 - root: joined in this pass).
    for i in range(n):
        if not wanted[i] or root_of[i] != -1:
            continue
        best = 0.0
        for q in range(start[i], start[i + 1]):
            j = other[q]
            if root_of[j] >= 0 and coupling[q] > best and coupling[q] > STRONG_SHARE * largest[i]:
                best = coupling[q]
                root_of[i] = -2 - root_of[j]
    for i in range(n):
        if root_of[i] < -1:
            root_of[i] = -2 - root_of[i]
    # 3. What is left groups among itself.
    for i in range(n):
        if not wanted[i] or root_of[i] >= 0:
            continue
        root_of[i] = i
        for q in range(start[i], start[i + 1]):
            j = other[q]
            if wanted[j] and root_of[j] < 0 and coupling[q] > STRONG_SHARE * max(largest[i], largest[j]):
                root_of[j] = i


def interpolation(matrix: Matrix, aggregate_of: IntArray) -> Transfer:
    """P = (I - w D^-1 A_F) T, all weights >= 0, rows of excluded unknowns empty."""
    count = matrix.diagonal.shape[0]
    capacity = matrix.other.shape[0] + count
    start = np.zeros(count + 1, np.int32)
    other = np.empty(capacity, np.int32)
    weight = np.empty(capacity)
    filled = _interpolation(
        matrix.start, matrix.other, matrix.coupling, matrix.diagonal, aggregate_of, start, other, weight
    )
    return Transfer(start, other[:filled].copy(), weight[:filled].copy())


@kernel
def _interpolation(start, other, coupling, diagonal, aggregate_of, p_start, p_other, p_weight):
    filled = 0
    for i in range(diagonal.shape[0]):
        if aggregate_of[i] >= 0:
            largest = 0.0
            for q in range(start[i], start[i + 1]):
                largest = max(largest, coupling[q])
            filtered = diagonal[i]
            for q in range(start[i], start[i + 1]):
                if coupling[q] <= STRONG_SHARE * largest:
                    filtered -= coupling[q]
            first = filled
            p_other[filled] = aggregate_of[i]
            p_weight[filled] = 1.0 - INTERPOLATION_DAMPING
            filled += 1
            for q in range(start[i], start[i + 1]):
                if coupling[q] > STRONG_SHARE * largest:
                    a = aggregate_of[other[q]]
                    if a < 0:
                        continue
                    share = INTERPOLATION_DAMPING * coupling[q] / filtered
                    for k in range(first, filled):
                        if p_other[k] == a:
                            p_weight[k] += share
                            break
                    else:
                        p_other[filled] = a
                        p_weight[filled] = share
                        filled += 1
            if filled == first + 1:
                p_weight[first] = 1.0  # a row of its own: interpolate exactly
        p_start[i + 1] = filled
    return filled


def transpose(transfer: Transfer, column_count: int) -> Transfer:
    """P^T with columns in ascending order."""
    start = np.zeros(column_count + 1, np.int32)
    other = np.empty_like(transfer.other)
    weight = np.empty_like(transfer.weight)
    _transpose(transfer.start, transfer.other, transfer.weight, np.zeros(column_count, np.int32), start, other, weight)
    return Transfer(start, other, weight)


@kernel
def _transpose(start, other, weight, cursor, t_start, t_other, t_weight):
    for q in range(other.shape[0]):
        t_start[other[q] + 1] += 1
    for c in range(cursor.shape[0]):
        t_start[c + 1] += t_start[c]
        cursor[c] = t_start[c]
    for i in range(start.shape[0] - 1):
        for q in range(start[i], start[i + 1]):
            c = other[q]
            t_other[cursor[c]] = i
            t_weight[cursor[c]] = weight[q]
            cursor[c] += 1


def coarse_matrix(matrix: Matrix, p: Transfer, restriction: Transfer) -> Matrix:
    """P^T A P."""
    count = restriction.start.shape[0] - 1
    start = np.zeros(count + 1, np.int32)
    diagonal = np.zeros(count)
    place = np.full(count, -1, np.int32)
    nothing_i, nothing_f = np.empty(0, np.int32), np.empty(0)
    arguments = (*matrix, *p, *restriction, place, start)
    total = _coarse_matrix(*arguments, nothing_i, nothing_f, diagonal, False)
    other = np.empty(total, np.int32)
    coupling = np.empty(total)
    place[:] = -1
    diagonal[:] = 0.0
    _coarse_matrix(*arguments, other, coupling, diagonal, True)
    return Matrix(start, other, coupling, diagonal)


@kernel
def _coarse_matrix(
    start, other, coupling, diagonal, p_start, p_other, p_weight, r_start, r_other, r_weight,
    place, c_start, c_other, c_coupling, c_diagonal, fill,
):  # fmt: skip
    # `place[c]`: where the running row keeps column c, valid if not before the row's first entry
    filled = 0
    for row in range(c_diagonal.shape[0]):
        first = filled
        for r in range(r_start[row], r_start[row + 1]):
            i = r_other[r]
            for q in range(start[i] - 1, start[i + 1]):
                if q < start[i]:
                    j = i
                    entry = diagonal[i] * r_weight[r]
                else:
                    j = other[q]
                    entry = -coupling[q] * r_weight[r]
                for s in range(p_start[j], p_start[j + 1]):
                    c = p_other[s]
                    if c == row:
                        c_diagonal[row] += entry * p_weight[s]
                        continue
                    if place[c] < first:
                        place[c] = filled
                        if fill:
                            c_other[filled] = c
                            c_coupling[filled] = 0.0
                        filled += 1
                    if fill:
                        c_coupling[place[c]] -= entry * p_weight[s]
        c_start[row + 1] = filled
    return filled


def split_rows(matrix: Matrix, chunk_start: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Sort each row into the parts before, outside, after (see `cycle`): (part_start, other, coupling)."""
    count = matrix.diagonal.shape[0]
    part_start = np.zeros(3 * count + 1, np.int32)
    other = np.empty_like(matrix.other)
    coupling = np.empty_like(matrix.coupling)
    _split_rows(matrix.start, matrix.other, matrix.coupling, chunk_start, part_start, other, coupling)
    return part_start, other, coupling


@kernel
def _split_rows(start, other, coupling, chunk_start, part_start, part_other, part_coupling):
    filled = 0
    for c in range(chunk_start.shape[0] - 1):
        for i in range(chunk_start[c], chunk_start[c + 1]):
            for part in range(3):
                for q in range(start[i], start[i + 1]):
                    j = other[q]
                    if j < chunk_start[c] or j >= chunk_start[c + 1]:
                        where = 1
                    else:
                        where = 0 if j < i else 2
                    if where == part:
                        part_other[filled] = j
                        part_coupling[filled] = coupling[q]
                        filled += 1
                part_start[3 * i + part + 1] = filled


@kernel
def fill_blocks(start, other, coupling, diagonal, block_start, block_offset, block_matrix):
    """Write a matrix whose components are runs of rows as one dense block per component."""
    for b in range(block_start.shape[0] - 1):
        first = block_start[b]
        size = block_start[b + 1] - first
        for i in range(first, block_start[b + 1]):
            row = block_offset[b] + (i - first) * size - first
            block_matrix[row + i] = diagonal[i]
            for q in range(start[i], start[i + 1]):
                block_matrix[row + other[q]] = -coupling[q]
