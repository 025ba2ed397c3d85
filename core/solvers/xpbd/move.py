"""Prediction and velocities of the skins.

    x = x0 + h v + f h^2 g  ...projections...   v = (x - x0) / h + (1 - f) h g + w x (x - c)

f = 1/2 for a body that nothing touched in the substep before: free fall is then exact. f = 1 for one that lies on
something: there gravity and contact cancel within the substep, and what lies still has no velocity. w and c are those
of `spin.py`.
"""

from math import isfinite, sqrt

import numpy as np

from ...jit import kernel
from ...lanes import fused, lane, larger, load3, rotated, spread, store3, store4, sum_spread, triple, with_lane3


@kernel
def predict(first, last, x, v, fall, time, lies, start, rows):
    """Keep x in `start` and move it, for the vertices first .. last - 1 that are not pinned; `fall` is g [m/s^2].

    The prediction goes to `rows` (`rows.py`), that of pinned vertices is where they have been put.
    """
    share = time if lies else 0.5 * time
    change = triple(share * fall[0], share * fall[1], share * fall[2])
    for vertex in range(first, last):
        i = np.uint32(vertex)
        place, row = np.uint32(3) * i, np.uint32(4) * i
        here, w = load3(x, place), rows[i, 3]
        if w != 0.0:
            store3(start, place, here)
            here = here + time * (load3(v, place) + change)
        store4(rows, row, with_lane3(here, w))


@kernel
def set_velocities(x, start, inverse_mass, fall, time, body_point_start, chunks, lying, spin, v, moves, squares):
    """v from where the vertices went; `lying` as at the prediction, `spin` of each body from `lacking_spin`.

    Of each chunk: `moves`, no less than the longest way of its vertices [m]; `squares`, shape (chunk_count, 2), the
    sums of |x - x of the body's first vertex|^2 and of |v|^2.
    """
    for c in range(chunks.body.shape[0]):
        body = chunks.body[c]
        share = 0.0 if lying[body] else 0.5 * time
        change = triple(share * fall[0], share * fall[1], share * fall[2])
        centre = triple(spin[body, 0], spin[body, 1], spin[body, 2])
        turn = triple(spin[body, 3], spin[body, 4], spin[body, 5])
        turned = rotated(turn)
        inverse = spread(1.0 / time)
        origin = load3(x, np.uint32(3) * np.uint32(body_point_start[body]))
        most, size, speed = spread(0.0), spread(0.0), spread(0.0)
        for vertex in range(chunks.start[c], chunks.start[c + 1]):
            i = np.uint32(vertex)
            place = np.uint32(3) * i
            here = load3(x, place)
            apart = here - origin
            size = fused(apart, apart, size)
            if inverse_mass[i] != 0.0:
                arm = here - centre
                lacking = rotated(fused(turn, rotated(arm), -(turned * arm)))
                move = here - load3(start, place)
                most = larger(move * move, most)
                faster = fused(inverse, move, change + lacking)
                speed = fused(faster, faster, speed)
                store3(v, place, faster)
            else:
                given = load3(v, place)
                speed = fused(given, given, speed)
        moves[c] = sqrt(lane(sum_spread(most), 0))
        squares[c, 0] = lane(sum_spread(size), 0)
        squares[c, 1] = lane(sum_spread(speed), 0)


@kernel
def longest_of_bodies(chunks, moves, longest):
    """The largest of the `moves` of each body's chunks into `longest`, shape (membrane_count,)."""
    for body in range(longest.shape[0]):
        longest[body] = 0.0
        for c in range(chunks.body_start[body], chunks.body_start[body + 1]):
            # the other way round a move that is not a number would be lost
            longest[body] = longest[body] if longest[body] > moves[c] else moves[c]


@kernel
def sizes_of_bodies(chunks, squares, sizes):
    """No less than the diagonal of the box around each body [m] (`core/sound.py`); whether all of them and all
    velocities are finite.
    """
    speed = 0.0
    for body in range(sizes.shape[0]):
        size = 0.0
        for c in range(chunks.body_start[body], chunks.body_start[body + 1]):
            size += squares[c, 0]
            speed += squares[c, 1]
        sizes[body] = 2.0 * sqrt(size)
        speed += size
    return isfinite(speed)
