"""Inner forces of soft bodies: springs, gas, volumes of solids, then bending; each vertex gathers rows.

Springs and triangles write one row each, four springs at a time; a vertex then adds up its rows, always in the same
order. Both are jobs of a team (`team.py`), in blocks of vertices and of the elements that begin there: the result does
not depend on which thread does which. Forces of a body act in one of several steps (`paces.py`). That of a spring has a
dashpot: its length is compared with the one when it acted last, a time t before (`inverse_length`).

    T / l = k (1 - L / l) + (c k + b) (l - l_before) / (l t),   c = 2 zeta / omega

b is the constant of the damper along the spring, of bodies that have one (`energy/dampers.py`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import topology
from ...array_types import BoolArray, FloatArray, IntArray
from ...energy.elements import Elements, add_element_forces
from ...energy.energies import ModelElements
from ...energy.gas import gauge_pressure
from ...jit import lean_inline_kernel, lean_kernel
from ...model import Model
from ...simd import (
    four_sums3,
    lane,
    load4,
    root,
    rotated,
    smaller,
    spread,
    spread_each,
    store4,
    sum_spread,
    triple,
)
from ...team import block_of, claim, done, finish, hand_out
from ...tiny import TINY
from .arrays import KICK, ROWS
from .bending import Bending, add_bending, bending_of, bends
from .blocks import Blocks, blocks_of
from .layout import Numbering
from .paces import Paces, paces_of

IndexArray = NDArray[np.uint32]

#: Slots, rows that a vertex adds up without a loop: springs that begin there, springs that end there, triangles.
SLOTS, TRIANGLE_SLOTS = 4, 8
#: Largest growth of a length in a step that a dashpot answers, as a share of it.
MOST_GROWN = 0.5


class Rows(NamedTuple):
    """Which rows each vertex adds up; unused slots name the last row, which is 0."""

    slot: IndexArray  # 4 * row, shape (slot_count * vertex_count,)
    more_start: IntArray  # CSR of the rows beyond the slots, shape (vertex_count + 1,)
    more: IndexArray  # 4 * row + 1 where it is added, 4 * row where it is subtracted


class Springs(NamedTuple):
    """Springs in fours, by their first vertex; ones without stiffness fill up the last four of a body."""

    ends: IndexArray  # 4 * vertex, two of each spring, shape (2 * padded count,)
    stiffness: FloatArray  # [N/m], shape (padded count,)
    rest_force: FloatArray  # stiffness * rest length [N]
    damping: FloatArray  # constant of the damper [N s/m], shape (padded count,); empty where no spring has one
    inverse_length: FloatArray  # 1 / length when the force acted last [1/m]; changes
    force: FloatArray  # rows [N], shape (4 * padded count + 4,); changes
    rows: Rows


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


class Volumes(NamedTuple):
    """Tetrahedra of solids."""

    corners: IndexArray  # 4 * vertex, four of each tetrahedron, shape (4 * tetrahedron_count,)
    rest_volume: FloatArray  # [m^3]
    stiffness: FloatArray  # K / rest volume [Pa/m^3]
    force: FloatArray  # rows of its four points [N], shape (16 * tetrahedron_count,); changes
    start: IntArray  # CSR over vertices, shape (vertex_count + 1,)
    row: IndexArray  # 4 * row


class Planes(NamedTuple):
    """Flat bodies, see `plane.py`."""

    pairs: IntArray  # points front and back, shape (pair_count, 2)
    normal: FloatArray  # unit normal of each pair's plane, shape (pair_count, 3)


class Skins(NamedTuple):
    """All soft bodies."""

    springs: Springs
    gas: Gas
    volumes: Volumes
    bending: Bending
    planes: Planes
    blocks: Blocks
    paces: Paces
    elements: Elements  # in the solver's numbers
    load: FloatArray  # constant forces on the vertices [N], flat; empty where there are none; changes


def skins_of(model: Model, numbering: Numbering, soft: BoolArray | bool = False) -> Skins:
    """The soft bodies of a model in the solver's numbers; `soft`: which hinges are, see `bending_of`."""
    springs, gas, volumes = _springs(model, numbering), _gas(model, numbering), _volumes(model, numbering)
    hinges, blocks = model.hinges, blocks_of(model, springs.ends, gas.corners, volumes.corners)
    return Skins(
        springs=springs,
        gas=gas._replace(share=np.zeros(len(blocks.body))),
        volumes=volumes,
        bending=bending_of(hinges, numbering.place, model.point_body[hinges.points[:, 0]], model.membrane_count, soft),
        planes=Planes(numbering.place[model.flat.pairs], model.flat.pair_normal),
        blocks=blocks,
        paces=paces_of(model.membrane_count),
        elements=ModelElements(model, joints=False, place=numbering.place).rows,
        load=np.zeros(0),
    )


def spring_order(model: Model, numbering: Numbering) -> IntArray:
    """Springs of a model in the order of `Springs`: by their first vertex in the solver's numbers.

    Each body's last one is repeated until they are a multiple of four.
    """
    ends = np.sort(numbering.place[model.edges.points], axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0])).astype(np.int32)
    last = np.cumsum(np.bincount(model.point_body[model.edges.points[order, 0]], minlength=model.membrane_count))
    count = np.diff(last, prepend=0)
    return np.insert(order, np.repeat(last, -count % 4), np.repeat(order[last[count > 0] - 1], -count[count > 0] % 4))


def _springs(model: Model, numbering: Numbering) -> Springs:
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
        rows=_rows([(turned[:, 0], row), (turned[:, 1], row)], vertex_count, SLOTS, len(ends)),
    )


def _rows(columns: list[tuple[IntArray, IntArray]], vertex_count: int, slots: int, null: int) -> Rows:
    """Rows of one or two columns: vertices, and the row of each. Added at the first, subtracted at the other."""
    table = np.full((vertex_count, len(columns) * slots), 4 * null, np.int64)
    more_vertex, more = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number, (column, row) in enumerate(columns):
        start, entry = topology.grouped(column, vertex_count)
        vertex, own = column[entry], 4 * row[entry].astype(np.int64)
        rank = np.arange(len(entry)) - start[vertex]
        held = rank < slots
        table[vertex[held], number * slots + rank[held]] = own[held]
        more_vertex.append(vertex[~held])
        more.append(own[~held] + (number == 0))
    vertex, rest = np.concatenate(more_vertex), np.concatenate(more)
    start, order = topology.grouped(vertex.astype(np.int32), vertex_count)
    return Rows(unsigned(table.ravel()), start, unsigned(rest[order]))


def _gas(model: Model, numbering: Numbering) -> Gas:
    fans, count = model.fans, model.vertex_count
    triangles = topology.fan_triangles(fans.vertex_start, fans.corners)
    body = model.point_body[triangles[:, 0]]
    corners = numbering.place[triangles]
    order = np.lexsort((corners.min(axis=1), body))
    corners = np.ascontiguousarray(corners[order])
    row = np.repeat(np.arange(len(corners)), 3)
    rows = _rows([(corners.ravel(), row)], count, TRIANGLE_SLOTS, len(corners))
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


def _volumes(model: Model, numbering: Numbering) -> Volumes:
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


def unsigned(numbers: NDArray[Any]) -> IndexArray:
    """As uint32: kernels then need no check for negative indices."""
    return np.ascontiguousarray(numbers, dtype=np.uint32)


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


@lean_inline_kernel
def normal_rows(x, gas, body, first, last):
    """Rows of the triangles first .. last - 1 of a body; returns their share of six times the volume [m^3]."""
    origin = load4(x, gas.corners[np.uint64(3) * np.uint64(gas.start[body])])
    total = spread(0.0)
    for q in range(np.uint64(first), np.uint64(last)):
        c = np.uint64(3) * q
        a = load4(x, gas.corners[c])
        u, w = load4(x, gas.corners[c + np.uint64(1)]) - a, load4(x, gas.corners[c + np.uint64(2)]) - a
        normal = rotated(u * rotated(w) - rotated(u) * w)
        total = total + (a - origin) * normal
        store4(gas.normal, np.uint64(4) * q, normal)
    return lane(sum_spread(total), 0)


@lean_inline_kernel
def volume_rows(x, volumes, first, last):
    """Rows of force of the tetrahedra first .. last - 1: p dV/dx with p = K (1 - V / V0)."""
    for t in range(np.uint64(first), np.uint64(last)):
        c = np.uint64(4) * t
        a = load4(x, volumes.corners[c])
        u = load4(x, volumes.corners[c + np.uint64(1)]) - a
        v = load4(x, volumes.corners[c + np.uint64(2)]) - a
        w = load4(x, volumes.corners[c + np.uint64(3)]) - a
        vw = rotated(v * rotated(w) - rotated(v) * w)
        wu = rotated(w * rotated(u) - rotated(w) * u)
        uv = rotated(u * rotated(v) - rotated(u) * v)
        volume = lane(sum_spread(u * vw), 0) / 6.0
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


@lean_inline_kernel
def write_rows(x, skins, block):
    """All rows of a block whose body is due, and its share of the volume."""
    blocks, gas, paces = skins.blocks, skins.gas, skins.paces
    body = blocks.body[block]
    if paces.due[body, 0] <= 0:
        return
    if blocks.triangle[block + 1] > blocks.triangle[block]:
        gas.share[block] = normal_rows(
            x, gas, body, blocks.triangle[block], blocks.triangle[block + 1]
        )  # fmt: skip
    spring_rows(
        x, skins.springs, paces.dashpot[body], paces.rate[body], blocks.four[block], blocks.four[block + 1]
    )  # fmt: skip
    volume_rows(x, skins.volumes, blocks.tetrahedron[block], blocks.tetrahedron[block + 1])


@lean_inline_kernel
def add_rows(skins, velocity, inverse_mass, h, fall, force, block):
    """New velocities of a block; `fall` h g as lanes."""
    springs, gas, volumes, blocks = skins.springs, skins.gas, skins.volumes, skins.blocks
    body = blocks.body[block]
    due = skins.paces.due[body, 0]
    if due < 0:
        return
    if due == 0:
        for i in range(np.uint64(blocks.vertex[block]), np.uint64(blocks.vertex[block + 1])):
            store4(velocity, np.uint64(4) * i, load4(velocity, np.uint64(4) * i) + fall)
        return
    time, is_bent, is_loaded = h * due, bends(skins.bending, body, skins.paces.due[body, 1]), skins.load.shape[0] > 0
    push, is_weighted = gas.pressure[body] / 6.0, gas.weight.shape[0] > 0
    for i in range(np.uint64(blocks.vertex[block]), np.uint64(blocks.vertex[block + 1])):
        own = push * gas.weight[i] if is_weighted else push
        total = gathered_springs(springs, i) + gathered_normals(gas, i) * own
        total = total + gathered_volumes(volumes, i)
        place = np.uint64(4) * i
        if is_bent:
            total = total + load4(force, place)
        if is_loaded:
            total = total + load4(skins.load, place)
        store4(velocity, place, load4(velocity, place) + total * (time * inverse_mass[i]) + fall)


@lean_kernel
def set_pressures(skins):
    """Volume and pressure of the gas in each body that is due, from its blocks' shares."""
    gas, start = skins.gas, skins.blocks.body_start
    for body in range(gas.volume.shape[0]):
        if skins.paces.due[body, 0] > 0 and gas.start[body + 1] > gas.start[body]:
            total = 0.0
            for block in range(start[body], start[body + 1]):
                total += gas.share[block]
            gas.volume[body] = total / 6.0
            gas.pressure[body] = gauge_pressure(
                gas.volume[body], gas.rest_volume[body], gas.amount[body], gas.base[body], gas.exponent[body]
            )


@lean_inline_kernel
def bend_all(x, skins, force):
    """Forces of bending [N] of all bodies that are due."""
    blocks, due = skins.blocks, skins.paces.due
    for body in range(due.shape[0]):
        if due[body, 0] > 0 and bends(skins.bending, body, due[body, 1]):
            first, last = blocks.body_start[body], blocks.body_start[body + 1]
            for i in range(np.uint64(4 * blocks.vertex[first]), np.uint64(4 * blocks.vertex[last])):
                force[i] = 0.0
            add_bending(x, force, skins.bending, body, due[body, 1] / due[body, 0])


@lean_kernel
def accelerate(x, skins, velocity, inverse_mass, h, gx, gy, gz, force, team):
    """Velocities of the vertices [m/s] after a time h [s] of inner forces at x, of bodies that are due, and of gravity.

    The forces are those of springs with their dashpots, gas, volumes, bending and elements, and the load.
    `inverse_mass` [1/kg]; `force`: scratch, flat. No force is written down but those of bending, which the calling
    thread of the team sees to while others have begun with the rows.
    """
    fall = triple(h * gx, h * gy, h * gz)
    count = skins.blocks.body.shape[0]
    hand_out(team, ROWS, 0, count)
    bend_all(x, skins, force)
    claimed = claim(team, 0)
    while claimed >= 0:
        write_rows(x, skins, block_of(claimed))
        done(team, 0)
        claimed = claim(team, 0)
    finish(team)
    set_pressures(skins)
    hand_out(team, KICK, 0, count)
    claimed = claim(team, 0)
    while claimed >= 0:
        add_rows(skins, velocity, inverse_mass, h, fall, force, block_of(claimed))
        done(team, 0)
        claimed = claim(team, 0)
    finish(team)
    if skins.elements.first.shape[0] > 0:
        add_element_forces(skins.elements, x, velocity, inverse_mass, h)


@lean_kernel
def start_lengths(x, velocity, h, skins):
    """The springs' lengths when their forces acted last before a run of steps h [s], as the dashpots need them."""
    blocks, springs = skins.blocks, skins.springs
    for block in range(blocks.body.shape[0]):
        every = skins.paces.every[blocks.body[block], 0]
        back = h * (every - every // 2)
        for q in range(4 * blocks.four[block], 4 * blocks.four[block + 1]):
            a, b = springs.ends[2 * q], springs.ends[2 * q + 1]
            way = load4(x, b) - load4(x, a) - (load4(velocity, b) - load4(velocity, a)) * back
            springs.inverse_length[q] = 1.0 / root(lane(sum_spread(way * way), 0) + TINY)
