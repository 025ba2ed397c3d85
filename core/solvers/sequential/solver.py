"""Base of the solvers whose substeps have a given length and end in the contact phase of `contact_phase.py`."""

import math
from abc import abstractmethod

import numpy as np

from ...array_types import FloatArray
from ...errors import ParameterError
from ...extras import step_damping
from ...model import Model
from ...options import DEFAULTS, MethodOptions
from ...state import State
from ..counts import Counts
from ..explicit.arrays import LACKS_ROOM, RESUMES, SEARCHES, STEP
from ..explicit.contact_set import contact_set
from ..explicit.dissipation import LOSS_TIME, losses_of
from ..explicit.glue import glue_of
from ..explicit.layout import lay_out
from ..explicit.skins import Planes
from ..explicit.solver import ExplicitSolver
from ..kinematics import Motion
from ..notes import FrameCounts
from .contact_phase import ContactPhase, contact_phase_of
from .contacts import impulses_of


class SequentialSolver(ExplicitSolver):
    """Advances a model by substeps of `substep_time` [s], a run of them at a time."""

    _scene: ContactPhase  # type: ignore[assignment]  # its contact set and losses are those of `explicit.steps.Scene`

    def __init__(self, model: Model, substep_time: float, options: MethodOptions = DEFAULTS) -> None:
        if not (math.isfinite(substep_time) and substep_time > 0.0):
            raise ParameterError(f"substep: {substep_time} s; give a positive time.")
        self.model, self.substep_time, self.counts = model, substep_time, Counts()
        self._untouching = model.ignores
        self._numbering, patches = lay_out(model)
        count, order = model.point_count, self._numbering.point[: model.vertex_count]
        self._masses = model.vertex_mass
        with np.errstate(divide="ignore"):
            self._inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        inverse = np.zeros(count)
        inverse[: model.vertex_count] = self._inverse_mass[order]
        self._x, self._y, self._v = np.zeros((3, 4 * count))
        self._rows = self._x.reshape(-1, 4), self._y.reshape(-1, 4), self._v.reshape(-1, 4)
        self._scene = contact_phase_of(
            model,
            contact_set(model, self._numbering, patches, inverse),
            glue_of(model, self._numbering, inverse),
            Planes(self._numbering.place[model.flat.pairs], model.flat.pair_normal),
            losses_of(model, model.vertex_mass[order], model.pinned[order]),
        )
        self._is_ball = self._scene.contact.bodies.is_ball.copy()
        # bounces of rigid bodies are those of their contacts (Müller et al. 2020, 3.6)
        pairs = self._scene.losses.pairs
        pairs.counts[:] &= pairs.low < model.membrane_count
        self._step_damping = step_damping(model, options)
        self._frame = FrameCounts()
        self._ticks = None
        self._loss_steps = max(1, round(LOSS_TIME / substep_time))

    def revised(self, _model: Model) -> None:
        """None: a new solver is made for other values, which is fast."""

    def remade(self, _model: Model) -> None:
        """None: masses are those of the model."""

    def take_rest_lengths(self) -> None:
        """See `choice.Solver`: forces are evaluated with the model's arrays; XPBD has its own."""

    def join(self, _state: State, left: int) -> int:
        """How many of the `left` substeps of a frame to take as one run: all."""
        return 1 if self._step_damping is not None else left

    def step(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, count: int = 1,
        load: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """`count` substeps as one run, see `choice.Solver`."""
        h = self.substep_time
        self._read(before, motion, share)
        self._scene.touching[:] = before.touching
        state = self._scene.contact.run.state
        state[STEP] = state[RESUMES] = 0
        searches = int(state[SEARCHES])
        self._start(before, motion, share, gas, count, load)
        while state[STEP] < count:
            state[LACKS_ROOM] = 0
            self._go_on(count)
            if state[LACKS_ROOM]:
                self._make_room()
        self._frame.steps, self._frame.step_time = self._frame.steps + count, h
        self.counts.stages += count
        self.counts.contact_searches += int(state[SEARCHES]) - searches
        x = self._x if count % 2 == 0 else self._y
        self._write(after, x, gas, motion, share + count * h / motion.frame_time)
        after.touching[:] = self._scene.touching
        after.wrong_side = before.wrong_side
        if self._step_damping is not None:
            self._step_damping.apply(after, h)

    def _normal_impulses(self) -> tuple[FloatArray, FloatArray]:
        corners, sides = self._scene.corner_impulses, self._scene.side_impulses
        return corners.along + corners.last, sides.along + sides.last

    @abstractmethod
    def _start(
        self, before: State, motion: Motion, share: float, gas: FloatArray, count: int, load: FloatArray | None
    ) -> None:
        """Prepare a run from a state, to `gas` nRT [J] at its end, under a `load` [N]."""

    @abstractmethod
    def _go_on(self, count: int) -> None:
        """Take the remaining substeps of a run of `count`; stop if a search exceeds the capacity
        (`state[LACKS_ROOM]`).
        """

    def _make_room(self) -> None:
        super()._make_room()
        room = len(self._scene.contact.corners.reach)
        self._scene = self._scene._replace(corner_impulses=impulses_of(room), side_impulses=impulses_of(room))
