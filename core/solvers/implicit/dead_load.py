"""Forces on the vertices that an implicit step, which minimises an energy, holds: with the energy -f . (x - x_start).

1. The load of a step, as of fluids (`loads.py`).
2. Pressures without an energy: rules of the papers, weights of vertices. Their force is taken as that of the exact gas
   law, with its energy and its stiffness, and what it differs by,

       f_i = w_i p_rule D_i - p dV/dx_i,   w: weight of the pressure,   D: how a rule spreads a unit of pressure

   held through a stage. So a stage still is a minimum, the energy never rises in it, and the pressure resists
   compression implicitly; only the difference is explicit, as old as the stage. (Held where the stage is guessed to
   end, half as old, it overshoots.)

Both may have resultants, which change the momenta of the body (`momentum.py`).
"""

import numpy as np

from ...extras import gas_rules
from ...model import FloatArray, Model
from ...options import MethodOptions
from ...rigid_change import moved_as_one


class DeadLoad:
    """The dead load of a stage. Attributes: `lags`, whether gas is held; `acts`, whether there may be a load."""

    def __init__(self, model: Model, options: MethodOptions) -> None:
        n = model.vertex_count
        self._model = model
        self._rules = gas_rules(model, options)
        self.lags = self.acts = options.changes_gas or model.weighs_pressure
        self._force = np.zeros((n, 3))  # sum of both [N], 0 on pinned vertices
        self._start = np.zeros((n, 3))
        self._given, self._lagged = np.zeros((n, 3)), np.zeros((n, 3))
        self._given_place, self._lagged_place = np.zeros((n, 3)), np.zeros((n, 3))  # where they were taken [m]

    def give(self, load: FloatArray | None, place: FloatArray) -> None:
        """Set the load of the stages that follow [N], None for none, and where it was taken [m]."""
        if load is None and not self.acts:
            return
        self.acts = self.lags or load is not None
        self._given = np.zeros_like(self._start) if load is None else load
        self._given_place = place

    def release(self, start: FloatArray) -> None:
        """Hold no gas from now on; where the load acts, energies are counted from `start` [m]."""
        self._lagged[:] = 0.0
        self._force[:] = self._given
        self._start[:] = start[: len(self._start)]

    def hold(self, x: FloatArray, gas: FloatArray, pressure: FloatArray, gradient: FloatArray) -> None:
        """Hold the difference at x [m]; `pressure` [Pa] and dV/dx [m^2] are those of the exact law there."""
        model, spread, by_rule = self._model, gradient.copy(), pressure
        own = model.point_body[: model.vertex_count]
        if self._rules is not None:
            self._rules.spread(x, spread)
            by_rule = self._rules.pressures(x, gas)
        weighted = by_rule[own] * model.pressure_weight
        self._lagged[:] = weighted[:, None] * spread - pressure[own, None] * gradient
        self._lagged[model.pinned] = 0.0
        self._lagged_place[:] = x[: len(self._start)]
        np.add(self._given, self._lagged, out=self._force)

    def ride(self, x: FloatArray) -> None:
        """Take from what gas holds at x [m] what moves the body as a whole: in its frame, inertia balances that."""
        model, n = self._model, len(self._start)
        moved = moved_as_one(x[:n], model.vertex_mass, x[:n], self._lagged)
        self._lagged -= model.vertex_mass[:, None] * moved
        np.add(self._given, self._lagged, out=self._force)

    def parts(self) -> list[tuple[FloatArray, FloatArray]]:
        """Places [m] and sizes [N] of the forces, shapes (vertex_count, 3)."""
        parts = [(self._lagged_place, self._lagged)] if self.lags else []
        return [*parts, (self._given_place, self._given)] if self._given.any() else parts

    def energy(self, x: FloatArray) -> float:
        """Of the load at x [J]."""
        return -float(np.einsum("ij,ij->", self._force, x[: len(self._force)] - self._start))

    def work(self, start: FloatArray, x: FloatArray) -> float:
        """Size of the work of the load on the way from `start` to x [J]."""
        moved = x[: len(self._force)] - start[: len(self._force)]
        return float(np.abs(np.einsum("ij,ij->i", self._force, moved)).sum())

    def add_force(self, force: FloatArray) -> None:
        """Add the load to the forces on the vertices [N]."""
        force[: len(self._force)] += self._force
