"""Plastic changes of a frame: `World` calls `before` and `after` each run of substeps, which is at most a tick long.

They are split from the elastic motion: in `after` the rest lengths flow at constant positions, exactly, then springs
tear and bodies stick; in `before` gas streams out at constant volume. This is of first order in the tick of 1/480 s,
whatever the frame rate and the substeps. All that changes is in the state.
"""

from dataclasses import replace

import numpy as np

from .. import topology
from ..model import FloatArray, Model
from ..state import State
from ..volume import EnclosedVolumes
from .bonds import Bonds
from .creep import Creep
from .leak import left_after
from .tear import Tear

#: Least volume from which gas leaves, as a share of that at rest: a skin may fall flat.
LEAST_VOLUME = 0.01


class PlasticTicks:
    """Creep, tears, leaks and bonds of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._creep = Creep(model) if model.creeps else None
        self._tear = Tear(model) if model.tears else None
        self._bonds = Bonds(model) if model.plasticity.sticks.any() else None
        self._volume = EnclosedVolumes(model)

    def before(self, state: State, gas: FloatArray, tick: float) -> FloatArray:
        """nRT [J] at the end of a tick [s] without the gas that is lost; `gas`: what was supplied by then."""
        if self._tear is None:
            return gas
        area = self._hole_areas(state)
        for body in np.flatnonzero((area > 0.0) & (self._model.rest_volume > 0.0)).tolist():
            amount = float(state.gas[body])
            volume = max(self._volume(body, state.positions), LEAST_VOLUME * float(self._model.rest_volume[body]))
            left = left_after(amount, volume, self._model.ambient_pressure, float(area[body]), tick)
            state.lost_gas = state.lost_gas.copy()
            state.lost_gas[body] += amount - left
        return np.maximum(gas - state.lost_gas, 0.0)

    def after(self, state: State, tick: float) -> bool:
        """Changes of the state at the end of a tick [s]; whether a solver needs other parts than before."""
        lengths, keyed, x = state.rest_lengths, state.keyed, state.positions
        if self._creep is not None:
            state.rest_lengths = self._creep.after(lengths, x, tick)
        if self._tear is not None:
            torn = self._tear.after(keyed.torn, state.rest_lengths, x)
            if torn is not keyed.torn:
                keyed = replace(keyed, torn=torn)
        if self._bonds is not None:
            keyed = self._bonds.after(keyed, x, state.touching)
        is_other, state.keyed = keyed is not state.keyed, keyed
        if is_other or state.rest_lengths is not lengths:
            state.still = 0.0
            state.still_time[:] = 0.0
        return is_other

    def torn_triangles(self, state: State, membrane: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Triangles of a membrane with a torn side, in the caller's order."""
        first, last = self._model.surfaces.body_triangle_start[membrane : membrane + 2]
        if self._tear is None:
            return np.zeros(last - first, bool)
        return np.asarray(self._tear.holes(state.keyed.torn)[first:last])

    def _hole_areas(self, state: State) -> FloatArray:
        """Area of the triangles with a torn side [m^2], shape (membrane_count,)."""
        area = np.zeros(self._model.membrane_count)
        if self._tear is not None and state.keyed.torn.any():
            open_ones = np.flatnonzero(self._tear.holes(state.keyed.torn))
            sizes = topology.triangle_areas(state.positions, self._tear.triangles[open_ones])
            np.add.at(area, self._tear.triangle_body[open_ones], sizes)
        return area


def plastic_ticks(model: Model) -> PlasticTicks | None:
    """The plastic changes of a model; None where all springs are elastic and nothing sticks."""
    return PlasticTicks(model) if model.creeps or model.tears or model.plasticity.sticks.any() else None
