"""Edges of the graph along which gas flows: hoses between two bodies, holes and pumps between a body and the air.

Each tells how much gas passes in a time at constant volumes, exactly for itself alone, so that it never passes beyond
equal pressures, and never more than there is, however long the time and however wide the edge.
"""

import math
from dataclasses import dataclass

from ..array_types import FloatArray
from .orifice import left_after

#: The other end of an edge to the air.
AIR = -1
#: Pressures that differ by less than this share are equal: bodies linked by a hose can fall asleep.
ROUNDING = 1e-13


@dataclass(frozen=True, slots=True)
class Hose:
    """A hose from one membrane to the other; `conductance` [m^3/s] with its valve: d(nRT)/dt = G (p - q)."""

    one: int
    other: int
    conductance: float

    def passed(self, amount: FloatArray, volume: FloatArray, time: float, _outside: float) -> float:
        """nRT [J] that passes to the other end in a time [s]; both pressures approach each other exponentially."""
        one, other = float(volume[self.one]), float(volume[self.other])
        here, there = float(amount[self.one]) / one, float(amount[self.other]) / other
        if abs(here - there) <= ROUNDING * (here + there):
            return 0.0
        shared = one * other / (one + other)
        return -(here - there) * shared * math.expm1(-self.conductance / shared * time)


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole of an `area` [m^2] from a membrane to the air (`orifice.py`)."""

    one: int
    area: float
    other: int = AIR

    def passed(self, amount: FloatArray, volume: FloatArray, time: float, outside: float) -> float:
        """nRT [J] that streams out in a time [s]; negative for what streams in."""
        here = float(amount[self.one])
        return here - left_after(here, float(volume[self.one]), outside, self.area, time)


@dataclass(frozen=True, slots=True)
class Pump:
    """A pump with a `rate` of nRT [W] from the air into a membrane; below 0 out of it, until it is empty."""

    one: int
    rate: float
    other: int = AIR

    def passed(self, amount: FloatArray, _volume: FloatArray, time: float, _outside: float) -> float:
        """nRT [J] that goes out in a time [s]."""
        return min(-self.rate * time, float(amount[self.one]))


Edge = Hose | Hole | Pump
