"""Smoothed aggregation: from one level of a multigrid hierarchy to the next coarser one.

A level is a symmetric matrix `diag(diagonal) - coupling` over n unknowns in CSR without its diagonal
(`start`, `other`, `coupling`; coupling = minus the off-diagonal entry). Unknowns are grouped into aggregates of about
four by pairing twice along the stiffest couplings; each aggregate becomes one unknown of the coarser level,
interpolated by `P = (I - w D^-1 A_F) T`, T the indicator of the aggregates, A_F the matrix without its weak
couplings (lumped into the diagonal), and the coarser matrix is `P^T A P`.
Source: Vanek, Mandel, Brezina 1996, "Algebraic multigrid by smoothed aggregation".

All of it is serial, float64, linear in the number of couplings, and runs once per model.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

#: A coupling is strong for a row if it reaches this share of the row's largest.
STRONG_SHARE = 0.1
#: Damping of the one Jacobi step that smooths the interpolation. Below 1 the weights of P stay >= 0.
INTERPOLATION_DAMPING = 0.9
#: An unknown whose diagonal exceeds the sum of its couplings this many times needs no coarse correction.
DOMINANT_RATIO = 5.0
#: Interpolation weights below this share of their row's largest go to the others: fewer entries on all coarser levels.
TRUNCATION = 0.2


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


def slack(matrix: Matrix) -> FloatArray:
    """What brings each diagonal up to half the sum of its row's absolute entries [N/m].

    With it the spectrum of a Jacobi step ends at 2 for any symmetric positive matrix, not only for those without
    positive off-diagonals (Baker, Falgout, Kolev, Yang 2011, "l1 Jacobi").
    """
    owner = np.repeat(np.arange(len(matrix.diagonal)), np.diff(matrix.start))
    half = 0.5 * np.bincount(owner, np.abs(matrix.coupling), minlength=len(matrix.diagonal))
    return np.maximum(half - 0.5 * matrix.diagonal, 0.0)


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


def aggregate(matrix: Matrix, component: IntArray, component_count: int, rounds: int) -> tuple[IntArray, IntArray]:
    """Group the unknowns by `rounds` of pairing: (aggregate of each unknown or -1, component of each aggregate).

    Unknowns that smoothing alone solves (no neighbours, or mass far above stiffness) join none. Aggregates are
    numbered component by component and within one along the unknowns, so that neighbours stay close in memory and
    each component is one run of the coarser level.
    """
    excluded = component < 0
    _exclude_dominant(*matrix, excluded)
    aggregate_of = np.arange(matrix.diagonal.shape[0], dtype=np.int32)
    aggregate_of[excluded] = -1
    graph, graph_excluded = matrix, excluded
    for _ in range(rounds):
        pair_of = np.full(graph.diagonal.shape[0], -1, np.int32)
        count = int(_pair(graph.start, graph.other, graph.coupling, graph_excluded, pair_of))
        aggregate_of[aggregate_of >= 0] = pair_of[aggregate_of[aggregate_of >= 0]]
        indicator = Transfer(
            np.concatenate([[0], np.cumsum(pair_of >= 0)]).astype(np.int32),
            pair_of[pair_of >= 0],
            np.ones(int((pair_of >= 0).sum())),
        )
        graph = coarse_matrix(graph, indicator, transpose(indicator, count))
        graph_excluded = np.zeros(count, np.bool_)
    coarse_component = np.empty(count, np.int32)
    coarse_component[aggregate_of[aggregate_of >= 0]] = component[aggregate_of >= 0]
    order = np.argsort(coarse_component, kind="stable")
    number = np.empty(count, np.int32)
    number[order] = np.arange(count, dtype=np.int32)
    aggregate_of[aggregate_of >= 0] = number[aggregate_of[aggregate_of >= 0]]
    return aggregate_of, coarse_component[order]


@kernel
def _exclude_dominant(start, other, coupling, diagonal, excluded):
    for i in range(diagonal.shape[0]):
        total = 0.0
        for q in range(start[i], start[i + 1]):
            total += abs(coupling[q])
        if diagonal[i] >= DOMINANT_RATIO * total:
            excluded[i] = True


@kernel
def _pair(start, other, coupling, excluded, pair_of):
    """Pair each unknown with its stiffest free neighbour, in order; returns the number of pairs and single ones."""
    count = 0
    for i in range(pair_of.shape[0]):
        if excluded[i] or pair_of[i] >= 0:
            continue
        total = 0.0
        largest = 0.0
        stiffest = -1
        for q in range(start[i], start[i + 1]):
            if not excluded[other[q]] and coupling[q] > 0.0:
                total += coupling[q]
                if coupling[q] > largest:
                    largest = coupling[q]
                    stiffest = other[q]
        free = -1
        best = STRONG_SHARE * largest
        for q in range(start[i], start[i + 1]):
            j = other[q]
            if not excluded[j] and pair_of[j] < 0 and coupling[q] > best:
                best = coupling[q]
                free = j
        if free < 0 and largest > 0.5 * total and pair_of[stiffest] >= 0:
            pair_of[i] = pair_of[stiffest]  # hangs on one neighbour: moves with it
            continue
        pair_of[i] = count
        if free >= 0:
            pair_of[free] = count
        count += 1
    return count


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
            strong = 0.0
            for q in range(start[i], start[i + 1]):
                if coupling[q] <= STRONG_SHARE * largest:
                    filtered -= coupling[q]
                else:
                    strong += coupling[q]
            filtered = max(filtered, strong)  # a pinned neighbour's negative coupling could make it less
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
            before = 0.0
            after = 0.0
            heaviest = 0.0
            for k in range(first, filled):
                before += p_weight[k]
                heaviest = max(heaviest, p_weight[k])
            kept = first
            for k in range(first, filled):
                if k == first or p_weight[k] >= TRUNCATION * heaviest:
                    after += p_weight[k]
                    p_other[kept] = p_other[k]
                    p_weight[kept] = p_weight[k]
                    kept += 1
            filled = kept
            for k in range(first, filled):
                p_weight[k] *= before / after
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


def lump_positive(matrix: Matrix) -> Matrix:
    """Move positive off-diagonal entries to the diagonal, where they only stiffen: P^T A P has a few small ones.

    Row sums stay, so rigid motion costs what it did, and the matrix becomes diagonally dominant.
    """
    count = matrix.diagonal.shape[0]
    start = np.zeros(count + 1, np.int32)
    other = np.empty_like(matrix.other)
    coupling = np.empty_like(matrix.coupling)
    diagonal = matrix.diagonal.copy()
    filled = _lump_positive(matrix.start, matrix.other, matrix.coupling, start, other, coupling, diagonal)
    return Matrix(start, other[:filled].copy(), coupling[:filled].copy(), diagonal)


@kernel
def _lump_positive(start, other, coupling, new_start, new_other, new_coupling, new_diagonal):
    filled = 0
    for i in range(new_diagonal.shape[0]):
        for q in range(start[i], start[i + 1]):
            if coupling[q] > 0.0:
                new_other[filled] = other[q]
                new_coupling[filled] = coupling[q]
                filled += 1
            else:
                new_diagonal[i] -= coupling[q]
        new_start[i + 1] = filled
    return filled


@kernel
def fill_blocks(start, other, coupling, diagonal, block_start, block_offset, block_matrix):
    """Write the diagonal blocks of a matrix densely; couplings between blocks are left out."""
    for b in range(block_start.shape[0] - 1):
        first = block_start[b]
        size = block_start[b + 1] - first
        for i in range(first, block_start[b + 1]):
            row = block_offset[b] + (i - first) * size - first
            block_matrix[row + i] = diagonal[i]
            for q in range(start[i], start[i + 1]):
                if first <= other[q] < block_start[b + 1]:
                    block_matrix[row + other[q]] = -coupling[q]
