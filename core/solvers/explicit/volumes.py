"""Volumes of solids: their tetrahedra, and their rows of force."""

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
    """Tetrahedra of solids."""

    corners: IndexArray  # 4 * vertex, four of each tetrahedron, shape (4 * tetrahedron_count,)
    rest_volume: FloatArray  # [m^3]
    stiffness: FloatArray  # K / rest volume [Pa/m^3]
    force: FloatArray  # rows of its four points [N], shape (16 * tetrahedron_count,); changes
    start: IntArray  # CSR over vertices, shape (vertex_count + 1,)
    row: IndexArray  # 4 * row


def volumes_of(model: Model, numbering: Numbering) -> Volumes:
    """The tetrahedra of a model in the solver's numbers."""
    tetrahedra = model.tetrahedra
    corners = numbering.place[tetrahedra.points]
    order = np.argsort(corners.min(axis=1), kind="stable") if len(corners) else np.zeros(0, int)
    corners = np.ascontiguousarray(corners[order]).reshape(-1, 4)
    start, entry = topology.grouped(corners.ravel(), model.vertex_count)
    return Volumes(
        corners=unsigned(4 * corners.ravel()),
        rest_volume=tetrahedra.rest_volume[order],
        stiffness=tetrahedra.stiffness[order],
        force=np.zeros(16 * len(corners)),
        start=start,
        row=unsigned(4 * entry.astype(np.int64)),
    )


@lean_inline_kernel
def volume_rows(x, volumes, first, last):
    """Rows of force of the tetrahedra first .. last - 1: p dV/dx with p = K (1 - V / V0)."""
    for t in range(np.uint64(first), np.uint64(last)):
        c = np.uint64(4) * t
        a = load4(x, volumes.corners[c])
        u = load4(x, volumes.corners[c + np.uint64(1)]) - a
        v = load4(x, volumes.corners[c + np.uint64(2)]) - a
        w = load4(x, volumes.corners[c + np.uint64(3)]) - a
        vw, wu, uv = cross(v, w), cross(w, u), cross(u, v)
        volume = dot(u, vw) / 6.0
        pressure = (volumes.rest_volume[t] - volume) * volumes.stiffness[t] / 6.0
        fu, fv, fw = vw * pressure, wu * pressure, uv * pressure
        row = np.uint64(16) * t
        store4(volumes.force, row, -(fu + fv + fw))
        store4(volumes.force, row + np.uint64(4), fu)
        store4(volumes.force, row + np.uint64(8), fv)
        store4(volumes.force, row + np.uint64(12), fw)


@lean_inline_kernel
def gathered_volumes(volumes, i):
    """Force of the tetrahedra on vertex i [N]."""
    total = spread(0.0)
    for q in range(np.uint64(volumes.start[i]), np.uint64(volumes.start[i + np.uint64(1)])):
        total = total + load4(volumes.force, volumes.row[q])
    return total
