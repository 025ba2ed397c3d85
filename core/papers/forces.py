"""All forces on the vertices of the membranes at given positions: springs, bending, gas, gravity, elements.

    F_i = m_i g + sum (k (l - L) + c v_rel . d) d + bending + volumes of tetrahedra + (p - p_ambient) dV/dx_i + elements
                                                (Mesit 2007, eq. 14; Matyka 2004, eq. 1, 5; Martin 2009, 3.1)

The dampers c along springs are the only ones that depend on velocities: what else damps a body acts between the steps
(`dissipation.py`). All but these are the forces of explicit steps (`explicit/skins.py`); nothing is added to them here.
"""

import numpy as np

from ..array_types import FloatArray
from ..bodies.flat.plane import Planes
from ..energy.dampers import damper_forces
from ..energy.energies import ModelElements
from ..jit import Repeated
from ..model import Model
from ..options import DEFAULTS, MethodOptions
from ..solvers.explicit.gas import Gas
from ..solvers.explicit.layout import Numbering
from ..solvers.explicit.skins import accelerate, skins_of
from ..solvers.explicit.springs import spring_order
from ..team import team_of_one
from .gas_rules import GasRules


class SoftForces:
    """Evaluates the forces of a model; the arrays it fills are its own."""

    def __init__(self, model: Model, options: MethodOptions = DEFAULTS) -> None:
        n, number = model.vertex_count, np.arange(model.point_count, dtype=np.int32)
        same = Numbering(number, number)
        self._model = model
        self._planes = Planes(model)
        self._elements = ModelElements(model)
        skins = skins_of(model, same)
        self._gas_rules: GasRules | None = None
        if options.changes_gas:
            self._gas_rules = GasRules(model, options)
            # by itself the gas does nothing; what it does by the rules is added
            none = np.zeros(model.membrane_count)
            skins = skins._replace(gas=skins.gas._replace(base=none, exponent=none))
        self._skins = skins._replace(elements=self._elements.rows)
        self._accelerate, self._spring_order = Repeated(accelerate, 1), spring_order(model, same)
        self._x, self._pull = np.zeros((2, model.point_count, 4))
        self._unit, self._scratch, self._team = np.ones(model.point_count), np.zeros(4 * n), team_of_one()
        points = self._elements.rows.points[self._elements.rows.weights != 0.0]
        self._pulled = np.unique(points[points >= n])  # points of rigid bodies
        self.pulls_rigid = len(self._pulled) > 0  # whether elements pull rigid bodies
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
        model, n, skins = self._model, self._model.vertex_count, self._skins
        self.evaluations += 1
        self._x[:, :3] = x
        self._elements.begin(x)
        skins.gas.amount[:] = gas if self._gas_rules is None else 0.0
        self._pull[:] = 0.0  # velocities of unit masses after a second are forces
        self._accelerate(
            self._x.ravel(), skins, self._pull.ravel(), self._unit, 1.0, 0.0, 0.0, 0.0, self._scratch, self._team
        )
        force[:n] = self._pull[:n, :3] + model.vertex_mass[:, None] * model.gravity
        if v is not None and self.has_dampers:
            force[:n] += damper_forces(x, v, model.edges.points, model.edge_damping)
        if self._gas_rules is not None:
            force[:n] += self._push(self._gas_rules, x, gas)
        force[n:] = 0.0
        if self.pulls_rigid:
            solid, pull = self._pulled - n, self._pull[self._pulled, :3]
            np.add.at(force, model.rigid.unknown[solid], pull)
            np.add.at(force, model.rigid.unknown[solid] + 1, np.cross(arm[solid], pull))
        self._planes.hold(force)
        force[:n][model.pinned] = 0.0

    def take_rest_lengths(self) -> None:
        """Use the rest lengths of the model's springs, which have changed in place."""
        springs = self._skins.springs
        springs.rest_force[:] = springs.stiffness * self._model.edges.rest_length[self._spring_order]

    def _push(self, rules: GasRules, x: FloatArray, gas: FloatArray) -> FloatArray:
        """Forces of the gas on the vertices by other rules [N]."""
        model, n = self._model, self._model.vertex_count
        gradient = volume_gradient(self._skins.gas, n)
        rules.spread(x, gradient)
        push = rules.pressures(x, gas)[model.point_body[:n]] * model.pressure_weight
        return np.asarray(push[:, None] * gradient)


def volume_gradient(gas: Gas, vertex_count: int) -> FloatArray:
    """dV/dx [m^2] of each vertex where the forces were evaluated last, shape (vertex_count, 3)."""
    corners, normals = gas.corners.reshape(-1, 3) // 4, gas.normal.reshape(-1, 4)[:-1, None, :3]
    gradient = np.zeros((vertex_count, 3))
    np.add.at(gradient, corners, normals / 6.0)
    return gradient
