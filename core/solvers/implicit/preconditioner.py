"""The constant scalar matrix that stands for a stage's Hessian in the preconditioner.

Of inertia, springs, hinges and the volumes of tetrahedra.
"""

import numpy as np

from ... import topology
from ...energy.hinges import hinge_couplings
from ...energy.volume import tetrahedron_couplings
from ...linear.multigrid import Multigrid
from ...model import FloatArray, IntArray, Model


def precondition(model: Model, inertia: FloatArray) -> Multigrid:
    """Multigrid for stages of the given mass / tau^2 [N/m], shape (vertex_count,)."""
    start, other, weight = stiffness_graph(model)
    return Multigrid.build(start, other, weight, inertia, model.pinned, model.chunks.start)


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
