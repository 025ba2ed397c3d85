"""The multigrid V-cycle and its data: kernels only, callable from other kernels.

All levels lie in one set of flat arrays. Level l owns the rows `level_start[l] .. level_start[l + 1]`, and
columns are global rows, so one function serves every level. Smoothing is one damped Jacobi step before and one
after the coarse correction, which makes the cycle a symmetric operator; it is positive definite because the step
divides by at least half the sum of its row's absolute entries (`slack`), so it contracts in the energy norm. Each row
is a gather, so the result does not depend on threads or chunks.

Rows of a chunk are stored in order of their length: loops of equal length keep the branch predictor right, which
measures twice as fast on meshes of mixed valence. Storage is float32: the cycle is limited by memory traffic, and
conjugate gradients in float64 correct for it. Vectors are flat, and indices are multiplied by 3 and
unsigned (numba then omits the test for negative ones).
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ..jit import inline_kernel, kernel, parallel_kernel
from .row_sum import row_sum

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int32]
IndexArray = NDArray[np.uint32]

#: Damping of a Jacobi step. The spectrum of D^-1 A ends below 2, so anything below 1 contracts.
DAMPING = np.float32(0.9)
ONE, TWO = np.uint32(1), np.uint32(2)


class Rows(NamedTuple):
    """Sparse rows of all levels; entry p stands for row `row[p] / 3`, sorted by length inside each chunk."""

    row: IndexArray  # 3 * row, shape (row_count,)
    start: IndexArray  # shape (row_count + 1,)
    other: IndexArray  # 3 * column, shape (entry_count,)
    weight: SingleArray  # shape (entry_count,)


class Levels(NamedTuple):
    """A hierarchy: at least two levels, finest first (the coarsest may be empty); `row_count` is that of all levels."""

    level_start: IntArray  # first row of each level, shape (level_count + 1,)
    level_chunk: IntArray  # first chunk of each level, shape (level_count + 1,)
    chunk_start: IntArray  # first row of each chunk, shape (chunk_count + 1,)
    coupling: Rows  # minus the off-diagonal entries [N/m]
    interpolation: Rows  # columns are rows of the next level
    restriction: Rows  # columns are rows of the level before
    diagonal: FloatArray  # without extra [N/m], 0 = pinned, shape (row_count,)
    extra: FloatArray  # extra diagonal per axis that the next level feels [N/m], shape (row_count, 3)
    slack: SingleArray  # what the smoother adds to the diagonal so that it converges [N/m], shape (3 * row_count,)
    step: SingleArray  # DAMPING / (diagonal + extra + slack) [m/N], 0 = pinned, shape (3 * row_count,)
    # The coarsest level is solved exactly, one dense block per connected component
    block_start: IntArray  # first row of each block, shape (block_count + 1,)
    block_offset: IntArray  # start of each block in the two arrays below, shape (block_count + 1,)
    block_matrix: FloatArray  # without extra [N/m], row by row
    block_inverse: SingleArray  # [m/N] per axis, shape (3, block_matrix.size)
    block_extra: FloatArray  # what block_inverse was made with [N/m], shape (rows of the coarsest level, 3)
    # Scratch [N] and [m], shape (3 * row_count,)
    residual: SingleArray
    solution: SingleArray
    corrected: SingleArray


@kernel
def _load(first, last, source, residual, step, solution):
    """Take the residual over in single precision and make the first Jacobi step from zero."""
    given = source.reshape(-1)[3 * first : 3 * last]
    r, d, s = residual[3 * first : 3 * last], step[3 * first : 3 * last], solution[3 * first : 3 * last]
    for k in range(given.shape[0]):
        r[k] = given[k]
        s[k] = d[k] * r[k]


@kernel
def _remainder(first, last, row, start, other, weight, slack, residual, solution, remainder):
    """Residual after the first step: what it left of its own row, and its effect through the couplings."""
    keep = np.float32(1.0) - DAMPING
    for p in range(first, last):
        x, y, z = row_sum(start[p], start[p + 1], other, weight, solution)
        i = row[p]
        remainder[i] = keep * residual[i] + slack[i] * solution[i] + x
        remainder[i + ONE] = keep * residual[i + ONE] + slack[i + ONE] * solution[i + ONE] + y
        remainder[i + TWO] = keep * residual[i + TWO] + slack[i + TWO] * solution[i + TWO] + z


@kernel
def _restrict(first, last, row, start, other, weight, remainder, residual, step, solution):
    """Residual of the coarser level, and the first Jacobi step there."""
    for p in range(first, last):
        x, y, z = row_sum(start[p], start[p + 1], other, weight, remainder)
        i = row[p]
        residual[i] = x
        residual[i + ONE] = y
        residual[i + TWO] = z
        solution[i] = step[i] * x
        solution[i + ONE] = step[i + ONE] * y
        solution[i + TWO] = step[i + TWO] * z


@kernel
def _correct(first, last, row, start, other, weight, solution, corrected):
    """Add the interpolated solution of the coarser level."""
    for p in range(first, last):
        x, y, z = row_sum(start[p], start[p + 1], other, weight, solution)
        i = row[p]
        corrected[i] = solution[i] + x
        corrected[i + ONE] = solution[i + ONE] + y
        corrected[i + TWO] = solution[i + TWO] + z


@kernel
def _smooth(first, last, row, start, other, weight, slack, residual, step, corrected, solution):
    """Jacobi step from `corrected`."""
    keep = np.float32(1.0) - DAMPING
    for p in range(first, last):
        x, y, z = row_sum(start[p], start[p + 1], other, weight, corrected)
        i = row[p]
        u, v, w = corrected[i], corrected[i + ONE], corrected[i + TWO]
        solution[i] = keep * u + step[i] * (residual[i] + slack[i] * u + x)
        solution[i + ONE] = keep * v + step[i + ONE] * (residual[i + ONE] + slack[i + ONE] * v + y)
        solution[i + TWO] = keep * w + step[i + TWO] * (residual[i + TWO] + slack[i + TWO] * w + z)


@kernel
def _store(first, last, solution, target):
    result, s = target.reshape(-1)[3 * first : 3 * last], solution[3 * first : 3 * last]
    for k in range(s.shape[0]):
        result[k] = s[k]


@kernel
def _solve_blocks(block_start, block_offset, block_inverse, residual, solution):
    for b in range(block_start.shape[0] - 1):
        first = block_start[b]
        size = block_start[b + 1] - first
        for i in range(size):
            row = block_offset[b] + i * size
            x = np.float32(0.0)
            y = np.float32(0.0)
            z = np.float32(0.0)
            for j in range(size):
                x += block_inverse[0, row + j] * residual[3 * (first + j)]
                y += block_inverse[1, row + j] * residual[3 * (first + j) + 1]
                z += block_inverse[2, row + j] * residual[3 * (first + j) + 2]
            solution[3 * (first + i)] = x
            solution[3 * (first + i) + 1] = y
            solution[3 * (first + i) + 2] = z


@parallel_kernel
def apply_multigrid(levels, residual, z):
    """Apply one V-cycle, z = B residual, with a fixed symmetric positive definite B close to the inverse.

    residual [N] and z [m] are float64, shape (n, 3); pinned rows of z become 0.
    """
    level_start, level_chunk, chunk_start = levels.level_start, levels.level_chunk, levels.chunk_start
    a_row, a_start, a_other, a_weight = levels.coupling
    p_row, p_start, p_other, p_weight = levels.interpolation
    r_row, r_start, r_other, r_weight = levels.restriction
    slack, step, r, s, t = levels.slack, levels.step, levels.residual, levels.solution, levels.corrected
    coarsest = level_start.shape[0] - 2

    if level_chunk[1] > 1:
        for c in numba.prange(level_chunk[1]):
            _load(chunk_start[c], chunk_start[c + 1], residual, r, step, s)
    else:
        _load(0, level_start[1], residual, r, step, s)
    for level in range(coarsest):
        head, tail, end = level_chunk[level], level_chunk[level + 1], level_chunk[level + 2]
        if tail - head > 1:
            for c in numba.prange(head, tail):
                _remainder(chunk_start[c], chunk_start[c + 1], a_row, a_start, a_other, a_weight, slack, r, s, t)
        else:
            _remainder(chunk_start[head], chunk_start[tail], a_row, a_start, a_other, a_weight, slack, r, s, t)
        if end - tail > 1:
            for c in numba.prange(tail, end):
                _restrict(chunk_start[c], chunk_start[c + 1], r_row, r_start, r_other, r_weight, t, r, step, s)
        else:
            _restrict(chunk_start[tail], chunk_start[end], r_row, r_start, r_other, r_weight, t, r, step, s)

    _solve_blocks(levels.block_start, levels.block_offset, levels.block_inverse, r, s)

    for back in range(coarsest):
        level = coarsest - 1 - back
        head, tail = level_chunk[level], level_chunk[level + 1]
        if tail - head > 1:
            for c in numba.prange(head, tail):
                _correct(chunk_start[c], chunk_start[c + 1], p_row, p_start, p_other, p_weight, s, t)
            for c in numba.prange(head, tail):
                _smooth(chunk_start[c], chunk_start[c + 1], a_row, a_start, a_other, a_weight, slack, r, step, t, s)
                if level == 0:
                    _store(chunk_start[c], chunk_start[c + 1], s, z)
        else:
            _correct(chunk_start[head], chunk_start[tail], p_row, p_start, p_other, p_weight, s, t)
            _smooth(chunk_start[head], chunk_start[tail], a_row, a_start, a_other, a_weight, slack, r, step, t, s)
            if level == 0:
                _store(chunk_start[head], chunk_start[tail], s, z)


@kernel
def _invert_block(matrix, offset, size, extra, axis, inverse, work):
    """inverse[axis, offset ..] = (matrix + diag(extra))^-1 by Gauss-Jordan; no pivoting (positive definite)."""
    for i in range(size):
        for j in range(size):
            work[i, j] = matrix[offset + i * size + j]
        work[i, i] += extra[i, axis]
    for k in range(size):
        pivot = 1.0 / work[k, k]
        work[k, k] = 1.0
        for j in range(size):
            work[k, j] *= pivot
        for i in range(size):
            if i != k:
                factor = work[i, k]
                work[i, k] = 0.0
                for j in range(size):
                    work[i, j] -= factor * work[k, j]
    for i in range(size):
        for j in range(size):
            inverse[axis, offset + i * size + j] = 0.5 * (work[i, j] + work[j, i])


@inline_kernel
def _set_row(i, k, d, e, is_coarsest, slack, extra, step):
    """Diagonal of one row and axis, and what the coarser level feels of its extra: e in series with its springs d."""
    total = d + e
    step[3 * i + k] = DAMPING / (total + slack[3 * i + k])
    extra[i, k] = e if is_coarsest else e * d / total


@kernel
def set_extra_diagonal(levels, extra):
    """Add `extra` to the diagonal: stiffness of contacts per axis [N/m], float64, >= 0, shape (n, 3).

    It replaces what was set before. A coarse unknown that moves meets the extra stiffness of its vertices through their
    springs, so the coarser level gets `P^T (e d / (e + d))`: `P^T e` for light contacts, and as much as a pinned vertex
    would give for stiff ones. (Measured against `P^T e` and `diag(P^T diag(e) P)`: 26 iterations instead of 40 and 33.)
    """
    level_start, diagonal, slack = levels.level_start, levels.diagonal, levels.slack
    step, all_extra = levels.step, levels.extra
    r_row, r_start, r_other, r_weight = levels.restriction
    coarsest = level_start[level_start.shape[0] - 2]
    for i in range(level_start[1]):
        if diagonal[i] > 0.0:  # not pinned
            for k in range(3):
                _set_row(i, k, diagonal[i], extra[i, k], False, slack, all_extra, step)
    for p in range(level_start[1], diagonal.shape[0]):
        x = 0.0
        y = 0.0
        z = 0.0
        for q in range(r_start[p], r_start[p + 1]):
            j = r_other[q] // 3
            x += r_weight[q] * all_extra[j, 0]
            y += r_weight[q] * all_extra[j, 1]
            z += r_weight[q] * all_extra[j, 2]
        i = r_row[p] // 3
        _set_row(i, 0, diagonal[i], x, i >= coarsest, slack, all_extra, step)
        _set_row(i, 1, diagonal[i], y, i >= coarsest, slack, all_extra, step)
        _set_row(i, 2, diagonal[i], z, i >= coarsest, slack, all_extra, step)
    block_start, block_extra = levels.block_start, levels.block_extra
    largest = 0
    for b in range(block_start.shape[0] - 1):
        largest = max(largest, block_start[b + 1] - block_start[b])
    work = np.empty((largest, largest))
    for b in range(block_start.shape[0] - 1):
        for k in range(3):
            changed = False
            for i in range(block_start[b], block_start[b + 1]):
                if block_extra[i - coarsest, k] != all_extra[i, k]:
                    block_extra[i - coarsest, k] = all_extra[i, k]
                    changed = True
            if changed:
                _invert_block(
                    levels.block_matrix,
                    levels.block_offset[b],
                    block_start[b + 1] - block_start[b],
                    all_extra[block_start[b] : block_start[b + 1]],
                    k,
                    levels.block_inverse,
                    work,
                )
