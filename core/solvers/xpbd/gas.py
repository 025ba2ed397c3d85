"""The gas of a skin as one projection in closed form.

Moving the vertices by w_i lambda G_i, G = dV/dx, changes the volume to V + lambda S, S = sum w_i |G_i|^2, to first
order. The impulse of the pressure at the end of the substep is lambda / h = h p(V + lambda S), p the gauge pressure:

    lambda = h^2 (nRT / (V + lambda S) - p_ambient)
    =>  lambda = 2 C / (B + sqrt(B^2 + 4 S C)),   B = V + h^2 p_ambient S,   C = h^2 (nRT - p_ambient V)

B^2 + 4 S C = (V - h^2 p_ambient S)^2 + 4 S h^2 nRT is never negative and V + lambda S always positive, so a jump from
0 to 1 MPa or a skin turned inside out stay finite. Where V + lambda S is below a twentieth of the rest volume the gas
law is a straight line (`forces.gas.gas_law`), and so is the equation.
The sum of G_i and of x_i x G_i vanish on a closed surface: momentum and angular momentum stay.
"""

from math import sqrt

from numba import prange

from ...forces.gas import SMALLEST_VOLUME_SHARE
from ...jit import kernel, parallel_kernel


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


@parallel_kernel
def measure_gas(
    x, inverse_mass, body_point_start, fans, chunks, rest_volume, gas, ambient, time, gradient, chunk_sums, impulse
):
    """dV/dx [m^2] into `gradient` and lambda of each membrane into `impulse`.

    `chunk_sums`, shape (chunk_count, 2), are each chunk's shares of V and S. The volume is taken about the body's
    first vertex, as in `forces.gas.volume_gradient`.
    """
    for c in prange(chunks.body.shape[0]):
        origin = body_point_start[chunks.body[c]]
        ox, oy, oz = x[origin, 0], x[origin, 1], x[origin, 2]
        volume = steepness = 0.0
        for i in range(chunks.start[c], chunks.start[c + 1]):
            gx = gy = gz = 0.0
            for q in range(fans.vertex_start[i], fans.vertex_start[i + 1]):
                j, k = fans.corners[q, 0], fans.corners[q, 1]
                ax, ay, az = x[j, 0] - ox, x[j, 1] - oy, x[j, 2] - oz
                bx, by, bz = x[k, 0] - ox, x[k, 1] - oy, x[k, 2] - oz
                gx += ay * bz - az * by
                gy += az * bx - ax * bz
                gz += ax * by - ay * bx
            gx, gy, gz = gx / 6.0, gy / 6.0, gz / 6.0
            gradient[i, 0], gradient[i, 1], gradient[i, 2] = gx, gy, gz
            volume += (x[i, 0] - ox) * gx + (x[i, 1] - oy) * gy + (x[i, 2] - oz) * gz
            steepness += inverse_mass[i] * (gx * gx + gy * gy + gz * gz)
        chunk_sums[c, 0] = volume / 3.0
        chunk_sums[c, 1] = steepness
    for body in range(impulse.shape[0]):
        volume = steepness = 0.0
        for c in range(chunks.body_start[body], chunks.body_start[body + 1]):
            volume += chunk_sums[c, 0]
            steepness += chunk_sums[c, 1]
        impulse[body] = gas_impulse(volume, steepness, rest_volume[body], gas[body], ambient, time)
