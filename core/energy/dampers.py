"""Dampers along springs: no energy, but forces that take it (Matyka 2004, eq. 1; Mesit 2007, eq. 12).

    F = c (v_rel . d) d,   d the unit vector along the spring, v_rel the velocity of its ends relative to each other

The force lies along the spring and is equal and opposite at its ends: momentum and angular momentum stay, and rigid
motion is free. The constants c of a body are (eta / Y) k (`bodies.assembly.edge_dampers`), so an oscillation of its
springs with the angular frequency w has the damping ratio eta w / (2 Y), whatever the mesh.

An implicit step of a length tau from x_s takes the rate of the length from its ends, c (l - l_s) / tau: the force of
the potential c / (2 tau) (l - l_s)^2. Together with the spring that is one spring (`with_dampers`).
"""

import numpy as np

from ..model import Edges, FloatArray, IntArray
from ..tiny import TINY


def damper_tension(x: FloatArray, v: FloatArray, points: IntArray, damping: FloatArray) -> FloatArray:
    """Tension of each damper per length of its spring, c (v_rel . d) / l [N/m], shape (edge_count,).

    x [m], v [m/s], shape (vertex_count or more, 3); `damping` c [N s/m].
    """
    first, second = points.T
    d = x[second] - x[first]
    along = np.einsum("ij,ij->i", d, v[second] - v[first])
    return np.asarray(damping * along / (np.einsum("ij,ij->i", d, d) + TINY))


def damper_forces(x: FloatArray, v: FloatArray, points: IntArray, damping: FloatArray) -> FloatArray:
    """Force of the dampers on each vertex [N], shape of v: (vertex_count, 3)."""
    first, second = points.T
    pull = damper_tension(x, v, points, damping)[:, None] * (x[second] - x[first])
    force = np.zeros_like(v)
    np.add.at(force, first, pull)
    np.subtract.at(force, second, pull)
    return force


def with_dampers(edges: Edges, damping: FloatArray, x: FloatArray, time: float) -> Edges:
    """Springs that have the forces of springs and dampers in an implicit step of a length [s] from x [m].

    k (l - L) + c (l - l_s) / time = k' (l - L'),   k' = k + c / time,   L' = (k L + (c / time) l_s) / k'
    """
    viscous = damping / time
    stiffness = edges.stiffness + viscous
    rest_length = (edges.stiffness * edges.rest_length + viscous * lengths(x, edges.points)) / stiffness
    return edges._replace(stiffness=stiffness, rest_length=rest_length)


def lengths(x: FloatArray, points: IntArray) -> FloatArray:
    """Length of each spring at x [m]."""
    d = x[points[:, 1]] - x[points[:, 0]]
    return np.sqrt(np.einsum("ij,ij->i", d, d))


def stretch_energy(edges: Edges, length: FloatArray) -> float:
    """Energy of springs at given lengths [J]."""
    stretch = length - edges.rest_length
    return 0.5 * float((edges.stiffness * stretch * stretch).sum())
