"""Springs of soft bodies: their tables, and their rows of force, four springs at a time.

A spring has a dashpot: its length is compared with the one when it acted last, a time t before (`inverse_length`).

    T / l = k (1 - L / l) + (c k + b) (l - l_before) / (l t),   c = 2 zeta / omega

b is the constant of the damper along the spring, of bodies that have one (`energy/dampers.py`).
"""

from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray, IntArray
from ...jit import lean_inline_kernel, lean_kernel
from ...model import Model
from ...simd import dot, four_sums3, load4, root, smaller, spread, spread_each, store4
from ...tiny import TINY
from .layout import Numbering
from .rows import IndexArray, Rows, rows_of, unsigned

#: Slots, rows that a vertex adds up without a loop: of springs that begin there, and of ones that end there.
SLOTS = 4
#: Largest growth of a length in a step that a dashpot answers, as a share of it.
MOST_GROWN = 0.5


class Springs(NamedTuple):
    """Springs in fours, by their first vertex; ones without stiffness fill up the last four of a body."""

    ends: IndexArray  # 4 * vertex, two of each spring, shape (2 * padded count,)
    stiffness: FloatArray  # [N/m], shape (padded count,)
    rest_force: FloatArray  # stiffness * rest length [N]
    damping: FloatArray  # constant of the damper [N s/m], shape (padded count,); empty where no spring has one
    inverse_length: FloatArray  # 1 / length when the force acted last [1/m]; changes
    force: FloatArray  # rows [N], shape (4 * padded count + 4,); changes
    rows: Rows


def spring_order(model: Model, numbering: Numbering) -> IntArray:
    """Springs of a model in the order of `Springs`: by their first vertex in the solver's numbers.

    Each body's last one is repeated until they are a multiple of four.
    """
    ends = np.sort(numbering.place[model.edges.points], axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0])).astype(np.int32)
    last = np.cumsum(np.bincount(model.point_body[model.edges.points[order, 0]], minlength=model.membrane_count))
    count = np.diff(last, prepend=0)
    return np.insert(order, np.repeat(last, -count % 4), np.repeat(order[last[count > 0] - 1], -count[count > 0] % 4))


def springs_of(model: Model, numbering: Numbering) -> Springs:
    """The springs of a model in the solver's numbers."""
    edges, vertex_count = model.edges, model.vertex_count
    order = spring_order(model, numbering)
    is_own = np.diff(order, prepend=-1) != 0
    ends = np.ascontiguousarray(np.sort(numbering.place[edges.points[order]], axis=1))
    turned = ends[is_own]
    balance(turned, np.zeros(vertex_count, np.int32))
    ends[is_own], row = turned, np.flatnonzero(is_own)
    stiffness, length = edges.stiffness[order] * is_own, edges.rest_length[order]
    return Springs(
        ends=unsigned(4 * ends.ravel()),
        stiffness=stiffness,
        rest_force=stiffness * length,
        damping=model.edge_damping[order] * is_own if model.edge_damping.any() else np.zeros(0),
        inverse_length=1.0 / length,
        force=np.zeros(4 * len(ends) + 4),
        rows=rows_of([(turned[:, 0], row), (turned[:, 1], row)], vertex_count, SLOTS, len(ends)),
    )


@lean_kernel
def balance(ends, lead):
    """Orient springs so that about as many begin at each vertex as end there; `lead`: scratch, zero."""
    for q in range(ends.shape[0]):
        a, b = ends[q, 0], ends[q, 1]
        if lead[b] < lead[a]:
            ends[q, 0], ends[q, 1] = b, a
            a, b = b, a
        lead[a] += 1
        lead[b] -= 1


@lean_inline_kernel
def spring_rows(x, springs, dashpot, rate, first, last):
    """Rows of the fours first .. last - 1; keeps 1 / l. `dashpot`: c [s], `rate`: 1 / t [1/s]."""
    has_dampers = springs.damping.shape[0] > 0
    for q in range(np.uint64(first), np.uint64(last)):
        e = np.uint64(8) * q
        a0, b0 = springs.ends[e], springs.ends[e + np.uint64(1)]
        a1, b1 = springs.ends[e + np.uint64(2)], springs.ends[e + np.uint64(3)]
        a2, b2 = springs.ends[e + np.uint64(4)], springs.ends[e + np.uint64(5)]
        a3, b3 = springs.ends[e + np.uint64(6)], springs.ends[e + np.uint64(7)]
        d0, d1 = load4(x, b0) - load4(x, a0), load4(x, b1) - load4(x, a1)
        d2, d3 = load4(x, b2) - load4(x, a2), load4(x, b3) - load4(x, a3)
        square = four_sums3(d0 * d0, d1 * d1, d2 * d2, d3 * d3)
        place = np.uint64(4) * q
        before, k = load4(springs.inverse_length, place), load4(springs.stiffness, place)
        inverse = 1.0 / root(square + TINY)
        store4(springs.inverse_length, place, inverse)
        # (l - l_before) / l = 1 - (1 / l) / (1 / l_before); to first order without a second division, if it is small
        grown = smaller((before - inverse) * (square * inverse), spread(MOST_GROWN)) * rate
        tension = k - load4(springs.rest_force, place) * inverse
        tension = tension + (dashpot * k) * grown
        if has_dampers:
            tension = tension + load4(springs.damping, place) * grown
        t0, t1, t2, t3 = spread_each(tension)
        row = np.uint64(16) * q
        store4(springs.force, row, d0 * t0)
        store4(springs.force, row + np.uint64(4), d1 * t1)
        store4(springs.force, row + np.uint64(8), d2 * t2)
        store4(springs.force, row + np.uint64(12), d3 * t3)


@lean_inline_kernel
def gathered_springs(springs, i):
    """Force of the springs on vertex i [N]."""
    force, slot, s = springs.force, springs.rows.slot, np.uint64(8) * i
    begun = (load4(force, slot[s]) + load4(force, slot[s + np.uint64(1)])) + (
        load4(force, slot[s + np.uint64(2)]) + load4(force, slot[s + np.uint64(3)])
    )
    ended = (load4(force, slot[s + np.uint64(4)]) + load4(force, slot[s + np.uint64(5)])) + (
        load4(force, slot[s + np.uint64(6)]) + load4(force, slot[s + np.uint64(7)])
    )
    total = begun - ended
    for q in range(np.uint64(springs.rows.more_start[i]), np.uint64(springs.rows.more_start[i + np.uint64(1)])):
        row = springs.rows.more[q]
        if row & np.uint32(1):
            total = total + load4(force, row - np.uint32(1))
        else:
            total = total - load4(force, row)
    return total


@lean_inline_kernel
def start_lengths(x, velocity, h, springs, blocks, paces):
    """The springs' lengths when their forces acted last before a run of steps h [s], as the dashpots need them."""
    for block in range(blocks.body.shape[0]):
        every = paces.every[blocks.body[block], 0]
        back = h * (every - every // 2)
        for q in range(4 * blocks.four[block], 4 * blocks.four[block + 1]):
            a, b = springs.ends[2 * q], springs.ends[2 * q + 1]
            way = load4(x, b) - load4(x, a) - (load4(velocity, b) - load4(velocity, a)) * back
            springs.inverse_length[q] = 1.0 / root(dot(way, way) + TINY)
