"""Surface integrals of hydrostatic pressure, exact on triangles that the free surface cuts.

With the depth d below a level, the force on a closed surface is integral max(d, 0) n dA per unit of rho g. d is linear
on a triangle, so its integral with the shape function of a corner i is A (d_i + sum d) / 12 where all is wet. Where the
level cuts a triangle, one corner is alone on its side. The tip there has the area share s t, s and t the shares of its
edges up to the level, and the integrals

    s t d / 12 (4 - s - t),   s t d / 12 s,   s t d / 12 t

at that corner and at the other two: all of it where the tip is wet, else taken from the integral of the whole triangle.
So the sum over a closed surface is the weight of what its polyhedron displaces, to rounding.
"""

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray, IntArray
from ..jit import inline_kernel, kernel


class Facets(NamedTuple):
    """Triangles of a closed surface, and which way is up."""

    triangles: IntArray  # shape (count, 3)
    up: FloatArray  # unit vector
    corners: FloatArray  # [m], shape (count, 3, 3)
    area: FloatArray  # area vectors [m^2], outward, shape (count, 3)
    height: FloatArray  # of the corners along `up` [m], shape (count, 3)
    rise: FloatArray  # of the area vectors along `up` [m^2], shape (count,)


def facets_of(x: FloatArray, triangles: IntArray, up: FloatArray) -> Facets:
    """The triangles of points at x [m]."""
    n = len(triangles)
    found = Facets(triangles, up, np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n))
    measure(x, *found)
    return found


def wet_integrals(depth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What `wet` tells of triangles, `depth` of their corners [m]: shapes (count, 3) and (count,)."""
    integrals, share = np.empty_like(depth), np.empty(len(depth))
    integrate(depth, integrals, share)
    return integrals, share


@kernel
def measure(x, triangles, up, corners, area, height, rise):
    """Fill in the arrays of `Facets`."""
    for n in range(triangles.shape[0]):
        for corner in range(3):
            point = triangles[n, corner]
            height[n, corner] = 0.0
            for axis in range(3):
                corners[n, corner, axis] = x[point, axis]
                height[n, corner] += x[point, axis] * up[axis]
        a, b, c = corners[n, 0], corners[n, 1], corners[n, 2]
        ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        area[n, 0], area[n, 1] = 0.5 * (uy * vz - uz * vy), 0.5 * (uz * vx - ux * vz)
        area[n, 2] = 0.5 * (ux * vy - uy * vx)
        rise[n] = area[n, 0] * up[0] + area[n, 1] * up[1] + area[n, 2] * up[2]


@inline_kernel
def tip(d, e, f):
    """Integrals over the tip at the corner of depth d [m], which the level cuts off, and its share of the area."""
    s, t = d / (d - e), d / (d - f)
    part = s * t * d / 12.0
    return part * (4.0 - s - t), part * s, part * t, s * t


@inline_kernel
def wet(a, b, c):
    """Integrals of max(d, 0) with the shape functions over the area [m], and the wet share of the area.

    a, b, c: depths of the corners [m].
    """
    count = int(a > 0.0) + int(b > 0.0) + int(c > 0.0)
    if count == 0:
        return 0.0, 0.0, 0.0, 0.0
    total = a + b + c
    i, j, k, share = (a + total) / 12.0, (b + total) / 12.0, (c + total) / 12.0, 1.0
    if count == 3:
        return i, j, k, share
    is_wet = count == 1  # the tip
    if (a > 0.0) == is_wet:
        at_a, at_b, at_c, part = tip(a, b, c)
    elif (b > 0.0) == is_wet:
        at_b, at_c, at_a, part = tip(b, c, a)
    else:
        at_c, at_a, at_b, part = tip(c, a, b)
    if is_wet:
        return at_a, at_b, at_c, part
    return i - at_a, j - at_b, k - at_c, share - part


@inline_kernel
def wet_square(a, b, c):
    """Integral of max(d, 0)^2 over the area [m^2]; a, b, c: depths of the corners [m]."""
    count = int(a > 0.0) + int(b > 0.0) + int(c > 0.0)
    if count == 0:
        return 0.0
    total = a + b + c
    whole = (a * a + b * b + c * c + total * total) / 12.0
    if count == 3:
        return whole
    is_wet = count == 1  # the tip, s t d^2 / 6
    if (a > 0.0) == is_wet:
        part = a**4 / ((a - b) * (a - c)) / 6.0
    elif (b > 0.0) == is_wet:
        part = b**4 / ((b - c) * (b - a)) / 6.0
    else:
        part = c**4 / ((c - a) * (c - b)) / 6.0
    return part if is_wet else whole - part


@kernel
def integrate(depth, integrals, share):
    """Fill in the arrays of `wet_integrals`."""
    for n in range(depth.shape[0]):
        integrals[n, 0], integrals[n, 1], integrals[n, 2], share[n] = wet(depth[n, 0], depth[n, 1], depth[n, 2])


@kernel
def press(triangles, load, area, force):
    """Add loads at the corners [N/m^2] along area vectors [m^2] to the forces on points [N]."""
    for n in range(triangles.shape[0]):
        for corner in range(3):
            for axis in range(3):
                force[triangles[n, corner], axis] += load[n, corner] * area[n, axis]


@kernel
def volume_below(level, height, rise):
    """Volume of a closed body below a level [m^3], and its rate of change with the level [m^2].

    `height`, `rise`: as in `Facets`.
    """
    volume = across = 0.0
    for n in range(height.shape[0]):
        i, j, k, share = wet(level - height[n, 0], level - height[n, 1], level - height[n, 2])
        volume -= (i + j + k) * rise[n]
        across -= share * rise[n]
    return volume, across


@kernel
def level_of(volume, height, rise):
    """Level below which a closed body has a `volume` [m^3]: by Newton's method, halving the bracket where it leaves it.

    The top of the body where it has no more.
    """
    low, high = height.min(), height.max()
    if volume >= volume_below(high, height, rise)[0]:
        return high
    rounding, level = 1e-12 * (high - low), 0.5 * (low + high)
    while high - low > rounding:
        below, area = volume_below(level, height, rise)
        if below < volume:
            low = level
        else:
            high = level
        new = level + (volume - below) / area if area > 0.0 else low
        if abs(new - level) <= rounding:
            return new
        level = new if low < new < high else 0.5 * (low + high)
    return level


@kernel
def centre_below(level, up, corners, area, height, rise):
    """Centre of what is below a level in a closed body [m]: three numbers. The arrays are those of `Facets`.

    Across `up` it is where the torque of the pressure, integral x x d n dA = -V r x up, says; along it, its mean depth
    is that of integral d^2 / 2 n dA = -integral d dV up.
    """
    volume = squares = tx = ty = tz = 0.0
    for n in range(area.shape[0]):
        a, b, c = level - height[n, 0], level - height[n, 1], level - height[n, 2]
        i, j, k, _ = wet(a, b, c)
        volume -= (i + j + k) * rise[n]
        squares -= wet_square(a, b, c) * rise[n]
        p, q, r = corners[n, 0], corners[n, 1], corners[n, 2]
        x, y, z = i * p[0] + j * q[0] + k * r[0], i * p[1] + j * q[1] + k * r[1], i * p[2] + j * q[2] + k * r[2]
        tx += y * area[n, 2] - z * area[n, 1]
        ty += z * area[n, 0] - x * area[n, 2]
        tz += x * area[n, 1] - y * area[n, 0]
    along = level - 0.5 * squares / volume
    return (
        along * up[0] - (up[1] * tz - up[2] * ty) / volume,
        along * up[1] - (up[2] * tx - up[0] * tz) / volume,
        along * up[2] - (up[0] * ty - up[1] * tx) / volume,
    )  # fmt: skip
