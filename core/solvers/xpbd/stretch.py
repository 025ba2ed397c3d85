"""Springs on the edges as distance constraints (the XPBD page; Macklin, Müller, Chentanez 2016, eq. 18).

    C = l - L,   compliance 1 / k,   lambda = -C / (w_i + w_j + 1 / (k h^2)),   x_i += w_i lambda dC/dx_i

one sweep per substep from lambda = 0 (Macklin et al. 2019). Both ends move along the edge, in inverse proportion to
their masses: momentum and angular momentum are conserved.

An edge with a damper c (`energy/dampers.py`) adds c (l - l_n) / h to its force, l_n its length where the substep
begins: eq. 26 there, with l - l_n for dC . (x - x_n). Spring and damper together are one constraint,

    k' = k + c / h,   L' = (k L + (c / h) l_n) / k'

Rigid springs have the compliance 0: an edge alone comes to its rest length at once, and a damper does nothing to it.

Four edges of one colour are projected at a time: they share no vertex, so this is the same as one after the other, bit
by bit, and takes one root and one division instead of four.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...jit import lean_kernel
from ...model import Edges
from ...simd import four_sums3, load4, root, spread, spread_each, store4
from ...tiny import TINY
from .colours import Schedule, fours


class EdgeRows(NamedTuple):
    """Edges in the order of projection, four at a time."""

    ends: NDArray[np.uint32]  # 4 * vertex: the first ends of the four, then the second ones, shape (four_count, 8)
    constant: FloatArray  # s = 1 / (w_i + w_j + 1 / (k h^2)) [kg] of the four, then s L [kg m], flat: 8 of each four
    task_start: IntArray  # first four of each task of the `colours.Schedule`, shape (block_count + 2,)
    # s L' = constant + factor * l_n [kg m] and [kg] of the four, flat: 8 of each four; empty without dampers
    damped: FloatArray


def edge_rows(
    edges: Edges, damping: FloatArray, rigid: BoolArray, order: Schedule, inverse_mass: FloatArray, time: float
) -> EdgeRows:
    """Rows of the edges for substeps of a length [s].

    `damping` [N s/m] of their dampers and whether they are `rigid`, shape (edge_count,); `inverse_mass` [1/kg], shape
    (vertex_count,).
    """
    entry, task_start = fours(order)
    ends = np.concatenate([edges.points[entry][:, :, k] for k in (0, 1)], axis=1)
    stiffness = edges.stiffness + damping / time
    give = inverse_mass[edges.points].sum(axis=1) + np.where(rigid, 0.0, 1.0 / (stiffness * time**2))
    s = np.divide(1.0, give, out=np.zeros_like(give), where=give > 0.0)[entry]  # 0: rigid between two pins
    share = np.where(rigid, 0.0, damping / time / stiffness)[entry]  # of the damper in the force's stiffness
    damped = np.repeat(s * share, 2, axis=0).reshape(-1, 8) if damping.any() else np.zeros((0, 8))
    rows = EdgeRows((4 * ends).astype(np.uint32), np.repeat(s, 2, axis=0).ravel(), task_start, damped.ravel())
    set_rest_lengths(rows, edges.rest_length[entry])
    return rows


def set_rest_lengths(rows: EdgeRows, lengths: FloatArray) -> None:
    """Set the rest lengths L [m] of the edges, shape (four_count, 4); the springs keep their stiffness."""
    constant, damped = rows.constant.reshape(-1, 8), rows.damped.reshape(-1, 8)
    constant[:, 4:] = constant[:, :4] * lengths
    if len(damped):
        damped[:, :4] = (constant[:, :4] - damped[:, 4:]) * lengths


@lean_kernel
def damp_edges(edges, x):
    """Set the rest lengths L' of a substep that begins at x [m]; flat, four numbers a vertex."""
    ends = edges.ends
    for number in range(edges.damped.shape[0] // 8):
        four = np.uint32(number)
        d0, d1 = load4(x, ends[four, 4]) - load4(x, ends[four, 0]), load4(x, ends[four, 5]) - load4(x, ends[four, 1])
        d2, d3 = load4(x, ends[four, 6]) - load4(x, ends[four, 2]), load4(x, ends[four, 7]) - load4(x, ends[four, 3])
        length = root(four_sums3(d0 * d0, d1 * d1, d2 * d2, d3 * d3))
        place = np.uint32(8) * four
        factor = load4(edges.damped, place + np.uint32(4))
        store4(edges.constant, place + np.uint32(4), factor * length + load4(edges.damped, place))


@lean_kernel
def project_edges(first, last, edges, inverse_mass, x):
    """Project the fours first .. last - 1, one after the other; x [m] flat, four numbers a vertex."""
    ends, two = edges.ends, np.uint32(2)
    for number in range(first, last):
        four = np.uint32(number)
        i0, i1, i2, i3 = ends[four, 0], ends[four, 1], ends[four, 2], ends[four, 3]
        j0, j1, j2, j3 = ends[four, 4], ends[four, 5], ends[four, 6], ends[four, 7]
        p0, p1, p2, p3 = load4(x, i0), load4(x, i1), load4(x, i2), load4(x, i3)
        q0, q1, q2, q3 = load4(x, j0), load4(x, j1), load4(x, j2), load4(x, j3)
        d0, d1, d2, d3 = q0 - p0, q1 - p1, q2 - p2, q3 - p3
        # an edge of length 0 has no direction and is not moved
        length = root(four_sums3(d0 * d0, d1 * d1, d2 * d2, d3 * d3) + TINY)
        place = np.uint32(8) * four
        pull = load4(edges.constant, place) - load4(edges.constant, place + np.uint32(4)) / length
        f0, f1, f2, f3 = spread_each(pull)
        m0, m1, m2, m3 = f0 * d0, f1 * d1, f2 * d2, f3 * d3
        store4(x, i0, p0 + spread(inverse_mass[i0 >> two]) * m0)
        store4(x, i1, p1 + spread(inverse_mass[i1 >> two]) * m1)
        store4(x, i2, p2 + spread(inverse_mass[i2 >> two]) * m2)
        store4(x, i3, p3 + spread(inverse_mass[i3 >> two]) * m3)
        store4(x, j0, q0 - spread(inverse_mass[j0 >> two]) * m0)
        store4(x, j1, q1 - spread(inverse_mass[j1 >> two]) * m1)
        store4(x, j2, q2 - spread(inverse_mass[j2 >> two]) * m2)
        store4(x, j3, q3 - spread(inverse_mass[j3 >> two]) * m3)
