"""Springs on the edges as distance constraints (the XPBD page; Macklin, Müller, Chentanez 2016, eq. 18).

    C = l - L,   compliance 1 / k,   lambda = -C / (w_i + w_j + 1 / (k h^2)),   x_i += w_i lambda dC/dx_i

one sweep per substep from lambda = 0 (Macklin et al. 2019). Both ends move along the edge, in inverse proportion to
their masses: momentum and angular momentum stay.

Four edges of one colour are projected at a time: they share no vertex, so this is the same as one after the other, bit
by bit, and takes one root and one division instead of four.
"""

from typing import Any, NamedTuple

import numpy as np

from ...jit import allocating_kernel
from ...lanes import four_sums3, fused, load4, root, spread, spread_each, store4, with_lane3
from ...model import Edges, FloatArray
from .colours import Schedule, fours
from .rows import on_lines

#: Added to squared lengths [m^2]: no change but to an edge without length, which has no direction and is left alone.
NO_LENGTH = 1e-300


class EdgeRows(NamedTuple):
    """Edges in the order of projection, four at a time; the last four of a colour may have fewer."""

    # Places of the first ends of the four in the flat rows (`rows.py`), then of the second ones: unsigned, no test for
    # a negative index; shape (four_count, 8)
    places: Any
    # s = 1 / (w_i + w_j + 1 / (k h^2)) [kg] of the four, then s L [kg m], shape (four_count, 8)
    constant: Any
    task_start: Any  # first four of each task of the `colours.Schedule`, shape (block_count + 2,)


def edge_rows(edges: Edges, order: Schedule, inverse_mass: FloatArray, time: float) -> EdgeRows:
    """Rows of the edges for substeps of a length [s]; `inverse_mass` [1/kg], shape (vertex_count,).

    Where fewer than four are left both ends are the spare row of their task, which stays where it is.
    """
    entry, task_start = fours(order)
    task = np.repeat(np.arange(len(task_start) - 1), np.diff(task_start))
    some = entry >= 0
    points = np.where(some[:, :, None], edges.points[entry], (len(inverse_mass) + task)[:, None, None])
    weight = inverse_mass[edges.points].sum(axis=1)
    s = np.where(some, (1.0 / (weight + 1.0 / (edges.stiffness * time**2)))[entry], 0.0)
    places = (4 * points).astype(np.uint32)
    constant = on_lines((len(entry), 8))
    constant[:, :4], constant[:, 4:] = s, s * edges.rest_length[entry]
    return EdgeRows(
        np.concatenate([places[:, :, 0], places[:, :, 1]], axis=1),
        constant,
        task_start,
    )


@allocating_kernel
def project_edges(first, last, edges, rows):
    """Project the fours first .. last - 1, one after the other; `rows` of the vertices as in `rows.py`."""
    flat, three = rows.ravel(), np.uint32(3)
    places, constants = edges.places, edges.constant.ravel()
    for number in range(first, last):
        four = np.uint32(number)
        i0, i1, i2, i3 = places[four, 0], places[four, 1], places[four, 2], places[four, 3]
        j0, j1, j2, j3 = places[four, 4], places[four, 5], places[four, 6], places[four, 7]
        p0, p1, p2, p3 = load4(flat, i0), load4(flat, i1), load4(flat, i2), load4(flat, i3)
        q0, q1, q2, q3 = load4(flat, j0), load4(flat, j1), load4(flat, j2), load4(flat, j3)
        d0, d1, d2, d3 = (
            with_lane3(q0 - p0, 0.0), with_lane3(q1 - p1, 0.0), with_lane3(q2 - p2, 0.0), with_lane3(q3 - p3, 0.0)
        )  # fmt: skip
        length = root(four_sums3(d0 * d0, d1 * d1, d2 * d2, d3 * d3) + NO_LENGTH)
        place = np.uint32(8) * four
        pull = load4(constants, place) - load4(constants, place + np.uint32(4)) / length
        f0, f1, f2, f3 = spread_each(pull)
        m0, m1, m2, m3 = f0 * d0, f1 * d1, f2 * d2, f3 * d3
        store4(flat, i0, fused(spread(flat[i0 + three]), m0, p0))
        store4(flat, i1, fused(spread(flat[i1 + three]), m1, p1))
        store4(flat, i2, fused(spread(flat[i2 + three]), m2, p2))
        store4(flat, i3, fused(spread(flat[i3 + three]), m3, p3))
        store4(flat, j0, fused(spread(flat[j0 + three]), -m0, q0))
        store4(flat, j1, fused(spread(flat[j1 + three]), -m1, q1))
        store4(flat, j2, fused(spread(flat[j2 + three]), -m2, q2))
        store4(flat, j3, fused(spread(flat[j3 + three]), -m3, q3))


@allocating_kernel
def project_skins(rows, gradient, impulse, chunks, block_chunk, edges):
    """The gas moves the vertices (`gas.predict_and_measure`), then all edges are projected.

    Both are done block by block, while its vertices are in the cache, then the edges across the borders of blocks.
    """
    task_start, block_count = edges.task_start, block_chunk.shape[0] - 1
    for block in range(block_count):
        body = chunks.body[block_chunk[block]]
        amount = spread(impulse[body])
        x, g = rows.ravel(), gradient.ravel()
        for vertex in range(chunks.start[block_chunk[block]], chunks.start[block_chunk[block + 1]]):
            i = np.uint32(4) * np.uint32(vertex)
            store4(x, i, fused(amount * spread(x[i + np.uint32(3)]), load4(g, i), load4(x, i)))
        project_edges(task_start[block], task_start[block + 1], edges, rows)
    project_edges(task_start[block_count], task_start[block_count + 1], edges, rows)
