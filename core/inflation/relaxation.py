"""Dynamic relaxation: the forces of explicit steps, fictitious masses, and damping that leads to equilibrium.

FIRE (Bitzek, Koskinen, Gahler, Moseler, Gumbsch 2006, "Structural relaxation made simple"): steps of unit length at
most; velocities turn towards the forces while these do work, and are set to 0 when they do not. Masses by Gershgorin's
bound of each vertex's stiffness (Underwood 1983, Barnes 1999): stable everywhere, and no slower at a stiff vertex.
"""

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray
from ..bodies.flat.plane import hold_in_plane
from ..jit import lean_kernel
from ..model import Model
from ..solvers.explicit.layout import Numbering
from ..solvers.explicit.skins import Skins, accelerate, skins_of
from ..solvers.rigid_motion import rigid_motions
from ..team import Words, team_of_one
from ..tiny import TINY

#: Constants of FIRE: growth and fall of the step, mixing, its fall, and steps before either changes.
GROW, FALL, MIXING, LESS_MIXING, PATIENCE = 1.1, 0.5, 0.1, 0.99, 5
#: Shortest step, in units of the longest.
SHORTEST = 0.02
#: Words of `State.words`.
STEP, MIX, CALM = range(3)


class State(NamedTuple):
    """A relaxation in its course; all of it changes."""

    x: FloatArray  # positions [m], flat, four numbers per vertex
    v: FloatArray  # moves in a step [m]
    force: FloatArray  # [N]
    words: FloatArray  # step, mixing, steps in a row that did work


class Frame(NamedTuple):
    """The frame in which a body is at rest; used where loads have a resultant that no pin holds."""

    mass: FloatArray  # of the vertices [kg]; empty where the frame does not move
    rows: FloatArray  # accelerations, scratch, shape (vertex_count, 4)
    start: np.ndarray[tuple[int], np.dtype[np.int32]]  # first and last vertex
    motion: FloatArray  # the frame's acceleration, scratch, see `rigid_motion.py`


class Relaxing(NamedTuple):
    """What does not change."""

    skins: Skins
    frame: Frame
    unit: FloatArray  # ones
    scratch: FloatArray
    team: Words


def relaxing_of(model: Model, frame_moves: bool) -> Relaxing:
    """The forces of a model of one skin at constant pressure, which is `skins.gas.amount`."""
    n = model.vertex_count
    same = np.arange(model.point_count, dtype=np.int32)
    skins = skins_of(model, Numbering(same, same))
    # a gas with the exponent 0 keeps its pressure
    gas = skins.gas._replace(exponent=np.zeros(1), base=np.zeros(1), rest_volume=np.ones(1))
    mass = model.vertex_mass if frame_moves else np.zeros(0)
    frame = Frame(mass, np.zeros((n, 4)), model.body_point_start[:2], np.zeros((1, 16)))
    return Relaxing(skins._replace(gas=gas), frame, np.ones(n), np.zeros(4 * n), team_of_one())


@lean_kernel
def evaluate(relaxing, x, force):
    """Forces on all vertices at x [N], within planes and in the moving frame."""
    skins, frame = relaxing.skins, relaxing.frame
    force[:] = 0.0  # velocities of unit masses after a second
    accelerate(x, skins, force, relaxing.unit, 1.0, 0.0, 0.0, 0.0, relaxing.scratch, relaxing.team)
    rows = force.reshape(-1, 4)
    if frame.mass.shape[0] > 0:
        for i in range(rows.shape[0]):
            for axis in range(3):
                frame.rows[i, axis] = rows[i, axis] / frame.mass[i]
        places, motion = x.reshape(-1, 4), frame.motion[0]
        rigid_motions(places, frame.rows, frame.mass, frame.start, frame.motion)
        for i in range(rows.shape[0]):
            rx, ry, rz = places[i, 0] - motion[0], places[i, 1] - motion[1], places[i, 2] - motion[2]
            rows[i, 0] -= frame.mass[i] * (motion[3] + motion[7] * rz - motion[8] * ry)
            rows[i, 1] -= frame.mass[i] * (motion[4] + motion[8] * rx - motion[6] * rz)
            rows[i, 2] -= frame.mass[i] * (motion[5] + motion[6] * ry - motion[7] * rx)
    hold_in_plane(skins.planes.pairs, skins.planes.normal, rows)


@lean_kernel
def residual(force, inverse_mass):
    """Sum of the sizes of the forces on the vertices that move [N]."""
    total = 0.0
    for i in range(inverse_mass.shape[0]):
        if inverse_mass[i] > 0.0:
            total += (force[4 * i] ** 2 + force[4 * i + 1] ** 2 + force[4 * i + 2] ** 2) ** 0.5
    return total


@lean_kernel
def move(state, inverse_mass, h, longest):
    """Velocities by the forces, then positions: in a step no vertex moves further than `longest` [m]."""
    x, v, force = state.x, state.v, state.force
    fastest = 0.0
    for i in range(inverse_mass.shape[0]):
        square = 0.0
        for k in range(4 * i, 4 * i + 3):
            v[k] += h * inverse_mass[i] * force[k]
            square += v[k] ** 2
        fastest = max(fastest, square)
    way = h * fastest**0.5
    kept = longest / way if way > longest else 1.0
    for k in range(x.shape[0]):
        v[k] *= kept
        x[k] += h * v[k]


@lean_kernel
def relax(relaxing, state, inverse_mass, longest, kept, enough, largest, count):
    """At most `count` steps of FIRE, until the residual is `enough` [N] or the volume the `largest` [m^3].

    Where `kept` is above 0, steps of unit length that keep this part of their velocities instead. Returns the residual
    before the last step, at `state.force`.
    """
    x, v, force, words = state.x, state.v, state.force, state.words
    left = np.inf
    for _ in range(count):
        evaluate(relaxing, x, force)
        left = residual(force, inverse_mass)
        if not left > enough or relaxing.skins.gas.volume[0] > largest:
            return left
        if kept > 0.0:
            for k in range(v.shape[0]):
                v[k] *= kept
            move(state, inverse_mass, 1.0, longest)
            continue
        power, motion2, force2 = 0.0, 0.0, 0.0
        for i in range(inverse_mass.shape[0]):
            w = inverse_mass[i]
            if w > 0.0:
                for k in range(4 * i, 4 * i + 3):
                    power += force[k] * v[k]
                    motion2 += v[k] ** 2 / w
                    force2 += force[k] ** 2 * w
        if power > 0.0:
            mix = words[MIX]
            along = mix * (motion2 / max(force2, TINY)) ** 0.5
            for i in range(inverse_mass.shape[0]):
                for k in range(4 * i, 4 * i + 3):
                    v[k] = (1.0 - mix) * v[k] + along * inverse_mass[i] * force[k]
            words[CALM] += 1.0
            if words[CALM] > PATIENCE:
                words[STEP] = min(GROW * words[STEP], 1.0)
                words[MIX] *= LESS_MIXING
        else:
            for k in range(x.shape[0]):
                x[k] -= 0.5 * words[STEP] * v[k]
                v[k] = 0.0
            words[CALM], words[MIX] = 0.0, MIXING
            words[STEP] = max(FALL * words[STEP], SHORTEST)
        move(state, inverse_mass, words[STEP], longest)
    return left
