"""Sleep: bodies at rest keep their state exactly and take no time.

Each sleeps once it has been still for a while, none of its inputs changes, and nothing that moves can reach it in the
run of steps: so no graph of contacts is needed. For the steps it is an obstacle at rest. All together take none.
"""

import numpy as np

from ...array_types import BoolArray, FloatArray
from ...jit import lean_kernel
from ...model import Model
from ...state import State
from ..kinematics import Motion

#: A body is still while the root mean square of its points' ways in a run of steps, over its time, is below this share
#: of its size [1/s]. Contacts may make it tremble within the run at so many times that speed.
STILL_SPEED, TREMBLING = 2e-3, 5.0
#: How long a body must be still [s]; with this share of the speed that it gains by falling for so long it is not.
STILL_TIME, FALLING = 0.25, 0.5
#: How far something may come in a run, as a multiple of its way at its fastest point's speed.
REACH = 2.0


def still_speeds(model: Model) -> FloatArray:
    """Speeds [m/s] below which moving bodies are still, squared."""
    x, start = model.rest_positions[: model.moving_point_count], model.body_point_start[: model.moving_count]
    extent = np.maximum.reduceat(x, start) - np.minimum.reduceat(x, start) if len(start) else np.zeros((0, 3))
    still = STILL_SPEED**2 * (extent * extent).sum(axis=1)
    fallen = (FALLING * STILL_TIME) ** 2 * float(model.gravity @ model.gravity)
    return np.asarray(np.minimum(still, fallen) if fallen else still)


def is_driven(state: State, motion: Motion, gas: FloatArray) -> bool:
    """Whether any input of a step differs from the state: kinematic points or gas; `gas`: nRT at its end [J]."""
    return bool((gas != state.gas).any() or (motion.start != motion.end).any())


@lean_kernel
def note_still(velocities, point_start, limits, still):
    """Which moving bodies are below their `limits` (`still_speeds`), into `still`; whether all are."""
    are_all = True
    for body in range(limits.shape[0]):
        first, last = point_start[body], point_start[body + 1]
        total = 0.0
        for i in range(first, last):
            total += velocities[i, 0] ** 2 + velocities[i, 1] ** 2 + velocities[i, 2] ** 2
        still[body] = total <= limits[body] * (last - first)
        are_all &= still[body]
    return are_all


def sleepers(
    model: Model, state: State, still: FloatArray, motion: Motion, gas: FloatArray, time: float, kept: FloatArray
) -> BoolArray:
    """Membranes that sleep through a run of a time [s], shape (membrane_count,).

    `still`: for how long each moving body has been [s]; `gas`: nRT at the run's end [J]; `kept`: distance that each
    body keeps [m].
    """
    soft, moving = model.membrane_count, model.moving_count
    resting = np.zeros(model.body_count, bool)
    resting[:moving], resting[moving:] = still >= STILL_TIME, True
    resting[:soft] &= gas == state.gas
    resting[model.point_body[motion.points[(motion.start != motion.end).any(axis=1)]]] = False
    tied = np.append(model.attachments.body, model.point_body[model.attachments.points[:, 0]])
    resting[tied] = False
    x, start = state.positions.copy(), model.body_point_start[:-1]
    low, high = np.minimum.reduceat(x, start), np.maximum.reduceat(x, start)
    x[motion.points] = motion.end
    low, high = np.minimum(low, np.minimum.reduceat(x, start)), np.maximum(high, np.maximum.reduceat(x, start))
    speed = np.sqrt(np.maximum.reduceat((state.velocities**2).sum(axis=1), start))
    fall = float(np.sqrt(model.gravity @ model.gravity)) * time * time
    reach = (kept + np.where(resting, 0.0, REACH * speed * time + fall))[:, None]
    near = (low[:soft, None] - reach[:soft, None] <= high + reach).all(axis=2)
    near &= (low - reach <= high[:soft, None] + reach[:soft, None]).all(axis=2)
    while True:
        woken = resting[:soft] & (near & ~resting).any(axis=1)
        if not woken.any():
            return resting[:soft]
        resting[:soft] &= ~woken


def hold(before: State, after: State) -> None:
    """Make the second state the first one with zero velocities."""
    after.positions[:], after.gas[:], after.rigid.pose[:] = before.positions, before.gas, before.rigid.pose
    after.velocities[:] = after.rigid.velocity[:] = after.rigid.angular_momentum[:] = 0.0
