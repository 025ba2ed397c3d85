"""Thins a motion: keeps the fewest frames between which linear interpolation stays within an error."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def fewest(shapes: NDArray[np.float32], error: float) -> list[int]:
    """Numbers of the frames to keep, first and last included, of shapes (frame_count, vertex_count, 3).

    No vertex is farther than `error` from where linear interpolation between them has it, and no smaller number of
    frames does that. It is a shortest path: `j` is reached from `i` if the straight line between them is near enough to
    all that lies between. The search from `i` ends where some coordinate has no line from `i` left, as the slopes that
    pass all points so far, each within `error`, have no value in common.
    """
    last = len(shapes) - 1
    before, ends = {0: 0}, [0]
    while last not in before:
        starts, ends = ends, []
        for i in starts:
            high = np.full(shapes.shape[1:], np.inf, np.float32)
            low = -high
            for j in range(i + 1, last + 1):
                slope = (shapes[j] - shapes[i]) / np.float32(j - i)
                is_near = bool((low <= slope).all() and (slope <= high).all())
                if j not in before and is_near and _is_within(shapes[i : j + 1], error):
                    before[j] = i
                    ends.append(j)
                room = np.float32(error / (j - i))
                low, high = np.maximum(low, slope - room), np.minimum(high, slope + room)
                if (low > high).any():
                    break
    kept = [last]
    while kept[-1]:
        kept.append(before[kept[-1]])
    return kept[::-1]


def deviation(shapes: NDArray[np.float32], kept: list[int]) -> float:
    """Largest distance of a vertex from where linear interpolation between the kept frames has it."""
    pieces = [shapes[i : j + 1] for i, j in zip(kept, kept[1:], strict=False)]
    return max((distance for piece in pieces for distance in _distances(piece)), default=0.0)


def _is_within(shapes: NDArray[np.float32], error: float) -> bool:
    return all(distance <= error for distance in _distances(shapes))


def _distances(shapes: NDArray[np.float32]) -> Iterator[float]:
    """Of each shape between the first and the last, the largest distance of a vertex from the line between these."""
    first, whole, count = shapes[0], shapes[-1] - shapes[0], len(shapes) - 1
    for number in range(1, count):
        apart = shapes[number] - first - np.float32(number / count) * whole
        yield float(np.sqrt(np.einsum("ij,ij->i", apart, apart).max()))
