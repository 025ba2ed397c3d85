"""All forces on the vertices of the membranes at given positions: springs, bending, gas, gravity, elements.

    F_i = m_i g + sum (k (l - L) + c v_rel . d) d + bending + volumes of tetrahedra + (p - p_ambient) dV/dx_i + elements
                                                (Mesit 2007, eq. 14; Matyka 2004, eq. 1, 5; Martin 2009, 3.1)

The dampers c along springs are the only ones that depend on velocities: what else damps a body acts between the steps
(`dissipation.py`). The energies are those of `core/energy`; nothing is added to them here.
"""

import numpy as np

from ..array_types import FloatArray
from ..bodies.flat.plane import Planes
from ..energy.bend import bend_force, evaluate_bend
from ..energy.dampers import damper_tension
from ..energy.elements import evaluate_elements
from ..energy.energies import ModelElements
from ..energy.gas import gauge_pressures, volume_gradient
from ..energy.stretch import evaluate_stretch, stretch_force
from ..energy.volume import evaluate_tetrahedra, tetrahedron_force
from ..jit import kernel
from ..model import Model
from ..options import DEFAULTS, MethodOptions
from ..simd import load3, store3, triple
from .gas_rules import GasRules


class SoftForces:
    """Evaluates the forces of a model; the arrays it fills are its own."""

    def __init__(self, model: Model, options: MethodOptions = DEFAULTS) -> None:
        edge_count, hinge_count, n = len(model.edges.points), len(model.hinges.points), model.vertex_count
        self._model = model
        self._planes = Planes(model)
        self._gas_rules = GasRules(model, options) if options.changes_gas else None
        self._is_weighted = model.weighs_pressure
        self._tension = np.zeros(edge_count)
        self._hinge_force = np.zeros((hinge_count, 4, 3))
        self._squeezed = np.zeros(len(model.tetrahedra.points))
        self._tetrahedron_gradient = np.zeros((len(model.tetrahedra.points), 4, 3))
        self._volume_gradient = np.zeros((n, 3))
        self._volume, self._pressure = np.zeros((2, model.membrane_count))
        self._elements = ModelElements(model)
        self._pull = np.zeros((len(self._elements), 3))
        self.pulls_rigid = len(self._elements.rigid_bodies()) > 0  # whether elements pull rigid bodies
        self.has_dampers = bool(model.edge_damping.any())  # whether forces depend on velocities
        self.evaluations = 0

    def evaluate(
        self, x: FloatArray, gas: FloatArray, arm: FloatArray, force: FloatArray, v: FloatArray | None = None
    ) -> None:
        """Forces at x [m], all points, with nRT = `gas` [J] of each membrane.

        v: velocities of the vertices [m/s], shape (vertex_count, 3); None where all rests.

        `force`: on every vertex [N], zero on pinned ones, then force and torque [N m] of attachments on each rigid
        body, shape (unknown_count, 3). `arm`: of each rigid point from its body's centre [m].
        """
        model = self._model
        self.evaluations += 1
        evaluate_bodies(
            x, model.body_point_start, model.edges, model.hinges, model.tetrahedra, model.fans, self._tension,
            self._hinge_force, self._squeezed, self._tetrahedron_gradient, self._volume_gradient, self._volume,
        )  # fmt: skip
        if v is not None and self.has_dampers:
            self._tension += damper_tension(x, v, model.edges.points, model.edge_damping)
        if self._gas_rules is not None:
            self._gas_rules.spread(x, self._volume_gradient)
            if self._gas_rules.is_other_volume:
                self._volume[:] = self._gas_rules.volumes(x)
        if self._is_weighted:
            self._volume_gradient *= model.pressure_weight[:, None]
        gauge_pressures(self._volume, model.rest_volume, gas, model.gas_base, model.gas_exponent, self._pressure)
        gather_forces(
            x, model.vertex_mass, model.gravity, model.body_point_start, model.edges, model.hinges, model.tetrahedra,
            self._tension, self._hinge_force, self._pressure, self._volume_gradient, self._squeezed,
            self._tetrahedron_gradient, force,
        )  # fmt: skip
        force[model.vertex_count :] = 0.0
        if len(self._pull):
            self._add_elements(x, arm, force)
        self._planes.hold(force)
        force[: model.vertex_count][model.pinned] = 0.0

    def _add_elements(self, x: FloatArray, arm: FloatArray, force: FloatArray) -> None:
        """Pulls of the elements of energies on their points; few, so numpy does it, in the order of the rows."""
        model, held, n = self._model, self._elements.rows, self._model.vertex_count
        self._elements.begin(x)
        evaluate_elements(held, x.reshape(-1), self._pull)
        for slot in range(4):
            point, pull = held.points[:, slot], held.weights[:, slot, None] * self._pull
            soft = point < n
            np.add.at(force, point[soft], pull[soft])
            solid = point[~soft] - n
            row = model.rigid.unknown[solid]
            np.add.at(force, row, pull[~soft])
            np.add.at(force, row + 1, np.cross(arm[solid], pull[~soft]))


@kernel
def evaluate_bodies(
    x, body_point_start, edges, hinges, tetrahedra, fans, tension, hinge_force, squeezed, tetrahedron_gradient,
    gradient, volume,
):  # fmt: skip
    """Fill the arrays of the four kernels. One call: unpacking its arguments costs as much as a small body."""
    evaluate_stretch(x, edges, tension)
    evaluate_bend(x, hinges, hinge_force)
    evaluate_tetrahedra(x, tetrahedra, squeezed, tetrahedron_gradient)
    volume_gradient(x, body_point_start, fans, gradient, volume)


@kernel
def gather_forces(
    x, mass, gravity, body_point_start, edges, hinges, tetrahedra, tension, hinge_force, pressure, gradient, squeezed,
    tetrahedron_gradient, force,
):  # fmt: skip
    """Gravity, springs, bending, tetrahedra and gas on every vertex [N]."""
    for body in range(pressure.shape[0]):
        p = pressure[body]
        for i in range(body_point_start[body], body_point_start[body + 1]):
            total = stretch_force(i, load3(x, 3 * i), x, edges, tension) + p * load3(gradient, 3 * i)
            if hinge_force.shape[0] > 0:
                total = total + bend_force(i, hinges, hinge_force)
            if squeezed.shape[0] > 0:
                sx, sy, sz = tetrahedron_force(
                    i, tetrahedra.vertex_start, tetrahedra.vertex_entry, squeezed, tetrahedron_gradient
                )
                total = total + triple(sx, sy, sz)
            store3(force, 3 * i, total + mass[i] * triple(gravity[0], gravity[1], gravity[2]))
