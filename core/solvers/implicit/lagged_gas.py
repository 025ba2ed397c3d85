"""Pressures without an energy in the implicit step, which minimises one: rules of the papers, weights of vertices.

Their force is taken as that of the exact gas law, with its energy and its stiffness, and what it differs by,

    f_i = w_i p_rule D_i - p dV/dx_i,   w: weight of the pressure,   D: how a rule spreads a unit of pressure

held through a stage as a dead load with the energy -f . (x - x_start). So a stage still is a minimum, the energy never
rises in it, and the pressure resists compression implicitly; only the difference is explicit, as old as the stage.
(Held where the stage is guessed to end, half as old, it overshoots.) The load of weights has a resultant, which
changes the momenta of the body (`momentum.py`).
"""

import numpy as np

from ...extras import gas_rules
from ...model import FloatArray, Model
from ...options import MethodOptions


def lagged_gas(model: Model, options: MethodOptions) -> "LaggedGas | None":
    """The load of the stages of a model; None for the exact gas."""
    return LaggedGas(model, options) if options.changes_gas or model.weighs_pressure else None


class LaggedGas:
    """The dead load of one stage."""

    def __init__(self, model: Model, options: MethodOptions) -> None:
        self._model = model
        self._rules = gas_rules(model, options)
        self.load = np.zeros((model.vertex_count, 3))  # [N], 0 on pinned vertices
        self.place = np.zeros((model.vertex_count, 3))  # where it was held [m]
        self._start = np.zeros((model.vertex_count, 3))

    def release(self, start: FloatArray) -> None:
        """No load from now on; where it acts, energies are counted from `start` [m]."""
        self.load[:] = 0.0
        self._start[:] = start[: len(self._start)]

    def hold(self, x: FloatArray, gas: FloatArray, pressure: FloatArray, gradient: FloatArray) -> None:
        """Hold the difference at x [m]; `pressure` [Pa] and dV/dx [m^2] are those of the exact law there."""
        model, spread, by_rule = self._model, gradient.copy(), pressure
        own = model.point_body[: model.vertex_count]
        if self._rules is not None:
            self._rules.spread(x, spread)
            by_rule = self._rules.pressures(x, gas)
        weighted = by_rule[own] * model.pressure_weight
        self.load[:] = weighted[:, None] * spread - pressure[own, None] * gradient
        self.load[model.pinned] = 0.0
        self.place[:] = x[: len(self.place)]

    def energy(self, x: FloatArray) -> float:
        """Of the load at x [J]."""
        return -float(np.einsum("ij,ij->", self.load, x[: len(self.load)] - self._start))

    def work(self, start: FloatArray, x: FloatArray) -> float:
        """Size of the work of the load on the way from `start` to x [J]."""
        moved = x[: len(self.load)] - start[: len(self.load)]
        return float(np.abs(np.einsum("ij,ij->i", self.load, moved)).sum())

    def add_force(self, force: FloatArray) -> None:
        """Add the load to the forces on the vertices [N]."""
        force[: len(self.load)] += self.load
