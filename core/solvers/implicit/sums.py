"""Sums over all vertices, always in the same order: BLAS would start threads, and its sums depend on their number."""

from ...jit import kernel
from ...simd import lane, load3, spread, sum_spread


@kernel
def inner(a, b):
    """Sum of a * b; both of shape (row_count, 3)."""
    total = spread(0.0)
    for i in range(a.shape[0]):
        total = total + load3(a, 3 * i) * load3(b, 3 * i)
    return lane(sum_spread(total), 0)


@kernel
def weighted_squares(mass, v):
    """Sum of m v^2 over the first rows of v: twice their kinetic energy [J]."""
    total = spread(0.0)
    for i in range(mass.shape[0]):
        row = load3(v, 3 * i)
        total = total + mass[i] * (row * row)
    return lane(sum_spread(total), 0)


@kernel
def sum_moments(mass, x, start, result):
    """Sum of m (x - start) over their first rows into `result`, shape (3,) [kg m]."""
    total = spread(0.0)
    for i in range(mass.shape[0]):
        total = total + mass[i] * (load3(x, 3 * i) - load3(start, 3 * i))
    result[0], result[1], result[2] = lane(total, 0), lane(total, 1), lane(total, 2)
