"""The laws of restitution, for all solvers.

Stiff bodies (Newton): v_out = e v_in; 0 where v_in is no more than gravity adds in some steps, as a resting body
approaches its support anew in every step.

Soft bodies (after Hunt and Crossley 1975, in the separation phase only): the contact force N is reduced to
N (1 - chi v), v the separation speed. With chi = c / v_in a linear contact spring returns e v_in when

    -e c - ln(1 - e c) = c^2 / 2.

Over a step in which N adds w to v, v tends to v_in / c as exp(-w c / v_in): exact for any step length.
"""

import math
from typing import Any

from ..jit import lean_inline_kernel

#: An approach speed below what gravity adds in this many steps [1] is a resting contact and gets no restitution;
#: sequential impulses have no penetration that is returned, so fewer are enough.
RESTING_STEPS, SEQUENTIAL_RESTING_STEPS = 4.0, 2.0
#: Least e of soft bodies [1]: for a smaller one c diverges.
LEAST_BOUNCE = 0.05


def resting_speed(gravity: Any, time: float, steps: float = RESTING_STEPS) -> float:
    """Approach speed without restitution [m/s]: gravity [m/s^2], shape (3,), over some steps of a length [s]."""
    return steps * time * math.sqrt(gravity[0] ** 2 + gravity[1] ** 2 + gravity[2] ** 2)


def parting_speed(bounciness: Any, approach: Any, resting: float) -> Any:
    """v_out of stiff bodies [m/s] from v_in = `approach` [m/s] and e = `bounciness`, numbers or arrays."""
    return bounciness * approach * (approach > resting)


#: The same for kernels.
resting_speed_kernel = lean_inline_kernel(resting_speed)
parting_speed_kernel = lean_inline_kernel(parting_speed)


def bounce_strength(bounciness: float) -> float:
    """c of soft bodies for a bounciness e: the root of -e c - ln(1 - e c) = c^2 / 2; 0 for e = 1."""
    if bounciness >= 1.0:
        return 0.0
    e = max(bounciness, LEAST_BOUNCE)
    # g(c) = -e c - ln(1 - e c) - c^2 / 2 is negative just above 0 and infinite at c = 1 / e
    low, high = 1e-9, 1.0 / e
    for _ in range(200):
        middle = 0.5 * (low + high)
        s = e * middle
        if s < 1.0 and -s - math.log1p(-s) < 0.5 * middle * middle:
            low = middle
        else:
            high = middle
    return low


@lean_inline_kernel
def damped_parting_speed(speed, added, approach, strength):
    """Separation speed of soft bodies [m/s] with the reduced force.

    `speed` [m/s]: with the full N, which has added `added` <= speed [m/s]; `approach` = v_in [m/s]; `strength` = c > 0,
    see `bounce_strength`. Exact for a constant N.
    """
    limit = approach / strength
    return limit + (speed - added - limit) * math.exp(-added / limit) if limit > 0.0 else 0.0
