"""Integration of external springs and drag in ticks: exponential in the velocity, with look-ahead, and limited
rates.

A tick of length T kicks, drifts for T, and kicks. A kick of length t solves

    dv/dt = w^2 (place - x) - r v,    r = drag + b T w^2,    b = 4 w T

exactly, the place of the body being held: v += (a - r v) t phi(r t), phi(z) = (1 - exp(-z)) / z. Without b this is the
leapfrog; modes of a body in resonance with the ticks would grow by up to (w T)^2 / (2 pi) per tick, however soft the
spring. With b they grow by q / (2 pi^2 b^2), q = tanh(b (w T)^2 / 2): less than the damping of such modes by any
solver. b is of first order in T, so the whole is of second order, with a damping ratio of 2 (w T)^2.

Springs are limited to w T = 0.4 (30 Hz at 480 ticks per second) and drag to r T = 0.5, force and all, so that the
terminal speed is the same: a kick that removes the whole velocity would break the assumptions of explicit steps at the
limit of stability, and skins would shake. Beyond the limits the difference is invisible: a body is there within 10 ms.
"""

import numpy as np

from ..array_types import FloatArray
from ..tiny import TINY

#: b over w T.
LOOK_AHEAD = 4.0
#: Largest w T of springs, and r T of drag.
QUICKEST_SPRING, QUICKEST_DRAG = 0.4, 0.5


def spring_share(frequency: FloatArray, tick: float) -> FloatArray:
    """Share of their stiffness that springs of angular frequencies w [1/s] have in ticks of a length T [s]."""
    return np.asarray(np.minimum(1.0, QUICKEST_SPRING / np.maximum(frequency * tick, TINY)) ** 2)


def look_ahead(frequency: FloatArray, tick: float) -> FloatArray:
    """b T [s] of springs of angular frequencies w [1/s] in ticks of a length T [s]."""
    return np.asarray(tick * LOOK_AHEAD * np.minimum(frequency * tick, QUICKEST_SPRING))


def drag_share(rate: FloatArray, tick: float) -> FloatArray:
    """Share of drag at a rate [1/s] that is applied in ticks of a length T [s]."""
    return np.asarray(np.minimum(1.0, QUICKEST_DRAG / np.maximum(rate * tick, TINY)))


def approach(rate: FloatArray, time: FloatArray) -> FloatArray:
    """t phi(r t) [s]: effective duration of an acceleration that decays at a rate r [1/s], in times t [s]."""
    z = rate * time
    return np.asarray(np.where(z > 0.0, -np.expm1(-z) / np.where(rate > 0.0, rate, 1.0), time))
