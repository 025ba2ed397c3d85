"""Arguments of the builder: one record per body."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..errors import ParameterError
from ..parameters import named
from .flat.band import BEND_SHARE, GivenFlat
from .lattice.solids import GivenLattice
from .rigid.inertia import MassProperties


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenBody:
    """Arguments of `ModelBuilder.add_collider`; other bodies have more."""

    name: str
    positions: FloatArray
    triangles: IntArray
    settings: Mapping[str, Any]  # what `parameters/` declares, checked
    deforms: bool = False  # whether a collider may change its shape

    def setting(self, name: str) -> Any:
        """A setting; 0 where a body of this type has none, or where it is not given."""
        return self.settings.get(name) or 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRigid(GivenBody):
    """Arguments of `ModelBuilder.add_rigid`."""

    properties: MassProperties


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMembrane(GivenBody):
    """Arguments of `ModelBuilder.add_membrane`, or of `add_solid` with the lattice and its outer faces.

    Positions and triangles are in internal order. What has a field here counts in place of the setting.
    """

    order: IntArray  # caller's vertex of each internal vertex
    mass: float
    gauge_pressure: float  # also where the amount of gas is given: that at the drawn volume
    pinned: BoolArray
    velocity: FloatArray
    stretch_modulus: float = 0.0  # also where the spring constant is given (`parts.py`)
    lattice: GivenLattice | None = None  # of a solid or flat body: springs, masses, followers
    flat: GivenFlat | None = None  # of a flat body
    young_modulus: float = 0.0  # of a lattice [Pa]
    particle_diameter: float = 0.0  # distance that the vertices of a truss keep from each other [m]; 0: none
    gas: float | None = None  # nRT [J] where the amount is given
    weakness: FloatArray | None = None  # see `Model.weakness`; None: 0
    pressure_weight: FloatArray | None = None  # see `Model.pressure_weight`; None: 1
    ties: IntArray | None = None  # vertices that threads join (`ties.py`), shape (tie_count, 2); None: none

    def __post_init__(self) -> None:
        creep, tear, stiffening = (self.setting(name) for name in ("creep_time", "tear_strain", "stiffening"))
        if stiffening > 0.0 and creep > 0.0:  # its terms keep the drawn lengths
            raise ParameterError(
                f"{self.name}: stiffening {stiffening:g} with a creep time of {creep:g} s; "
                "springs that stiffen do not flow. Give 0 for one of them."
            )
        for name in ("tear_strain", "pump_rate", "leak_diameter"):
            self.check_flow(f"a {named(name).label.lower()} of {self.setting(name):g}", bool(self.setting(name)))
        if self.setting("rigid_springs") and (creep > 0.0 or tear > 0.0 or stiffening > 0.0):
            raise ParameterError(
                f"{self.name}: rigid springs neither creep, tear nor stiffen. Turn them off, or give 0 for creep time, "
                "tear strain and stiffening."
            )

    def check_flow(self, what: str, flows: bool = True) -> None:
        """Raise `ParameterError` if gas flows in or out while its pressure or volume is held."""
        held = self.setting("gas_hold") or "AMOUNT"
        if flows and held != "AMOUNT":
            raise ParameterError(
                f"{self.name}: {what} with a held {held.lower()}; only an amount of gas flows. Hold the amount, or "
                "give 0 for the other."
            )

    @property
    def elastic_modulus(self) -> float:
        """What the constants of its springs are proportional to.

        Stretch modulus [N/m], or Young's modulus [Pa], or the one constant of all springs [N/m].
        """
        return self.setting("spring_constant") or self.young_modulus or self.stretch_modulus

    @property
    def pressure_at(self) -> str:
        """Volume at which its gas has its pressure: REST, or DRAWN, as where the amount is given."""
        return self.settings["pressure_at"] if self.has_gas and self.gas is None else "DRAWN"

    @property
    def drawn_shape(self) -> str:
        """State of its skin as drawn: INFLATED, or SLACK."""
        return self.setting("drawn_shape") or "SLACK"

    @property
    def starts_at_rest(self) -> bool:
        """Whether it starts in equilibrium; only with the pressure at rest."""
        return bool(self.setting("start_at_rest")) and self.pressure_at == "REST"

    @property
    def inflates(self) -> bool:
        """Whether it starts without a gauge pressure, which rises in its inflation time."""
        return bool(self.setting("inflation_time") > 0.0)

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
