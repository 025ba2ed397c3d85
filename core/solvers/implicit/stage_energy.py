"""The energy of a body of gas that steps towards its equilibrium minimise, with its gradient and Hessian.

    E(x) = 1/2 |x - y|^2_M / tau^2 + stretch(x) + bend(x) + gas(x)

tau is the length of a step; y are the positions where it begins. The class holds the arrays that the kernels of
`core/energy` fill.
"""

import numpy as np

from ...contact.barrier import ContactTerms
from ...energy.bodies import evaluate_bodies
from ...energy.gas import evaluate_gas
from ...energy.inertia import inertia_energy
from ...linear.conjugate_gradient import Hessian
from ...model import FloatArray, Model
from ...options import DEFAULTS, MethodOptions
from .dead_load import DeadLoad
from .residual import gather_residual


class StageEnergy:
    """Energy, residual and Hessian of a step of length `stage_time` [s]."""

    acting: ContactTerms  # of no contacts

    def __init__(self, model: Model, stage_time: float, options: MethodOptions = DEFAULTS) -> None:
        vertex_count, edge_count, hinge_count = model.vertex_count, len(model.edges.points), len(model.hinges.points)
        chunk_count = len(model.chunks.body)
        self.model = model
        self.stage_time = stage_time
        self.inertia = model.vertex_mass / stage_time**2
        self.volume = np.zeros(model.membrane_count)
        self.pressure = np.zeros(model.membrane_count)
        self._gas_stiffness = np.zeros(model.membrane_count)
        self._gas_energy = np.zeros(model.membrane_count)
        self._start = np.zeros((model.point_count, 3))
        self._target = np.zeros((vertex_count, 3))
        self._gas = np.zeros(model.membrane_count)
        self._tension = np.zeros(edge_count)
        self._edge_block = np.zeros((edge_count, 4))
        self._hinge_force = np.zeros((hinge_count, 4, 3))
        self._sharp_turn = np.zeros((len(model.hinges.sharp), 18))
        tetrahedra = model.tetrahedra
        self._tetrahedron_pressure = np.zeros(len(tetrahedra.points))  # pressure of each tetrahedron [Pa]
        self._tetrahedron_gradient = np.zeros((len(tetrahedra.points), 4, 3))
        self._volume_gradient = np.zeros((vertex_count, 3))
        self._chunk_sums = np.zeros((4, chunk_count))
        self.hessian = Hessian(
            inertia=self.inertia,
            pinned=model.pinned,
            sharp_turn=self._sharp_turn,
            edge_block=self._edge_block,
            volume_gradient=self._volume_gradient,
            gas_stiffness=self._gas_stiffness,
            rigid_mass=model.rigid.mass / stage_time**2,
            rigid_inertia=model.rigid.inertia / stage_time**2,
            rigid_point_start=model.rigid.point_start,
            tetrahedra=tetrahedra.points,
            tetrahedron_stiffness=tetrahedra.stiffness,
            tetrahedron_gradient=self._tetrahedron_gradient,
            tetrahedron_squeeze=np.zeros(len(tetrahedra.points)),
            tetrahedron_chunk=tetrahedra.chunk_start,
            tetrahedron_start=tetrahedra.vertex_start,
            tetrahedron_entry=tetrahedra.vertex_entry,
            flat_pairs=model.flat.pairs,
            flat_normal=model.flat.pair_normal,
        )
        # positions and gas of the last evaluation of stretch, bend, gas and contact
        self._known_x = np.full((model.point_count, 3), np.nan)
        self._known_gas = np.zeros(model.membrane_count)
        self._deformation = self._gas_sum = 0.0  # energy of springs, hinges and tetrahedra, and of the gas [J]
        self.load = DeadLoad(model, options)
        self.contact_stretched = np.zeros((1, 3))
        self.acting_count = 0
        self.acting = ContactTerms(
            np.zeros((1, 4), np.int32), np.zeros((1, 4)), np.zeros(model.moving_point_count + 1, np.int32),
            np.zeros(4, np.int32), np.zeros((1, 3)), np.zeros((1, 6)), vertex_count, model.rigid.unknown,
            model.rigid.arm,
        )  # fmt: skip

    def begin(self, target: FloatArray, gas: FloatArray) -> None:
        """Start a step with `target` = y, shape (vertex_count, 3), and nRT [J] of each membrane."""
        self._target[:] = target
        self._gas[:] = gas
        if self.load.acts:
            self.load.release(self._start)

    def set_stage_time(self, stage_time: float) -> None:
        """Use stages of another length [s] from the next `begin` on."""
        self.stage_time = stage_time
        np.divide(self.model.vertex_mass, stage_time**2, out=self.inertia)
        np.divide(self.model.rigid.mass, stage_time**2, out=self.hessian.rigid_mass)

    def evaluate(self, x: FloatArray) -> float:
        """E [J] at x; keeps the derivatives for `residual`. Terms of positions only are cached at the last x."""
        if not (np.array_equal(x, self._known_x) and np.array_equal(self._gas, self._known_gas)):
            self._evaluate_bodies(x)
            self._known_x[:] = x
            self._known_gas[:] = self._gas
        total = inertia_energy(x, self._target, self.inertia, self.model.chunks, self._chunk_sums[0])
        total += self._gas_sum + self._deformation
        return float(total + self.load.energy(x) if self.load.acts else total)

    def lag_gas(self, x: FloatArray) -> None:
        """Lag the force at x that weights add, until the next call; after `begin`."""
        if self.load.lags:
            self.evaluate(x)
            self.load.hold(x, self._gas, self.pressure, self._volume_gradient)

    def _evaluate_bodies(self, x: FloatArray) -> None:
        """Evaluate springs, hinges, tetrahedra and gas at x."""
        model, chunks, sums = self.model, self.model.chunks, self._chunk_sums
        self._deformation = evaluate_bodies(
            x, model.body_point_start, model.edges, model.hinges, model.tetrahedra, model.fans, chunks, self._tension,
            self._edge_block, self._sharp_turn, self._hinge_force, self._tetrahedron_pressure,
            self._tetrahedron_gradient, self._volume_gradient, sums[1:],
        )  # fmt: skip
        self._gas_sum = evaluate_gas(
            sums[3], chunks, model.rest_volume, self._gas, model.gas_base, model.gas_exponent,
            self.volume, self.pressure, self._gas_stiffness, self._gas_energy,
        )  # fmt: skip

    def residual(self, x: FloatArray, r: FloatArray) -> None:
        """Minus the gradient of E at x [N] into r, shape (vertex_count, 3); after `evaluate`."""
        gather_residual(
            x, self._target, self.model.edges, self.model.hinges, self.model.chunks, self.hessian, self._tension,
            self._hinge_force, self.pressure, self._tetrahedron_pressure, self.acting, self.acting_count, r,
        )  # fmt: skip
        if self.load.acts:
            self.load.add_force(r)
