"""Mass, centre of mass and inertia of a closed mesh of uniform density, exact for the polyhedron."""

from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray, IntArray
from ...topology import cross


class MassProperties(NamedTuple):
    """Of a solid of density 1 kg/m^3 inside a closed surface."""

    volume: float  # [m^3]
    centre: FloatArray  # of mass [m], shape (3,)
    second_moment: FloatArray  # integral of r r' about the centre [m^5], shape (3, 3)


def mass_properties(positions: FloatArray, triangles: IntArray) -> MassProperties:
    """Integrate over the tetrahedra between the surface and a point inside (Tonon 2004; Martin 2009, 4.1).

    positions [m], shape (n, 3); outward triangles, shape (m, 3), of a closed surface with a volume above zero.
    For the tetrahedron (0, a, b, c) of volume v: integral of r r' = v / 20 (a a' + b b' + c c' + s s'), s = a + b + c.
    """
    origin = positions.mean(axis=0)  # differences first: the integrals keep their digits far from the world's origin
    a, b, c = (positions[triangles[:, k]] - origin for k in range(3))
    volumes = np.einsum("ij,ij->i", a, cross(b, c)) / 6.0
    total = float(volumes.sum())
    s = a + b + c
    centre = np.einsum("i,ij->j", volumes, s) / (4.0 * total)
    moment = np.zeros((3, 3))
    for corner in (a, b, c, s):
        moment += np.einsum("i,ij,ik->jk", volumes, corner, corner) / 20.0
    moment -= total * np.outer(centre, centre)
    return MassProperties(total, origin + centre, 0.5 * (moment + moment.T))


def inertia_of(second_moment: FloatArray) -> FloatArray:
    """Inertia tensors I = trace(S) 1 - S of second moments S, shape (..., 3, 3); with S in kg m^2, I is too."""
    trace = np.trace(second_moment, axis1=-2, axis2=-1)
    return np.asarray(trace[..., None, None] * np.eye(3) - second_moment)
