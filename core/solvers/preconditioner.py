"""The constant scalar matrix that stands for a stage's Hessian in the preconditioner: inertia, springs, hinges."""

from itertools import combinations

import numpy as np

from ..linear.multigrid import Multigrid
from ..model import FloatArray, IntArray, Model


def precondition(model: Model, inertia: FloatArray) -> Multigrid:
    """Multigrid for stages of the given mass / tau^2 [N/m], shape (vertex_count,)."""
    start, other, weight = stiffness_graph(model)
    return Multigrid.build(start, other, weight, inertia, model.pinned, model.chunks.start)


def stiffness_graph(model: Model) -> tuple[IntArray, IntArray, FloatArray]:
    """Springs at half their stiffness and hinges as if flat at rest, per axis, as one graph over the vertices in CSR.

    Weights are minus the off-diagonal entries [N/m]: positive for springs (half, as a spring resists along one axis
    only), of both signs for a hinge, whose matrix is k w w'.
    """
    edges, hinges, n = model.edges, model.hinges, model.vertex_count
    ends, weights = [edges.points], [0.5 * edges.stiffness]
    for s, t in combinations(range(4), 2):
        ends.append(hinges.points[:, [s, t]])
        weights.append(-hinges.stiffness * hinges.weight[:, s] * hinges.weight[:, t])
    pairs = np.sort(np.concatenate(ends).astype(np.int64), axis=1)
    key, entry = np.unique(pairs @ [n, 1], return_inverse=True)
    weight = np.bincount(entry, np.concatenate(weights))
    both = np.concatenate([key, key % n * n + key // n])  # each pair from both ends, with the same weight
    order = np.argsort(both)
    start = np.searchsorted(both[order], np.arange(n + 1) * n).astype(np.int32)
    return start, (both[order] % n).astype(np.int32), np.concatenate([weight, weight])[order]
