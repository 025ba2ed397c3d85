"""Sleep: a scene at rest keeps its state exactly and takes no time.

All moving bodies sleep together, once all of them have been still for a while, and wake together when any input
changes. So no graph of contacts is needed.
"""

import numpy as np

from ...array_types import FloatArray
from ...jit import lean_kernel
from ...model import Model
from ...state import State
from ..kinematics import Motion

#: A body is still while the root mean square of its points' speeds is below this share of its size [1/s].
STILL_SPEED = 2e-3
#: How long all bodies must be still [s].
STILL_TIME = 0.25


def still_speeds(model: Model) -> FloatArray:
    """Speeds [m/s] below which moving bodies are still, squared."""
    x, start = model.rest_positions[: model.moving_point_count], model.body_point_start[: model.moving_count]
    extent = np.maximum.reduceat(x, start) - np.minimum.reduceat(x, start) if len(start) else np.zeros((0, 3))
    return np.asarray(STILL_SPEED**2 * (extent * extent).sum(axis=1))


def is_driven(state: State, motion: Motion, gas: FloatArray) -> bool:
    """Whether any input of a step differs from the state: kinematic points or gas; `gas`: nRT at its end [J]."""
    return not (np.array_equal(gas, state.gas) and np.array_equal(motion.start, motion.end))


@lean_kernel
def are_still(velocities, point_start, limits):
    """Whether all moving bodies are below their `limits` (`still_speeds`)."""
    for body in range(limits.shape[0]):
        first, last = point_start[body], point_start[body + 1]
        total = 0.0
        for i in range(first, last):
            total += velocities[i, 0] ** 2 + velocities[i, 1] ** 2 + velocities[i, 2] ** 2
        if not total <= limits[body] * (last - first):
            return False
    return True


def hold(before: State, after: State) -> None:
    """Make the second state the first one with zero velocities."""
    after.positions[:], after.gas[:], after.rigid.pose[:] = before.positions, before.gas, before.rigid.pose
    after.velocities[:] = after.rigid.velocity[:] = after.rigid.angular_momentum[:] = 0.0
