"""Bending for explicit steps: the energy of `energy/bend.py`, four hinges at a time and with five numbers each.

    E = k/2 |b - c m|^2,   b = sum_s w_s x_s,   m = n / sqrt(|n|^2 + FOLD^2),   n = e x f,   f = s1 a - s2 d

with e, a and d from the edge's first point to its second and to the two apexes. The cotangents of the rest shape make
the apexes' weights -L^2 s1 and -L^2 s2 (L: the edge's rest length), so b wants the same products as f. With sqrt(k)
taken into c and w, the weight of the edge's second point, and sqrt(k) L^2 into s1 and s2,

    E = 1/2 |r|^2,   r = b - t n,   b = w e - (s1 a + s2 d),   t = c / S,   S^2 = |n|^2 + F^2,   F = sqrt(k) L^2 FOLD

    dE = r . db - g . dn,   g = t (r - (r . m) m) = t (b - n (t F^2 + b . n) / S^2),   dn = de x f + e x df
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...energy.bend import FOLD
from ...jit import lean_inline_kernel, lean_kernel
from ...model import Hinges
from ...simd import load4, root, spread, store4, transposed

#: Fours of hinges per block: the first half of all is computed before the second half of any.
BLOCK = 8


class Bending(NamedTuple):
    """Hinges in fours, body by body, the constants of four side by side, the soft ones last (`soft_hinges.py`).

    Hinges without stiffness fill up fours.
    """

    places: NDArray[np.uint32]  # 4 * row of the edge's points and of the apexes, shape (four_count, 16)
    constants: FloatArray  # w, s1, s2 [sqrt(N/m)], c [sqrt(N m)], F^2 [N m^3], shape (four_count, 20)
    work: FloatArray  # -e [m], -f, r [sqrt(N m)], g [sqrt(N/m)] of a block, shape (BLOCK, 48)
    start: IntArray  # first four of each membrane's hinges, of its soft ones, of the next, shape (2 * count + 1,)


def bending_of(hinges: Hinges, point: IntArray, body: IntArray, body_count: int, soft: BoolArray | bool) -> Bending:
    """Bending of all hinges of a model, whose vertex i is in row `point[i]` of positions and forces.

    `body`: of each hinge, shape (hinge_count,); `soft`: which ones may act in one of several steps.
    """
    part = 2 * body + soft
    root_k = np.sqrt(hinges.stiffness)
    scale = -root_k * hinges.weight[:, 2] / hinges.normal_scale[:, 0]  # sqrt(k) L^2
    constants = np.column_stack(
        [
            root_k * hinges.weight[:, 1],
            scale[:, None] * hinges.normal_scale,
            root_k * hinges.rest_bend,
            (scale * FOLD) ** 2,
        ]
    )
    places = 4 * np.asarray(point)[hinges.points]
    filled = [_in_fours(places[own], constants[own]) for own in (part == each for each in range(2 * body_count))]
    filled.append(_in_fours(places[:0], constants[:0]))
    return Bending(
        places=_side_by_side(np.concatenate([each[0] for each in filled])),
        constants=_side_by_side(np.concatenate([each[1] for each in filled])),
        work=np.zeros((BLOCK, 48)),
        start=np.cumsum([0, *(len(each[0]) // 4 for each in filled[:-1])]).astype(np.int32),
    )


def _in_fours(places: IntArray, constants: FloatArray) -> tuple[NDArray[np.uint32], FloatArray]:
    """Places and constants of hinges, filled up to fours by ones without stiffness."""
    missing = -len(places) % 4
    none = np.zeros((missing, 5))
    none[:, 4] = 1.0  # S is not 0
    return np.concatenate([places, np.zeros((missing, 4))]).astype(np.uint32), np.concatenate([constants, none])


def _side_by_side(rows: NDArray[Any]) -> NDArray[Any]:
    """Four rows as one: their first numbers, their second ones, and so on."""
    columns = rows.shape[1]
    return np.ascontiguousarray(rows.reshape(-1, 4, columns).transpose(0, 2, 1)).reshape(-1, 4 * columns)


@lean_inline_kernel
def bends(bending, body, soft):
    """Whether hinges of a body act in a step, where its soft ones do for so many steps, `soft`."""
    hard_end = bending.start[2 * body + 1]
    return hard_end > bending.start[2 * body] or (soft > 0 and bending.start[2 * body + 2] > hard_end)


@lean_kernel
def add_bending(x, force, bending, body, times):
    """Add the forces of a body's bending [N] at positions x [m]; both as rows x, y, z, 0 in one dimension.

    Soft hinges have so many `times` their force, as they act more seldom.
    """
    first, soft, last = bending.start[2 * body], bending.start[2 * body + 1], bending.start[2 * body + 2]
    add_fours(first, soft, 1.0, x, force, bending)
    if times > 0.0:
        add_fours(soft, last, times, x, force, bending)


@lean_inline_kernel
def add_fours(begin, end, times, x, force, bending):
    """Add the forces of the fours begin .. end - 1.

    Within a four each operation waits for the one before, root and division among them, and a processor looks ahead by
    little more than one four. Computing the first half of all fours of a block before their second halves gives it
    independent operations: that takes 0.6 of the time.
    """
    for first in range(begin, end, BLOCK):
        last = min(first + BLOCK, end)
        for four in range(first, last):
            bend_four(np.uint32(four), np.uint32(four - first), x, bending)
        for four in range(first, last):
            push_four(np.uint32(four), np.uint32(four - first), times, bending, force)


@lean_inline_kernel
def bend_four(four, row, x, bending):
    """First half of a four: -e, -f, r and g into a row of `work`; returns |r|^2 [J] as lanes."""
    at, constants, work = bending.places[four], bending.constants[four], bending.work[row]
    # minus e, a and d: what is subtracted needs no load of its own
    p0, p1, p2, p3 = load4(x, at[0]), load4(x, at[1]), load4(x, at[2]), load4(x, at[3])
    ex, ey, ez, _ = transposed(p0 - load4(x, at[4]), p1 - load4(x, at[5]), p2 - load4(x, at[6]), p3 - load4(x, at[7]))
    ax, ay, az, _ = transposed(p0 - load4(x, at[8]), p1 - load4(x, at[9]), p2 - load4(x, at[10]), p3 - load4(x, at[11]))
    dx, dy, dz, _ = transposed(
        p0 - load4(x, at[12]), p1 - load4(x, at[13]), p2 - load4(x, at[14]), p3 - load4(x, at[15])
    )
    w, s1, s2 = load4(constants, 0), load4(constants, 4), load4(constants, 8)
    c, fold2 = load4(constants, 12), load4(constants, 16)
    ax, ay, az = s1 * ax, s1 * ay, s1 * az
    fx, fy, fz = ax - s2 * dx, ay - s2 * dy, az - s2 * dz
    bx, by, bz = s2 * dx + ax, s2 * dy + ay, s2 * dz + az
    bx, by, bz = bx - w * ex, by - w * ey, bz - w * ez
    nx, ny, nz = cross(ex, ey, ez, fx, fy, fz)
    size2 = nx * nx + ny * ny + nz * nz + fold2
    inverse = 1.0 / size2
    t = c * inverse * root(size2)  # the root does not wait for the division
    share = inverse * (t * fold2 + bx * nx + by * ny + bz * nz)
    rx, ry, rz = bx - t * nx, by - t * ny, bz - t * nz
    store_vector(work, 0, ex, ey, ez)
    store_vector(work, 12, fx, fy, fz)
    store_vector(work, 24, rx, ry, rz)
    store_vector(work, 36, t * (bx - share * nx), t * (by - share * ny), t * (bz - share * nz))
    return rx * rx + ry * ry + rz * rz


@lean_inline_kernel
def push_four(four, row, times, bending, force):
    """Second half of a four: so many times its forces, added to those of its points."""
    at, constants, work = bending.places[four], bending.constants[four], bending.work[row]
    w, s1, s2 = load4(constants, 0), load4(constants, 4), load4(constants, 8)
    rx, ry, rz = load4(work, 24) * times, load4(work, 28) * times, load4(work, 32) * times
    gx, gy, gz = load4(work, 36) * times, load4(work, 40) * times, load4(work, 44) * times
    # g . dn = de . (f x g) + df . (g x e)
    ux, uy, uz = cross(gx, gy, gz, load4(work, 0), load4(work, 4), load4(work, 8))
    vx, vy, vz = cross(gx, gy, gz, load4(work, 12), load4(work, 16), load4(work, 20))
    none = spread(0.0)
    e0, e1, e2, e3 = transposed(vx - w * rx, vy - w * ry, vz - w * rz, none)
    a0, a1, a2, a3 = transposed(s1 * (rx - ux), s1 * (ry - uy), s1 * (rz - uz), none)
    d0, d1, d2, d3 = transposed(s2 * (rx + ux), s2 * (ry + uy), s2 * (rz + uz), none)
    push_hinge(at[0], at[4], at[8], at[12], e0, a0, d0, force)
    push_hinge(at[1], at[5], at[9], at[13], e1, a1, d1, force)
    push_hinge(at[2], at[6], at[10], at[14], e2, a2, d2, force)
    push_hinge(at[3], at[7], at[11], at[15], e3, a3, d3, force)


@lean_inline_kernel
def push_hinge(i, j, p, q, on_j, on_p, on_q, force):
    """Add the forces on the four points of one hinge."""
    store4(force, i, load4(force, i) - (on_j + on_p + on_q))
    store4(force, j, load4(force, j) + on_j)
    store4(force, p, load4(force, p) + on_p)
    store4(force, q, load4(force, q) + on_q)


@lean_inline_kernel
def store_vector(array, first, x, y, z):
    """Write x, y and z, four numbers each, one after the other."""
    store4(array, first, x)
    store4(array, first + 4, y)
    store4(array, first + 8, z)


@lean_inline_kernel
def cross(ax, ay, az, bx, by, bz):
    """a x b, lane by lane."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
