"""The step between two sweeps: least energy over the plane of the sweep's change and the last step.

Contact impulses j change the kinetic energy by D(j) = j A j / 2 + j b, where b are the relative velocities without them
and A j what they change. A sweep lowers D, but slowly where a heavy body lies on a light one: its change is then almost
along the slowest way, and shrinks by the ratio of the masses in each sweep. The minimum of D over the plane that is
spanned by this change and the last step (as in conjugate gradients, with both coefficients exact) removes it at once.
Then the impulses are projected: no normal impulse is negative, no friction outside its cone (compare the nonsmooth
nonlinear conjugate gradients of Silcowitz-Hansen, Niebe and Erleben 2010, whose coefficients are estimates). Where that
raises D by far, as a heavy body's step does with impulses that a light one cannot have, half of the step is taken, or a
quarter, or none.

The slope of D leaves out what its bounds hold: contacts that part, and friction where it slides.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray
from ...contact.coulomb import cone_share_of_four
from ...jit import kernel
from ...simd import any_larger, lane, larger, load4, root, spread, store4, where_larger
from .blocks import FIELDS, HEADER, gather, scatter

#: Share of the squared limit of friction above which it slides.
SLIDES = 0.999999
#: Longest step in units of the sweep's change [1]: a ratio of masses; beyond it, the change is rounding.
FARTHEST = 1e4
#: Change over motion, both squared, below which the change is rounding [1].
ROUNDING = 1e-20
#: What a projected step may raise the energy by, over the squared change of the sweep [1]: sliding friction does so.
RISE = 100.0
#: Least share of a step that is tried.
LEAST_SHARE = 0.25
#: Squared sine below which change and last step are one direction [1].
PARALLEL = 1e-8


@kernel
def inertia_of(inverse_mass, inverse_inertia):
    """Mass [kg] and inertia [kg m^2] (xx, xy, xz, yy, yz, zz) of each body, zeros where it cannot move."""
    out = np.zeros((inverse_mass.shape[0], 7))
    for body in range(inverse_mass.shape[0]):
        if not inverse_mass[body] > 0.0:
            continue
        t = inverse_inertia[body]
        xx, xy, xz, yy, yz, zz = t[0, 0], t[0, 1], t[0, 2], t[1, 1], t[1, 2], t[2, 2]
        a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        scale = 1.0 / (xx * a + xy * b + xz * c)
        out[body, 0] = 1.0 / inverse_mass[body]
        out[body, 1], out[body, 2], out[body, 3] = scale * a, scale * b, scale * c
        out[body, 4], out[body, 5] = scale * (xx * zz - xz * xz), scale * (xy * xz - xx * yz)
        out[body, 6] = scale * (xx * yy - xy * xy)
    return out


class Path(NamedTuple):
    """Impulses, or motions of the bodies, on the way to the solution; all of one shape."""

    now: FloatArray
    before: FloatArray  # the last sweep
    way: FloatArray  # of the last sweep and its step
    trial: FloatArray  # scratch


@kernel
def path_from(start):
    """A `Path` that begins with these numbers."""
    return Path(start, start.copy(), np.zeros_like(start), np.zeros_like(start))


@kernel
def step_on(blocks, header, fields, inertia, impulses, motions):
    """Step from what a sweep has found to the least energy of the plane, projected; `way` becomes the whole step.

    impulses, motions: a `Path` of each, as in `sweep_blocks`; inertia: `inertia_of` the bodies.
    """
    a, b, most = least_in_plane(blocks, fields, inertia, impulses, motions)
    share = 1.0
    while (a != 0.0 or b != 0.0) and share >= LEAST_SHARE:
        if project(blocks, header, fields, inertia, share * a, share * b, impulses, motions) <= most:
            impulses.now[:] = impulses.trial
            motions.now[:] = motions.trial
            break
        share *= 0.5
    impulses.way[:] = impulses.now - impulses.before
    motions.way[:] = motions.now - motions.before


@kernel
def least_in_plane(blocks, fields, inertia, impulses, motions):
    """Steps over the sweep's change and over the last step [1], and how much energy they may add once projected [J]."""
    impulse, impulse_before, impulse_way = impulses.now, impulses.before, impulses.way
    motion, motion_before, motion_way = motions.now, motions.before, motions.way
    bodies = inertia.shape[0]
    dd = dp = pp = whole = 0.0
    for body in range(bodies):
        m, v, w = inertia[body], motion[body], motion_way[body]
        if m[0] == 0.0:
            continue
        for k in range(3):
            i, j = (1, 2, 3) if k == 0 else ((2, 4, 5) if k == 1 else (3, 5, 6)), k + 3
            d = v[k] - motion_before[body, k]
            turn = v[j] - motion_before[body, j]
            momentum = (
                m[i[0]] * (v[3] - motion_before[body, 3])
                + m[i[1]] * (v[4] - motion_before[body, 4])
                + m[i[2]] * (v[5] - motion_before[body, 5])
            )
            momentum_way = m[i[0]] * w[3] + m[i[1]] * w[4] + m[i[2]] * w[5]
            dd += m[0] * d * d + momentum * turn
            dp += m[0] * d * w[k] + momentum * w[j]
            pp += m[0] * w[k] * w[k] + momentum_way * w[j]
            whole += m[0] * v[k] * v[k]
    soft_dd = soft_dp = soft_pp = slope = slope_way = spread(0.0)
    zero = spread(0.0)
    for block in range(blocks.body.shape[0]):
        first, second = blocks.body[block, 0], blocks.body[block, 1]
        vx, vy, vz = gather(motion, first, 0), gather(motion, first, 1), gather(motion, first, 2)
        wx, wy, wz = gather(motion, first, 3), gather(motion, first, 4), gather(motion, first, 5)
        ux, uy, uz = gather(motion, second, 0), gather(motion, second, 1), gather(motion, second, 2)
        sx, sy, sz = gather(motion, second, 3), gather(motion, second, 4), gather(motion, second, 5)
        for row in range(blocks.start[block], blocks.start[block + 1]):
            f, j = row * FIELDS * 4, row * 12
            normal, one, two = load4(impulse, j), load4(impulse, j + 4), load4(impulse, j + 8)
            p, po, pt = load4(impulse_way, j), load4(impulse_way, j + 4), load4(impulse_way, j + 8)
            d = normal - load4(impulse_before, j)
            do, dt = one - load4(impulse_before, j + 4), two - load4(impulse_before, j + 8)
            soft, limit = load4(fields, f + 104), load4(fields, f + 88) * normal
            soft_dd, soft_dp, soft_pp = soft_dd + soft * d * d, soft_dp + soft * d * p, soft_pp + soft * p * p
            px, py, pz = load4(fields, f + 36), load4(fields, f + 40), load4(fields, f + 44)
            qx, qy, qz = load4(fields, f + 48), load4(fields, f + 52), load4(fields, f + 56)
            x = ux - vx + (sy * qz - sz * qy) - (wy * pz - wz * py)
            y = uy - vy + (sz * qx - sx * qz) - (wz * px - wx * pz)
            z = uz - vz + (sx * qy - sy * qx) - (wx * py - wy * px)
            speed = x * load4(fields, f) + y * load4(fields, f + 4) + z * load4(fields, f + 8)
            speed = speed + load4(fields, f + 64) + soft * normal
            slip = (
                x * load4(fields, f + 12)
                + y * load4(fields, f + 16)
                + z * load4(fields, f + 20)
                + load4(fields, f + 92)
            )
            other = (
                x * load4(fields, f + 24)
                + y * load4(fields, f + 28)
                + z * load4(fields, f + 32)
                + load4(fields, f + 96)
            )
            # what the bounds hold does not count
            speed = where_larger(normal, zero, speed, zero)
            inside, square = SLIDES * limit * limit, one * one + two * two
            slip, other = where_larger(inside, square, slip, zero), where_larger(inside, square, other, zero)
            slope, slope_way = (
                slope + (d * speed + do * slip + dt * other),
                slope_way + (p * speed + po * slip + pt * other),
            )
    dd, dp, pp = dd + total(soft_dd), dp + total(soft_dp), pp + total(soft_pp)
    along, along_way = total(slope), total(slope_way)
    a = b = 0.0
    det = dd * pp - dp * dp
    if det > PARALLEL * dd * pp and det > 0.0:
        a, b = (dp * along_way - pp * along) / det, (dp * along - dd * along_way) / det
    elif dd > 0.0:
        a = -along / dd
    if a < -0.9 or max(a, abs(b)) > FARTHEST or dd < ROUNDING * whole:  # not down, or rounding
        a = b = 0.0
    return a, b, RISE * dd


@kernel
def project(blocks, header, fields, inertia, a, b, impulses, motions):
    """Write to `trial` what is `a` times the sweep's change and `b` times the last step from now on, within the bounds.

    Returns by how much the energy rises [J].
    """
    impulse, impulse_before, impulse_way, impulse_trial = impulses.now, impulses.before, impulses.way, impulses.trial
    motion, motion_before, motion_way, trial = motions.now, motions.before, motions.way, motions.trial
    bodies = inertia.shape[0]
    for body in range(bodies):
        for k in range(6):
            here = motion[body, k]
            trial[body, k] = here + a * (here - motion_before[body, k]) + b * motion_way[body, k]
    zero, half, rise = spread(0.0), spread(0.5), spread(0.0)
    for block in range(blocks.body.shape[0]):
        for row in range(blocks.start[block], blocks.start[block + 1]):
            f, j = row * FIELDS * 4, row * 12
            normal = step_from(impulse, impulse_before, impulse_way, j, a, b)
            one = step_from(impulse, impulse_before, impulse_way, j + 4, a, b)
            two = step_from(impulse, impulse_before, impulse_way, j + 8, a, b)
            limit = load4(fields, f + 88) * larger(normal, zero)
            square = one * one + two * two
            if any_larger(zero, normal) or any_larger(square, limit * limit):
                lack = larger(zero - normal, zero)
                share = cone_share_of_four(root(square), limit) - 1.0
                gone, away = share * one, share * two
                normal, one, two = normal + lack, one + gone, two + away
                push_block(blocks, header, fields, block, f, lack, gone, away, trial)
            now = load4(impulse, j)
            give = load4(fields, f + 64) + half * load4(fields, f + 104) * (normal + now)
            rise = rise + (normal - now) * give
            rise = rise + (one - load4(impulse, j + 4)) * load4(fields, f + 92)
            rise = rise + (two - load4(impulse, j + 8)) * load4(fields, f + 96)
            store4(impulse_trial, j, normal)
            store4(impulse_trial, j + 4, one)
            store4(impulse_trial, j + 8, two)
    return total(rise) + kinetic_rise(inertia, motion, trial)


@kernel
def kinetic_rise(inertia, motion, trial):
    """Kinetic energy of the second motion less that of the first one [J]."""
    rise = 0.0
    for body in range(inertia.shape[0]):
        m, v, w = inertia[body], motion[body], trial[body]
        for k in range(3):
            rise += 0.5 * m[0] * (w[k] - v[k]) * (w[k] + v[k])
        x, y, z = w[3] - v[3], w[4] - v[4], w[5] - v[5]
        p, q, r = 0.5 * (w[3] + v[3]), 0.5 * (w[4] + v[4]), 0.5 * (w[5] + v[5])
        rise += p * (m[1] * x + m[2] * y + m[3] * z)
        rise += q * (m[2] * x + m[4] * y + m[5] * z)
        rise += r * (m[3] * x + m[5] * y + m[6] * z)
    return rise


@kernel
def total(lanes):
    """Sum of four numbers."""
    return (lane(lanes, 0) + lane(lanes, 1)) + (lane(lanes, 2) + lane(lanes, 3))


@kernel
def step_from(now, before, way, at, a, b):
    """Four numbers at `at`, and `a` times their change, and `b` times the last step."""
    here = load4(now, at)
    return here + a * (here - load4(before, at)) + b * load4(way, at)


@kernel
def push_block(blocks, header, fields, block, f, normal, one, two, motion):
    """Apply impulses [N s] along the three axes of the rows whose fields begin at `f`."""
    first, second, h = blocks.body[block, 0], blocks.body[block, 1], block * HEADER * 4
    gx = normal * load4(fields, f) + one * load4(fields, f + 12) + two * load4(fields, f + 24)
    gy = normal * load4(fields, f + 4) + one * load4(fields, f + 16) + two * load4(fields, f + 28)
    gz = normal * load4(fields, f + 8) + one * load4(fields, f + 20) + two * load4(fields, f + 32)
    for side in range(2):
        of = first if side == 0 else second
        sign = -1.0 if side == 0 else 1.0
        light, i, r = sign * load4(header, h + 4 * side), h + 8 + 24 * side, f + 36 + 12 * side
        px, py, pz = load4(fields, r), load4(fields, r + 4), load4(fields, r + 8)
        tx, ty, tz = sign * (py * gz - pz * gy), sign * (pz * gx - px * gz), sign * (px * gy - py * gx)
        xx, xy, xz = load4(header, i), load4(header, i + 4), load4(header, i + 8)
        yy, yz, zz = load4(header, i + 12), load4(header, i + 16), load4(header, i + 20)
        scatter(motion, of, 0, gather(motion, of, 0) + light * gx)
        scatter(motion, of, 1, gather(motion, of, 1) + light * gy)
        scatter(motion, of, 2, gather(motion, of, 2) + light * gz)
        scatter(motion, of, 3, gather(motion, of, 3) + (xx * tx + xy * ty + xz * tz))
        scatter(motion, of, 4, gather(motion, of, 4) + (xy * tx + yy * ty + yz * tz))
        scatter(motion, of, 5, gather(motion, of, 5) + (xz * tx + yz * ty + zz * tz))
