"""Springs that stiffen with strain, as soft tissue does: what a lattice's springs have beyond the linear law.

    E = k a L^2 s^4 / 4,   s = (l - L) / L,   so that the whole force along a spring is k L (s + a s^3)

These are the first two terms of Fung's exponential law, k L s exp(a s^2) (Fung 1993, 7.5): the tangent stiffness is
k (1 + 3 a s^2). They resist compression alike. Second derivatives: 3 k a s^2 along the spring, the tension per length
across it, cut at zero from below.
"""

import numpy as np

from ..array_types import FloatArray, IntArray
from ..jit import lean_kernel
from ..model import Model
from .elements import Energy, Part

#: Least length of a spring that has a direction, as a share of its rest length.
SHORTEST = 1e-12


def stiffening_springs(model: Model) -> IntArray:
    """Springs of the bodies that stiffen."""
    edges = model.edges
    return np.flatnonzero(model.stiffening[model.point_body[edges.points[:, 0]]]).astype(np.int32)


def stiffened(model: Model) -> Part:
    """The elements of a model: k a and L of each spring."""
    own, edges = stiffening_springs(model), model.edges
    i, j = edges.points[own].T
    k = edges.stiffness[own] * model.stiffening[model.point_body[i]]
    return Part(
        points=np.stack([i, j, i, j], axis=1),
        weights=np.tile([1.0, -1.0, 0.0, 0.0], (len(own), 1)),
        offset=np.zeros((len(own), 3)),
        parameters=np.stack([k, edges.rest_length[own]], axis=1),
    )


def stiffening_energy(model: Model, x: FloatArray) -> FloatArray:
    """E of each membrane at positions x [J], shape (membrane_count,)."""
    own, edges = stiffening_springs(model), model.edges
    i, j = edges.points[own].T
    body, length = model.point_body[i], edges.rest_length[own]
    strain = np.linalg.norm(x[i] - x[j], axis=1) / length - 1.0
    energy = 0.25 * model.stiffening[body] * edges.stiffness[own] * length**2 * strain**4
    return np.bincount(body, energy, model.membrane_count).astype(float)


@lean_kernel
def quartic(parameters, first, x, y, z):
    """phi = k a L^2 s^4 / 4 and its derivatives."""
    k, rest = parameters[first], parameters[first + 1]
    length = max((x * x + y * y + z * z) ** 0.5, SHORTEST * rest)
    strain = length / rest - 1.0
    pull = k * strain * strain * strain * rest / length  # tension per length
    across = max(pull, 0.0)
    along = (3.0 * k * strain * strain - across) / (length * length)
    return (
        0.25 * k * rest * rest * strain * strain * strain * strain, pull * x, pull * y, pull * z,
        along * x * x + across, along * y * y + across, along * z * z + across, along * x * y, along * x * z,
        along * y * z,
    )  # fmt: skip


STIFFENING = Energy("stiffening", stiffened, quartic)
