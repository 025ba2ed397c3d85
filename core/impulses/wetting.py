"""Surface integrals of hydrostatic pressure, exact on triangles that the free surface cuts.

With the depth d below a level, the force on a closed surface is integral max(d, 0) n dA per unit of rho g. d is linear
on a triangle, so its integral with the shape function of a corner i is A (d_i + sum d) / 12 where all is wet. Where the
level cuts a triangle, one corner is alone on its side. The tip there has the area share s t, s and t the shares of its
edges up to the level, and the integrals

    s t d / 12 (4 - s - t),   s t d / 12 s,   s t d / 12 t

at that corner and at the other two: all of it where the tip is wet, else taken from the integral of the whole triangle.
So the sum over a closed surface is the weight of what its polyhedron displaces, to rounding.
"""

import numpy as np

from ..array_types import FloatArray


def wet_integrals(depth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Integrals of max(d, 0) with the shape functions over the area [m], and the wet share of the area.

    `depth`: of the corners [m], shape (count, 3); returns shapes (count, 3) and (count,).
    """
    wet = depth > 0.0
    count = wet.sum(axis=1)
    total = depth.sum(axis=1, keepdims=True)
    integrals = np.where(count[:, None] == 3, (depth + total) / 12.0, 0.0)
    share = np.where(count == 3, 1.0, 0.0)
    cut = np.flatnonzero((count == 1) | (count == 2))
    if not len(cut):
        return integrals, share
    is_tip = count[cut] == 1
    tip = np.argmax(wet[cut] == is_tip[:, None], axis=1)
    order = (tip[:, None] + np.arange(3)) % 3
    d = np.take_along_axis(depth[cut], order, axis=1)
    s, t = d[:, 0] / (d[:, 0] - d[:, 1]), d[:, 0] / (d[:, 0] - d[:, 2])
    area = s * t
    part = (area * d[:, 0] / 12.0)[:, None] * np.stack([4.0 - s - t, s, t], axis=1)
    whole = (d + d.sum(axis=1, keepdims=True)) / 12.0
    rows = np.empty_like(part)
    np.put_along_axis(rows, order, np.where(is_tip[:, None], part, whole - part), axis=1)
    integrals[cut], share[cut] = rows, np.where(is_tip, area, 1.0 - area)
    return integrals, share


def area_vectors(corners: FloatArray) -> FloatArray:
    """Area vectors of triangles [m^2], outward, shape (count, 3); `corners` [m], shape (count, 3, 3)."""
    return 0.5 * np.asarray(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


def volume_below(level: float, height: FloatArray, rise: FloatArray) -> tuple[float, float]:
    """Volume of a closed body below a level [m^3], and its rate of change with the level [m^2].

    `height` of the corners [m], shape (count, 3); `rise`: area vectors along the vertical [m^2], shape (count,).
    """
    integrals, share = wet_integrals(level - height)
    return -float((integrals.sum(axis=1) * rise).sum()), -float((share * rise).sum())


def centre_below(level: float, corners: FloatArray, area: FloatArray, up: FloatArray) -> FloatArray:
    """Centre of what is below a level in a closed body [m], shape (3,).

    Across `up` it is where the torque of the pressure, integral x x d n dA = -V r x up, says; along it, its mean depth
    is that of integral d^2 / 2 n dA = -integral d dV up. `corners` [m], shape (count, 3, 3); `area` vectors [m^2].
    """
    depth = level - corners @ up
    integrals, _ = wet_integrals(depth)
    rise = area @ up
    volume = -float((integrals.sum(axis=1) * rise).sum())
    torque = np.cross((integrals[:, :, None] * corners).sum(axis=1), area).sum(axis=0)
    mean = -0.5 * float((wet_squares(depth) * rise).sum()) / volume
    return np.asarray((level - mean) * up - np.cross(up, torque) / volume)


def wet_squares(depth: FloatArray) -> FloatArray:
    """Integrals of max(d, 0)^2 over the area [m^2], shape (count,); `depth` of the corners [m], shape (count, 3)."""
    wet = depth > 0.0
    count = wet.sum(axis=1)
    whole = ((depth * depth).sum(axis=1) + depth.sum(axis=1) ** 2) / 12.0
    squares = np.where(count == 3, whole, 0.0)
    cut = np.flatnonzero((count == 1) | (count == 2))
    tip = np.argmax(wet[cut] == (count[cut] == 1)[:, None], axis=1)
    d = np.take_along_axis(depth[cut], (tip[:, None] + np.arange(3)) % 3, axis=1)
    part = d[:, 0] ** 4 / ((d[:, 0] - d[:, 1]) * (d[:, 0] - d[:, 2])) / 6.0  # of the tip: s t d^2 / 6
    squares[cut] = np.where(count[cut] == 1, part, whole[cut] - part)
    return np.asarray(squares)


def level_of(volume: float, height: FloatArray, rise: FloatArray) -> float:
    """Level below which a closed body has a `volume` [m^3]: by Newton's method, halving the bracket where it leaves it.

    The top of the body where it has no more; `height` and `rise` as in `volume_below`.
    """
    low, high = float(height.min()), float(height.max())
    if volume >= volume_below(high, height, rise)[0]:
        return high
    rounding, level = 1e-12 * (high - low), 0.5 * (low + high)
    while high - low > rounding:
        below, area = volume_below(level, height, rise)
        low, high = (level, high) if below < volume else (low, level)
        new = level + (volume - below) / area if area > 0.0 else low
        if abs(new - level) <= rounding:
            return new
        level = new if low < new < high else 0.5 * (low + high)
    return level
