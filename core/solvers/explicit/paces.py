"""The pace of each soft body: its inner forces act in one of n steps only, with n times their strength.

Steps are as short as the stiffest body needs them, or the fastest approach of two. Springs, gas and hinges of another
one act as often as if it were alone: an impulse in the middle of n steps, so that a body which touches nothing takes
the steps of a leapfrog of n h (multiple time stepping; Verlet-I of Grubmueller, Heller, Windemuth, Schulten 1991, or
r-RESPA). Gravity and contacts act in every step. Contacts are no springs but take approach away, so nothing is in
resonance with the impulses.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray, IntArray
from ...jit import lean_inline_kernel
from .arrays import STEP

#: The largest number of steps of which one acts.
MOST_EVERY = 63


class Paces(NamedTuple):
    """When the forces of each membrane act."""

    # steps of which its forces act in one, and its soft hinges, 0 of a body asleep, shape (membrane_count, 2); changes
    every: IntArray
    due: IntArray  # for how many steps they act in this one, 0 if they do not, -1 asleep, the same shape; changes
    rate: FloatArray  # 1 over the time since they acted [1/s], 0 where nothing is damped; changes
    dashpot: FloatArray  # 2 zeta / omega of the dashpots along springs [s]; changes


def paces_of(membrane_count: int) -> Paces:
    """All forces in every step, without dashpots and dampers."""
    every, due = np.ones((2, membrane_count, 2), np.int32)
    rate, dashpot = np.zeros((2, membrane_count))
    return Paces(every, due, rate, dashpot)


def pace_unit(longest: FloatArray) -> int:
    """What the number of steps should be a multiple of: 2 where the forces of a body can act in each other step."""
    awake = longest[longest < np.inf]
    return 2 if len(awake) > 1 and awake.max() >= 2.0 * awake.min() else 1


def set_paces(paces: Paces, longest: FloatArray, steps: int) -> None:
    """Let the forces of each body act as seldom as steps of a length `longest` [s] allow.

    Shape (membrane_count,), infinite of one asleep. As against those of the stiffest body: what makes all steps shorter
    yet, a fast approach, may soon make bodies stiffer. Those of a run of `steps` that are left over after the last n
    are taken one by one, so the n with the least work is taken. An even n has no middle step: the impulses are evenly
    spaced only where nothing is left over.
    """
    awake = longest < np.inf
    paces.every[:] = awake[:, None]
    if pace_unit(longest) == 1:
        return
    every = np.arange(1, MOST_EVERY + 1)
    left = steps % every
    work = np.where((every % 2 == 0) & (left > 0), steps + 1, steps // every + left)
    cheapest = np.maximum.accumulate(np.where(work == np.minimum.accumulate(work), every, 1))
    share = longest[awake] / longest[awake].min()
    paces.every[awake] = cheapest[np.clip(share, 1.0, MOST_EVERY).astype(np.int64) - 1, None]


@lean_inline_kernel
def set_due(paces, state, steps, h):
    """Set for how many steps h [s] of a run the forces of each body act in this one; in each of those left over."""
    step = state[STEP]
    for body in range(paces.every.shape[0]):
        every, soft = paces.every[body, 0], paces.every[body, 1]
        if every == 0:
            paces.due[body] = -1
            continue
        due, since = every if step % every == every // 2 else 0, every
        whole = steps // every * every
        if step >= whole:
            due, since = 1, every // 2 + 1 if step == whole else 1
        paces.due[body, 0], paces.rate[body] = due, 1.0 / (since * h)
        if step < steps // soft * soft:
            due = soft if step % soft == soft // 2 else 0
        paces.due[body, 1] = due
