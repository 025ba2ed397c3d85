"""Union-find: connected components of bodies. An island is named by its lowest member."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .array_types import BoolArray
from .jit import lean_kernel


def islands_of(count: int, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The lowest member of the island of each of `count` members, of which each of a is joined with that of b."""
    names = np.arange(count)
    unite_pairs(names, a.astype(np.int64), b.astype(np.int64))
    return names


def islands_of_grid(kept: BoolArray) -> NDArray[np.int64]:
    """The same of the cells of a grid, shape as `kept`: kept ones that have a side in common are joined."""
    number = np.arange(kept.size).reshape(kept.shape)
    pairs = [np.zeros((2, 0), np.int64)]
    for axis in range(kept.ndim):
        is_kept, cell = np.moveaxis(kept, axis, 0), np.moveaxis(number, axis, 0)
        both = is_kept[:-1] & is_kept[1:]
        pairs.append(np.stack([cell[:-1][both], cell[1:][both]]))
    return islands_of(kept.size, *np.concatenate(pairs, axis=1)).reshape(kept.shape)


@lean_kernel
def unite_pairs(parent, a, b):
    """Name each member's island by its lowest one; `parent` starts as the numbers of the members."""
    for i in range(a.shape[0]):
        unite(parent, a[i], b[i])
    name_islands(parent)


@lean_kernel
def root_of(parent, body):
    """Lowest member of an island."""
    while parent[body] != body:
        parent[body] = parent[parent[body]]
        body = parent[body]
    return body


@lean_kernel
def unite(parent, a, b):
    """Make two islands one."""
    a, b = root_of(parent, a), root_of(parent, b)
    parent[max(a, b)] = min(a, b)


@lean_kernel
def name_islands(parent):
    """Point every member directly to its island's lowest one."""
    for body in range(parent.shape[0]):
        parent[body] = root_of(parent, body)
