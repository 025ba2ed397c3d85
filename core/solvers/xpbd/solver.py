"""XPBD with small steps: for soft skins at low pressure and for quick previews.

Extended position based dynamics (Macklin, Müller, Chentanez 2016) with one sweep per substep (Macklin et al. 2019,
"Small steps in physics simulation") and rigid bodies by generalised inverse masses (Müller et al. 2020). A substep
stands in `substep.py`. The contacts are those of the explicit solver: searched for once in several substeps, with
frozen normals, and verified, so that nothing crosses.

Every projection keeps momentum and angular momentum.
"""

import math
from typing import Any

import numpy as np

from ...collide.mobility import Mobility
from ...errors import ParameterError
from ...jit import Repeated
from ...model import BoolArray, FloatArray, IntArray, Model
from ...options import DEFAULTS, MethodOptions
from ...plane import Planes
from ...state import State
from ..circles import Circles
from ..counts import Counts
from ..explicit.arrays import (
    LACKS_ROOM,
    RESUMES,
    SEARCHES,
    STEP,
)  # fmt: skip
from ..explicit.contact_set import LOOSE_ROOM, START_ROOM, contact_set
from ..explicit.glue import glue_of
from ..explicit.layout import lay_out
from ..explicit.losses import LOSS_TIME, losses_of
from ..explicit.parting import Parting
from ..explicit.press import weigh
from ..explicit.solver import ExplicitSolver
from ..gas_rules import GasRules
from ..given import Motion
from ..step_damping import StepDamping
from .contacts import impulses_of
from .gas import gas_impulse
from .skins import project, skins_of
from .substep import AT_SEARCH, Free, Scene, advance, begin, finish, leave


class XpbdSolver(ExplicitSolver):
    """Advances a model by substeps of `substep_time` [s], a run of them at a time."""

    #: A `substep.Scene`, whose contact set is that of `explicit.steps.Scene`.
    _scene: Any

    def __init__(self, model: Model, substep_time: float, options: MethodOptions = DEFAULTS) -> None:
        if not (math.isfinite(substep_time) and substep_time > 0.0):
            raise ParameterError(f"substep: {substep_time} s; give a positive time.")
        self.model, self.substep_time, self.counts = model, substep_time, Counts()
        self._numbering, patches = lay_out(model)
        count, order = model.point_count, self._numbering.point[: model.vertex_count]
        self._masses = model.vertex_mass
        inverse = np.zeros(count)
        with np.errstate(divide="ignore"):
            inverse[: model.vertex_count] = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)[order]
        self._x, self._y, self._v = np.zeros((3, 4 * count))
        self._rows = tuple(array.reshape(-1, 4) for array in (self._x, self._y, self._v))
        skins = skins_of(model, self._numbering, inverse[: model.vertex_count], substep_time)
        self._scene = Scene(
            contact=contact_set(model, self._numbering, patches, inverse, np.zeros(count, bool)),
            skins=skins,
            corner_impulses=impulses_of(START_ROOM),
            side_impulses=impulses_of(START_ROOM),
            loose_impulses=impulses_of(LOOSE_ROOM),
            glue=glue_of(model, self._numbering, inverse),
            losses=losses_of(model, model.vertex_mass[order], model.pinned[order]),
            free=Free(np.zeros(4 * model.vertex_count), np.zeros((model.rigid_count, 6))),
            gained=np.zeros((model.rigid_count, 6)),
            touching=np.zeros(model.moving_count, bool),
            tied=self._tied(),
            lies=np.zeros(model.moving_count, bool),
        )
        self._advance = Repeated(advance)
        # bounces of rigid bodies are those of their contacts (Müller et al. 2020, 3.6)
        pairs = self._scene.losses.pairs
        pairs.counts[:] &= pairs.low < model.membrane_count
        self._rules = GasRules(model, options) if options.changes_gas else None
        self._circles, self._planes = Circles(model), Planes(model)
        self._step_damping = StepDamping(model, options.stiffest_spring) if options.step_damping else None
        self._parting = None
        #: Whether something else has a part in each substep.
        self._singly = self._rules is not None or self._circles.any or self._step_damping is not None

    def _tied(self) -> BoolArray:
        """Whether something is attached to a body or pins it."""
        model = self.model
        tied = np.zeros(model.moving_count, bool)
        tied[model.point_body[: model.vertex_count][model.pinned]] = True
        tied[model.point_body[model.attachments.points]] = True
        return tied

    def untangle(self, state: State) -> int:
        """Note which points are behind a surface, their own body's too; returns how many triangles cross."""
        self._parting = Parting(self.model, self._numbering)
        count = self._parting.untangle(state.positions)
        state.wrong_side = self._wrong_side()
        return count

    def _wrong_side(self) -> IntArray:
        return np.zeros((0, 3), np.int32) if self._parting is None else self._parting.wrong_side()

    def join(self, state: State, left: int) -> int:
        """How many of the `left` substeps of a frame to take as one run: all."""
        return 1 if self._singly or len(state.wrong_side) else left

    def step(self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, count: int = 1) -> None:
        """`count` substeps as one run, see `choice.Solver`."""
        scene, h, gravity = self._scene, self.substep_time, self.model.gravity
        self._read(before, motion, share)
        scene.touching[:] = before.touching
        scene.skins.gas.amount[:] = before.gas
        scene.contact.run.gas_step[:] = (gas - before.gas) / count
        state = scene.contact.run.state
        state[STEP] = state[RESUMES] = 0
        searches = int(state[SEARCHES])
        loss_steps = max(1, round(LOSS_TIME / h))
        while True:
            state[LACKS_ROOM] = 0
            if self._singly or len(before.wrong_side):
                self._substep()
            else:
                self._advance(self._scene, self._x, self._y, self._v, *self._rows, count, h, gravity, loss_steps)
            if not state[LACKS_ROOM]:
                break
            self._make_room()
        self.counts.stages += count
        self.counts.contact_searches += int(state[SEARCHES]) - searches
        x = self._x if count % 2 == 0 else self._y
        self._write(after, x, gas, motion, share + count * h / motion.frame_time)
        after.touching[:] = scene.touching
        if len(before.wrong_side):
            self._leave_out()
        after.wrong_side = self._wrong_side()
        if self._step_damping is not None:
            self._step_damping.apply(after, h)

    def _make_room(self) -> None:
        super()._make_room()
        room = len(self._scene.contact.corners.reach)
        self._scene = self._scene._replace(corner_impulses=impulses_of(room), side_impulses=impulses_of(room))

    def _substep(self) -> None:
        """`substep.substep` with what other rules for the gas and the particles of trusses do in between."""
        scene, h, gravity = self._scene, self.substep_time, self.model.gravity
        x_rows, y_rows, velocity_rows = self._rows
        if scene.contact.run.state[RESUMES] != AT_SEARCH:
            if not begin(scene, self._x, self._y, self._v, gravity, h):
                return
            if self._rules is not None:
                self._apply_rules(self._rules)
            project(scene.skins, x_rows, self._y, y_rows, h)
            if self._circles.any:
                self._part()
            leave(scene, self._x, self._y, self._v, velocity_rows, gravity, h)
            if scene.contact.bodies.crosses.any():
                self._find_loose()
                scene = self._scene
        finish(scene, self._x, self._y, self._v, y_rows, velocity_rows, gravity, h, 1, 1)

    def _apply_rules(self, rules: GasRules) -> None:
        """lambda by another rule for the gas.

        The closed form of `gas.py` with the rule's V and, for how it changes, the exact dV/dx: S = sum w dV/dx . D, D
        being what the rule makes of it.
        """
        model, gas, n = self.model, self._scene.skins.gas, self.model.vertex_count
        order = self._numbering.point[:n]
        x, exact = np.zeros((model.point_count, 3)), np.zeros((n, 3))
        x[self._numbering.point] = self._rows[1][:, :3]
        rows = gas.gradient.reshape(-1, 4)
        exact[order] = rows[:n, :3]
        gradient = exact.copy()
        rules.spread(x, gradient)
        rows[:n, :3] = gradient[order]
        with np.errstate(divide="ignore"):
            inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        along = inverse_mass * np.einsum("ij,ij->i", exact, gradient)
        steepness = np.bincount(model.point_body[:n], along, model.membrane_count)
        volumes = rules.volumes(x)
        for body in np.flatnonzero(model.rest_volume).tolist():
            gas.impulse[body] = gas_impulse(
                volumes[body], max(steepness[body], 0.0), model.rest_volume[body], gas.amount[body],
                model.ambient_pressure, self.substep_time,
            )  # fmt: skip

    def _find_loose(self) -> None:
        """Find the contacts of bodies that cross, where they are now."""
        super()._find_loose()
        scene = self._scene
        contact = scene.contact
        if len(contact.loose.reach) != len(scene.loose_impulses.along):
            self._scene = scene = scene._replace(loose_impulses=impulses_of(len(contact.loose.reach)))
        scene.loose_impulses.along[:] = 0.0
        scene.loose_impulses.across[:] = 0.0
        weigh(contact.loose, contact.loose_count[0], self._x, contact.points, contact.bodies, contact.rigid)

    def _part(self) -> None:
        """Move particles of trusses apart that are too near to each other."""
        model, n, rigid = self.model, self.model.vertex_count, self.model.rigid
        order = self._numbering.point[:n]
        x, moves = np.zeros((model.point_count, 3)), np.zeros((model.unknown_count, 3))
        x_rows, y_rows, _ = self._rows
        x[self._numbering.point] = x_rows[:, :3]
        moves[order] = y_rows[:n, :3] - x_rows[:n, :3]
        inverse_mass = np.zeros(n)
        inverse_mass[order] = self._scene.skins.inverse_mass
        mobility = Mobility(inverse_mass, rigid.unknown, rigid.arm, 1.0 / rigid.mass, rigid.inverse_inertia)
        self._circles.part(x, mobility, moves)
        self._planes.hold(moves)
        y_rows[:n, :3] = x_rows[:n, :3] + moves[order]
