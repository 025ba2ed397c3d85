"""Inner forces of soft bodies: springs, gas, volumes of solids, then bending; each vertex gathers rows.

Springs and triangles write one row each, four springs at a time; a vertex then adds up its rows, always in the same
order. Both are jobs of a team (`team.py`), in blocks of vertices and of the elements that begin there: the result does
not depend on which thread does which. Forces of a body act in one of several steps (`paces.py`).
"""

from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...energy.elements import Elements, add_element_forces
from ...energy.energies import ModelElements
from ...jit import lean_inline_kernel, lean_kernel
from ...model import Model
from ...simd import load4, store4, triple
from ...team import claim, done, finish, hand_out
from .arrays import KICK, ROWS
from .bending import Bending, add_bending, bending_of, bends
from .blocks import Blocks, blocks_of
from .gas import Gas, gas_of, gathered_normals, normal_rows, set_pressures
from .layout import Numbering
from .paces import Paces, paces_of
from .springs import Springs, gathered_springs, spring_rows, springs_of
from .volumes import Volumes, gathered_volumes, volume_rows, volumes_of


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
    springs, gas, volumes = springs_of(model, numbering), gas_of(model, numbering), volumes_of(model, numbering)
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
    volume_rows(x, skins.volumes, blocks.cell[block], blocks.cell[block + 1])


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
    _, block = claim(team, 0)
    while block >= 0:
        write_rows(x, skins, block)
        done(team, 0)
        _, block = claim(team, 0)
    finish(team)
    set_pressures(skins.gas, skins.blocks, skins.paces.due)
    hand_out(team, KICK, 0, count)
    _, block = claim(team, 0)
    while block >= 0:
        add_rows(skins, velocity, inverse_mass, h, fall, force, block)
        done(team, 0)
        _, block = claim(team, 0)
    finish(team)
    if skins.elements.first.shape[0] > 0:
        add_element_forces(skins.elements, x, velocity, inverse_mass, h)
