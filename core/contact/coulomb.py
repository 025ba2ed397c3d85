"""Coulomb's law of friction, the only place of its formula.

    |j| <= mu n

n is the normal impulse [N s] or force [N] of a contact and j what acts along its surface. A solver finds the j that
would stop the slip, and takes `cone_share` of it: nothing changes inside the cone, and outside j keeps its direction.

Implicit steps want an energy whose slope has this bound: a spring along the surface, k |s|, that yields at mu n
(`slip_potential`; its use in `friction.py`).
"""

from ..jit import lean_inline_kernel
from ..simd import larger, spread

#: Stiffness along the slip in units of mu n / |s|, see `friction.py`.
TURNING = 0.5
#: A size that may be divided by.
TINY = 1e-300


@lean_inline_kernel
def cone_share(size, limit):
    """The share of a tangential impulse of `size` = |j| that the cone holds; `limit` = mu n >= 0, in its unit."""
    return limit / size if size > limit else 1.0


@lean_inline_kernel
def cone_share_of_four(size, limit):
    """`cone_share` of four contacts, as lanes."""
    return limit / larger(larger(size, limit), spread(TINY))


@lean_inline_kernel
def slip_potential(slip, limit, k):
    """Energy D [J], D'/slip [N/m] and stiffness [N/m] of a spring k [N/m] that is stretched by `slip` >= 0 [m] and
    yields at `limit` = mu n [N]: D' is the share of k slip that the cone holds.
    """
    if k * slip <= limit:
        return 0.5 * k * slip * slip, k, k
    return limit * slip - 0.5 * limit * limit / k, limit / slip, TURNING * limit / slip
