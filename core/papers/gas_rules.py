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

from ..array_types import FloatArray
from ..bodies.flat.band import STRIP_TO_VOLUME
from ..energy.gas import gas_law
from ..jit import kernel
from ..model import Model
from ..options import MethodOptions
from ..solvers.rigid_motion import rigid_motions


class GasRules:
    """Volumes and forces of the gas in the membranes of a model by the rules of `options`."""

    def __init__(self, model: Model, options: MethodOptions) -> None:
        self._model = model
        self._volume_rule = options.volume
        self._has_gas = model.rest_volume > 0.0
        self._scale = np.zeros(model.membrane_count)
        rest = self.rule_volumes(model.rest_positions)
        np.divide(model.drawn_volume, rest, out=self._scale, where=self._has_gas)
        is_strip = (model.flat.depth > 0.0) & (self._volume_rule == "CENTRE_FAN")
        self._scale[model.has_amount] = np.where(is_strip, STRIP_TO_VOLUME, 1.0)[model.has_amount]
        self._share: FloatArray | None = None  # springs at each vertex over the body's average
        self._owner = model.point_body[: model.vertex_count]
        self._motion = np.zeros((model.membrane_count, 15))
        if options.spread == "VALENCE":
            springs = np.diff(model.edges.vertex_start).astype(float)
            count = np.bincount(self._owner, minlength=model.membrane_count)
            average = np.bincount(self._owner, springs, model.membrane_count) / count
            self._share = springs / average[self._owner]

    def rule_volumes(self, x: FloatArray) -> FloatArray:
        """Volume of each membrane [m^3] as the rule tells it; 0 where there is no gas, shape (membrane_count,)."""
        model, volumes = self._model, np.zeros(self._model.membrane_count)
        if self._volume_rule == "BOUNDING_BOX":
            box_volumes(x, model.body_point_start, model.rest_volume, volumes)
        elif self._volume_rule == "CENTRE_FAN":
            fan_volumes(x, model.body_point_start, model.fans, model.rest_volume, model.flat.depth, volumes)
        else:
            exact_volumes(x, model.body_point_start, model.fans, model.rest_volume, volumes)
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
            pressures[body] = gas_law(
                volumes[body], model.rest_volume[body], gas[body], model.gas_base[body], model.gas_exponent[body]
            )[0]
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


@kernel
def box_around(x, first, last, box):
    """Least and greatest coordinates [m] of the points first .. last - 1 into `box`, shape (2, 3)."""
    for axis in range(3):
        low = high = x[first, axis]
        for i in range(first + 1, last):
            low, high = min(low, x[i, axis]), max(high, x[i, axis])
        box[0, axis], box[1, axis] = low, high


@kernel
def box_volumes(x, body_point_start, rest_volume, volume):
    """Volume of the box around each membrane with gas [m^3]."""
    box = np.empty((2, 3))
    for body in range(volume.shape[0]):
        if rest_volume[body] > 0.0:
            box_around(x, body_point_start[body], body_point_start[body + 1], box)
            volume[body] = (box[1, 0] - box[0, 0]) * (box[1, 1] - box[0, 1]) * (box[1, 2] - box[0, 2])


@kernel
def fan_volume(x, first, last, fans, cx, cy, cz, signed, strip):
    """Sum of the volumes of the tetrahedra from a point to each triangle of a body [m^3]; each counts at 3 vertices.

    strip: leave out triangles whose corners belong to one copy of a flat body's points.
    """
    total = 0.0
    for i in range(first, last):
        for q in range(fans.vertex_start[i], fans.vertex_start[i + 1]):
            j, k = fans.corners[q, 0], fans.corners[q, 1]
            if strip and (i - j) % 2 == 0 and (i - k) % 2 == 0:
                continue
            ax, ay, az = x[j, 0] - cx, x[j, 1] - cy, x[j, 2] - cz
            bx, by, bz = x[k, 0] - cx, x[k, 1] - cy, x[k, 2] - cz
            part = (x[i, 0] - cx) * (ay * bz - az * by)
            part += (x[i, 1] - cy) * (az * bx - ax * bz)
            part += (x[i, 2] - cz) * (ax * by - ay * bx)
            total += part if signed else abs(part)
    return total / 18.0


@kernel
def fan_volumes(x, body_point_start, fans, rest_volume, depth, volume):
    """Volume of each membrane with gas [m^3], by unsigned tetrahedra from the centre of the box around it."""
    box = np.empty((2, 3))
    for body in range(volume.shape[0]):
        if rest_volume[body] > 0.0:
            first, last = body_point_start[body], body_point_start[body + 1]
            box_around(x, first, last, box)
            cx, cy, cz = 0.5 * (box[0, 0] + box[1, 0]), 0.5 * (box[0, 1] + box[1, 1]), 0.5 * (box[0, 2] + box[1, 2])
            volume[body] = fan_volume(x, first, last, fans, cx, cy, cz, False, depth[body] > 0.0)


@kernel
def exact_volumes(x, body_point_start, fans, rest_volume, volume):
    """Exact volume of each membrane with gas [m^3], by signed tetrahedra from its first vertex."""
    for body in range(volume.shape[0]):
        if rest_volume[body] > 0.0:
            first, last = body_point_start[body], body_point_start[body + 1]
            volume[body] = fan_volume(x, first, last, fans, x[first, 0], x[first, 1], x[first, 2], True, False)
