"""Coulomb's law of friction, for all solvers.

    |j| <= mu n

n is the normal impulse [N s] or force [N] of a contact, j the tangential one. A solver computes the j that would stop
the slip and scales it by `cone_share`: 1 inside the cone; outside, j is projected onto it and keeps its direction.

Implicit steps minimise an energy instead: a tangential spring of stiffness k that yields at mu n (`slip_potential`,
used in `friction.py`).
"""

from ..jit import lean_inline_kernel
from ..simd import larger, spread
from ..tiny import TINY

#: Stiffness along the slip in units of mu n / |s| [1]; half of the secant stiffness takes the fewest Newton steps
#: (`friction.py`).
SLIP_STIFFNESS = 0.5


@lean_inline_kernel
def cone_share(size, limit):
    """Factor [1] that projects a tangential impulse of `size` = |j| onto the cone; `limit` = mu n >= 0, same unit."""
    return limit / size if size > limit else 1.0


@lean_inline_kernel
def cone_share_of_four(size, limit):
    """`cone_share` of four contacts, as lanes."""
    return limit / larger(larger(size, limit), spread(TINY))


@lean_inline_kernel
def slip_potential(slip, limit, k):
    """Energy D [J], D'/slip [N/m] and stiffness [N/m] of a friction spring.

    k [N/m]; stretch `slip` >= 0 [m]; `limit` = mu n [N]: D' = min(k slip, limit).
    """
    if k * slip <= limit:
        return 0.5 * k * slip * slip, k, k
    return limit * slip - 0.5 * limit * limit / k, limit / slip, SLIP_STIFFNESS * limit / slip
