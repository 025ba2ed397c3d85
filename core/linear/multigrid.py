"""Multigrid preconditioner of the constant scalar matrix `diag(diagonal) + Laplacian(half_edge_weight)`.

The matrix stands for the Hessian of a substep (with `diagonal` = mass / h^2 [N/m] and `half_edge_weight` = half the
spring constant [N/m] it is Projective Dynamics' matrix at half stiffness) and acts on x, y and z alike. It never
changes during a run, so the hierarchy is set up once; contacts enter through `set_extra_diagonal`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import coarsening
from .coarsening import Matrix, Transfer
from .cycle import Levels, apply_multigrid, set_extra_diagonal

__all__ = ["Levels", "Multigrid", "apply_multigrid", "set_extra_diagonal"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

#: A component of at most this many unknowns is solved exactly.
BLOCK_SIZE = 24
#: A level with fewer rows is one chunk: starting threads would cost more than it saves.
SERIAL_ROWS = 4096
#: Rows per chunk of the larger levels.
CHUNK_ROWS = 1024
LEVEL_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Multigrid:
    """A multigrid hierarchy; hand `levels` to `apply_multigrid` and `set_extra_diagonal`."""

    levels: Levels

    @staticmethod
    def build(
        vertex_start: IntArray,
        vertex_other: IntArray,
        half_edge_weight: FloatArray,
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
        half_edge_weight : weight of each half-edge [N/m], >= 0, equal at both ends of an edge.
        diagonal : what is added to the Laplacian's diagonal [N/m], > 0, shape (n,).
        pinned : vertices that do not move, shape (n,).
        chunk_start : runs of consecutive vertices, shape (chunk_count + 1,), from 0 to n.
        block_size : connected components are coarsened until none has more unknowns than this.
        """
        matrix = coarsening.remove_pinned(vertex_start, vertex_other, half_edge_weight, diagonal, pinned)
        component, component_count = coarsening.components(matrix, pinned)
        matrices, interpolations, restrictions = [matrix], [], []
        while len(matrices) == 1 or (len(matrices) < LEVEL_LIMIT and _largest(component, component_count) > block_size):
            aggregate_of, coarse_component = coarsening.aggregate(matrix, component, component_count)
            interpolation = coarsening.interpolation(matrix, aggregate_of)
            restriction = coarsening.transpose(interpolation, coarse_component.shape[0])
            matrix = coarsening.coarse_matrix(matrix, interpolation, restriction)
            component = coarse_component
            matrices.append(matrix)
            interpolations.append(interpolation)
            restrictions.append(restriction)
        levels = _flatten(matrices, interpolations, restrictions, component, chunk_start)
        set_extra_diagonal(levels, np.zeros((diagonal.shape[0], 3)))
        return Multigrid(levels)


def _largest(component: IntArray, component_count: int) -> int:
    """Number of unknowns of the largest component."""
    members = component[component >= 0]
    return int(np.bincount(members, minlength=component_count).max()) if members.size else 0


def _chunks(row_count: int, given: IntArray) -> IntArray:
    """Chunks of a level: the given ones joined until each has `CHUNK_ROWS` rows; one chunk if the level is small."""
    if row_count < SERIAL_ROWS:
        return np.array([0, row_count], np.int32)
    bounds = [0]
    for bound in given[1:]:
        if bound - bounds[-1] >= CHUNK_ROWS:
            bounds.append(int(bound))
    if bounds[-1] != row_count:
        bounds.append(row_count)
    return np.array(bounds, np.int32)


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
    chunks: list[IntArray] = []
    parts, others, couplings = [], [], []
    for row_count, matrix in zip(rows, matrices, strict=True):
        even = np.arange(CHUNK_ROWS, row_count + CHUNK_ROWS, CHUNK_ROWS).clip(max=row_count)
        bounds = _chunks(row_count, chunk_start if not chunks else even)
        chunks.append(bounds)
        part, other, coupling = coarsening.split_rows(matrix, bounds)
        parts.append(part)
        others.append(other)
        couplings.append(coupling)
    row_total = int(level_start[-1])
    p_start, p_other, p_weight = _join(interpolations, level_start[1:-1], 0, rows[-1])
    r_start, r_other, r_weight = _join(restrictions, level_start[:-2], rows[0], 0)
    sizes = np.bincount(component, minlength=1)
    sizes = sizes[sizes > 0]
    block_start = int(level_start[-2]) + np.concatenate([[0], np.cumsum(sizes)])
    block_offset = np.concatenate([[0], np.cumsum(sizes**2)])
    block_matrix = np.zeros(int(block_offset[-1]))
    coarsest = matrices[-1]
    coarsening.fill_blocks(*coarsest, block_start - level_start[-2], block_offset, block_matrix)
    return Levels(
        level_start=level_start,
        level_chunk=np.concatenate([[0], np.cumsum([len(c) - 1 for c in chunks])]).astype(np.int32),
        chunk_start=np.concatenate(
            [c[:-1] + first for c, first in zip(chunks, level_start, strict=False)] + [level_start[-1:]]
        ).astype(np.int32),
        part_start=_join_starts(parts),
        other=np.concatenate([o + first for o, first in zip(others, level_start, strict=False)]).astype(np.uint32),
        coupling=np.concatenate(couplings).astype(np.float32),
        interpolation_start=p_start,
        interpolation_other=p_other,
        interpolation_weight=p_weight,
        restriction_start=r_start,
        restriction_other=r_other,
        restriction_weight=r_weight,
        diagonal=np.concatenate([matrix.diagonal for matrix in matrices]),
        extra=np.zeros((row_total, 3)),
        inverse_diagonal=np.zeros((row_total, 3), np.float32),
        block_start=block_start.astype(np.int32),
        block_offset=block_offset.astype(np.int32),
        block_matrix=block_matrix,
        block_inverse=np.zeros((3, block_matrix.shape[0]), np.float32),
        block_extra=np.full((rows[-1], 3), -1.0),  # never equal to what is set first
        residual=np.zeros((row_total, 3), np.float32),
        solution=np.zeros((row_total, 3), np.float32),
        corrected=np.zeros((row_total, 3), np.float32),
    )


def _join_starts(starts: list[IntArray]) -> IntArray:
    """One CSR start array of several stacked matrices."""
    lengths = np.concatenate([np.diff(start) for start in starts])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _join(
    transfers: list[Transfer], column_shift: IntArray, empty_before: int, empty_after: int
) -> tuple[IntArray, NDArray[np.uint32], NDArray[np.float32]]:
    """Stack transfers of all levels, with empty rows where a level has none, and make their columns global."""
    start = _join_starts(
        [np.zeros(empty_before + 1, np.int32), *[t.start for t in transfers], np.zeros(empty_after + 1, np.int32)]
    )
    other = np.concatenate([t.other + shift for t, shift in zip(transfers, column_shift, strict=True)])
    weight = np.concatenate([t.weight for t in transfers])
    return start, other.astype(np.uint32), weight.astype(np.float32)
