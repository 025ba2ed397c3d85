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
from numba import prange

from ...forces.gas import SMALLEST_VOLUME_SHARE
from ...jit import kernel, parallel_kernel
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
def add_triangles(first, last, triangles, x, gradient):
    """Add the shares of the triangles first .. last - 1 to dV/dx: a third of its area vector for each corner."""
    for row in range(first, last):
        t = np.uint32(row)
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        nx, ny, nz = SIXTH * (ay * bz - az * by), SIXTH * (az * bx - ax * bz), SIXTH * (ax * by - ay * bx)
        gradient[i, 0] += nx
        gradient[i, 1] += ny
        gradient[i, 2] += nz
        gradient[j, 0] += nx
        gradient[j, 1] += ny
        gradient[j, 2] += nz
        gradient[k, 0] += nx
        gradient[k, 1] += ny
        gradient[k, 2] += nz


@parallel_kernel
def predict_and_measure(
    x, v, inverse_mass, fall, time, lying, body_point_start, chunks, block_chunk, triangles, task_start, launch_start,
    rest_volume, gas, ambient, start, gradient, chunk_sums, impulse, pairs, pair_normal, volume_share,
):  # fmt: skip
    """Predict the vertices (`move.predict`); then dV/dx [m^2] into `gradient` and lambda of each skin into `impulse`.

    Triangles are added block by block while its vertices are in the cache (`colours.Schedule`), then those across the
    borders. `chunk_sums`, shape (chunk_count, 2), are each chunk's shares of V, taken about the body's first vertex,
    and of S. Flat bodies (`pairs`, `pair_normal`: see `Flat`) have only the triangles of their strips, whose area
    vectors lie in the plane: caps would make V `volume_share` times as large, and move nothing within the plane.
    """
    for block in prange(block_chunk.shape[0] - 1):
        first, last = chunks.start[block_chunk[block]], chunks.start[block_chunk[block + 1]]
        predict(first, last, x, v, inverse_mass, fall, time, lying[chunks.body[block_chunk[block]]], start)
        for vertex in range(first, last):
            i = np.uint32(vertex)
            gradient[i, 0] = gradient[i, 1] = gradient[i, 2] = 0.0
        add_triangles(task_start[block], task_start[block + 1], triangles, x, gradient)
    for launch in range(1, launch_start.shape[0] - 1):
        begin = launch_start[launch]
        count = launch_start[launch + 1] - begin
        if count == 1:
            add_triangles(task_start[begin], task_start[begin + 1], triangles, x, gradient)
        else:
            for task in prange(count):
                add_triangles(task_start[begin + task], task_start[begin + task + 1], triangles, x, gradient)
    hold_in_plane(pairs, pair_normal, gradient)
    for c in prange(chunks.body.shape[0]):
        origin = body_point_start[chunks.body[c]]
        ox, oy, oz = x[origin, 0], x[origin, 1], x[origin, 2]
        volume = steepness = 0.0
        for vertex in range(chunks.start[c], chunks.start[c + 1]):
            i = np.uint32(vertex)
            gx, gy, gz = gradient[i, 0], gradient[i, 1], gradient[i, 2]
            volume += (x[i, 0] - ox) * gx + (x[i, 1] - oy) * gy + (x[i, 2] - oz) * gz
            steepness += inverse_mass[i] * (gx * gx + gy * gy + gz * gz)
        chunk_sums[c, 0] = volume / 3.0
        chunk_sums[c, 1] = steepness
    for body in range(impulse.shape[0]):
        volume = steepness = 0.0
        for c in range(chunks.body_start[body], chunks.body_start[body + 1]):
            volume += chunk_sums[c, 0]
            steepness += chunk_sums[c, 1]
        volume *= volume_share[body]
        impulse[body] = gas_impulse(volume, steepness, rest_volume[body], gas[body], ambient, time)
