"""The gas of a skin as one projection in closed form.

Moving the vertices by w_i lambda G_i, G = dV/dx, changes the volume to V + lambda S, S = sum w_i |G_i|^2, to first
order. The impulse of the pressure at the end of the substep is lambda / h = h p(V + lambda S), p the gauge pressure:

    lambda = h^2 (nRT / (V + lambda S) - p_ambient)
    =>  lambda = 2 C / (B + sqrt(B^2 + 4 S C)),   B = V + h^2 p_ambient S,   C = h^2 (nRT - p_ambient V)

B^2 + 4 S C = (V - h^2 p_ambient S)^2 + 4 S h^2 nRT is never negative and V + lambda S always positive, so a jump from
0 to 1 MPa or a skin turned inside out stay finite. Where V + lambda S is below a twentieth of the rest volume the gas
law is a straight line (`forces.gas.gas_law`), and so is the equation.
The sums of G_i and of x_i cross G_i vanish on a closed surface: momentum and angular momentum stay.
"""

from math import sqrt

import numpy as np

from ...forces.gas import SMALLEST_VOLUME_SHARE
from ...jit import kernel
from ...lanes import fused, lane, load4, rotated, spread, spread_lane3, store4, sum_spread, triple
from ...plane import hold_in_plane
from .move import predict

SIXTH = 1.0 / 6.0


@kernel
def gas_impulse(volume, steepness, rest_volume, gas, ambient, time):
    """lambda [kg/m... x m^2] of a skin with `volume` V [m^3] and `steepness` S = sum w |G|^2 [m^4/kg].

    `gas` = nRT [J], `ambient` [Pa], `time` the substep h [s].
    """
    h2 = time * time
    b = volume + h2 * ambient * steepness
    c = h2 * (gas - ambient * volume)
    root = sqrt(max((volume - h2 * ambient * steepness) ** 2 + 4.0 * steepness * h2 * gas, 0.0))
    impulse = 0.0
    if b + root > 0.0 and b >= 0.0:
        impulse = 2.0 * c / (b + root)
    elif steepness > 0.0:
        impulse = (root - b) / (2.0 * steepness)
    smallest = SMALLEST_VOLUME_SHARE * rest_volume
    if volume + impulse * steepness >= smallest:
        return impulse
    fall = gas / (smallest * smallest)
    return h2 * (gas / smallest + fall * (smallest - volume) - ambient) / (1.0 + h2 * fall * steepness)


@kernel
def add_triangles(first, last, places, rows, gradient):
    """Add the shares of the triangles first .. last - 1 to dV/dx: a third of its area vector for each corner.

    `places` of their corners in the flat `rows` and `gradient`, shape (triangle_count, 3).
    """
    sixth = triple(SIXTH, SIXTH, SIXTH)  # 0 in the fourth lane: nothing changes the inverse masses
    for number in range(first, last):
        t = np.uint32(number)
        i, j, k = places[t, 0], places[t, 1], places[t, 2]
        corner = load4(rows, i)
        a, b = load4(rows, j) - corner, load4(rows, k) - corner
        share = sixth * rotated(fused(a, rotated(b), -(rotated(a) * b)))
        store4(gradient, i, load4(gradient, i) + share)
        store4(gradient, j, load4(gradient, j) + share)
        store4(gradient, k, load4(gradient, k) + share)


@kernel
def predict_and_measure(
    x, v, fall, time, lying, body_point_start, chunks, block_chunk, triangles, task_start, rest_volume, gas, ambient,
    start, rows, gradient, chunk_sums, impulse, pairs, pair_normal, volume_share,
):  # fmt: skip
    """Predict the vertices into `rows` (`move.predict`); then dV/dx [m^2] into `gradient`, shape (vertex_count, 4), and
    lambda of each skin into `impulse`.

    Triangles are added block by block while its vertices are in the cache (`colours.Schedule`), then those across the
    borders. `chunk_sums`, shape (chunk_count, 2), are each chunk's shares of V, taken about the body's first vertex,
    and of S. Flat bodies (`pairs`, `pair_normal`: see `Flat`) have only the triangles of their strips, whose area
    vectors lie in the plane: caps would make V `volume_share` times as large, and move nothing within the plane.
    """
    block_count = block_chunk.shape[0] - 1
    for block in range(block_count):
        first, last = chunks.start[block_chunk[block]], chunks.start[block_chunk[block + 1]]
        predict(first, last, x, v, fall, time, lying[chunks.body[block_chunk[block]]], start, rows)
        gradient[first:last] = 0.0
        add_triangles(task_start[block], task_start[block + 1], triangles, rows, gradient)
    add_triangles(task_start[block_count], task_start[block_count + 1], triangles, rows, gradient)
    hold_in_plane(pairs, pair_normal, gradient)
    for c in range(chunks.body.shape[0]):
        origin = load4(rows, np.uint32(4 * body_point_start[chunks.body[c]]))
        volume = spread(0.0)
        steepness = spread(0.0)
        for vertex in range(chunks.start[c], chunks.start[c + 1]):
            i = np.uint32(4) * np.uint32(vertex)
            here, g = load4(rows, i), load4(gradient, i)
            volume = fused(here - origin, g, volume)
            steepness = fused(spread_lane3(here) * g, g, steepness)
        chunk_sums[c, 0] = lane(sum_spread(volume), 0) / 3.0  # their fourth lanes are 0
        chunk_sums[c, 1] = lane(sum_spread(steepness), 0)
    for body in range(impulse.shape[0]):
        volume_sum = steepness_sum = 0.0
        for c in range(chunks.body_start[body], chunks.body_start[body + 1]):
            volume_sum += chunk_sums[c, 0]
            steepness_sum += chunk_sums[c, 1]
        impulse[body] = gas_impulse(
            volume_share[body] * volume_sum, steepness_sum, rest_volume[body], gas[body], ambient, time
        )
