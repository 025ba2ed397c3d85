"""Options beside the integrator: choices of the papers, for comparison."""

from dataclasses import dataclass

from .parameters import SCENE, builder_defaults, of_scene
from .settings import checked

_PLAIN = builder_defaults(SCENE)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodOptions:
    """Choices beside the solver. The defaults are this solver's own; the others are those of the papers.

    `volume`: V of the gas law, `EXACT`, `BOUNDING_BOX` (Mesit 2007; Kurmaly and Wu 2021) or `CENTRE_FAN` (Kurmaly and
    Wu 2021), see `papers/gas_rules.py`. `spread`: `EXACT_GRADIENT` or `VALENCE` (Martin 2009, 3.1.2). `step_damping`:
    whether velocities shrink as in Martin 2009, 3.1.3; `stiffest_spring`: its k_max [N/m]. `ramp_time`: how long the
    pressure rises to its value, without gravity meanwhile [s] (Matyka 2004, 5.1). `detection`:
    `SURFACE` or `FEATURE_PARTICLES` (Martin 2009, 5.2), and `collider_rule`: `CONTACT` or `REFLECTION` (Kurmaly and Wu
    2021, 4), which only the force-based solvers offer, see `papers/reflection.py`. `particles_per_vertex`, the share
    `particle_skin` of a body's radius and `particle_attraction` are numbers of those particles.
    `neighbour_damping`: which of the force-based solvers add h sum k (v_j - v_i) to the forces (Mesit 2007, eq. 12):
    `SIMPLIFIED`, those of his paper, which need it; `ALL`; or `NONE`. A damper whose constant does not grow with the
    step h is a body's `spring_damping`. `restore_momentum`: whether bodies get back the momentum that `SIMPLIFIED`
    lose, see `papers/integrator.py`; his paper has no such step.
    `added_mass`: share of a body's mass (0 to 0.1) that the explicit solver may add where the body is stiffest, so that
    its steps can be longer.
    Raises `ParameterError` for an unknown option or a value out of range.
    """

    volume: str = _PLAIN.volume
    spread: str = _PLAIN.spread
    step_damping: bool = _PLAIN.step_damping
    stiffest_spring: float = _PLAIN.stiffest_spring
    ramp_time: float = _PLAIN.ramp_time
    detection: str = _PLAIN.detection
    particles_per_vertex: float = _PLAIN.particles_per_vertex
    particle_skin: float = _PLAIN.particle_skin
    particle_attraction: float = _PLAIN.particle_attraction
    neighbour_damping: str = _PLAIN.neighbour_damping
    restore_momentum: bool = _PLAIN.restore_momentum
    collider_rule: str = _PLAIN.collider_rule
    added_mass: float = _PLAIN.added_mass

    def __post_init__(self) -> None:
        for parameter in of_scene("OPTIONS"):
            checked("scene", parameter, getattr(self, parameter.option or parameter.name))

    @property
    def changes_gas(self) -> bool:
        """Whether the force of the gas is not the exact one."""
        return self.volume != "EXACT" or self.spread != "EXACT_GRADIENT"


DEFAULTS = MethodOptions()
