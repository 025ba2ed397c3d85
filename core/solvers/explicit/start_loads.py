"""Loads that hold bodies of gas as drawn where a run starts, while they fade: see `inflation/start_loads.py`.

They turn with the body, as Mueller, Bender, Chentanez, Macklin 2016 ("A robust method to extract the rotational part
of deformations") find its rotation. They are set anew once in several steps, for where the body is halfway through
these.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...inflation.start_loads import RISE_TIME, best_turn, loads_at_start, settling_rates
from ...jit import lean_kernel
from ...model import Model
from ...simd import cross, dot, lane, load4, spread, store4, triple
from ...tiny import TINY
from .arrays import STEP
from .layout import Numbering

#: Time after which loads are set anew [s].
AIM_TIME = 1.0 / 1920.0
#: Most iterations for a rotation, and the angle that ends them.
MOST_TURNS, LEAST_TURN = 20, 1e-8


class StartLoads(NamedTuple):
    """Bodies that are held, and by which loads."""

    first: IntArray  # first vertex of each, and one past its last
    last: IntArray
    load: FloatArray  # as drawn [N], 0 where pinned, flat, a row per vertex of the scene
    rest: FloatArray  # positions as drawn [m], flat
    mass: FloatArray  # of the vertices [kg]
    given: FloatArray  # other loads of this run [N], flat; changes
    is_free: BoolArray  # of each body: whether nothing is pinned
    turn: FloatArray  # rotation of each body since it was drawn, its columns, shape (body_count, 3, 3); changes
    begin: FloatArray  # when the run begins, since the start [s], shape (1,); changes
    settling: FloatArray  # additional damping of each membrane while there are loads [1/s], shape (membrane_count,)
    every: IntArray  # steps after which loads are set anew, 0 if there are none, shape (1,); changes


def start_loads_of(model: Model, numbering: Numbering, masses: FloatArray, *, none: bool) -> StartLoads:
    """The loads of a model whose vertices have these `masses` [kg], in its own order; `none`: there are none."""
    loads = {} if none else loads_at_start(model)
    order = numbering.point[: model.vertex_count] if loads else np.zeros(0, np.int64)
    flat: dict[str, FloatArray] = {name: np.zeros((len(order), 4)) for name in ("load", "rest", "given")}
    first, last = model.body_point_start[:-1][list(loads)], model.body_point_start[1:][list(loads)]
    if loads:
        own = np.zeros((model.vertex_count, 3))
        for body, load in loads.items():
            own[model.body_point_start[body] : model.body_point_start[body + 1]] = load
        flat["load"][:, :3], flat["rest"][:, :3] = own[order], model.rest_positions[order]
    return StartLoads(
        first=first.astype(np.int64),
        last=last.astype(np.int64),
        mass=masses[order],
        is_free=np.array([not model.pinned[a:b].any() for a, b in zip(first, last, strict=True)], bool),
        turn=np.zeros((len(loads), 3, 3)),
        begin=np.zeros(1),
        settling=settling_rates(model, loads),
        every=np.zeros(1, np.int64),
        **{name: rows.ravel() for name, rows in flat.items()},
    )


def begin_loads(loads: StartLoads, x: FloatArray, load: FloatArray, time: float, h: float) -> None:
    """Prepare a run of steps h [s] that begins at a `time` since the start [s]; vertices are at x, as rows [m].

    `load`: other loads of the run [N], as the steps take them.
    """
    loads.every[0] = max(1, round(AIM_TIME / h)) if len(loads.first) and time < RISE_TIME else 0
    loads.begin[0] = time
    if loads.every[0]:
        loads.given[:] = load
        rest = loads.rest.reshape(-1, 4)[:, :3]
        for row, (first, last) in enumerate(zip(loads.first.tolist(), loads.last.tolist(), strict=True)):
            own = slice(first, last)
            loads.turn[row] = best_turn(rest[own], x[own, :3], loads.mass[own]).T


@lean_kernel
def follow_turn(turn, a0, a1, a2):
    """Turn the columns of a rotation so that they lie along those of a matrix as well as they can."""
    for _ in range(MOST_TURNS):
        r0 = triple(turn[0, 0], turn[0, 1], turn[0, 2])
        r1 = triple(turn[1, 0], turn[1, 1], turn[1, 2])
        r2 = triple(turn[2, 0], turn[2, 1], turn[2, 2])
        axis = cross(r0, a0) + cross(r1, a1) + cross(r2, a2)
        axis = axis * (1.0 / (abs(dot(r0, a0) + dot(r1, a1) + dot(r2, a2)) + TINY))
        angle = dot(axis, axis) ** 0.5
        if angle < LEAST_TURN:
            break
        axis = axis * (1.0 / angle)
        sine, cosine = np.sin(angle), np.cos(angle)
        for k in range(3):
            r = triple(turn[k, 0], turn[k, 1], turn[k, 2])
            r = r * cosine + cross(axis, r) * sine + axis * (dot(axis, r) * (1.0 - cosine))
            turn[k, 0], turn[k, 1], turn[k, 2] = lane(r, 0), lane(r, 1), lane(r, 2)


@lean_kernel
def aim_one(loads, row, out, x, velocity, ahead, share):
    """Loads of a body where it will be a time `ahead` [s]; without resultant and torque, unless it is pinned."""
    first, last = loads.first[row], loads.last[row]
    total, centre, middle = 0.0, spread(0.0), spread(0.0)
    for i in range(first, last):
        m = loads.mass[i]
        total += m
        centre = centre + (load4(x, 4 * i) + load4(velocity, 4 * i) * ahead) * m
        middle = middle + load4(loads.rest, 4 * i) * m
    centre, middle = centre * (1.0 / total), middle * (1.0 / total)
    a0, a1, a2 = spread(0.0), spread(0.0), spread(0.0)
    xx = yy = zz = xy = xz = yz = 0.0
    for i in range(first, last):
        m = loads.mass[i]
        r, rest = load4(x, 4 * i) + load4(velocity, 4 * i) * ahead - centre, load4(loads.rest, 4 * i) - middle
        a0, a1, a2 = a0 + r * (m * lane(rest, 0)), a1 + r * (m * lane(rest, 1)), a2 + r * (m * lane(rest, 2))
        rx, ry, rz = lane(r, 0), lane(r, 1), lane(r, 2)
        xx, yy, zz = xx + m * (ry * ry + rz * rz), yy + m * (rx * rx + rz * rz), zz + m * (rx * rx + ry * ry)
        xy, xz, yz = xy - m * rx * ry, xz - m * rx * rz, yz - m * ry * rz
    turn = loads.turn[row]
    follow_turn(turn, a0, a1, a2)
    r0 = triple(turn[0, 0], turn[0, 1], turn[0, 2]) * share
    r1 = triple(turn[1, 0], turn[1, 1], turn[1, 2]) * share
    r2 = triple(turn[2, 0], turn[2, 1], turn[2, 2]) * share
    force, torque = spread(0.0), spread(0.0)
    for i in range(first, last):
        load = r0 * loads.load[4 * i] + r1 * loads.load[4 * i + 1] + r2 * loads.load[4 * i + 2]
        r = load4(x, 4 * i) + load4(velocity, 4 * i) * ahead - centre
        force, torque = force + load, torque + cross(r, load)
        store4(out, 4 * i, load)
    if loads.is_free[row]:  # the tensor of inertia times the spin is the torque, by cofactors
        a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
        determinant = xx * a + xy * b + xz * c
        inverse = 1.0 / determinant if determinant > 0.0 else 0.0
        tx, ty, tz = lane(torque, 0) * inverse, lane(torque, 1) * inverse, lane(torque, 2) * inverse
        spin = triple(a * tx + b * ty + c * tz, b * tx + d * ty + e * tz, c * tx + e * ty + f * tz)
        force = force * (1.0 / total)
        for i in range(first, last):
            r = load4(x, 4 * i) + load4(velocity, 4 * i) * ahead - centre
            store4(out, 4 * i, load4(out, 4 * i) - (force + cross(spin, r)) * loads.mass[i])
    for i in range(4 * first, 4 * last, 4):
        store4(out, i, load4(out, i) + load4(loads.given, i))


@lean_kernel
def aim(loads, out, x, velocity, h, state, steps):
    """Set the loads `out` [N] for those of the run's `steps` h [s] that follow, if their time has come."""
    every = loads.every[0]
    if every == 0 or state[STEP] % every != 0:
        return
    ahead = 0.5 * (min(every, steps - state[STEP]) - 1) * h  # the last one of them begins a step before their end
    left = 1.0 - min((loads.begin[0] + state[STEP] * h + ahead) / RISE_TIME, 1.0)
    share = left * left * (3.0 - 2.0 * left)
    for row in range(loads.first.shape[0]):
        aim_one(loads, row, out, x, velocity, ahead, share)
