"""The step between two sweeps: least energy over the plane of the sweep's change and the last step.

Contact impulses j change the kinetic energy by D(j) = j A j / 2 + j b, where b are the relative velocities without them
and A j what they change. A sweep lowers D, but slowly where a heavy body lies on a light one: its change is then almost
along the slowest way, and shrinks by the ratio of the masses in each sweep. The minimum of D over the plane that is
spanned by this change and the last step (as in conjugate gradients, with both coefficients exact) removes it at once.
Then the impulses are projected: no normal impulse is negative, no friction outside its cone (compare the nonsmooth
nonlinear conjugate gradients of Silcowitz-Hansen, Niebe and Erleben 2010, whose coefficients are estimates). Where that
raises D by far, as a heavy body's step does with impulses that a light one cannot have, half of the step is taken, or a
quarter, or none.

Where colliders press a body from both sides no impulses are enough, and D has no least value: steps would end in any
energy. So all steps of a solution together lower it by no more than motions that obey could hold (`most_lowered`).

The slope of D leaves out what its bounds hold: contacts that part, and friction where it slides.
"""

import numpy as np

from ...contact.coulomb import cone_share_of_four
from ...jit import kernel
from ...simd import any_larger, lane, larger, load4, root, spread, store4, where_larger
from .blocks import FIELDS, HEADER, motions_of, parting, pushed, three, write_motions

#: Share of the squared limit of friction above which it slides.
SLIDES = 0.999999
#: Change over motion, both squared, below which the change is rounding [1].
ROUNDING = 1e-20
#: What a projected step may raise the energy by, as sliding friction does, over the least squared change of sweeps [1].
RISE = 10.0
#: What all steps may lower the energy by, over that of all mass at the fastest motion given: long levers go faster [1].
LOWERED = 100.0
#: Shares of a step that are tried.
SHARES = (1.0, 0.5, 0.25)
#: Impulses, and motions: after the sweep; before it; what the last sweep and its step changed; scratch.
NOW, BEFORE, WAY, TRIED = range(4)
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


@kernel
def most_lowered(fields, inertia, motion):
    """What all steps together may lower the energy by [J]; `motion`: before the first sweep."""
    mass, fastest = 0.0, 0.0
    for body in range(inertia.shape[0]):
        mass += inertia[body, 0]
    for row in range(fields.shape[0] // (4 * FIELDS)):
        for side in range(4):
            fastest = max(fastest, -fields[row * FIELDS * 4 + 64 + side])
    return LOWERED * (product(inertia, motion, motion) + mass * fastest * fastest)


@kernel
def step_on(blocks, header, fields, inertia, impulses, motions, bounds):
    """Step from what a sweep has found to the least energy of the plane, projected.

    impulses, motions: as in `sweep_blocks`, of `NOW` and so on; inertia: `inertia_of` the bodies. `bounds`: the
    least squared change of a sweep so far [J], which bounds what all steps together add, and what they may still lower
    the energy by [J]; changes.
    """
    a, b, size = least_in_plane(blocks, fields, inertia, impulses, motions)
    bounds[0] = min(bounds[0], size)
    now, moved = motions[NOW], motions[TRIED]
    for share in SHARES:
        moved[:] = now + share * (a * (now - motions[BEFORE]) + b * motions[WAY])
        rise = project(blocks, header, fields, share * a, share * b, impulses, moved)
        rise += product(inertia, moved - now, 0.5 * (moved + now))
        if -bounds[1] <= rise <= RISE * bounds[0]:
            bounds[1] += min(rise, 0.0)
            impulses[NOW], motions[NOW] = impulses[TRIED], moved
            break
    np.subtract(impulses[NOW], impulses[BEFORE], impulses[WAY])
    np.subtract(motions[NOW], motions[BEFORE], motions[WAY])


@kernel
def least_in_plane(blocks, fields, inertia, impulses, motions):
    """Steps along the sweep's change and along the last step [1], and the squared size of that change [J]."""
    impulse, before, way = impulses[NOW], impulses[BEFORE], impulses[WAY]
    motion, motion_way = motions[NOW], motions[WAY]
    turn = motion - motions[BEFORE]
    dd, dp = product(inertia, turn, turn), product(inertia, turn, motion_way)
    pp, whole = product(inertia, motion_way, motion_way), product(inertia, motion, motion)
    soft_dd = soft_dp = soft_pp = slope = slope_way = spread(0.0)
    zero = spread(0.0)
    for block in range(blocks.body.shape[0]):
        low, high = motions_of(motion, blocks.body[block, 0]), motions_of(motion, blocks.body[block, 1])
        for row in range(blocks.start[block], blocks.start[block + 1]):
            f, j = row * FIELDS * 4, row * 12
            (normal, one, two), (p, po, pt) = three(impulse, j), three(way, j)
            d = normal - load4(before, j)
            do, dt = one - load4(before, j + 4), two - load4(before, j + 8)
            soft, limit = load4(fields, f + 104), load4(fields, f + 88) * normal
            soft_dd, soft_dp, soft_pp = soft_dd + soft * d * d, soft_dp + soft * d * p, soft_pp + soft * p * p
            x, y, z = parting(low, high, three(fields, f + 36), three(fields, f + 48))
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
    if dd < ROUNDING * whole:
        a = b = 0.0
    return a, b, dd


@kernel
def project(blocks, header, fields, a, b, impulses, motion):
    """Try `a` times the sweep's change and `b` times the last step, within the bounds; `motion`: with them, changes.

    Returns by how much energy rises, the kinetic one apart [J].
    """
    now, before, way, tried = impulses[NOW], impulses[BEFORE], impulses[WAY], impulses[TRIED]
    zero, half, rise = spread(0.0), spread(0.5), spread(0.0)
    for block in range(blocks.body.shape[0]):
        for row in range(blocks.start[block], blocks.start[block + 1]):
            f, j = row * FIELDS * 4, row * 12
            was, one_was, two_was = three(now, j)
            normal = was + a * (was - load4(before, j)) + b * load4(way, j)
            one = one_was + a * (one_was - load4(before, j + 4)) + b * load4(way, j + 4)
            two = two_was + a * (two_was - load4(before, j + 8)) + b * load4(way, j + 8)
            limit = load4(fields, f + 88) * larger(normal, zero)
            square = one * one + two * two
            if any_larger(zero, normal) or any_larger(square, limit * limit):
                lack = larger(zero - normal, zero)
                share = cone_share_of_four(root(square), limit) - 1.0
                gone, away = share * one, share * two
                normal, one, two = normal + lack, one + gone, two + away
                push_block(blocks, header, fields, block, f, lack, gone, away, motion)
            yields = load4(fields, f + 64) + half * load4(fields, f + 104) * (normal + was)
            rise = rise + (normal - was) * yields
            rise = rise + (one - one_was) * load4(fields, f + 92) + (two - two_was) * load4(fields, f + 96)
            store4(tried, j, normal)
            store4(tried, j + 4, one)
            store4(tried, j + 8, two)
    return total(rise)


@kernel
def product(inertia, motion, other):
    """Product of two motions of all bodies: of a motion with itself, twice its energy [J]."""
    out = 0.0
    for body in range(inertia.shape[0]):
        m, v, w = inertia[body], motion[body], other[body]
        out += m[0] * (v[0] * w[0] + v[1] * w[1] + v[2] * w[2])
        out += v[3] * (m[1] * w[3] + m[2] * w[4] + m[3] * w[5])
        out += v[4] * (m[2] * w[3] + m[4] * w[4] + m[5] * w[5])
        out += v[5] * (m[3] * w[3] + m[5] * w[4] + m[6] * w[5])
    return out


@kernel
def total(lanes):
    """Sum of four numbers."""
    return (lane(lanes, 0) + lane(lanes, 1)) + (lane(lanes, 2) + lane(lanes, 3))


@kernel
def push_block(blocks, header, fields, block, f, normal, one, two, motion):
    """Apply impulses [N s] along the three axes of the rows whose fields begin at `f`."""
    gx = normal * load4(fields, f) + one * load4(fields, f + 12) + two * load4(fields, f + 24)
    gy = normal * load4(fields, f + 4) + one * load4(fields, f + 16) + two * load4(fields, f + 28)
    gz = normal * load4(fields, f + 8) + one * load4(fields, f + 20) + two * load4(fields, f + 32)
    for side in range(2):
        of, h = blocks.body[block, side], block * HEADER * 4
        above, below = three(header, h + 8 + 24 * side), three(header, h + 20 + 24 * side)
        sign, light, arm = 2.0 * side - 1.0, load4(header, h + 4 * side), three(fields, f + 36 + 12 * side)
        moved = pushed(motions_of(motion, of), light, above, below, arm, sign * gx, sign * gy, sign * gz)
        write_motions(motion, of, moved)
