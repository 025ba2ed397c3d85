"""XPBD with small steps: for soft skins at low pressure and for quick previews.

Extended position based dynamics (Macklin, Müller, Chentanez 2016) with one sweep per substep (Macklin et al. 2019,
"Small steps in physics simulation") and rigid bodies by generalised inverse masses (Müller et al. 2020). `substep.py`
has the substep. The contacts are those of the explicit solver: one search in several substeps, with frozen normals, and
verified, so that nothing crosses.

Every projection conserves momentum and angular momentum.
"""

from typing import TYPE_CHECKING

import numpy as np

from ...array_types import FloatArray
from ...bodies.flat.plane import Planes
from ...energy.energies import ModelElements
from ...errors import ParameterError
from ...extras import circles, gas_rules
from ...jit import Repeated
from ...model import Model
from ...options import DEFAULTS, MethodOptions
from ...parameters.methods import FORCE_BASED
from ...state import State
from ..explicit.arrays import RESUMES
from ..kinematics import Motion
from ..loads import lifts
from ..sequential.contact_phase import AT_SEARCH, finish
from ..sequential.solver import SequentialSolver
from .gas import gas_impulse
from .skins import edge_order, project, skins_of
from .stretch import set_rest_lengths
from .substep import Scene, advance, begin, leave

if TYPE_CHECKING:
    from ...papers.circles import Circles
    from ...papers.gas_rules import GasRules


class XpbdSolver(SequentialSolver):
    """Advances a model by substeps of `substep_time` [s], a run of them at a time."""

    def __init__(self, model: Model, substep_time: float, options: MethodOptions = DEFAULTS) -> None:
        super().__init__(model, substep_time, options)
        held = ModelElements(model, joints=False).rigid_bodies()
        if len(held):
            raise ParameterError(
                f"{model.body_names[held[0]]}: a rigid body that an energy of elements pulls; "
                f"the method XPBD does not know that. Choose one of {', '.join(FORCE_BASED)}."
            )
        inverse = self._scene.contact.points.inverse_mass[: model.vertex_count]
        self._whole = Scene(self._scene, skins_of(model, self._numbering, inverse, substep_time))
        self._edge_order = edge_order(model, self._numbering) if model.creeps else np.zeros((0, 4), np.int32)
        self._advance = Repeated(advance)
        self._rules = gas_rules(model, options)
        self._circles, self._planes = circles(model), Planes(model)

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`."""
        set_rest_lengths(self._whole.skins.edges, self.model.edges.rest_length[self._edge_order])

    def join(self, state: State, left: int) -> int:
        """How many of the `left` substeps of a frame to take as one run: all, unless papers' options act in each."""
        return 1 if self._rules is not None or self._circles is not None else super().join(state, left)

    def _start(
        self, before: State, motion: Motion, share: float, gas: FloatArray, count: int, load: FloatArray | None
    ) -> None:
        self._take_load(load)
        self._whole.skins.gas.amount[:] = before.gas
        self._scene.contact.run.gas_step[:] = (gas - before.gas) / count
        self._singly = self.join(before, 2) == 1

    def step(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, count: int = 1,
        load: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """`count` substeps as one run, see `choice.Solver`."""
        start, h = self._start_of(before, load), self.substep_time
        super().step(before, after, motion, share, gas, count, load)
        self._turn_late(load, start, after, h, count * h)

    def _take_load(self, load: FloatArray | None) -> None:
        """Set the load of the substeps that follow [N]; None: none."""
        skins, model, n = self._whole.skins, self.model, self.model.vertex_count
        if load is not None and not len(skins.push):
            skins = skins._replace(push=np.zeros(4 * n), lift=np.zeros(4 * model.membrane_count))
            self._whole = self._whole._replace(skins=skins)
        if len(skins.push):
            order = self._numbering.point[:n]
            push = 0.0 if load is None else (load * self._inverse_mass[:, None])[order]
            skins.push.reshape(-1, 4)[:, :3] = push
            skins.lift.reshape(-1, 4)[:, :3] = lifts(model, load, model.vertex_mass)

    def _go_on(self, count: int) -> None:
        h, gravity = self.substep_time, self.model.gravity
        if self._whole.phase is not self._scene:
            self._whole = self._whole._replace(phase=self._scene)
        if self._singly:
            self._substep()
        else:
            self._advance(self._whole, self._x, self._y, self._v, *self._rows, count, h, gravity, self._loss_steps)

    def _substep(self) -> None:
        """`substep.substep` with the papers' gas rules and particles of trusses in between."""
        scene, h, gravity = self._whole, self.substep_time, self.model.gravity
        x_rows, y_rows, velocity_rows = self._rows
        if scene.phase.contact.run.state[RESUMES] != AT_SEARCH:
            if not begin(scene, self._x, self._y, self._v, gravity, h):
                return
            if self._rules is not None:
                self._apply_rules(self._rules)
            project(scene.skins, x_rows, self._y, y_rows, h)
            if self._circles is not None:
                self._part(self._circles)
            leave(scene, self._x, self._y, self._v, velocity_rows, gravity, h)
        finish(self._scene, self._x, self._y, self._v, y_rows, velocity_rows, gravity, h, 1, 1, False)

    def _apply_rules(self, rules: "GasRules") -> None:
        """lambda by another gas rule.

        The closed form of `gas.py` with the rule's V and, for its change, the exact dV/dx: S = sum w dV/dx . D, D being
        the gradient that the rule uses.
        """
        model, gas, n = self.model, self._whole.skins.gas, self.model.vertex_count
        order = self._numbering.point[:n]
        x, exact = np.zeros((model.point_count, 3)), np.zeros((n, 3))
        x[self._numbering.point] = self._rows[1][:, :3]
        rows = gas.gradient.reshape(-1, 4)
        exact[order] = rows[:n, :3]
        gradient = exact.copy()
        rules.spread(x, gradient)
        rows[:n, :3] = gradient[order]
        along = self._inverse_mass * np.einsum("ij,ij->i", exact, gradient)
        steepness = np.bincount(model.point_body[:n], along, model.membrane_count)
        volumes = rules.volumes(x)
        for body in np.flatnonzero(model.rest_volume).tolist():
            gas.impulse[body] = gas_impulse(
                volumes[body], max(steepness[body], 0.0), model.rest_volume[body], gas.amount[body],
                model.gas_base[body], model.gas_exponent[body], self.substep_time,
            )  # fmt: skip

    def _part(self, particles: "Circles") -> None:
        """Move particles of trusses apart that are nearer than their radii allow."""
        n, place = self.model.vertex_count, self._numbering.place
        x_rows, y_rows, _ = self._rows
        x = x_rows[place[:n], :3]
        moves = y_rows[place[:n], :3] - x
        particles.part(x, self._inverse_mass, moves)
        self._planes.hold(moves)
        y_rows[place[:n], :3] = x + moves
