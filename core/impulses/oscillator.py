"""Integration of external springs and drag in ticks: exponential in the velocity, with look-ahead, and limited
rates.

    dv/dt = w^2 (place - x) - r v,    r = max(drag, b T w^2),    b = 4 w T

A tick of length T kicks, drifts for T, and kicks. A kick of length t solves this exactly, x being where the body is in
the middle of the tick: v += (a - r v) t phi(r t), phi(z) = (1 - exp(-z)) / z. Without b modes of a body in resonance
with the ticks would grow by up to 0.04 (w T)^2 per tick, however soft the spring; with it by 5e-4 at w T = 0.4, 7e-6 at
0.03: less than the damping of such modes by any solver. b is of first order in T, so the whole is of second order,
with a damping ratio of 2 (w T)^2.

What is on no spring, and soft, has what pushes it as an even force in the drift, which contacts balance: kicks make it
tremble. (On springs such a force lets modes grow by up to 0.3 (w T)^2.) The kicks only brake it.

Springs are limited to w T = 0.4 (30 Hz at 480 ticks per second) and drag to r T = 0.5, force and all, so that the
terminal speed is the same: a kick that removes the whole velocity would break the assumptions of explicit steps at the
limit of stability, and skins would shake. Beyond the limits the difference is invisible: a body is there within 10 ms.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import FloatArray
from ..tiny import TINY

#: b over w T.
LOOK_AHEAD = 4.0
#: Largest w T of springs, and r T of drag.
QUICKEST_SPRING, QUICKEST_DRAG = 0.4, 0.5
#: Largest w T where damping is above the look-ahead's, and where there is none: such a spring loses 0.2 % of its
#: amplitude in a period.
SLOW_SPRING, SLOW_UNDAMPED = 0.2, 0.0125
#: Largest r T where ticks can be as short as they need be: what is damped lags by 1e-4 of its way.
SLOW_DRAG = 0.015
#: Least frequency and rate that are looked at [1/s].
_SLOWEST = 1e-6


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


def strengths(
    stiffness: FloatArray, damping: FloatArray, frequency: FloatArray, slowing: FloatArray, tick: float
) -> tuple[FloatArray, FloatArray]:
    """Stiffness [N/m] and damping [N s/m] that springs have in a `tick` [s].

    From their own, and the angular frequency [1/s] and rate [1/s] that these give to what they move.
    """
    stiffness, damping = stiffness * spring_share(frequency, tick), damping * drag_share(slowing, tick)
    return stiffness, np.maximum(stiffness * look_ahead(frequency, tick), damping)


def limits(slowing: FloatArray, square: FloatArray, tick: float) -> tuple[FloatArray, FloatArray]:
    """Share of forces that is applied, and the rate at which they damp [1/s].

    From the rate of their drag and the squared angular frequency of their springs.
    """
    frequency = np.sqrt(square)
    share: FloatArray = np.minimum(drag_share(slowing, tick), spring_share(frequency, tick))
    return np.asarray(share), np.asarray(share * np.maximum(slowing, square * look_ahead(frequency, tick)))


def even_share(rate: FloatArray, tick: float) -> FloatArray:
    """Share of an even push in a tick T [s] between brakes at a rate r [1/s] that leads to its terminal speed.

    sinh(r T / 2) / (r T / 2): the speed is the exact one after each tick.
    """
    half = 0.5 * tick * rate
    return np.asarray(np.where(half > 0.0, np.sinh(half) / np.maximum(half, TINY), 1.0))


def tick_for(frequency: ArrayLike, rate: ArrayLike, slow_drag: float = SLOW_DRAG) -> float:
    """The longest tick [s] for springs of angular frequencies, each with drag of a rate [1/s]."""
    w, r = np.maximum(frequency, _SLOWEST), np.maximum(rate, _SLOWEST)
    damped = np.minimum(np.sqrt(r / (LOOK_AHEAD * w)) / w, SLOW_SPRING / w)  # as b T w^2 is below the drag then
    return float(np.min(np.minimum(np.maximum(damped, SLOW_UNDAMPED / w), slow_drag / r), initial=np.inf))
