"""Other rules for the gas (`gas_rules.py`) in the implicit step, which minimises an energy that they do not have.

Their force is taken as that of the exact gas law, with its energy and its stiffness, and what it differs by,

    f = p_rule D - p dV/dx,   D: how the rule spreads a unit of pressure

held through a stage as a dead load with the energy -f . (x - x_start). So a stage still is a minimum, the energy never
rises in it, and the pressure resists compression implicitly; only the difference between the rules is explicit, as old
as the stage. (Held where the stage is guessed to end, half as old, it overshoots.)
"""

import numpy as np

from ..model import FloatArray, Model
from ..options import MethodOptions
from .gas_rules import GasRules


class LaggedGas:
    """The dead load of one stage."""

    def __init__(self, model: Model, options: MethodOptions) -> None:
        self._model = model
        self._rules = GasRules(model, options)
        self._load = np.zeros((model.vertex_count, 3))
        self._start = np.zeros((model.vertex_count, 3))

    def release(self, start: FloatArray) -> None:
        """No load from now on; where it acts, energies are counted from `start` [m]."""
        self._load[:] = 0.0
        self._start[:] = start[: len(self._start)]

    def hold(self, x: FloatArray, gas: FloatArray, pressure: FloatArray, gradient: FloatArray) -> None:
        """Hold the difference at x [m]; `pressure` [Pa] and dV/dx [m^2] are those of the exact law there."""
        model = self._model
        own = model.point_body[: model.vertex_count]
        spread = gradient.copy()
        self._rules.spread(x, spread)
        self._load[:] = self._rules.pressures(x, gas)[own, None] * spread - pressure[own, None] * gradient
        self._load[model.pinned] = 0.0

    def energy(self, x: FloatArray) -> float:
        """Of the load at x [J]."""
        return -float(np.einsum("ij,ij->", self._load, x[: len(self._load)] - self._start))

    def work(self, start: FloatArray, x: FloatArray) -> float:
        """Size of the work of the load on the way from `start` to x [J]."""
        moved = x[: len(self._load)] - start[: len(self._load)]
        return float(np.abs(np.einsum("ij,ij->i", self._load, moved)).sum())

    def add_force(self, force: FloatArray) -> None:
        """Add the load to the forces on the vertices [N]."""
        force[: len(self._load)] += self._load
