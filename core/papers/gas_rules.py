"""The gas as the papers have it: other rules for its volume, and for how its pressure is spread over the vertices.

Volume V of the gas law p V = nRT:

    BOUNDING_BOX   of the box around the body (Mesit 2007; Kurmaly and Wu 2021): 6/pi too large for a ball
    CENTRE_FAN     sum of the unsigned volumes of the tetrahedra from the centre of that box to each triangle (Kurmaly
                   and Wu 2021, in space): exact where the centre sees the whole surface from inside. Of a flat body
                   (`bodies/flat/band.py`) it takes the strip alone, whose tetrahedra are triangles from the centre to
                   the outline as in the paper

The gas is the amount that has the pressure asked for at rest by the same rule, nRT = (p + p_ambient) V_rule(rest), so
rules are compared at the same pressure; where the amount itself is given, it is that amount, whatever the pressure
that the rule makes of it. It is kept in units of the exact volume at rest: V = V_rule(x) V_rest /
V_rule(rest), with nRT = (p + p_ambient) V_rest as ever.
Forces stay the pressure times dV/dx of the exact volume, the area vectors of the surface, as in the papers. They are
then no gradient of an energy: a body that deforms and comes back may have gained or lost some. Without air outside, as
in the papers, bodies are calm. In air, V acts on the absolute pressure, fifty times that of a toy: there a body that is
not round trembles by these rules, and may burst.

Spread VALENCE (Martin 2009, 3.1.2, after Nixon and Lobb 2002): the force on a vertex is scaled by its number of springs
over the average. That alone would push and turn a closed body by itself, so the rigid motion that it gives is taken
out of it (`rigid_motion.py`).
"""

import numpy as np

from .. import topology
from ..array_types import FloatArray, IntArray
from ..bodies.flat.band import STRIP_TO_VOLUME
from ..energy.gas import gauge_pressure
from ..model import Model
from ..options import MethodOptions
from ..solvers.rigid_motion import rigid_motions


class GasRules:
    """Volumes and forces of the gas in the membranes of a model by the rules of `options`."""

    def __init__(self, model: Model, options: MethodOptions) -> None:
        self._model = model
        self._volume_rule = options.volume
        self._has_gas = model.rest_volume > 0.0
        self._triangles = _gas_triangles(model, self._volume_rule == "CENTRE_FAN")
        self._triangle_body = model.point_body[self._triangles[:, 0]]
        self._scale = np.zeros(model.membrane_count)
        rest = self.rule_volumes(model.rest_positions)
        np.divide(model.drawn_volume, rest, out=self._scale, where=self._has_gas)
        is_strip = (model.flat.depth > 0.0) & (self._volume_rule == "CENTRE_FAN")
        self._scale[model.has_amount] = np.where(is_strip, STRIP_TO_VOLUME, 1.0)[model.has_amount]
        self._share: FloatArray | None = None  # springs at each vertex over the body's average
        self._owner = model.point_body[: model.vertex_count]
        self._motion = np.zeros((model.membrane_count, 16))
        if options.spread == "VALENCE":
            springs = np.bincount(model.edges.points.ravel(), minlength=model.vertex_count).astype(float)
            count = np.bincount(self._owner, minlength=model.membrane_count)
            average = np.bincount(self._owner, springs, model.membrane_count) / count
            self._share = springs / average[self._owner]

    def rule_volumes(self, x: FloatArray) -> FloatArray:
        """Volume of each membrane [m^3] as the rule tells it; 0 where there is no gas, shape (membrane_count,)."""
        model, owner = self._model, self._triangle_body
        if not model.membrane_count:
            return np.zeros(0)
        start, points = model.body_point_start[: model.membrane_count], x[: model.vertex_count]
        low, high = np.minimum.reduceat(points, start), np.maximum.reduceat(points, start)
        volumes: FloatArray
        if self._volume_rule == "BOUNDING_BOX":
            volumes = (high - low).prod(axis=1)
        else:
            is_fan = self._volume_rule == "CENTRE_FAN"
            apex = 0.5 * (low + high) if is_fan else points[start]
            a, b, c = (points[corner] - apex[owner] for corner in self._triangles.T)
            parts = np.einsum("ti,ti->t", a, np.cross(b, c)) / 6.0
            volumes = np.bincount(owner, np.abs(parts) if is_fan else parts, model.membrane_count)  # type: ignore[assignment]
        volumes[~self._has_gas] = 0.0
        return volumes

    def volumes(self, x: FloatArray) -> FloatArray:
        """V of the gas law [m^3] at x [m]: what the rule tells, in units of the exact volume as drawn.

        Of a body whose amount of gas is given it is the rule's own volume.
        """
        return self._scale * self.rule_volumes(x)

    def pressures(self, x: FloatArray, gas: FloatArray) -> FloatArray:
        """Gauge pressure of each membrane [Pa] at x with nRT = `gas` [J]; 0 where there is no gas."""
        model, volumes, pressures = self._model, self.volumes(x), np.zeros(self._model.membrane_count)
        for body in np.flatnonzero(self._has_gas).tolist():
            pressures[body] = gauge_pressure(
                volumes[body], model.rest_volume[body], gas[body], model.gas_base[body], model.gas_exponent[body]
            )
        return pressures

    def spread(self, x: FloatArray, gradient: FloatArray) -> None:
        """Turn dV/dx at x into the force of a unit pressure on each vertex [m^2], in place, (vertex_count, 3)."""
        if self._share is None:
            return
        model, rows = self._model, self._motion
        part = self._share[:, None] * gradient / model.vertex_mass[:, None]
        rigid_motions(x, part, model.vertex_mass, model.body_point_start, rows)
        own = self._owner
        part -= rows[own, 3:6] + np.cross(rows[own, 6:9], x[: model.vertex_count] - rows[own, :3])
        np.multiply(model.vertex_mass[:, None], part, out=gradient)


def _gas_triangles(model: Model, without_caps: bool) -> IntArray:
    """Triangles of all membranes with gas, shape (count, 3); the caps of a flat body join odd or even points."""
    triangles = topology.fan_triangles(model.fans.vertex_start, model.fans.corners)
    side = (triangles - model.body_point_start[model.point_body[triangles]]) % 2
    is_cap = (model.flat.depth[model.point_body[triangles[:, 0]]] > 0.0) & (side == side[:, :1]).all(axis=1)
    return triangles[~is_cap] if without_caps else triangles
