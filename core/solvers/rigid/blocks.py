"""Contact rows in blocks of four without a common body, so that a sweep computes four of them at once.

Consecutive rows between the same two bodies are a chain. The level of a chain is above those of all earlier chains that
share a body with it. Chains of one level share no body, so four of them go side by side in the lanes of a block, and a
sweep over the blocks, level by level, gives every body what a sweep over the rows in their order does.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import IntArray
from ...contact.coulomb import cone_share_of_four
from ...jit import kernel
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


@kernel
def gather(motion, of, k):
    """Component k of the motion of a block's four bodies."""
    return four(motion[of[0], k], motion[of[1], k], motion[of[2], k], motion[of[3], k])


@kernel
def scatter(motion, of, k, value):
    """Write component k of the motion of a block's four bodies."""
    motion[of[0], k], motion[of[1], k] = lane(value, 0), lane(value, 1)
    motion[of[2], k], motion[of[3], k] = lane(value, 2), lane(value, 3)


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
        first, second = blocks.body[block, 0], blocks.body[block, 1]
        vx, vy, vz = gather(motion, first, 0), gather(motion, first, 1), gather(motion, first, 2)
        wx, wy, wz = gather(motion, first, 3), gather(motion, first, 4), gather(motion, first, 5)
        ux, uy, uz = gather(motion, second, 0), gather(motion, second, 1), gather(motion, second, 2)
        sx, sy, sz = gather(motion, second, 3), gather(motion, second, 4), gather(motion, second, 5)
        h = block * HEADER * 4
        light, lighter = load4(header, h), load4(header, h + 4)
        axx, axy, axz = load4(header, h + 8), load4(header, h + 12), load4(header, h + 16)
        ayy, ayz, azz = load4(header, h + 20), load4(header, h + 24), load4(header, h + 28)
        bxx, bxy, bxz = load4(header, h + 32), load4(header, h + 36), load4(header, h + 40)
        byy, byz, bzz = load4(header, h + 44), load4(header, h + 48), load4(header, h + 52)
        rows = blocks.start[block + 1] - blocks.start[block]
        for place in range(rows):
            row = blocks.start[block + 1] - 1 - place if is_backward else blocks.start[block] + place
            f, j = row * FIELDS * 4, row * 12
            px, py, pz = load4(fields, f + 36), load4(fields, f + 40), load4(fields, f + 44)
            qx, qy, qz = load4(fields, f + 48), load4(fields, f + 52), load4(fields, f + 56)
            nx, ny, nz = load4(fields, f), load4(fields, f + 4), load4(fields, f + 8)
            # relative velocity along the normal
            x = ux - vx + (sy * qz - sz * qy) - (wy * pz - wz * py)
            y = uy - vy + (sz * qx - sx * qz) - (wz * px - wx * pz)
            z = uz - vz + (sx * qy - sy * qx) - (wx * py - wy * px)
            speed = x * nx + y * ny + z * nz + load4(fields, f + 64)
            before = load4(impulse, j)
            normal = before - load4(fields, f + 60) * speed - load4(fields, f + 68) * before
            normal = larger(normal, zero)
            change = normal - before
            store4(impulse, j, normal)
            size = where_larger(change, zero, change, zero - change) * load4(fields, f + 100)
            worst = larger(size, worst)
            gx, gy, gz = change * nx, change * ny, change * nz
            vx, vy, vz = vx - light * gx, vy - light * gy, vz - light * gz
            ux, uy, uz = ux + lighter * gx, uy + lighter * gy, uz + lighter * gz
            tx, ty, tz = py * gz - pz * gy, pz * gx - px * gz, px * gy - py * gx
            wx = wx - (axx * tx + axy * ty + axz * tz)
            wy = wy - (axy * tx + ayy * ty + ayz * tz)
            wz = wz - (axz * tx + ayz * ty + azz * tz)
            tx, ty, tz = qy * gz - qz * gy, qz * gx - qx * gz, qx * gy - qy * gx
            sx = sx + (bxx * tx + bxy * ty + bxz * tz)
            sy = sy + (bxy * tx + byy * ty + byz * tz)
            sz = sz + (bxz * tx + byz * ty + bzz * tz)
            # friction: both directions together, within Coulomb's cone of the present normal impulse
            nx, ny, nz = load4(fields, f + 12), load4(fields, f + 16), load4(fields, f + 20)
            mx, my, mz = load4(fields, f + 24), load4(fields, f + 28), load4(fields, f + 32)
            x = ux - vx + (sy * qz - sz * qy) - (wy * pz - wz * py)
            y = uy - vy + (sz * qx - sx * qz) - (wz * px - wx * pz)
            z = uz - vz + (sx * qy - sy * qx) - (wx * py - wy * px)
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
            vx, vy, vz = vx - light * gx, vy - light * gy, vz - light * gz
            ux, uy, uz = ux + lighter * gx, uy + lighter * gy, uz + lighter * gz
            tx, ty, tz = py * gz - pz * gy, pz * gx - px * gz, px * gy - py * gx
            wx = wx - (axx * tx + axy * ty + axz * tz)
            wy = wy - (axy * tx + ayy * ty + ayz * tz)
            wz = wz - (axz * tx + ayz * ty + azz * tz)
            tx, ty, tz = qy * gz - qz * gy, qz * gx - qx * gz, qx * gy - qy * gx
            sx = sx + (bxx * tx + bxy * ty + bxz * tz)
            sy = sy + (bxy * tx + byy * ty + byz * tz)
            sz = sz + (bxz * tx + byz * ty + bzz * tz)
        scatter(motion, first, 0, vx)
        scatter(motion, first, 1, vy)
        scatter(motion, first, 2, vz)
        scatter(motion, first, 3, wx)
        scatter(motion, first, 4, wy)
        scatter(motion, first, 5, wz)
        scatter(motion, second, 0, ux)
        scatter(motion, second, 1, uy)
        scatter(motion, second, 2, uz)
        scatter(motion, second, 3, sx)
        scatter(motion, second, 4, sy)
        scatter(motion, second, 5, sz)
    return max(max(lane(worst, 0), lane(worst, 1)), max(lane(worst, 2), lane(worst, 3)))
