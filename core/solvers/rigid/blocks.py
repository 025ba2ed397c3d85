"""Contact rows in blocks of four without a common body, so that a sweep computes four of them at once.

Consecutive rows between the same two bodies are a chain. The level of a chain is above those of all earlier chains that
share a body with it. Chains of one level share no body, so four of them go side by side in the lanes of a block, and a
sweep over the blocks, level by level, gives every body what a sweep over the rows in their order does.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import IntArray
from ...contact.coulomb import cone_share_of_four
from ...jit import inline_kernel, kernel
from ...simd import any_larger, four, lane, larger, load4, root, spread, store4, where_larger

#: Fields of a row: three axes, two arms; coefficients of the normal impulse; effective masses along the surface;
#: friction; speeds of a collider's point along the surface; factor from corrections to displacements in thicknesses;
#: speed that a normal impulse yields [1/kg].
FIELDS = 27
#: Fields of a block's bodies: inverse masses, then the upper halves of the inverse inertia.
HEADER = 14


class Blocks(NamedTuple):
    """Rows of four chains each, side by side in lanes; empty lanes have no mass."""

    start: IntArray  # rows of each block in `rows`, CSR, shape (block_count + 1,)
    body: IntArray  # both bodies of each lane, the number of all bodies for none, shape (block_count, 2, 4)
    place: IntArray  # of each given row: 4 * row here + lane, shape (count,)


@kernel
def lay_out(count, body, inverse_mass):
    """Fields of `Blocks` for `count` rows between bodies, shape (count, 2).

    A body without inverse mass may be in several lanes.
    """
    bodies = inverse_mass.shape[0]
    first, level = np.empty(count + 1, np.int32), np.empty(count, np.int32)
    last = np.zeros(bodies, np.int32)
    chains = levels = 0
    for row in range(count):
        a, b = body[row, 0], body[row, 1]
        if row > 0 and a == body[row - 1, 0] and b == body[row - 1, 1]:
            continue
        here = last[a] if inverse_mass[a] > 0.0 else 0
        if b >= 0 and inverse_mass[b] > 0.0:
            here = max(here, last[b])
        first[chains], level[chains] = row, here
        levels = max(levels, here + 1)
        if inverse_mass[a] > 0.0:
            last[a] = here + 1
        if b >= 0 and inverse_mass[b] > 0.0:
            last[b] = here + 1
        chains += 1
    first[chains] = count
    # chains by level, in order
    level_start = np.zeros(levels + 1, np.int32)
    for chain in range(chains):
        level_start[level[chain] + 1] += 1
    for k in range(levels):
        level_start[k + 1] += level_start[k]
    order, cursor = np.empty(chains, np.int32), level_start.copy()
    for chain in range(chains):
        order[cursor[level[chain]]] = chain
        cursor[level[chain]] += 1
    start = np.zeros(chains + 1, np.int32)
    found = np.full((chains, 2, 4), bodies, np.int32)
    place = np.empty(count, np.int32)
    blocks = 0
    for k in range(levels):
        for begin in range(level_start[k], level_start[k + 1], 4):
            depth = 0
            for number in range(begin, min(begin + 4, level_start[k + 1])):
                chain, side = order[number], number - begin
                row = first[chain]
                depth = max(depth, first[chain + 1] - row)
                for slot in range(2):
                    index = body[row, slot]
                    if index >= 0 and inverse_mass[index] > 0.0:
                        found[blocks, slot, side] = index
                for i in range(row, first[chain + 1]):
                    place[i] = 4 * (start[blocks] + i - row) + side
            start[blocks + 1] = start[blocks] + depth
            blocks += 1
    return start[: blocks + 1], found[:blocks], place


@kernel
def fill_headers(blocks, inverse_mass, inverse_inertia):
    """Inverse masses and inertia of the blocks' bodies, shape (block_count * HEADER * 4,)."""
    bodies = inverse_mass.shape[0]
    out = np.zeros(blocks.body.shape[0] * HEADER * 4)
    for block in range(blocks.body.shape[0]):
        for slot in range(2):
            for side in range(4):
                body, at = blocks.body[block, slot, side], block * HEADER * 4 + side
                if body == bodies:
                    continue
                tensor, at = inverse_inertia[body], at + 4 * slot
                out[at] = inverse_mass[body]
                at += 4 * (2 + 5 * slot)
                out[at], out[at + 4], out[at + 8] = tensor[0, 0], tensor[0, 1], tensor[0, 2]
                out[at + 12], out[at + 16], out[at + 20] = tensor[1, 1], tensor[1, 2], tensor[2, 2]
    return out


@kernel
def fill_rows(blocks, rows, time, is_pushing, soft, share, give, out, impulse):
    """Write the rows' fields into `out` and their impulses into `impulse`, which hold zeros.

    is_pushing, soft, share, give: see `impulses`.
    """
    for row in range(blocks.place.shape[0]):
        lane_of = blocks.place[row] % 4
        at = (blocks.place[row] // 4) * FIELDS * 4 + lane_of
        to = (blocks.place[row] // 4) * 12 + lane_of
        for k in range(3):
            for axis in range(3):
                out[at + 4 * (3 * k + axis)] = rows.axes[row, k, axis]
            out[at + 4 * (9 + k)] = rows.arm[row, 0, k]
            out[at + 4 * (12 + k)] = rows.arm[row, 1, k]
            impulse[to + 4 * k] = rows.impulse[row, k]
        mass, gap, bias, yielding = rows.mass[row, 0], rows.gap[row], 0.0, 0.0
        bent = 0.5 * time * rows.bend[row] if is_pushing else 0.0
        out[at + 4 * 22] = rows.friction[row]
        if not mass > 0.0:
            continue
        out[at + 4 * 25] = time / (mass * rows.thickness[row])
        if gap > 0.0:
            bias = gap / time + bent
        elif is_pushing:
            stiff = max(soft, rows.load[row] * time / (mass * give * share * rows.thickness[row]))
            bias = max(share * gap / time, -rows.speed_limit[row]) + bent
            out[at + 4 * 26] = 1.0 / (mass * stiff)
            yielding, mass = 1.0 / (1.0 + stiff), mass * stiff / (1.0 + stiff)
        along = one = two = 0.0
        if rows.body[row, 1] < 0:
            for axis in range(3):
                along += rows.given[row, axis] * rows.axes[row, 0, axis]
                one += rows.given[row, axis] * rows.axes[row, 1, axis]
                two += rows.given[row, axis] * rows.axes[row, 2, axis]
        out[at + 4 * 15], out[at + 4 * 16], out[at + 4 * 17] = mass, bias + along, yielding
        for k in range(4):
            out[at + 4 * (18 + k)] = rows.mass[row, 1 + k]
        out[at + 4 * 23], out[at + 4 * 24] = one, two


@inline_kernel
def three(values, at):
    """Three numbers of each lane in a row."""
    return load4(values, at), load4(values, at + 4), load4(values, at + 8)


@inline_kernel
def gather(motion, of, k):
    """Component k of the motion of a block's four bodies."""
    return four(motion[of[0], k], motion[of[1], k], motion[of[2], k], motion[of[3], k])


@inline_kernel
def motions_of(motion, of):
    """Velocity and angular velocity of a block's four bodies, six numbers in lanes."""
    vx, vy, vz = gather(motion, of, 0), gather(motion, of, 1), gather(motion, of, 2)
    return vx, vy, vz, gather(motion, of, 3), gather(motion, of, 4), gather(motion, of, 5)


@inline_kernel
def write_motions(motion, of, values):
    """Write `motions_of` four bodies."""
    for k in range(6):
        motion[of[0], k], motion[of[1], k] = lane(values[k], 0), lane(values[k], 1)
        motion[of[2], k], motion[of[3], k] = lane(values[k], 2), lane(values[k], 3)


@inline_kernel
def parting(low, high, p, q):
    """Velocity of points at q [m] from the second bodies' centres, relative to those at p from the first ones'."""
    vx, vy, vz, wx, wy, wz = low
    ux, uy, uz, sx, sy, sz = high
    x = ux - vx + (sy * q[2] - sz * q[1]) - (wy * p[2] - wz * p[1])
    y = uy - vy + (sz * q[0] - sx * q[2]) - (wz * p[0] - wx * p[2])
    z = uz - vz + (sx * q[1] - sy * q[0]) - (wx * p[1] - wy * p[0])
    return x, y, z


@inline_kernel
def pushed(motion, light, above, below, arm, gx, gy, gz):
    """Motions after impulses g [N s] at arms [m] from the centres of bodies with these inverse masses and inertia."""
    (xx, xy, xz), (yy, yz, zz) = above, below
    tx, ty, tz = arm[1] * gz - arm[2] * gy, arm[2] * gx - arm[0] * gz, arm[0] * gy - arm[1] * gx
    return (
        motion[0] + light * gx, motion[1] + light * gy, motion[2] + light * gz,
        motion[3] + (xx * tx + xy * ty + xz * tz), motion[4] + (xy * tx + yy * ty + yz * tz),
        motion[5] + (xz * tx + yz * ty + zz * tz),
    )  # fmt: skip


@kernel
def sweep_blocks(blocks, header, fields, impulse, motion, is_backward):
    """One sweep: the normal, then friction, of every row, in order or backward.

    motion: velocity and angular velocity of each body, and a row of zeros for empty lanes, shape (body_count + 1, 6).
    Returns the largest correction along a normal, as a displacement in this step in units of the thickness.
    """
    zero = spread(0.0)
    worst = zero
    count = blocks.body.shape[0]
    for number in range(count):
        block = count - 1 - number if is_backward else number
        low, high = motions_of(motion, blocks.body[block, 0]), motions_of(motion, blocks.body[block, 1])
        h = block * HEADER * 4
        light, lighter = load4(header, h), load4(header, h + 4)
        above, below = three(header, h + 8), three(header, h + 20)
        upper, lower = three(header, h + 32), three(header, h + 44)
        rows = blocks.start[block + 1] - blocks.start[block]
        for place in range(rows):
            row = blocks.start[block + 1] - 1 - place if is_backward else blocks.start[block] + place
            f, j = row * FIELDS * 4, row * 12
            p, q = three(fields, f + 36), three(fields, f + 48)
            nx, ny, nz = three(fields, f)
            x, y, z = parting(low, high, p, q)
            speed = x * nx + y * ny + z * nz + load4(fields, f + 64)
            before = load4(impulse, j)
            normal = before - load4(fields, f + 60) * speed - load4(fields, f + 68) * before
            normal = larger(normal, zero)
            change = normal - before
            store4(impulse, j, normal)
            size = where_larger(change, zero, change, zero - change) * load4(fields, f + 100)
            worst = larger(size, worst)
            gx, gy, gz = change * nx, change * ny, change * nz
            low = pushed(low, light, above, below, p, -gx, -gy, -gz)
            high = pushed(high, lighter, upper, lower, q, gx, gy, gz)
            # friction: both directions together, within Coulomb's cone of the present normal impulse
            (nx, ny, nz), (mx, my, mz) = three(fields, f + 12), three(fields, f + 24)
            x, y, z = parting(low, high, p, q)
            slip = x * nx + y * ny + z * nz + load4(fields, f + 92)
            other = x * mx + y * my + z * mz + load4(fields, f + 96)
            limit = load4(fields, f + 88) * normal
            one_before, two_before = load4(impulse, j + 4), load4(impulse, j + 8)
            both = load4(fields, f + 80)
            one = one_before - load4(fields, f + 76) * slip - both * other
            two = two_before - both * slip - load4(fields, f + 84) * other
            size, square = one * one + two * two, limit * limit
            if any_larger(size, square):
                # where it slides friction must be against the slip, whatever the bodies set against it elsewhere
                least = load4(fields, f + 72)
                along, across = one_before - least * slip, two_before - least * other
                scale = cone_share_of_four(root(along * along + across * across), limit)
                one = where_larger(size, square, scale * along, one)
                two = where_larger(size, square, scale * across, two)
            store4(impulse, j + 4, one)
            store4(impulse, j + 8, two)
            one, two = one - one_before, two - two_before
            gx, gy, gz = one * nx + two * mx, one * ny + two * my, one * nz + two * mz
            low = pushed(low, light, above, below, p, -gx, -gy, -gz)
            high = pushed(high, lighter, upper, lower, q, gx, gy, gz)
        write_motions(motion, blocks.body[block, 0], low)
        write_motions(motion, blocks.body[block, 1], high)
    return max(max(lane(worst, 0), lane(worst, 1)), max(lane(worst, 2), lane(worst, 3)))
