"""Bodies as they were given to the builder."""

from dataclasses import dataclass

from .lattice.solids import GivenLattice
from .model import BoolArray, FloatArray, IntArray
from .rigid.inertia import MassProperties


@dataclass(frozen=True, slots=True)
class GivenMembrane:
    """As `ModelBuilder.add_membrane` was given it, or what `add_solid` made of a mesh: its lattice and outer faces."""

    name: str
    positions: FloatArray  # internal order
    triangles: IntArray  # internal order
    order: IntArray  # caller's vertex of each internal vertex
    mass: float
    gauge_pressure: float
    stretch_modulus: float
    bend_modulus: float
    damping: float
    friction: float
    bounciness: float
    thickness: float
    self_collision: bool
    pinned: BoolArray
    velocity: FloatArray
    lattice: GivenLattice | None = None  # of a solid, which has no gas


@dataclass(frozen=True, slots=True)
class GivenRigid:
    """As `ModelBuilder.add_rigid` was given it."""

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
    """As `ModelBuilder.add_collider` was given it."""

    name: str
    positions: FloatArray
    triangles: IntArray
    friction: float
    bounciness: float
    thickness: float
