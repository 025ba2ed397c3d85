"""Options from the papers for steps of any solver; each module is imported only if its option is chosen.

Nothing else outside `papers/` imports a module of `papers/`, except the table of solvers (`solvers/choice.py`).
"""

from typing import TYPE_CHECKING

from .array_types import FloatArray, IntArray
from .inflation.supply import GasSupply
from .model import Model
from .options import MethodOptions

if TYPE_CHECKING:
    from .papers.circles import Circles
    from .papers.gas_rules import GasRules
    from .papers.step_damping import StepDamping


def gas_supply(model: Model, options: MethodOptions) -> GasSupply:
    """Supply of gas over time, with a pressure ramp if chosen."""
    if not (options.ramp_time > 0.0 and model.rest_volume.any()):
        return GasSupply(model)
    from .papers.ramp import Ramp

    return Ramp(model, options.ramp_time)


def gas_rules(model: Model, options: MethodOptions) -> "GasRules | None":
    """Other rules for the volume of the gas and its pressure; None for the exact gas."""
    if not options.changes_gas:
        return None
    from .papers.gas_rules import GasRules

    return GasRules(model, options)


def step_damping(model: Model, options: MethodOptions) -> "StepDamping | None":
    """Martin's damping of all motion, None without it."""
    if not options.step_damping:
        return None
    from .papers.step_damping import StepDamping

    return StepDamping(model, options.stiffest_spring)


def circles(model: Model) -> "Circles | None":
    """Contact of the particles of trusses, None where none has a radius."""
    if not len(model.circles.points):
        return None
    from .papers.circles import Circles

    return Circles(model)


def particle_places(model: Model, x: FloatArray, features: IntArray) -> FloatArray:
    """Where feature particles are at x [m], shape (particle_count, 3)."""
    from .papers.particles.graph import particle_places

    return particle_places(model, x, features)
