"""Arguments of the builder: one record per body."""

from dataclasses import dataclass

import numpy as np

from ..checks import check
from ..errors import ParameterError
from ..model import BoolArray, FloatArray, IntArray
from .flat.band import BEND_SHARE, GivenFlat
from .lattice.solids import GivenLattice
from .rigid.inertia import MassProperties

#: Volume at which a body of gas has its gauge pressure: as drawn, or in equilibrium.
PRESSURES_AT = ("DRAWN", "REST")
#: State of its skin as drawn: without tension, or in equilibrium with the gas.
DRAWN_SHAPES = ("SLACK", "INFLATED")
#: Particles of this share of a cell's edge touch their neighbours at rest.
MOST_PARTICLE_RADIUS = 0.5


@dataclass(frozen=True, slots=True)
class GivenPlasticity:
    """Flow, tearing and sticking of a soft body, as in `model.Plasticity`; the default is elastic."""

    creep_time: float = 0.0
    yield_strain: float = 0.0
    plastic_limit: float = 0.0
    tear_strain: float = 0.0
    sticks: bool = False


ELASTIC = GivenPlasticity()


def given_plasticity(
    name: str, creep_time: float, yield_strain: float, plastic_limit: float, tear_strain: float, sticks: bool
) -> GivenPlasticity:
    """Flow, tearing and sticking of a body of a name, or `ParameterError`."""
    return GivenPlasticity(
        check(name, "creep time", creep_time, "s", low=0.0),
        check(name, "yield strain", yield_strain, "", low=0.0),
        check(name, "plastic limit", plastic_limit, "", low=0.0),
        check(name, "tear strain", tear_strain, "", low=0.0),
        bool(sticks),
    )


def given_stiffening(name: str, stiffening: float, creep_time: float) -> float:
    """The stiffening of a lattice, or `ParameterError`: its terms keep the drawn lengths, so it does not flow."""
    if check(name, "stiffening", stiffening, "", low=0.0) > 0.0 and creep_time > 0.0:
        raise ParameterError(
            f"{name}: stiffening {stiffening:g} with a creep time of {creep_time:g} s; "
            "springs that stiffen do not flow. Give 0 for one of them."
        )
    return float(stiffening)


@dataclass(frozen=True, slots=True)
class GivenMembrane:
    """Arguments of `ModelBuilder.add_membrane`, or of `add_solid` with the lattice and its outer faces."""

    name: str
    positions: FloatArray  # internal order
    triangles: IntArray  # internal order
    order: IntArray  # caller's vertex of each internal vertex
    mass: float
    gauge_pressure: float  # also where the amount of gas is given: that at the drawn volume
    stretch_modulus: float  # also where the spring constant is given (`parts.py`)
    bend_modulus: float
    damping: float
    friction: float
    bounciness: float
    thickness: float
    self_collision: bool
    pinned: BoolArray
    velocity: FloatArray
    spring_damping: float = 0.0
    rigid_springs: bool = False
    lattice: GivenLattice | None = None  # of a solid or flat body: springs, masses, followers
    flat: GivenFlat | None = None  # of a flat body
    young_modulus: float = 0.0  # of a lattice [Pa]
    particle_diameter: float = 0.0  # distance that the vertices of a truss keep from each other [m]; 0: none
    pressure_at: str = "DRAWN"  # one of `PRESSURES_AT`
    drawn_shape: str = "SLACK"  # one of `DRAWN_SHAPES`
    start_at_rest: bool = False  # with the pressure at rest
    gas: float | None = None  # nRT [J] where the amount is given
    spring_constant: float = 0.0  # of every edge [N/m]; 0: by the modulus
    point_mass: float = 0.0  # of every vertex [kg]; 0: by the mass
    plasticity: GivenPlasticity = ELASTIC
    stiffening: float = 0.0  # of a lattice

    def __post_init__(self) -> None:
        flows = self.plasticity
        if self.rigid_springs and (flows.creep_time > 0.0 or flows.tear_strain > 0.0 or self.stiffening > 0.0):
            raise ParameterError(
                f"{self.name}: rigid springs neither creep, tear nor stiffen. Turn them off, or give 0 for creep time, "
                "tear strain and stiffening."
            )

    @property
    def elastic_modulus(self) -> float:
        """What the constants of its springs are proportional to.

        Stretch modulus [N/m], or Young's modulus [Pa], or the one constant of all springs [N/m].
        """
        return self.spring_constant or self.young_modulus or self.stretch_modulus

    @property
    def starts_at_rest(self) -> bool:
        """Whether it starts in equilibrium; only with the pressure at rest."""
        return self.start_at_rest and self.pressure_at == "REST"

    @property
    def is_as_drawn(self) -> bool:
        """Whether its springs are slack and its gas has the gauge pressure as drawn: no equilibrium is needed."""
        return not self.has_gas or (self.pressure_at, self.drawn_shape) == ("DRAWN", "SLACK")

    @property
    def hinge_share(self) -> float:
        """Part of the bend modulus that its hinges have: those of a loop count its bends in one direction."""
        return BEND_SHARE if self.flat is not None else 1.0

    @property
    def has_gas(self) -> bool:
        """Whether it is filled with gas: skins and loops."""
        return self.lattice is None or (self.flat is not None and len(self.flat.caps) > 0)

    @property
    def gas_triangles(self) -> IntArray:
        """The closed surface around its gas; none where there is no gas."""
        if not self.has_gas:
            return self.triangles[:0]
        return self.triangles if self.flat is None else np.concatenate([self.triangles, self.flat.caps])


@dataclass(frozen=True, slots=True)
class GivenRigid:
    """Arguments of `ModelBuilder.add_rigid`."""

    name: str
    positions: FloatArray
    triangles: IntArray
    mass: float
    properties: MassProperties
    friction: float
    bounciness: float
    thickness: float
    linear_damping: float
    angular_damping: float
    velocity: FloatArray
    angular_velocity: FloatArray


@dataclass(frozen=True, slots=True)
class GivenCollider:
    """Arguments of `ModelBuilder.add_collider`."""

    name: str
    positions: FloatArray
    triangles: IntArray
    friction: float
    bounciness: float
    thickness: float
