"""Blocks of vertices: the jobs into which the threads of a team divide the inner forces of soft bodies."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...array_types import IntArray
from ...model import Model

Corners = NDArray[np.uint32]

#: Vertices per block of both jobs.
BLOCK_SIZE = 128


class Blocks(NamedTuple):
    """Runs of vertices of one body, and the springs, triangles and cells whose first vertex is in each."""

    body: IntArray  # shape (block_count,)
    body_start: IntArray  # first block of each body, shape (membrane_count + 1,)
    vertex: IntArray  # first vertex of each block, shape (block_count + 1,)
    four: IntArray  # first four of springs
    triangle: IntArray
    cell: IntArray


def blocks_of(model: Model, ends: Corners, triangles: Corners, cells: Corners) -> Blocks:
    """The blocks of a model; 4 * vertex of the points of its springs, two each, triangles and cells."""
    start = model.body_point_start[: model.membrane_count + 1]
    firsts = [np.arange(first, last, BLOCK_SIZE) for first, last in zip(start[:-1], start[1:], strict=True)]
    vertex = np.concatenate([*firsts, [model.vertex_count]])
    sizes = np.array([len(part) for part in firsts], np.int64)

    def begin(points: Corners, count: int) -> IntArray:
        """First element of each block, where elements are sorted by the first of their `count` points."""
        return np.searchsorted(points.reshape(-1, count).min(axis=1) // 4, vertex)

    parts = {
        "body": np.repeat(np.arange(len(sizes)), sizes),
        "body_start": np.concatenate([[0], np.cumsum(sizes)]),
        "vertex": vertex,
        "four": (begin(ends, 2) + 3) // 4,
        "triangle": begin(triangles, 3),
        "cell": begin(cells, 8),
    }
    return Blocks(**{name: values.astype(np.int32) for name, values in parts.items()})
