"""Martin's damping of all motion, stronger the stiffer the springs (Martin 2009, 3.1.3).

    v' = v - rho v,   rho = rho_g + (1 - rho_g) k / k_max,   rho_g = 0.01

in each step of 1/60 s; a step of another length h takes 1 - (1 - rho)^(60 h), so that what is left after a second does
not depend on it. k is the mean constant of the springs at a vertex; rigid bodies have none, so k = 0. It brakes falling
and flying, too: a body under g falls at no more than about g / (60 rho).
"""

import numpy as np

from ..errors import ParameterError
from ..model import Model
from ..state import State
from .simplified import stiffness_at_vertices

#: rho_g, the share of its speed that everything loses in a step.
EVERYTHING = 0.01
#: Steps per second that the shares are meant for.
STEP_RATE = 60.0


class StepDamping:
    """Shrinks the velocities of a model; raises `ParameterError` for a body whose springs would stop it at once."""

    def __init__(self, model: Model, stiffest_spring: float) -> None:
        n = model.vertex_count
        springs = np.bincount(model.edges.points.ravel(), minlength=n)
        stiffness = stiffness_at_vertices(model.edges, n) / np.maximum(springs, 1)
        if n and not stiffness.max() < stiffest_spring:
            worst = int(stiffness.argmax())
            raise ParameterError(
                f"{model.body_names[model.point_body[worst]]}: springs of {stiffness[worst]:.4g} N/m would be stopped "
                f"in every step by Martin's damping, whose stiffest spring has {stiffest_spring:.4g} N/m. "
                "Raise that above it, or lower the stiffness of the body."
            )
        # logarithms of the share that is left after a second
        self._rate = STEP_RATE * (np.log1p(-EVERYTHING) + np.log1p(-stiffness / stiffest_spring))
        self._rate[model.pinned] = 0.0
        self._rigid_rate = STEP_RATE * float(np.log1p(-EVERYTHING))

    def apply(self, state: State, time: float) -> None:
        """Brake what moves, after a step of a length [s]; in place."""
        state.velocities[: len(self._rate)] *= np.exp(time * self._rate)[:, None]
        left = float(np.exp(time * self._rigid_rate))
        state.rigid.velocity *= left
        state.rigid.angular_momentum *= left
