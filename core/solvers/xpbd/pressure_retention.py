"""Pressure retention: gauge pressure of a skin under XPBD over that of its equilibrium.

One sweep of projections gives an edge at most the stiffness m / h^2 of its vertices, whatever its modulus. A light skin
under high pressure stretches too far, the gas expands and its gauge pressure falls. The expected pressure is that of
the closed form of a ball with the body's volume and modulus (springs have Poisson's ratio 1/3, so the tension is 1.5 Y
e):

    [(p + p_a) / (1 + e)^3 - p_a] r (1 + e) / 2 = 1.5 Y e

and of a loop that of a circle of its area, [(p + p_a) / (1 + e)^2 - p_a] r (1 + e) = Y e. Bodies that are filled to
their pressure at rest, or drawn inflated, should have all of it. Solids are too soft likewise: hanging bars of 4 x 2 x
2 cells were 0.85 + 0.6 E h^2 / (density cell^2) times as long as they should be, to a tenth, for values of that from
1.2 to 12 and Poisson's ratios of 0.25 to 0.4.
"""

import numpy as np

from ...array_types import FloatArray
from ...model import Model
from ...topology import triangle_areas

#: Halvings of the strain at most; the last is below rounding.
HALVINGS = 200


class PressureRetention:
    """Pressure retention of the membranes of a model.

    Constants of a run are computed once.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._modulus = _stretch_modulus(model)
        self._is_slack = np.array([filling is None for filling in model.fillings])
        self._known: tuple[FloatArray, FloatArray] | None = None  # gas, and its expected pressure

    def __call__(self, gas: FloatArray, gauge_pressure: FloatArray) -> FloatArray:
        """Gauge pressure over the expected one, 1 where none is expected; 0.1 is a limp skin.

        `gas` = nRT [J] and `gauge_pressure` [Pa] of each membrane, as in `World.diagnostics`.
        """
        share = np.ones(self._model.membrane_count)
        np.divide(gauge_pressure, self.expected(gas), out=share, where=_asked_pressure(self._model, gas) > 0.0)
        return share

    def expected(self, gas: FloatArray) -> FloatArray:
        """Gauge pressure [Pa] of each membrane in equilibrium; `gas` = nRT [J] of each.

        Taken as a ball of its volume, a loop as a circle of its area. Exact for balls and circles, an estimate for
        other shapes: a long or flat body holds less.
        """
        slack = gas[self._is_slack]
        if self._known is None or not np.array_equal(self._known[0], slack):
            self._known = slack, self._solve(gas)
        left = self._known[1].copy()
        for body in np.flatnonzero(~self._is_slack).tolist():
            left[body] = self._model.fillings[body].pressure_of(float(gas[body]))
        return left

    def _solve(self, gas: FloatArray) -> FloatArray:
        model, modulus = self._model, self._modulus
        asked, base, exponent = _asked_pressure(model, gas), model.gas_base, model.gas_exponent
        flat, depth = model.flat.depth > 0.0, np.where(model.flat.depth > 0.0, model.flat.depth, 1.0)
        radius = np.where(flat, np.sqrt(model.rest_volume / depth / np.pi), np.cbrt(0.75 / np.pi * model.rest_volume))
        bulge, pull = np.where(flat, 1.0, 0.5), np.where(flat, 3.0, 1.5)
        low = np.where(asked < 0.0, -1.0, 0.0)
        high = np.where(asked > 0.0, 1.0, 0.0)

        def grown(strain: FloatArray) -> FloatArray:
            """Volume over rest volume."""
            return np.asarray(np.where(flat, (1.0 + strain) ** 2, (1.0 + strain) ** 3))

        def excess(strain: FloatArray) -> FloatArray:
            """Pressure load minus tension [N/m]: the residual of the closed form."""
            with np.errstate(divide="ignore", over="ignore"):
                pressure = (asked + base) / grown(strain) ** exponent - base
            return np.asarray(pressure * radius * (1.0 + strain) * bulge - pull * modulus * strain)

        while (excess(high) > 0.0).any():
            high = np.where(excess(high) > 0.0, 2.0 * high, high)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if ((middle == low) | (middle == high)).all():  # no number lies between
                break
            outwards = excess(middle) > 0.0
            low, high = np.where(outwards, middle, low), np.where(outwards, high, middle)
        return np.asarray((asked + base) / grown(low) ** exponent - base)


def compliance_ratio(modulus: float, cell_size: float, density: float, substep_time: float) -> float:
    """Compliance of a solid under XPBD over the one asked for; modulus [Pa], cell [m], density [kg/m^3], time [s]."""
    return max(1.0, 0.85 + 0.6 * modulus * substep_time**2 / (density * cell_size**2))


def _asked_pressure(model: Model, gas: FloatArray) -> FloatArray:
    """Gauge pressure at rest volume [Pa]; 0 where there is no gas."""
    pressure = model.gas_base.copy()
    np.divide(gas, model.rest_volume, out=pressure, where=model.rest_volume > 0.0)
    return pressure - model.gas_base


def _stretch_modulus(model: Model) -> FloatArray:
    """Y of each membrane [N/m] from its springs: each has Y times the area of its triangles / length^2.

    A third of it for a loop, whose springs run along its strip only.
    """
    count = model.membrane_count
    skin = model.surfaces.triangles[: model.surfaces.body_triangle_start[count]]
    area = np.bincount(
        model.surfaces.triangle_body[: len(skin)], triangle_areas(model.rest_positions, skin), minlength=count
    )
    edges = model.edges
    body = model.point_body[edges.points[:, 0]]
    return np.asarray(np.bincount(body, edges.stiffness * edges.rest_length**2, count) / (3.0 * area))
