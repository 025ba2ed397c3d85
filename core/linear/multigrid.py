"""Multigrid preconditioner of the constant scalar matrix `diag(diagonal) + Laplacian(weight)`.

The matrix stands for the Hessian of a substep (with `diagonal` = mass / tau^2 and `weight` = half the spring
constants it is Projective Dynamics' matrix at half stiffness) and acts on x, y and z alike. It must be positive
definite; single weights may be negative, as those of hinges are. It never changes during a run, so the hierarchy is
set up once; contacts enter through `set_extra_diagonal`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import coarsening
from .coarsening import Matrix, Transfer
from .cycle import Levels, Rows, apply_multigrid, set_extra_diagonal

__all__ = ["Levels", "Multigrid", "apply_multigrid", "set_extra_diagonal"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

#: A component of at most this many unknowns is solved exactly.
BLOCK_SIZE = 24
#: Rounds of pairing per level: aggregates of about four. Three rounds save 10 % of the time and cost 10 to 35 % more
#: iterations on stretched meshes.
ROUNDS = 2
#: A level with fewer couplings is one chunk: starting threads would cost more than it saves.
SERIAL_COUPLINGS = 24_000
#: Rows per chunk of the larger levels.
CHUNK_ROWS = 512
#: Rows among which rows are sorted by length; few enough that the vectors' part stays in the nearest cache.
SORT_ROWS = 1024
#: Most levels, and largest exact block: where pairing stalls (in no known mesh) only the coarsest diagonal is kept.
LEVEL_LIMIT, BLOCK_LIMIT = 20, 128


@dataclass(frozen=True, slots=True)
class Multigrid:
    """A multigrid hierarchy; hand `levels` to `apply_multigrid` and `set_extra_diagonal`."""

    levels: Levels

    @staticmethod
    def build(
        vertex_start: IntArray,
        vertex_other: IntArray,
        weight: FloatArray,
        diagonal: FloatArray,
        pinned: NDArray[np.bool_],
        chunk_start: IntArray,
        *,
        block_size: int = BLOCK_SIZE,
    ) -> "Multigrid":
        """Set the hierarchy up.

        Parameters
        ----------
        vertex_start, vertex_other : CSR adjacency over n vertices, each edge from both ends, int32.
        weight : weight of each half-edge [N/m], equal at both ends of an edge.
        diagonal : what is added to the Laplacian's diagonal [N/m], > 0, shape (n,).
        pinned : vertices that do not move, shape (n,).
        chunk_start : runs of consecutive vertices, shape (chunk_count + 1,), from 0 to n.
        block_size : connected components are coarsened until none has more unknowns than this.
        """
        matrix = coarsening.remove_pinned(vertex_start, vertex_other, weight, diagonal, pinned)
        component, component_count = coarsening.components(matrix, pinned)
        matrices, interpolations, restrictions = [matrix], [], []
        while len(matrices) == 1 or (len(matrices) < LEVEL_LIMIT and _largest(component) > block_size):
            aggregate_of, component = coarsening.aggregate(matrix, component, component_count, ROUNDS)
            interpolation = coarsening.interpolation(matrix, aggregate_of)
            restriction = coarsening.transpose(interpolation, component.shape[0])
            matrix = coarsening.lump_positive(coarsening.coarse_matrix(matrix, interpolation, restriction))
            matrices.append(matrix)
            interpolations.append(interpolation)
            restrictions.append(restriction)
        levels = _flatten(matrices, interpolations, restrictions, component, chunk_start)
        set_extra_diagonal(levels, np.zeros((diagonal.shape[0], 3)))
        return Multigrid(levels)


def _largest(component: IntArray) -> int:
    """Number of unknowns of the largest component."""
    members = component[component >= 0]
    return int(np.bincount(members).max()) if members.size else 0


def _chunks(matrix: Matrix, given: IntArray) -> IntArray:
    """Chunks of a level: the given runs of rows joined to at least `CHUNK_ROWS`; one if the level is small."""
    bounds, row_count = [0], len(matrix.diagonal)
    if len(matrix.other) >= SERIAL_COUPLINGS:
        for bound in given[1:].tolist():
            if bound - bounds[-1] >= CHUNK_ROWS and bound < row_count:
                bounds.append(bound)
    return np.array([*bounds, row_count], np.int32)


def _blocks(component: IntArray) -> IntArray:
    """Bounds of the blocks that are solved exactly: one per component, or single rows where it stayed too large."""
    sizes = np.bincount(component) if component.size else np.zeros(0, np.int64)
    sizes = np.concatenate(
        [np.ones(size, int) if size > BLOCK_LIMIT else [size] for size in sizes[sizes > 0]] or [np.zeros(0, int)]
    )
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def _flatten(
    matrices: list[Matrix],
    interpolations: list[Transfer],
    restrictions: list[Transfer],
    component: IntArray,
    chunk_start: IntArray,
) -> Levels:
    """Concatenate the levels (see `Levels`); `component` is that of each row of the coarsest one."""
    rows = [matrix.diagonal.shape[0] for matrix in matrices]
    level_start = np.concatenate([[0], np.cumsum(rows)]).astype(np.int32)
    even = np.arange(0, rows[0] + CHUNK_ROWS, CHUNK_ROWS)
    chunks = [_chunks(matrix, chunk_start if level == 0 else even) for level, matrix in enumerate(matrices)]
    all_chunks = np.concatenate([c[:-1] + first for c, first in zip(chunks, level_start[:-1], strict=True)])
    nothing = np.empty(0, np.int32), np.empty(0)
    none_before = Transfer(np.zeros(rows[0] + 1, np.int32), *nothing)
    none_after = Transfer(np.zeros(rows[-1] + 1, np.int32), *nothing)
    row_total = int(level_start[-1])
    bounds = np.append(all_chunks, row_total)
    blocks = _blocks(component)
    sizes = np.diff(blocks)
    block_offset = np.concatenate([[0], np.cumsum(sizes**2)])
    block_matrix = np.zeros(int(block_offset[-1]))
    coarsening.fill_blocks(*matrices[-1], blocks, block_offset, block_matrix)
    return Levels(
        level_start=level_start,
        level_chunk=np.concatenate([[0], np.cumsum([len(c) - 1 for c in chunks])]).astype(np.int32),
        chunk_start=bounds.astype(np.int32),
        chunk_group=np.append(0, np.cumsum(_groups(bounds))).astype(np.int32),
        coupling=_join([Transfer(m.start, m.other, m.coupling) for m in matrices], level_start[:-1], bounds),
        interpolation=_join([*interpolations, none_after], level_start[1:], bounds),
        restriction=_join([none_before, *restrictions], np.append(0, level_start[:-2]), bounds),
        diagonal=np.concatenate([matrix.diagonal for matrix in matrices]),
        slack=np.concatenate([coarsening.slack(matrix) for matrix in matrices]),
        given=np.full((rows[0], 3), -1.0),  # never equal to what is set first
        extra=np.zeros(4 * row_total, np.float32),
        step=np.zeros(4 * row_total, np.float32),
        left=np.zeros(4 * row_total, np.float32),
        block_start=blocks + level_start[-2],
        block_offset=block_offset.astype(np.int32),
        block_matrix=block_matrix,
        block_inverse=np.zeros((block_matrix.shape[0], 4), np.float32),
        block_extra=np.full((rows[-1], 3), -1.0, np.float32),  # likewise
        residual=np.zeros(4 * row_total, np.float32),
        solution=np.zeros(4 * row_total, np.float32),
        corrected=np.zeros(4 * row_total, np.float32),
    )


def _groups(chunk_start: IntArray) -> IntArray:
    """Number of groups of four rows of each chunk."""
    return (np.diff(chunk_start) + 3) // 4


def _join(parts: list[Transfer], column_shift: IntArray, chunk_start: IntArray) -> Rows:
    """Stack the rows of all levels, sort those of each chunk by length, group them by four, make columns global."""
    length = np.concatenate([np.diff(part.start) for part in parts])
    row = np.arange(length.shape[0])
    chunk = np.searchsorted(chunk_start, row, side="right") - 1
    order = np.lexsort((length, (row - chunk_start[chunk]) // SORT_ROWS, chunk))
    places = 4 * _groups(chunk_start)
    chunk = np.repeat(np.arange(len(places)), places)
    within = np.arange(len(chunk)) - (np.cumsum(places) - places)[chunk]
    row = order[np.minimum(chunk_start[chunk] + within, chunk_start[chunk + 1] - 1)].reshape(-1, 4)
    depth = length[row].max(axis=1, initial=0)
    start = np.append(0, np.cumsum(depth))
    group = np.repeat(np.arange(len(depth)), depth)
    entry = (np.arange(start[-1]) - start[group])[:, None]
    is_there = entry < length[row[group]]
    entry = np.where(is_there, (np.cumsum(length) - length)[row[group]] + entry, 0)
    shifted = [part.other + int(shift) for part, shift in zip(parts, column_shift, strict=True)]
    other = np.append(np.concatenate(shifted), 0)
    weight = np.append(np.concatenate([part.weight for part in parts]), 0.0)
    return Rows(
        row=(4 * row).ravel().astype(np.uint32),
        start=start.astype(np.uint32),
        other=(4 * np.where(is_there, other[entry], row[group])).ravel().astype(np.uint32),
        weight=np.where(is_there, weight[entry], 0.0).ravel().astype(np.float32),
    )
