"""Options beside the integrator: choices of the papers, for comparison."""

import math
from dataclasses import dataclass

from .errors import ParameterError

#: Rules for the volume of the gas.
VOLUMES = ("EXACT", "BOUNDING_BOX", "CENTRE_FAN")
#: Rules for the distribution of pressure over vertices.
SPREADS = ("EXACT_GRADIENT", "VALENCE")
#: Methods of contact detection.
DETECTIONS = ("SURFACE", "FEATURE_PARTICLES")
#: Which force-based methods have the damping between neighbours of Mesit 2007, eq. 12.
NEIGHBOUR_DAMPINGS = ("SIMPLIFIED", "ALL", "NONE")
#: Rules for soft bodies that meet a collider.
COLLIDER_RULES = ("CONTACT", "REFLECTION")
#: More would change how a body moves.
LARGEST_ADDED_MASS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodOptions:
    """Choices beside the solver. The defaults are this solver's own; the others are those of the papers.

    `volume`: V of the gas law, `EXACT`, `BOUNDING_BOX` (Mesit 2007; Kurmaly and Wu 2021) or `CENTRE_FAN` (Kurmaly and
    Wu 2021), see `papers/gas_rules.py`. `spread`: `EXACT_GRADIENT` or `VALENCE` (Martin 2009, 3.1.2). `step_damping`:
    whether velocities shrink as in Martin 2009, 3.1.3; `stiffest_spring`: its k_max [N/m]. `ramp_time`: how long the
    pressure rises to its value, without gravity meanwhile [s] (Matyka 2004, 5.1). `detection`:
    `SURFACE` or `FEATURE_PARTICLES` (Martin 2009, 5.2), and `collider_rule`: `CONTACT` or `REFLECTION` (Kurmaly and Wu
    2021, 4), which only the force-based solvers offer, see `papers/reflection.py`.
    `neighbour_damping`: which of the force-based solvers add h sum k (v_j - v_i) to the forces (Mesit 2007, eq. 12):
    `SIMPLIFIED`, those of his paper, which need it; `ALL`; or `NONE`. A damper whose constant does not grow with the
    step h is a body's `spring_damping`.
    `step_error`: how wrong a step of the implicit solver may be, in units of a body's radius, for several substeps to
    be taken as one; 0 takes every substep by itself. `added_mass`: share of a body's mass (0 to 0.1) that the explicit
    solver may add where the body is stiffest, so that its steps can be longer.
    Raises `ParameterError` for an unknown option or a value out of range.
    """

    volume: str = "EXACT"
    spread: str = "EXACT_GRADIENT"
    step_damping: bool = False
    stiffest_spring: float = 400.0
    ramp_time: float = 0.0
    detection: str = "SURFACE"
    neighbour_damping: str = "SIMPLIFIED"
    collider_rule: str = "CONTACT"
    step_error: float = 0.001
    added_mass: float = 0.01

    def __post_init__(self) -> None:
        for what, value, known in (
            ("volume", self.volume, VOLUMES),
            ("pressure spread", self.spread, SPREADS),
            ("detection", self.detection, DETECTIONS),
            ("neighbour damping", self.neighbour_damping, NEIGHBOUR_DAMPINGS),
            ("collider rule", self.collider_rule, COLLIDER_RULES),
        ):
            if value not in known:
                raise ParameterError(f"{what}: {value!r}; give one of {', '.join(known)}.")
        if not (math.isfinite(self.stiffest_spring) and self.stiffest_spring > 0.0):
            raise ParameterError(f"stiffest spring: {self.stiffest_spring} N/m; give a positive number.")
        if not (math.isfinite(self.ramp_time) and self.ramp_time >= 0.0):
            raise ParameterError(f"pressure ramp: {self.ramp_time} s; give a time of at least 0.")
        if not (math.isfinite(self.step_error) and self.step_error >= 0.0):
            raise ParameterError(f"step error: {self.step_error}; give a share of a body's radius of at least 0.")
        if not 0.0 <= self.added_mass <= LARGEST_ADDED_MASS:
            raise ParameterError(f"added mass: {self.added_mass}; give a share of 0 to {LARGEST_ADDED_MASS}.")

    @property
    def changes_gas(self) -> bool:
        """Whether the force of the gas is not the exact one."""
        return self.volume != "EXACT" or self.spread != "EXACT_GRADIENT"


DEFAULTS = MethodOptions()
