"""Supply of gas at the start of a run.

Gas for a larger volume than a body starts with comes in over RISE_TIME: all at once, the body would burst open. So the
gauge pressure stays near its final value on the way.
"""

import numpy as np

from ..model import FloatArray, Model

#: For how long gas comes in for what a body grows by until it is at rest [s].
RISE_TIME = 0.5


class GasSupply:
    """Amounts of gas of a model over time; `papers/ramp.py` has another one."""

    #: Whether gravity is held back for a while: it is the supply's to change, between substeps.
    holds_gravity = False

    def __init__(self, model: Model) -> None:
        self._share = np.ones(model.membrane_count)  # of the gas, that is there at the start
        np.divide(model.start_volume, model.rest_volume, out=self._share, where=model.rest_volume > 0.0)
        self._rises = bool((self._share != 1.0).any())

    def gas(self, final: FloatArray, time: float) -> FloatArray:
        """nRT of each membrane [J] at a time [s] since the start, on the way to the amount `final`."""
        if self._rises and time < RISE_TIME:
            return (self._share + time / RISE_TIME * (1.0 - self._share)) * final
        return final

    def runs(self, _time: float) -> bool:
        """Whether substeps must be taken one by one at a time [s] since the start."""
        return False

    def hold_gravity(self, model: Model, full: FloatArray, time: float) -> None:
        """Set the gravity of a substep that begins at a time [s] since the start; `full` later [m/s^2]."""
