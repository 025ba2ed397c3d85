"""Supply of gas at the start of a run.

Gas for a larger volume than a body starts with comes in over RISE_TIME: all at once, the body would burst open. So the
gauge pressure stays near its final value on the way. With an inflation time the body starts with a gauge pressure of 0
at its start volume, and nRT rises in a straight line from there.
"""

import numpy as np

from ..array_types import FloatArray
from ..model import Model
from ..state import volume_share

#: For how long gas comes in for what a body grows by until it is at rest [s].
RISE_TIME = 0.5


class GasSupply:
    """Amounts of gas of a model over time; `papers/ramp.py` has another one."""

    #: Whether gravity is held back for a while: it is the supply's to change, between substeps.
    holds_gravity = False

    def __init__(self, model: Model) -> None:
        share = volume_share(model)
        self._share, self._exponent, self._time = share, model.gas_exponent, model.inflation_time
        self._empty = model.gas_base * model.rest_volume * share**model.gas_exponent  # nRT at a gauge pressure of 0 [J]
        self._rises = bool((share != 1.0).any())

    def gas(self, final: FloatArray, time: float) -> FloatArray:
        """nRT of each membrane [J] at a time [s] since the start, on the way to the amount `final`."""
        gas = final
        if self._rises and time < RISE_TIME:
            gas = (self._share + time / RISE_TIME * (1.0 - self._share)) ** self._exponent * final
        if time < self._time.max(initial=0.0):
            past = np.minimum(time / np.where(self._time > 0.0, self._time, 1.0), 1.0)
            gas = np.where(self._time > time, self._empty + past * (final - self._empty), gas)
        return gas

    def runs(self, _time: float) -> bool:
        """Whether substeps must be taken one by one at a time [s] since the start."""
        return False

    def hold_gravity(self, model: Model, full: FloatArray, time: float) -> None:
        """Set the gravity of a substep that begins at a time [s] since the start; `full` later [m/s^2]."""
