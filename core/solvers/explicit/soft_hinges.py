"""Soft hinges: those that act in one of n steps of their body only, with n times their force; n is odd, 3 to 9.

An impulse between faster steps, as of Grubmueller, Heller, Windemuth, Schulten 1991 ("Generalized Verlet algorithm for
efficient molecular dynamics simulations with long-range interactions"; also Verlet-I, r-RESPA). A body's steps h are
those in which its springs act (`paces.py`). Momenta stay exact and there is an energy that is kept, but motions with
omega h = pi / n are in resonance: their amplitude grows at a rate up to omega_b^2 / (2 omega), omega_b of the soft
hinges alone. The dashpots along springs damp them at c h omega^2 / 2, where c is 2 zeta / (omega h) of the stiffest
oscillation (`skins.py`), so hinges may act in one of n steps where

    omega_b^2 h^2 <= c (pi / n)^3

by the bound of `bounds.py` for omega_b: the soft ones are those which may at rest with n = 3 and some room, and n is
chosen anew at the start of each run. Dashpots take nothing from what swings across springs by their tension alone, so
this has to be slower: no spring's tension may be above a share of its stiffness, which falls with n^2. The impulse is
in the middle of the n steps: velocities at their end are then 0 in an equilibrium.
"""

import math

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...model import Model
from ...tiny import TINY
from .skins import Skins
from .stability import Bounds, Plan, dashpot_times

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
        allowed = REST_SHARE * allowed_square(dashpot_times(plan.square) / plan.steps, SOFT_EVERY[0]) / plan.steps**2
        square, body = bounds.rows / plan.masses, model.point_body
        self._masses = plan.masses
        self.mask: BoolArray = (square[points] <= allowed[body[points[:, :1]]]).all(axis=1)
        self._points = np.unique(points[self.mask])
        self._bodies, self._first = np.unique(body[self._points], return_index=True)

    def set_paces(self, skins: Skins, rows: FloatArray, h: float, steps: int) -> None:
        """Let each body's soft hinges act in one of several of its steps, or in each: the number with the least work.

        Of a run of `steps` h [s], after those of springs are set. `rows`: of hinges [N/m] (`bounds.py`).
        """
        if not len(self._bodies):
            return
        paces, springs, bodies = skins.paces, skins.springs, self._bodies
        every = np.maximum(paces.every[bodies, 0], 1)
        time = every * h
        square = time**2 * np.maximum.reduceat(rows[self._points] / self._masses[self._points], self._first)
        tension = springs.stiffness - springs.rest_force * springs.inverse_length
        share = np.append(tension / np.maximum(springs.stiffness, TINY), 0.0)
        stretched = np.maximum.reduceat(share, 4 * skins.blocks.four[skins.blocks.body_start[:-1]])[bodies]
        slower = np.array((1, *SOFT_EVERY))[:, None]
        each = every * slower
        left = steps % each
        work = steps // each + left // every + left % every
        may = stretched <= MOST_STRETCHED * (SOFT_EVERY[0] / slower) ** 2
        may &= square <= allowed_square(paces.dashpot[bodies] / time, slower)
        may[0] = True
        chosen = np.argmin(np.where(may, work, steps + 1), axis=0)
        paces.every[bodies, 1] = each[chosen, np.arange(len(bodies))] * (paces.every[bodies, 0] > 0)  # 0 asleep


def allowed_square(damping: FloatArray, every: int | IntArray) -> FloatArray:
    """Largest (omega_b h)^2 of hinges that act in one of so many steps, with dashpots of a c [1]."""
    return damping * (math.pi / every) ** 3
