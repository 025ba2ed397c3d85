"""The gas of a skin as one projection in closed form.

Moving the vertices by w_i lambda G_i, G = dV/dx, changes the volume to V + lambda S, S = sum w_i |G_i|^2, to first
order. The impulse of the pressure at the end of the substep is lambda / h = h p(V + lambda S), p the gauge pressure:

    lambda = h^2 (nRT / (V + lambda S) - p_ambient)
    =>  lambda = 2 C / (B + sqrt(B^2 + 4 S C)),   B = V + h^2 p_ambient S,   C = h^2 (nRT - p_ambient V)

B^2 + 4 S C = (V - h^2 p_ambient S)^2 + 4 S h^2 nRT is never negative and V + lambda S always positive, so a jump from
0 to 1 MPa or a skin turned inside out stay finite. Where V + lambda S is below a twentieth of the rest volume the gas
law is linear (`energy.gas.gas_law`), and so is the equation. Exponents other than 1 take Newton's method.
The sums of G_i and of x_i cross G_i vanish on a closed surface: momentum and angular momentum are conserved.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...array_types import FloatArray, IntArray
from ...energy.gas import SMALLEST_VOLUME_SHARE, gas_law
from ...jit import lean_kernel
from ...simd import cross, lane, load4, spread, store4, sum_spread

#: Steps of Newton's method at most, and the change of the volume that ends them [rest volume].
MOST_ROOT_STEPS, ROOT_ROUNDING = 50, 1e-14


class Gas(NamedTuple):
    """Triangles around gas, in the order of their `colours.Schedule`."""

    corners: NDArray[np.uint32]  # 4 * vertex, shape (triangle_count, 3)
    task_start: IntArray  # first triangle of each task, shape (block_count + 2,)
    rest_volume: FloatArray  # [m^3], 0 for bodies without gas, shape (membrane_count,)
    # of flat bodies, of which only the strips are among the triangles: volume over that of the strip
    volume_share: FloatArray
    base: FloatArray  # of the gauge pressure [Pa], shape (membrane_count,)
    exponent: FloatArray  # of the volume
    amount: FloatArray  # nRT [J]; changes
    impulse: FloatArray  # lambda [kg/m^2 s^2 m^2]; changes
    gradient: FloatArray  # dV/dx [m^2], flat; changes


@lean_kernel
def root_impulse(volume, steepness, rest_volume, gas, base, exponent, h2):
    """lambda at an exponent other than 1: the root U of U - V - S h^2 p(U), lambda = h^2 p(U).

    By Newton's method: the function is concave and rises, so that from below the root it converges without a
    bound; the first step from above ends below.
    """
    now = max(volume, SMALLEST_VOLUME_SHARE * rest_volume)
    for _ in range(MOST_ROOT_STEPS):
        pressure, stiffness, _ = gas_law(now, rest_volume, gas, base, exponent)
        new = now - (now - volume - steepness * h2 * pressure) / (1.0 + steepness * h2 * stiffness)
        if abs(new - now) <= ROOT_ROUNDING * rest_volume:
            break
        now = new
    return h2 * gas_law(now, rest_volume, gas, base, exponent)[0]


@lean_kernel
def gas_impulse(volume, steepness, rest_volume, gas, ambient, exponent, time):
    """lambda [kg/m... x m^2] of a skin with `volume` V [m^3] and `steepness` S = sum w |G|^2 [m^4/kg].

    `gas` = nRT [J], `ambient` what gauge pressure is above [Pa], `time` the substep h [s].
    """
    h2 = time * time
    if exponent != 1.0:
        return root_impulse(volume, steepness, rest_volume, gas, ambient, exponent, h2)
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


@lean_kernel
def add_triangles(first, last, corners, x, gradient):
    """Add the triangles first .. last - 1 to dV/dx: a third of the area vector for each corner."""
    sixth = spread(1.0 / 6.0)
    for number in range(first, last):
        t = np.uint32(number)
        i, j, k = corners[t, 0], corners[t, 1], corners[t, 2]
        corner = load4(x, i)
        a, b = load4(x, j) - corner, load4(x, k) - corner
        share = sixth * cross(a, b)
        store4(gradient, i, load4(gradient, i) + share)
        store4(gradient, j, load4(gradient, j) + share)
        store4(gradient, k, load4(gradient, k) + share)


@lean_kernel
def measure_gas(skins, x, time):
    """lambda of each skin, from dV/dx at x."""
    gas, inverse_mass = skins.gas, skins.inverse_mass
    for body in range(gas.impulse.shape[0]):
        first, last = skins.body_start[body], skins.body_start[body + 1]
        origin = load4(x, 4 * first)
        volume, steepness = spread(0.0), spread(0.0)
        for vertex in range(first, last):
            i = np.uint32(4) * np.uint32(vertex)
            g = load4(gas.gradient, i)
            volume = volume + (load4(x, i) - origin) * g
            steepness = steepness + spread(inverse_mass[vertex]) * g * g
        gas.impulse[body] = gas_impulse(
            gas.volume_share[body] * lane(sum_spread(volume), 0) / 3.0, lane(sum_spread(steepness), 0),
            gas.rest_volume[body], gas.amount[body], gas.base[body], gas.exponent[body], time,
        )  # fmt: skip


@lean_kernel
def apply_gas(first, last, amount, inverse_mass, gradient, x):
    """Move the vertices first .. last - 1 by `amount` = lambda [kg/m^2 ...] times w dV/dx."""
    for vertex in range(first, last):
        i = np.uint32(4) * np.uint32(vertex)
        store4(x, i, load4(x, i) + spread(amount * inverse_mass[vertex]) * load4(gradient, i))
