"""Rows of forces that elements write, and vertices add up, always in the same order."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import topology
from ...array_types import IntArray

IndexArray = NDArray[np.uint32]


class Rows(NamedTuple):
    """Which rows each vertex adds up; unused slots name the last row, which is 0."""

    slot: IndexArray  # 4 * row, shape (slot_count * vertex_count,)
    more_start: IntArray  # CSR of the rows beyond the slots, shape (vertex_count + 1,)
    more: IndexArray  # 4 * row + 1 where it is added, 4 * row where it is subtracted


def unsigned(numbers: NDArray[Any]) -> IndexArray:
    """As uint32: kernels then need no check for negative indices."""
    return np.ascontiguousarray(numbers, dtype=np.uint32)


def rows_of(columns: list[tuple[IntArray, IntArray]], vertex_count: int, slots: int, null: int) -> Rows:
    """Rows of one or two columns: vertices, and the row of each. Added at the first, subtracted at the other."""
    table = np.full((vertex_count, len(columns) * slots), 4 * null, np.int64)
    more_vertex, more = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number, (column, row) in enumerate(columns):
        start, entry = topology.grouped(column, vertex_count)
        vertex, own = column[entry], 4 * row[entry].astype(np.int64)
        rank = np.arange(len(entry)) - start[vertex]
        held = rank < slots
        table[vertex[held], number * slots + rank[held]] = own[held]
        more_vertex.append(vertex[~held])
        more.append(own[~held] + (number == 0))
    vertex, rest = np.concatenate(more_vertex), np.concatenate(more)
    start, order = topology.grouped(vertex.astype(np.int32), vertex_count)
    return Rows(unsigned(table.ravel()), start, unsigned(rest[order]))
