"""Springs on the edges as distance constraints (the XPBD page; Macklin, Müller, Chentanez 2016, eq. 18).

    C = l - L,   compliance 1 / k,   lambda = -C / (w_i + w_j + 1 / (k h^2)),   x_i += w_i lambda dC/dx_i

one sweep per substep from lambda = 0 (Macklin et al. 2019). Both ends move along the edge, in inverse proportion to
their masses: momentum and angular momentum stay.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import prange

from ...jit import kernel, parallel_kernel
from ...model import Edges, FloatArray
from .colours import Schedule


class EdgeRows(NamedTuple):
    """Edges in the order of projection."""

    points: Any  # unsigned: no test for a negative index, a fifth of the time; shape (edge_count, 2)
    constant: Any  # s = 1 / (w_i + w_j + 1 / (k h^2)) [kg] and s L [kg m], shape (edge_count, 2)


def edge_rows(edges: Edges, order: Schedule, inverse_mass: FloatArray, time: float) -> EdgeRows:
    """Rows of the edges for substeps of a length [s]; `inverse_mass` [1/kg], shape (vertex_count,)."""
    points = edges.points[order.order]
    s = 1.0 / (inverse_mass[points].sum(axis=1) + 1.0 / (edges.stiffness[order.order] * time**2))
    return EdgeRows(points.astype(np.uint32), np.stack([s, s * edges.rest_length[order.order]], axis=1))


@kernel
def project_edges(first, last, rows, inverse_mass, x):
    """Project the edges first .. last - 1, one after the other."""
    for row in range(first, last):
        e = np.uint32(row)
        i, j = rows.points[e, 0], rows.points[e, 1]
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        length = sqrt(dx * dx + dy * dy + dz * dz)
        if length == 0.0:
            continue  # no direction; its neighbours pull it apart
        pull = rows.constant[e, 0] - rows.constant[e, 1] / length
        a, b = pull * inverse_mass[i], pull * inverse_mass[j]
        x[i, 0] += a * dx
        x[i, 1] += a * dy
        x[i, 2] += a * dz
        x[j, 0] -= b * dx
        x[j, 1] -= b * dy
        x[j, 2] -= b * dz


@parallel_kernel
def project_skins(x, inverse_mass, gradient, impulse, chunks, block_chunk, task_start, launch_start, rows):
    """The gas moves the vertices (`gas.predict_and_measure`), then all edges are projected.

    Both are done block by block, while its vertices are in the cache, then the edges across the borders of blocks.
    """
    for block in prange(block_chunk.shape[0] - 1):
        body = chunks.body[block_chunk[block]]
        amount = impulse[body]
        for vertex in range(chunks.start[block_chunk[block]], chunks.start[block_chunk[block + 1]]):
            i = np.uint32(vertex)
            move = amount * inverse_mass[i]
            x[i, 0] += move * gradient[i, 0]
            x[i, 1] += move * gradient[i, 1]
            x[i, 2] += move * gradient[i, 2]
        project_edges(task_start[block], task_start[block + 1], rows, inverse_mass, x)
    for launch in range(1, launch_start.shape[0] - 1):
        first = launch_start[launch]
        count = launch_start[launch + 1] - first
        if count == 1:
            project_edges(task_start[first], task_start[first + 1], rows, inverse_mass, x)
        else:
            for task in prange(count):
                project_edges(task_start[first + task], task_start[first + task + 1], rows, inverse_mass, x)
