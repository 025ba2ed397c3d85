"""Coulomb's law of friction, for all solvers.

    |j| <= mu n

n is the normal impulse [N s] or force [N] of a contact, j the tangential one. A solver computes the j that would stop
the slip and scales it by `cone_share`: 1 inside the cone; outside, j is projected onto it and keeps its direction.
"""

from math import sqrt

from ..jit import lean_inline_kernel
from ..simd import larger, spread
from ..tiny import TINY


@lean_inline_kernel
def cone_share(size, limit):
    """Factor [1] that projects a tangential impulse of `size` = |j| onto the cone; `limit` = mu n >= 0, same unit."""
    return limit / size if size > limit else 1.0


@lean_inline_kernel
def cone_share_of_square(square, limit):
    """`cone_share` of the square of |j|, without a root inside the cone."""
    return limit / sqrt(square) if square > limit * limit else 1.0


@lean_inline_kernel
def cone_share_of_four(size, limit):
    """`cone_share` of four contacts, as lanes."""
    return limit / larger(larger(size, limit), spread(TINY))
