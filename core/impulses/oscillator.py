"""How springs from outside are taken in ticks: exact in the velocity, looking ahead where they are stiff.

A tick of length T kicks, drifts for T, and kicks. A kick of length t solves

    dv/dt = w^2 (place - x) - r v,    r = drag + b T w^2,    b = min(1, 2 w T)

exactly, the place of the body being held: v += (a - r v) t phi(r t), phi(z) = (1 - exp(-z)) / z. Without b this is the
leapfrog, which is unstable from w T = 2 on, and from far softer springs on where the body has an oscillation of its
own in step with the ticks: that grows by up to (w T)^2 / (2 pi) per tick, and b damps by b (w T)^2 / 2. With b it is
stable for any spring; for soft ones b is of first order in T, so the whole is of second order, with a damping ratio of
(w T)^2. Stiff ones come to rest where they are pulled within a tick.
"""

import numpy as np

from ..model import FloatArray

#: b over w T.
LOOK_AHEAD = 2.0


def look_ahead(frequency: FloatArray, tick: float) -> FloatArray:
    """b T [s] of springs of angular frequencies w [1/s] in ticks of a length T [s]."""
    return np.asarray(tick * np.minimum(1.0, LOOK_AHEAD * frequency * tick))


def approach(rate: FloatArray, time: FloatArray) -> FloatArray:
    """t phi(r t) [s]: for how long an acceleration counts that dies away at a rate r [1/s], in times t [s]."""
    z = rate * time
    return np.asarray(np.where(z > 0.0, -np.expm1(-z) / np.where(rate > 0.0, rate, 1.0), time))
