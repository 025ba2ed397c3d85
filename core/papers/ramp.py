"""Blowing up first, falling afterwards: the pressure rises to what is asked for, gravity is held back meanwhile.

So Matyka 2004, 5.1, starts: `fy = MASS * GY * (Pressure - FINAL_PRESSURE >= 0)`. There a constant is added to the
pressure in each step; here the gauge pressure at rest volume rises in a straight line over a time in seconds, from the
air's alone to all of it.
"""

from ..array_types import FloatArray
from ..inflation.supply import GasSupply
from ..model import Model
from ..tiny import ROUNDING


class Ramp(GasSupply):
    """The ramp of a model over a time [s]."""

    holds_gravity = True

    def __init__(self, model: Model, time: float) -> None:
        super().__init__(model)
        self._ramp_time = time
        self._air = model.gas_base * model.rest_volume

    def gas(self, final: FloatArray, time: float) -> FloatArray:
        """nRT of each membrane [J] at a time [s] since the start, on the way to the amount `final`."""
        final = super().gas(final, time)
        if not self.runs(time):
            return final
        gas: FloatArray = self._air + time / self._ramp_time * (final - self._air)
        return gas

    def runs(self, time: float) -> bool:
        """Whether the pressure still rises at a time [s] since the start."""
        return time < self._ramp_time * (1.0 - ROUNDING)

    def hold_gravity(self, model: Model, full: FloatArray, time: float) -> None:
        """Give a model the gravity of a substep that begins at a time [s] since the start; `full` later [m/s^2]."""
        model.gravity[:] = 0.0 if self.runs(time) else full
