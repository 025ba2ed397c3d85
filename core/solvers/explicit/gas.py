"""Gas in soft bodies: its triangles, their rows of the volume's gradient, and the pressures."""

from typing import NamedTuple

import numpy as np

from ... import topology
from ...array_types import FloatArray, IntArray
from ...energy.gas import gauge_pressure
from ...jit import lean_inline_kernel, lean_kernel
from ...model import Model
from ...simd import cross, lane, load4, spread, store4, sum_spread
from .layout import Numbering
from .rows import IndexArray, Rows, rows_of, unsigned

#: Slots, rows that a vertex adds up without a loop.
TRIANGLE_SLOTS = 8


class Gas(NamedTuple):
    """Triangles around gas."""

    corners: IndexArray  # 4 * vertex, three of each triangle, shape (3 * triangle_count,)
    start: IntArray  # triangles of each membrane, shape (membrane_count + 1,)
    normal: FloatArray  # rows: twice the area normals [m^2], shape (4 * triangle_count + 4,); changes
    rows: Rows
    share: FloatArray  # of each block in six times the volume [m^3]; changes
    rest_volume: FloatArray  # [m^3], shape (membrane_count,)
    base: FloatArray  # of the gauge pressure [Pa]
    exponent: FloatArray  # of the volume
    weight: FloatArray  # of the pressure at each vertex; empty where it is 1 everywhere
    amount: FloatArray  # nRT [J]; changes
    volume: FloatArray  # [m^3]; changes
    pressure: FloatArray  # [Pa], gauge; changes


def gas_of(model: Model, numbering: Numbering) -> Gas:
    """The triangles around gas of a model in the solver's numbers."""
    fans, count = model.fans, model.vertex_count
    triangles = topology.fan_triangles(fans.vertex_start, fans.corners)
    body = model.point_body[triangles[:, 0]]
    corners = numbering.place[triangles]
    order = np.lexsort((corners.min(axis=1), body))
    corners = np.ascontiguousarray(corners[order])
    row = np.repeat(np.arange(len(corners)), 3)
    rows = rows_of([(corners.ravel(), row)], count, TRIANGLE_SLOTS, len(corners))
    return Gas(
        corners=unsigned(4 * corners.ravel()),
        start=np.searchsorted(body[order], np.arange(model.membrane_count + 1)).astype(np.int32),
        normal=np.zeros(4 * len(corners) + 4),
        rows=rows,
        share=np.zeros(0),
        rest_volume=model.rest_volume,
        base=model.gas_base,
        exponent=model.gas_exponent,
        weight=model.pressure_weight[numbering.point[:count]] if model.weighs_pressure else np.zeros(0),
        amount=np.zeros(model.membrane_count),
        volume=np.zeros(model.membrane_count),
        pressure=np.zeros(model.membrane_count),
    )


@lean_inline_kernel
def normal_rows(x, gas, body, first, last):
    """Rows of the triangles first .. last - 1 of a body; returns their share of six times the volume [m^3]."""
    origin = load4(x, gas.corners[np.uint64(3) * np.uint64(gas.start[body])])
    total = spread(0.0)
    for q in range(np.uint64(first), np.uint64(last)):
        c = np.uint64(3) * q
        a = load4(x, gas.corners[c])
        u, w = load4(x, gas.corners[c + np.uint64(1)]) - a, load4(x, gas.corners[c + np.uint64(2)]) - a
        normal = cross(u, w)
        total = total + (a - origin) * normal
        store4(gas.normal, np.uint64(4) * q, normal)
    return lane(sum_spread(total), 0)


@lean_inline_kernel
def gathered_normals(gas, i):
    """Six times dV/dx of vertex i [m^2]."""
    normal, slot, s = gas.normal, gas.rows.slot, np.uint64(8) * i
    total = (
        (load4(normal, slot[s]) + load4(normal, slot[s + np.uint64(1)]))
        + (load4(normal, slot[s + np.uint64(2)]) + load4(normal, slot[s + np.uint64(3)]))
    ) + (
        (load4(normal, slot[s + np.uint64(4)]) + load4(normal, slot[s + np.uint64(5)]))
        + (load4(normal, slot[s + np.uint64(6)]) + load4(normal, slot[s + np.uint64(7)]))
    )
    for q in range(np.uint64(gas.rows.more_start[i]), np.uint64(gas.rows.more_start[i + np.uint64(1)])):
        total = total + load4(normal, gas.rows.more[q] - np.uint32(1))
    return total


@lean_kernel
def set_pressures(gas, blocks, due):
    """Volume and pressure of the gas in each body that is due (`paces.py`), from its blocks' shares."""
    start = blocks.body_start
    for body in range(gas.volume.shape[0]):
        if due[body, 0] > 0 and gas.start[body + 1] > gas.start[body]:
            total = 0.0
            for block in range(start[body], start[body + 1]):
                total += gas.share[block]
            gas.volume[body] = total / 6.0
            gas.pressure[body] = gauge_pressure(
                gas.volume[body], gas.rest_volume[body], gas.amount[body], gas.base[body], gas.exponent[body]
            )
