"""Which substep should be stable: from the stiffest oscillation of the bodies as they are at rest."""

from collections.abc import Callable

import numpy as np

from ..array_types import FloatArray
from ..bodies.flat.plane import Planes
from ..energy.dampers import damper_forces
from ..model import Model
from ..solvers.explicit.stability import damping_rates, largest_squares, soft_starts
from ..tiny import TINY
from .forces import SoftForces
from .schemes import SCHEMES, stable_angle
from .simplified import add_spring_damping

#: h w that the simplified implicit steps should have: half of that at which Mesit's diverges, see the README.
SIMPLIFIED_ANGLE = 0.5
#: A skin that is stretched or bent is stiffer than at rest.
MARGIN = 0.7


def stiffest_frequency(model: Model, forces: SoftForces, gas: FloatArray, *, without_springs: bool = False) -> float:
    """Angular frequency [1/s] of the stiffest oscillation at the rest shape, by Lanczos' method on the forces.

    `without_springs`: as if stretching the springs had no stiffness, so of what their dampers do not damp.
    """
    n, x, arm, planes = model.vertex_count, model.rest_positions, model.rigid.arm, Planes(model)
    size = 1e-6 * float(model.edges.rest_length.mean())
    ahead, behind = np.zeros((model.unknown_count, 3)), np.zeros((model.unknown_count, 3))

    def product(u: FloatArray) -> FloatArray:
        move = u.copy()
        planes.hold(move)
        scale = size / max(float(np.abs(move).max()), TINY)
        trial = x.copy()
        trial[:n] = x[:n] + scale * move
        forces.evaluate(trial, gas, arm, ahead)
        trial[:n] = x[:n] - scale * move
        forces.evaluate(trial, gas, arm, behind)
        pull = (behind - ahead)[:n] / (2.0 * scale)
        if without_springs:
            pull += damper_forces(x, move, model.edges.points, model.edges.stiffness)
        planes.hold(pull)
        return pull

    return float(np.sqrt(max(_largest_square(product, model), 0.0)))


def stable_time(
    model: Model, forces: SoftForces, method: str, gas: FloatArray, damps_neighbours: bool = False
) -> float:
    """Longest substep [s] with which a method should be stable; 0 where nothing oscillates.

    The stiffest oscillation is taken to be the most damped one, as it is where springs and dampers are alike; another
    one, of gas and bending alone, has no damping.
    `damps_neighbours`: whether an explicit method has the damping of eq. 12 of Mesit 2007, too.
    """
    if model.vertex_count == 0:
        return 0.0
    frequency = stiffest_frequency(model, forces, gas)
    if not frequency > 0.0:
        return 0.0
    ratio = 0.5 * float(damping_rates(model, model.vertex_mass).max(initial=0.0)) / frequency
    scheme = SCHEMES.get(method)
    if scheme is not None:
        ratio_per_angle = 0.5 * neighbour_rate(model) / frequency**2 if damps_neighbours else 0.0
        longest = stable_angle(scheme, ratio, ratio_per_angle) / frequency
        if ratio > 0.0:
            undamped = stiffest_frequency(model, forces, gas, without_springs=True)
            longest = min(longest, stable_angle(scheme) / max(undamped, TINY))
        return MARGIN * longest
    euler = SCHEMES["EXPLICIT_EULER"]
    return MARGIN * SIMPLIFIED_ANGLE * stable_angle(euler, ratio) / stable_angle(euler) / frequency


def neighbour_rate(model: Model) -> float:
    """Largest damping rate that eq. 12 of Mesit 2007 has per length of the step [1/s^2]."""

    def product(v: FloatArray) -> FloatArray:
        force = np.zeros_like(v)
        add_spring_damping(v, model.edges, 1.0, force)
        return -force

    return _largest_square(product, model)


def _largest_square(product: Callable[[FloatArray], FloatArray], model: Model) -> float:
    """The largest of the bodies' `largest_squares`."""
    masses = np.where(model.pinned, np.inf, model.vertex_mass)
    return float(largest_squares(product, masses, soft_starts(model)).max())
