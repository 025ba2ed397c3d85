"""The constant scalar matrix that stands for a stage's Hessian in the preconditioner.

Of inertia, springs, hinges and the volumes of tetrahedra.
"""

from dataclasses import replace

import numpy as np

from ... import topology
from ...energy.hinges import hinge_couplings
from ...energy.volume import tetrahedron_couplings
from ...linear.multigrid import Multigrid
from ...model import FloatArray, IntArray, Model

#: Multigrid hierarchies that are cached at most; then the oldest is dropped.
KEPT = 16


def precondition(model: Model, inertia: FloatArray) -> Multigrid:
    """Multigrid for stages of the given mass / tau^2 [N/m], shape (vertex_count,)."""
    start, other, weight = stiffness_graph(model)
    return Multigrid.build(start, other, weight, inertia, model.pinned, model.chunks.start)


class Preconditioners:
    """Multigrid hierarchies of a model, and of models with other values, for stages of a length [s] and its multiples.

    Models share a hierarchy where the stiffness of each body agrees within a factor of about 1.4: that hardly changes
    the number of iterations, so animated stiffness seldom needs a new one.
    """

    def __init__(self, model: Model, stage_time: float) -> None:
        self._model, self._stage_time = model, stage_time
        self._known: dict[tuple[int, bytes], Multigrid] = {}
        self._latest: tuple[Model, dict[int, Multigrid]] = model, {}

    def of(self, model: Model, count: int = 1) -> Multigrid:
        """For stages `count` times as long."""
        if self._latest[0] is not model:
            self._latest = model, {}
        found = self._latest[1]
        if count not in found:
            found[count] = self._find(model, count)
        return found[count]

    def _find(self, model: Model, count: int) -> Multigrid:
        inertia = model.vertex_mass / (count * self._stage_time) ** 2
        if len(model.hinges.points) != len(self._model.hinges.points):
            return precondition(model, inertia)
        springs, hinges, cells = (_powers(self._model, model, name) for name in ("edges", "hinges", "tetrahedra"))
        name = count, np.stack([springs, hinges, cells]).tobytes()
        if name not in self._known:
            of_vertex = 2.0 ** np.stack([springs, hinges, cells])[:, model.point_body[: model.vertex_count]]
            near = {}
            for part, factor in zip(("edges", "hinges", "tetrahedra"), of_vertex, strict=True):
                known = getattr(self._model, part)
                near[part] = known._replace(stiffness=known.stiffness * factor[known.points[:, 0]])
            while len(self._known) >= KEPT:
                del self._known[next(iter(self._known))]
            self._known[name] = precondition(replace(model, **near), inertia)
        return self._known[name]


def _powers(model: Model, other: Model, name: str) -> FloatArray:
    """Ratio of the stiffness of the springs, hinges or tetrahedra of each membrane, as a whole power of 2."""
    before, after, powers = getattr(model, name), getattr(other, name), np.zeros(model.membrane_count)
    if len(before.points):
        powers[model.point_body[before.points[:, 0]]] = np.round(np.log2(after.stiffness / before.stiffness))
    return powers


def stiffness_graph(model: Model) -> tuple[IntArray, IntArray, FloatArray]:
    """Springs at half their stiffness and hinges as if flat at rest, per axis, as one graph over the vertices in CSR.

    Weights are minus the off-diagonal entries [N/m]: positive for springs (half, as a spring resists along one axis
    only), of both signs for a hinge, whose matrix is k w w', and for a tetrahedron, of which each axis has a third.
    """
    edges, hinges = model.edges, model.hinges
    pairs, weight = hinge_couplings(hinges.points, hinges.weight, hinges.stiffness)
    sides, push = tetrahedron_couplings(model.tetrahedra, model.rest_positions)
    return topology.graph(
        np.concatenate([edges.points, pairs, sides]),
        np.concatenate([0.5 * edges.stiffness, weight, push]),
        model.vertex_count,
    )
