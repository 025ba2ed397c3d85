"""Loads that hold bodies of gas as drawn where a run starts, and fade away.

A skin that cannot be at rest as drawn, such as a cube's, would jump: the forces that its springs and its gas leave on
the vertices, p A of a flat face, act on grams. So the start has the opposite loads, which make it an equilibrium, and
they fade within RISE_TIME, as the gas comes in; the body then follows its equilibrium slowly instead of swinging about
it (a homotopy, or load stepping). They turn with the body and have no resultant and no torque, so that momentum stays.
A body that is at rest as drawn has none.
"""

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..model import Model
from ..rigid_change import moved_as_one
from ..state import State
from .supply import RISE_TIME

#: Least load of a body over the forces of its gas; less moves nothing that could be seen.
LEAST_SHARE = 1e-3


class StartLoads:
    """Loads of a model that start it in equilibrium as drawn."""

    def __init__(self, model: Model, *, none: bool = False) -> None:
        """`none`: there are no loads: with a paper's ramp of the pressure, and with XPBD, which rests elsewhere."""
        self._model = model
        self._loads: dict[int, FloatArray] = {}  # of bodies that need them [N], shape (own vertex_count, 3)
        for body, filling in enumerate(model.fillings):
            if none or filling is None or model.settings[body].get("start_at_rest"):
                continue
            first, last = model.body_point_start[body : body + 2].tolist()
            load = np.where(model.pinned[first:last, None], 0.0, -filling.unrest)
            size = float(np.sqrt((load**2).sum(axis=1)).sum())
            if size > LEAST_SHARE * filling.push:
                self._loads[body] = load

    def acts(self, time: float) -> bool:
        """Whether there are loads at a time [s] since the start."""
        return bool(self._loads) and time < RISE_TIME

    def before(self, state: State, time: float, tick: float, mass: FloatArray, fixed: BoolArray) -> FloatArray:
        """Loads of a tick [s] that begins at a time [s], where the vertices are in the middle of it, see `at`."""
        n = self._model.vertex_count
        self._last = self.at(
            time + 0.5 * tick, state.positions[:n] + 0.5 * tick * state.velocities[:n], mass[:n], fixed[:n]
        )  # fmt: skip
        self._torque = self._torques(state)
        return self._last

    def after(self, state: State, tick: float, mass: FloatArray, fixed: BoolArray) -> None:
        """Give bodies back what the loads of the last tick [s] changed of their angular momentum.

        They keep their directions while a body turns. By the trapezoidal rule.
        """
        torque = self._torque + self._torques(state)
        for row, body in enumerate(self._loads):
            own = slice(*self._model.body_point_start[body : body + 2].tolist())
            if not fixed[own].any():
                x = state.positions[own]
                state.velocities[own] += moved_as_one(x, mass[own], x[:0], x[:0], -0.5 * tick * torque[row])

    def _torques(self, state: State) -> FloatArray:
        """Torque of the loads of the last tick on each body that has some [N m]."""
        starts = self._model.body_point_start
        spans = [slice(*starts[body : body + 2].tolist()) for body in self._loads]
        moments = np.array([state.positions[own].T @ self._last[own] for own in spans])
        return moments[:, [1, 2, 0], [2, 0, 1]] - moments[:, [2, 0, 1], [1, 2, 0]]

    def at(self, time: float, x: FloatArray, mass: FloatArray, fixed: BoolArray) -> FloatArray:
        """Loads [N] at a time [s] since the start, shape (vertex_count, 3), 0 on `fixed` vertices.

        `x`: positions of the vertices [m]; `mass` of them [kg].
        """
        model, loads = self._model, np.zeros((self._model.vertex_count, 3))
        left = 1.0 - min(time / RISE_TIME, 1.0)
        share = left * left * (3.0 - 2.0 * left)
        for body, load in self._loads.items():
            own = slice(*model.body_point_start[body : body + 2].tolist())
            if fixed[own].all():
                continue
            turned = share * load @ _turn(model.rest_positions[own], x[own], mass[own]).T
            if not fixed[own].any():
                turned -= mass[own, None] * moved_as_one(x[own], mass[own], x[own], turned)
            loads[own] = turned
        loads[fixed] = 0.0
        return loads


def _turn(before: FloatArray, after: FloatArray, mass: FloatArray) -> FloatArray:
    """Rotation of the points of a body that fits best (Kabsch 1976), shape (3, 3)."""
    share = (mass / mass.sum())[:, None]
    one, other = before - (share * before).sum(axis=0), after - (share * after).sum(axis=0)
    left, _, right = np.linalg.svd((share * other).T @ one)
    left[:, 2] *= np.sign(np.linalg.det(left) * np.linalg.det(right))
    return np.asarray(left @ right)
