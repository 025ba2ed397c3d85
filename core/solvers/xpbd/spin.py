"""The angular momentum that velocities from positions lose.

v = (x - x0) / h gives a spinning body x moments of x - x0, and sum m x cross (x - x0) / h falls by the share (h w)^2
per substep though no projection has a torque: at 10 rad/s and 1/240 s a third of the spin would be gone in a second.
So the angular momentum that the projections inside a skin may not change is measured before and after them, and the
skin gets the rotation that it lacks, as `momentum.py` does for the implicit solver. Linear momentum is exact as it is.
"""

from math import sqrt

import numpy as np

from ...jit import kernel
from ...lanes import fused, lane, larger, load3, rotated, spread, store3, sum_spread, triple


@kernel
def measure_spin(start, rows, v, mass, fall, time, body_point_start, chunks, lying, sums, x, moves):
    """Write the positions in `rows` (`rows.py`) back to x, and measure what the projections have done.

    `sums`, shape (chunk_count, 13): the angular momentum [kg m^2/s] lost on the way from the prediction, per chunk,
    about the body's first vertex at the start (linear momentum is the same before and after, so the point does not
    matter), then the moments of mass as in `moments_of_chunk`. `moves` as in `move.set_velocities`.
    """
    for c in range(chunks.body.shape[0]):
        first_vertex = np.uint32(body_point_start[chunks.body[c]])
        origin = load3(start, np.uint32(3) * first_vertex)
        share = time if lying[chunks.body[c]] else 0.5 * time
        change = triple(share * fall[0], share * fall[1], share * fall[2])
        faster = spread(-1.0 / time)
        lost, first, square, mixed = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        most = spread(0.0)
        total = 0.0
        for vertex in range(chunks.start[c], chunks.start[c + 1]):
            i = np.uint32(vertex)
            place = np.uint32(3) * i
            m = mass[i]
            before, after = load3(start, place), load3(rows, np.uint32(4) * i)
            store3(x, place, after)
            r = m * (before - origin)
            move = after - before
            most = larger(move * move, most)
            u = fused(faster, move, load3(v, place) + change)
            lost = fused(r, rotated(u), fused(-rotated(r), u, lost))
            arm = after - origin
            moment = m * arm
            total += m
            first, square = first + moment, fused(moment, arm, square)
            mixed = fused(moment, rotated(arm), mixed)
        moves[c] = sqrt(lane(sum_spread(most), 0))
        store3(sums, 13 * c, rotated(lost))
        store_moments(c, total, first, square, mixed, sums)


@kernel
def take_step(start, x, step, mass, time, chunks, sums):
    """Move the vertices, which contacts or attachments push by `step` [m], shape (vertex_count, 3), and add what is
    lost to `sums`.

    The torque is that at x, sum m x cross step / h; velocities from positions give step cross (x - start) besides.
    """
    for c in range(chunks.body.shape[0]):
        lost = spread(0.0)
        for vertex in range(chunks.start[c], chunks.start[c + 1]):
            i = np.uint32(vertex)
            if step[i, 0] != 0.0 or step[i, 1] != 0.0 or step[i, 2] != 0.0:
                place = np.uint32(3) * i
                push, here = load3(step, place), load3(x, place)
                moved = here - load3(start, place)
                lost = lost - (mass[i] / time) * (push * rotated(moved) - rotated(push) * moved)
                store3(x, place, here + push)
        lost = rotated(lost)
        sums[c, 0] += lane(lost, 0)
        sums[c, 1] += lane(lost, 1)
        sums[c, 2] += lane(lost, 2)


@kernel
def measure_moments(x, start, mass, body_point_start, chunks, sums):
    """`moments_of_chunk` of all chunks."""
    for c in range(chunks.body.shape[0]):
        moments_of_chunk(c, x, start, mass, body_point_start, chunks, sums)


@kernel
def moments_of_chunk(c, x, start, mass, body_point_start, chunks, sums):
    """Mass, first and second moments about where the body's first vertex started: columns 3 to 12 of `sums`."""
    centre = load3(start, np.uint32(3) * np.uint32(body_point_start[chunks.body[c]]))
    first, square, mixed = spread(0.0), spread(0.0), spread(0.0)
    total = 0.0
    for vertex in range(chunks.start[c], chunks.start[c + 1]):
        i = np.uint32(vertex)
        m = mass[i]
        arm = load3(x, np.uint32(3) * i) - centre
        moment = m * arm
        total += m
        first, square = first + moment, fused(moment, arm, square)
        mixed = fused(moment, rotated(arm), mixed)
    store_moments(c, total, first, square, mixed, sums)


@kernel
def store_moments(c, total, first, square, mixed, sums):
    """Mass, sums of m r, m r r and m r rotated(r) of chunk c into `sums`: (xy, yz, zx) as xy, xz, yz."""
    sums[c, 3] = total
    store3(sums, 13 * c + 4, first)
    store3(sums, 13 * c + 7, square)
    sums[c, 10], sums[c, 11], sums[c, 12] = lane(mixed, 0), lane(mixed, 2), lane(mixed, 1)


@kernel
def lacking_spin(start, body_point_start, chunks, free, sums, spin):
    """Centre [m] and the angular velocity [1/s] that each membrane lacks, shape (membrane_count, 6).

    `free`: whether nothing of the membrane is pinned; the others get none, for their pins hold their spin.
    """
    for body in range(spin.shape[0]):
        lx = ly = lz = m = sx = sy = sz = xx = yy = zz = xy = xz = yz = 0.0
        for c in range(chunks.body_start[body], chunks.body_start[body + 1]):
            row = sums[c]
            lx, ly, lz = lx + row[0], ly + row[1], lz + row[2]
            m, sx, sy, sz = m + row[3], sx + row[4], sy + row[5], sz + row[6]
            xx, yy, zz = xx + row[7], yy + row[8], zz + row[9]
            xy, xz, yz = xy + row[10], xz + row[11], yz + row[12]
        sx, sy, sz = sx / m, sy / m, sz / m
        xx, yy, zz = xx - m * sx * sx, yy - m * sy * sy, zz - m * sz * sz
        xy, xz, yz = xy - m * sx * sy, xz - m * sx * sz, yz - m * sy * sz
        # a body squashed to a line has no inertia about it: a little is added
        extra = 1e-9 * (xx + yy + zz)
        ix, iy, iz = yy + zz + extra, xx + zz + extra, xx + yy + extra
        jxy, jxz, jyz = -xy, -xz, -yz
        cxx, cyy, czz = iy * iz - jyz * jyz, ix * iz - jxz * jxz, ix * iy - jxy * jxy
        cxy, cxz, cyz = jxz * jyz - jxy * iz, jxy * jyz - jxz * iy, jxy * jxz - jyz * ix
        inverse = 1.0 / (ix * cxx + jxy * cxy + jxz * cxz) if free[body] else 0.0
        first, row = body_point_start[body], spin[body]
        row[0], row[1], row[2] = start[first, 0] + sx, start[first, 1] + sy, start[first, 2] + sz
        row[3] = inverse * (cxx * lx + cxy * ly + cxz * lz)
        row[4] = inverse * (cxy * lx + cyy * ly + cyz * lz)
        row[5] = inverse * (cxz * lx + cyz * ly + czz * lz)
