"""Volumes of solids: the corners of their cells, and their rows of force (`energy/volume.py`)."""

from typing import NamedTuple

import numpy as np

from ... import topology
from ...array_types import FloatArray, IntArray
from ...jit import lean_inline_kernel
from ...model import Model
from ...simd import cross, dot, load4, spread, store4
from .layout import Numbering
from .rows import IndexArray, unsigned


class Volumes(NamedTuple):
    """Cells of solids. Their corners' volumes are six times those of tetrahedra here."""

    corners: IndexArray  # 4 * vertex, eight of each cell, numbered as `CORNERS`, shape (8 * cell_count,)
    rest: FloatArray  # volumes at rest [m^3], shape (8 * cell_count,)
    stiffness: FloatArray  # of one corner's volume and of the sum of all [Pa/m^3], shape (2 * cell_count,)
    force: FloatArray  # rows of the eight corners [N], shape (32 * cell_count,); changes
    start: IntArray  # CSR over vertices, shape (vertex_count + 1,)
    row: IndexArray  # 4 * row


def volumes_of(model: Model, numbering: Numbering) -> Volumes:
    """The cells of a model that resist a change of volume, in the solver's numbers."""
    tetrahedra = model.tetrahedra
    corners = numbering.place[tetrahedra.points[:, 0]].reshape(-1, 8)
    order = np.argsort(corners.min(axis=1), kind="stable") if len(corners) else np.zeros(0, int)
    corners = np.ascontiguousarray(corners[order])
    start, entry = topology.grouped(corners.ravel(), model.vertex_count)
    stiffness = np.stack([tetrahedra.stiffness[::8], tetrahedra.sum_stiffness], axis=1) / 36.0
    return Volumes(
        corners=unsigned(4 * corners.ravel()),
        rest=6.0 * tetrahedra.rest_volume.reshape(-1, 8)[order].ravel(),
        stiffness=stiffness[order].ravel(),
        force=np.zeros(32 * len(corners)),
        start=start,
        row=unsigned(4 * entry.astype(np.int64)),
    )


@lean_inline_kernel
def volume_rows(x, volumes, first, last):
    """Rows of force of the cells first .. last - 1: the sum over its corners of p dV/dx.

    `abc` below: the corner at the high end of these axes, none of them for `o`. Edges and the forces along them are
    named by their axis and by the corner at their low end.
    """
    for t in range(np.uint64(first), np.uint64(last)):
        e = np.uint64(8) * t
        corners, rest = volumes.corners, volumes.rest
        o, c = load4(x, corners[e]), load4(x, corners[e + np.uint64(1)])
        b, bc = load4(x, corners[e + np.uint64(2)]), load4(x, corners[e + np.uint64(3)])
        a, ac = load4(x, corners[e + np.uint64(4)]), load4(x, corners[e + np.uint64(5)])
        ab, abc = load4(x, corners[e + np.uint64(6)]), load4(x, corners[e + np.uint64(7)])
        a_o, a_c, a_b, a_bc = a - o, ac - c, ab - b, abc - bc
        b_o, b_c, b_a, b_ac = b - o, bc - c, ab - a, abc - ac
        c_o, c_b, c_a, c_ab = c - o, bc - b, ac - a, abc - ab
        # areas across the first axis
        n_o, n_c, n_b, n_bc = cross(b_o, c_o), cross(b_c, c_o), cross(b_o, c_b), cross(b_c, c_b)
        n_a, n_ac, n_ab, n_abc = cross(b_a, c_a), cross(b_ac, c_a), cross(b_a, c_ab), cross(b_ac, c_ab)
        p_o, p_c = rest[e] - dot(a_o, n_o), rest[e + np.uint64(1)] - dot(a_c, n_c)
        p_b, p_bc = rest[e + np.uint64(2)] - dot(a_b, n_b), rest[e + np.uint64(3)] - dot(a_bc, n_bc)
        p_a, p_ac = rest[e + np.uint64(4)] - dot(a_o, n_a), rest[e + np.uint64(5)] - dot(a_c, n_ac)
        p_ab, p_abc = rest[e + np.uint64(6)] - dot(a_b, n_ab), rest[e + np.uint64(7)] - dot(a_bc, n_abc)
        own, of_sum = volumes.stiffness[np.uint64(2) * t], volumes.stiffness[np.uint64(2) * t + np.uint64(1)]
        p = of_sum * (((p_o + p_c) + (p_b + p_bc)) + ((p_a + p_ac) + (p_ab + p_abc)))
        p_o, p_c, p_b, p_bc = own * p_o + p, own * p_c + p, own * p_b + p, own * p_bc + p
        p_a, p_ac, p_ab, p_abc = own * p_a + p, own * p_ac + p, own * p_ab + p, own * p_abc + p
        # forces along edges
        fa_o, fa_c, fa_b, fa_bc = (
            n_o * p_o + n_a * p_a, n_c * p_c + n_ac * p_ac, n_b * p_b + n_ab * p_ab, n_bc * p_bc + n_abc * p_abc
        )  # fmt: skip
        fb_o, fb_c = cross(c_o, a_o) * p_o + cross(c_b, a_b) * p_b, cross(c_o, a_c) * p_c + cross(c_b, a_bc) * p_bc
        fb_a = cross(c_a, a_o) * p_a + cross(c_ab, a_b) * p_ab
        fb_ac = cross(c_a, a_c) * p_ac + cross(c_ab, a_bc) * p_abc
        fc_o, fc_b = cross(a_o, b_o) * p_o + cross(a_c, b_c) * p_c, cross(a_b, b_o) * p_b + cross(a_bc, b_c) * p_bc
        fc_a = cross(a_o, b_a) * p_a + cross(a_c, b_ac) * p_ac
        fc_ab = cross(a_b, b_a) * p_ab + cross(a_bc, b_ac) * p_abc
        row = np.uint64(32) * t
        store4(volumes.force, row, -(fa_o + fb_o + fc_o))
        store4(volumes.force, row + np.uint64(4), fc_o - fa_c - fb_c)
        store4(volumes.force, row + np.uint64(8), fb_o - fa_b - fc_b)
        store4(volumes.force, row + np.uint64(12), fb_c + fc_b - fa_bc)
        store4(volumes.force, row + np.uint64(16), fa_o - fb_a - fc_a)
        store4(volumes.force, row + np.uint64(20), fa_c + fc_a - fb_ac)
        store4(volumes.force, row + np.uint64(24), fa_b + fb_a - fc_ab)
        store4(volumes.force, row + np.uint64(28), fa_bc + fb_ac + fc_ab)


@lean_inline_kernel
def gathered_volumes(volumes, i):
    """Force of the cells on vertex i [N]."""
    total = spread(0.0)
    for q in range(np.uint64(volumes.start[i]), np.uint64(volumes.start[i + np.uint64(1)])):
        total = total + load4(volumes.force, volumes.row[q])
    return total
