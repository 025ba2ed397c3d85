"""Blowing up first, falling afterwards: the pressure rises to what is asked for, gravity is held back meanwhile.

So Matyka 2004, 5.1, starts: `fy = MASS * GY * (Pressure - FINAL_PRESSURE >= 0)`. There a constant is added to the
pressure in each step; here the gauge pressure at rest volume rises in a straight line over a time in seconds, from the
air's alone to all of it.

Gas for a larger volume than a body starts with comes in over RISE_TIME, likewise: all at once it would burst open. So
the gauge stays near the pressure on the way.
"""

import numpy as np

from .model import FloatArray, Model

#: Times that differ by less than this share of the ramp are the same.
ROUNDING = 1e-9
#: For how long gas comes in for what a body grows by until it is at rest [s].
RISE_TIME = 0.5


class Ramp:
    """The ramp of a model over a time [s]; nothing is held back where nothing holds gas."""

    def __init__(self, model: Model, time: float) -> None:
        self._time = time if model.rest_volume.any() else 0.0
        self._empty = model.ambient_pressure * model.rest_volume
        self._share = np.ones(model.membrane_count)  # of the gas, that is there at the start
        np.divide(model.start_volume, model.rest_volume, out=self._share, where=model.rest_volume > 0.0)
        self._rises = bool((self._share != 1.0).any())
        #: Whether gravity is held back for a while: it is the ramp's to change, between substeps.
        self.holds_gravity = self._time > 0.0

    def gas(self, final: FloatArray, time: float) -> FloatArray:
        """nRT of each membrane [J] at a time [s] since the start, on the way to the amount `final`."""
        if self._rises and time < RISE_TIME:
            final = (self._share + time / RISE_TIME * (1.0 - self._share)) * final
        if not self.runs(time):
            return final
        gas: FloatArray = self._empty + time / self._time * (final - self._empty)
        return gas

    def runs(self, time: float) -> bool:
        """Whether the pressure still rises at a time [s] since the start."""
        return time < self._time * (1.0 - ROUNDING)

    def hold_gravity(self, model: Model, full: FloatArray, time: float) -> None:
        """Give a model the gravity of a substep that begins at a time [s] since the start; `full` later [m/s^2]."""
        if self.holds_gravity:
            model.gravity[:] = 0.0 if self.runs(time) else full
