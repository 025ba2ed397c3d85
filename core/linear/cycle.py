"""The multigrid V-cycle and its data: kernels only, callable from other kernels.

All levels lie in one set of flat arrays. Level l owns the rows `level_start[l] .. level_start[l + 1]`, and
columns are global rows, so one function serves every level. Smoothing is one damped Jacobi step before and one
after the coarse correction, which makes the cycle a symmetric operator; it is positive definite because the step
divides by at least half the sum of its row's absolute entries (`slack`), so it contracts in the energy norm. Each row
is a gather, so the result does not depend on threads or chunks. A pass over the rows of a level is a job of a team
(`team.py`), a block a chunk.

Rows of a chunk are stored in order of their length and summed up four at a time (`four_rows.py`), the shorter ones
padded with zeros: loops of equal length keep the branch predictor right, too. Where a chunk's rows do not fill the last
four, its last row is computed again. Storage is float32: the cycle is limited by memory traffic, and
conjugate gradients in float64 correct for it. Vectors are flat, four numbers per row (`simd.py`), the fourth of every
residual 0; indices are multiplied by 4 and unsigned (numba then omits the test for negative ones).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel, lean_inline_kernel
from ..simd import load3, load4, spread, store3, store4, to_double, to_single
from ..team import block_of, claim, done, finish, hand_out, kind_of
from .four_rows import four_sums

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int32]
IndexArray = NDArray[np.uint32]

#: Damping of a Jacobi step. The spectrum of D^-1 A ends below 2, so anything below 1 contracts.
DAMPING = np.float32(0.9)
#: Factor of a Jacobi step on its own row of the residual, without the slack.
KEEP = np.float32(1.0) - DAMPING
#: Jobs of the cycle: passes over the chunks of a level.
LOAD, REMAINDER, RESTRICT, CORRECT, SMOOTH, FINISH = range(6)
ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


class Rows(NamedTuple):
    """Sparse rows of all levels in groups of four, sorted by length inside each chunk.

    Entry k of row r of group g is at `4 * (start[g] + k) + r`.
    """

    row: IndexArray  # 4 * row, shape (4 * group_count,)
    start: IndexArray  # shape (group_count + 1,)
    other: IndexArray  # 4 * column, shape (4 * start[-1],)
    weight: SingleArray  # shape (4 * start[-1],)


class Levels(NamedTuple):
    """A hierarchy: at least two levels, finest first (the coarsest may be empty); `row_count` is that of all levels."""

    level_start: IntArray  # first row of each level, shape (level_count + 1,)
    level_chunk: IntArray  # first chunk of each level, shape (level_count + 1,)
    chunk_start: IntArray  # first row of each chunk, shape (chunk_count + 1,)
    chunk_group: IntArray  # first group of rows of each chunk, shape (chunk_count + 1,)
    coupling: Rows  # minus the off-diagonal entries [N/m]
    interpolation: Rows  # columns are rows of the next level
    restriction: Rows  # columns are rows of the level before
    diagonal: FloatArray  # without extra [N/m], 0 = pinned, shape (row_count,)
    slack: FloatArray  # added to the diagonal in the smoother for convergence [N/m], shape (row_count,)
    given: FloatArray  # extra diagonal per axis as it was set [N/m], shape (level_start[1], 3)
    extra: SingleArray  # extra diagonal for the next level [N/m], shape (4 * row_count,)
    step: SingleArray  # DAMPING / (diagonal + extra + slack) [m/N], 0 = pinned, shape (4 * row_count,)
    left: SingleArray  # share that a step leaves of its own row, 1 - DAMPING + slack * step, shape (4 * row_count,)
    # The coarsest level is solved exactly, one dense block per connected component
    block_start: IntArray  # first row of each block, shape (block_count + 1,)
    block_offset: IntArray  # start of each block in the two arrays below, shape (block_count + 1,)
    block_matrix: FloatArray  # without extra [N/m], row by row
    block_inverse: SingleArray  # [m/N] per axis, shape (block_matrix.size, 4)
    block_extra: SingleArray  # what block_inverse was made with [N/m], shape (rows of the coarsest level, 3)
    # Scratch [N] and [m], shape (4 * row_count,)
    residual: SingleArray
    solution: SingleArray
    corrected: SingleArray


@kernel
def _load(first, last, source, residual, step, solution):
    """Take the residual over in single precision and make the first Jacobi step from zero."""
    for i in range(first, last):
        r = to_single(load3(source, 3 * i))
        store4(residual, 4 * i, r)
        store4(solution, 4 * i, load4(step, 4 * i) * r)


@kernel
def _remainder_row(i, total, left, residual, remainder):
    store4(remainder, i, load4(left, i) * load4(residual, i) + total)


@kernel
def _remainder(first, last, row, start, other, weight, left, residual, solution, remainder):
    """Residual after the first step: the factor on its own row, and the step's effect through the couplings."""
    for g in range(np.uint64(first), np.uint64(last)):
        a, b, c, d = four_sums(start[g], start[g + ONE], other, weight, solution)
        _remainder_row(row[FOUR * g], a, left, residual, remainder)
        _remainder_row(row[FOUR * g + ONE], b, left, residual, remainder)
        _remainder_row(row[FOUR * g + TWO], c, left, residual, remainder)
        _remainder_row(row[FOUR * g + THREE], d, left, residual, remainder)


@kernel
def _restrict_row(i, total, residual, step, solution):
    store4(residual, i, total)
    store4(solution, i, load4(step, i) * total)


@kernel
def _restrict(first, last, row, start, other, weight, remainder, residual, step, solution):
    """Residual of the coarser level, and the first Jacobi step there."""
    for g in range(np.uint64(first), np.uint64(last)):
        a, b, c, d = four_sums(start[g], start[g + ONE], other, weight, remainder)
        _restrict_row(row[FOUR * g], a, residual, step, solution)
        _restrict_row(row[FOUR * g + ONE], b, residual, step, solution)
        _restrict_row(row[FOUR * g + TWO], c, residual, step, solution)
        _restrict_row(row[FOUR * g + THREE], d, residual, step, solution)


@kernel
def _correct_row(i, total, solution, corrected):
    store4(corrected, i, load4(solution, i) + total)


@kernel
def _correct(first, last, row, start, other, weight, solution, corrected):
    """Add the interpolated solution of the coarser level."""
    for g in range(np.uint64(first), np.uint64(last)):
        a, b, c, d = four_sums(start[g], start[g + ONE], other, weight, solution)
        _correct_row(row[FOUR * g], a, solution, corrected)
        _correct_row(row[FOUR * g + ONE], b, solution, corrected)
        _correct_row(row[FOUR * g + TWO], c, solution, corrected)
        _correct_row(row[FOUR * g + THREE], d, solution, corrected)


@kernel
def _jacobi(i, total, left, residual, step, corrected):
    """Row i of a Jacobi step from `corrected`."""
    return load4(left, i) * load4(corrected, i) + load4(step, i) * (load4(residual, i) + total)


@kernel
def _smooth_row(i, total, left, residual, step, corrected, solution):
    store4(solution, i, _jacobi(i, total, left, residual, step, corrected))


@kernel
def _smooth(first, last, row, start, other, weight, left, residual, step, corrected, solution):
    """Jacobi step from `corrected`."""
    for g in range(np.uint64(first), np.uint64(last)):
        a, b, c, d = four_sums(start[g], start[g + ONE], other, weight, corrected)
        _smooth_row(row[FOUR * g], a, left, residual, step, corrected, solution)
        _smooth_row(row[FOUR * g + ONE], b, left, residual, step, corrected, solution)
        _smooth_row(row[FOUR * g + TWO], c, left, residual, step, corrected, solution)
        _smooth_row(row[FOUR * g + THREE], d, left, residual, step, corrected, solution)


@kernel
def _finish_row(i, total, left, residual, step, corrected, z):
    store3(z, 3 * (i >> 2), to_double(_jacobi(i, total, left, residual, step, corrected)))


@kernel
def _finish(first, last, row, start, other, weight, left, residual, step, corrected, z):
    """The same on the finest level, into z in double precision."""
    for g in range(np.uint64(first), np.uint64(last)):
        a, b, c, d = four_sums(start[g], start[g + ONE], other, weight, corrected)
        _finish_row(row[FOUR * g], a, left, residual, step, corrected, z)
        _finish_row(row[FOUR * g + ONE], b, left, residual, step, corrected, z)
        _finish_row(row[FOUR * g + TWO], c, left, residual, step, corrected, z)
        _finish_row(row[FOUR * g + THREE], d, left, residual, step, corrected, z)


@kernel
def _solve_blocks(block_start, block_offset, block_inverse, residual, solution):
    for b in range(block_start.shape[0] - 1):
        first = block_start[b]
        size = block_start[b + 1] - first
        for i in range(size):
            row = block_offset[b] + i * size
            total = spread(np.float32(0.0))
            for j in range(size):
                total = total + load4(block_inverse, 4 * (row + j)) * load4(residual, 4 * (first + j))
            store4(solution, 4 * (first + i), total)


@lean_inline_kernel
def work_on_level(kind, chunk, levels, residual, z):
    """A chunk of a job of the cycle; the chunks of all levels are counted together."""
    a_row, a_start, a_other, a_weight = levels.coupling
    p_row, p_start, p_other, p_weight = levels.interpolation
    r_row, r_start, r_other, r_weight = levels.restriction
    left, step, r, s, t = levels.left, levels.step, levels.residual, levels.solution, levels.corrected
    first, last = levels.chunk_group[chunk], levels.chunk_group[chunk + 1]
    if kind == LOAD:
        _load(levels.chunk_start[chunk], levels.chunk_start[chunk + 1], residual, r, step, s)
    elif kind == REMAINDER:
        _remainder(first, last, a_row, a_start, a_other, a_weight, left, r, s, t)
    elif kind == RESTRICT:
        _restrict(first, last, r_row, r_start, r_other, r_weight, t, r, step, s)
    elif kind == CORRECT:
        _correct(first, last, p_row, p_start, p_other, p_weight, s, t)
    elif kind == SMOOTH:
        _smooth(first, last, a_row, a_start, a_other, a_weight, left, r, step, t, s)
    else:
        _finish(first, last, a_row, a_start, a_other, a_weight, left, r, step, t, z)


@kernel
def _run(kind, first, end, levels, residual, z, team):
    """A job of the cycle on the chunks first .. end - 1."""
    if end - first == 1:
        work_on_level(kind, first, levels, residual, z)
        return
    hand_out(team, kind, first, end)
    claimed = claim(team, 0)
    while claimed >= 0:
        work_on_level(kind_of(claimed), block_of(claimed), levels, residual, z)
        done(team, 0)
        claimed = claim(team, 0)
    finish(team)


@kernel
def apply_multigrid(levels, residual, z, team):
    """Apply one V-cycle, z = B residual, with a fixed symmetric positive definite B close to the inverse.

    residual [N] and z [m] are float64, shape (n, 3); pinned rows of z become 0.
    """
    chunk = levels.level_chunk
    coarsest = levels.level_start.shape[0] - 2
    _run(LOAD, 0, chunk[1], levels, residual, z, team)
    for level in range(coarsest):
        _run(REMAINDER, chunk[level], chunk[level + 1], levels, residual, z, team)
        _run(RESTRICT, chunk[level + 1], chunk[level + 2], levels, residual, z, team)
    _solve_blocks(levels.block_start, levels.block_offset, levels.block_inverse, levels.residual, levels.solution)
    for back in range(coarsest):
        level = coarsest - 1 - back
        _run(CORRECT, chunk[level], chunk[level + 1], levels, residual, z, team)
        _run(SMOOTH if level > 0 else FINISH, chunk[level], chunk[level + 1], levels, residual, z, team)


@kernel
def _invert_block(matrix, offset, size, extra, axis, inverse, work):
    """inverse[axis, offset ..] = (matrix + diag(extra))^-1 by Gauss-Jordan; no pivoting (positive definite)."""
    for i in range(size):
        for j in range(size):
            work[i, j] = matrix[offset + i * size + j]
        work[i, i] += extra[4 * i + axis]
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
            inverse[offset + i * size + j, axis] = 0.5 * (work[i, j] + work[j, i])


@kernel
def _set_row(i, e, is_coarsest, diagonal, slack, extra, step, left):
    """Diagonal of row i with its extra e, and the part for the coarser level: e in series with its springs."""
    d, loose = np.float32(diagonal[i]), np.float32(slack[i])
    inverse = spread(np.float32(1.0)) / (e + d)
    share = DAMPING / (e + (d + loose)) if loose > 0.0 else DAMPING * inverse
    store4(step, 4 * i, share)
    store4(left, 4 * i, KEEP + loose * share)
    store4(extra, 4 * i, e if is_coarsest else e * d * inverse)


@kernel
def set_extra_diagonal(levels, extra):
    """Add `extra` to the diagonal: stiffness of contacts per axis [N/m], float64, >= 0, shape (n, 3).

    It replaces what was set before. A coarse unknown that moves meets the extra stiffness of its vertices through their
    springs, so the coarser level gets `P^T (e d / (e + d))`: `P^T e` for light contacts, and as much as a pinned vertex
    would give for stiff ones. (Measured against `P^T e` and `diag(P^T diag(e) P)`: 26 iterations instead of 40 and 33.)
    """
    level_start, diagonal, slack, given = levels.level_start, levels.diagonal, levels.slack, levels.given
    step, left, all_extra = levels.step, levels.left, levels.extra
    r_row, r_start, r_other, r_weight = levels.restriction
    coarsest = level_start[level_start.shape[0] - 2]
    changed = False
    for i in range(level_start[1]):
        for k in range(3):
            changed |= given[i, k] != extra[i, k]
            given[i, k] = extra[i, k]
    if not changed:
        return
    for i in range(level_start[1]):
        if diagonal[i] > 0.0:  # not pinned
            _set_row(i, to_single(load3(extra, 3 * i)), False, diagonal, slack, all_extra, step, left)
    for g in range(np.uint64(levels.chunk_group[levels.level_chunk[1]]), np.uint64(r_start.shape[0] - 1)):
        a, b, c, d = four_sums(r_start[g], r_start[g + ONE], r_other, r_weight, all_extra)
        for r, total in enumerate((a, b, c, d)):
            i = r_row[FOUR * g + np.uint64(r)] >> 2
            _set_row(i, total, i >= coarsest, diagonal, slack, all_extra, step, left)
    block_start, block_extra = levels.block_start, levels.block_extra
    largest = 0
    for b in range(block_start.shape[0] - 1):
        largest = max(largest, block_start[b + 1] - block_start[b])
    work = np.empty((largest, largest))
    for b in range(block_start.shape[0] - 1):
        for k in range(3):
            changed = False
            for i in range(block_start[b], block_start[b + 1]):
                if block_extra[i - coarsest, k] != all_extra[4 * i + k]:
                    block_extra[i - coarsest, k] = all_extra[4 * i + k]
                    changed = True
            if changed:
                _invert_block(
                    levels.block_matrix,
                    levels.block_offset[b],
                    block_start[b + 1] - block_start[b],
                    all_extra[4 * block_start[b] : 4 * block_start[b + 1]],
                    k,
                    levels.block_inverse,
                    work,
                )
