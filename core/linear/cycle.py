"""The multigrid V-cycle and its data: kernels only, callable from other kernels.

All levels lie in one set of flat arrays. Level l owns the rows `level_start[l] .. level_start[l + 1]`, and
column numbers are global rows, so one function serves every level. A level is cut into chunks of consecutive
rows; smoothing is Gauss-Seidel inside a chunk and Jacobi between chunks, so chunks may run in any order or
at once and give the same bits. The sweep before the coarse correction runs forward, the one after it
backward: that makes the whole cycle a symmetric operator. It is positive definite because on a diagonally
dominant matrix such a sweep always contracts in the energy norm.

The entries of a row are stored in three parts: "before" (same chunk, smaller row), "outside" (other chunks),
"after" (same chunk, larger row), part k of row i at `part_start[3 i + k]`. The first sweep starts from zero and
reads "before" only; what it leaves over is then exactly "outside" and "after" times z. So both sweeps
and the residual together cost two matrix products, not three.

Storage is float32: the cycle is limited by memory traffic, and conjugate gradients in float64 correct for it.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ..jit import kernel, parallel_kernel

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int32]
IndexArray = NDArray[np.uint32]  # unsigned: numba then omits the test for negative indices


class Levels(NamedTuple):
    """A hierarchy: at least two levels, finest first (the coarsest may be empty); `row_count` is that of all levels."""

    level_start: IntArray  # first row of each level, shape (level_count + 1,)
    level_chunk: IntArray  # first chunk of each level, shape (level_count + 1,)
    chunk_start: IntArray  # first row of each chunk, shape (chunk_count + 1,)
    part_start: IntArray  # shape (3 * row_count + 1,)
    other: IndexArray  # row of each coupling
    coupling: SingleArray  # minus the matrix entry [N/m]
    interpolation_start: IntArray  # CSR over fine rows, shape (row_count + 1,)
    interpolation_other: IndexArray  # coarse row
    interpolation_weight: SingleArray
    restriction_start: IntArray  # CSR over coarse rows, shape (row_count + 1,)
    restriction_other: IndexArray  # fine row
    restriction_weight: SingleArray
    diagonal: FloatArray  # without extra [N/m], 0 = pinned, shape (row_count,)
    extra: FloatArray  # extra diagonal per axis [N/m], shape (row_count, 3)
    inverse_diagonal: SingleArray  # 1/(diagonal + extra), 0 = pinned, shape (row_count, 3)
    # The coarsest level is solved exactly, one dense block per connected component
    block_start: IntArray  # first row of each block, shape (block_count + 1,)
    block_offset: IntArray  # start of each block in the two arrays below, shape (block_count + 1,)
    block_matrix: FloatArray  # without extra [N/m], row by row
    block_inverse: SingleArray  # [m/N] per axis, shape (3, block_matrix.size)
    block_extra: FloatArray  # what block_inverse was made with [N/m], shape (rows of the coarsest level, 3)
    # Scratch [N] and [m], shape (row_count, 3)
    residual: SingleArray
    solution: SingleArray
    corrected: SingleArray


@kernel
def _load(first, last, source, target):
    for i in range(first, last):
        for k in range(3):
            target[i, k] = source[i, k]


@kernel
def _sweep_forward(first, last, part_start, other, coupling, inverse_diagonal, residual, solution):
    """Gauss-Seidel from zero."""
    for i in range(first, last):
        sx = residual[i, 0]
        sy = residual[i, 1]
        sz = residual[i, 2]
        for q in range(part_start[3 * i], part_start[3 * i + 1]):
            j = other[q]
            w = coupling[q]
            sx += w * solution[j, 0]
            sy += w * solution[j, 1]
            sz += w * solution[j, 2]
        solution[i, 0] = sx * inverse_diagonal[i, 0]
        solution[i, 1] = sy * inverse_diagonal[i, 1]
        solution[i, 2] = sz * inverse_diagonal[i, 2]


@kernel
def _remainder(first, last, part_start, other, coupling, solution, remainder):
    """Residual after `_sweep_forward`."""
    for i in range(first, last):
        sx = np.float32(0.0)
        sy = np.float32(0.0)
        sz = np.float32(0.0)
        for q in range(part_start[3 * i + 1], part_start[3 * i + 3]):
            j = other[q]
            w = coupling[q]
            sx += w * solution[j, 0]
            sy += w * solution[j, 1]
            sz += w * solution[j, 2]
        remainder[i, 0] = sx
        remainder[i, 1] = sy
        remainder[i, 2] = sz


@kernel
def _gather(first, last, start, other, weight, source, target):
    """Multiply by rows: restriction of a residual."""
    for i in range(first, last):
        sx = np.float32(0.0)
        sy = np.float32(0.0)
        sz = np.float32(0.0)
        for q in range(start[i], start[i + 1]):
            j = other[q]
            w = weight[q]
            sx += w * source[j, 0]
            sy += w * source[j, 1]
            sz += w * source[j, 2]
        target[i, 0] = sx
        target[i, 1] = sy
        target[i, 2] = sz


@kernel
def _correct(first, last, start, other, weight, solution, corrected):
    """Add the interpolated solution of the coarser level."""
    for i in range(first, last):
        sx = solution[i, 0]
        sy = solution[i, 1]
        sz = solution[i, 2]
        for q in range(start[i], start[i + 1]):
            j = other[q]
            w = weight[q]
            sx += w * solution[j, 0]
            sy += w * solution[j, 1]
            sz += w * solution[j, 2]
        corrected[i, 0] = sx
        corrected[i, 1] = sy
        corrected[i, 2] = sz


@kernel
def _sweep_backward(first, last, part_start, other, coupling, inverse_diagonal, residual, corrected, solution):
    """Gauss-Seidel from `corrected`, in reverse order."""
    for back in range(last - first):
        i = last - 1 - back
        sx = residual[i, 0]
        sy = residual[i, 1]
        sz = residual[i, 2]
        for q in range(part_start[3 * i], part_start[3 * i + 2]):
            j = other[q]
            w = coupling[q]
            sx += w * corrected[j, 0]
            sy += w * corrected[j, 1]
            sz += w * corrected[j, 2]
        for q in range(part_start[3 * i + 2], part_start[3 * i + 3]):
            j = other[q]
            w = coupling[q]
            sx += w * solution[j, 0]
            sy += w * solution[j, 1]
            sz += w * solution[j, 2]
        solution[i, 0] = sx * inverse_diagonal[i, 0]
        solution[i, 1] = sy * inverse_diagonal[i, 1]
        solution[i, 2] = sz * inverse_diagonal[i, 2]


@kernel
def _solve_blocks(block_start, block_offset, block_inverse, residual, solution):
    for b in range(block_start.shape[0] - 1):
        first = block_start[b]
        size = block_start[b + 1] - first
        for i in range(size):
            row = block_offset[b] + i * size
            sx = np.float32(0.0)
            sy = np.float32(0.0)
            sz = np.float32(0.0)
            for j in range(size):
                sx += block_inverse[0, row + j] * residual[first + j, 0]
                sy += block_inverse[1, row + j] * residual[first + j, 1]
                sz += block_inverse[2, row + j] * residual[first + j, 2]
            solution[first + i, 0] = sx
            solution[first + i, 1] = sy
            solution[first + i, 2] = sz


@parallel_kernel
def apply_multigrid(levels, residual, z):
    """Apply one V-cycle, z = B residual, with a fixed symmetric positive definite B close to the inverse.

    residual [N] and z [m] are float64, shape (n, 3); pinned rows of z become 0.
    """
    level_start, level_chunk, chunk_start = levels.level_start, levels.level_chunk, levels.chunk_start
    part_start, other, coupling = levels.part_start, levels.other, levels.coupling
    p_start, p_other, p_weight = levels.interpolation_start, levels.interpolation_other, levels.interpolation_weight
    r_start, r_other, r_weight = levels.restriction_start, levels.restriction_other, levels.restriction_weight
    inverse = levels.inverse_diagonal
    r, s, t = levels.residual, levels.solution, levels.corrected
    coarsest = level_start.shape[0] - 2

    for level in range(coarsest):
        head, tail = level_chunk[level], level_chunk[level + 1]
        below, bottom = level_chunk[level + 1], level_chunk[level + 2]
        if tail - head > 1:
            for c in numba.prange(head, tail):
                if level == 0:
                    _load(chunk_start[c], chunk_start[c + 1], residual, r)
                _sweep_forward(chunk_start[c], chunk_start[c + 1], part_start, other, coupling, inverse, r, s)
            for c in numba.prange(head, tail):
                _remainder(chunk_start[c], chunk_start[c + 1], part_start, other, coupling, s, t)
        else:
            if level == 0:
                _load(chunk_start[head], chunk_start[tail], residual, r)
            _sweep_forward(chunk_start[head], chunk_start[tail], part_start, other, coupling, inverse, r, s)
            _remainder(chunk_start[head], chunk_start[tail], part_start, other, coupling, s, t)
        if bottom - below > 1:
            for c in numba.prange(below, bottom):
                _gather(chunk_start[c], chunk_start[c + 1], r_start, r_other, r_weight, t, r)
        else:
            _gather(chunk_start[below], chunk_start[bottom], r_start, r_other, r_weight, t, r)

    _solve_blocks(levels.block_start, levels.block_offset, levels.block_inverse, r, s)

    for step in range(coarsest):
        level = coarsest - 1 - step
        head, tail = level_chunk[level], level_chunk[level + 1]
        if tail - head > 1:
            for c in numba.prange(head, tail):
                _correct(chunk_start[c], chunk_start[c + 1], p_start, p_other, p_weight, s, t)
            for c in numba.prange(head, tail):
                _sweep_backward(chunk_start[c], chunk_start[c + 1], part_start, other, coupling, inverse, r, t, s)
                if level == 0:
                    _load(chunk_start[c], chunk_start[c + 1], s, z)
        else:
            _correct(chunk_start[head], chunk_start[tail], p_start, p_other, p_weight, s, t)
            _sweep_backward(chunk_start[head], chunk_start[tail], part_start, other, coupling, inverse, r, t, s)
            if level == 0:
                _load(chunk_start[head], chunk_start[tail], s, z)


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


@kernel
def set_extra_diagonal(levels, extra):
    """Add `extra` to the diagonal: stiffness of contacts per axis [N/m], float64, >= 0, shape (n, 3).

    It replaces what was set before. Coarse levels get `P^T extra`, the row sums of `P^T diag(extra) P`: at least as
    stiff, so the operator stays positive definite.
    """
    level_start = levels.level_start
    diagonal, inverse, all_extra = levels.diagonal, levels.inverse_diagonal, levels.extra
    r_start, r_other, r_weight = levels.restriction_start, levels.restriction_other, levels.restriction_weight
    for i in range(diagonal.shape[0]):
        for k in range(3):
            if i < level_start[1]:
                total = extra[i, k] if diagonal[i] > 0.0 else 0.0
            else:
                total = 0.0
                for q in range(r_start[i], r_start[i + 1]):
                    total += r_weight[q] * all_extra[r_other[q], k]
            all_extra[i, k] = total
            inverse[i, k] = 1.0 / (diagonal[i] + total) if diagonal[i] > 0.0 else 0.0
    coarsest = level_start[level_start.shape[0] - 2]
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
