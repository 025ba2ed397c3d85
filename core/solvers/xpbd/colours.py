"""Order of projection of the constraints: graph colouring within blocks of vertices.

The order decides whether the sweep is stable: edges sorted along a breadth-first numbering blow up in free fall,
coloured ones do not. So the constraints get colours, no two of a colour share a vertex (greedy, in the order of the
mesh), and are swept colour by colour; four of a colour can be projected at a time.

A sweep over all of a colour walks through the whole mesh once per colour. Vertices are therefore cut into blocks of
neighbours, which stay in the cache: the constraints inside a block are swept colour by colour, one block after the
other; those across the borders follow, colour by colour.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import IntArray
from ...jit import lean_kernel

#: Vertices per block.
BLOCK_SIZE = 1024


class Schedule(NamedTuple):
    """Constraints in the order of projection: a task for each block, then one for those across the borders."""

    order: IntArray  # numbers of the constraints, shape (constraint_count,)
    colour: IntArray  # of each constraint in that order, shape (constraint_count,)
    task_start: IntArray  # first place in `order` of each task, shape (block_count + 2,)


def vertex_blocks(body_start: IntArray) -> IntArray:
    """First vertex of each block and the last one's end: runs of vertices of one body.

    `body_start`: first vertex of each body and the last one's end.
    """
    starts: list[int] = []
    for first, last in zip(body_start[:-1].tolist(), body_start[1:].tolist(), strict=True):
        starts.extend(range(first, last, BLOCK_SIZE))
    return np.array([*starts, body_start[-1]], np.int32)


def colours_of(points: IntArray, vertex_count: int) -> IntArray:
    """Greedy colours: each constraint gets the lowest that no earlier one at its vertices has.

    `points` of the constraints, shape (constraint_count, 2 or more).
    """
    order = np.argsort(points.ravel(), kind="stable").astype(np.int32)
    start = np.searchsorted(points.ravel()[order], np.arange(vertex_count + 1)).astype(np.int32)
    colour = np.full(len(points), -1, np.int32)
    colour_greedily(
        points, start, (order // points.shape[1]).astype(np.int32), np.zeros(len(points) + 1, np.int64), colour
    )
    return colour


@lean_kernel
def colour_greedily(points, start, entry, taken_by, colour):
    """`colours_of`, with the constraints at each vertex in CSR; `taken_by` is scratch."""
    for c in range(points.shape[0]):
        for slot in range(points.shape[1]):
            v = points[c, slot]
            for k in range(start[v], start[v + 1]):
                other = colour[entry[k]]
                if other >= 0:
                    taken_by[other] = c + 1
        lowest = 0
        while taken_by[lowest] == c + 1:
            lowest += 1
        colour[c] = lowest


def schedule(points: IntArray, block_start: IntArray, vertex_count: int) -> Schedule:
    """The order of constraints between vertices; `block_start` is the first vertex of each block and the last's end."""
    colour = colours_of(points, vertex_count)
    block = np.searchsorted(block_start, points, side="right") - 1
    block_count = len(block_start) - 1
    inside = (block == block[:, :1]).all(axis=1)
    place = np.where(inside, block[:, 0], block_count)
    order = np.lexsort((np.arange(len(points)), colour, place)).astype(np.int32)
    starts = np.searchsorted(place[order], np.arange(block_count + 2)).astype(np.int32)
    return Schedule(order, colour[order], starts)


def fours(schedule: Schedule) -> tuple[IntArray, IntArray]:
    """Constraints of one task and one colour in fours, and the first four of each task.

    Shapes (four_count, 4) and (block_count + 2,). The four share no vertex and can be projected at once. An incomplete
    four repeats its first constraint: projected twice from the same place, it ends where it does once.
    """
    task = np.searchsorted(schedule.task_start[1:], np.arange(len(schedule.order)), side="right")
    run_starts = np.flatnonzero((np.diff(task, prepend=-1) != 0) | (np.diff(schedule.colour, prepend=-1) != 0))
    length = np.diff(run_starts, append=len(schedule.order))
    four_start = np.concatenate([[0], np.cumsum((length + 3) // 4)])
    run = np.repeat(np.arange(len(run_starts)), length)
    entry = np.full(4 * int(four_start[-1]), -1, np.int32)
    entry[4 * four_start[run] + np.arange(len(schedule.order)) - run_starts[run]] = schedule.order
    entry = entry.reshape(-1, 4)
    first_run = np.searchsorted(run_starts, schedule.task_start)
    return np.where(entry >= 0, entry, entry[:, :1]), four_start[first_run].astype(np.int32)
