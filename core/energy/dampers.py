"""Dampers along springs: no energy, but forces that take it (Matyka 2004, eq. 1; Mesit 2007, eq. 12).

    F = c (v_rel . d) d,   d the unit vector along the spring, v_rel the velocity of its ends relative to each other

The force lies along the spring and is equal and opposite at its ends: momentum and angular momentum stay, and rigid
motion is free. The constants c of a body are (eta / Y) k (`bodies.assembly.edge_dampers`), so an oscillation of its
springs with the angular frequency w has the damping ratio eta w / (2 Y), whatever the mesh.
"""

import numpy as np

from ..array_types import FloatArray, IntArray
from ..tiny import TINY


def damper_forces(x: FloatArray, v: FloatArray, points: IntArray, damping: FloatArray) -> FloatArray:
    """Force of the dampers on each vertex [N], shape of v: (vertex_count, 3).

    x [m], v [m/s], shape (vertex_count or more, 3); `damping` c [N s/m], shape (edge_count,).
    """
    first, second = points.T
    d = x[second] - x[first]
    along = np.einsum("ij,ij->i", d, v[second] - v[first])
    pull = (damping * along / (np.einsum("ij,ij->i", d, d) + TINY))[:, None] * d
    force = np.zeros_like(v)
    np.add.at(force, first, pull)
    np.subtract.at(force, second, pull)
    return force
