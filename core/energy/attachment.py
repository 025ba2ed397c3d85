"""Attachments: a spring of zero length from a vertex to a point of another body.

    E = k/2 |d|^2,  d = sum w_i x_i - o

The weights are 1 for the vertex and minus the barycentric coordinates in the other body's triangle; o is the offset
between both at the start, rotating with the other body (0 for a rigid body, which has the point itself).
"""

import numpy as np

from ..array_types import FloatArray
from ..jit import lean_kernel
from ..model import Model
from .elements import Energy, Part


def glued(model: Model) -> Part:
    """The attachments of a model."""
    glue = model.attachments
    return Part(glue.points, glue.weights, np.zeros_like(glue.offset), glue.stiffness[:, None])


def rotated_offsets(model: Model, x: FloatArray) -> FloatArray:
    """o of each attachment [m] in world axes for the triangles at x, shape (attachment_count, 3)."""
    attachments = model.attachments
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


@lean_kernel
def spring(parameters, first, x, y, z):
    """phi = k/2 |d|^2 and its derivatives."""
    k = parameters[first]
    return 0.5 * k * (x * x + y * y + z * z), k * x, k * y, k * z, k, k, k, 0.0, 0.0, 0.0


ATTACHMENT = Energy("attachment", glued, spring, is_joint=True, offset=rotated_offsets)
