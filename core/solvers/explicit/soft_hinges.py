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
from typing import Any, NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...jit import lean_inline_kernel
from ...model import Model
from ...tiny import TINY
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
        self.mask: BoolArray = (square[points] <= allowed[body[points[:, :1]]]).all(axis=1)
        at = np.unique(points[self.mask])
        bodies, first = np.unique(body[at], return_index=True)
        slower = np.array((1, *SOFT_EVERY))
        tension = MOST_STRETCHED * (SOFT_EVERY[0] / slower) ** 2
        self.soft = Soft(
            bodies, np.append(first, len(at)), at, plan.masses[at], slower, tension, allowed_square(1.0, slower)
        )


class Soft(NamedTuple):
    """Bodies with soft hinges, and how much slower these may act."""

    body: IntArray  # shape (soft_count,)
    start: IntArray  # of the vertices of each, shape (soft_count + 1,)
    vertex: IntArray  # in the model's order
    mass: FloatArray  # [kg]
    slower: IntArray  # 1 and `SOFT_EVERY`
    tension: FloatArray  # most of a spring with such hinges, as a share of its stiffness [1]
    square: FloatArray  # of (omega_b h)^2 with dashpots of a c of 1


@lean_inline_kernel
def choose_paces(soft, paces, springs, blocks, rows, h, steps):
    """Let each body's soft hinges act in one of several of its steps, or in each: the number with the least work.

    Of a run of `steps` h [s], after those of springs are set. `rows`: of hinges [N/m] (`bounds.py`).
    """
    for k in range(soft.body.shape[0]):
        body = soft.body[k]
        every = max(paces.every[body, 0], 1)
        time, square, stretched = every * h, 0.0, 0.0
        for i in range(soft.start[k], soft.start[k + 1]):
            square = max(square, rows[soft.vertex[i]] / soft.mass[i])
        square *= time * time
        first, last = blocks.four[blocks.body_start[body]], blocks.four[blocks.body_start[body + 1]]
        for q in range(4 * first, 4 * last):
            tension = springs.stiffness[q] - springs.rest_force[q] * springs.inverse_length[q]
            stretched = max(stretched, tension / max(springs.stiffness[q], TINY))
        least, damping = steps + 1, paces.dashpot[body] / time
        for n in range(soft.slower.shape[0]):
            each = every * soft.slower[n]
            left = steps % each
            work = steps // each + left // every + left % every
            may = n == 0 or (stretched <= soft.tension[n] and square <= damping * soft.square[n])
            if may and work < least:
                least = work
                paces.every[body, 1] = each
        if paces.every[body, 0] == 0:  # asleep
            paces.every[body, 1] = 0


def allowed_square(damping: Any, every: int | IntArray) -> Any:
    """Largest (omega_b h)^2 of hinges that act in one of so many steps, with dashpots of a c [1]."""
    return damping * (math.pi / every) ** 3
