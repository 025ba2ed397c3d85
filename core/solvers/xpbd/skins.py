"""Skins and solids as arrays for the projections, and their part of a substep.

    predict      y = x + h (v + f h g)          f = 1/2 in flight: free fall is exact; 1 with contact
                                                (with a load `loads.py`: f for its resultant, 1 for the rest)
    gas          in closed form                                                                `gas.py`
    stretch      edges, coloured                                                               `stretch.py`
    bend         hinges, coloured                                                              `bend.py`
    volumes      cells of solids, coloured                                                     `volumes.py`
    velocities   v = (y - x) / h + w x (x - c)

Where f = 1, gravity and contact cancel within the substep, and bodies at rest have no velocity.

The rotation w restores what velocities from positions lose. No projection has a torque at y, so sum m y x dy = 0; but
the angular momentum of the substep is sum m x x (y - x) / h, which falls by the share (h w)^2 of the spin: at 10 rad/s
and 1/240 s a third of it would be gone in a second. The loss against the prediction is computed and given back. Linear
momentum is exact.

Vertices are numbered as `explicit.layout.Numbering` says; arrays of vertices are flat, four numbers each.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...bodies.flat.band import STRIP_TO_VOLUME
from ...bodies.flat.plane import hold_moves_in_plane
from ...energy.elements import Elements
from ...energy.energies import ModelElements
from ...jit import lean_inline_kernel, lean_kernel
from ...model import Hinges, Model, Tetrahedra
from ...plasticity.pieces import broken_bodies, pieces_of
from ...simd import cross, lane, load4, rotated, spread, store4, triple
from ...volume import closed_surface
from ..explicit.layout import Numbering
from ..explicit.skins import Planes
from .bend import project_bend
from .colours import fours, schedule, vertex_blocks
from .gas import Gas, add_triangles, apply_gas, measure_gas
from .stretch import EdgeRows, damp_edges, edge_rows, project_edges
from .volumes import project_volumes


class Skins(NamedTuple):
    """All soft bodies."""

    body_start: IntArray  # first vertex of each, shape (membrane_count + 1,)
    block_start: IntArray  # first vertex of each block, see `colours.py`
    block_body: IntArray
    mass: FloatArray  # [kg], pinned vertices too
    inverse_mass: FloatArray  # [1/kg], 0 of pinned vertices
    # Bodies, or the pieces of broken ones (`plasticity/pieces.py`): the vertices of each, its body, and whether it has
    # no pins, which take up the torque of the others
    piece_start: IntArray
    piece_vertex: IntArray
    piece_body: IntArray
    free: BoolArray
    edges: EdgeRows
    gas: Gas
    hinges: Hinges
    hinge_order: IntArray
    hinge_force: FloatArray
    tetrahedra: Tetrahedra
    cell_order: IntArray
    planes: Planes
    elements: Elements  # in the solver's numbers
    push: FloatArray  # acceleration of the vertices by the load [m/s^2], flat; empty where there is none; changes
    lift: FloatArray  # of each body by its resultant [m/s^2], flat, or empty; changes


def skins_of(model: Model, numbering: Numbering, inverse_mass: FloatArray, time: float) -> Skins:
    """The soft bodies of a model for substeps of a length [s]; `inverse_mass` of the vertices in the solver's order."""
    count, place = model.vertex_count, numbering.place
    body_start = model.body_point_start[: model.membrane_count + 1]
    block_start = vertex_blocks(body_start)
    edges = model.edges._replace(points=place[model.edges.points])
    hinges = model.hinges._replace(points=place[model.hinges.points])
    cells = model.tetrahedra
    is_rigid = model.rigid_volumes[model.point_body[cells.points[:, 0]]]
    tetrahedra = cells._replace(
        points=place[cells.points],
        stiffness=np.where(is_rigid, np.inf, cells.stiffness),
        sum_stiffness=np.where(is_rigid[::8], 0.0, cells.sum_stiffness),
    )
    skins = [closed_surface(model, body) for body in range(model.membrane_count) if model.has_gas(body)]
    triangles = place[np.concatenate([np.zeros((0, 3), np.int32), *skins])]
    triangle_order = schedule(triangles, block_start, count)
    piece_start, piece_vertex = _pieces(model, numbering)
    return Skins(
        body_start=body_start,
        block_start=block_start,
        block_body=np.searchsorted(body_start, block_start[:-1], side="right").astype(np.int32) - 1,
        mass=model.vertex_mass[numbering.point[:count]],
        inverse_mass=inverse_mass,
        piece_start=piece_start,
        piece_vertex=piece_vertex,
        piece_body=model.point_body[piece_vertex[piece_start[:-1]]],
        free=np.array(
            [
                stop > start + 1 and inverse_mass[piece_vertex[start:stop]].all()
                for start, stop in zip(piece_start[:-1].tolist(), piece_start[1:].tolist(), strict=True)
            ],
            bool,
        ),
        edges=edge_rows(
            edges,
            model.edge_damping,
            model.rigid_springs[model.point_body[model.edges.points[:, 0]]],
            schedule(edges.points, block_start, count),
            inverse_mass,
            time,
        ),
        gas=Gas(
            corners=(4 * triangles[triangle_order.order]).astype(np.uint32),
            task_start=triangle_order.task_start,
            rest_volume=model.rest_volume,
            volume_share=np.where(model.flat.depth > 0.0, STRIP_TO_VOLUME, 1.0),
            base=model.gas_base,
            exponent=model.gas_exponent,
            amount=np.zeros(model.membrane_count),
            impulse=np.zeros(model.membrane_count),
            gradient=np.zeros(4 * model.point_count),
        ),
        hinges=hinges,
        hinge_order=schedule(hinges.points, block_start, count).order,
        hinge_force=np.zeros((len(hinges.points), 4, 3)),
        tetrahedra=tetrahedra,
        cell_order=schedule(np.ascontiguousarray(tetrahedra.points[:, 0]).reshape(-1, 8), block_start, count).order,
        planes=Planes(place[model.flat.pairs], model.flat.pair_normal),
        elements=ModelElements(model, joints=False, place=place).rows,
        push=np.zeros(0),
        lift=np.zeros(0),
    )


def _pieces(model: Model, numbering: Numbering) -> tuple[IntArray, IntArray]:
    """Vertices in the solver's order of each body, or of each piece of a broken one: (start, vertices)."""
    body = model.point_body[: model.vertex_count]
    broken = broken_bodies(model)
    piece = model.body_point_start[body]
    if broken.any():
        piece = np.where(broken[body], pieces_of(model.edges.points, model.vertex_count), piece)
    vertex = numbering.place[: model.vertex_count]
    order = np.lexsort((vertex, piece))
    _, first = np.unique(piece[order], return_index=True)
    return np.append(first, len(order)).astype(np.int32), np.ascontiguousarray(vertex[order])


def edge_order(model: Model, numbering: Numbering) -> IntArray:
    """Edges of a model in the order of `EdgeRows`, shape (four_count, 4)."""
    starts = vertex_blocks(model.body_point_start[: model.membrane_count + 1])
    return fours(schedule(numbering.place[model.edges.points], starts, model.vertex_count))[0]


@lean_inline_kernel
def early_fall(skins, body, lies, gravity, h):
    """Change of velocity of a body in the prediction by f of gravity, less (1 - f) of its load's resultant [m/s]."""
    share = h if lies[body] else 0.5 * h
    change = triple(share * gravity[0], share * gravity[1], share * gravity[2])
    if skins.lift.shape[0] > 0:
        change = change - load4(skins.lift, 4 * body) * (h - share)
    return change


@lean_kernel
def predict(skins, x, v, lies, gravity, h, y):
    """Positions of the vertices after a substep h [s] without constraints, and the gas then; `lies`: whether f = 1."""
    gas, block_count = skins.gas, skins.block_body.shape[0]
    nothing, is_loaded = spread(0.0), skins.push.shape[0] > 0
    damp_edges(skins.edges, x)
    for block in range(block_count):
        change = early_fall(skins, skins.block_body[block], lies, gravity, h)
        for vertex in range(skins.block_start[block], skins.block_start[block + 1]):
            i = np.uint32(4) * np.uint32(vertex)
            faster = load4(v, i) + change if skins.inverse_mass[vertex] != 0.0 else load4(v, i)
            if is_loaded:
                faster = faster + load4(skins.push, i) * h
            store4(y, i, load4(x, i) + faster * spread(h))
            store4(gas.gradient, i, nothing)
        add_triangles(gas.task_start[block], gas.task_start[block + 1], gas.corners, y, gas.gradient)
    add_triangles(gas.task_start[block_count], gas.task_start[block_count + 1], gas.corners, y, gas.gradient)
    measure_gas(skins, y, h)


@lean_kernel
def project(skins, x_rows, y, y_rows, h):
    """Gas, stretch, bend and volumes move y; rows are the same arrays, shape (point_count, 4)."""
    edges, block_count = skins.edges, skins.block_body.shape[0]
    for block in range(block_count):
        apply_gas(
            skins.block_start[block], skins.block_start[block + 1], skins.gas.impulse[skins.block_body[block]],
            skins.inverse_mass, skins.gas.gradient, y,
        )  # fmt: skip
        project_edges(edges.task_start[block], edges.task_start[block + 1], edges, skins.inverse_mass, y)
    project_edges(edges.task_start[block_count], edges.task_start[block_count + 1], edges, skins.inverse_mass, y)
    if skins.hinge_force.shape[0] > 0:
        project_bend(y_rows, skins.inverse_mass, skins.hinges, skins.hinge_order, h, skins.hinge_force)
    if skins.cell_order.shape[0] > 0:
        project_volumes(y_rows, skins.inverse_mass, skins.tetrahedra, skins.cell_order, h)
    hold_moves_in_plane(skins.planes.pairs, skins.planes.normal, x_rows, y_rows)


@lean_kernel
def take_velocities(skins, x, y, lies, gravity, h, v):
    """v from the positions after the projections, with each piece's angular momentum of the prediction."""
    is_loaded = skins.push.shape[0] > 0
    for piece in range(skins.free.shape[0]):
        change = early_fall(skins, skins.piece_body[piece], lies, gravity, h)
        start, end = skins.piece_start[piece], skins.piece_start[piece + 1]
        origin, rate = load4(x, 4 * skins.piece_vertex[start]), spread(1.0 / h)
        lost, first, square, mixed = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        total = 0.0
        for entry in range(start, end):
            vertex = skins.piece_vertex[entry]
            i = np.uint32(4) * np.uint32(vertex)
            if skins.inverse_mass[vertex] == 0.0:
                continue
            m = skins.mass[vertex]
            here = load4(x, i)
            now = (load4(y, i) - here) * rate
            arm = here - origin
            r, u = arm * m, load4(v, i) + change - now
            if is_loaded:
                u = u + load4(skins.push, i) * h
            lost = lost + r * rotated(u) - rotated(r) * u
            total += m
            first, square, mixed = first + r, square + r * arm, mixed + r * rotated(arm)
            store4(v, i, now)
        if not skins.free[piece]:
            continue
        cx, cy, cz, wx, wy, wz = rotation(total, first, square, mixed, rotated(lost))
        centre, turn = origin + triple(cx, cy, cz), triple(wx, wy, wz)
        for entry in range(start, end):
            i = np.uint32(4) * np.uint32(skins.piece_vertex[entry])
            arm = load4(x, i) - centre
            store4(v, i, load4(v, i) + cross(turn, arm))


@lean_kernel
def rotation(m, first, square, mixed, momentum):
    """Centre [m] and angular velocity [1/s] of a mass [kg] with an angular momentum [kg m^2/s].

    Moments of the mass: sums of m r, of m (xx, yy, zz) and of m (xy, yz, zx).
    """
    sx, sy, sz = lane(first, 0) / m, lane(first, 1) / m, lane(first, 2) / m
    xx, yy, zz = lane(square, 0) - m * sx * sx, lane(square, 1) - m * sy * sy, lane(square, 2) - m * sz * sz
    xy, yz, xz = lane(mixed, 0) - m * sx * sy, lane(mixed, 1) - m * sy * sz, lane(mixed, 2) - m * sx * sz
    # a body squashed to a line has no inertia about it: a little is added
    extra = 1e-9 * (xx + yy + zz)
    ix, iy, iz = yy + zz + extra, xx + zz + extra, xx + yy + extra
    cxx, cyy, czz = iy * iz - yz * yz, ix * iz - xz * xz, ix * iy - xy * xy
    cxy, cxz, cyz = xz * yz + xy * iz, xy * yz + xz * iy, xy * xz + yz * ix
    inverse = 1.0 / (ix * cxx - xy * cxy - xz * cxz)
    lx, ly, lz = lane(momentum, 0), lane(momentum, 1), lane(momentum, 2)
    return (
        sx, sy, sz, inverse * (cxx * lx + cxy * ly + cxz * lz), inverse * (cxy * lx + cyy * ly + cyz * lz),
        inverse * (cxz * lx + cyz * ly + czz * lz),
    )  # fmt: skip


@lean_kernel
def fall_rest(skins, lies, gravity, h, late):
    """Add the rest of gravity and of the load's resultant, (1 - f) h g, to velocities at the end of the substep."""
    for body in range(skins.body_start.shape[0] - 1):
        share = 0.0 if lies[body] else 0.5 * h
        change = triple(share * gravity[0], share * gravity[1], share * gravity[2])
        if skins.lift.shape[0] > 0:
            change = change + load4(skins.lift, 4 * body) * share
        for vertex in range(skins.body_start[body], skins.body_start[body + 1]):
            i = np.uint32(4) * np.uint32(vertex)
            store4(late, i, change if skins.inverse_mass[vertex] != 0.0 else spread(0.0))
