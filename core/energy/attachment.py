"""Glue: a spring without length from a vertex to a point that another body carries.

    E = k/2 |d|^2,  d = sum w_i x_i - o

The weights are 1 for the vertex and minus the shares of the other body's points; o is the distance that was between
both at the start, turning with the other body (none for a rigid body, which carries the very point). An attachment is
a row of the contact record with a force and a stiffness, so everything that gathers contacts gathers attachments.
"""

import numpy as np

from ..jit import kernel
from ..model import Attachments, FloatArray


def turned_offsets(attachments: Attachments, x: FloatArray) -> FloatArray:
    """o of each attachment [m] in world axes, with the triangles as they lie at x, shape (attachment_count, 3)."""
    offset = np.zeros_like(attachments.offset)
    away = np.flatnonzero(attachments.offset.any(axis=1))
    if len(away):
        a, b, c = (x[attachments.points[away, k]] for k in (1, 2, 3))
        along = (b - a) / np.linalg.norm(b - a, axis=1)[:, None]
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        local = attachments.offset[away]
        offset[away] = local[:, :1] * along + local[:, 1:2] * np.cross(normal, along) + local[:, 2:] * normal
    return offset


@kernel
def attachment_energy(first, points, weights, offset, stiffness, x):
    """E [J] of the attachments, which are the rows from `first` on of the contact record."""
    total = 0.0
    for a in range(stiffness.shape[0]):
        dx, dy, dz = pulled_apart(first + a, points, weights, offset[a], x)
        total += 0.5 * stiffness[a] * (dx * dx + dy * dy + dz * dz)
    return total


@kernel
def evaluate_attachments(first, points, weights, offset, stiffness, x, active, force, matrix):
    """Force [N] on the vertex and stiffness [N/m] (xx, yy, zz, xy, xz, yz) of each attachment, in its row."""
    for a in range(stiffness.shape[0]):
        c = first + a
        dx, dy, dz = pulled_apart(c, points, weights, offset[a], x)
        k = stiffness[a]
        active[c] = True
        force[c, 0], force[c, 1], force[c, 2] = -k * dx, -k * dy, -k * dz
        matrix[c, 0] = matrix[c, 1] = matrix[c, 2] = k
        matrix[c, 3] = matrix[c, 4] = matrix[c, 5] = 0.0


@kernel
def pulled_apart(c, points, weights, offset, x):
    """d of row c [m]."""
    dx, dy, dz = -offset[0], -offset[1], -offset[2]
    for slot in range(4):
        i, w = points[c, slot], weights[c, slot]
        dx, dy, dz = dx + w * x[i, 0], dy + w * x[i, 1], dz + w * x[i, 2]
    return dx, dy, dz
