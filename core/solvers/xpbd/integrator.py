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
from ...jit import Repeated
from ...parameters.methods import FORCE_BASED
from ...state import State
from ..explicit.arrays import RESUMES
from ..explicit.workspace import Workspace
from ..kinematics import Motion
from ..loads import late_turn, lifts
from ..sequential.contact_phase import AT_SEARCH, ContactPhase, finish
from ..sequential.solver import Integrator
from .gas import gas_impulse
from .skins import edge_order, project, skins_of
from .stretch import set_rest_lengths
from .substep import Scene, advance, begin, leave

if TYPE_CHECKING:
    from ...papers.circles import Circles
    from ...papers.gas_rules import GasRules


class Xpbd(Integrator):
    """The projections of all constraints but contacts."""

    def __init__(
        self, space: Workspace, phase: ContactPhase, substep_time: float, rules: "GasRules | None" = None,
        circles: "Circles | None" = None,
    ) -> None:  # fmt: skip
        """`rules` for the gas and `circles` of trusses as papers have them, None without."""
        super().__init__(space, phase, substep_time)
        model = space.model
        pulled = ModelElements(model, joints=False).rigid_bodies()
        if len(pulled):
            raise ParameterError(
                f"{model.body_names[pulled[0]]}: a rigid body that an energy of elements pulls; "
                f"the method XPBD does not know that. Choose one of {', '.join(FORCE_BASED)}."
            )
        inverse = space.contact.points.inverse_mass[: model.vertex_count]
        self.scene = Scene(phase, skins_of(model, space.numbering, inverse, substep_time))
        self._edge_order = edge_order(model, space.numbering) if model.creeps else np.zeros((0, 4), np.int32)
        self._advance = Repeated(advance)
        self._rules, self._circles, self._planes = rules, circles, Planes(model)
        self.singly = self._rules is not None or self._circles is not None

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`."""
        set_rest_lengths(self.scene.skins.edges, self.model.edges.rest_length[self._edge_order])

    def begin(
        self, before: State, motion: Motion, share: float, gas: FloatArray, count: int, load: FloatArray | None
    ) -> None:
        """See `Integrator`."""
        h = self.substep_time
        self._late = late_turn(self.model, load, self.model.vertex_mass, before, 0.5 * h, count * h)
        self._take_load(load)
        self.scene.skins.gas.amount[:] = before.gas
        self.space.contact.run.gas_step[:] = (gas - before.gas) / count

    def end(self, after: State) -> None:
        """See `Integrator`."""
        if self._late is not None:
            after.velocities[: self.model.vertex_count] += self._late

    def _take_load(self, load: FloatArray | None) -> None:
        """Set the load of the substeps that follow [N]; None: none."""
        skins, model, n = self.scene.skins, self.model, self.model.vertex_count
        if load is not None and not len(skins.push):
            skins = skins._replace(push=np.zeros(4 * n), lift=np.zeros(4 * model.membrane_count))
            self.scene = self.scene._replace(skins=skins)
        if len(skins.push):
            order = self.space.numbering.point[:n]
            push = 0.0 if load is None else (load * self.inverse_mass[:, None])[order]
            skins.push.reshape(-1, 4)[:, :3] = push
            skins.lift.reshape(-1, 4)[:, :3] = lifts(model, load, model.vertex_mass)

    def advance(self, phase: ContactPhase, count: int) -> None:
        """See `Integrator`."""
        space, h, gravity = self.space, self.substep_time, self.model.gravity
        if self.scene.phase is not phase:
            self.scene = self.scene._replace(phase=phase)
        if self.singly:
            self._substep()
        else:
            self._advance(self.scene, space.x, space.y, space.v, *space.rows, count, h, gravity, self.loss_steps)

    def _substep(self) -> None:
        """`substep.substep` with the papers' gas rules and particles of trusses in between."""
        scene, space, h, gravity = self.scene, self.space, self.substep_time, self.model.gravity
        x_rows, y_rows, velocity_rows = space.rows
        if scene.phase.contact.run.state[RESUMES] != AT_SEARCH:
            if not begin(scene, space.x, space.y, space.v, gravity, h):
                return
            if self._rules is not None:
                self._apply_rules(self._rules)
            project(scene.skins, x_rows, space.y, y_rows, h)
            if self._circles is not None:
                self._part(self._circles)
            leave(scene, space.x, space.y, space.v, velocity_rows, gravity, h)
        finish(scene.phase, space.x, space.y, space.v, y_rows, velocity_rows, gravity, h, 1, 1, False)

    def _apply_rules(self, rules: "GasRules") -> None:
        """lambda by another gas rule.

        The closed form of `gas.py` with the rule's V and, for its change, the exact dV/dx: S = sum w dV/dx . D, D being
        the gradient that the rule uses.
        """
        model, gas, n = self.model, self.scene.skins.gas, self.model.vertex_count
        order = self.space.numbering.point[:n]
        x, exact = np.zeros((model.point_count, 3)), np.zeros((n, 3))
        x[self.space.numbering.point] = self.space.rows[1][:, :3]
        rows = gas.gradient.reshape(-1, 4)
        exact[order] = rows[:n, :3]
        gradient = exact.copy()
        rules.spread(x, gradient)
        rows[:n, :3] = gradient[order]
        along = self.inverse_mass * np.einsum("ij,ij->i", exact, gradient)
        steepness = np.bincount(model.point_body[:n], along, model.membrane_count)
        volumes = rules.volumes(x)
        for body in np.flatnonzero(model.rest_volume).tolist():
            gas.impulse[body] = gas_impulse(
                volumes[body], max(steepness[body], 0.0), model.rest_volume[body], gas.amount[body],
                model.gas_base[body], model.gas_exponent[body], self.substep_time,
            )  # fmt: skip

    def _part(self, particles: "Circles") -> None:
        """Move particles of trusses apart that are nearer than their radii allow."""
        n, place = self.model.vertex_count, self.space.numbering.place
        x_rows, y_rows, _ = self.space.rows
        x = x_rows[place[:n], :3]
        moves = y_rows[place[:n], :3] - x
        particles.part(x, self.inverse_mass, moves)
        self._planes.hold(moves)
        y_rows[place[:n], :3] = x + moves
