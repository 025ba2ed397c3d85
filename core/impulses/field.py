"""`Field`: one force field during a frame, in world space."""

import math
from dataclasses import dataclass

from ..errors import ParameterError

KINDS = ("FORCE", "WIND", "VORTEX", "TURBULENCE", "DRAG", "HARMONIC")
SHAPES = ("POINT", "LINE", "PLANE")
FALLOFFS = ("SPHERE", "TUBE", "CONE")
SIDES = ("BOTH", "POSITIVE", "NEGATIVE")


@dataclass(frozen=True, slots=True)
class Field:
    """A force field. Its strength is a force on a whole body [N] wherever the table says so, not a force per mass.

    Raises `ParameterError` for values out of range.
    """

    kind: str  # one of KINDS
    # FORCE, WIND, TURBULENCE [N]; HARMONIC [N/m]; VORTEX [1/s], at POINT [N/m]; DRAG of the speed's square [N s^2/m^2]
    strength: float = 1.0
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)  # of any length: direction of the wind, of lines, across planes
    shape: str = "POINT"  # what distance is measured from: one of SHAPES
    flow: float = 0.0  # drag that goes with the field [N s/m]; not of DRAG and HARMONIC
    damping: float = 0.0  # DRAG of the speed [N s/m]; HARMONIC: share of critical damping
    size: float = 0.0  # rest length of HARMONIC; size of the eddies of TURBULENCE, 0 is 1 [m]
    skin_share: float = 0.0  # how much acts along the normals of soft bodies only, 0 to 1; not of DRAG
    has_gravitation: bool = False  # whether FORCE falls off with the square of the distance besides
    is_global: bool = False  # whether TURBULENCE stays where it is when the field moves
    seed: int = 0  # of TURBULENCE
    falloff: str = "SPHERE"  # one of FALLOFFS
    power: float = 0.0  # of (1 + distance beyond the least one)
    min_distance: float = 0.0  # [m]
    max_distance: float = math.inf  # [m]
    radial_power: float = 0.0  # the same away from the axis of TUBE [m] and CONE [degrees]
    min_radius: float = 0.0
    max_radius: float = math.inf
    side: str = "BOTH"  # of the plane across the axis, on which it acts: one of SIDES
    shares: tuple[float, ...] = ()  # how much each moving body feels of it, membranes first; empty: all of it

    def __post_init__(self) -> None:
        for what, value, choices in (
            ("kind", self.kind, KINDS),
            ("shape", self.shape, SHAPES),
            ("falloff", self.falloff, FALLOFFS),
            ("side", self.side, SIDES),
        ):
            if value not in choices:
                raise ParameterError(f"field: {what} {value!r}; give one of {', '.join(choices)}.")
        numbers = (self.strength, *self.position, *self.axis, self.flow, self.damping, self.size, *self.shares)
        if not all(map(math.isfinite, (*numbers, self.skin_share, self.power, self.radial_power))):
            raise ParameterError(f"field: {self.kind} holds NaN or infinity. Check the animation of this field.")
        if not any(self.axis):
            raise ParameterError(f"field: {self.kind} with an axis of length 0. Give the object a scale above 0.")
        if not 0.0 <= self.skin_share <= 1.0:
            raise ParameterError(f"field: share along normals {self.skin_share:g}; give a number from 0 to 1.")
