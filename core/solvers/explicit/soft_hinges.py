"""Soft hinges: those that act in one of n steps only, with n times their force; n is odd, 3 to 9.

An impulse between faster steps, as of Grubmueller, Heller, Windemuth, Schulten 1991 ("Generalized Verlet algorithm for
efficient molecular dynamics simulations with long-range interactions"; also Verlet-I, r-RESPA). Momenta stay exact and
there is an energy that is kept, but motions with omega h = pi / n are in resonance: their amplitude grows at a rate up
to omega_b^2 / (2 omega), omega_b of the soft hinges alone. The dashpots along springs damp them at c h omega^2 / 2
(`skins.py`), so hinges may act in one of n steps where

    omega_b^2 h^2 <= c (pi / n)^3

by the bound of `bounds.py` for omega_b: the soft ones are those which may at rest with n = 3 and some room, and n is
chosen anew at the start of each run. Dashpots take nothing from what swings across springs by their tension alone, so
this has to be slower: no spring's tension may be above a share of its stiffness, which falls with n^2. The impulse is
in the middle of the n steps: velocities at their end are then 0 in an equilibrium.
"""

import math

import numpy as np

from ...array_types import BoolArray, FloatArray
from ...jit import lean_inline_kernel
from ...model import Model
from ...tiny import TINY
from .arrays import STEP
from .skins import Skins
from .stability import DASHPOT_RATIO, Bounds, Plan

#: Steps of which soft hinges may act in one, besides each.
SOFT_EVERY = (3, 5, 7, 9)
#: Share of what is allowed that is used at rest, as shapes that crumple get stiffer [1].
REST_SHARE = 0.75
#: Most tension of a spring with hinges that act in one of three steps, as a share of its stiffness [1].
MOST_STRETCHED = 0.25


class SoftHinges:
    """The soft hinges of a model: `mask`, shape (hinge_count,)."""

    def __init__(self, model: Model, plan: Plan) -> None:
        bounds, points = Bounds(model, plan.masses), model.hinges.points
        bounds.measure(model.rest_positions)
        h, frequency = plan.step, math.sqrt(plan.square)
        square = bounds.rows / plan.masses
        damping = 2.0 * DASHPOT_RATIO / (frequency * h) if frequency > 0.0 else 0.0
        allowed = REST_SHARE * allowed_square(damping, SOFT_EVERY[0]) / h**2
        self._masses, self._points = plan.masses, np.zeros(0, np.int32)
        self.mask: BoolArray = (square[points] <= allowed).all(axis=1)
        self._points = np.unique(points[self.mask])

    def set_pace(self, skins: Skins, rows: FloatArray, h: float, damping: float, steps: int) -> None:
        """Let soft hinges act in one of several steps h [s] of a run, or in each: the number with the least work.

        `rows`: of hinges [N/m] (`bounds.py`); `damping`: c of the dashpots.
        """
        square = h**2 * float((rows[self._points] / self._masses[self._points]).max(initial=0.0))
        springs = skins.springs
        tension = springs.stiffness - springs.rest_force * springs.inverse_length
        stretched = float((tension / np.maximum(springs.stiffness, TINY)).max(initial=0.0))
        slow = [
            every
            for every in SOFT_EVERY
            if square <= allowed_square(damping, every) and stretched <= MOST_STRETCHED * (SOFT_EVERY[0] / every) ** 2
        ]
        skins.bending.pace[0] = min([1, *slow], key=lambda every: steps // every + steps % every)


def allowed_square(damping: float, every: int) -> float:
    """Largest (omega_b h)^2 of hinges that act in one of so many steps, with dashpots of a c [1]."""
    return damping * (math.pi / every) ** 3


@lean_inline_kernel
def set_due(bending, state, steps):
    """Set for how many steps of a run the soft hinges act in this one; in each of those left over at its end."""
    every, step = bending.pace[0], state[STEP]
    if step >= steps // every * every:
        bending.pace[1] = 1
    else:
        bending.pace[1] = every if step % every == every // 2 else 0
